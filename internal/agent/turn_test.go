package agent

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/model"
	"dsh-acp/internal/msg"
)

func TestTurnOrder(t *testing.T) {
	w := newWorld(t, `[
		[{"type":"text","text":"I look."},
		 {"type":"tool_use","id":"a","name":"edit","input":{"x":1}}],
		[{"type":"text","text":"Done."}]]`)
	w.cfg.Params = func() Params { return Params{System: "sys", Model: "m", Route: "scripted", Window: 1000} }
	w.open(nil)
	out, err := w.run(t.Context(), "go")
	require.NoError(t, err)
	assert.Equal(t, Outcome{Stop: StopEndTurn, Usage: msg.Usage{Input: 2400, Output: 80}}, out)
	assert.Equal(t, out.Usage, w.s.Usage())
	assert.Equal(t, []string{
		"turn/start", "step/start", "user/message prompt", "request/context", "request/header", "sync",
		"assistant/message", "plan a", "approve a", "tool/call a", "sync", "run a", "tool/result a ok", "step/end",
		"step/start", "sync", "assistant/message", "step/end", "turn/end completed", "sync",
	}, w.log.trail)
	reqs := w.model.Requests()
	require.Len(t, reqs, 2)
	assert.Equal(t, "sys", reqs[1].System)
	assert.Equal(t, []model.Message{
		{Role: "user", Content: msg.Blocks{msg.Text{Text: "go"}}},
		{Role: "assistant", Content: msg.Blocks{msg.Text{Text: "I look."}, msg.ToolUse{ID: "a", Name: "edit", Input: `{"x":1}`}}},
		{Role: "tool", Results: []msg.ToolMessage{{Role: "tool", CallID: "a", Content: msg.Blocks{msg.Text{Text: "done a"}}}}},
	}, reqs[1].Messages)
}

func TestHowTurnsEnd(t *testing.T) {
	tests := []struct {
		name   string
		script string
		stop   string
		trail  string // joined by newlines, tabs left out
	}{
		{"text only", `[[{"type":"text","text":"hi"}]]`, StopEndTurn,
			`turn/start
			step/start
			user/message prompt
			assistant/message
			step/end
			turn/end completed`},
		{"an empty answer", `[[]]`, StopEndTurn,
			`turn/start
			step/start
			user/message prompt
			assistant/message
			step/end
			turn/end completed`},
		{"the limit, then the rest", `[[{"type":"text","text":"This is cut"},{"type":"_stop","stop_reason":"max_tokens"}],
			[{"type":"text","text":" and goes on."}]]`, StopEndTurn,
			`turn/start
			step/start
			user/message prompt
			assistant/message
			step/end
			step/start
			user/message agent
			assistant/message
			step/end
			turn/end completed`},
		{"the limit four times", `[` + strings.Repeat(`[{"type":"text","text":"x"},{"type":"_stop","stop_reason":"max_tokens"}],`, 4) + `[{"type":"text","text":"never"}]]`, StopMaxTokens,
			`turn/start
			step/start
			user/message prompt
			assistant/message
			step/end
			step/start
			user/message agent
			assistant/message
			step/end
			step/start
			user/message agent
			assistant/message
			step/end
			step/start
			user/message agent
			assistant/message
			step/end
			turn/end max-tokens`},
		{"the limit after a whole call", `[[{"type":"tool_use","id":"a","name":"look","input":{}},{"type":"_stop","stop_reason":"max_tokens"}],
			[{"type":"text","text":"ok"}]]`, StopEndTurn,
			`turn/start
			step/start
			user/message prompt
			assistant/message
			plan a
			approve a
			tool/call a
			run a
			tool/result a ok
			step/end
			step/start
			assistant/message
			step/end
			turn/end completed`},
		{"a refusal", `[[{"type":"text","text":"I will not."},{"type":"tool_use","id":"a","name":"edit","input":{}},{"type":"_stop","stop_reason":"refusal"}]]`, StopRefusal,
			`turn/start
			step/start
			user/message prompt
			assistant/message
			tool/result a ABORTED_BEFORE_DISPATCH
			step/end
			turn/end blocked`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, tt.script)
			out, err := w.run(t.Context(), "go")
			require.NoError(t, err)
			assert.Equal(t, tt.stop, out.Stop)
			assert.Equal(t, strings.ReplaceAll(tt.trail, "\t", ""), strings.Join(w.log.told(), "\n"))
		})
	}
}

