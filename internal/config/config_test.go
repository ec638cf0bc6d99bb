package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// env makes a Source whose home is a fresh folder; it does not see the
// process's environment.
func env(t testing.TB, vars map[string]string) Source {
	home := t.TempDir()
	return Source{Getenv: func(name string) (string, bool) {
		if v, ok := vars[name]; ok {
			return v, true
		}
		switch name {
		case "HOME", "USERPROFILE":
			return home, true
		}
		return "", false
	}}
}

// withFile puts a settings file where Load looks for it.
func withFile(t testing.TB, src Source, text string) Source {
	dir, err := configDir(src)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(dir, 0o700))
	require.NoError(t, os.WriteFile(settingsFile(dir), []byte(text), 0o600))
	return src
}

func TestDefaults(t *testing.T) {
	src := env(t, nil)
	c, err := Load(src)
	require.NoError(t, err)
	home, err := homeDir(src)
	require.NoError(t, err)
	assert.Equal(t, Anthropic, c.Provider)
	assert.Equal(t, 5*time.Minute, c.IdleTimeout)
	assert.EqualValues(t, 4, c.MaxRetries)
	assert.Equal(t, Toolset{Preset: "claude"}, c.Toolset)
	assert.Equal(t, "default", c.Mode)
	assert.Nil(t, c.Guard.Allow)
	assert.Equal(t, filepath.Join(home, ".config", "dsh-acp", "settings.json"), c.File)
	assert.Equal(t, filepath.Join(home, ".local", "state", "dsh-acp"), c.StateDir)
	_, err = os.Stat(c.Dir)
	assert.ErrorIs(t, err, os.ErrNotExist, "loading makes no folder")
	for _, s := range Settings() {
		assert.Equal(t, Origin{}, c.Origin(s.Name), s.Name)
	}
}

func TestRisingOrder(t *testing.T) {
	file := "// mine\n{\n  \"model\": \"file\", // trailing\n  \"maxRetries\": 1,\n}\n"
	vars := map[string]string{}
	src := withFile(t, env(t, vars), file)
	steps := []struct {
		name, value, want, origin string
		set                       func(string)
	}{
		{"", "", "file", "settings.json:3", func(string) {}},
		{"ANTHROPIC_MODEL", "vendor", "vendor", "environment ANTHROPIC_MODEL", func(v string) { vars["ANTHROPIC_MODEL"] = v }},
		{"DSH_MODEL", "own", "own", "environment DSH_MODEL", func(v string) { vars["DSH_MODEL"] = v }},
		{"--model", "flag", "flag", "flag --model", func(v string) { src.Flags = map[string]string{"model": v} }},
	}
	for _, s := range steps {
		s.set(s.value)
		c, err := Load(src)
		require.NoError(t, err)
		assert.Equal(t, s.want, c.Model)
		assert.True(t, strings.HasSuffix(c.Origin("model").String(), s.origin), c.Origin("model"))
		assert.EqualValues(t, 1, c.MaxRetries)
	}
}
