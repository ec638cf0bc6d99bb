package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"dsh-acp/internal/msg"
	"dsh-acp/presenter"
)

// Permission modes.
const (
	ModeDefault     = "default"           // asks before every change
	ModeAcceptEdits = "acceptEdits"       // asks before programs run, not before edits
	ModePlan        = "plan"              // reads only
	ModeBypass      = "bypassPermissions" // asks nothing
)

type modeInfo struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

var modeInfos = []modeInfo{
	{ModeDefault, "Ask", "Asks before it changes a file or runs a program"},
	{ModeAcceptEdits, "Accept edits", "Edits files in the open folder without asking; asks before it runs a program"},
	{ModePlan, "Plan", "Reads and plans; changes nothing"},
	{ModeBypass, "Bypass permissions", "Never asks"},
}

// isMode reports whether id is one of the Mode constants.
func isMode(id string) bool {
	return slices.ContainsFunc(modeInfos, func(m modeInfo) bool { return m.ID == id })
}

type modesResult struct {
	Current   string     `json:"currentModeId"`
	Available []modeInfo `json:"availableModes"`
}

// setMode changes the mode. It works while a turn runs and holds from the
// next tool call on. The client hears of it as options, like from the
// reference agent.
func (s *Server) setMode(r *request) {
	var p struct {
		ModeID string `json:"modeId"`
	}
	if err := json.Unmarshal(r.params, &p); err != nil {
		s.fail(r, badParams("session/set_mode", r.params, err))
		return
	}
	s.onSession(r, func(ctx context.Context, id string) (any, func(), error) {
		sess := s.lookup(id)
		if sess == nil {
			return nil, nil, unknownSession(id)
		}
		options, err := sess.set(optionMode, p.ModeID)
		if err != nil {
			return nil, nil, err
		}
		raw, err := msg.Marshal(options)
		if err != nil {
			return nil, nil, fmt.Errorf("config options: %w", err)
		}
		sess.send(ctx, presenter.ConfigOptions{Options: raw})
		return empty{}, nil, nil
	})
}
