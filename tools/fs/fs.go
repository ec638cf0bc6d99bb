package fs

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/guard"
	"dsh-acp/internal/syntax"
	"dsh-acp/internal/syntax/sitter"
)

var errClosed = errors.New("the toolbox is closed")

// Fs is the toolbox for programs that bring nothing: files of the machine,
// under a root and path lists, with earlier versions kept. [New] gives one
// without a root, which denies every path. Configuration methods return their
// receiver and are not called while calls run; all others are safe for
// concurrent use.
type Fs struct {
	cfg     guard.Config // Root as given
	engine  Engine
	seen    SeenPolicy
	asIs    bool // no repairs
	batch   bool
	written fsbackend.Generated
	journal string

	mu     sync.Mutex
	box    *Box               // nil until a call needs it; guarded by mu
	local  *fsbackend.Local   // guarded by mu
	kept   *fsbackend.Journal // guarded by mu
	opened string             // the journal of the box; guarded by mu
	temp   string             // of versions, if no folder was given; guarded by mu
	closed bool               // guarded by mu
}

// New makes a toolbox without a root and lists, with the engine Auto.
func New() *Fs { return &Fs{} }

// Cwd sets the root: the folder that is open, and from which relative paths
// start. A relative one is taken from the process's own folder.
func (f *Fs) Cwd(root string) *Fs {
	if abs, err := filepath.Abs(root); err == nil && root != "" {
		root = abs
	}
	f.cfg.Root = root
	return f.reset()
}

// Allowlist sets the paths that are open besides the root, each for itself
// alone. No paths make a list that is set and empty.
func (f *Fs) Allowlist(paths ...string) *Fs { f.cfg.Allow = setList(paths); return f.reset() }

// Blocklist sets the paths that are closed with all that lies below.
func (f *Fs) Blocklist(paths ...string) *Fs { f.cfg.Block = setList(paths); return f.reset() }

// ReadAllowlist is Allowlist for reading, which takes the other's place.
func (f *Fs) ReadAllowlist(paths ...string) *Fs { f.cfg.ReadAllow = setList(paths); return f.reset() }

// ReadBlocklist is Blocklist for reading, which takes the other's place.
func (f *Fs) ReadBlocklist(paths ...string) *Fs { f.cfg.ReadBlock = setList(paths); return f.reset() }

// Journal sets the folder, absolute, in which earlier versions are kept from
// one process to the next. Without one they end with Close.
func (f *Fs) Journal(dir string) *Fs { f.journal = dir; return f.reset() }

// Auto lets the arguments of an edit decide how it is made.
func (f *Fs) Auto() *Fs { f.engine = Auto; return f.reset() }

// OnlyReplace lets edits be made by numbered lines alone.
func (f *Fs) OnlyReplace() *Fs { f.engine = Replace; return f.reset() }

// OnlyAST lets edits be made by syntax patterns alone.
func (f *Fs) OnlyAST() *Fs { f.engine = AST; return f.reset() }

// SeenLines sets what happens to edits of lines that no call has shown. The
// default is SeenWarn.
func (f *Fs) SeenLines(p SeenPolicy) *Fs { f.seen = p; return f.reset() }

// NoRepair leaves slips that a grammar proves as they are, with a warning.
func (f *Fs) NoRepair() *Fs { f.asIs = true; return f.reset() }

// AdvertiseBatch makes the description of the edit tool tell that one call
// takes several files.
func (f *Fs) AdvertiseBatch() *Fs { f.batch = true; return f }

// Generated sets what happens to changes of files that were generated. The
// default is fsbackend.GeneratedRefuse.
func (f *Fs) Generated(g fsbackend.Generated) *Fs { f.written = g; return f.reset() }

func setList(paths []string) []string { return append([]string{}, paths...) }

// Root is the root, "" if none is set.
func (f *Fs) Root() string { return f.cfg.Root }

// EditEngine is the engine of edits.
func (f *Fs) EditEngine() Engine { return f.engine }

