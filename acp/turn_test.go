package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/acptest"
	"dsh-acp/internal/agent"
	"dsh-acp/internal/msg"
)

func TestCancelIsNeverLost(t *testing.T) {
	const pairs = 1000
	withServer(t, newFakeHost(hang), func(t *testing.T, c *acptest.Client) {
		id := newSession(t, c)
		for i := range pairs {
			req := c.Request("session/prompt", promptOf(id, "x"))
			c.Notify("session/cancel", map[string]any{"sessionId": id})
			var res stopReason
			require.NoError(t, c.Answer(req, &res), "pair %d", i)
			require.Equal(t, StopCancelled, res.StopReason)
		}
		synctest.Wait()
		answers := map[string]int{}
		for _, m := range c.Messages() {
			if m.Method == "" {
				answers[string(m.ID)]++
			}
		}
		assert.Len(t, answers, pairs+2)
		for id, n := range answers {
			assert.Equal(t, 1, n, "answers to request %s", id)
		}
	})
}

func TestCancelInOneWrite(t *testing.T) {
	// Both lines are there before the first is looked at.
	withServer(t, newFakeHost(hang), func(t *testing.T, c *acptest.Client) {
		id := newSession(t, c)
		for i := range 200 {
			c.Write(fmt.Sprintf(`{"jsonrpc":"2.0","id":"p%d","method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":"x"}]}}`+"\n"+
				`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%q}}`+"\n", i, id, id))
			m, err := c.Wait(func(m acptest.Message) bool { return string(m.ID) == fmt.Sprintf(`"p%d"`, i) })
			require.NoError(t, err)
			require.JSONEq(t, `"cancelled"`, string(field(t, m.Result, "stopReason")))
		}
	})
}

func field(t *testing.T, raw json.RawMessage, name string) json.RawMessage {
	t.Helper()
	var m map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(raw, &m))
	return m[name]
}

func TestPromptsQueueInOrder(t *testing.T) {
	var running atomic.Int32
	gate := make(chan struct{})
	host := newFakeHost(func(ctx context.Context, w *fakeWork, turn Turn) (Outcome, error) {
		if running.Add(1) != 1 {
			panic("two turns of one session at once")
		}
		defer running.Add(-1)
		<-gate
		return say(turn.Prompt.PlainText())(ctx, w, turn)
	})
	withServer(t, host, func(t *testing.T, c *acptest.Client) {
		id := newSession(t, c)
		gate = make(chan struct{}) // of this bubble
		var reqs []int
		for i := range 5 {
			reqs = append(reqs, c.Request("session/prompt", promptOf(id, fmt.Sprint("p", i))))
		}
		synctest.Wait()
		close(gate)
		for _, r := range reqs {
			require.NoError(t, c.Answer(r, nil))
		}
		var said []string
		for _, m := range c.Messages() {
			if m.Method == "" && len(m.Result) > 0 && strings.Contains(string(m.Result), "stopReason") {
				said = append(said, "answer "+string(m.ID))
			}
			var u acptest.Update
			if m.Method == "session/update" && json.Unmarshal(m.Params, &u) == nil && u.Update.Kind == "agent_message_chunk" {
				said = append(said, u.Text())
			}
		}
		var want []string
		for i, r := range reqs {
			want = append(want, fmt.Sprint("p", i), fmt.Sprint("answer ", r))
		}
		assert.Equal(t, want, said, "each turn's updates, then its answer")
	})
}

