//go:build !unix

package eventlog

// syncDir does nothing: Windows has no way to sync a folder, and NTFS
// journals the names itself.
func syncDir(string) error { return nil }
