package app

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/config"
	"dsh-acp/internal/patch"
)

// TestLimitsOfPatches: each limit has a setting of its own, and the defaults of
// the settings are those of the engine.
func TestLimitsOfPatches(t *testing.T) {
	load := func(env map[string]string) patch.Limits {
		env["HOME"], env["USERPROFILE"] = t.TempDir(), t.TempDir()
		cfg, err := config.Load(config.Source{Getenv: func(name string) (string, bool) { v, ok := env[name]; return v, ok }})
		require.NoError(t, err)
		return patching(cfg).Limits
	}
	assert.Equal(t, patch.DefaultLimits, load(map[string]string{}))
	assert.Equal(t, patch.Limits{
		Operations: 1, Files: 2, FileSize: 1031, NewBytes: 1033, Search: 1039, Expect: 6, Depth: 7, Tokens: 8, Candidates: 9,
	}, load(map[string]string{
		"DSH_PATCH_MAX_OPERATIONS": "1", "DSH_PATCH_MAX_FILES": "2", "DSH_PATCH_MAX_FILE_BYTES": "1031", "DSH_PATCH_MAX_NEW_BYTES": "1033",
		"DSH_PATCH_MAX_SEARCH_BYTES": "1039", "DSH_PATCH_MAX_EXPECT": "6", "DSH_PATCH_MAX_JSON_DEPTH": "7", "DSH_PATCH_MAX_POINTER_TOKENS": "8",
		"DSH_PATCH_MAX_CANDIDATES": "9",
	}))
}