// cutter answers once with a call that the token limit has cut.
type cutter struct{ requests []model.Request }

func (c *cutter) Stream(_ context.Context, req model.Request, emit func(msg.Delta)) (model.Reply, error) {
	c.requests = append(c.requests, req)
	if len(c.requests) > 1 {
		return model.Reply{Message: msg.Assistant{ID: "m2", Content: msg.Blocks{msg.Text{Text: "ok"}}, StopReason: msg.StopEndTurn}}, nil
	}
	emit(msg.MessageStart{MessageID: "m1"})
	emit(msg.ToolStart{CallID: "a", Name: "look"})
	emit(msg.ToolReady{Use: msg.ToolUse{ID: "a", Name: "look", Input: "{}"}})
	emit(msg.ToolStart{CallID: "b", Name: "edit"})
	emit(msg.ToolInput{CallID: "b", Fragment: `{"new":"half`})
	return model.Reply{Message: msg.Assistant{ID: "m1", StopReason: msg.StopMaxTokens, Content: msg.Blocks{
		msg.ToolUse{ID: "a", Name: "look", Input: "{}"},
		msg.ToolUse{ID: "b", Name: "edit", Input: `{"new":"half`, Cut: true}}}}, nil
}

func TestCutCallIsClosedAndToldInWords(t *testing.T) {
	c := &cutter{}
	w := withProvider(t, c)
	out, err := w.run(t.Context(), "go")
	require.NoError(t, err)
	assert.Equal(t, StopEndTurn, out.Stop)
	assert.Equal(t, []string{"turn/start", "step/start", "user/message prompt", "assistant/message",
		"plan a", "approve a", "tool/call a", "tool/result b TOOL_INPUT_CUT", "tool/result a ok"},
		without(w.log.told(), "run a")[:9])
	sent := model.Clean(c.requests[1].Messages)
	require.Len(t, sent, 4)
	assert.Equal(t, msg.Blocks{msg.ToolUse{ID: "a", Name: "look", Input: "{}"}}, sent[1].Content)
	assert.Len(t, sent[2].Results, 1)
	assert.Contains(t, sent[3].Content.PlainText(), "cut off after 12 bytes")
	assert.NotContains(t, sent[3].Content.PlainText(), "half")
}

func without(in []string, what string) []string {
	var out []string
	for _, s := range in {
		if s != what {
			out = append(out, s)
		}
	}
	return out
}

func TestRefusedTurnIsForgotten(t *testing.T) {
	w := newWorld(t, `[[{"type":"text","text":"one"}],
		[{"type":"text","text":"no"},{"type":"_stop","stop_reason":"refusal"}],
		[{"type":"text","text":"three"}]]`)
	for _, p := range []string{"first", "bad", "third"} {
		_, err := w.run(t.Context(), p)
		require.NoError(t, err)
	}
	last := w.model.Requests()[2].Messages
	require.Len(t, last, 3)
	assert.Equal(t, "third", last[2].Content.PlainText())
	assert.Equal(t, "one", last[1].Content.PlainText())
}

func TestServiceError(t *testing.T) {
	w := newWorld(t, `[[{"type":"_http_error","status":400,"message":"scripted refusal"}],
		[{"type":"text","text":"half a sen"},{"type":"tool_use","id":"a","name":"edit","input":{}},{"type":"_break"}],
		[{"type":"text","text":"Now it works."}]]`)
	out, err := w.run(t.Context(), "go")
	var e *model.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, model.KindInvalid, e.Kind)
	assert.Equal(t, Outcome{}, out)
	assert.Equal(t, "API Error: 400 scripted refusal", w.sink.shownText())
	assert.Equal(t, []string{"turn/start", "step/start", "user/message prompt",
		"assistant/message interrupted error", "step/end", "turn/end error"}, w.log.told())

	w.log.trail = nil
	_, err = w.run(t.Context(), "again")
	require.ErrorAs(t, err, &e)
	assert.Equal(t, []string{"turn/start", "step/start", "user/message prompt", "assistant/message interrupted",
		"tool/result a ABORTED_BEFORE_DISPATCH", "assistant/message interrupted error", "step/end", "turn/end error"}, w.log.told())

	out, err = w.run(t.Context(), "third")
	require.NoError(t, err)
	assert.Equal(t, StopEndTurn, out.Stop)
	var roles []string
	for _, m := range w.model.Requests()[2].Messages {
		roles = append(roles, m.Role)
		assert.NotContains(t, m.Content.PlainText(), "API Error", "the agent's words are not the model's")
	}
	assert.Equal(t, []string{"user", "user", "assistant", "tool", "user"}, roles)
}

