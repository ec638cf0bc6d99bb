package conformance

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// recordings are all scenarios of the test data.
func recordings(t *testing.T) []Case {
	t.Helper()
	var out []Case
	for _, dir := range []string{"testdata/traces", "testdata/own"} {
		cases, err := Load(dir)
		require.NoError(t, err)
		out = append(out, cases...)
	}
	return out
}

func TestTraceEqualsItself(t *testing.T) {
	for _, c := range recordings(t) {
		cmp := compareTraces(c.Scenario, c.Trace, c.Trace, nil)
		assert.Empty(t, cmp.differences, c.Scenario.Name)
		assert.Empty(t, cmp.uses, c.Scenario.Name)
	}
}
