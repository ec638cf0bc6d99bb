package fsbackendtest

import (
	"io/fs"
	"os"
	"path/filepath"
)

// Disk is the [World] of a backend on this machine's disk.
type Disk struct{}

// Put writes in place, as "cat >file" does.
func (Disk) Put(path string, data []byte, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return err
	}
	if mode == 0 {
		return nil
	}
	return os.Chmod(path, mode)
}

// Mkdir makes a folder and those above it.
func (Disk) Mkdir(path string) error { return os.MkdirAll(path, 0o777) }

// Symlink makes a link, and the folders above it.
func (Disk) Symlink(target, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return os.Symlink(target, path)
}

// Link gives a file one more name.
func (Disk) Link(old, path string) error { return os.Link(old, path) }

// Pipe makes a named pipe.
func (Disk) Pipe(path string) error { return mkfifo(path) }

// Delete removes a path and all below it.
func (Disk) Delete(path string) error { return os.RemoveAll(path) }

// Lstat is of [World].
func (Disk) Lstat(path string) (fs.FileMode, []byte, error) {
	fi, err := os.Lstat(path)
	if err != nil {
		return 0, nil, err
	}
	switch m := fi.Mode(); {
	case m&fs.ModeSymlink != 0:
		target, err := os.Readlink(path)
		return m, []byte(target), err
	case m.IsRegular():
		data, err := os.ReadFile(path)
		return m, data, err
	default:
		return m, nil, nil
	}
}

// Paths is of [World].
func (Disk) Paths(dir string) ([]string, error) {
	var all []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && path != dir {
			all = append(all, path)
		}
		return err
	})
	return all, err
}
