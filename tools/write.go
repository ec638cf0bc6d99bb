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
	"dsh-acp/tools/fs"
)

// writeTool replaces whole files. What it would destroy must have been seen
// by the session, in the version that is there.
type writeTool struct{}

//go:embed write.md
var writeText string

const writeSchema = `{
  "type": "object",
  "properties": {
    "file_path": {"type": "string", "description": "the file, absolute or relative to the working directory"},
    "content": {"type": "string", "description": "the whole text of the file"}
  },
  "required": ["file_path", "content"],
  "additionalProperties": false
}`

func (writeTool) params() []param {
	return []param{{"file_path", stringParam, true}, {"content", stringParam, true}}
}

func (writeTool) spec(name string) msg.ToolSpec {
	return msg.ToolSpec{Name: name, Description: writeText, InputSchema: json.RawMessage(writeSchema)}
}

func (writeTool) cards() presenter.Tool { return writeCards{} }

func (writeTool) plan(ctx context.Context, e *env, name string, args arguments) (*Plan, error) {
	w := writeRun{env: e, path: args.text("file_path"), content: args.text("content")}
	var err error
	if w.abs, err = e.resolve(ctx, name, "file_path", w.path); err != nil {
		return nil, err
	}
	if err := noNUL("write", w.path, "content", w.content); err != nil {
		return nil, err
	}
	first, err := w.check(ctx)
	if err != nil {
		return nil, err
	}
	return &Plan{
		Need: Need{Access: Change, Paths: []string{w.abs}, Outside: e.outside(w.abs), Blind: first.info.Exists && first.before == nil},
		run: func(ctx context.Context) msg.ToolResult {
			r, err := w.run(ctx)
			if err != nil {
				return failed(name, err)
			}
			return r
		},
		preview: func() []presenter.FileDiff { return w.preview(first) },
	}, nil
}

type writeRun struct {
	env       *env
	path, abs string
	content   string
}

// overwritten is the file that a write meets: what it is, and as what the
// content goes into it.
type overwritten struct {
	info   fsbackend.Info
	pre    fsbackend.Precondition
	before *text.Doc // nil: no file, or not text, or too large to read
	size   int64     // of the old file
	data   []byte    // to write
	folded bool      // line breaks were made CRLF, like the file's
}

// check refuses, before anybody is asked, what run would refuse. It takes the
// file's turn: between the read of the file and the look at what was seen of
// it, another call of this session must not change both.
func (w writeRun) check(ctx context.Context) (overwritten, error) {
	unlock, err := fsbackend.Lock(ctx, w.env.Files, w.abs)
	if err != nil {
		return overwritten{}, err
	}
	defer unlock()
	return w.look(ctx)
}

// preview shows what the write would change of the text that is there. A new
// file, and one without text to compare with, the arguments show whole.
func (w writeRun) preview(o overwritten) []presenter.FileDiff {
	if o.before == nil {
		return nil
	}
	after, err := text.ParseString(string(o.data))
	if err != nil {
		return nil // run says so
	}
	if w.identical(o) {
		same := after.LF()
		return []presenter.FileDiff{{Path: w.path, OldText: &same, NewText: same}}
	}
	return presenter.Hunks(w.path, o.before.LF(), after.LF())
}

// look reads the file that would be replaced and refuses what must not be.
// The caller holds the file's turn.
func (w writeRun) look(ctx context.Context) (overwritten, error) {
	info, err := w.env.Files.Stat(ctx, w.abs)
	if err != nil {
		return overwritten{}, err
	}
	o := overwritten{info: info, pre: fsbackend.Absent{}, data: []byte(w.content)}
	if !info.Exists {
		return o, w.env.parent(ctx, "write", w.path, w.abs)
	}
	file, err := fsbackend.ReadForChange(ctx, w.env.Files, w.abs)
	seen, wasSeen := w.env.Seen.Version(info.Key)
	if fsbackend.CodeOf(err) == fsbackend.CodeTooLarge {
		// The backend compares versions without holding the file.
		o.size, o.pre = info.Size, fsbackend.Unchanged{Version: seen}
		if !wasSeen {
			o.pre = fsbackend.Any{}
			return o, w.unseen()
		}
		return o, nil
	}
	if err != nil {
		return overwritten{}, err
	}
	if err := fsbackend.MayReplace(w.env.Files, w.abs, file.Data); err != nil {
		return overwritten{}, err
	}
	o.size, o.pre = file.Size, fsbackend.Unchanged{Version: file.Version}
	if doc, err := file.Doc(); err == nil {
		after, folded, err := doc.Rewrite(w.content)
		if err != nil {
			return overwritten{}, err // the content was checked before
		}
		o.before, o.data, o.folded = &doc, fsbackend.BytesOf(after), folded
	}
	switch {
	case w.identical(o), wasSeen && seen == file.Version:
		return o, nil
	case wasSeen && seen != (fsbackend.Version{}):
		return o, failf(fsbackend.CodeStaleVersion, "write %s: the file has changed since this session last saw it (version %s then, %s now): read it again, then write; nothing was written",
			w.path, tag(seen), tag(file.Version))
	}
	return o, w.unseen()
}

