package tools

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/msg"
	"dsh-acp/internal/text"
	"dsh-acp/presenter"
)

// editTool replaces a text by another. The match is the proof that the model
// knows the file, so that no earlier read is asked for.
type editTool struct{}

//go:embed edit.md
var editText string

const editSchema = `{
  "type": "object",
  "properties": {
    "file_path": {"type": "string", "description": "the file, absolute or relative to the working directory"},
    "old_string": {"type": "string", "description": "the text to replace, exactly as it is in the file; empty to create a file"},
    "new_string": {"type": "string", "description": "the text to put in its place"},
    "replace_all": {"type": "boolean", "default": false, "description": "replace every occurrence"}
  },
  "required": ["file_path", "old_string", "new_string"],
  "additionalProperties": false
}`

func (editTool) params() []param {
	return []param{
		{"file_path", stringParam, true},
		{"old_string", stringParam, true},
		{"new_string", stringParam, true},
		{"replace_all", boolParam, false},
	}
}

func (editTool) spec(name string) msg.ToolSpec {
	return msg.ToolSpec{Name: name, Description: editText, InputSchema: json.RawMessage(editSchema)}
}

func (editTool) cards() presenter.Tool { return editCards{} }

func (editTool) plan(ctx context.Context, e *env, name string, args arguments) (*Plan, error) {
	path := args.text("file_path")
	abs, err := e.resolve(ctx, name, "file_path", path)
	if err != nil {
		return nil, err
	}
	sub := substitution{path: path, old: text.Fold(args.text("old_string")), new: args.text("new_string"), all: args.flag("replace_all")}
	switch {
	case args.text("old_string") == sub.new:
		return nil, failf(CodeNoChange, "edit %s: old_string and new_string are the same: there is nothing to change; nothing was written", path)
	case sub.old == text.Fold(sub.new):
		return nil, failf(CodeEditNotFound, "edit %s: old_string and new_string are the same but for CRLF and LF line breaks, and an edit keeps those of the file: there is nothing to change; nothing was written", path)
	}
	if err := noNUL("edit", path, "new_string", sub.new); err != nil {
		return nil, err
	}
	run := editRun{env: e, sub: sub, abs: abs}
	// The plan keeps what it read: if the file is still the same when it
	// runs, which the backend checks, it need not be read and searched again.
	first, err := run.prepare(ctx)
	if err != nil {
		return nil, err
	}
	return &Plan{
		Need: Need{Access: Change, Paths: []string{abs}, Outside: e.outside(abs)},
		run: func(ctx context.Context) msg.ToolResult {
			r, err := run.commit(ctx, first)
			if err != nil {
				return failed(name, err)
			}
			return r
		},
		preview: func() []presenter.FileDiff { return run.hunks(first) },
	}, nil
}

// editRun is one call, planned against a file.
type editRun struct {
	env *env
	sub substitution
	abs string
}

// A prepared edit is what a substitution makes of the file as it was read.
type prepared struct {
	key     fsbackend.Key
	exists  bool
	version fsbackend.Version
	before  text.Doc
	edited
}

func (r editRun) prepare(ctx context.Context) (*prepared, error) {
	info, err := r.env.Files.Stat(ctx, r.abs)
	if err != nil {
		return nil, err
	}
	if !info.Exists {
		r.env.Seen.Note(info.Key, fsbackend.Version{})
		if r.sub.old != "" {
			return nil, r.env.missing(ctx, "edit", r.sub.path, r.abs, "nothing was written; to create the file leave old_string empty")
		}
		if err := r.env.parent(ctx, "edit", r.sub.path, r.abs); err != nil {
			return nil, err
		}
		after, err := text.ParseString(r.sub.new)
		if err != nil {
			return nil, err // it was parsed before
		}
		return &prepared{key: info.Key, edited: edited{after: after, lines: []int{1}}}, nil
	}
	file, err := fsbackend.ReadForChange(ctx, r.env.Files, r.abs)
	if err != nil {
		return nil, err
	}
	doc, err := file.Doc()
	if err != nil {
		r.env.Seen.NoteFile(file)
		return nil, err
	}
	if err := fsbackend.MayReplace(r.env.Files, r.abs, file.Data); err != nil {
		return nil, err
	}
	done, err := r.sub.apply(doc)
	if err != nil {
		return nil, err
	}
	return &prepared{key: file.Key, exists: true, version: file.Version, before: doc, edited: done}, nil
}

// commit writes p, or, when the file has changed since p was made, what a
// second look gives: the text to replace is still searched for in the file as
// it is, so that nothing unseen is lost.
func (r editRun) commit(ctx context.Context, p *prepared) (msg.ToolResult, error) {
	unlock, err := fsbackend.Lock(ctx, r.env.Files, r.abs)
	if err != nil {
		return msg.ToolResult{}, err
	}
	defer unlock()
	for attempt := 1; ; attempt++ {
		seen, wasSeen := r.env.Seen.Version(p.key)
		var pre fsbackend.Precondition = fsbackend.Absent{}
		if p.exists {
			pre = fsbackend.Unchanged{Version: p.version}
		}
		receipt, err := r.env.Files.Write(ctx, fsbackend.Write{Path: r.abs, Data: fsbackend.BytesOf(p.after), Pre: pre, NoBefore: true})
		if err == nil {
			r.env.Seen.Note(p.key, receipt.Version)
			p.after = receipt.Text(p.after)
			moved := p.exists && wasSeen && seen != p.version && seen != (fsbackend.Version{})
			return r.result(p, receipt, moved)
		}
		code := fsbackend.CodeOf(err)
		if attempt == 2 || code != fsbackend.CodeStaleVersion && code != fsbackend.CodeNotObserved {
			return msg.ToolResult{}, err
		}
		if p, err = r.prepare(ctx); err != nil {
			return msg.ToolResult{}, err
		}
	}
}

