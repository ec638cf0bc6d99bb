package fsbackend

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// A Step is one file of a [Commit].
type Step struct {
	// Write is what to write, under the precondition that its file was planned
	// from: Unchanged for a file to change, Absent for one to create.
	Write Write
	// Before is the old bytes, for undoing, as the plan read them; nil for a
	// file to create. Whoever plans has them at hand, so that undoing does not
	// depend on the bound of Options.BeforeMax.
	Before []byte
}

// creates reports whether the step makes a new file.
func (s Step) creates() bool { _, ok := s.Write.Pre.(Absent); return ok }

// A Commit is a plan for several files that is written as one as far as a file
// system allows: each file by itself is never half written, and when one
// fails, those before it are put back. A process that is killed in the middle
// leaves what it has written, and up to 16 hidden files named ".dsh-….tmp".
type Commit struct {
	// Dirs are folders to make before anything is written.
	Dirs []string
	// Steps are written in their order, those that change a file before those
	// that create one, since the former can be undone.
	Steps []Step
	// RemoveCreated removes created files when a later step fails, if they
	// still have the version that this commit wrote.
	RemoveCreated bool
}

// Committed tells what a commit did.
type Committed struct {
	Receipts []Receipt // in the order of Steps
	Dirs     []string  // made folders, by real path, in the order in which they were made
}

// The reasons why a file was left in its new state.
const (
	RemainsCreated = "created"            // it was created, and is kept
	RemainsChanged = "changed-externally" // another program changed it since
	RemainsNoBasis = "old-text-not-kept"  // there is nothing to put back
)

// Remaining is a file that was left in its new state.
type Remaining struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// A Recovery tells what became of the files of a commit that failed. No list
// is nil. Paths are as the steps have them, in the order of the steps.
type Recovery struct {
	Restored    []string    `json:"restored"`    // put back
	Remaining   []Remaining `json:"remaining"`   // left in the new state
	Uncertain   []string    `json:"uncertain"`   // neither the old nor the new state, or not known
	CreatedDirs []string    `json:"createdDirs"` // folders of this commit that still exist
}

// A CommitError is the failure of a commit, with what was done about it.
type CommitError struct {
	Step     int // the index of the step that failed, -1: making a folder did
	Err      error
	Recovery Recovery
}

// Error is the original failure and a word on each file that is not as it was.
func (e *CommitError) Error() string {
	s := e.Err.Error()
	r := e.Recovery
	for _, part := range []struct {
		what string
		n    int
	}{
		{"restored", len(r.Restored)}, {"left in the new state", len(r.Remaining)},
		{"in an uncertain state", len(r.Uncertain)},
	} {
		if part.n > 0 {
			s += fmt.Sprintf("; %s %s", plural(part.n, "file"), part.what)
		}
	}
	return s
}

// Unwrap is the original failure, whose code is that of the commit.
func (e *CommitError) Unwrap() error { return e.Err }

// Run writes the plan. The caller has planned from the versions that the steps
// demand and, if the backend is a [Locker], holds the turns on all files. Any
// failure is a *[CommitError], cancellation included, which is looked at
// between files; undoing then goes on regardless of ctx.
func (c Commit) Run(ctx context.Context, b Backend) (Committed, error) {
	if err := c.askLeave(ctx, b); err != nil {
		return Committed{}, err
	}
	r := &running{c: c, b: b, receipts: make([]Receipt, len(c.Steps)), order: c.order()}
	for _, dir := range c.Dirs {
		if err := r.makeDir(ctx, dir); err != nil {
			return Committed{}, r.undo(ctx, -1, err)
		}
	}
	for _, i := range r.order {
		if err := r.step(ctx, i); err != nil {
			return Committed{}, r.undo(ctx, i, err)
		}
		r.done = append(r.done, i)
	}
	r.syncFolders(ctx)
	return Committed{Receipts: r.receipts, Dirs: r.dirs}, nil
}

