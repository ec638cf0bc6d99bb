package agent

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/model"
	"dsh-acp/internal/msg"
)

// liveBox is a box whose tool "live" runs on a stage.
type liveBox struct {
	*box
	run func(ctx context.Context, s Stage) msg.ToolResult
}

func (b *liveBox) Specs() []msg.ToolSpec { return append(b.box.Specs(), msg.ToolSpec{Name: "live"}) }

func (b *liveBox) Plan(ctx context.Context, u msg.ToolUse) (Plan, *msg.ToolResult) {
	p, r := b.box.Plan(ctx, u)
	if u.Name != "live" || r != nil {
		return p, r
	}
	return &livePlan{p, b.run}, nil
}

type livePlan struct {
	Plan
	run func(ctx context.Context, s Stage) msg.ToolResult
}

func (p *livePlan) Need() Need { return Need{Access: Look} }

func (p *livePlan) RunLive(ctx context.Context, s Stage) msg.ToolResult { return p.run(ctx, s) }

// answers is a model that gives its answers in order and keeps the requests.
type answers struct {
	list []msg.Assistant
	reqs []model.Request
}

func (a *answers) Stream(ctx context.Context, req model.Request, _ func(msg.Delta)) (model.Reply, error) {
	if err := ctx.Err(); err != nil {
		return model.Reply{}, err
	}
	a.reqs = append(a.reqs, req)
	if len(a.list) == 0 {
		return model.Reply{}, &model.Error{Kind: model.KindInvalid, Text: "no answer is left"}
	}
	m := a.list[0]
	a.list = a.list[1:]
	return model.Reply{Message: m, Usage: msg.Usage{Input: 10, Output: 1}}, nil
}

func calling(stop string, blocks ...msg.Block) msg.Assistant {
	return msg.Assistant{Content: blocks, StopReason: stop}
}

func liveWorld(t *testing.T, run func(ctx context.Context, s Stage) msg.ToolResult, list ...msg.Assistant) (*world, *answers) {
	t.Helper()
	a := &answers{list: list}
	w := withProvider(t, a)
	w.cfg.Tools = &liveBox{w.tools, run}
	w.open(nil)
	return w, a
}

func TestStage(t *testing.T) {
	w, _ := liveWorld(t, func(_ context.Context, s Stage) msg.ToolResult {
		s.Delta(msg.ToolOutput{CallID: "a", Text: "x"})
		require.NoError(t, s.Record(msg.TodoWrite{Todos: []msg.Todo{}}))
		return text("done")
	}, calling(msg.StopToolUse, msg.ToolUse{ID: "a", Name: "live", Input: "{}"}), calling(msg.StopEndTurn, msg.Text{Text: "ok"}))
	_, err := w.run(t.Context(), "go")
	require.NoError(t, err)
	assert.Contains(t, w.sink.deltas, msg.Delta(msg.ToolOutput{CallID: "a", Text: "x"}))
	assert.Contains(t, w.log.told(), "todo/write")
}