func (r editRun) result(p *prepared, receipt fsbackend.Receipt, moved bool) (msg.ToolResult, error) {
	var say strings.Builder
	switch {
	case !p.exists:
		fmt.Fprintf(&say, "created %s: %s", r.sub.path, state(p.after, receipt))
	case r.sub.old == "":
		fmt.Fprintf(&say, "filled %s, which was empty: %s", r.sub.path, state(p.after, receipt))
	case r.sub.all:
		fmt.Fprintf(&say, "edited %s: replaced all %s: %s", r.sub.path, occurrences(p.lines), state(p.after, receipt))
	default:
		fmt.Fprintf(&say, "edited %s: 1 replacement at line %d: %s", r.sub.path, p.lines[0], state(p.after, receipt))
	}
	if p.breaks > 0 {
		fmt.Fprintf(&say, "\nThe deleted text was whole lines, so the line break after %s went too.", plural(p.breaks, "it", "each of %d"))
	}
	if moved {
		say.WriteString("\nThe file had changed since this session last saw it; other parts may differ from what you know.")
	}
	for _, note := range receipt.Notes {
		fmt.Fprintf(&say, "\nNote: %s.", note)
	}
	return msg.ToolResult{
		Content: msg.Blocks{msg.Text{Text: say.String()}},
		Meta:    presenter.NewDiffMeta(r.hunks(p)).JSON(),
	}, nil
}

func (r editRun) hunks(p *prepared) []presenter.FileDiff {
	return presenter.Hunks(r.sub.path, p.before.LF(), p.after.LF())
}

// A substitution is what an edit asks for. old has LF line breaks.
type substitution struct {
	path     string // for messages
	old, new string
	all      bool
}

// edited is a substitution carried out.
type edited struct {
	after  text.Doc
	lines  []int // of the replacements, in after
	breaks int   // line breaks taken beyond old
}

// apply makes the substitution in d, or says why it cannot be made.
func (s substitution) apply(d text.Doc) (edited, error) {
	lf := d.LF()
	if s.old == "" {
		if lf != "" {
			return edited{}, failf(CodeEditNotFound, "edit %s: old_string is empty, but the file has content (%s): give the text to replace, or use Write for the whole file; nothing was written",
				s.path, plural(d.Lines(), "1 line", "%d lines"))
		}
		after, _, err := d.Rewrite(s.new)
		if err != nil {
			return edited{}, err // new was checked before
		}
		return edited{after: after, lines: []int{1}}, nil
	}
	var found []int
	if s.all {
		found = text.FindApart(lf, s.old)
	} else {
		found = text.FindAll(lf, s.old)
	}
	switch {
	case len(found) == 0:
		return edited{}, failf(CodeEditNotFound, "edit %s: old_string is not in the file%s; nothing was written", s.path, closest(lf, s.old))
	case len(found) > 1 && !s.all:
		return edited{}, failf(CodeAmbiguousEdit, "edit %s: old_string occurs %d times (%s), want once: add lines around it until it is unique, or set replace_all; nothing was written",
			s.path, len(found), lineList(linesAt(lf, found)))
	}
	out := edited{}
	edits := make([]text.Edit, len(found))
	for i, at := range found {
		end := at + len(s.old)
		if s.new == "" && wholeLines(lf, at, end) && (i+1 == len(found) || found[i+1] > end) {
			end++
			out.breaks++
		}
		edits[i] = text.Edit{Start: at, End: end, New: s.new}
	}
	after, err := d.ApplyLF(edits...)
	if err != nil {
		return edited{}, err // matches are apart and on characters
	}
	out.after = after
	out.lines = shifted(lf, edits)
	return out, nil
}

// wholeLines reports whether lf[start:end] is exactly whole lines, less the
// line break that follows them.
func wholeLines(lf string, start, end int) bool {
	return (start == 0 || lf[start-1] == '\n') && end < len(lf) && lf[end] == '\n' && lf[end-1] != '\n'
}

// linesAt returns the lines of ascending offsets in lf.
func linesAt(lf string, offsets []int) []int {
	out := make([]int, len(offsets))
	line, at := 1, 0
	for i, off := range offsets {
		line += strings.Count(lf[at:off], "\n")
		out[i], at = line, off
	}
	return out
}

// shifted returns the lines at which edits stand once they are made.
func shifted(lf string, edits []text.Edit) []int {
	out := make([]int, len(edits))
	line, at := 1, 0
	for i, e := range edits {
		line += strings.Count(lf[at:e.Start], "\n")
		out[i] = line
		line += strings.Count(text.Fold(e.New), "\n")
		at = e.End
	}
	return out
}
