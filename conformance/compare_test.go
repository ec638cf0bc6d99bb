package conformance

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTraceEqualsItself(t *testing.T) {
	cases, err := Load("testdata/traces")
	require.NoError(t, err)
	for _, c := range cases {
		cmp := compareTraces(c.Scenario, c.Trace, c.Trace, nil)
		assert.Empty(t, cmp.differences, c.Scenario.Name)
		assert.Empty(t, cmp.uses, c.Scenario.Name)
	}
}
