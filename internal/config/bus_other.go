//go:build !unix || darwin

package config

// ringReachable is true: Windows and macOS always have their keyring.
func ringReachable() bool { return true }
