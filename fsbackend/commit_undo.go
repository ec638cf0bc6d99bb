package fsbackend

import (
	"context"
	"slices"
)

// undo puts back what can be put back after a step failed.
func (r *running) undo(ctx context.Context, failed int, cause error) *CommitError {
	ctx = context.WithoutCancel(ctx)
	r.drop()
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
	s, version := r.c.Steps[i], r.newVersion(i)
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
	case f.Version == r.newVersion(i):
		return stateNew
	}
	return stateOther
}

// newVersion is the version that a step's file has once it is written.
func (r *running) newVersion(i int) Version {
	if v := r.receipts[i].Version; v != (Version{}) {
		return v
	}
	return VersionOf(r.c.Steps[i].Write.Data)
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