func TestShownTextEqualsCommittedText(t *testing.T) {
	w := newWorld(t, `[[{"type":"text","text":"half a sentence that is long enough for pieces"},{"type":"_break"}]]`)
	_, err := w.run(t.Context(), "go")
	require.Error(t, err)
	shown, logged := map[string]string{}, map[string]string{}
	for _, d := range w.sink.deltas {
		if d, ok := d.(msg.TextDelta); ok {
			shown[d.MessageID] += d.Text
		}
	}
	for _, e := range w.log.events {
		p, _ := msg.Decode(e)
		if m, ok := p.(msg.AssistantMessage); ok {
			logged[m.Message.ID] += m.Message.Content.PlainText()
		}
	}
	assert.Len(t, shown, 2)
	assert.Equal(t, shown, logged)
}

// repeater gives the same ids in each answer, as some services do.
type repeater struct{ n int }

func (r *repeater) Stream(_ context.Context, _ model.Request, emit func(msg.Delta)) (model.Reply, error) {
	r.n++
	emit(msg.MessageStart{MessageID: "m"})
	if r.n > 3 {
		emit(msg.TextDelta{MessageID: "m", Text: "end"})
		return model.Reply{Message: msg.Assistant{ID: "m", Content: msg.Blocks{msg.Text{Text: "end"}}}}, nil
	}
	var content msg.Blocks
	for _, id := range []string{"call_0", "", "call_0"} {
		emit(msg.ToolStart{CallID: id, Name: "look"})
		emit(msg.ToolInput{CallID: id, Fragment: "{}"})
		u := msg.ToolUse{ID: id, Name: "look", Input: "{}"}
		emit(msg.ToolReady{Use: u})
		content = append(content, u)
	}
	return model.Reply{Message: msg.Assistant{ID: "m", Content: content}}, nil
}

func TestIdsAreMadeUnique(t *testing.T) {
	w := withProvider(t, &repeater{})
	_, err := w.run(t.Context(), "go")
	require.NoError(t, err) // run has checked that no id is used twice
	var started, ready, committed []string
	messages := map[string]bool{}
	for _, d := range w.sink.deltas {
		switch d := d.(type) {
		case msg.ToolStart:
			started = append(started, d.CallID)
		case msg.ToolReady:
			ready = append(ready, d.Use.ID)
		case msg.MessageStart:
			assert.False(t, messages[d.MessageID])
			messages[d.MessageID] = true
		}
	}
	for _, e := range w.log.events {
		p, _ := msg.Decode(e)
		if m, ok := p.(msg.AssistantMessage); ok {
			assert.True(t, messages[m.Message.ID])
			for _, u := range m.Message.Content.ToolUses() {
				committed = append(committed, u.ID)
			}
		}
	}
	assert.Len(t, committed, 9)
	assert.Equal(t, "call_0", committed[0], "an id that is new stays")
	assert.Equal(t, committed, started)
	assert.Equal(t, committed, ready)

	// After a reload the ids of the past are still taken.
	w.cfg.Provider = &repeater{}
	w.open(w.log.events)
	_, err = w.run(t.Context(), "more")
	require.NoError(t, err)
}

func TestReloadGoesOn(t *testing.T) {
	w := newWorld(t, `[[{"type":"text","text":"one"}],[{"type":"text","text":"two"}]]`)
	_, err := w.run(t.Context(), "first")
	require.NoError(t, err)
	before := w.s.Usage()
	w.open(w.log.events)
	assert.Equal(t, before, w.s.Usage())
	_, err = w.run(t.Context(), "second")
	require.NoError(t, err)
	assert.Len(t, w.model.Requests()[1].Messages, 3)
	var turns []int
	var reasons []string
	for _, e := range w.log.events {
		switch p, _ := msg.Decode(e); p := p.(type) {
		case msg.TurnStart:
			turns = append(turns, p.Turn)
		case msg.RequestHeader:
			reasons = append(reasons, p.Reason)
		}
	}
	assert.Equal(t, []int{1, 2}, turns)
	assert.Equal(t, []string{"initial", "resume"}, reasons)
}

func TestRequired(t *testing.T) {
	_, err := New(Config{})
	assert.ErrorContains(t, err, "required")
}
