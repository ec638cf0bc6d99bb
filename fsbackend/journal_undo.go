package fsbackend

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Undone tells what an undo of a group did to one file.
type Undone struct {
	Path   string
	Before Version // what it held; zero: it was missing
	After  Version // what it holds; zero: it was removed
	// Err is why a file that the group had made was not removed; all else that
	// can fail, fails as a whole.
	Err error
}

// holds reports whether a change belongs to a group: an empty part of the
// group stands for any.
func (g Group) holds(c Group) bool {
	return (g.Turn == "" || g.Turn == c.Turn) && (g.Call == "" || g.Call == c.Call)
}

// Changes are the changes of a group, oldest first; an empty part of the group
// stands for any.
func (j *Journal) Changes(g Group) []FileChange {
	j.mu.Lock()
	defer j.mu.Unlock()
	var out []FileChange
	for _, c := range j.changes {
		if g.holds(c.Group) {
			out = append(out, c)
		}
	}
	return out
}

// LastTurn is the latest turn that changed a file, was not undone, and is no
// undo itself.
func (j *Journal) LastTurn() (Group, bool) {
	return j.lastGroup(func(g Group) Group { return Group{Turn: g.Turn} })
}

// LastCall is the latest call of that kind.
func (j *Journal) LastCall() (Group, bool) { return j.lastGroup(func(g Group) Group { return g }) }

func (j *Journal) lastGroup(part func(Group) Group) (Group, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, c := range slices.Backward(j.changes) {
		if c.Group == (Group{}) || j.isUndone(c.Group) || j.isUndo(c.Group) {
			continue
		}
		return part(c.Group), true
	}
	return Group{}, false
}

// isUndone and isUndo need mu.
func (j *Journal) isUndone(g Group) bool {
	for u := range j.undone {
		if u.holds(g) {
			return true
		}
	}
	return false
}

func (j *Journal) isUndo(g Group) bool { _, ok := j.undoes[g]; return ok }

// An undo is that of one group by another, which may be nobody's.
type undo struct{ of, by Group }

// applyUndone takes in that one group undid another. To undo an undo brings
// the first back.
func (j *Journal) applyUndone(u undo) {
	j.undos = append(j.undos, u)
	if n := len(j.undos) - maxChanges; n > 0 {
		j.undos = slices.Delete(j.undos, 0, n)
	}
	j.undone[u.of] = true
	if first, ok := j.undoes[u.of]; ok {
		delete(j.undone, first)
	}
	if u.by != (Group{}) {
		j.undoes[u.by] = u.of
	}
}

// inForce are the changes of a group that were not taken back.
func (j *Journal) inForce(g Group) []FileChange {
	j.mu.Lock()
	defer j.mu.Unlock()
	var out []FileChange
	for _, c := range j.changes {
		if g.holds(c.Group) && !j.isUndone(c.Group) {
			out = append(out, c)
		}
	}
	return out
}

// Foreign is what others did to a file between two changes of a group that
// are in force: what it held at the end of the one, and before the next. It is
// the first such pair; false if there is none.
func (j *Journal) Foreign(g Group, key Key) (left, found Version, ok bool) {
	last := map[Key]Version{}
	for _, c := range j.inForce(g) {
		if was, again := last[c.Key]; again && was != c.Before && c.Key == key {
			return was, c.Before, true
		}
		last[c.Key] = c.After
	}
	return Version{}, Version{}, false
}

// turnBack is a file on its way back through a group.
type turnBack struct {
	FileChange        // from the first Before to the last After
	data       []byte // of Before
}

// undoRemedy is what may still work where a whole turn cannot be taken back.
func (g Group) undoRemedy() string {
	if g.Call != "" {
		return ""
	}
	return "take back single calls"
}

