package cases

import "golang.org/x/sys/unix"

// setXattr reports whether the file system keeps extended attributes.
func setXattr(path string) error { return unix.Setxattr(path, "user.probe", []byte("1"), 0) }
