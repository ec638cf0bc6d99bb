//go:build unix

package search

import (
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// A folder is an open folder. Everything in it is reached by one plain name
// and without following a link. It is safe for concurrent use.
type folder struct {
	file *os.File
	fd   int
}

// openTop opens the folder of a root.
func openTop(root *os.Root) (*folder, error) {
	f, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	return &folder{file: f, fd: int(f.Fd())}, nil
}

func (d *folder) close() { d.file.Close() }

func (d *folder) list() ([]fs.DirEntry, error) { return d.file.ReadDir(-1) }

func (d *folder) child(name string) (*folder, error) {
	fd, err := openAt(d.fd, name, unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	return &folder{file: os.NewFile(uintptr(fd), name), fd: fd}, nil
}

// changed is when something in the folder was last changed.
func (d *folder) changed(name string) (time.Time, error) {
	var st unix.Stat_t
	err := again(func() error { return unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	return time.Unix(st.Mtim.Unix()), err
}

// A source is an open regular file. The calls of the system are made without
// the os package around them, which costs as much again for files as small as
// those of source code are.
type source struct {
	fd   int
	size int64
	time time.Time
}

// open opens a regular file; it fails with errNotFile for anything else. A
// pipe does not make it wait.
func (d *folder) open(name string) (source, error) {
	fd, err := openAt(d.fd, name, unix.O_NONBLOCK)
	if err != nil {
		return source{}, err
	}
	var st unix.Stat_t
	err = again(func() error { return unix.Fstat(fd, &st) })
	if err == nil && st.Mode&unix.S_IFMT != unix.S_IFREG {
		err = errNotFile
	}
	if err != nil {
		unix.Close(fd)
		return source{}, err
	}
	return source{fd: fd, size: st.Size, time: time.Unix(st.Mtim.Unix())}, nil
}

// read reads like io.Reader, but the end is 0 bytes and no error.
func (s source) read(p []byte) (n int, err error) {
	err = again(func() error { n, err = unix.Read(s.fd, p); return err })
	return max(n, 0), err
}

func (s source) close() { unix.Close(s.fd) }

func openAt(dir int, name string, flags int) (fd int, err error) {
	err = again(func() error {
		fd, err = unix.Openat(dir, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC|flags, 0)
		return err
	})
	return fd, err
}

// again repeats a call that a signal interrupted.
func again(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}