// Undo puts back all files that a group changed, as they were before it:
// those that it made are removed, those that it removed are made again. A
// group of a turn alone stands for those of its calls that were not undone.
// Either all files are put back or none; only the removing of files that the
// group had made can fail by itself, after the rest, as Undone.Err tells.
//
// It fails with CodeNoHistory if the group changed nothing, with
// CodeChangedOutside if a file was changed since or in between, with
// CodeUnknownVersion if bytes are no longer kept, and with a *[CommitError].
// The changes of an undo belong to the group of ctx, so that it can be undone
// by that.
func (jd *Journaled) Undo(ctx context.Context, g Group) ([]Undone, error) {
	var files []turnBack
	at := map[Key]int{}
	for _, c := range jd.j.inForce(g) {
		i, ok := at[c.Key]
		if !ok {
			at[c.Key] = len(files)
			files = append(files, turnBack{FileChange: c})
			continue
		}
		if files[i].After != c.Before {
			return nil, fail("undo", c.Path, CodeChangedOutside, "others changed the file between two of these changes, and that would be lost; nothing was written", g.undoRemedy())
		}
		files[i].After = c.After
	}
	files = slices.DeleteFunc(files, func(f turnBack) bool { return f.Before == f.After })
	if len(files) == 0 {
		return nil, fail("undo", strings.Trim(g.Turn+" "+g.Call, " "), CodeNoHistory, "it has changed no file that is not as it was before", "")
	}
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = f.Path
	}
	unlock, err := Lock(ctx, jd, paths...)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := jd.ready(ctx, g, files); err != nil {
		return nil, err
	}
	return jd.turnBack(ctx, g, files)
}

// ready checks that every file is as the group left it, and fetches what it
// was.
func (jd *Journaled) ready(ctx context.Context, g Group, files []turnBack) error {
	for i := range files {
		f := &files[i]
		if err := jd.MayWrite(ctx, f.Path); err != nil {
			return err
		}
		info, err := jd.b.Stat(ctx, f.Path)
		if err != nil {
			return err
		}
		now := Version{}
		if info.Exists {
			file, err := ReadForChange(ctx, jd.b, f.Path)
			if err != nil {
				return err
			}
			now = file.Version
		}
		if now != f.After {
			return fail("undo", f.Path, CodeChangedOutside, "the file has been changed since, and that would be lost; nothing was written", g.undoRemedy())
		}
		if f.Before == (Version{}) {
			continue
		}
		if f.data, err = jd.j.bytesOf(f.Key, f.Before); err != nil {
			return fail("undo", f.Path, CodeUnknownVersion, fmt.Sprintf("what the file was, %.8s, is no longer kept; nothing was written", f.Before), g.undoRemedy())
		}
	}
	return nil
}

// turnBack writes and removes, and records it.
func (jd *Journaled) turnBack(ctx context.Context, g Group, files []turnBack) ([]Undone, error) {
	var c Commit
	for _, f := range files {
		if f.Before == (Version{}) {
			continue
		}
		w := Write{Path: f.Path, Data: f.data, Pre: Unchanged{Version: f.After}, Mode: f.Mode & modeBits, Undo: true}
		step := Step{Write: w}
		if f.After == (Version{}) {
			step.Write.Pre = Absent{}
		} else {
			old, err := ReadForChange(ctx, jd.b, f.Path)
			if err != nil {
				return nil, err
			}
			step.Before = old.Data
		}
		c.Steps = append(c.Steps, step)
	}
	c.RemoveCreated = true
	if _, err := c.Run(ctx, jd); err != nil {
		return nil, err
	}
	ctx = context.WithoutCancel(ctx) // the rest belongs to what is done
	out := make([]Undone, len(files))
	for i, f := range files {
		out[i] = Undone{Path: f.Path, Before: f.After, After: f.Before}
		if f.Before == (Version{}) {
			if out[i].Err = jd.Remove(ctx, f.Path, f.After); out[i].Err != nil {
				out[i].After = f.After
			}
		}
	}
	by := groupOf(ctx)
	jd.j.mu.Lock()
	defer jd.j.mu.Unlock()
	err := jd.j.append(record{Event: eventUndone, Turn: g.Turn, Call: g.Call, ByTurn: by.Turn, ByCall: by.Call})
	if err != nil {
		jd.j.note("that a group was undone could not be recorded: " + bare(err).Error())
	}
	return out, nil
}