func TestCancelEndsRunningAndQueued(t *testing.T) {
	var started atomic.Int32
	host := newFakeHost(func(ctx context.Context, w *fakeWork, turn Turn) (Outcome, error) {
		started.Add(1)
		return hang(ctx, w, turn)
	})
	withServer(t, host, func(t *testing.T, c *acptest.Client) {
		a, b := newSession(t, c), newSession(t, c)
		other := c.Request("session/prompt", promptOf(b, "other session"))
		var reqs []int
		for range 4 {
			reqs = append(reqs, c.Request("session/prompt", promptOf(a, "x")))
		}
		synctest.Wait()
		c.Notify("session/cancel", map[string]any{"sessionId": a})
		for _, r := range reqs {
			var res stopReason
			require.NoError(t, c.Answer(r, &res))
			assert.Equal(t, StopCancelled, res.StopReason)
		}
		assert.EqualValues(t, 2, started.Load(), "a queued turn that was cancelled never starts")
		synctest.Wait()
		for _, m := range c.Messages() {
			assert.NotEqual(t, fmt.Sprint(other), string(m.ID), "the other session goes on")
		}
		c.Notify("session/cancel", map[string]any{"sessionId": b})
		require.NoError(t, c.Answer(other, nil))
	})
}

func TestCancelRequestWithdrawsOnePrompt(t *testing.T) {
	withServer(t, newFakeHost(hang), func(t *testing.T, c *acptest.Client) {
		id := newSession(t, c)
		first := c.Request("session/prompt", promptOf(id, "x"))
		second := c.Request("session/prompt", promptOf(id, "x"))
		synctest.Wait()
		c.Notify("$/cancel_request", map[string]any{"requestId": first})
		assert.Equal(t, codeRequestCancelled, code(t, c.Answer(first, nil)))
		c.Notify("session/cancel", map[string]any{"sessionId": id})
		var res stopReason
		require.NoError(t, c.Answer(second, &res))
		assert.Equal(t, StopCancelled, res.StopReason)
	})
}

func TestEndOfInputCancelsAndAnswers(t *testing.T) {
	host := newFakeHost(hang)
	var c *acptest.Client
	withServer(t, host, func(t *testing.T, cl *acptest.Client) {
		c = cl
		id := newSession(t, cl)
		cl.Request("session/prompt", promptOf(id, "x"))
		cl.Write(`{"jsonrpc":"2.0","id":"last","method":"session/list","params":{}}`) // no line break follows
	})
	answers := map[string]string{}
	for _, m := range c.Messages() {
		if m.Method == "" {
			answers[string(m.ID)] = string(m.Result)
		}
	}
	assert.Contains(t, answers["2"], `"cancelled"`)
	assert.Contains(t, answers[`"last"`], `"sessions"`)
	assert.Equal(t, []string{"s1"}, host.closed)
}

func TestPermissionAnswers(t *testing.T) {
	edit := agent.Need{Access: agent.Edit, Paths: []string{"/w/a.txt"}}
	for _, c := range []struct {
		name   string
		answer func(q acptest.Question) any
		want   string // what the turn was told, in part
	}{
		{"allow once", func(q acptest.Question) any { return q.Pick("allow_once") }, "allowed"},
		{"allow always", func(q acptest.Question) any { return q.Pick("allow_always") }, "allowed"},
		{"reject", func(q acptest.Question) any { return q.Pick("reject_once") }, msg.CodeRejected},
		{"error", func(acptest.Question) any { return &acptest.Error{Code: -32603, Message: "x"} }, msg.CodeRejected},
		{"not offered", func(acptest.Question) any { return acptest.Selected("no-such") }, msg.CodeRejected},
		{"nonsense", func(acptest.Question) any { return []int{1} }, msg.CodeRejected},
		{"empty", func(acptest.Question) any { return map[string]any{} }, msg.CodeRejected},
		{"cancelled", func(acptest.Question) any { return acptest.Cancelled() }, msg.CodeQuestionAborted},
	} {
		t.Run(c.name, func(t *testing.T) {
			withServer(t, newFakeHost(ask(edit)), func(t *testing.T, cl *acptest.Client) {
				var q acptest.Question
				cl.OnQuestion(func(got acptest.Question) any {
					q = got
					return c.answer(got)
				})
				id := newSession(t, cl)
				require.NoError(t, cl.Call("session/prompt", promptOf(id, "x"), nil))
				synctest.Wait()
				updates := cl.Updates(id)
				assert.Contains(t, updates[len(updates)-1].Text(), c.want)
				assert.Equal(t, id, q.SessionID)
				require.Len(t, q.Options, 3)
				assert.Equal(t, "Yes, allow all edits during this session", q.Options[1].Name)
				before := len(cl.Messages())
				cl.Reply(q.ID, q.Pick("allow_once")) // a second answer
				synctest.Wait()
				assert.Len(t, cl.Messages(), before, "a second answer changes nothing")
			})
		})
	}
}

