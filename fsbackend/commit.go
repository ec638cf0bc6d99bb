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
// leaves what it has written.
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
	r := &running{c: c, b: b, receipts: make([]Receipt, len(c.Steps))}
	for _, dir := range c.Dirs {
		if err := r.makeDir(ctx, dir); err != nil {
			return Committed{}, r.undo(ctx, -1, err)
		}
	}
	for _, i := range c.order() {
		w := c.Steps[i].Write
		_, w.LateSync = b.(FolderSyncer)
		if err := ctx.Err(); err != nil {
			return Committed{}, r.undo(ctx, i, aborted("write", w.Path, err))
		}
		rec, err := b.Write(ctx, w)
		r.dirs = append(r.dirs, rec.MadeDirs...)
		r.receipts[i] = rec
		if err != nil {
			return Committed{}, r.undo(ctx, i, err)
		}
		r.done = append(r.done, i)
	}
	r.syncFolders(ctx)
	return Committed{Receipts: r.receipts, Dirs: r.dirs}, nil
}

// askLeave asks a guard about all paths before the first of them is touched.
func (c Commit) askLeave(ctx context.Context, b Backend) error {
	g, ok := b.(Guard)
	if !ok {
		return nil
	}
	ask := func(step int, path string) error {
		err := g.MayWrite(ctx, path)
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

// undo puts back what can be put back after a step failed.
func (r *running) undo(ctx context.Context, failed int, cause error) *CommitError {
	ctx = context.WithoutCancel(ctx)
	fate := make([]string, len(r.c.Steps)) // what became of each step's file
	if failed >= 0 {
		switch r.stateOf(ctx, failed) {
		case stateNew:
			r.done = append(r.done, failed)
		case stateOther:
			fate[failed] = fateUncertain
		}
	}
	for _, i := range slices.Backward(r.done) {
		fate[i] = r.undoStep(ctx, i)
	}
	r.syncFolders(ctx)
	rec := Recovery{Restored: []string{}, Remaining: []Remaining{}, Uncertain: []string{}, CreatedDirs: r.removeDirs(ctx)}
	for i, s := range r.c.Steps {
		switch path := s.Write.Path; fate[i] {
		case fateNone:
		case fateRestored:
			rec.Restored = append(rec.Restored, path)
		case fateUncertain:
			rec.Uncertain = append(rec.Uncertain, path)
		default:
			rec.Remaining = append(rec.Remaining, Remaining{Path: path, Reason: fate[i]})
		}
	}
	return &CommitError{Step: failed, Err: cause, Recovery: rec}
}

// The fates of files besides the reasons to remain.
const (
	fateNone      = "" // not touched, or removed again
	fateRestored  = "restored"
	fateUncertain = "uncertain"
)

// undoStep puts one file back, only over what this commit wrote.
func (r *running) undoStep(ctx context.Context, i int) string {
	s, version := r.c.Steps[i], VersionOf(r.c.Steps[i].Write.Data)
	if s.creates() {
		return r.undoCreate(ctx, s.Write.Path, version)
	}
	before := s.Before
	if before == nil && r.receipts[i].Before != nil {
		before = *r.receipts[i].Before
	}
	if before == nil && VersionOf(nil) != r.oldVersion(i) {
		return RemainsNoBasis
	}
	_, err := r.b.Write(ctx, Write{
		Path: s.Write.Path, Data: before, Pre: Unchanged{Version: version}, NoParents: true, Mode: r.receipts[i].BeforeMode, Undo: true,
	})
	switch {
	case err == nil:
		return fateRestored
	case CodeOf(err) == CodeStaleVersion:
		return RemainsChanged
	case r.stateOf(ctx, i) == stateOld:
		return fateRestored // it landed, though it said that it failed
	}
	return fateUncertain
}

func (r *running) undoCreate(ctx context.Context, path string, v Version) string {
	f, ok := r.b.(Folders)
	if !ok || !r.c.RemoveCreated {
		return RemainsCreated
	}
	switch err := f.Remove(ctx, path, v); {
	case err == nil:
		return fateNone
	case CodeOf(err) == CodeStaleVersion:
		return RemainsChanged
	}
	return RemainsCreated
}

// The states in which a step's file can be.
const (
	stateOld = iota
	stateNew
	stateOther // or it cannot be told
)

// stateOf looks whether a file holds its old or its new bytes. If these are
// the same it is in its old state.
func (r *running) stateOf(ctx context.Context, i int) int {
	s := r.c.Steps[i]
	f, err := r.b.Read(ctx, s.Write.Path)
	switch {
	case CodeOf(err) == CodeNotFound || CodeOf(err) == CodeNotDirectory:
		if s.creates() {
			return stateOld
		}
		return stateOther
	case err != nil:
		return stateOther
	case !s.creates() && f.Version == r.oldVersion(i):
		return stateOld
	case f.Version == VersionOf(s.Write.Data):
		return stateNew
	}
	return stateOther
}

// oldVersion is the version that a step's file had before.
func (r *running) oldVersion(i int) Version {
	if u, ok := r.c.Steps[i].Write.Pre.(Unchanged); ok {
		return u.Version
	}
	if r.receipts[i].BeforeVersion != (Version{}) || r.c.Steps[i].Before == nil {
		return r.receipts[i].BeforeVersion
	}
	return VersionOf(r.c.Steps[i].Before)
}

// removeDirs removes the folders that this commit made, deepest first, and
// returns those that are still there, outermost first.
func (r *running) removeDirs(ctx context.Context) []string {
	kept := []string{}
	f, ok := r.b.(Folders)
	for _, dir := range slices.Backward(r.dirs) {
		if ok && f.RemoveDir(ctx, dir) == nil {
			continue
		}
		if i, err := r.b.Stat(ctx, dir); err == nil && !i.Exists {
			continue
		}
		kept = append(kept, dir)
	}
	slices.Reverse(kept)
	return kept
}

// RecoveryOf is the recovery in err's chain, and whether there is one.
func RecoveryOf(err error) (Recovery, bool) {
	var e *CommitError
	if errors.As(err, &e) {
		return e.Recovery, true
	}
	return Recovery{}, false
}
