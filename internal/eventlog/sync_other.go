//go:build !unix

package eventlog

import "errors"

// syncDir does nothing: Windows has no way to sync a folder, NTFS journals
// the names itself.
func syncDir(string) error { return nil }

func cannotSync(err error) bool { return errors.Is(err, errors.ErrUnsupported) }
