package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/msg"
)

// uses makes an answer with a call for each "id:name".
func uses(calls ...string) string {
	var out []string
	for _, c := range calls {
		id, name, _ := strings.Cut(c, ":")
		out = append(out, `{"type":"tool_use","id":"`+id+`","name":"`+name+`","input":{}}`)
	}
	return "[" + strings.Join(out, ",") + "]"
}

const bye = `[{"type":"text","text":"bye"}]`

func script(answers ...string) string { return "[" + strings.Join(answers, ",") + "]" }

func TestLooksRunTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, script(uses("a:look", "b:look", "c:look"), bye))
		// Each waits for the others; the last to be asked for settles first.
		var at atomic.Int32
		all := make(chan struct{})
		w.tools.run["look"] = func(ctx context.Context, u msg.ToolUse) msg.ToolResult {
			if at.Add(1) == 3 {
				close(all)
			}
			<-all
			time.Sleep(time.Duration('d'-u.ID[0]) * time.Second) // of the bubble's clock
			return text("done " + u.ID)
		}
		_, err := w.run(t.Context(), "go")
		require.NoError(t, err)
		assert.Equal(t, []string{"tool/result c ok", "tool/result b ok", "tool/result a ok"}, only(w.log.told(), "tool/result"))
		var order []string
		for _, r := range w.model.Requests()[1].Messages[2].Results {
			order = append(order, r.CallID)
		}
		assert.Equal(t, []string{"a", "b", "c"}, order, "the model gets them as it asked")
	})
}

func only(in []string, prefix string) []string {
	var out []string
	for _, s := range in {
		if strings.HasPrefix(s, prefix) {
			out = append(out, s)
		}
	}
	return out
}

func TestLooksAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls []string
		for i := range 40 {
			calls = append(calls, fmt.Sprintf("call%d:look", i))
		}
		w := newWorld(t, script(uses(calls...), bye))
		var now, most atomic.Int32
		w.tools.run["look"] = func(context.Context, msg.ToolUse) msg.ToolResult {
			n := now.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			time.Sleep(time.Second)
			now.Add(-1)
			return text("x")
		}
		_, err := w.run(t.Context(), "go")
		require.NoError(t, err)
		assert.EqualValues(t, MaxParallel, most.Load())
	})
}

func TestChangesWaitAndAreWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, script(uses("a:look", "b:edit", "c:look", "d:edit"), bye))
		slow := func(_ context.Context, u msg.ToolUse) msg.ToolResult {
			time.Sleep(time.Second)
			w.log.note("end " + u.ID)
			return text("x")
		}
		w.tools.run["look"], w.tools.run["edit"] = slow, slow
		_, err := w.run(t.Context(), "go")
		require.NoError(t, err)
		trail := w.log.told()
		before := func(a, b string) {
			t.Helper()
			i, j := slices.Index(trail, a), slices.Index(trail, b)
			assert.True(t, i >= 0 && i < j, "%s before %s in %v", a, b, trail)
		}
		before("end a", "approve b")
		before("tool/result a ok", "tool/call b")
		before("tool/result b ok", "plan c")
		before("end c", "run d")
	})
}

func TestSyncPrecedesAChange(t *testing.T) {
	w := newWorld(t, script(uses("a:look", "b:edit"), bye))
	_, err := w.run(t.Context(), "go")
	require.NoError(t, err)
	i := slices.Index(w.log.trail, "tool/call b")
	require.Positive(t, i)
	assert.Equal(t, []string{"sync", "run b"}, w.log.trail[i+1:i+3])
	j := slices.Index(w.log.trail, "tool/call a")
	assert.NotEqual(t, "sync", w.log.trail[j+1])
}

