//go:build unix

package fsbackend

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// openFlags make opening a pipe return at once instead of waiting for its
// other end.
const openFlags = syscall.O_NONBLOCK

// linksOf is the number of names of a file.
func linksOf(fi fs.FileInfo) int {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return int(st.Nlink)
	}
	return 1
}

// mayWrite asks the system whether this process may write the file itself; a
// rename only needs leave for the folder, and would get around the file's
// own permissions.
func mayWrite(dir *os.Root, name string) error {
	return withFD(dir, func(fd int) error {
		err := unix.Faccessat(fd, name, unix.W_OK, unix.AT_EACCESS)
		switch err {
		case unix.ENOSYS, unix.EOPNOTSUPP, unix.EINVAL:
			return nil // not told here; the folder's permissions decide
		case unix.ETXTBSY:
			return nil // a running program may be replaced, only not changed
		}
		return err
	})
}

// keepOwner gives f the user and group of old. It reports whether both are
// kept.
func keepOwner(f *os.File, old, now fs.FileInfo) bool {
	o, ok1 := old.Sys().(*syscall.Stat_t)
	n, ok2 := now.Sys().(*syscall.Stat_t)
	if !ok1 || !ok2 || o.Uid == n.Uid && o.Gid == n.Gid {
		return true
	}
	if f.Chown(int(o.Uid), int(o.Gid)) == nil {
		return true
	}
	// Who does not own the file may still be a member of its group.
	return f.Chown(-1, int(o.Gid)) == nil && o.Uid == n.Uid
}

// syncDir makes the names in a folder durable. Some file systems have no
// such thing, which is no error.
func syncDir(dir *os.Root) error {
	return withFD(dir, func(fd int) error {
		err := unix.Fsync(fd)
		if err == unix.EINVAL || err == unix.ENOTSUP {
			return nil
		}
		return err
	})
}

// withFD lends the folder's file descriptor.
func withFD(dir *os.Root, use func(fd int) error) error {
	d, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer d.Close()
	c, err := d.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := c.Control(func(fd uintptr) { inner = use(int(fd)) }); err != nil {
		return err
	}
	return inner
}
