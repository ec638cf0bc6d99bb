package agent

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/model"
	"dsh-acp/internal/msg"
)

// roles tells what a request held.
func roles(req model.Request) string {
	var out []string
	for _, m := range req.Messages {
		out = append(out, m.Role)
	}
	return strings.Join(out, " ")
}

const tooLong = `[{"type":"_http_error","status":400,"message":"prompt is too long: 3 tokens > 2 maximum"}]`

// compacting is a world whose turns may sum up, with a window of so many tokens.
func compacting(t *testing.T, window int64, script string) *world {
	w := newWorld(t, script)
	w.cfg.Params = func() Params { return Params{Compact: true, Window: window} }
	w.open(nil)
	return w
}

func TestCompactAtTheUsersWish(t *testing.T) {
	w := compacting(t, 0, `[
		[{"type":"tool_use","id":"a","name":"edit","input":{}}], [{"type":"text","text":"done"}],
		[{"type":"text","text":"SUMMARY"}], [{"type":"text","text":"go on"}]]`)
	_, err := w.command(t.Context(), func(ctx context.Context, d Desk) error { return d.Compact(ctx) })
	require.ErrorIs(t, err, ErrNothingToCompact)
	_, err = w.run(t.Context(), "first")
	require.NoError(t, err)
	_, err = w.command(t.Context(), func(ctx context.Context, d Desk) error { return d.Compact(ctx) })
	require.NoError(t, err)
	before := w.s.Usage()
	w.open(w.log.events)
	assert.Equal(t, before, w.s.Usage(), "what the summary cost is known after a reload")
	_, err = w.run(t.Context(), "second")
	require.NoError(t, err)

	reqs := w.model.Requests()
	assert.Equal(t, "user assistant tool assistant user", roles(reqs[2]))
	assert.Len(t, reqs[2].Tools, 2, "calls in a history need their tools")
	assert.Equal(t, "user user", roles(reqs[3]))
	assert.Contains(t, reqs[3].Messages[0].Content.PlainText(), "SUMMARY")
	assert.NotContains(t, reqs[3].Messages[0].Content.PlainText(), "first")
	assert.Equal(t, "second", reqs[3].Messages[1].Content.PlainText())
	assert.Contains(t, w.sink.events, w.log.events[len(w.log.events)-1])
}

func TestCompactWhenTheServiceSaysFull(t *testing.T) {
	w := compacting(t, 0, `[[{"type":"text","text":"one"}],
		[{"type":"tool_use","id":"a","name":"edit","input":{}}],
		`+tooLong+`, [{"type":"text","text":"SUMMARY"}], [{"type":"text","text":"finished"}]]`)
	w.tools.run["edit"] = func(context.Context, msg.ToolUse) msg.ToolResult { return text(strings.Repeat("x", 10_000)) }
	_, err := w.run(t.Context(), "first")
	require.NoError(t, err)
	out, err := w.run(t.Context(), "second, word for word")
	require.NoError(t, err)
	assert.Equal(t, StopEndTurn, out.Stop)
	reqs := w.model.Requests()
	summed, last := reqs[len(reqs)-2], reqs[len(reqs)-1]
	assert.Less(t, len(summed.Messages[4].Results[0].Content.PlainText()), 3000, "what did not fit is asked about in short")
	assert.Equal(t, "user", roles(last))
	assert.Contains(t, last.Messages[0].Content.PlainText(), "SUMMARY")
	assert.True(t, strings.HasSuffix(last.Messages[0].Content.PlainText(), "second, word for word"))
	assert.NotContains(t, w.sink.shownText(), "API Error")
}

