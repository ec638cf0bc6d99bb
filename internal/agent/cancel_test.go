package agent

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/model"
	"dsh-acp/internal/msg"
)

// hanger hangs before its first delta, as a service that does not answer.
type hanger struct{ begun chan struct{} }

func (h hanger) Stream(ctx context.Context, _ model.Request, _ func(msg.Delta)) (model.Reply, error) {
	close(h.begun)
	<-ctx.Done()
	return model.Reply{}, ctx.Err()
}

func TestCancelAtEachWait(t *testing.T) {
	const slowAnswer = `[{"type":"text","text":"I look."},{"type":"tool_use","id":"a","name":"look","input":{}},{"type":"tool_use","id":"b","name":"edit","input":{}},{"type":"tool_use","id":"c","name":"edit","input":{}}]`
	tests := []struct {
		name   string
		script string
		// arrange makes cancel happen at the point of the test's name.
		arrange func(w *world, cancel func())
		results []string
		tail    []string // how the log ends, before the turn's end
	}{
		{"before the turn", `[[]]`, func(_ *world, cancel func()) { cancel() }, nil,
			[]string{"user/message prompt", "step/end"}},
		{"while the text streams", `[[{"type":"text","text":"I start to talk and then hang"},{"type":"_hang"}]]`,
			func(w *world, cancel func()) {
				w.sink.onDelta = func(d msg.Delta) {
					if _, ok := d.(msg.TextDelta); ok {
						cancel()
					}
				}
			}, nil, []string{"assistant/message interrupted", "step/end"}},
		{"while a call's input streams", `[[{"type":"tool_use","id":"a","name":"edit","input":{"new":"some long text that is cut"},"_cut":30}]]`,
			func(w *world, cancel func()) {
				w.sink.onDelta = func(d msg.Delta) {
					if _, ok := d.(msg.ToolInput); ok {
						cancel()
					}
				}
			}, []string{"tool/result a TOOL_INPUT_CUT"}, []string{"assistant/message interrupted", "tool/result a TOOL_INPUT_CUT", "step/end"}},
		{"between whole calls and the end of the answer", `[[{"type":"tool_use","id":"a","name":"edit","input":{}},{"type":"_hang"}]]`,
			func(w *world, cancel func()) {
				w.sink.onDelta = func(d msg.Delta) {
					if _, ok := d.(msg.ToolReady); ok {
						cancel()
					}
				}
			}, []string{"tool/result a ABORTED_BEFORE_DISPATCH"}, []string{"assistant/message interrupted", "tool/result a ABORTED_BEFORE_DISPATCH", "step/end"}},
		{"when the answer is committed", script(slowAnswer, bye),
			func(w *world, cancel func()) {
				w.sink.onEvent = func(e msg.Event) {
					if e.Type == "assistant/message" {
						cancel()
					}
				}
			}, []string{"tool/result a ABORTED_BEFORE_DISPATCH", "tool/result b ABORTED_BEFORE_DISPATCH", "tool/result c ABORTED_BEFORE_DISPATCH"}, nil},
		{"in the question, which is answered cancelled", script(slowAnswer, bye),
			func(w *world, cancel func()) {
				w.judge.say = func(ctx context.Context, u msg.ToolUse, n Need) (Verdict, error) {
					if n.Access == Look {
						return Verdict{Allow: true}, nil
					}
					cancel()
					return Verdict{Code: msg.CodeQuestionAborted, Text: "the question was cancelled"}, nil
				}
			}, []string{"tool/result a ok", "tool/result b QUESTION_ABORTED", "tool/result c ABORTED_BEFORE_DISPATCH"}, nil},
		{"in the question, which is not answered", script(slowAnswer, bye),
			func(w *world, cancel func()) {
				w.judge.say = func(ctx context.Context, u msg.ToolUse, n Need) (Verdict, error) {
					if n.Access == Look {
						return Verdict{Allow: true}, nil
					}
					cancel()
					<-ctx.Done()
					return Verdict{}, ctx.Err()
				}
			}, []string{"tool/result a ok", "tool/result b QUESTION_ABORTED", "tool/result c ABORTED_BEFORE_DISPATCH"}, nil},
		{"in the question, which is allowed too late", script(slowAnswer, bye),
			func(w *world, cancel func()) {
				w.judge.say = func(ctx context.Context, u msg.ToolUse, n Need) (Verdict, error) {
					if n.Access != Look {
						cancel()
					}
					return Verdict{Allow: true}, nil
				}
			}, []string{"tool/result a ok", "tool/result b ABORTED_BEFORE_DISPATCH", "tool/result c ABORTED_BEFORE_DISPATCH"}, nil},
		{"while a look runs", script(slowAnswer, bye),
			func(w *world, cancel func()) {
				w.tools.run["look"] = func(ctx context.Context, u msg.ToolUse) msg.ToolResult {
					cancel()
					<-ctx.Done()
					return msg.Failed(msg.CodeAborted, "stopped")
				}
			}, []string{"tool/result a ABORTED", "tool/result b ABORTED_BEFORE_DISPATCH", "tool/result c ABORTED_BEFORE_DISPATCH"}, nil},
		{"while a change runs, which names no code", script(slowAnswer, bye),
			func(w *world, cancel func()) {
				w.tools.run["edit"] = func(ctx context.Context, u msg.ToolUse) msg.ToolResult {
					cancel()
					<-ctx.Done()
					return msg.Failed("", "stopped")
				}
			}, []string{"tool/result a ok", "tool/result b ABORTED", "tool/result c ABORTED_BEFORE_DISPATCH"}, nil},
		{"while a change runs, which succeeds", script(slowAnswer, bye),
			func(w *world, cancel func()) {
				w.tools.run["edit"] = func(ctx context.Context, u msg.ToolUse) msg.ToolResult { cancel(); return text("done") }
			}, []string{"tool/result a ok", "tool/result b ok", "tool/result c ABORTED_BEFORE_DISPATCH"}, nil},
		{"while a change runs, which does not stop", script(slowAnswer, bye),
			func(w *world, cancel func()) {
				w.tools.run["edit"] = func(ctx context.Context, u msg.ToolUse) msg.ToolResult {
					cancel()
					time.Sleep(time.Hour) // of the bubble's clock
					return text("much later")
				}
			}, []string{"tool/result a ok", "tool/result b TOOL_OUTCOME_UNKNOWN", "tool/result c ABORTED_BEFORE_DISPATCH"}, nil},
		{"after the last result, between steps", script(uses("a:edit"), bye),
			func(w *world, cancel func()) {
				w.sink.onEvent = func(e msg.Event) {
					if e.Type == "step/end" {
						cancel()
					}
				}
			}, []string{"tool/result a ok"}, nil},
		{"in the last moment", script(bye),
			func(w *world, cancel func()) {
				w.sink.onEvent = func(e msg.Event) {
					if e.Type == "assistant/message" {
						cancel()
					}
				}
			}, nil, []string{"assistant/message", "step/end"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, tt.script)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				tt.arrange(w, cancel)
				began := time.Now()
				out, err := w.run(ctx, "go")
				require.NoError(t, err)
				assert.Equal(t, StopCancelled, out.Stop)
				assert.LessOrEqual(t, time.Since(began), DefaultGrace)
				trail := w.log.told()
				assert.Equal(t, tt.results, only(trail, "tool/result"))
				assert.Equal(t, "turn/end aborted", trail[len(trail)-1])
				if tt.tail != nil {
					assert.Equal(t, tt.tail, trail[len(trail)-1-len(tt.tail):len(trail)-1])
				}
				// The next prompt of the session works, and what the model is
				// told then is whole.
				w.sink.onDelta, w.sink.onEvent, w.judge.say = nil, nil, nil
				w.s.cfg.Provider = &cutter{requests: make([]model.Request, 1)}
				out, err = w.run(t.Context(), "again")
				require.NoError(t, err)
				assert.Equal(t, StopEndTurn, out.Stop)
				time.Sleep(2 * time.Hour) // the tool that did not stop ends now, and harms nothing
			})
		})
	}
}

