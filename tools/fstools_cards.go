package tools

import (
	"encoding/json"
	"fmt"
	"strings"

	"dsh-acp/internal/hashline"
	"dsh-acp/internal/msg"
	"dsh-acp/presenter"
	"dsh-acp/tools/fs"
)

type fsReadCards struct{}

func (fsReadCards) Call(args json.RawMessage, _ bool) presenter.Card {
	d := loosely(args)
	path, _ := d.text("path")
	if path == "" {
		return presenter.Generic{Title: "Read File", Kind: presenter.KindRead, Locations: locations("", 0)}
	}
	offset, limit := d.count("offset"), d.count("limit")
	symbol, _ := d.text("symbol")
	title := "Read " + path
	switch {
	case symbol != "":
		title += " (" + symbol + ")"
	case limit > 0:
		title += fmt.Sprintf(" (%d - %d)", max(offset, 1), max(offset, 1)+limit-1)
	case offset > 0:
		title += fmt.Sprintf(" (from line %d)", offset)
	}
	return presenter.Generic{Title: title, Kind: presenter.KindRead, Locations: locations(path, max(offset, 1))}
}

// Result takes the lines of the file out of the view.
func (fsReadCards) Result(args json.RawMessage, r msg.ToolResult) presenter.Card {
	if r.IsError {
		return refusal()
	}
	var m struct {
		Read *readMeta `json:"read"`
	}
	if json.Unmarshal(r.Meta, &m) != nil || m.Read == nil || m.Read.Lines < 0 {
		return refusal() // the raw text, fenced
	}
	view := strings.Split(r.Content.PlainText(), "\n")
	if m.Read.Lines >= len(view) {
		return refusal()
	}
	lines := make([]string, m.Read.Lines)
	for i := range lines {
		body, ok := strings.CutPrefix(view[i+1], fmt.Sprintf("%d| ", m.Read.Offset+i))
		if !ok {
			return refusal()
		}
		lines[i] = body
	}
	path, _ := loosely(args).text("path")
	return presenter.Read{Path: path, Offset: m.Read.Offset, Lines: lines, TotalLines: m.Read.Total}
}

func (fsReadCards) Input(args json.RawMessage) json.RawMessage { return args }

type fsWriteCards struct{}

func (fsWriteCards) Call(args json.RawMessage, done bool) presenter.Card {
	return writeCards{}.Call(withFilePath(args), done)
}

func (fsWriteCards) Result(args json.RawMessage, r msg.ToolResult) presenter.Card {
	return writeCards{}.Result(withFilePath(args), r)
}

func (fsWriteCards) Input(args json.RawMessage) json.RawMessage { return args }

// withFilePath are the arguments as the cards of Write have them.
func withFilePath(args json.RawMessage) json.RawMessage {
	d := loosely(args)
	out := map[string]json.RawMessage{}
	for from, to := range map[string]string{"path": "file_path", "content": "content"} {
		if v, ok := d.members[from]; ok {
			out[to] = v
		}
	}
	raw, err := msg.Marshal(out)
	if err != nil {
		return json.RawMessage("{}")
	}
	return raw
}

type fsEditCards struct{}

// Call shows what is written of each change; what goes is not in the
// arguments where lines are named by number.
func (fsEditCards) Call(args json.RawMessage, done bool) presenter.Card {
	card := presenter.Diff{Title: "Edit", Locations: []presenter.Location{}}
	call, err := hashline.Decode(args, fs.Auto)
	if err != nil {
		if path, _ := loosely(args).text("path"); path != "" {
			card.Title, card.Locations = "Edit "+path, locations(path, 0)
		}
		return card
	}
	paths, dryRun := fs.EditPaths(call)
	card.Files = paths
	for _, p := range paths {
		card.Locations = append(card.Locations, presenter.Location{Path: p})
	}
	if dryRun {
		card.Title = "Preview: " + card.Title
	}
	if done {
		card.Diffs = fsSnippets(call)
	}
	return card
}

func fsSnippets(call hashline.Call) []presenter.FileDiff {
	var out []presenter.FileDiff
	switch c := call.(type) {
	case hashline.ReplaceCall:
		for _, t := range c.Targets {
			ops, err := hashline.Parse(t.Script.Ops, t.Script.FirstLine)
			if err != nil || t.Path == "" {
				continue // told by the call
			}
			for _, h := range ops.Hunks {
				if len(h.Rows) > 0 {
					out = append(out, presenter.FileDiff{Path: t.Path, NewText: shown(strings.Join(h.Rows, "\n"))})
				}
			}
		}
	case hashline.ContentCall:
		for _, e := range c.Edits {
			if e.Path == "" {
				continue
			}
			d := presenter.FileDiff{Path: e.Path, NewText: shown(e.Substitution.New)}
			if e.Substitution.Old != "" {
				old := shown(e.Substitution.Old)
				d.OldText = &old
			}
			out = append(out, d)
		}
	}
	return out
}

func (c fsEditCards) Result(args json.RawMessage, r msg.ToolResult) presenter.Card {
	if r.IsError {
		return refusal()
	}
	card, ok := applied(r)
	if ok {
		return card
	}
	if call, isDiff := c.Call(args, true).(presenter.Diff); isDiff && card.Truncated > 0 {
		// The hunks were too large to keep: the snippets are what is left.
		card.Diffs = call.Diffs
		return card
	}
	return presenter.Generic{}
}

func (fsEditCards) Input(args json.RawMessage) json.RawMessage { return args }

type fsRollbackCards struct{}

func (fsRollbackCards) Call(args json.RawMessage, _ bool) presenter.Card {
	d := loosely(args)
	path, _ := d.text("path")
	card := presenter.Diff{Title: "Roll back", Locations: locations(path, 0)}
	if path != "" {
		card.Title += " " + path
	}
	if hash, _ := d.text("hash"); hash != "" {
		card.Title += " to " + hash
	}
	if d.flag("dry_run") {
		card.Title = "Preview: " + card.Title
	}
	return card
}

func (fsRollbackCards) Result(_ json.RawMessage, r msg.ToolResult) presenter.Card {
	if r.IsError {
		return refusal()
	}
	if card, ok := applied(r); ok {
		return card
	}
	return presenter.Generic{}
}

func (fsRollbackCards) Input(args json.RawMessage) json.RawMessage { return args }
