package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/agent"
	"dsh-acp/internal/text"
	"dsh-acp/presenter"
)

const undoUsage = "Say `/undo` or `/undo turn` for the last turn that changed files, `/undo turn N` for that one, `/undo call` for the last call alone, " +
	"`/undo list` for what there is, and `/undo redo` to bring back what you took back last."

// undo takes back what a turn or a call changed, or brings it back.
func (w *work) undo(ctx context.Context, d agent.Desk, args []string) error {
	var g fsbackend.Group
	var ok bool
	switch words := strings.Join(args, " "); {
	case words == "" || words == "turn":
		g, ok = w.kept.LastTurn()
	case len(args) == 2 && args[0] == "turn" && digits(args[1]):
		g = fsbackend.Group{Turn: args[1]}
		ok = len(w.kept.Changes(g)) > 0 && !w.kept.Undone(g)
	case words == "call":
		g, ok = w.kept.LastCall()
	case words == "list":
		return d.Say(w.undoList())
	case words == "redo":
		if g, ok = w.kept.LastUndo(); !ok {
			return d.Say("There is nothing to bring back: what you took back last, if anything, is back already.")
		}
		return w.takeBack(ctx, d, g, "Brought back", "brought back, by /undo redo, what they had taken back before")
	default:
		return d.Say(undoUsage)
	}
	if !ok {
		return d.Say("There is nothing to take back: no such change of a file by this session is in force. Changes made by commands are not kept.")
	}
	return w.takeBack(ctx, d, g, "Took back "+groupWords(g), "took back, by /undo, what you changed in "+groupWords(g))
}

func digits(s string) bool { _, err := strconv.ParseUint(s, 10, 31); return err == nil }

func groupWords(g fsbackend.Group) string {
	if g.Call == "" {
		return "turn " + g.Turn
	}
	return "the last call of turn " + g.Turn
}

// takeBack undoes a group, shows what that changed, and tells the model.
func (w *work) takeBack(ctx context.Context, d agent.Desk, g fsbackend.Group, did, tell string) error {
	files := w.kept.Over(w.files)
	before := map[string]fileChange{}
	versions := map[string]fsbackend.Version{}
	for _, c := range w.kept.Changes(g) {
		if s, v, err := w.now(ctx, files, c.Path); err == nil {
			before[c.Path], versions[c.Path] = fileChange{path: w.told(c.Path), before: s}, v
		}
	}
	ctx = fsbackend.WithGroup(ctx, fsbackend.Group{Turn: strconv.Itoa(d.Turn()), Call: callOf(showUndo, d)})
	undone, err := files.Undo(ctx, g)
	if err != nil {
		return d.Say(w.whyNot(ctx, g, err))
	}
	var changes []fileChange
	var kept, list strings.Builder
	for _, u := range undone {
		if u.Err != nil {
			fmt.Fprintf(&kept, "- `%s` is still there: %s\n", w.told(u.Path), bareError(u.Err))
			continue
		}
		c := before[u.Path]
		after, version, err := w.now(ctx, files, u.Path)
		if err != nil || version != u.After || versions[u.Path] != u.Before {
			// Somebody wrote it meanwhile: what is shown must be what was done.
			c.before, after = state{exists: u.Before != fsbackend.Version{}}, state{exists: u.After != fsbackend.Version{}}
		}
		c.path, c.after = w.told(u.Path), after
		changes = append(changes, c)
		list.WriteString(c.line())
	}
	if len(changes) > 0 {
		if err := w.show(d, showUndo, did, changes); err != nil {
			return err
		}
	}
	text := fmt.Sprintf("%s, in %s:\n\n%s", did, count(len(changes), "file"), list.String())
	if kept.Len() > 0 {
		text += "\n" + kept.String()
	}
	if err := d.Say(text); err != nil {
		return err
	}
	return d.Note(fmt.Sprintf("The user %s. The files now:\n%s%sDo not make these changes again unless you are asked to, and read a file again before you edit it.",
		tell, list.String(), kept.String()))
}