func TestCompactBeforeTheWindowIsFull(t *testing.T) {
	// A scripted answer counts 1,200 tokens in and 40 out.
	w := compacting(t, 1300, `[[{"type":"text","text":"one"}], [{"type":"text","text":"SUMMARY"}], [{"type":"text","text":"two"}]]`)
	for _, p := range []string{"first", "second"} {
		_, err := w.run(t.Context(), p)
		require.NoError(t, err)
	}
	reqs := w.model.Requests()
	require.Len(t, reqs, 3)
	assert.Equal(t, "user user", roles(reqs[2]))
	assert.Equal(t, "second", reqs[2].Messages[1].Content.PlainText(), "a prompt that was not sent yet stays as it is")
}

func TestCompactThatFails(t *testing.T) {
	for name, answer := range map[string]string{
		"refused": `[{"type":"text","text":"no"},{"type":"_stop","stop_reason":"refusal"}]`,
		"empty":   `[]`,
		"service": `[{"type":"_http_error","status":500,"message":"down"}]`,
	} {
		t.Run(name, func(t *testing.T) {
			w := compacting(t, 0, fmt.Sprintf(`[[{"type":"text","text":"one"}], %s, %s, [{"type":"text","text":"three"}]]`, tooLong, answer))
			_, err := w.run(t.Context(), "first")
			require.NoError(t, err)
			_, err = w.run(t.Context(), "second")
			assert.True(t, isFull(err), "the turn fails for its own reason: %v", err)
			_, err = w.run(t.Context(), "third")
			require.NoError(t, err)
			reqs := w.model.Requests()
			assert.Equal(t, "user assistant user user", roles(reqs[len(reqs)-1]), "nothing was lost")
		})
	}
}

func TestCompactIsNotTriedInVain(t *testing.T) {
	w := compacting(t, 0, `[`+tooLong+`]`)
	_, err := w.run(t.Context(), "a prompt that is too long by itself")
	assert.True(t, isFull(err))
	assert.Len(t, w.model.Requests(), 1)

	w = newWorld(t, `[[{"type":"text","text":"one"}], `+tooLong+`]`)
	for range 2 {
		_, err = w.run(t.Context(), "not allowed by the settings")
	}
	assert.True(t, isFull(err))
	assert.Len(t, w.model.Requests(), 2)
}

func TestCommandIsNotToldToTheModel(t *testing.T) {
	w := newWorld(t, `[[{"type":"text","text":"one"}]]`)
	out, err := w.command(t.Context(), func(_ context.Context, d Desk) error {
		require.NoError(t, d.Say("said"))
		require.NoError(t, d.Show(msg.ToolUse{ID: "undo-1", Name: "/undo", Input: "{}"}, text("shown")))
		assert.Equal(t, 1, d.Turn())
		return d.Note("noted")
	})
	require.NoError(t, err)
	assert.Equal(t, Outcome{Stop: StopEndTurn}, out)
	assert.Equal(t, []string{"turn/start", "step/start", "user/message command", "assistant/message command",
		"assistant/message command", "tool/call undo-1", "tool/result undo-1 ok", "user/message agent", "step/end", "turn/end completed"}, w.log.told())
	_, err = w.run(t.Context(), "go")
	require.NoError(t, err)
	assert.Equal(t, []model.Message{
		{Role: "user", Content: msg.Blocks{msg.Text{Text: "noted"}}},
		{Role: "user", Content: msg.Blocks{msg.Text{Text: "go"}}},
	}, w.model.Requests()[0].Messages)
}

func TestCommandThatFailsOrIsCancelled(t *testing.T) {
	w := newWorld(t, `[]`)
	_, err := w.command(t.Context(), func(context.Context, Desk) error { return errDisk })
	require.ErrorIs(t, err, errDisk)
	_, err = w.command(t.Context(), func(context.Context, Desk) error { panic("oops") })
	require.ErrorContains(t, err, "oops")
	ctx, cancel := context.WithCancel(t.Context())
	out, err := w.command(ctx, func(context.Context, Desk) error { cancel(); return nil })
	require.NoError(t, err)
	assert.Equal(t, StopCancelled, out.Stop)
	assert.Contains(t, w.sink.shownText(), "disk is full")
}
