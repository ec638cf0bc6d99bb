package app

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/agent"
	"dsh-acp/internal/msg"
	"dsh-acp/internal/text"
	"dsh-acp/presenter"
)

// A state is what a file held at some time.
type state struct {
	exists bool
	data   []byte
}

// A fileChange is a file that holds something else than before.
type fileChange struct {
	path          string // as told
	before, after state
}

// told is a path as a command tells it: short inside of the session's folder.
func (w *work) told(path string) string {
	if rel, err := filepath.Rel(w.setup.Cwd, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

// now reads what a file holds.
func (w *work) now(ctx context.Context, files fsbackend.Backend, path string) (state, fsbackend.Version, error) {
	info, err := files.Stat(ctx, path)
	if err != nil || !info.Exists {
		return state{}, fsbackend.Version{}, err
	}
	f, err := files.Read(ctx, path)
	return state{true, f.Data}, f.Version, err
}

// diffs are the hunks of a change; none if either side is not text, or if
// only what no hunk shows has changed.
func (c fileChange) diffs() []presenter.FileDiff {
	before, err := text.Parse(c.before.data)
	if err != nil {
		return nil
	}
	after, err := text.Parse(c.after.data)
	if err != nil {
		return nil
	}
	return presenter.Hunks(c.path, before.LF(), after.LF())
}

// line tells a change in a list.
func (c fileChange) line() string {
	added, removed := 0, 0
	for _, d := range c.diffs() {
		added, removed = added+d.Added, removed+d.Removed
	}
	what := fmt.Sprintf("+%d −%d", added, removed)
	switch {
	case !c.before.exists:
		what = "made, " + what
	case !c.after.exists:
		what = "removed, " + what
	case added+removed == 0:
		what = "no line differs: line ends, or not text"
	}
	return fmt.Sprintf("- `%s` (%s)\n", c.path, what)
}

// show draws changes as a call of the command's own.
func (w *work) show(d agent.Desk, name, title string, changes []fileChange) error {
	args := changesArgs{Title: title, Files: []string{}}
	var all []presenter.FileDiff
	var list strings.Builder
	for _, c := range changes {
		args.Files = append(args.Files, c.path)
		all = append(all, c.diffs()...)
		list.WriteString(c.line())
	}
	input, err := msg.Marshal(args)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return d.Show(msg.ToolUse{ID: callOf(name, d), Name: name, Input: string(input)}, msg.ToolResult{
		Content: msg.Blocks{msg.Text{Text: list.String()}}, Meta: presenter.NewDiffMeta(all).JSON(),
	})
}

// callOf is the id of a command's call.
func callOf(name string, d agent.Desk) string {
	return fmt.Sprintf("%s-%d", strings.TrimPrefix(name, "/"), d.Turn())
}

// changed shows how the files differ from what they were before this session
// first changed them.
func (w *work) changed(ctx context.Context, d agent.Desk) error {
	files := w.kept.Over(w.files)
	var changes []fileChange
	var lost []string
	seen := map[fsbackend.Key]bool{}
	for _, c := range w.kept.Changes(fsbackend.Group{}) {
		if seen[c.Key] {
			continue
		}
		seen[c.Key] = true
		path := w.told(c.Path)
		after, version, err := w.now(ctx, files, c.Path)
		if err != nil {
			lost = append(lost, fmt.Sprintf("- `%s`: %v\n", path, err))
			continue
		}
		if version == c.Before {
			continue // it is again as it was
		}
		before := state{exists: c.Before != fsbackend.Version{}}
		if before.data, err = w.version(c.Key, c.Before); err != nil {
			lost = append(lost, fmt.Sprintf("- `%s`: what it was at first is no longer kept\n", path))
			continue
		}
		changes = append(changes, fileChange{path, before, after})
	}
	if len(changes) > 0 {
		if err := w.show(d, showDiff, fmt.Sprintf("Changes of this session in %s", count(len(changes), "file")), changes); err != nil {
			return err
		}
	}
	return d.Say(summaryOf(changes, lost))
}

func summaryOf(changes []fileChange, lost []string) string {
	if len(changes)+len(lost) == 0 {
		return "No file differs from what it was before this session. Changes made by commands are not counted."
	}
	var b strings.Builder
	if len(changes) > 0 {
		fmt.Fprintf(&b, "Since this session first changed them, %s:\n\n", count(len(changes), "file differs", "files differ"))
	}
	for _, c := range changes {
		b.WriteString(c.line())
	}
	if len(lost) > 0 {
		b.WriteString("\nNot compared:\n\n" + strings.Join(lost, ""))
	}
	b.WriteString("\nFiles that only commands changed are not among them.\n")
	return b.String()
}

// count tells a number of things; many is the word for all but one.
func count(n int, one string, many ...string) string {
	word := one
	if n != 1 {
		word = one + "s"
		if len(many) > 0 {
			word = many[0]
		}
	}
	return fmt.Sprintf("%d %s", n, word)
}

// bareError is an error about a path without the path.
func bareError(err error) string {
	if pe, ok := err.(*fs.PathError); ok {
		return pe.Err.Error()
	}
	return err.Error()
}
