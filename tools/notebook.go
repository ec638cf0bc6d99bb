package tools

import (
	"cmp"
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

// notebookTool changes a cell of a Jupyter notebook.
type notebookTool struct{}

//go:embed notebook.md
var notebookText string

const notebookSchema = `{
  "type": "object",
  "properties": {
    "notebook_path": {"type": "string", "description": "the notebook, absolute or relative to the working directory"},
    "cell_id": {"type": "string", "description": "the cell; with insert the one before the new cell"},
    "new_source": {"type": "string", "description": "the cell's source"},
    "cell_type": {"type": "string", "enum": ["code", "markdown"], "description": "needed with insert"},
    "edit_mode": {"type": "string", "enum": ["replace", "insert", "delete"], "default": "replace"}
  },
  "required": ["notebook_path", "new_source"],
  "additionalProperties": false
}`

// Codes of notebooks.
const (
	CodeNotebook = "NOTEBOOK_INVALID" // the file is no notebook
	CodeNoCell   = "CELL_NOT_FOUND"   // it has no such cell
)

func (notebookTool) params() []param {
	return []param{
		{"notebook_path", stringParam, true}, {"cell_id", stringParam, false}, {"new_source", stringParam, true},
		{"cell_type", stringParam, false}, {"edit_mode", stringParam, false},
	}
}

func (notebookTool) spec(name string) msg.ToolSpec {
	return msg.ToolSpec{Name: name, Description: notebookText, InputSchema: json.RawMessage(notebookSchema)}
}

func (notebookTool) cards() presenter.Tool { return notebookCards{} }

func (notebookTool) plan(ctx context.Context, e *env, name string, args arguments) (*Plan, error) {
	c := cellEdit{
		path: args.text("notebook_path"), id: args.text("cell_id"), source: text.Fold(args.text("new_source")),
		kind: args.text("cell_type"), mode: cmp.Or(args.text("edit_mode"), "replace"),
	}
	abs, err := e.resolve(ctx, name, "notebook_path", c.path)
	if err != nil {
		return nil, err
	}
	if err := c.check(name); err != nil {
		return nil, err
	}
	info, err := e.Files.Stat(ctx, abs)
	if err != nil {
		return nil, err
	}
	if !info.Exists {
		return nil, e.missing(ctx, name, c.path, abs, "")
	}
	file, err := fsbackend.ReadForChange(ctx, e.Files, abs)
	if err != nil {
		return nil, err
	}
	doc, err := file.Doc()
	if err != nil {
		return nil, err
	}
	after, _, err := c.apply(doc)
	if err != nil {
		return nil, err
	}
	return &Plan{
		Need: Need{Access: Change, Paths: []string{abs}, Outside: e.outside(abs)},
		run: func(ctx context.Context) msg.ToolResult {
			r, err := c.run(ctx, e, abs)
			if err != nil {
				return failed(name, err)
			}
			return r
		},
		preview: func() []presenter.FileDiff { return presenter.Hunks(c.path, doc.LF(), after.LF()) },
	}, nil
}

func (c cellEdit) check(name string) error {
	switch {
	case c.mode != "replace" && c.mode != "insert" && c.mode != "delete":
		return failf(msg.CodeInvalidArgs, "%s: edit_mode is %q, want replace, insert or delete", name, c.mode)
	case c.kind != "" && c.kind != "code" && c.kind != "markdown":
		return failf(msg.CodeInvalidArgs, "%s: cell_type is %q, want code or markdown", name, c.kind)
	case c.mode == "insert" && c.kind == "":
		return failf(msg.CodeInvalidArgs, "%s: a new cell needs a cell_type: code or markdown", name)
	case c.mode != "insert" && c.id == "":
		return failf(msg.CodeInvalidArgs, "%s: cell_id is missing: name the cell to %s", name, c.mode)
	}
	return nil
}

func (c cellEdit) run(ctx context.Context, e *env, abs string) (msg.ToolResult, error) {
	said := ""
	change, err := fsbackend.Transform(ctx, e.Files, abs, func(d text.Doc) (out text.Doc, err error) {
		out, said, err = c.apply(d)
		return out, err
	})
	if err != nil {
		return msg.ToolResult{}, err
	}
	e.Seen.Note(change.Receipt.Key, change.Receipt.Version)
	for _, note := range change.Receipt.Notes {
		said += fmt.Sprintf("\nNote: %s.", note)
	}
	return msg.ToolResult{Content: msg.Blocks{msg.Text{Text: said}}}, nil
}

// notebookCards shows a call by its name and its result as text: what a
// notebook's JSON looks like is not what a reader wants to compare, unless the
// reader is asked whether it may be changed.
type notebookCards struct{}

func (notebookCards) Call(json.RawMessage, bool) presenter.Card {
	return presenter.Generic{Title: "NotebookEdit", Kind: presenter.KindOther}
}

func (notebookCards) Result(args json.RawMessage, r msg.ToolResult) presenter.Card {
	if r.IsError {
		return refusal()
	}
	path, _ := loosely(args).text("notebook_path")
	return presenter.Generic{Locations: locations(path, 0)}
}

func (notebookCards) Input(args json.RawMessage) json.RawMessage { return args }

// isNotebook reports whether a file is read as a notebook.
func isNotebook(path string) bool { return strings.HasSuffix(strings.ToLower(path), ".ipynb") }
