//go:build linux || darwin

package fsbackend

import (
	"bytes"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// boundXattrs are attributes that belong to the bytes and not to the file: a
// change of the bytes ends them, as the kernel does when it is written in
// place.
var boundXattrs = []string{"security.capability", "security.ima", "security.evm"}

// keepXattrs makes dst's extended attributes those of src: labels, ACLs, the
// user's own. It returns how many could not be kept; those that the folder
// gave a new file and the old one does not have are taken away.
func keepXattrs(dst, src *os.File) (lost int) {
	from, to := int(src.Fd()), int(dst.Fd())
	have := listXattrs(from)
	for _, name := range listXattrs(to) {
		if !slices.Contains(have, name) {
			// Best effort: one that cannot be removed was forced by the system.
			_ = unix.Fremovexattr(to, name)
		}
	}
	for _, name := range have {
		if slices.Contains(boundXattrs, name) {
			continue
		}
		v, err := getXattr(from, name)
		if err == nil {
			if now, e := getXattr(to, name); e == nil && bytes.Equal(now, v) {
				continue
			}
			err = unix.Fsetxattr(to, name, v, 0)
		}
		if err != nil {
			lost++
		}
	}
	return lost
}

// listXattrs is nil where the file system has none.
func listXattrs(fd int) []string {
	n, err := unix.Flistxattr(fd, nil)
	if err != nil || n == 0 {
		return nil
	}
	buf := make([]byte, n)
	if n, err = unix.Flistxattr(fd, buf); err != nil {
		return nil
	}
	var names []string
	for b := range bytes.SplitSeq(buf[:n], []byte{0}) {
		if len(b) > 0 {
			names = append(names, string(b))
		}
	}
	return names
}

func getXattr(fd int, name string) ([]byte, error) {
	n, err := unix.Fgetxattr(fd, name, nil)
	if err != nil || n == 0 {
		return nil, err
	}
	buf := make([]byte, n)
	n, err = unix.Fgetxattr(fd, name, buf)
	return buf[:max(n, 0)], err
}
