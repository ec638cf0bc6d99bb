//go:build unix && !darwin

package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRingReachable(t *testing.T) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere")
	assert.True(t, ringReachable())
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "autolaunch:")
	assert.False(t, ringReachable())

	dir := t.TempDir()
	assert.False(t, busIn(dir))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bus"), nil, 0o600))
	assert.True(t, busIn(dir))
}

func TestKeysWithoutBus(t *testing.T) {
	c, err := Load(env(t, nil))
	require.NoError(t, err)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "autolaunch:")
	assert.Nil(t, c.Keys().(*store).ring)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere")
	assert.NotNil(t, c.Keys().(*store).ring)
}
