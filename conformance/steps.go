package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"dsh-acp/internal/acpschema"
	"dsh-acp/internal/msg"
)

// A step is one request of the client with what the agent sent until the
// next one.
type step struct {
	Label    string // "prompt:0", "session/new", …
	Method   string
	Response *acpschema.Message // nil if none came
	Events   []event            // before the response
	Late     []event            // after it
	Asked    []any              // requests about the client's files and terminals, in order
	CancelAt int                // number of events before the client's session/cancel, -1 if it sent none
	// Beside counts what is only checked for its shape, by kind.
	Beside map[string]int
	// Vendor counts what belongs to the agent's vendor alone, by name.
	Vendor map[string]int
}

// Kinds of an event. Those of tool calls are the wire's words.
const (
	kindCall       = "tool_call"
	kindUpdate     = "tool_call_update"
	kindPermission = "permission request"
	kindPlan       = "plan"
	kindChunk      = "chunk"
)

// An event is what a client shows or asks.
type event struct {
	Kind    string
	Call    string         // of tool calls and permission requests
	Fields  map[string]any // of tool calls, permission requests and plans
	Meta    map[string]any // _meta without the vendors' own keys
	Vendor  bool           // there was a vendor's key in _meta
	Allowed bool           // of a permission request: it was answered with consent
	Source  string         // of a chunk: the update's name
	Text    string         // of a chunk
	ID      string         // of a chunk: its message
}

// vendorMeta are the keys of _meta that agents use for themselves.
var vendorMeta = []string{"claudeCode", "dsh"}

// parseSteps cuts a trace at the client's requests.
func parseSteps(entries []Entry) []step {
	var out []step
	prompts := 0
	asked := map[string]acpschema.Message{} // open permission requests, by id
	for _, e := range entries {
		var m acpschema.Message
		if json.Unmarshal(e.Message, &m) != nil {
			continue // told by the schema check
		}
		if e.From == fromClient && m.IsRequest() {
			s := step{Label: m.Method, Method: m.Method, CancelAt: -1, Beside: map[string]int{}, Vendor: map[string]int{}}
			if m.Method == "session/prompt" {
				s.Label = fmt.Sprintf("prompt:%d", prompts)
				prompts++
			}
			out = append(out, s)
			continue
		}
		if len(out) == 0 {
			continue
		}
		s := &out[len(out)-1]
		switch {
		case e.From == fromClient && m.Method == "session/cancel":
			s.CancelAt = len(s.Events)
		case e.From == fromClient:
			if q, ok := asked[string(m.ID)]; ok && consent(q, m) {
				s.allow(q)
			}
			delete(asked, string(m.ID))
		case m.Method == "":
			s.Response = &m
		default:
			if m.Method == "session/request_permission" {
				asked[string(m.ID)] = m
			}
			s.take(m)
		}
	}
	return out
}

// consent reports whether the answer to a permission request allows the call.
func consent(question, answer acpschema.Message) bool {
	var q struct {
		Options []struct {
			ID   string `json:"optionId"`
			Kind string `json:"kind"`
		} `json:"options"`
	}
	var a struct {
		Outcome struct {
			ID string `json:"optionId"`
		} `json:"outcome"`
	}
	if json.Unmarshal(question.Params, &q) != nil || json.Unmarshal(answer.Result, &a) != nil {
		return false
	}
	for _, o := range q.Options {
		if o.ID == a.Outcome.ID {
			return strings.HasPrefix(o.Kind, "allow")
		}
	}
	return false
}

// allow marks the event of a permission request.
func (s *step) allow(question acpschema.Message) {
	p, _ := decodeAny(question.Params).(map[string]any)
	call, _ := p["toolCall"].(map[string]any)
	for i := len(s.Events) - 1; i >= 0; i-- {
		if e := &s.Events[i]; e.Kind == kindPermission && e.Call == call["toolCallId"] {
			e.Allowed = true
			return
		}
	}
}

