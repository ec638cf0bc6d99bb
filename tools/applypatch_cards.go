package tools

import (
	"encoding/json"
	"math"
	"strings"

	"dsh-acp/internal/msg"
	"dsh-acp/internal/patch"
	"dsh-acp/presenter"
)

type applyPatchCards struct{}

// drawLimits let a card show whatever was sent: whether it is too much is for
// the call to say.
var drawLimits = patch.Limits{
	Operations: math.MaxInt32, Search: math.MaxInt32, Expect: math.MaxInt32,
}

// Call shows one block for each operation, as far as its arguments tell.
// Operations that make no sense have none.
func (applyPatchCards) Call(args json.RawMessage, done bool) presenter.Card {
	card := presenter.Diff{Title: "Apply patch", Locations: []presenter.Location{}}
	req, errs := patch.Decode(args, drawLimits)
	if errs != nil {
		return card
	}
	for _, o := range req.Operations {
		if o == nil {
			continue
		}
		s := patch.SnippetOf(o)
		card.Files = append(card.Files, s.Path)
		card.Locations = append(card.Locations, presenter.Location{Path: s.Path})
		if done {
			card.Diffs = append(card.Diffs, snippetDiff(s))
		}
	}
	switch {
	case len(card.Files) == 0:
	case req.DryRun:
		card.Title = "Preview: Edit"
	default:
		card.Title = "Edit"
	}
	return card
}

func snippetDiff(s patch.Snippet) presenter.FileDiff {
	d := presenter.FileDiff{Path: s.Path, NewText: shown(s.New)}
	if s.Old != nil {
		old := shown(*s.Old)
		d.OldText = &old
	}
	return d
}

// Result shows the hunks of all files, of a preview too.
func (c applyPatchCards) Result(args json.RawMessage, r msg.ToolResult) presenter.Card {
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
	card.Kept = true // only line ends changed, which no hunk shows
	return card
}

// Input puts dryRun's default first, once the operations are there.
func (applyPatchCards) Input(args json.RawMessage) json.RawMessage {
	d := loosely(args)
	if _, ok := d.members["operations"]; !ok {
		return args
	}
	if _, ok := d.members["dryRun"]; ok {
		return args
	}
	rest, ok := strings.CutPrefix(strings.TrimSpace(string(args)), "{")
	if !ok {
		return args
	}
	return json.RawMessage(`{"dryRun":false,` + strings.TrimLeft(rest, " \t\r\n"))
}
