package fsbackend

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"
)

// The bounds of a Local whose options name none.
const (
	DefaultBeforeMax = 10 << 20
	DefaultMaxFile   = 256 << 20
)

// Options say how a Local works. The zero value makes one that denies every
// path.
type Options struct {
	// Roots are the folders in which files may be read and written, links
	// that lead out of them excluded: absolute, existing, and free to be links
	// themselves. None means that every path is denied.
	Roots []string
	// Unrestricted lets every path of the machine through; Roots are then
	// not needed. It is for tests and for programs that use this package as a
	// library.
	Unrestricted bool
	// Widen is what the user can do to open another folder; it ends the
	// message of CodeDenied. Empty means a general advice.
	Widen string
	// BeforeMax is the bound, in bytes and exclusive, up to which a write
	// keeps the old bytes for its receipt: neither side may reach it. 0 means
	// DefaultBeforeMax, a negative number that none are kept.
	BeforeMax int64
	// MaxFile is the size in bytes over which Read answers CodeTooLarge. 0
	// means DefaultMaxFile.
	MaxFile int64
	// Locks are shared by every backend of the process that may reach the
	// same files; nil means that this one has its own.
	Locks *Locks
	// Faults are for tests; nil means none.
	Faults *Faults
	// OnSync, if not nil, is told how long each fsync took, so that time that
	// is the disk's can be counted apart. It may be called concurrently.
	OnSync func(time.Duration)
}

// Local is the machine's own file system, within some folders.
type Local struct {
	opt   Options
	roots *roots
	locks *Locks
	gate  gate // nil: nobody is asked
}

// NewLocal opens the roots. It fails if one is relative, missing or no
// folder. Close gives their handles back.
func NewLocal(opt Options) (*Local, error) {
	opt.fill()
	rs, err := openRoots(opt.Roots, opt.Unrestricted, opt.Widen)
	if err != nil {
		return nil, err
	}
	return &Local{opt: opt, roots: rs, locks: opt.Locks}, nil
}

// fill puts the defaults in.
func (opt *Options) fill() {
	if opt.Widen == "" {
		opt.Widen = "use a path in it, or ask the user to open the folder of this path in the session too"
	}
	if opt.BeforeMax == 0 {
		opt.BeforeMax = DefaultBeforeMax
	}
	if opt.MaxFile == 0 {
		opt.MaxFile = DefaultMaxFile
	}
	if opt.Locks == nil {
		opt.Locks = &Locks{}
	}
}

// Close gives the root handles back. Operations that come later fail.
func (l *Local) Close() error { return l.roots.close() }

// Lock takes the turn on files by their keys; see [Locks.Lock].
func (l *Local) Lock(ctx context.Context, keys ...Key) (unlock func(), err error) {
	return l.locks.Lock(ctx, keys...)
}

// place is where a path leads: the root that holds it and the folder's handle.
type place struct {
	resolved
	root root
}

// locate resolves a path and finds its root.
func (l *Local) locate(ctx context.Context, op, path string) (place, error) {
	if err := ctx.Err(); err != nil {
		return place{}, aborted(op, path, err)
	}
	if err := checkPath(op, path); err != nil {
		return place{}, err
	}
	r, beyond, err := disk.follow(l.gate, op, path)
	if err != nil {
		return place{}, err
	}
	var rt root
	if beyond {
		rt, err = l.roots.top(op, path, r.real)
	} else {
		rt, err = l.roots.of(op, path, r.real)
	}
	if err != nil {
		return place{}, err
	}
	rt.exact = l.gate != nil
	return place{resolved: r, root: rt}, nil
}

// checkPath refuses what no file system takes.
func checkPath(op, path string) error {
	switch {
	case strings.TrimSpace(path) == "":
		return fail(op, path, CodeNotFound, "the path is empty", "name a file")
	case strings.ContainsRune(path, 0):
		return fail(op, path, CodeNotFound, "the path holds a zero byte", "name a file without it")
	case !filepath.IsAbs(path):
		return fail(op, path, CodeNotFound, "the path is relative", "give an absolute one")
	}
	return nil
}

// key is the identity of a real path. Device and inode are not used: a write
// gives a file a new inode, and the turn on it must outlast that.
func key(real string) Key { return Key(real) }

// publishing is the turn to replace a real path, apart from the turns that
// tools take by [Lock] and hold meanwhile.
func publishing(real string) Key { return "publish\x00" + key(real) }

// Stat tells of a path.
func (l *Local) Stat(ctx context.Context, path string) (Info, error) {
	p, err := l.locate(ctx, "stat", path)
	if err != nil {
		return Info{}, err
	}
	return infoOf(p.real, p.info), nil
}

