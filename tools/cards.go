package tools

import (
	"encoding/json"
	"strings"

	"dsh-acp/internal/msg"
	"dsh-acp/internal/text"
	"dsh-acp/presenter"
)

// loosely reads what is there of a call's arguments, for drawing. Whatever is
// missing or of another type is left out.
func loosely(args json.RawMessage) drawn {
	var m map[string]json.RawMessage
	_ = json.Unmarshal(args, &m) // a card is drawn from what could be read
	return drawn{m}
}

type drawn struct{ members map[string]json.RawMessage }

func (d drawn) text(name string) (string, bool) {
	var s *string
	if json.Unmarshal(d.members[name], &s) != nil || s == nil {
		return "", false
	}
	return *s, true
}

func (d drawn) count(name string) int {
	var n float64
	if json.Unmarshal(d.members[name], &n) != nil || n < 1 || n > 1<<31 {
		return 0
	}
	return int(n)
}

// locations of a card that names one file, or none yet.
func locations(path string, line int) []presenter.Location {
	if path == "" {
		return []presenter.Location{}
	}
	return []presenter.Location{{Path: path, Line: line}}
}

// shown is a text of the arguments as a block shows it: like the hunks it
// stands beside, with LF line breaks and without a byte order mark.
func shown(s string) string { return text.Fold(strings.TrimPrefix(s, "\ufeff")) }

// refusal draws a failed call: its message, fenced.
func refusal() presenter.Card {
	fence := ""
	return presenter.Generic{Fence: &fence}
}

// applied draws a successful change from its meta, if that holds hunks.
func applied(r msg.ToolResult) (presenter.Diff, bool) {
	diffs := presenter.DiffsFromMeta(r.Meta)
	return presenter.Diff{Diffs: diffs, Truncated: presenter.OmittedFromMeta(r.Meta)}, len(diffs) > 0
}

type editCards struct{}

func (editCards) Call(args json.RawMessage, done bool) presenter.Card {
	d := loosely(args)
	path, _ := d.text("file_path")
	card := presenter.Diff{Title: "Edit", Locations: locations(path, 0)}
	if path != "" {
		card.Title = "Edit " + path
	}
	if done {
		card.Diffs = editSnippet(d, path)
	}
	return card
}

// editSnippet is the change as the arguments tell it.
func editSnippet(d drawn, path string) []presenter.FileDiff {
	before, _ := d.text("old_string")
	after, _ := d.text("new_string")
	if path == "" || before == "" && after == "" {
		return nil
	}
	diff := presenter.FileDiff{Path: path, NewText: shown(after)}
	if before != "" {
		before = shown(before)
		diff.OldText = &before
	}
	return []presenter.FileDiff{diff}
}

func (editCards) Result(args json.RawMessage, r msg.ToolResult) presenter.Card {
	if r.IsError {
		return refusal()
	}
	card, ok := applied(r)
	if !ok && card.Truncated > 0 {
		// The hunks were too large to keep: the snippet is what is left.
		d := loosely(args)
		path, _ := d.text("file_path")
		card.Diffs, ok = editSnippet(d, path), true
	}
	if !ok {
		return presenter.Generic{}
	}
	return card
}

// Input puts replace_all's default first, once all that is required is there.
func (editCards) Input(args json.RawMessage) json.RawMessage {
	d := loosely(args)
	for _, name := range []string{"file_path", "old_string", "new_string"} {
		if _, ok := d.members[name]; !ok {
			return args
		}
	}
	if _, ok := d.members["replace_all"]; ok {
		return args
	}
	rest, ok := strings.CutPrefix(strings.TrimSpace(string(args)), "{")
	if !ok {
		return args
	}
	return json.RawMessage(`{"replace_all":false,` + strings.TrimLeft(rest, " \t\r\n"))
}
