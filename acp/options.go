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

// Ids of config options.
const (
	optionMode  = "mode"
	optionModel = "model"
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

type configOption struct {
	ID           string         `json:"id"`
	Name         string         `json:"name"`
	Description  string         `json:"description"`
	Category     string         `json:"category"`
	Type         string         `json:"type"` // always "select"
	CurrentValue string         `json:"currentValue"`
	Options      []optionChoice `json:"options"`
}

type optionChoice struct {
	Value       string `json:"value"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

func (sess *session) setupResult() setupResult {
	sess.mu.Lock()
	defer sess.mu.Unlock()
	return setupResult{
		Modes:         modesResult{Current: sess.mode, Available: modeInfos},
		ConfigOptions: sess.options(),
	}
}

// options draws the config options. The mode is among them since clients that
// know options ignore modes. mu is held.
func (sess *session) options() []configOption {
	mode := configOption{
		ID: optionMode, Name: "Mode", Description: "What the agent asks before it acts",
		Category: "mode", Type: "select", CurrentValue: sess.mode,
	}
	for _, m := range modeInfos {
		mode.Options = append(mode.Options, optionChoice{Value: m.ID, Name: m.Name, Description: m.Description})
	}
	out := []configOption{mode}
	if len(sess.opened.Models) == 0 {
		return out
	}
	model := configOption{
		ID: optionModel, Name: "Model", Description: "The model that answers",
		Category: "model", Type: "select", CurrentValue: sess.model,
	}
	for _, m := range sess.opened.Models {
		model.Options = append(model.Options, optionChoice{Value: m.ID, Name: m.Name, Description: m.Description})
	}
	return append(out, model)
}

func (sess *session) offers(model string) bool {
	return slices.ContainsFunc(sess.opened.Models, func(m Model) bool { return m.ID == model })
}

func (sess *session) currentModel() string {
	sess.mu.Lock()
	defer sess.mu.Unlock()
	return sess.model
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

type optionsResult struct {
	ConfigOptions []configOption `json:"configOptions"`
}

func (s *Server) setOption(r *request) {
	var p struct {
		ConfigID string          `json:"configId"`
		Value    json.RawMessage `json:"value"`
	}
	if err := json.Unmarshal(r.params, &p); err != nil {
		s.fail(r, badParams("session/set_config_option", r.params, err))
		return
	}
	s.onSession(r, func(_ context.Context, id string) (any, func(), error) {
		sess := s.lookup(id)
		if sess == nil {
			return nil, nil, unknownSession(id)
		}
		value, ok := optionText(p.Value)
		if !ok {
			return nil, nil, invalidParams("value: want the text of a choice, found %.80s", p.Value)
		}
		options, err := sess.set(p.ConfigID, value)
		return optionsResult{options}, nil, err
	})
}

// set changes one option and remembers it in the log. It returns all options.
func (sess *session) set(id, value string) ([]configOption, error) {
	sess.mu.Lock()
	defer sess.mu.Unlock()
	options := sess.options()
	at := slices.IndexFunc(options, func(o configOption) bool { return o.ID == id })
	if at < 0 {
		return nil, invalidParams("configId: there is no option %.80q", id)
	}
	if !slices.ContainsFunc(options[at].Options, func(c optionChoice) bool { return c.Value == value }) {
		return nil, invalidParams("%s: %.80q is not offered", id, value)
	}
	if options[at].CurrentValue == value {
		return options, nil
	}
	var change msg.Payload = msg.ModeSet{Mode: value}
	if id == optionModel {
		raw, err := msg.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("option %s: %w", id, err)
		}
		change = msg.OptionSet{ID: id, Value: raw}
	}
	if err := sess.opened.Work.Record(change); err != nil {
		return nil, fmt.Errorf("option %s: %w", id, err)
	}
	if id == optionModel {
		sess.model = value
	} else {
		sess.mode = value
	}
	return sess.options(), nil
}

func optionText(raw json.RawMessage) (string, bool) {
	var s string
	return s, len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil
}