func (s *step) take(m acpschema.Message) {
	var ev event
	switch {
	case m.Method == "session/request_permission":
		p, _ := decodeAny(m.Params).(map[string]any)
		call, _ := p["toolCall"].(map[string]any)
		ev = callEvent(kindPermission, call)
		ev.Fields["options"] = p["options"]
	case m.Method == "session/update":
		var p struct {
			Update json.RawMessage `json:"update"`
		}
		_ = json.Unmarshal(m.Params, &p) // told by the schema check
		u, _ := decodeAny(p.Update).(map[string]any)
		kind, _ := u["sessionUpdate"].(string)
		switch kind {
		case kindCall, kindUpdate:
			ev = callEvent(kind, u)
		case kindPlan:
			ev = event{Kind: kindPlan, Fields: map[string]any{"entries": u["entries"]}}
		case "agent_message_chunk", "agent_thought_chunk", "user_message_chunk":
			ev = chunkEvent(kind, u)
			if isNotice(u) {
				s.Vendor[kind]++
				return
			}
		default:
			s.Beside[kind]++
			return
		}
	case strings.HasPrefix(m.Method, "_"):
		s.Vendor[m.Method]++
		return
	case strings.HasPrefix(m.Method, "fs/"), strings.HasPrefix(m.Method, "terminal/"):
		s.Asked = append(s.Asked, map[string]any{"method": m.Method, "params": decodeAny(m.Params)})
		return
	default:
		return // $/cancel_request: not compared
	}
	if s.Response != nil {
		s.Late = append(s.Late, ev)
		return
	}
	s.Events = append(s.Events, ev)
}

func callEvent(kind string, u map[string]any) event {
	ev := event{Kind: kind, Fields: map[string]any{}}
	ev.Call, _ = u["toolCallId"].(string)
	for k, v := range u {
		switch k {
		case "toolCallId", "sessionUpdate":
		case "_meta":
			meta, _ := v.(map[string]any)
			for mk, mv := range meta {
				if slices.Contains(vendorMeta, mk) {
					ev.Vendor = true
					continue
				}
				if ev.Meta == nil {
					ev.Meta = map[string]any{}
				}
				ev.Meta[mk] = mv
			}
		default:
			ev.Fields[k] = v
		}
	}
	return ev
}

func chunkEvent(kind string, u map[string]any) event {
	ev := event{Kind: kindChunk, Source: kind}
	ev.ID, _ = u["messageId"].(string)
	c, _ := u["content"].(map[string]any)
	if text, ok := c["text"].(string); ok && c["type"] == "text" {
		ev.Text = text
	} else {
		ev.Text = show(u["content"])
	}
	return ev
}

// isNotice tells a vendor's notice in the shape of a message.
func isNotice(u map[string]any) bool {
	meta, _ := u["_meta"].(map[string]any)
	vendor, _ := meta["claudeCode"].(map[string]any)
	return vendor["kind"] == "informational"
}

// A passage is the text of one message, or a part of it between other events.
type passage struct {
	Source string
	Text   string
}

// passages joins the chunks of evs. Whether the messages' ids count is up to
// the caller, as an agent need not send any.
func passages(evs []event, ids bool) []passage {
	var out []passage
	open, last := false, ""
	for _, e := range evs {
		switch e.Kind {
		case kindChunk:
			if n := len(out); open && out[n-1].Source == e.Source && (!ids || last == e.ID) {
				out[n-1].Text += e.Text
			} else {
				out = append(out, passage{e.Source, e.Text})
			}
			open, last = true, e.ID
		case kindCall, kindPlan:
			open = false
		}
	}
	return out
}

func haveIDs(evs []event) bool {
	for _, e := range evs {
		if e.Kind == kindChunk && e.ID == "" {
			return false
		}
	}
	return true
}

// outline is the order in which things begin to show.
func outline(evs []event, ids bool) []string {
	var out []string
	seen := 0
	for i, e := range evs {
		switch e.Kind {
		case kindChunk:
			if n := len(passages(evs[:i+1], ids)); n > seen {
				seen = n
				out = append(out, e.Source)
			}
		case kindCall:
			out = append(out, "call "+e.Call)
		case kindPlan:
			out = append(out, kindPlan)
		}
	}
	return out
}

// decodeAny decodes JSON with exact numbers; nil for what is no JSON.
func decodeAny(raw json.RawMessage) any {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

// absent stands for a field that was not sent.
type absent struct{}

// show writes a value for a report.
func show(v any) string {
	if _, ok := v.(absent); ok {
		return "(absent)"
	}
	b, err := msg.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

func equal(a, b any) bool { return reflect.DeepEqual(a, b) }

func isText(b []byte) bool { return utf8.Valid(b) && bytes.IndexByte(b, 0) < 0 }