// AllowlistRef is the allow list, and whether it is set.
func (f *Fs) AllowlistRef() ([]string, bool) { return slices.Clone(f.cfg.Allow), f.cfg.Allow != nil }

// BlocklistRef is the block list, and whether it is set.
func (f *Fs) BlocklistRef() ([]string, bool) { return slices.Clone(f.cfg.Block), f.cfg.Block != nil }

// AddAllowlistPath adds to the allow list, which is then set. A path that is
// there already changes nothing.
func (f *Fs) AddAllowlistPath(p string) {
	if !slices.Contains(f.cfg.Allow, p) {
		f.cfg.Allow = append(setList(f.cfg.Allow), p)
	}
	f.reset()
}

// RemoveAllowlistPath takes a path off the allow list and the read allow list.
// A list that becomes empty stays set; an unknown path changes nothing.
func (f *Fs) RemoveAllowlistPath(p string) {
	for _, list := range []*[]string{&f.cfg.Allow, &f.cfg.ReadAllow} {
		if i := slices.Index(*list, p); i >= 0 {
			*list = slices.Delete(slices.Clone(*list), i, i+1)
		}
	}
	f.reset()
}

// Read is [Box.Read]. Descriptions of all tools come from [Fs.Descriptions].
func (f *Fs) Read(ctx context.Context, targets []Target) []ReadResult {
	b, err := f.open()
	if err != nil {
		why := err.Error()
		out := make([]ReadResult, len(targets))
		for i, t := range targets {
			out[i] = ReadResult{Path: t.Path, Warnings: &why}
		}
		return out
	}
	return b.Read(ctx, targets)
}

// Write is [Box.Write].
func (f *Fs) Write(ctx context.Context, files []TargetFile) ([]WriteResult, error) {
	b, err := f.open()
	if err != nil {
		return nil, err
	}
	return b.Write(ctx, files)
}

// Edit is [Box.Edit].
func (f *Fs) Edit(ctx context.Context, args json.RawMessage) ([]EditResult, error) {
	b, err := f.open()
	if err != nil {
		return nil, err
	}
	return b.Edit(ctx, args)
}

// Rollback is [Box.Rollback].
func (f *Fs) Rollback(ctx context.Context, path, hash string) (RollbackResult, error) {
	b, err := f.open()
	if err != nil {
		return RollbackResult{}, err
	}
	return b.Rollback(ctx, path, hash)
}

// CheckRollback is [Box.CheckRollback].
func (f *Fs) CheckRollback(ctx context.Context, path, hash string) (RollbackResult, error) {
	b, err := f.open()
	if err != nil {
		return RollbackResult{}, err
	}
	return b.CheckRollback(ctx, path, hash)
}

// Descriptions describe the four tools for a model.
func (f *Fs) Descriptions() []ToolDescription {
	return Describe(Offer{Engine: f.engine, Trees: sitter.Available, Batch: f.batch})
}

// Close gives back what calls have opened. Calls that come later fail.
func (f *Fs) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	return f.shut()
}

// reset makes the next call see the configuration. What the session has seen
// of its files stays known as long as the root and the journal do.
func (f *Fs) reset() *Fs {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.box == nil {
		return f
	}
	if f.box.Root == f.cfg.Root && f.opened == f.journal {
		if p, err := f.policy(); err == nil {
			f.box.Files = f.kept.Over(f.restrict(p))
			f.box.Engine, f.box.SeenLines, f.box.NoRepair = f.engine, f.seen, f.asIs
			return f
		}
	}
	_ = f.shut() // a new box is opened; what was kept is gone with the old one
	return f
}

// shut needs mu.
func (f *Fs) shut() error {
	if f.box == nil {
		return nil
	}
	err := f.kept.Close()
	if f.local != nil {
		if e := f.local.Close(); err == nil {
			err = e
		}
	}
	if f.temp != "" {
		if e := os.RemoveAll(f.temp); err == nil {
			err = e
		}
	}
	f.box, f.local, f.kept, f.temp = nil, nil, nil, ""
	return err
}

