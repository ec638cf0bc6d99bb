package app

import (
	"encoding/json"
	"maps"

	"dsh-acp/internal/msg"
	"dsh-acp/presenter"
	"dsh-acp/tools"
)

// Names under which commands show what they changed or found, as calls of the
// agent's own. No tool has such a name.
const (
	showUndo = "/undo"
	showDiff = "/diff"
)

// presenters draws the calls of tools and of commands.
func presenters() map[string]presenter.Tool {
	all := maps.Clone(tools.Presenters())
	all[showUndo], all[showDiff] = changesCards{}, changesCards{}
	return all
}

// changesArgs is the input of a command's call.
type changesArgs struct {
	Title string   `json:"title"`
	Files []string `json:"files"`
}

// changesCards draws hunks of any number of files.
type changesCards struct{}

func (changesCards) Call(args json.RawMessage, _ bool) presenter.Card {
	var a changesArgs
	_ = json.Unmarshal(args, &a) // what cannot be read has a plainer card
	card := presenter.Diff{Title: a.Title, Locations: []presenter.Location{}}
	for _, f := range a.Files {
		card.Locations = append(card.Locations, presenter.Location{Path: f})
	}
	return card
}

func (changesCards) Result(_ json.RawMessage, r msg.ToolResult) presenter.Card {
	diffs := presenter.DiffsFromMeta(r.Meta)
	if len(diffs) == 0 {
		return presenter.Generic{}
	}
	return presenter.Diff{Diffs: diffs, Truncated: presenter.OmittedFromMeta(r.Meta)}
}

func (changesCards) Input(args json.RawMessage) json.RawMessage { return args }
