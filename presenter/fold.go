package presenter

import (
	"bytes"
	"encoding/json"
	"fmt"

	"dsh-acp/internal/msg"
)

// A Client is what an editor holds of a session after the updates that it was
// sent. It is for tests and for the conformance harness, so it takes raw JSON,
// also that of other agents, and is strict where an editor would show an
// error. The zero Client holds nothing and is ready for use. It is not safe
// for concurrent use.
type Client struct {
	// Entries are the conversation, in the order in which a user sees it.
	Entries []Entry
	// Plan is the list of plan entries in canonical JSON, nil if none came.
	Plan json.RawMessage
	// Mode is the current mode, as told by updates; "" if none was.
	Mode string
	// Title is the session's, "" if none came.
	Title string
	// Usage is the last usage_update in canonical JSON, nil if none came.
	Usage json.RawMessage
	// Other holds the last update of each other kind, such as
	// available_commands_update, in canonical JSON.
	Other map[string]json.RawMessage

	calls map[string]*Call
}

// An Entry is a message or a tool call; exactly one of the two is set.
type Entry struct {
	Message *Message
	Call    *Call
}

// A Message is a run of chunks of one kind and id, with nothing between them.
type Message struct {
	Kind string // user_message_chunk, agent_message_chunk or agent_thought_chunk
	ID   string // "" if the agent gives none
	// Blocks are the contents that are not text, in canonical JSON.
	Blocks []json.RawMessage

	text []byte
}

// Text is that of the message's text blocks, joined as they came.
func (m *Message) Text() string { return string(m.text) }

// A Call is a tool call as the client holds it. JSON is canonical: keys are
// sorted, so that equal values have equal bytes. nil was never sent.
type Call struct {
	ID, Name, Title, Kind, Status string

	Content   []json.RawMessage
	Locations []json.RawMessage
	RawInput  json.RawMessage
	RawOutput json.RawMessage
}

// Call returns the call with the id, nil if the client knows none. The value
// is the client's own and changes with the next updates.
func (c *Client) Call(id string) *Call { return c.calls[id] }

// Apply takes one session/update: the value of "update". It fails, and
// changes nothing, for what is no update, and for a tool_call_update whose
// call is not known, which editors show as a broken call.
func (c *Client) Apply(update json.RawMessage) error {
	var u struct {
		Kind      string          `json:"sessionUpdate"`
		Content   json.RawMessage `json:"content"`
		MessageID string          `json:"messageId"`
		Entries   json.RawMessage `json:"entries"`
		ModeID    string          `json:"currentModeId"`
		Title     *string         `json:"title"`
	}
	if err := json.Unmarshal(update, &u); err != nil {
		return fmt.Errorf("session update: %w", err)
	}
	switch u.Kind {
	case "":
		return fmt.Errorf("session update: no sessionUpdate in %s", update)
	case "user_message_chunk", "agent_message_chunk", "agent_thought_chunk":
		return c.chunk(u.Kind, u.MessageID, u.Content)
	case "tool_call":
		return c.Upsert(update)
	case "tool_call_update":
		return c.upsert(update, false)
	case "plan":
		if absent(u.Entries) {
			return fmt.Errorf("plan: no entries in %s", update)
		}
		c.Plan = canonical(u.Entries)
	case "current_mode_update":
		c.Mode = u.ModeID
	case "session_info_update":
		if u.Title != nil {
			c.Title = *u.Title
		}
	case "usage_update":
		c.Usage = canonical(update)
	default:
		if c.Other == nil {
			c.Other = map[string]json.RawMessage{}
		}
		c.Other[u.Kind] = canonical(update)
	}
	return nil
}

// Upsert takes a whole call, from a tool_call or from the question of a
// permission request: a new one, or new values of one that is known.
func (c *Client) Upsert(toolCall json.RawMessage) error { return c.upsert(toolCall, true) }

func (c *Client) upsert(raw json.RawMessage, create bool) error {
	var f struct {
		ID        string          `json:"toolCallId"`
		Name      *string         `json:"name"`
		Title     *string         `json:"title"`
		Kind      *string         `json:"kind"`
		Status    *string         `json:"status"`
		Content   json.RawMessage `json:"content"`
		Locations json.RawMessage `json:"locations"`
		RawInput  json.RawMessage `json:"rawInput"`
		RawOutput json.RawMessage `json:"rawOutput"`
	}
	if err := json.Unmarshal(raw, &f); err != nil {
		return fmt.Errorf("tool call: %w", err)
	}
	if f.ID == "" {
		return fmt.Errorf("tool call: no toolCallId in %s", raw)
	}
	content, err := list(f.Content)
	if err != nil {
		return fmt.Errorf("tool call %s: content: %w", f.ID, err)
	}
	locations, err := list(f.Locations)
	if err != nil {
		return fmt.Errorf("tool call %s: locations: %w", f.ID, err)
	}
	call := c.calls[f.ID]
	if call == nil {
		if !create {
			return fmt.Errorf("tool call %s: updated, but never announced", f.ID)
		}
		call = &Call{ID: f.ID}
		if c.calls == nil {
			c.calls = map[string]*Call{}
		}
		c.calls[f.ID] = call
		c.Entries = append(c.Entries, Entry{Call: call})
	}
	set(&call.Name, f.Name)
	set(&call.Title, f.Title)
	set(&call.Kind, f.Kind)
	set(&call.Status, f.Status)
	if content != nil {
		call.Content = content
	}
	if locations != nil {
		call.Locations = locations
	}
	if !absent(f.RawInput) {
		call.RawInput = canonical(f.RawInput)
	}
	if !absent(f.RawOutput) {
		call.RawOutput = canonical(f.RawOutput)
	}
	return nil
}

func (c *Client) chunk(kind, id string, content json.RawMessage) error {
	var block struct {
		Type string  `json:"type"`
		Text *string `json:"text"`
	}
	if err := json.Unmarshal(content, &block); err != nil {
		return fmt.Errorf("%s: content: %w", kind, err)
	}
	if block.Type == "text" && block.Text == nil {
		return fmt.Errorf("%s: text block without text", kind)
	}
	var m *Message
	if n := len(c.Entries); n > 0 {
		m = c.Entries[n-1].Message
	}
	if m == nil || m.Kind != kind || m.ID != id {
		m = &Message{Kind: kind, ID: id}
		c.Entries = append(c.Entries, Entry{Message: m})
	}
	if block.Type == "text" {
		m.text = append(m.text, *block.Text...)
	} else {
		m.Blocks = append(m.Blocks, canonical(content))
	}
	return nil
}

func set(field, value *string) {
	if value != nil {
		*field = *value
	}
}

// absent reports whether a field keeps what the client holds: the first
// version of the protocol reads null like a missing field.
func absent(raw json.RawMessage) bool {
	return len(raw) == 0 || string(raw) == "null"
}

// list splits an array into canonical elements: nil if it is absent, never
// nil if it is there.
func list(raw json.RawMessage) ([]json.RawMessage, error) {
	if absent(raw) {
		return nil, nil
	}
	out := []json.RawMessage{}
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, err
	}
	for i := range out {
		out[i] = canonical(out[i])
	}
	return out, nil
}

// canonical writes valid JSON with sorted keys and without spaces. Numbers
// keep their digits.
func canonical(raw json.RawMessage) json.RawMessage {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return raw
	}
	out, err := msg.Marshal(v)
	if err != nil {
		return raw
	}
	return out
}