func infoOf(real string, fi fs.FileInfo) Info {
	i := Info{Key: key(real), Real: real}
	if fi == nil {
		return i
	}
	i.Exists = true
	i.Dir = fi.IsDir()
	i.Regular = fi.Mode().IsRegular()
	i.Size = fi.Size()
	i.Mode = fi.Mode()
	i.Links = linksOf(fi)
	i.modified = fi.ModTime()
	return i
}

// tries is how often an operation starts again when the path is made to lead
// elsewhere while it runs.
const tries = 4

// tryWrite runs a write until its path has not moved meanwhile, and says of an
// error whether the new text was in place: then the receipt has a version.
func tryWrite(path string, write func() (Receipt, error)) (Receipt, error) {
	rec, err := Receipt{}, errMoved
	for try := 0; try < tries && errors.Is(err, errMoved); try++ {
		rec, err = write()
	}
	switch {
	case err == nil:
		return rec, nil
	case rec.Version != Version{}:
		return rec, failWith("write", path, "after the new text was in place", err)
	}
	return Receipt{}, failWith("write", path, "writing, nothing was changed", err)
}

// moved reports whether a path no longer leads to where it led. An error that
// came of it says little: the handle of the root only knows that a link leads
// out of it.
func (l *Local) moved(path, real string) bool {
	if real == "" {
		return false
	}
	r, err := disk.resolve(filepath.Clean(path))
	return err != nil || r.real != real
}

// Read returns the whole file.
func (l *Local) Read(ctx context.Context, path string) (f File, err error) {
	return l.readAs(ctx, "read", path)
}

// readAs is Read for which the gate is asked about op.
func (l *Local) readAs(ctx context.Context, op, path string) (f File, err error) {
	for range tries {
		var p place
		if p, err = l.locate(ctx, op, path); err != nil {
			return File{}, err
		}
		f, err = l.read(ctx, path, p)
		if err == nil || !errors.Is(err, errMoved) && !l.moved(path, p.real) {
			break
		}
	}
	return f, err
}

func (l *Local) read(ctx context.Context, path string, p place) (File, error) {
	const op = "read"
	if err := l.opt.Faults.hitAll(AtRead, path, p.real); err != nil {
		return File{}, failWith(op, path, "reading", err)
	}
	if p.info == nil {
		return File{}, missing(op, path, p.resolved)
	}
	if err := regular(op, path, p.info); err != nil {
		return File{}, err
	}
	dir, name, err := p.root.dir(p.real)
	if err != nil {
		return File{}, failWith(op, path, "opening its folder", err)
	}
	defer dir.Close()
	f, err := openRegular(dir, name)
	if err != nil {
		return File{}, failWith(op, path, "opening", err)
	}
	defer f.Close()
	s, err := readWhole(ctx, f, l.opt.MaxFile, l.opt.MaxFile+1)
	switch {
	case errors.Is(err, errNotRegular):
		return File{}, regular(op, path, s.info)
	case errors.Is(err, errTooLarge):
		return File{}, tooLarge(op, path, s.info.Size(), l.opt.MaxFile)
	case err != nil:
		return File{}, failWith(op, path, "reading", err)
	}
	file := File{Info: infoOf(p.real, s.info), Data: s.data, Version: s.version}
	file.Size = int64(len(s.data))
	return file, nil
}

// missing is the error of a file that does not exist.
func missing(op, path string, r resolved) error {
	switch {
	case r.file != "":
		return fail(op, path, CodeNotDirectory, r.file+" is a file, so there is nothing below it", "check the path")
	case len(r.missing) > 0:
		return fail(op, path, CodeNotFound, "no such file; its folder "+r.missing[0]+" does not exist either", "check the path, for example by listing the folder above")
	}
	return fail(op, path, CodeNotFound, "no such file", "check the path, for example by listing its folder")
}

// tooLarge is the error of a file over the bound.
func tooLarge(op, path string, size, limit int64) error {
	return fail(op, path, CodeTooLarge, fmt.Sprintf("%d bytes, more than the %d that are read whole", size, limit),
		"use a command that reads parts of it")
}

// regular is the error of what is no regular file, or nil.
func regular(op, path string, fi fs.FileInfo) error {
	kind := ""
	switch m := fi.Mode(); {
	case m.IsRegular():
		return nil
	case m.IsDir():
		kind = "a folder"
	case m&fs.ModeNamedPipe != 0:
		kind = "a pipe"
	case m&fs.ModeSocket != 0:
		kind = "a socket"
	case m&fs.ModeDevice != 0:
		kind = "a device"
	default:
		kind = "no regular file"
	}
	return fail(op, path, CodeNotRegular, "it is "+kind+", not a file", "name a regular file")
}

// VersionOf is the version of a file that holds these bytes.
func VersionOf(data []byte) Version { return sha256.Sum256(data) }

// String is the version in hexadecimal.
func (v Version) String() string { return fmt.Sprintf("%x", v[:]) }