func TestResultsWithoutARun(t *testing.T) {
	tests := []struct {
		name  string
		setup func(*world)
		code  string
		asked bool
		text  string
	}{
		{"a plan that refuses comes before the question", func(w *world) {
			w.tools.plan["edit"] = func(msg.ToolUse) *msg.ToolResult {
				r := msg.Failed(msg.CodeInvalidArgs, "no")
				return &r
			}
		}, msg.CodeInvalidArgs, false, "no"},
		{"a plan that panics", func(w *world) {
			w.tools.plan["edit"] = func(msg.ToolUse) *msg.ToolResult { panic("boo") }
		}, msg.CodePanic, false, "did not run"},
		{"rejected", func(w *world) {
			w.judge.say = func(context.Context, msg.ToolUse, Need) (Verdict, error) {
				return Verdict{Code: msg.CodeRejected, Text: "the user said no"}, nil
			}
		}, msg.CodeRejected, true, "the user said no"},
		{"refused without a code", func(w *world) {
			w.judge.say = func(context.Context, msg.ToolUse, Need) (Verdict, error) { return Verdict{Text: "no"}, nil }
		}, msg.CodeRejected, true, "no"},
		{"the question broke", func(w *world) {
			w.judge.say = func(context.Context, msg.ToolUse, Need) (Verdict, error) {
				return Verdict{}, errors.New("no such method")
			}
		}, msg.CodeQuestionAborted, true, "no such method"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, script(uses("a:edit", "b:look"), bye))
			tt.setup(w)
			judge := w.judge.say
			if judge != nil {
				w.judge.say = func(ctx context.Context, u msg.ToolUse, n Need) (Verdict, error) {
					if u.ID == "b" {
						return Verdict{Allow: true}, nil
					}
					return judge(ctx, u, n)
				}
			}
			out, err := w.run(t.Context(), "go")
			require.NoError(t, err)
			assert.Equal(t, StopEndTurn, out.Stop, "the turn goes on")
			trail := w.log.told()
			assert.Contains(t, trail, "tool/result a "+tt.code)
			assert.Contains(t, trail, "tool/result b ok")
			assert.NotContains(t, trail, "tool/call a")
			assert.Equal(t, tt.asked, slices.Contains(trail, "approve a"))
			assert.Contains(t, result(t, w, "a").Message.Content.PlainText(), tt.text)
		})
	}
}

// result returns the logged result of a call.
func result(t *testing.T, w *world, id string) msg.ToolReturned {
	t.Helper()
	for _, e := range w.log.events {
		p, err := msg.Decode(e)
		require.NoError(t, err)
		if r, ok := p.(msg.ToolReturned); ok && r.Message.CallID == id {
			return r
		}
	}
	t.Fatalf("no result for %q", id)
	panic("unreachable")
}

func TestResultsOfARun(t *testing.T) {
	tests := []struct {
		name  string
		run   func() msg.ToolResult
		code  string
		meta  string
		texts []string
	}{
		{"meta is kept", func() msg.ToolResult { r := text("ok"); r.Meta = json.RawMessage(`{"a":[1,null]}`); return r }, "", `{"a":[1,null]}`, []string{"ok"}},
		{"a code is kept", func() msg.ToolResult { return msg.Failed("FS_STALE_VERSION", "stale") }, "FS_STALE_VERSION", "", []string{"stale"}},
		{"an error has no meta", func() msg.ToolResult {
			r := msg.Failed("X", "x")
			r.Meta = json.RawMessage(`{}`)
			return r
		}, "X", "", []string{"x"}},
		{"a panic", func() msg.ToolResult { panic("boo") }, msg.CodePanic, "", []string{"boo", "check before"}},
		{"meta that is no JSON", func() msg.ToolResult { r := text("wrote it"); r.Meta = json.RawMessage(`{`); return r }, msg.CodeBadMeta, "", []string{"carried out", "wrote it"}},
		{"meta that is no UTF-8", func() msg.ToolResult { r := text("wrote it"); r.Meta = json.RawMessage("\"\xff\""); return r }, msg.CodeBadMeta, "", []string{"carried out", "wrote it"}},
		{"meta with a key twice", func() msg.ToolResult {
			r := text("wrote it")
			r.Meta = json.RawMessage(`{"a":1,"a":2}`)
			return r
		}, msg.CodeBadMeta, "", []string{"carried out", "wrote it"}},
		{"text that is no UTF-8", func() msg.ToolResult { return text("a\xffb") }, "", "", []string{"a\uFFFDb"}},
		{"nothing at all", func() msg.ToolResult { return msg.ToolResult{} }, "", "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, script(uses("a:edit"), bye))
			var caught []string
			w.cfg.OnPanic = func(where string, v any, stack []byte) { caught = append(caught, where) }
			w.open(nil)
			w.tools.run["edit"] = func(context.Context, msg.ToolUse) msg.ToolResult { return tt.run() }
			out, err := w.run(t.Context(), "go")
			require.NoError(t, err)
			assert.Equal(t, StopEndTurn, out.Stop)
			r := result(t, w, "a")
			assert.Equal(t, tt.code != "", r.Message.IsError)
			if tt.code != "" {
				require.NotNil(t, r.Error)
				assert.Equal(t, tt.code, r.Error.Code)
			}
			assert.Equal(t, tt.meta, string(r.Meta))
			for _, s := range tt.texts {
				assert.Contains(t, r.Message.Content.PlainText(), s)
			}
			assert.Equal(t, tt.code == msg.CodePanic, len(caught) == 1)
		})
	}
}

