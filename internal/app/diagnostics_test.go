package app

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDiagnostics(t *testing.T) {
	var stderr bytes.Buffer
	d := newDiagnostics(&stderr)
	log := d.logger()
	log.Info().Msg("too early")
	log.Warn().Msg("grave at once")
	path := filepath.Join(t.TempDir(), "logs", "dsh.log")
	require.NoError(t, d.configure("debug", path))
	log.Debug().Str("who", "me").Msg("now told")
	require.NoError(t, d.configure("off", ""))
	log.Error().Msg("off")
	d.close()
	assert.NotContains(t, stderr.String(), "too early")
	assert.Contains(t, stderr.String(), "WRN grave at once")
	assert.Contains(t, stderr.String(), "now told who=me")
	assert.NotContains(t, stderr.String(), "off")
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Contains(t, string(b), `"message":"now told"`)
	assert.Equal(t, 1, strings.Count(string(b), "\n"))
	assert.Error(t, d.configure("loud", ""))
}

func TestLogFileIsRotated(t *testing.T) {
	d := newDiagnostics(nil)
	log := d.logger()
	path := filepath.Join(t.TempDir(), "dsh.log")
	require.NoError(t, os.WriteFile(path, bytes.Repeat([]byte("x"), rotateAt-10), 0o600))
	require.NoError(t, d.configure("info", path))
	log.Info().Msg("the first of the new file")
	log.Info().Msg("the second")
	d.close()
	old, err := os.Stat(path + ".1")
	require.NoError(t, err)
	assert.EqualValues(t, rotateAt-10, old.Size())
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, 2, strings.Count(string(b), "\n"))
}

func TestALogFileThatCannotBe(t *testing.T) {
	d := newDiagnostics(nil)
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	assert.Error(t, d.configure("info", filepath.Join(file, "below", "dsh.log")))
	log := d.logger()
	log.Info().Msg("still no failure")
}
