package conformance_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/conformance"
)

// TestOurAgent plays all recordings against this project's own agent, and
// holds that each accepted difference is one that is there: a rule that no
// recording needs hides faults and nothing else.
func TestOurAgent(t *testing.T) {
	exe := conformance.BuildAgent(t)
	var text strings.Builder
	report, err := conformance.Run(t.Context(), conformance.Options{
		Traces: []string{"testdata/traces", "testdata/own"},
		Agent:  []string{exe}, Out: &text, Temp: t.TempDir(),
	})
	require.NoError(t, err)
	assert.True(t, report.OK(), "%s", text.String())
	assert.Empty(t, report.RulesUnused)
	for _, r := range conformance.Rules {
		assert.NotEmpty(t, r.Reason, r.Name)
	}
	for _, res := range report.Results {
		for _, r := range conformance.Rules {
			assert.NotContains(t, r.Reason, res.Scenario, "rule %s names a scenario", r.Name)
		}
	}
}