// askLeave asks a guard about all paths, and a reviewer about all old texts,
// before the first of them is touched.
func (c Commit) askLeave(ctx context.Context, b Backend) error {
	g, guarded := b.(Guard)
	ask := func(step int, path string) error {
		var err error
		if guarded {
			err = g.MayWrite(ctx, path)
		}
		if err == nil && step >= 0 && c.Steps[step].Before != nil {
			err = MayReplace(b, path, c.Steps[step].Before)
		}
		if err == nil {
			return nil
		}
		none := Recovery{Restored: []string{}, Remaining: []Remaining{}, Uncertain: []string{}, CreatedDirs: []string{}}
		return &CommitError{Step: step, Err: err, Recovery: none}
	}
	for _, dir := range c.Dirs {
		if err := ask(-1, dir); err != nil {
			return err
		}
	}
	for i, s := range c.Steps {
		if err := ask(i, s.Write.Path); err != nil {
			return err
		}
	}
	return nil
}

// order is the indexes of the steps, changes first.
func (c Commit) order() []int {
	order := make([]int, len(c.Steps))
	for i := range order {
		order[i] = i
	}
	rank := func(i int) int {
		if c.Steps[i].creates() {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(order, func(a, b int) int { return rank(a) - rank(b) })
	return order
}

// running is a commit under way.
type running struct {
	c        Commit
	b        Backend
	receipts []Receipt
	order    []int    // the steps, as they are to be written
	begun    []begun  // of order, those that were begun
	done     []int    // steps that were written, in that order
	dirs     []string // folders that were made, in that order
}

func (r *running) makeDir(ctx context.Context, dir string) error {
	f, ok := r.b.(Folders)
	if !ok {
		return fail("mkdir", dir, CodeIO, "this storage cannot make folders", "write a file in it instead")
	}
	made, err := f.MakeDirs(ctx, dir)
	r.dirs = append(r.dirs, made...)
	return err
}

// A begun is a step whose bytes are on their way, or why they are not.
type begun struct {
	Staged // nil once it has ended
	err    error
}

// ahead is how many steps are begun before their turn. Disks sync many files
// in little more time than one; and a killed process leaves at most so many
// temporary files.
const ahead = 16

// begin begins steps ahead. Nothing more is begun after one that failed: its
// turn will end the commit.
func (r *running) begin(ctx context.Context) {
	_, late := r.b.(FolderSyncer)
	for n := len(r.begun); n < min(len(r.order), len(r.done)+ahead); n++ {
		if n > 0 && r.begun[n-1].err != nil {
			return
		}
		i := r.order[n]
		w := r.c.Steps[i].Write
		w.LateSync = late
		s, err := stageOf(ctx, r.b, w)
		r.begun = append(r.begun, begun{s, err})
	}
}

// step writes step i, which is the next in order.
func (r *running) step(ctx context.Context, i int) error {
	if err := ctx.Err(); err != nil {
		return aborted("write", r.c.Steps[i].Write.Path, err)
	}
	r.begin(ctx)
	b := &r.begun[len(r.done)]
	if b.err != nil {
		return b.err
	}
	rec, err := b.Publish(ctx)
	b.Staged = nil
	r.dirs = append(r.dirs, rec.MadeDirs...)
	r.receipts[i] = rec
	return err
}

// drop takes back what was begun and had no turn.
func (r *running) drop() {
	for _, b := range r.begun {
		if b.Staged != nil {
			b.Drop()
		}
	}
}

// syncFolders makes the names of all files that were written durable, each
// folder once: one sync a file would be a good part of a commit's time. What it
// cannot sync is told by the receipts.
func (r *running) syncFolders(ctx context.Context) {
	var files []string
	for _, i := range r.done {
		if real := r.receipts[i].Real; real != "" {
			files = append(files, real)
		}
	}
	if syncFoldersOf(context.WithoutCancel(ctx), r.b, files) == nil {
		return
	}
	for _, i := range r.done {
		r.receipts[i].Notes = append(r.receipts[i].Notes, unsynced)
	}
}

// RecoveryOf is the recovery in err's chain, and whether there is one.
func RecoveryOf(err error) (Recovery, bool) {
	var e *CommitError
	if errors.As(err, &e) {
		return e.Recovery, true
	}
	return Recovery{}, false
}
