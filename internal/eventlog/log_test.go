package eventlog

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/msg"
)

// ticking is a clock that moves a millisecond a look.
func ticking() func() time.Time {
	at := time.UnixMilli(1_700_000_000_000)
	return func() time.Time {
		at = at.Add(time.Millisecond)
		return at
	}
}

func create(t testing.TB, dir string, opts Options) *Log {
	t.Helper()
	if opts.Now == nil {
		opts.Now = ticking()
	}
	l, err := Create(dir, Header{ID: "s1", Cwd: t.TempDir()}, opts)
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	return l
}

func add(t testing.TB, l *Log, ps ...msg.Payload) {
	t.Helper()
	for _, p := range ps {
		_, err := l.Append(p)
		require.NoError(t, err)
	}
}

func prompt(text string) msg.UserMessage {
	return msg.UserMessage{ID: "u", Role: "user", Source: msg.Source{Kind: "prompt"}, Content: msg.Blocks{msg.Text{Text: text}}}
}

func says(turn, step int, blocks ...msg.Block) msg.AssistantMessage {
	return msg.AssistantMessage{Turn: turn, Step: step,
		Message: msg.Assistant{ID: "a", Role: "assistant", Content: blocks, StopReason: msg.StopToolUse}}
}

func use(id string) msg.ToolUse { return msg.ToolUse{ID: id, Name: "Edit", Input: `{"a":"\ud800"}`} }

func called(turn, step int, id string) msg.ToolCall {
	return msg.ToolCall{Turn: turn, Step: step, CallID: id, Name: "Edit", Arguments: `{"a":1}`}
}

func returned(turn, step int, id string) msg.ToolReturned {
	return msg.ToolReturned{Turn: turn, Step: step,
		Message: msg.ToolMessage{Role: "tool", CallID: id, Content: msg.Blocks{msg.Text{Text: "done"}}}}
}

// turn is a whole turn with two requests, one of which did not run.
func turn(n int) []msg.Payload {
	id := string(rune('a' + n))
	return []msg.Payload{
		msg.TurnStart{Turn: n}, msg.StepStart{Turn: n, Step: 1}, prompt("go"),
		says(n, 1, msg.Text{Text: "x\u2028y\u0085\f"}, use(id+"1"), use(id+"2")),
		called(n, 1, id+"1"), returned(n, 1, id+"1"), returned(n, 1, id+"2"),
		msg.StepEnd{Turn: n, Step: 1}, msg.TurnEnd{Turn: n, Reason: msg.EndReason{Kind: msg.EndCompleted}},
		msg.Titled{Title: "t" + id},
	}
}

func TestRoundTrip(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "sessions")
	l := create(t, dir, Options{})
	var want []msg.Event
	for n := range 3 {
		for _, p := range turn(n) {
			e, err := l.Append(p)
			require.NoError(t, err)
			want = append(want, e)
		}
	}
	require.NoError(t, l.Close())

	s, err := Read(dir, "s1")
	require.NoError(t, err)
	assert.Equal(t, want, s.Events)
	assert.Equal(t, l.Header(), s.Header)
	assert.Nil(t, s.Torn)
	for i, e := range s.Events {
		assert.EqualValues(t, i, e.Seq)
		p, err := msg.Decode(e)
		require.NoError(t, err)
		assert.Equal(t, turn(i / 10)[i%10], p)
	}
	if info, err := os.Stat(l.Path()); assert.NoError(t, err) && os.PathSeparator == '/' {
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	}
}