func TestDelegate(t *testing.T) {
	var report Report
	run := func(ctx context.Context, s Stage) msg.ToolResult {
		var err error
		report, err = s.Delegate(ctx, "the task", "live")
		require.NoError(t, err)
		return text(report.Text)
	}
	w, a := liveWorld(t, run,
		calling(msg.StopToolUse, msg.ToolUse{ID: "a", Name: "live", Input: "{}"}),
		calling(msg.StopToolUse, msg.Text{Text: "I look."},
			msg.ToolUse{ID: "a", Name: "edit", Input: "{}"}, msg.ToolUse{ID: "c", Name: "live", Input: "{}"}),
		calling(msg.StopEndTurn, msg.Text{Text: "The report."}),
		calling(msg.StopEndTurn, msg.Text{Text: "ok"}))
	out, err := w.run(t.Context(), "go")
	require.NoError(t, err)
	assert.Equal(t, Report{Text: "The report.", Tools: []string{"edit", "live"}, Calls: 2, Usage: msg.Usage{Input: 20, Output: 2}}, report)
	assert.Equal(t, msg.Usage{Input: 40, Output: 4}, out.Usage, "what the helper used counts")
	assert.Equal(t, out.Usage, w.s.Usage())

	require.Len(t, a.reqs, 4)
	assert.Len(t, a.reqs[1].Messages, 1, "a helper knows its task alone")
	assert.Contains(t, a.reqs[1].System, "helper")
	for _, s := range a.reqs[1].Tools {
		assert.NotEqual(t, "live", s.Name)
	}
	assert.Contains(t, a.reqs[2].Messages[2].Results[1].Content.PlainText(), "no tool live")
	assert.Len(t, a.reqs[3].Messages, 3, "the conversation does not hold the helper's messages")

	var calls []string
	for _, e := range w.log.events {
		p, err := msg.Decode(e)
		require.NoError(t, err)
		if d, ok := p.(msg.Delegated); ok {
			assert.Equal(t, "a", d.CallID)
			assert.True(t, e.Ignorable)
			inner, err := d.Payload()
			require.NoError(t, err)
			calls = append(calls, note(inner))
		}
	}
	assert.Equal(t, []string{"assistant/message", "tool/call a-2", "tool/result a-2 ok", "tool/result c UNKNOWN_TOOL", "assistant/message"}, calls,
		"an id that the conversation uses is given anew")
	assert.Contains(t, w.log.told(), "approve a-2")

	w.open(w.log.events)
	assert.Equal(t, out.Usage, w.s.Usage(), "also after a load")
	assert.False(t, w.s.names.used.take("a-2"), "and its ids stay taken")
}

func TestDelegateFails(t *testing.T) {
	var failure error
	run := func(ctx context.Context, s Stage) msg.ToolResult {
		_, failure = s.Delegate(ctx, "the task")
		return msg.Failed("", failure.Error())
	}
	ask := calling(msg.StopToolUse, msg.ToolUse{ID: "a", Name: "live", Input: "{}"})
	w, a := liveWorld(t, run, ask)
	_, err := w.run(t.Context(), "go")
	require.Error(t, err) // no answer is left for the conversation either
	var service *model.Error
	require.True(t, errors.As(failure, &service))
	assert.Len(t, a.reqs, 3)

	w, _ = liveWorld(t, run, ask, calling(msg.StopRefusal, msg.Text{Text: "no"}), calling(msg.StopEndTurn, msg.Text{Text: "ok"}))
	_, err = w.run(t.Context(), "go")
	require.NoError(t, err)
	assert.ErrorContains(t, failure, "refused")
}

func TestDelegateIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	failure := make(chan error, 1)
	w, _ := liveWorld(t, func(ctx context.Context, s Stage) msg.ToolResult {
		_, err := s.Delegate(ctx, "the task")
		failure <- err
		return msg.Failed("", "cancelled")
	}, calling(msg.StopToolUse, msg.ToolUse{ID: "a", Name: "live", Input: "{}"}), calling(msg.StopToolUse, msg.ToolUse{ID: "b", Name: "edit", Input: "{}"}))
	w.tools.run["edit"] = func(ctx context.Context, _ msg.ToolUse) msg.ToolResult {
		cancel()
		<-ctx.Done()
		return msg.Failed("", "stopped")
	}
	out, err := w.run(ctx, "go")
	require.NoError(t, err)
	assert.Equal(t, StopCancelled, out.Stop)
	assert.ErrorIs(t, <-failure, context.Canceled)
}

// A call that outlives its turn shows and records nothing more.
func TestStageAfterTheTurn(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	late, done := make(chan struct{}), make(chan error, 1)
	w, _ := liveWorld(t, func(_ context.Context, s Stage) msg.ToolResult {
		cancel()
		<-late
		s.Delta(msg.ToolOutput{CallID: "a", Text: "late"})
		done <- s.Record(msg.TodoWrite{Todos: []msg.Todo{}})
		return text("late")
	}, calling(msg.StopToolUse, msg.ToolUse{ID: "a", Name: "live", Input: "{}"}))
	w.cfg.Grace = 1
	w.open(nil)
	out, err := w.run(ctx, "go")
	require.NoError(t, err)
	assert.Equal(t, StopCancelled, out.Stop)
	close(late)
	assert.ErrorIs(t, <-done, ErrGivenUp)
	assert.NotContains(t, w.log.told(), "todo/write")
}
