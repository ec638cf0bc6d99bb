package fsbackend

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// renameNew renames unless the name is taken. It fails with
// errors.ErrUnsupported where the kernel or file system cannot.
func renameNew(dir *os.Root, tmp, name string) error {
	return withFD(dir, func(fd int) error {
		err := unix.Renameat2(fd, tmp, fd, name, unix.RENAME_NOREPLACE)
		switch err {
		case unix.ENOSYS, unix.EINVAL, unix.EOPNOTSUPP, unix.EPERM:
			return errors.ErrUnsupported
		}
		return err
	})
}
