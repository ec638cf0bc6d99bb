//go:build !unix

package search

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"time"
)

// A folder is an open folder. Everything in it is reached by one plain name,
// and os.Root keeps what is swapped for a link meanwhile inside of the top.
// It is safe for concurrent use.
type folder struct{ root *os.Root }

// openTop opens the folder of a root.
func openTop(root *os.Root) (*folder, error) {
	r, err := root.OpenRoot(".")
	return &folder{r}, err
}

func (d *folder) close() { d.root.Close() }

func (d *folder) list() ([]fs.DirEntry, error) {
	f, err := d.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}

func (d *folder) child(name string) (*folder, error) {
	info, err := d.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, errNotFile
	}
	r, err := d.root.OpenRoot(name)
	return &folder{r}, err
}

// changed is when something in the folder was last changed.
func (d *folder) changed(name string) (time.Time, error) {
	info, err := d.root.Lstat(name)
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}

// A source is an open regular file.
type source struct {
	file *os.File
	size int64
	time time.Time
}

// open opens a regular file; it fails with errNotFile for anything else.
func (d *folder) open(name string) (source, error) {
	info, err := d.root.Lstat(name)
	if err != nil {
		return source{}, err
	}
	if !info.Mode().IsRegular() {
		return source{}, errNotFile
	}
	f, err := d.root.Open(name)
	if err != nil {
		return source{}, err
	}
	return source{file: f, size: info.Size(), time: info.ModTime()}, nil
}

// read reads like io.Reader, but the end is 0 bytes and no error.
func (s source) read(p []byte) (int, error) {
	n, err := s.file.Read(p)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

func (s source) close() { s.file.Close() }
