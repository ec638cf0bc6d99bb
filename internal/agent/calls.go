package agent

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"dsh-acp/internal/msg"
)

// calls carries out the calls of an answer and reports whether there was one
// that could run. Calls go in order; those that only look and stand next to
// each other run together. A call that may change something is planned after
// all before it are done, so that its plan sees their work.
func (t *turn) calls(ctx context.Context, answer msg.Assistant) (ran bool, err error) {
	uses := answer.Content.ToolUses()
	looks := newBatch(len(uses))
	defer looks.giveUp()
	for _, u := range uses {
		if u.Cut {
			if err := t.returned(u, cutResult(u)); err != nil {
				return ran, err
			}
			continue
		}
		if answer.StopReason == msg.StopRefusal {
			if err := t.returned(u, msg.Failed(msg.CodeAbortedUnstarted, "The call was not run, since the answer ended as a refusal.")); err != nil {
				return ran, err
			}
			continue
		}
		ran = true
		if ctx.Err() != nil || t.ended {
			break // the rest is closed at the end of the turn
		}
		if err := t.call(ctx, u, looks); err != nil {
			return ran, err
		}
	}
	return ran, t.wait(ctx, looks, 0)
}

// call takes one request as far as it goes without waiting for a look.
func (t *turn) call(ctx context.Context, u msg.ToolUse, looks *batch) error {
	plan, need, refused := t.plan(ctx, u)
	if refused != nil {
		return t.returned(u, *refused)
	}
	if need.Access != Look {
		if err := t.wait(ctx, looks, 0); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return nil
		}
	}
	plan, refused, err := t.approve(ctx, u, plan, need)
	switch {
	case err != nil:
		return err
	case refused != nil:
		return t.returned(u, *refused)
	case plan == nil:
		return nil
	}
	if err := t.wait(ctx, looks, MaxParallel-1); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return nil
	}
	if err := t.add(msg.ToolCall{Turn: t.n, Step: t.step, CallID: u.ID, Name: u.Name, Arguments: u.Input}); err != nil {
		return err
	}
	if need.Access == Look {
		looks.start(ctx, t, u, plan)
		return nil
	}
	if err := t.sync(); err != nil {
		return err
	}
	alone := newBatch(1)
	defer alone.giveUp()
	alone.start(ctx, t, u, plan)
	return t.wait(ctx, alone, 0)
}

// plan asks the toolbox what the call would do. A tool that breaks over its
// arguments ends the call.
func (t *turn) plan(ctx context.Context, u msg.ToolUse) (p Plan, n Need, refused *msg.ToolResult) {
	defer func() {
		if v := recover(); v != nil {
			t.s.panicked("planning "+u.Name, v, debug.Stack())
			r := msg.Failed(msg.CodePanic, fmt.Sprintf("The tool %s broke while it looked at the arguments (%v). The call did not run.", u.Name, v))
			p, refused = nil, &r
		}
	}()
	p, refused = t.s.cfg.Tools.Plan(ctx, u)
	if refused == nil && p == nil {
		panic("neither a plan nor a result")
	}
	if refused == nil {
		n = p.Need()
	}
	return p, n, refused
}

// A batch is a set of running calls.
type batch struct {
	running []msg.ToolUse
	done    chan settled  // room for all, so that an abandoned call can end
	acts    chan act      // what running calls want done by the turn's goroutine
	left    chan struct{} // closed when the turn has given the calls up
	once    sync.Once
}

// An act is done on the turn's goroutine while the call waits.
type act struct {
	do   func()
	done chan struct{}
}

type settled struct {
	use    msg.ToolUse
	result msg.ToolResult
}

// take does the act. The call goes on even if the act panics.
func (a act) take() {
	defer close(a.done)
	a.do()
}

// giveUp lets calls that still run go on without the turn.
func (b *batch) giveUp() { b.once.Do(func() { close(b.left) }) }

func newBatch(most int) *batch {
	return &batch{done: make(chan settled, most), acts: make(chan act), left: make(chan struct{})}
}

func (b *batch) start(ctx context.Context, t *turn, u msg.ToolUse, p Plan) {
	s := t.s
	b.running = append(b.running, u)
	go func() {
		r := msg.Failed(msg.CodePanic, "")
		defer func() {
			if v := recover(); v != nil {
				s.panicked("running "+u.Name, v, debug.Stack())
				r = msg.Failed(msg.CodePanic, fmt.Sprintf("The tool %s broke while it ran (%v). "+
					"Its work may be done in part: check before you try again.", u.Name, v))
			}
			b.done <- settled{u, r}
		}()
		if live, ok := p.(Live); ok {
			r = live.RunLive(ctx, &stage{turn: t, batch: b, call: u.ID})
			return
		}
		r = p.Run(ctx)
	}()
}

// wait takes results until at most left calls of the batch run. When ctx ends
// it gives them a little time to stop by themselves, and then closes them:
// the turn must not hang on a tool.
func (t *turn) wait(ctx context.Context, b *batch, left int) error {
	ended := ctx.Done()
	var late <-chan time.Time
	for len(b.running) > left {
		select {
		case s := <-b.done:
			b.running = slices.DeleteFunc(b.running, func(u msg.ToolUse) bool { return u.ID == s.use.ID })
			r := s.result
			if r.IsError && r.Error == nil && ctx.Err() != nil {
				r.Error = &msg.ErrorInfo{Name: "ToolError", Code: msg.CodeAborted}
			}
			if err := t.returned(s.use, r); err != nil {
				return err
			}
		case a := <-b.acts:
			a.take()
		case <-ended:
			ended, left = nil, 0
			timer := time.NewTimer(t.s.cfg.Grace)
			defer timer.Stop()
			late = timer.C
		case <-late:
			for _, u := range b.running {
				if err := t.returned(u, msg.Failed(msg.CodeOutcomeUnknown, "The turn was cancelled, and the tool "+u.Name+
					" did not stop in time. It may have done its work, in part or in full: check before you repeat it.")); err != nil {
					return err
				}
			}
			b.running = nil
			b.giveUp()
		}
	}
	return nil
}

// returned commits the result of a call. Data that cannot be stored is left
// out and said to be: the work is done, and must not look as if it were not.
func (t *turn) returned(u msg.ToolUse, r msg.ToolResult) error {
	r = storable(r)
	return t.add(msg.ToolReturned{Turn: t.n, Step: t.step, Error: r.Error, Meta: r.Meta,
		Message: msg.ToolMessage{Role: "tool", CallID: u.ID, Content: r.Content, IsError: r.IsError}})
}
