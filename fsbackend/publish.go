package fsbackend

import (
	"errors"
	"io/fs"
	"os"
)

// publishNew gives a staged file its name, and fails with fs.ErrExist if there
// is a file of that name by then, which it leaves alone. Readers see the whole
// file or none.
func publishNew(dir *os.Root, tmp, name string) error {
	err := renameNew(dir, tmp, name)
	if err == nil || errors.Is(err, fs.ErrExist) || !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return linkNew(dir, tmp, name)
}

// linkNew publishes by a second name, then drops the first. Where there are no
// hard links either (FAT), an empty file takes the name first, so that no
// other program's file can be replaced; the whole text follows at once.
func linkNew(dir *os.Root, tmp, name string) error {
	err := dir.Link(tmp, name)
	if err == nil {
		// A second name that stays is no failure of the write; the caller
		// tries to remove it once more.
		dir.Remove(tmp)
		return nil
	}
	if errors.Is(err, fs.ErrExist) {
		return err
	}
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	f.Close()
	if err := dir.Rename(tmp, name); err != nil {
		dir.Remove(name)
		return err
	}
	return nil
}
