package fsbackend

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"sync/atomic"
	"time"

	"dsh-acp/internal/guard"
)

// DefaultFresh is Limits.Fresh where it is zero.
const DefaultFresh = 100 * time.Millisecond

// Generated says what happens to a write over a file that was generated.
type Generated int

const (
	GeneratedRefuse Generated = iota // CodeGenerated
	GeneratedWarn                    // the receipt has a note
	GeneratedOff
)

// Limits say what a [Restricted] lets through.
type Limits struct {
	// Policy decides about paths. The zero Policy denies every one. Its
	// folders should be those of the backend: what either denies is denied.
	Policy guard.Policy
	// Generated is for writes over files that were generated; zero refuses.
	Generated Generated
	// Widen is what the user can do to open another path; it ends the message
	// of a denial for a path outside. Empty means a general advice.
	Widen string
	// Fresh is how long it is remembered where blocked paths and open folders
	// lead. A link among them that another program changes may go unnoticed for
	// that long; the path that is asked about is followed anew each time. 0
	// means DefaultFresh, a negative number that nothing is remembered.
	Fresh time.Duration
}

// A Guard tells ahead whether an operation would be let through, so that
// several files can be asked about before the first is touched. Errors are as
// those of the operations. A path that does not exist is asked about like any
// other.
type Guard interface {
	MayRead(ctx context.Context, path string) error
	MayWrite(ctx context.Context, path string) error
}

// Restricted lets a policy decide about every operation: by the letters of
// the path, then by where it leads. Stat passes if the path may be read or
// written. Denials carry CodeDenied or CodeGuardAmbiguous.
//
// Over Local and Mem the policy is asked from within, about the very path that
// is then opened, and opened without following a link: no change between the
// check and the use gets around it, and a path that the allow list opens
// outside of the folders is reached without opening anything beside it. Over
// another backend the real path is asked for by Stat first, and a change in
// between is only caught by that backend's own bounds.
//
// It is safe for concurrent use.
type Restricted struct {
	outer  Backend // as given
	b      Backend // with the gate in it, where that can be
	inside bool    // the gate is in b
	lim    Limits
	policy atomic.Pointer[guard.Policy]
	cache  atomic.Pointer[located]
}

// located is a policy on the file system at one time.
type located struct {
	*guard.Located
	policy *guard.Policy
	at     time.Time
	sure   bool        // case counts
	starts [][2]string // the open folders: as written, and where they lie
}

// Restrict puts a policy before a backend. The backend stays the caller's, to
// close too; whoever has it gets around the policy.
func Restrict(b Backend, lim Limits) *Restricted {
	if lim.Fresh == 0 {
		lim.Fresh = DefaultFresh
	}
	r := &Restricted{outer: b, b: b, lim: lim}
	r.SetPolicy(lim.Policy)
	if g, ok := b.(gated); ok {
		r.b, r.inside = g.withGate(r), true
	}
	return r
}

// Policy is the policy that holds now.
func (r *Restricted) Policy() guard.Policy { return *r.policy.Load() }

// SetPolicy puts another policy in place. An operation that is under way may
// still be decided by the old one.
func (r *Restricted) SetPolicy(p guard.Policy) { r.policy.Store(&p) }

// locate finds out where the policy's paths lead, or remembers it.
func (r *Restricted) locate() *located {
	p := r.policy.Load()
	if c := r.cache.Load(); c != nil && c.policy == p && time.Since(c.at) < r.lim.Fresh {
		return c
	}
	c := &located{policy: p, at: time.Now()}
	c.Located = p.Locate(r.real)
	cfg := p.Config()
	c.sure = !cfg.Style.Fold
	for _, dir := range append(cfg.More, cfg.Root) {
		written, err := p.Absolute(dir)
		if err != nil {
			continue
		}
		if real, err := r.real(written); err == nil {
			c.starts = append(c.starts, [2]string{written, real}, [2]string{real, real})
		}
	}
	r.cache.Store(c)
	return c
}

// real follows a path of the policy.
func (r *Restricted) real(path string) (string, error) {
	if g, ok := r.outer.(gated); ok {
		return g.realPath(path)
	}
	info, err := r.outer.Stat(context.Background(), path)
	return info.Real, err
}