// TestSinkPanics breaks the sink at each event once: the turn ends with an
// error, the log is whole, and the session goes on.
func TestSinkPanics(t *testing.T) {
	whole := newWorld(t, script(uses("a:edit", "b:look"), bye))
	_, err := whole.run(t.Context(), "go")
	require.NoError(t, err)
	for n := range whole.log.events {
		w := newWorld(t, script(uses("a:edit", "b:look"), bye, bye))
		w.sink.onEvent = func(e msg.Event) {
			if int(e.Seq) == n {
				panic("boo")
			}
		}
		_, err := w.run(t.Context(), "go")
		require.ErrorContains(t, err, "boo", "event %d", n)
		require.NoError(t, w.s.broken, "event %d", n)
		_, err = w.run(t.Context(), "again")
		require.NoError(t, err, "event %d", n)
	}
}

func TestGrantIsRecordedBeforeTheCall(t *testing.T) {
	w := newWorld(t, script(uses("a:edit"), bye))
	w.judge.say = func(context.Context, msg.ToolUse, Need) (Verdict, error) {
		return Verdict{Allow: true, Grant: &msg.Granted{Scope: "edit", Name: "all edits"}}, nil
	}
	_, err := w.run(t.Context(), "go")
	require.NoError(t, err)
	trail := w.log.told()
	i := slices.Index(trail, "dsh/grant")
	require.Positive(t, i)
	assert.Equal(t, "tool/call a", trail[i+1])
}

func TestPanicInTheTurn(t *testing.T) {
	w := newWorld(t, script(uses("a:edit", "b:edit"), bye))
	w.judge.say = func(context.Context, msg.ToolUse, Need) (Verdict, error) { panic("boo") }
	_, err := w.run(t.Context(), "go")
	assert.ErrorContains(t, err, "boo")
	assert.Equal(t, []string{"tool/result a ABORTED_BEFORE_DISPATCH", "tool/result b ABORTED_BEFORE_DISPATCH"}, only(w.log.told(), "tool/result"))
	assert.Equal(t, "turn/end error", w.log.told()[len(w.log.told())-1])
	w.judge.say = nil
	out, err := w.run(t.Context(), "again")
	require.NoError(t, err, "the session serves on")
	assert.Equal(t, StopEndTurn, out.Stop)
}

// TestLogFails refuses each append in turn, once and for good.
func TestLogFails(t *testing.T) {
	whole := newWorld(t, script(uses("a:edit", "b:look"), bye, bye))
	_, err := whole.run(t.Context(), "go")
	require.NoError(t, err)
	for n := range whole.log.events {
		for _, forGood := range []bool{false, true} {
			w := newWorld(t, script(uses("a:edit", "b:look"), bye, bye))
			failed := false
			w.log.refuse = func(p msg.Payload, at int) error {
				if (at == n && !failed) || (failed && forGood) {
					failed = true
					return errDisk
				}
				return nil
			}
			_, err := w.run(t.Context(), "go")
			require.ErrorIs(t, err, errDisk, "event %d", n)
			var le *LogError
			require.ErrorAs(t, err, &le)
			if forGood {
				_, err := w.run(t.Context(), "again")
				require.ErrorIs(t, err, errDisk, "event %d", n)
				continue
			}
			if w.s.broken != nil {
				// The end of the turn itself was refused.
				_, err := w.run(t.Context(), "again")
				require.ErrorIs(t, err, errDisk)
				continue
			}
			w.sink.closed = false
			_, err = w.run(t.Context(), "again")
			require.NoError(t, err, "event %d", n)
		}
	}
}
