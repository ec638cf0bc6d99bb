package fsbackendtest

import (
	"testing"
)

// Run checks the contract. open makes a fresh fixture for each test; it may
// end a test by t.Skip.
func Run(t *testing.T, open func(t *testing.T) Fixture) {
	for _, group := range []struct {
		name  string
		tests []test
	}{
		{"Stat", statTests},
		{"Read", readTests},
		{"Write", writeTests},
		{"Guard", guardTests},
		{"Links", linkTests},
		{"Bounds", boundTests},
		{"Faults", faultTests},
		{"Races", raceTests},
		{"Transform", transformTests},
		{"Commit", commitTests},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, c := range group.tests {
				t.Run(c.name, func(t *testing.T) { c.run(t, kit{Fixture: open(t), t: t}) })
			}
		})
	}
}

// A test is one clause of the contract.
type test struct {
	name string
	run  func(t *testing.T, k kit)
}