func TestCancelWhileConnecting(t *testing.T) {
	h := hanger{make(chan struct{})}
	w := withProvider(t, h)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-h.begun; cancel() }()
	out, err := w.run(ctx, "go")
	require.NoError(t, err)
	assert.Equal(t, StopCancelled, out.Stop)
	assert.Equal(t, []string{"turn/start", "step/start", "user/message prompt", "step/end", "turn/end aborted"}, w.log.told())
}

// dawdler takes its time before each delta and each tool.
type dawdler struct{ inner model.Provider }

func (d dawdler) Stream(ctx context.Context, req model.Request, emit func(msg.Delta)) (model.Reply, error) {
	return d.inner.Stream(ctx, req, func(x msg.Delta) {
		time.Sleep(time.Millisecond)
		emit(x)
	})
}

// TestCancelAtAnyMoment cancels a turn after each millisecond of the bubble's
// clock, and at random ones, until the turn is over before the cancel.
func TestCancelAtAnyMoment(t *testing.T) {
	const answers = `[
		[{"type":"thinking","thinking":"let me think about that for a while"},{"type":"text","text":"I look at two files."},
		 {"type":"tool_use","id":"a","name":"look","input":{"path":"a long path to a file"}},{"type":"tool_use","id":"b","name":"look","input":{}}],
		[{"type":"text","text":"I change them"},{"type":"_stop","stop_reason":"max_tokens"}],
		[{"type":"tool_use","id":"c","name":"edit","input":{"path":"a"}},{"type":"tool_use","id":"d","name":"look","input":{}},{"type":"tool_use","id":"e","name":"edit","input":{}}],
		[{"type":"text","text":"Both are done."}]]`
	once := func(t *testing.T, after time.Duration) (stop string) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, answers)
			w.s.cfg.Provider = dawdler{w.model}
			tool := func(ctx context.Context, u msg.ToolUse) msg.ToolResult {
				select {
				case <-ctx.Done():
					return msg.Failed(msg.CodeAborted, "stopped")
				case <-time.After(3 * time.Millisecond):
					return text("done")
				}
			}
			w.tools.run["look"], w.tools.run["edit"] = tool, tool
			w.judge.say = func(ctx context.Context, _ msg.ToolUse, n Need) (Verdict, error) {
				select {
				case <-ctx.Done():
					return Verdict{}, ctx.Err()
				case <-time.After(2 * time.Millisecond):
					return Verdict{Allow: true}, nil
				}
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			time.AfterFunc(after, cancel)
			out, err := w.run(ctx, "go")
			require.NoError(t, err)
			stop = out.Stop
			if stop == StopCancelled {
				assert.Error(t, ctx.Err(), "cancelled without a cancel")
			}
			time.Sleep(time.Second)
		})
		return stop
	}
	cancelled := 0
	for ms := 0; ; ms++ {
		require.Less(t, ms, 1000)
		if stop := once(t, time.Duration(ms)*time.Millisecond); stop != StopCancelled {
			assert.Equal(t, StopEndTurn, stop)
			break
		}
		cancelled++
	}
	assert.Greater(t, cancelled, 30)
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		once(t, time.Duration(r.Int64N(int64(cancelled)*1000))*time.Microsecond)
	}
}

