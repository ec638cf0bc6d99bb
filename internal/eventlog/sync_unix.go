//go:build unix

package eventlog

import (
	"errors"
	"os"
	"syscall"
)

// syncDir makes the names in dir durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// cannotSync reports whether the file system has no fsync at all, as some
// network and FUSE ones; the log then is as durable as it can be.
func cannotSync(err error) bool {
	return errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP)
}
