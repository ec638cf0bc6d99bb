//go:build unix && !darwin

package config

import (
	"os"
	"path/filepath"
	"strconv"
)

// ringReachable reports whether a message bus of the desktop can be there.
// Without one the keyring library would start a bus of its own, which
// outlives this process and has no keyring behind it.
func ringReachable() bool {
	if addr := os.Getenv("DBUS_SESSION_BUS_ADDRESS"); addr != "" {
		return addr != "autolaunch:"
	}
	return busIn(filepath.Join("/run/user", strconv.Itoa(os.Getuid())))
}

// busIn reports whether dir, a user's runtime folder, has a bus.
func busIn(dir string) bool {
	for _, name := range []string{"bus", "dbus-session"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}
