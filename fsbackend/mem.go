package fsbackend

import (
	"context"
	"io/fs"
	"path/filepath"
)

// MemOptions say how a Mem works; the fields are as in [Options].
type MemOptions struct {
	Roots        []string // folders that are made at the start
	Unrestricted bool
	Widen        string
	BeforeMax    int64
	MaxFile      int64
	Locks        *Locks
	Faults       *Faults
}

// Mem is a file system in memory, for tests: folders, links, hard links and
// modes, with the same checks, errors and fault points as [Local], and no
// users. Its methods of [Tree] are the view of another program.
type Mem struct {
	opt   MemOptions
	locks *Locks
	roots []string // after links
	gate  gate     // nil: nobody is asked
	*Tree
}

// NewMem makes a file system that holds the roots and nothing else. A relative
// root is an error.
func NewMem(opt MemOptions) (*Mem, error) {
	full := Options{Widen: opt.Widen, BeforeMax: opt.BeforeMax, MaxFile: opt.MaxFile, Locks: opt.Locks}
	full.fill()
	opt.Widen, opt.BeforeMax, opt.MaxFile, opt.Locks = full.Widen, full.BeforeMax, full.MaxFile, full.Locks
	m := &Mem{opt: opt, locks: opt.Locks, Tree: &Tree{nodes: map[string]*node{}}}
	for _, dir := range opt.Roots {
		if !filepath.IsAbs(dir) {
			return nil, fail("open", dir, CodeNotFound, "the root is a relative path", "give an absolute one")
		}
		if err := m.Mkdir(dir); err != nil {
			return nil, err
		}
		m.roots = append(m.roots, filepath.Clean(dir))
	}
	return m, nil
}

// Lock takes the turn on files by their keys; see [Locks.Lock].
func (m *Mem) Lock(ctx context.Context, keys ...Key) (unlock func(), err error) {
	return m.locks.Lock(ctx, keys...)
}

func (m *Mem) locate(ctx context.Context, op, path string) (resolved, error) {
	if err := ctx.Err(); err != nil {
		return resolved{}, aborted(op, path, err)
	}
	if err := checkPath(op, path); err != nil {
		return resolved{}, err
	}
	r, beyond, err := m.lookup().follow(m.gate, op, path)
	if err != nil || beyond {
		return r, err
	}
	for _, root := range m.roots {
		if within(root, r.real) {
			return r, nil
		}
	}
	if m.opt.Unrestricted {
		return r, nil
	}
	return r, fail(op, path, CodeDenied, deniedText(path, r.real, m.roots), m.opt.Widen)
}

// Stat is of [Backend].
func (m *Mem) Stat(ctx context.Context, path string) (Info, error) {
	r, err := m.locate(ctx, "stat", path)
	if err != nil {
		return Info{}, err
	}
	return m.info(r), nil
}

// info counts the names of a file, which infoOf cannot.
func (m *Mem) info(r resolved) Info {
	i := infoOf(r.real, r.info)
	if n, ok := r.info.(*node); ok && n != nil {
		i.Links = m.count(n)
	}
	return i
}

// Read is of [Backend].
func (m *Mem) Read(ctx context.Context, path string) (File, error) {
	return m.readAs(ctx, "read", path)
}

// readAs is Read for which the gate is asked about as.
func (m *Mem) readAs(ctx context.Context, as, path string) (File, error) {
	const op = "read"
	r, err := m.locate(ctx, as, path)
	if err != nil {
		return File{}, err
	}
	if err := m.opt.Faults.hitAll(AtRead, path, r.real); err != nil {
		return File{}, failWith(op, path, "reading", err)
	}
	if r.info == nil {
		return File{}, missing(op, path, r)
	}
	if err := regular(op, path, r.info); err != nil {
		return File{}, err
	}
	if r.info.Size() > m.opt.MaxFile {
		return File{}, tooLarge(op, path, r.info.Size(), m.opt.MaxFile)
	}
	data := r.info.(*node).bytes()
	return File{Info: m.info(r), Data: data, Version: VersionOf(data)}, nil
}

// Write is of [Backend]. It passes the fault points as Local does.
func (m *Mem) Write(ctx context.Context, w Write) (Receipt, error) {
	for _, at := range []FaultPoint{AtWrite, AtBeforeWrite} {
		if err := m.opt.Faults.Hit(at, w.Path); err != nil {
			return Receipt{}, failWith("write", w.Path, "writing", err)
		}
	}
	return tryWrite(w.Path, func() (Receipt, error) { return m.write(ctx, w) })
}