// TestCrashAtEachEvent takes each beginning of a log, closes it as a load
// would, and goes on from there.
func TestCrashAtEachEvent(t *testing.T) {
	w := newWorld(t, script(uses("a:edit", "b:look", "c:look"), uses("d:edit"), bye))
	_, err := w.run(t.Context(), "go")
	require.NoError(t, err)
	whole := w.log.events
	for n := range len(whole) + 1 {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			w := newWorld(t, script(bye))
			for _, e := range whole[:n] {
				p, err := msg.Decode(e)
				require.NoError(t, err)
				_, err = w.log.Append(p)
				require.NoError(t, err)
			}
			closeLog(t, w.log)
			w.log.check(t)
			w.open(w.log.events)
			w.sink.events = append(w.sink.events, w.log.events...)
			out, err := w.run(t.Context(), "and now?")
			require.NoError(t, err)
			assert.Equal(t, StopEndTurn, out.Stop)
			history := w.model.Requests()[0].Messages
			assert.Equal(t, "and now?", history[len(history)-1].Content.PlainText())
			assert.Equal(t, history, model.Clean(history), "nothing is left to repair")
		})
	}
}

func TestPanicIsNoCancel(t *testing.T) {
	w := newWorld(t, script(uses("a:edit"), bye))
	ctx, cancel := context.WithCancel(t.Context())
	w.judge.say = func(context.Context, msg.ToolUse, Need) (Verdict, error) { cancel(); panic("boo") }
	_, err := w.run(ctx, "go")
	assert.ErrorContains(t, err, "boo")
	assert.False(t, errors.Is(err, context.Canceled))
}