// before is of [gate].
func (r *Restricted) before(op, path string) error {
	l := r.locate()
	_, err := r.judge(op, path, func(s guard.Scope) guard.Decision { return l.Before(s, path) })
	return err
}

// after is of [gate].
func (r *Restricted) after(op, path, real string) (beyond bool, err error) {
	l := r.locate()
	ok, err := r.judge(op, path, func(s guard.Scope) guard.Decision { return l.Decide(s, path, real) })
	return ok.Entry != "", err
}

// judge asks for the scope of an operation and makes an error of what is not
// allowed.
func (r *Restricted) judge(op, path string, ask func(guard.Scope) guard.Decision) (guard.Allowed, error) {
	var d guard.Decision
	switch op {
	case "read":
		d = ask(guard.Reading)
	case "stat":
		d = ask(guard.Reading)
		if _, ok := d.(guard.Allowed); !ok {
			if w := ask(guard.Writing); !denied(w) || !denied(d) {
				d = w
			}
		}
	default:
		d = ask(guard.Writing)
	}
	switch d := d.(type) {
	case guard.Allowed:
		return d, nil
	case guard.Denied:
		remedy := d.Remedy()
		if r.lim.Widen != "" && (d.Why == guard.Outside || d.Why == guard.LeadsOut || d.Why == guard.NoRoot) {
			remedy = r.lim.Widen
		}
		return guard.Allowed{}, fail(op, path, CodeDenied, d.Error(), remedy)
	case guard.Ambiguous:
		return guard.Allowed{}, fail(op, path, CodeGuardAmbiguous, d.Error(), d.Remedy())
	default:
		panic(fmt.Sprintf("fsbackend: no answer to the decision %T", d))
	}
}

func denied(d guard.Decision) bool { _, ok := d.(guard.Denied); return ok }

// pass asks about a path, for a backend that does not ask by itself.
func (r *Restricted) pass(ctx context.Context, op, path string) error {
	if r.inside {
		return nil
	}
	return r.check(ctx, op, path)
}

// check asks about a path without touching it.
func (r *Restricted) check(ctx context.Context, op, path string) error {
	if err := ctx.Err(); err != nil {
		return aborted(op, path, err)
	}
	if err := checkPath(op, path); err != nil {
		return err
	}
	if err := r.before(op, path); err != nil {
		return err
	}
	var real string
	if g, ok := r.outer.(gated); ok {
		var err error
		if real, err = r.follow(g, filepath.Clean(path)); err != nil {
			return failWith(op, path, "the path cannot be followed", err)
		}
	} else {
		info, err := r.outer.Stat(ctx, filepath.Clean(path))
		if err != nil {
			return err
		}
		real = info.Real
	}
	_, err := r.after(op, path, real)
	return err
}

// follow finds out where a path leads, by a shorter way than the operation
// itself: from the open folder on, whose own place is remembered.
func (r *Restricted) follow(g gated, path string) (string, error) {
	c := r.locate()
	for _, s := range c.starts {
		if within(s[0], path) {
			return g.realBelow(s[1], path[len(s[0]):], c.sure)
		}
	}
	return g.realPath(path)
}

// MayRead is of [Guard].
func (r *Restricted) MayRead(ctx context.Context, path string) error {
	return r.check(ctx, "read", path)
}

// MayWrite is of [Guard].
func (r *Restricted) MayWrite(ctx context.Context, path string) error {
	return r.check(ctx, "write", path)
}

// Stat is of [Backend].
func (r *Restricted) Stat(ctx context.Context, path string) (Info, error) {
	if err := r.pass(ctx, "stat", path); err != nil {
		return Info{}, err
	}
	return r.b.Stat(ctx, path)
}

// Read is of [Backend].
func (r *Restricted) Read(ctx context.Context, path string) (File, error) {
	if err := r.pass(ctx, "read", path); err != nil {
		return File{}, err
	}
	return r.b.Read(ctx, path)
}

// Open streams a file; see [Local.Open]. A backend that cannot stream is read.
func (r *Restricted) Open(ctx context.Context, path string) (io.ReadCloser, Info, error) {
	if err := r.pass(ctx, "read", path); err != nil {
		return nil, Info{}, err
	}
	return openOrRead(ctx, r.b, path)
}

