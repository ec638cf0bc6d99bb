package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"dsh-acp/internal/msg"
)

// Ids of config options that every host has. Those of a host's own must differ.
const (
	optionMode   = "mode"
	optionModel  = "model"
	optionEffort = "effort"
)

// effortDefault leaves the thought level to the model.
const effortDefault = "default"

// Values of an option that is on or off.
const (
	valueOn  = "true"
	valueOff = "false"
)

type configOption struct {
	ID           string         `json:"id"`
	Name         string         `json:"name"`
	Description  string         `json:"description,omitempty"`
	Category     string         `json:"category,omitempty"`
	Type         string         `json:"type"`              // "select" or "boolean"
	CurrentValue any            `json:"currentValue"`      // a string or a bool, as Type says
	Options      []optionChoice `json:"options,omitempty"` // of a select

	value string // CurrentValue as a text
}

type optionChoice struct {
	Value       string `json:"value"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// selected makes an option of choices.
func selected(o configOption, value string, choices []optionChoice) configOption {
	o.Type, o.CurrentValue, o.value, o.Options = "select", value, value, choices
	return o
}

// onOff makes an option that is on or off, in the form that the client takes.
func onOff(o configOption, value string, booleans bool) configOption {
	if !booleans {
		return selected(o, value, []optionChoice{{Value: valueOn, Name: "On"}, {Value: valueOff, Name: "Off"}})
	}
	o.Type, o.CurrentValue, o.value = "boolean", value == valueOn, value
	return o
}

// takes reports whether a value may be chosen.
func (o configOption) takes(value string) bool {
	if o.Type == "boolean" {
		return value == valueOn || value == valueOff
	}
	return slices.ContainsFunc(o.Options, func(c optionChoice) bool { return c.Value == value })
}

// values names what may be chosen.
func (o configOption) values() string {
	if o.Type == "boolean" {
		return valueOn + " or " + valueOff
	}
	var names []string
	for _, c := range o.Options {
		names = append(names, c.Value)
	}
	return strings.Join(names, ", ")
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
	var modes []optionChoice
	for _, m := range modeInfos {
		modes = append(modes, optionChoice{Value: m.ID, Name: m.Name, Description: m.Description})
	}
	out := []configOption{selected(configOption{
		ID: optionMode, Name: "Mode", Description: "What the agent asks before it acts", Category: "mode",
	}, sess.mode, modes)}
	if len(sess.opened.Models) > 0 {
		var models []optionChoice
		for _, m := range sess.opened.Models {
			models = append(models, optionChoice{Value: m.ID, Name: m.Name, Description: m.Description})
		}
		out = append(out, selected(configOption{
			ID: optionModel, Name: "Model", Description: "The model that answers", Category: "model",
		}, sess.model, models))
	}
	if efforts := sess.efforts(); len(efforts) > 0 {
		levels := []optionChoice{{Value: effortDefault, Name: "Default", Description: "As the model's service has it"}}
		for _, e := range efforts {
			levels = append(levels, optionChoice{Value: e, Name: strings.ToUpper(e[:1]) + e[1:]})
		}
		out = append(out, selected(configOption{
			ID: optionEffort, Name: "Thinking", Description: "How much the model thinks before it answers", Category: "thought_level",
		}, cmp.Or(sess.currentEffort(), effortDefault), levels))
	}
	for _, o := range sess.opened.Options {
		head := configOption{ID: o.ID, Name: o.Name, Description: o.Description}
		value := sess.optionValue(o)
		if o.Choices == nil {
			out = append(out, onOff(head, value, sess.booleans))
			continue
		}
		var choices []optionChoice
		for _, c := range o.Choices {
			choices = append(choices, optionChoice(c))
		}
		out = append(out, selected(head, value, choices))
	}
	return out
}

// efforts are the thought levels of the model in force. mu is held.
func (sess *session) efforts() []string {
	for _, m := range sess.opened.Models {
		if m.ID == sess.model {
			return m.Efforts
		}
	}
	return nil
}

// currentEffort is the level that was chosen, if the model in force has it;
// else "". mu is held.
func (sess *session) currentEffort() string {
	if slices.Contains(sess.efforts(), sess.effort) {
		return sess.effort
	}
	return ""
}

// optionValue is the value in force of an option of the host's. mu is held.
func (sess *session) optionValue(o Option) string {
	if v, ok := sess.chosen[o.ID]; ok {
		return v
	}
	return o.Value
}

// choices are the values in force.
func (sess *session) choices() Choices {
	sess.mu.Lock()
	defer sess.mu.Unlock()
	out := Choices{Model: sess.model, Effort: sess.currentEffort(), Options: map[string]string{}}
	for _, o := range sess.opened.Options {
		out.Options[o.ID] = sess.optionValue(o)
	}
	return out
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
			return nil, nil, invalidParams("value: want the text of a choice, or true or false, found %.80s", p.Value)
		}
		options, err := sess.set(p.ConfigID, value)
		return optionsResult{options}, nil, err
	})
}

// set changes one option and remembers it in the log. It returns all options,
// since one may decide what another offers.
func (sess *session) set(id, value string) ([]configOption, error) {
	sess.mu.Lock()
	defer sess.mu.Unlock()
	options := sess.options()
	at := slices.IndexFunc(options, func(o configOption) bool { return o.ID == id })
	if at < 0 {
		var ids []string
		for _, o := range options {
			ids = append(ids, o.ID)
		}
		return nil, invalidParams("configId: there is no option %.80q; the options are %s", id, strings.Join(ids, ", "))
	}
	switch option := options[at]; {
	case !option.takes(value):
		return nil, invalidParams("%s: %.80q is not offered; the values are %s", id, value, option.values())
	case option.value == value:
		return options, nil
	}
	change, err := optionChange(id, value)
	if err != nil {
		return nil, fmt.Errorf("option %s: %w", id, err)
	}
	if err := sess.opened.Work.Record(change); err != nil {
		return nil, fmt.Errorf("option %s: %w", id, err)
	}
	sess.take(id, value)
	return sess.options(), nil
}

func optionChange(id, value string) (msg.Payload, error) {
	if id == optionMode {
		return msg.ModeSet{Mode: value}, nil
	}
	raw, err := msg.Marshal(value)
	return msg.OptionSet{ID: id, Value: raw}, err
}

// take puts a value in force. mu is held.
func (sess *session) take(id, value string) {
	switch id {
	case optionMode:
		sess.mode = value
	case optionModel:
		sess.model = value
	case optionEffort:
		sess.effort = value
	default:
		sess.chosen[id] = value
	}
}

// restoreOption takes a value from the log, if it may still be chosen. A
// thought level is kept for when a model that has it is chosen.
func (sess *session) restoreOption(p msg.OptionSet) {
	value, ok := optionText(p.Value)
	if !ok || p.ID == optionMode {
		return // modes have an event of their own
	}
	takes := func(o configOption) bool { return o.ID == p.ID && o.takes(value) }
	if p.ID == optionEffort || slices.ContainsFunc(sess.options(), takes) {
		sess.take(p.ID, value)
	}
}

// optionText reads a value, which is a string, or a bool for an option that
// is on or off.
func optionText(raw json.RawMessage) (string, bool) {
	switch s := string(raw); {
	case s == valueOn, s == valueOff:
		return s, true
	case len(raw) > 0 && raw[0] == '"':
		var text string
		err := json.Unmarshal(raw, &text)
		return text, err == nil
	}
	return "", false
}
