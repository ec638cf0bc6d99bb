package fsbackend

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// renameNew renames unless the name is taken. It fails with
// errors.ErrUnsupported where the file system cannot.
func renameNew(dir *os.Root, tmp, name string) error {
	return withFD(dir, func(fd int) error {
		err := unix.RenameatxNp(fd, tmp, fd, name, unix.RENAME_EXCL)
		switch err {
		case unix.ENOSYS, unix.EINVAL, unix.ENOTSUP:
			return errors.ErrUnsupported
		}
		return err
	})
}