// unseen refuses to overwrite a file that the session does not know, unless
// that is allowed.
func (w writeRun) unseen() error {
	if w.env.OverwriteUnread {
		return nil
	}
	other := ""
	if tool := w.env.editor(); tool != "" {
		other = ", or use " + tool + " for a change of a part"
	}
	return failf(fsbackend.CodeNotObserved, "write %s: the file exists and this session has not read it: read it first so that nothing is lost%s; nothing was written", w.path, other)
}

// identical reports whether the write would leave the file as it is.
func (w writeRun) identical(o overwritten) bool {
	return o.before != nil && o.before.Raw() == string(o.data)
}

func (w writeRun) run(ctx context.Context) (msg.ToolResult, error) {
	unlock, err := fsbackend.Lock(ctx, w.env.Files, w.abs)
	if err != nil {
		return msg.ToolResult{}, err
	}
	defer unlock()
	o, err := w.look(ctx)
	if err != nil {
		return msg.ToolResult{}, err
	}
	if w.identical(o) {
		version := fsbackend.VersionOf(o.data)
		w.env.Seen.Note(o.info.Key, version)
		meta, err := msg.Marshal(writeMeta{DiffMeta: presenter.NewDiffMeta(nil), Unchanged: true})
		return msg.ToolResult{
			Content: msg.Blocks{msg.Text{Text: fmt.Sprintf("%s already holds exactly this text; nothing changed (version %s)", w.path, tag(version))}},
			Meta:    meta,
		}, err
	}
	receipt, err := w.env.Files.Write(ctx, fsbackend.Write{Path: w.abs, Data: o.data, Pre: o.pre})
	if err != nil {
		return msg.ToolResult{}, err
	}
	w.env.Seen.Note(o.info.Key, receipt.Version)
	return w.result(o, receipt)
}

// writeMeta is what a Write keeps beside its text. Without hunks, and not
// unchanged, the call's own block shows the file.
type writeMeta struct {
	presenter.DiffMeta
	Unchanged bool `json:"unchanged,omitempty"`
}

func (w writeRun) result(o overwritten, receipt fsbackend.Receipt) (msg.ToolResult, error) {
	after, err := text.ParseString(string(o.data))
	if err != nil {
		return msg.ToolResult{}, err // the content was parsed before
	}
	after = receipt.Text(after)
	var say strings.Builder
	diffs := []presenter.FileDiff(nil)
	switch {
	case receipt.Created:
		fmt.Fprintf(&say, "created %s: %s", w.path, state(after, receipt))
		if receipt.After != nil {
			diffs = presenter.Hunks(w.path, "", after.LF()) // not what the call's own block shows
		}
	case o.before == nil:
		fmt.Fprintf(&say, "replaced %s, which held %d bytes that are not shown: %s", w.path, o.size, state(after, receipt))
	default:
		fmt.Fprintf(&say, "replaced %s, which had %s: %s", w.path, plural(o.before.Lines(), "1 line", "%d lines"), state(after, receipt))
		if receipt.Before != nil {
			diffs = presenter.Hunks(w.path, o.before.LF(), after.LF())
		}
	}
	if o.folded {
		say.WriteString("\nNote: " + fs.FoldedNote(*o.before) + ".")
	}
	for _, note := range receipt.Notes {
		fmt.Fprintf(&say, "\nNote: %s.", note)
	}
	return msg.ToolResult{
		Content: msg.Blocks{msg.Text{Text: say.String()}},
		Meta:    presenter.NewDiffMeta(diffs).JSON(),
	}, nil
}
