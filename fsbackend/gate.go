package fsbackend

import (
	"path/filepath"
)

// A gate is asked about every path of a backend from within, so that what was
// decided on and what is used are one and the same real path. op is the name
// of the operation as errors have it.
type gate interface {
	// before decides by the letters of the path, which is absolute.
	before(op, path string) error
	// after decides by where the path leads. beyond says that the path is open
	// by itself, wherever it lies; the folders do not matter then.
	after(op, path, real string) (beyond bool, err error)
}

// A gated backend can have a gate. It gives a view of itself that has one and
// shares everything else.
type gated interface {
	Backend
	withGate(g gate) Backend
	// realPath follows links anywhere, whatever is open.
	realPath(path string) (string, error)
	// realBelow follows the links of a clean path below a real one. sure is of
	// [lookup].
	realBelow(start, path string, sure bool) (string, error)
}

func (l *Local) withGate(g gate) Backend {
	view := *l
	view.gate = g
	return &view
}

func (l *Local) realPath(path string) (string, error) { return disk.realPath(path) }

func (m *Mem) withGate(g gate) Backend {
	view := *m
	view.gate = g
	return &view
}

func (m *Mem) realPath(path string) (string, error) { return m.lookup().realPath(path) }

func (l *Local) realBelow(start, path string, sure bool) (string, error) {
	return disk.realBelow(start, path, sure)
}

func (m *Mem) realBelow(start, path string, sure bool) (string, error) {
	return m.lookup().realBelow(start, path, sure)
}

func (l lookup) realBelow(start, path string, sure bool) (string, error) {
	l.sure = sure
	r, err := l.resolveFrom(start, components(path))
	return r.real, err
}

func (l lookup) realPath(path string) (string, error) {
	r, err := l.resolve(filepath.Clean(path))
	return r.real, err
}

// follow resolves a path past a gate, which may be nil.
func (l lookup) follow(g gate, op, path string) (r resolved, beyond bool, err error) {
	if g != nil {
		if err := g.before(op, path); err != nil {
			return resolved{}, false, err
		}
	}
	r, err = l.resolve(filepath.Clean(path))
	if err != nil {
		return r, false, failWith(op, path, "the path cannot be followed", err)
	}
	if g == nil {
		return r, false, nil
	}
	if beyond, err = g.after(op, path, r.real); err != nil {
		return r, false, err
	}
	if beyond && len(r.missing) > 0 && op != "read" && op != "stat" && op != opChange {
		return r, false, fail(op, path, CodeDenied,
			"permission denied: "+path+" is open, but its folder "+r.missing[len(r.missing)-1]+" does not exist, and a path that is open by itself does not let folders be made",
			"ask the user to make the folder")
	}
	return r, beyond, nil
}
