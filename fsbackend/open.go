package fsbackend

import (
	"context"
	"errors"
	"io"
)

// Open streams a file, for readers that need not hold all of it: there is no
// bound on its size. It fails as Read does. The caller closes what it returns;
// the Info is of the moment of opening, and the version is for the reader to
// compute.
func (l *Local) Open(ctx context.Context, path string) (f io.ReadCloser, info Info, err error) {
	for range tries {
		var p place
		if p, err = l.locate(ctx, "read", path); err != nil {
			return nil, Info{}, err
		}
		f, info, err = l.open(path, p)
		if err == nil || !errors.Is(err, errMoved) && !l.moved(path, p.real) {
			break
		}
	}
	return f, info, err
}

func (l *Local) open(path string, p place) (io.ReadCloser, Info, error) {
	const op = "read"
	if err := l.opt.Faults.hitAll(AtRead, path, p.real); err != nil {
		return nil, Info{}, failWith(op, path, "reading", err)
	}
	if p.info == nil {
		return nil, Info{}, missing(op, path, p.resolved)
	}
	if err := regular(op, path, p.info); err != nil {
		return nil, Info{}, err
	}
	dir, name, err := p.root.dir(p.real)
	if err != nil {
		return nil, Info{}, failWith(op, path, "opening its folder", err)
	}
	defer dir.Close()
	f, err := openRegular(dir, name)
	if err != nil {
		return nil, Info{}, failWith(op, path, "opening", err)
	}
	info, err := f.Stat()
	if err == nil {
		err = regular(op, path, info)
	}
	if err != nil {
		f.Close()
		return nil, Info{}, failWith(op, path, "opening", err)
	}
	return f, infoOf(p.real, info), nil
}
