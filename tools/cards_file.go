package tools

import (
	"encoding/json"
	"fmt"
	"strings"

	"dsh-acp/internal/msg"
	"dsh-acp/presenter"
)

type writeCards struct{}

func (writeCards) Call(args json.RawMessage, done bool) presenter.Card {
	d := loosely(args)
	path, _ := d.text("file_path")
	card := presenter.Diff{Title: "Preparing file…", Locations: locations(path, 0)}
	if path == "" {
		return card
	}
	card.Title = "Write " + path
	if content, ok := d.text("content"); ok && done {
		card.Diffs = []presenter.FileDiff{{Path: path, NewText: shown(content)}}
	}
	return card
}

func (writeCards) Result(args json.RawMessage, r msg.ToolResult) presenter.Card {
	if r.IsError {
		return refusal()
	}
	var m struct {
		Unchanged bool `json:"unchanged"`
	}
	_ = json.Unmarshal(r.Meta, &m) // what cannot be read says nothing
	if m.Unchanged {
		d := loosely(args)
		path, _ := d.text("file_path")
		content, _ := d.text("content")
		content = shown(content)
		return presenter.Diff{Diffs: []presenter.FileDiff{{Path: path, OldText: &content, NewText: content}}}
	}
	if card, ok := applied(r); ok {
		return card
	}
	// A new file, or one whose old text cannot be shown: the block of the
	// call, which has the whole new text, stays.
	return presenter.Diff{Kept: true}
}

func (writeCards) Input(args json.RawMessage) json.RawMessage { return args }

type readCards struct{}

func (readCards) Call(args json.RawMessage, _ bool) presenter.Card {
	d := loosely(args)
	path, _ := d.text("file_path")
	if path == "" {
		return presenter.Generic{Title: "Read File", Kind: presenter.KindRead, Locations: locations("", 0)}
	}
	offset, limit := d.count("offset"), d.count("limit")
	title := "Read " + path
	switch {
	case limit > 0:
		title += fmt.Sprintf(" (%d - %d)", max(offset, 1), max(offset, 1)+limit-1)
	case offset > 0:
		title += fmt.Sprintf(" (from line %d)", offset)
	}
	return presenter.Generic{Title: title, Kind: presenter.KindRead, Locations: locations(path, max(offset, 1))}
}

// readMeta is what a Read keeps beside its text: which part of the text is
// lines of the file, so that they need not be stored twice.
type readMeta struct {
	Offset int `json:"offset"` // the first line
	Lines  int `json:"lines"`  // how many, without the empty piece at the end
	Total  int `json:"total"`  // of the file, likewise; 0: not known
}

func (readCards) Result(args json.RawMessage, r msg.ToolResult) presenter.Card {
	if r.IsError {
		return refusal()
	}
	path, _ := loosely(args).text("file_path")
	var pictures msg.Blocks
	for _, b := range r.Content {
		if p, ok := b.(msg.Image); ok {
			pictures = append(pictures, p)
		}
	}
	if pictures != nil {
		return presenter.Read{Path: path, Images: pictures}
	}
	var m struct {
		Read     *readMeta `json:"read"`
		Notebook bool      `json:"notebook"`
	}
	if json.Unmarshal(r.Meta, &m) == nil && m.Notebook {
		fence := ""
		return presenter.Generic{Fence: &fence, Listed: true}
	}
	if json.Unmarshal(r.Meta, &m) != nil || m.Read == nil {
		return refusal() // the raw text, fenced
	}
	lines, ok := viewLines(r.Content.PlainText(), *m.Read)
	if !ok {
		return refusal()
	}
	return presenter.Read{Path: path, Offset: m.Read.Offset, Lines: lines, TotalLines: m.Read.Total}
}

func (readCards) Input(args json.RawMessage) json.RawMessage { return args }

// viewLines takes the lines of a file out of the view that Read gave of them.
func viewLines(view string, m readMeta) ([]string, bool) {
	if m.Lines < 0 || m.Lines > strings.Count(view, "\n")+1 {
		return nil, false
	}
	lines := make([]string, 0, m.Lines)
	for i := range m.Lines {
		line, rest, _ := strings.Cut(view, "\n")
		body, ok := strings.CutPrefix(line, fmt.Sprintf("%d\t", m.Offset+i))
		if !ok {
			return nil, false
		}
		lines = append(lines, body)
		view = rest
	}
	return lines, true
}
