package fsbackend

import (
	"context"
	"errors"
	"os"

	"dsh-acp/internal/guard"
)

// Dirs is what some backends can do besides: open a folder for a search, which
// looks at more files than each could be asked for by itself. Local has it, and
// the decorators over one that has it.
type Dirs interface {
	// OpenDir fails as Read does, with CodeNotDirectory for what is no folder.
	// The caller closes the folder.
	OpenDir(ctx context.Context, path string) (*Dir, error)
}

// A Dir is an open folder. What is in it is reached by plain names and without
// following links; whatever else is done with Root is not within the backend's
// care.
type Dir struct {
	Root *os.Root
	Real string // the path after links were followed
	// Readable reports whether the policy lets a path be read, given absolute
	// and without links: Real and names below it. nil lets all be.
	Readable func(real string) bool
}

// Close gives the handle back.
func (d *Dir) Close() error { return d.Root.Close() }

// OpenDir opens a folder of a backend. It fails with CodeIO for a backend that
// has no [Dirs].
func OpenDir(ctx context.Context, b Backend, path string) (*Dir, error) {
	if d, ok := b.(Dirs); ok {
		return d.OpenDir(ctx, path)
	}
	return nil, fail("search", path, CodeIO, "this storage cannot be searched", "use a command")
}

// OpenDir is of [Dirs].
func (l *Local) OpenDir(ctx context.Context, path string) (d *Dir, err error) {
	for range tries {
		var p place
		if p, err = l.locate(ctx, "read", path); err != nil {
			return nil, err
		}
		d, err = l.openDir(path, p)
		if err == nil || !errors.Is(err, errMoved) && !l.moved(path, p.real) {
			break
		}
	}
	return d, err
}

func (l *Local) openDir(path string, p place) (*Dir, error) {
	const op = "read"
	if p.info == nil {
		return nil, missing(op, path, p.resolved)
	}
	if !p.info.IsDir() {
		return nil, fail(op, path, CodeNotDirectory, "it is a file, not a folder", "name a folder")
	}
	var root *os.Root
	var err error
	if rel := p.root.rel(p.real); p.root.exact {
		root, err = p.root.exactDir(rel)
	} else {
		root, err = p.root.handle.OpenRoot(rel)
	}
	if err != nil {
		return nil, failWith(op, path, "opening the folder", err)
	}
	// What was opened must be what was decided on.
	if info, err := root.Stat("."); err != nil || !os.SameFile(info, p.info) {
		root.Close()
		return nil, failWith(op, path, "opening the folder", errors.Join(errMoved, err))
	}
	return &Dir{Root: root, Real: p.real}, nil
}

// OpenDir is of [Dirs]. A search sees the files as they are on the disk: what
// the editor holds unsaved is asked for file by file.
func (c *Client) OpenDir(ctx context.Context, path string) (*Dir, error) {
	return c.local.OpenDir(ctx, path)
}

// OpenDir is of [Dirs]; it fails with CodeIO if the backend cannot.
func (r *Restricted) OpenDir(ctx context.Context, path string) (*Dir, error) {
	if err := r.pass(ctx, "read", path); err != nil {
		return nil, err
	}
	d, err := OpenDir(ctx, r.b, path)
	if err != nil {
		return nil, err
	}
	l, below := r.locate(), d.Readable
	d.Readable = func(real string) bool {
		_, ok := l.Decide(guard.Reading, real, real).(guard.Allowed)
		return ok && (below == nil || below(real))
	}
	return d, nil
}

// OpenDir is of [Dirs]; it fails with CodeIO if the backend cannot.
func (jd *Journaled) OpenDir(ctx context.Context, path string) (*Dir, error) {
	return OpenDir(ctx, jd.b, path)
}

var (
	_ Dirs = (*Local)(nil)
	_ Dirs = (*Client)(nil)
	_ Dirs = (*Restricted)(nil)
	_ Dirs = (*Journaled)(nil)
)