func TestAllowAlwaysHoldsForTheSession(t *testing.T) {
	host := newFakeHost(ask(agent.Need{Access: agent.Edit, Paths: []string{"/w/a.txt"}}))
	withServer(t, host, func(t *testing.T, c *acptest.Client) {
		var questions atomic.Int32
		c.OnQuestion(func(q acptest.Question) any {
			questions.Add(1)
			return q.Pick("allow_always")
		})
		id, other := newSession(t, c), newSession(t, c)
		for range 3 {
			require.NoError(t, c.Call("session/prompt", promptOf(id, "x"), nil))
		}
		assert.EqualValues(t, 1, questions.Load())
		require.NoError(t, c.Call("session/load", map[string]any{"sessionId": id, "cwd": "/w", "mcpServers": []any{}}, nil))
		require.NoError(t, c.Call("session/prompt", promptOf(id, "x"), nil))
		assert.EqualValues(t, 1, questions.Load(), "also after the session was loaded")
		require.NoError(t, c.Call("session/prompt", promptOf(other, "x"), nil))
		assert.EqualValues(t, 2, questions.Load(), "but not in another one")
	})
}

func TestCancelAtAQuestionWithdrawsIt(t *testing.T) {
	host := newFakeHost(ask(agent.Need{Access: agent.Edit}))
	withServer(t, host, func(t *testing.T, c *acptest.Client) {
		id := newSession(t, c)
		req := c.Request("session/prompt", promptOf(id, "x"))
		q, err := c.Wait(func(m acptest.Message) bool { return m.Method == "session/request_permission" })
		require.NoError(t, err)
		c.Notify("session/cancel", map[string]any{"sessionId": id})
		var res stopReason
		require.NoError(t, c.Answer(req, &res))
		assert.Equal(t, StopCancelled, res.StopReason)
		w, err := c.Wait(func(m acptest.Message) bool { return m.Method == "$/cancel_request" })
		require.NoError(t, err)
		assert.Equal(t, string(q.ID), string(field(t, w.Params, "requestId")))
		before := len(c.Messages())
		c.Reply(q.ID, acptest.Selected(optionAllowOnce)) // too late
		synctest.Wait()
		assert.Len(t, c.Messages(), before)
	})
}

func TestTextIsMergedOnlyForALaggingClient(t *testing.T) {
	deltas := func(n int) func(context.Context, *fakeWork, Turn) (Outcome, error) {
		return func(_ context.Context, _ *fakeWork, turn Turn) (Outcome, error) {
			turn.Sink.Delta(msg.MessageStart{MessageID: "m"})
			for i := range n {
				turn.Sink.Delta(msg.TextDelta{MessageID: "m", Text: fmt.Sprintf("%d<", i)})
			}
			return Outcome{Stop: StopEndTurn}, nil
		}
	}
	for _, n := range []int{200, 20000} {
		withServer(t, newFakeHost(deltas(n)), func(t *testing.T, c *acptest.Client) {
			id := newSession(t, c)
			require.NoError(t, c.Call("session/prompt", promptOf(id, "x"), nil))
			var all, want strings.Builder
			chunks := 0
			for _, u := range c.Updates(id) {
				if u.Update.Kind == "agent_message_chunk" {
					all.WriteString(u.Text())
					chunks++
				}
			}
			for i := range n {
				fmt.Fprintf(&want, "%d<", i)
			}
			assert.Equal(t, want.String(), all.String())
			if n <= mergeFrom {
				assert.Equal(t, n, chunks, "a client that keeps up gets every piece")
			} else {
				assert.Less(t, chunks, n)
			}
		})
	}
}