// write is one try. The receipt has a version if the text is in place.
func (m *Mem) write(ctx context.Context, w Write) (Receipt, error) {
	r, err := m.locate(ctx, "write", w.Path)
	if err != nil {
		return Receipt{}, err
	}
	unlock, err := m.locks.Lock(ctx, publishing(r.real))
	if err != nil {
		return Receipt{}, err
	}
	defer unlock()
	if err := admit(w, r); err != nil {
		return Receipt{}, err
	}
	made, err := m.makeAll(r.missing)
	if err != nil {
		return Receipt{}, err
	}
	undo := func() {
		for i := len(made) - 1; i >= 0; i-- {
			m.removeEmpty(made[i])
		}
	}
	for _, at := range []FaultPoint{AtTempWrite, AtSync, AtBeforeRename} {
		err := m.opt.Faults.hitAll(at, w.Path, r.real)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			undo()
			return Receipt{}, err
		}
	}
	rec, err := m.replace(w, r)
	if err != nil {
		undo()
		return Receipt{}, err
	}
	rec.MadeDirs = made
	return rec, m.opt.Faults.hitAll(AtAfterWrite, w.Path, r.real)
}

// replace checks the precondition against the file as it is now and puts the
// new one in its place.
func (m *Mem) replace(w Write, r resolved) (Receipt, error) {
	old := m.at(r.real)
	if old != nil && old.mode&fs.ModeSymlink != 0 {
		return Receipt{}, errMoved
	}
	isNew := r.info == nil
	r.info = nil
	if old != nil {
		r.info = old
	}
	if err := admit(w, r); err != nil {
		return Receipt{}, err
	}
	if isNew != (old == nil) {
		return Receipt{}, errMoved
	}
	rec := Receipt{Path: w.Path, Real: r.real, Key: key(r.real), Created: isNew}
	mode := fs.FileMode(0o644)
	if old != nil {
		before := old.bytes()
		rec.BeforeVersion, rec.BeforeSize, rec.BeforeMode = VersionOf(before), int64(len(before)), old.mode
		if pre, ok := w.Pre.(Unchanged); ok && rec.BeforeVersion != pre.Version {
			return Receipt{}, changed("write", w.Path, rec.BeforeVersion)
		}
		if int64(len(before)) < m.opt.BeforeMax && int64(len(w.Data)) < m.opt.BeforeMax {
			rec.Before = &before
		}
		if n := m.count(old); n > 1 {
			rec.Notes = append(rec.Notes, partedNote(n))
		}
		mode = old.mode
	}
	if w.Mode != 0 {
		mode = w.Mode & modeBits
	}
	if w.Executable {
		mode |= mode & 0o444 >> 2
	}
	if err := m.opt.Faults.hitAll(AtRename, w.Path, r.real); err != nil {
		return Receipt{}, err
	}
	data := append([]byte(nil), w.Data...)
	if !m.swap(r.real, old, &node{mode: mode, data: data}) {
		return Receipt{}, errMoved
	}
	rec.Version = VersionOf(data)
	return rec, nil
}

// makeAll makes folders, outermost first, and returns those that it made.
func (m *Mem) makeAll(dirs []string) (made []string, err error) {
	for _, dir := range dirs {
		if err := m.opt.Faults.Hit(AtMkdir, dir); err != nil {
			for i := len(made) - 1; i >= 0; i-- {
				m.removeEmpty(made[i])
			}
			return nil, err
		}
		if m.swap(dir, nil, &node{mode: fs.ModeDir | 0o755}) {
			made = append(made, dir)
		}
	}
	return made, nil
}

// MakeDirs is of [Folders].
func (m *Mem) MakeDirs(ctx context.Context, path string) ([]string, error) {
	const op = "mkdir"
	r, err := m.locate(ctx, op, path)
	if err != nil {
		return nil, err
	}
	if err := dirWanted(op, path, r); err != nil || r.info != nil {
		return nil, err
	}
	made, err := m.makeAll(append(r.missing, r.real))
	if err != nil {
		return nil, failWith(op, path, "making the folder", err)
	}
	return made, nil
}

// RemoveDir is of [Folders].
func (m *Mem) RemoveDir(ctx context.Context, path string) error {
	const op = "rmdir"
	r, err := m.locate(ctx, op, path)
	if err != nil {
		return err
	}
	if r.info == nil {
		return missing(op, path, r)
	}
	if err := dirWanted(op, path, r); err != nil {
		return err
	}
	if !m.removeEmpty(r.real) {
		return fail(op, path, CodeIO, "removing the folder: it is not empty", "")
	}
	return nil
}

// Remove is of [Folders].
func (m *Mem) Remove(ctx context.Context, path string, v Version) error {
	const op = "remove"
	r, err := m.locate(ctx, op, path)
	if err != nil {
		return err
	}
	old := m.at(r.real)
	if old == nil {
		return goneStale(op, path)
	}
	if err := regular(op, path, old); err != nil {
		return err
	}
	if now := VersionOf(old.bytes()); now != v {
		return changed(op, path, now)
	}
	if !m.swap(r.real, old, nil) {
		return goneStale(op, path)
	}
	return nil
}

var (
	_ Backend = (*Local)(nil)
	_ Folders = (*Local)(nil)
	_ Locker  = (*Local)(nil)
	_ Backend = (*Mem)(nil)
	_ Folders = (*Mem)(nil)
	_ Locker  = (*Mem)(nil)
)