func (f *Fs) policy() (guard.Policy, error) {
	cfg := f.cfg
	cfg.Style = guard.Style{Windows: runtime.GOOS == "windows"}
	if cfg.Root != "" {
		cfg.Style.Fold = fsbackend.FoldsCase(cfg.Root)
	}
	return guard.New(cfg)
}

// restrict puts the configuration around local; it needs mu.
func (f *Fs) restrict(p guard.Policy) fsbackend.Backend {
	return fsbackend.Restrict(f.local, fsbackend.Limits{Policy: p, Generated: f.written})
}

// open makes the box at the first call.
func (f *Fs) open() (*Box, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.closed:
		return nil, errClosed
	case f.box != nil:
		return f.box, nil
	}
	policy, err := f.policy()
	if err != nil {
		return nil, err
	}
	// A root that is not there is none: the policy then denies every path.
	opt := fsbackend.Options{Roots: []string{f.cfg.Root}}
	if info, err := os.Stat(f.cfg.Root); f.cfg.Root == "" || err != nil || !info.IsDir() {
		opt.Roots = nil
	}
	local, err := fsbackend.NewLocal(opt)
	if err != nil {
		return nil, err
	}
	dir, temp := f.journal, ""
	if dir == "" {
		if temp, err = os.MkdirTemp("", "fs-versions-"); err != nil {
			_ = local.Close()
			return nil, err
		}
		dir = temp
	}
	kept, err := fsbackend.OpenJournal(fsbackend.JournalOptions{Dir: dir, Tag: TagOf})
	if err != nil {
		_ = local.Close()
		return nil, err
	}
	f.local = local
	root := f.cfg.Root
	box, err := NewBox(Config{Root: root, Files: kept.Over(f.restrict(policy)), Engine: f.engine, SeenLines: f.seen, NoRepair: f.asIs, Parser: Trees(), Resolve: func(_ context.Context, path string) (string, error) {
		if filepath.IsAbs(path) || root == "" {
			return filepath.Clean(path), nil
		}
		return filepath.Join(root, path), nil
	}})
	if err != nil {
		return nil, err // Files and Resolve are there
	}
	f.box, f.kept, f.opened, f.temp = box, kept, f.journal, temp
	return box, nil
}

// Trees is what makes syntax trees in this program, for [Config]; nil if it was
// built with CGO_ENABLED=0.
func Trees() syntax.Parser {
	if !sitter.Available {
		return nil
	}
	return sitter.New(sitter.Options{})
}

// Metadata is what a call of one of the free functions may touch. For the
// lists nil is "not set".
type Metadata struct {
	Root                 string
	Allowlist, Blocklist []string
	Engine               Engine
	// Journal is the folder in which earlier versions are kept from call to
	// call; "" keeps none, and then Rollback finds none.
	Journal string
}

func (m Metadata) fs() *Fs {
	f := New().Cwd(m.Root).Journal(m.Journal)
	f.cfg.Allow, f.cfg.Block, f.engine = slices.Clone(m.Allowlist), slices.Clone(m.Blocklist), m.Engine
	return f
}

// Read reads under explicit metadata; see [Box.Read].
func Read(ctx context.Context, m Metadata, targets []Target) []ReadResult {
	f := m.fs()
	defer f.Close()
	return f.Read(ctx, targets)
}

// Write writes under explicit metadata. Since no session knows what was seen,
// an existing file wants its FileHash.
func Write(ctx context.Context, m Metadata, files []TargetFile) ([]WriteResult, error) {
	f := m.fs()
	defer f.Close()
	return f.Write(ctx, files)
}

// Edit edits under explicit metadata. Since no earlier text is known, a tag
// must be that of the file as it is.
func Edit(ctx context.Context, m Metadata, args json.RawMessage) ([]EditResult, error) {
	f := m.fs()
	defer f.Close()
	return f.Edit(ctx, args)
}

// Rollback rolls back under explicit metadata.
func Rollback(ctx context.Context, m Metadata, path, hash string) (RollbackResult, error) {
	f := m.fs()
	defer f.Close()
	return f.Rollback(ctx, path, hash)
}