// A streamer is a backend that gives a file without holding it whole.
type streamer interface {
	Open(ctx context.Context, path string) (io.ReadCloser, Info, error)
}

func openOrRead(ctx context.Context, b Backend, path string) (io.ReadCloser, Info, error) {
	if s, ok := b.(streamer); ok {
		return s.Open(ctx, path)
	}
	f, err := b.Read(ctx, path)
	if err != nil {
		return nil, Info{}, err
	}
	return io.NopCloser(bytes.NewReader(f.Data)), f.Info, nil
}

// Write is of [Backend].
func (r *Restricted) Write(ctx context.Context, w Write) (Receipt, error) {
	note, err := r.admit(ctx, w)
	if err != nil {
		return Receipt{}, err
	}
	rec, err := r.b.Write(ctx, w)
	return withNote(rec, note), err
}

// admit lets a write pass, perhaps with a note for its receipt.
func (r *Restricted) admit(ctx context.Context, w Write) (note string, err error) {
	if err := r.pass(ctx, "write", w.Path); err != nil {
		return "", err
	}
	return r.generated(ctx, w)
}

// withNote adds a note, unless it is empty, to the receipt of a write that
// came to something.
func withNote(rec Receipt, note string) Receipt {
	if note != "" && rec.Version != (Version{}) {
		rec.Notes = append(rec.Notes, note)
	}
	return rec
}

// Lock takes turns of the backend, if it has any; see [Locks.Lock].
func (r *Restricted) Lock(ctx context.Context, keys ...Key) (unlock func(), err error) {
	return lockOf(ctx, r.b, keys)
}

func lockOf(ctx context.Context, b Backend, keys []Key) (unlock func(), err error) {
	if l, ok := b.(Locker); ok {
		return l.Lock(ctx, keys...)
	}
	return func() {}, nil
}

// errNoFolders is the error of a backend that has no [Folders].
func errNoFolders(op, path string) error {
	return fail(op, path, CodeIO, "this storage cannot do that", "write a file instead")
}

// MakeDirs is of [Folders]; it fails with CodeIO if the backend cannot.
func (r *Restricted) MakeDirs(ctx context.Context, path string) ([]string, error) {
	if err := r.pass(ctx, "mkdir", path); err != nil {
		return nil, err
	}
	if f, ok := r.b.(Folders); ok {
		return f.MakeDirs(ctx, path)
	}
	return nil, errNoFolders("mkdir", path)
}

// RemoveDir is of [Folders]; it fails with CodeIO if the backend cannot.
func (r *Restricted) RemoveDir(ctx context.Context, path string) error {
	if err := r.pass(ctx, "rmdir", path); err != nil {
		return err
	}
	if f, ok := r.b.(Folders); ok {
		return f.RemoveDir(ctx, path)
	}
	return errNoFolders("rmdir", path)
}

// Remove is of [Folders]; it fails with CodeIO if the backend cannot.
func (r *Restricted) Remove(ctx context.Context, path string, v Version) error {
	if err := r.pass(ctx, "remove", path); err != nil {
		return err
	}
	if f, ok := r.b.(Folders); ok {
		return f.Remove(ctx, path, v)
	}
	return errNoFolders("remove", path)
}

// FoldsCase reports whether names that differ in case alone are one file where
// a path lies: what guard.Style.Fold should be. The path must exist and hold a
// letter; otherwise the answer is no.
func FoldsCase(path string) bool { return disk.foldsCase(filepath.Clean(path)) }

func (l lookup) foldsCase(path string) bool {
	for ; ; path = filepath.Dir(path) {
		dir, name := filepath.Dir(path), filepath.Base(path)
		if dir == path {
			return false
		}
		other := swapCase(name)
		if other == name {
			continue
		}
		a, err := l.lstat(path)
		if err != nil {
			return false
		}
		b, err := l.lstat(filepath.Join(dir, other))
		return err == nil && l.same(a, b)
	}
}

var (
	_ Backend = (*Restricted)(nil)
	_ Folders = (*Restricted)(nil)
	_ Locker  = (*Restricted)(nil)
	_ Guard   = (*Restricted)(nil)
	_ gated   = (*Local)(nil)
	_ gated   = (*Mem)(nil)
)
