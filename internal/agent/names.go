package agent

import (
	"strconv"
	"sync"

	"dsh-acp/internal/msg"
)

// names sees to it that ids of messages and calls are never empty and never
// used twice in a session, as clients and the log demand. Services keep to
// that only mostly: some count calls anew in each answer. An id that is new
// stays as it is.
type names struct {
	used *idSet

	// of the answer that is streaming
	message string
	calls   []string          // ids given, in the order of the calls' start
	given   map[string]string // the service's id -> ours, the latest start
}

// recall marks the ids of a message of the past as used.
func (n *names) recall(m msg.Assistant) {
	n.take(m.ID)
	for _, u := range m.Content.ToolUses() {
		n.take(u.ID)
	}
}

func (n *names) take(id string) { n.used.take(id) }

// An idSet is the ids that a session has used, its helpers' included.
type idSet struct {
	mu  sync.Mutex
	ids map[string]bool // guarded by mu
}

// take reports whether the id was not in use yet, and marks it.
func (s *idSet) take(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ids[id] {
		return false
	}
	s.ids[id] = true
	return true
}

// fresh returns id, or one made from it if it is empty or taken.
func (n *names) fresh(id, fallback string) string {
	if id == "" {
		id = fallback
	}
	out := id
	for i := 2; !n.used.take(out); i++ {
		out = id + "-" + strconv.Itoa(i)
	}
	return out
}

// begin forgets the answer before.
func (n *names) begin() { n.message, n.calls, n.given = "", nil, map[string]string{} }

// delta returns d under the session's ids.
func (n *names) delta(d msg.Delta, newID func() string) msg.Delta {
	switch d := d.(type) {
	case msg.MessageStart:
		// A second one comes when the request was tried again.
		n.message = n.fresh(d.MessageID, newID())
		d.MessageID = n.message
		return d
	case msg.TextDelta:
		d.MessageID = n.current(newID)
		return d
	case msg.ThoughtDelta:
		d.MessageID = n.current(newID)
		return d
	case msg.ToolStart:
		id := n.fresh(d.CallID, "call_"+newID())
		n.given[d.CallID] = id
		n.calls = append(n.calls, id)
		d.CallID = id
		return d
	case msg.ToolInput:
		d.CallID = n.call(d.CallID)
		return d
	case msg.ToolReady:
		d.Use.ID = n.call(d.Use.ID)
		return d
	case msg.UsageDelta:
		return d
	default:
		panic("agent: unknown delta")
	}
}

func (n *names) current(newID func() string) string {
	if n.message == "" {
		n.message = n.fresh("", newID())
	}
	return n.message
}

func (n *names) call(id string) string {
	if ours, ok := n.given[id]; ok {
		return ours
	}
	return id
}

// reply returns the whole answer under the ids that its deltas had.
func (n *names) reply(m msg.Assistant, newID func() string) msg.Assistant {
	if n.message == "" {
		n.message = n.fresh(m.ID, newID())
	}
	m.ID = n.message
	content := make(msg.Blocks, len(m.Content))
	calls := 0
	for i, b := range m.Content {
		if u, ok := b.(msg.ToolUse); ok {
			if calls < len(n.calls) {
				u.ID = n.calls[calls]
			} else {
				u.ID = n.fresh(u.ID, "call_"+newID())
			}
			calls++
			b = u
		}
		content[i] = b
	}
	m.Content = content
	return m
}