// whyNot tells why nothing was taken back, and what it would have cost.
func (w *work) whyNot(ctx context.Context, g fsbackend.Group, err error) string {
	path := ""
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		path = pe.Path
	}
	out := fmt.Sprintf("Nothing was taken back: %s: %s.\n", w.told(path), bareError(err))
	if fsbackend.CodeOf(err) != fsbackend.CodeChangedOutside {
		return out
	}
	if lost := w.wouldLose(ctx, g, path); lost != "" {
		out += "\nThese changes by others would be lost:\n\n```diff\n" + lost + "```\n"
	}
	return out
}

// maxLost bounds what is shown of changes that an undo would lose, in lines.
const maxLost = 60

// wouldLose tells what others did to a file, in between the changes of a group
// or after them; "" if that cannot be told.
func (w *work) wouldLose(ctx context.Context, g fsbackend.Group, path string) string {
	var last fsbackend.FileChange
	for _, c := range w.kept.Changes(g) {
		if c.Path == path {
			last = c
		}
	}
	if last.Path == "" {
		return ""
	}
	left, found, between := w.kept.Foreign(g, last.Key)
	var now []byte
	var err error
	if between {
		now, err = w.version(last.Key, found)
	} else {
		var s state
		left = last.After
		s, _, err = w.now(ctx, w.kept.Over(w.files), path)
		now = s.data
	}
	if err != nil {
		return ""
	}
	data, err := w.version(last.Key, left)
	if err != nil {
		return ""
	}
	before, err := text.Parse(data)
	if err != nil {
		return ""
	}
	after, err := text.Parse(now)
	if err != nil {
		return ""
	}
	diff := presenter.Unified("as the session left it", "as others left it", presenter.LineHunks(before.LF(), after.LF(), 3))
	lines := strings.SplitAfter(diff, "\n")
	if cut := len(lines) - maxLost; cut > 0 {
		diff = strings.Join(lines[:maxLost], "") + fmt.Sprintf("… %d more lines\n", cut)
	}
	return diff
}

// version is what a file held; nothing if there was none.
func (w *work) version(key fsbackend.Key, v fsbackend.Version) ([]byte, error) {
	if v == (fsbackend.Version{}) {
		return nil, nil
	}
	return w.kept.Content(key, v)
}

// undoList tells which turns changed files, the latest first.
func (w *work) undoList() string {
	type entry struct {
		turn  string
		paths []string
		calls map[string]bool
	}
	var turns []*entry
	for _, c := range w.kept.Changes(fsbackend.Group{}) {
		if c.Group.Turn == "" {
			continue
		}
		if n := len(turns); n == 0 || turns[n-1].turn != c.Group.Turn {
			turns = append(turns, &entry{turn: c.Group.Turn, calls: map[string]bool{}})
		}
		e := turns[len(turns)-1]
		path := "`" + w.told(c.Path) + "`"
		if !slices.Contains(e.paths, path) {
			e.paths = append(e.paths, path)
		}
		e.calls[c.Group.Call] = true
	}
	if len(turns) == 0 {
		return "This session has changed no file. Changes made by commands are not kept."
	}
	var b strings.Builder
	for _, e := range slices.Backward(turns) {
		fmt.Fprintf(&b, "- turn %s: %s in %s", e.turn, strings.Join(e.paths, ", "), count(len(e.calls), "call"))
		undos, undone := 0, 0
		for call := range e.calls {
			g := fsbackend.Group{Turn: e.turn, Call: call}
			if w.kept.IsUndo(g) {
				undos++
			}
			if w.kept.Undone(g) {
				undone++
			}
		}
		if undos > 0 {
			b.WriteString(", an undo")
		}
		switch {
		case undone == len(e.calls):
			b.WriteString(", taken back")
		case undone > 0:
			fmt.Fprintf(&b, ", %d of them taken back", undone)
		}
		b.WriteString("\n")
	}
	return b.String()
}
