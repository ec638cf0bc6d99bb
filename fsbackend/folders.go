package fsbackend

import (
	"context"
	"errors"
	"io/fs"
	"math"
)

// Folders are what some backends can do besides: what a commit of several
// files needs to make and to undo. Local and Mem have it.
type Folders interface {
	// MakeDirs makes a folder and those above it that are missing. It returns
	// the real paths of those that it made, outermost first; none if the folder
	// was there. It fails with CodeNotDirectory if a file is in the way.
	MakeDirs(ctx context.Context, path string) (made []string, err error)
	// RemoveDir removes an empty folder, and fails if it is not empty.
	RemoveDir(ctx context.Context, path string) error
	// Remove removes a file that has this version; otherwise it fails with
	// CodeStaleVersion, also if there is no file.
	Remove(ctx context.Context, path string, v Version) error
}

// MakeDirs is of [Folders].
func (l *Local) MakeDirs(ctx context.Context, path string) (made []string, err error) {
	const op = "mkdir"
	p, err := l.locate(ctx, op, path)
	if err != nil {
		return nil, err
	}
	if err := dirWanted(op, path, p.resolved); err != nil || p.info != nil {
		return nil, err
	}
	for _, dir := range append(p.missing, p.real) {
		err := l.opt.Faults.Hit(AtMkdir, dir)
		if err == nil {
			err = p.root.mkdir(dir)
		}
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			for i := len(made) - 1; i >= 0; i-- {
				p.root.remove(made[i]) // stays if somebody uses it
			}
			return nil, failWith(op, path, "making the folder "+dir, err)
		}
		made = append(made, dir)
	}
	return made, nil
}

// dirWanted is the error of a path where no folder is or can be.
func dirWanted(op, path string, r resolved) error {
	switch {
	case r.file != "":
		return fail(op, path, CodeNotDirectory, r.file+" is a file, so there can be no folder below it", "use another path")
	case r.info != nil && !r.info.IsDir():
		return fail(op, path, CodeNotDirectory, "it is a file, not a folder", "use another path")
	}
	return nil
}

// RemoveDir is of [Folders].
func (l *Local) RemoveDir(ctx context.Context, path string) error {
	const op = "rmdir"
	p, err := l.locate(ctx, op, path)
	if err != nil {
		return err
	}
	if p.info == nil {
		return missing(op, path, p.resolved)
	}
	if err := dirWanted(op, path, p.resolved); err != nil {
		return err
	}
	if err := p.root.remove(p.real); err != nil {
		return failWith(op, path, "removing the folder", err)
	}
	return nil
}

// Remove is of [Folders].
func (l *Local) Remove(ctx context.Context, path string, v Version) error {
	const op = "remove"
	p, err := l.locate(ctx, op, path)
	if err != nil {
		return err
	}
	unlock, err := l.locks.Lock(ctx, publishing(p.real))
	if err != nil {
		return aborted(op, path, err)
	}
	defer unlock()
	dir, name, err := p.root.dir(p.real)
	if errors.Is(err, fs.ErrNotExist) {
		return goneStale(op, path)
	}
	if err != nil {
		return failWith(op, path, "opening its folder", err)
	}
	defer dir.Close()
	f, err := openRegular(dir, name)
	if errors.Is(err, fs.ErrNotExist) {
		return goneStale(op, path)
	}
	if err != nil {
		return failWith(op, path, "opening", err)
	}
	defer f.Close()
	s, err := readWhole(ctx, f, math.MaxInt64, 0)
	switch {
	case errors.Is(err, errNotRegular):
		return regular(op, path, s.info)
	case err != nil:
		return failWith(op, path, "reading", err)
	case s.version != v:
		return changed(op, path, s.version)
	}
	if err := dir.Remove(name); err != nil {
		return failWith(op, path, "removing", err)
	}
	return nil
}
