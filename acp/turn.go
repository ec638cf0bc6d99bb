package acp

import (
	"context"
	"errors"
	"fmt"

	"dsh-acp/internal/msg"
)

// A turn is a prompt that was read and not answered yet. It can be cancelled
// from the moment it was read.
type turn struct {
	req     *request
	session string
	owner   *session // once its session has taken it over; guarded by Server.mu
	prompt  msg.Blocks
	ctx     context.Context
	cancel  context.CancelCauseFunc
	release func()
}

// errTurnCancelled is the cause when the user ended the turn: it is answered
// with a stop reason, where a withdrawn request is answered with an error.
var errTurnCancelled = errors.New("the turn was cancelled")

type promptResult struct {
	StopReason string     `json:"stopReason"`
	Meta       promptMeta `json:"_meta"`
}

// promptMeta holds our own key. The tokens of a turn are there since the
// protocol's stable part has no place for them in this answer.
type promptMeta struct {
	Dsh struct {
		Usage promptUsage `json:"usage"`
	} `json:"dsh"`
}

type promptUsage struct {
	Input       int64 `json:"inputTokens"`
	Output      int64 `json:"outputTokens"`
	CachedRead  int64 `json:"cachedReadTokens"`
	CachedWrite int64 `json:"cachedWriteTokens"`
	Total       int64 `json:"totalTokens"`
}

// prompt admits a turn. It takes its place behind what was read before it: a
// load of the session first, then the turns in their order.
func (s *Server) prompt(r *request) {
	id, blocks, err := decodePrompt(r.params)
	if err != nil {
		s.fail(r, err)
		return
	}
	t := &turn{req: r, session: id, prompt: blocks}
	t.ctx, t.cancel = context.WithCancelCause(s.ctx)
	t.release = s.track(r, t.cancel)
	s.mu.Lock()
	s.turns[id] = append(s.turns[id], t)
	s.mu.Unlock()
	s.control.do(id, func() {
		sess := s.lookup(id)
		if sess == nil {
			s.finish(t, Outcome{}, unknownSession(id))
			return
		}
		s.mu.Lock()
		t.owner = sess
		s.mu.Unlock()
		s.work.do(id, func() { s.runTurn(sess, t) })
	})
}

// cancelTurns ends the running turn of a session and those queued behind it.
func (s *Server) cancelTurns(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.turns[id] {
		t.cancel(errTurnCancelled)
	}
}

// cancelStarted ends the turns that a session has taken over already, but not
// a prompt that was read after the request which closes the session.
func (s *Server) cancelStarted(sess *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.turns[sess.opened.ID] {
		if t.owner == sess {
			t.cancel(errTurnCancelled)
		}
	}
}

func (s *Server) cancelAllTurns() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, turns := range s.turns {
		for _, t := range turns {
			t.cancel(errTurnCancelled)
		}
	}
}

func (s *Server) runTurn(sess *session, t *turn) {
	defer func() {
		if v := recover(); v != nil {
			s.logPanic(t.req.method, v)
			s.finish(t, Outcome{}, fmt.Errorf("session/prompt: %v", v))
		}
	}()
	if t.ctx.Err() != nil {
		s.finish(t, Outcome{}, nil)
		return
	}
	command := commandOf(t.prompt, sess.opened.Commands)
	first := command == nil && sess.giveTitle(t)
	sink := &sink{sess: sess, ctx: t.ctx}
	out, err := sess.opened.Work.Run(t.ctx, Turn{
		Prompt: t.prompt, Command: command, Choices: sess.choices, Sink: sink, Approver: approver{sess}, Grants: grants{sess},
		Terminals: sess.terminals(),
	})
	s.finish(t, out, err)
	if first && err == nil && out.Stop == StopEndTurn {
		sess.betterTitle(t.prompt)
	}
}

// finish answers the prompt, once. A turn that was cancelled is answered so
// even if it had just come to its end: the client has told its user already.
func (s *Server) finish(t *turn, out Outcome, err error) {
	s.mu.Lock()
	rest := s.turns[t.session][:0]
	for _, other := range s.turns[t.session] {
		if other != t {
			rest = append(rest, other)
		}
	}
	s.turns[t.session] = rest
	if len(rest) == 0 {
		delete(s.turns, t.session)
	}
	s.mu.Unlock()
	cause := context.Cause(t.ctx)
	t.release()
	defer t.cancel(nil)
	switch {
	case errors.Is(cause, errCancelled):
		s.fail(t.req, errCancelled)
		return
	case cause != nil:
		out.Stop = StopCancelled
	case err != nil:
		s.cfg.Log.Warn().Str("session", t.session).Err(err).Msg("the turn failed")
		s.fail(t.req, err)
		return
	}
	u, res := out.Usage, promptResult{StopReason: out.Stop}
	res.Meta.Dsh.Usage = promptUsage{
		Input: u.Input, Output: u.Output, CachedRead: u.CachedRead, CachedWrite: u.CachedWrite,
		Total: u.Input + u.Output + u.CachedRead + u.CachedWrite,
	}
	s.answer(t.req, res)
}

// A sink draws what a turn does and sends it.
type sink struct {
	sess *session
	ctx  context.Context
}

func (k *sink) Delta(d msg.Delta) {
	for _, u := range k.sess.draw.Delta(d) {
		k.sess.send(k.ctx, u)
	}
}

func (k *sink) Event(e msg.Event) {
	for _, u := range k.sess.draw.Event(e) {
		k.sess.send(k.ctx, u)
	}
}
