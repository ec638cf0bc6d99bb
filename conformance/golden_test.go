package conformance_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/conformance"
)

var update = flag.Bool("update", false, "record the goldens of this project's own agent again")

const goldens = "testdata/golden"

// TestGoldens plays the scenarios of this project's own and compares with
// what its agent did when they were recorded, without any rule: a change is
// told, and recorded with -update by whoever meant it.
func TestGoldens(t *testing.T) {
	exe := conformance.BuildAgent(t)
	if *update {
		dirs, err := os.ReadDir(goldens)
		require.NoError(t, err)
		for _, d := range dirs {
			dir := filepath.Join(goldens, d.Name())
			require.NoError(t, conformance.Record(t.Context(), conformance.RecordOptions{
				Scenario: dir, Out: dir, Agent: []string{exe}, Temp: t.TempDir(),
			}))
		}
	}
	var text strings.Builder
	report, err := conformance.Run(t.Context(), conformance.Options{
		Traces: []string{goldens}, Agent: []string{exe}, Exact: true, Out: &text, Temp: t.TempDir(),
	})
	require.NoError(t, err)
	assert.True(t, report.OK(), "%s", text.String())
	assert.Zero(t, report.Skipped)
}

// TestGoldensNotice is how we know that the goldens can fail: an agent that
// does the same in a way that a rule would accept is not accepted here.
func TestGoldensNotice(t *testing.T) {
	opts := conformance.Options{
		Traces: []string{"testdata/traces/edit-bom"}, Agent: []string{conformance.BuildAgent(t)}, Temp: t.TempDir(),
	}
	report, err := conformance.Run(t.Context(), opts)
	require.NoError(t, err)
	require.True(t, report.OK())
	opts.Exact = true
	report, err = conformance.Run(t.Context(), opts)
	require.NoError(t, err)
	assert.False(t, report.OK())
}
