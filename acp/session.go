package acp

import (
	"context"
	"sync"

	"dsh-acp/internal/msg"
	"dsh-acp/presenter"
)

// A session is an open one: what the client sees of it, and its settings.
type session struct {
	srv    *Server
	opened *Opened
	cwd    string // as the client gave it
	// booleans says that the client takes options that are on or off.
	booleans bool
	// aside is for work beside the turns; end ends it, before Work is closed.
	aside context.Context
	end   context.CancelFunc
	// draw belongs to the replay first, then to the running turn.
	draw *presenter.Presenter

	mu     sync.Mutex
	mode   string            // guarded by mu
	model  string            // guarded by mu
	effort string            // as it was chosen; guarded by mu
	chosen map[string]string // values of the host's options; guarded by mu
	grants map[string]bool   // scopes; guarded by mu
	titled bool              // guarded by mu
}

// adopt makes an opened session known under its id. What was set in it before
// holds again.
func (s *Server) adopt(o *Opened, setup Setup) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	sess := &session{
		srv: s, opened: o, cwd: setup.Cwd, booleans: s.client.booleans,
		mode: o.Mode, model: o.Model, effort: o.Effort, chosen: map[string]string{}, grants: map[string]bool{},
		draw: presenter.New(presenter.Config{
			Cwd: setup.Cwd, Terminal: s.client.terminalOutput, Tools: s.cfg.Tools,
			// A replay announces its terminals anew, so none is dead.
			ReplayTerminals: true,
			CardTextMax:     o.CardTextMax,
			Compaction:      s.client.compaction,
		}),
	}
	sess.aside, sess.end = context.WithCancel(s.ctx)
	if !isMode(sess.mode) {
		sess.mode = ModeDefault
	}
	for _, e := range o.History {
		sess.restore(e)
	}
	s.sessions[o.ID] = sess
	return sess
}

// settings are the types of events that set something in a session.
var settings = map[string]bool{
	msg.ModeSet{}.EventType(): true, msg.Granted{}.EventType(): true, msg.Revoked{}.EventType(): true,
	msg.Titled{}.EventType(): true, msg.OptionSet{}.EventType(): true,
}

// restore takes a setting from the log. Unknown modes and models, from
// another version or another configuration, are passed over.
func (sess *session) restore(e msg.Event) {
	if !settings[e.Type] {
		return // most events are not, and decoding them takes time
	}
	p, err := msg.Decode(e)
	if err != nil {
		return
	}
	switch p := p.(type) {
	case msg.ModeSet:
		if isMode(p.Mode) {
			sess.mode = p.Mode
		}
	case msg.Granted:
		sess.grants[p.Scope] = true
	case msg.Revoked:
		delete(sess.grants, p.Scope)
	case msg.Titled:
		sess.titled = true
	case msg.OptionSet:
		sess.restoreOption(p)
	}
}

func (s *Server) lookup(id string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions[id]
}

// replay draws the whole history, and sends what was drawn if show is set.
// Without it the presenter still learns what the client has seen before. The
// history is needed no more after that, so it is let go.
func (sess *session) replay(ctx context.Context, show bool) {
	events, payloads := sess.opened.History, sess.opened.Payloads
	sess.opened.History, sess.opened.Payloads = nil, nil
	for i, e := range events {
		var updates []presenter.Update
		if payloads != nil {
			updates = sess.draw.ReplayPayload(payloads[i])
		} else {
			updates = sess.draw.Replay(e)
		}
		if !show {
			continue
		}
		for _, u := range updates {
			sess.send(ctx, u)
		}
	}
}

// send puts an update on its way. It waits while the client lags too far
// behind, but not after ctx has ended.
func (sess *session) send(ctx context.Context, u presenter.Update) {
	if c, ok := textOf(u); ok {
		c.session = sess.opened.ID
		sess.srv.out.putText(ctx, c)
		return
	}
	params, err := msg.Marshal(struct {
		SessionID string           `json:"sessionId"`
		Update    presenter.Update `json:"update"`
	}{sess.opened.ID, u})
	if err != nil {
		// The presenter's values always have JSON.
		panic("acp: update without JSON: " + err.Error())
	}
	sess.srv.out.putWait(ctx, notification("session/update", params))
}

// textOf returns the text of an update that may be merged with its like.
func textOf(u presenter.Update) (textChunk, bool) {
	var content presenter.ContentBlock
	c := textChunk{}
	switch u := u.(type) {
	case presenter.AgentMessageChunk:
		content, c.kind, c.message = u.Content, "agent_message_chunk", u.MessageID
	case presenter.AgentThoughtChunk:
		content, c.kind, c.message = u.Content, "agent_thought_chunk", u.MessageID
	default:
		return c, false
	}
	t, ok := content.Block.(msg.Text)
	c.text = []byte(t.Text)
	return c, ok
}
