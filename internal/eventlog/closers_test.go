package eventlog

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/msg"
)

// told gives closers as short words.
func told(ps []msg.Payload) []string {
	var out []string
	for _, p := range ps {
		switch p := p.(type) {
		case msg.ToolReturned:
			out = append(out, p.Message.CallID+" "+p.Error.Code)
		case msg.StepEnd:
			out = append(out, "step/end")
		case msg.TurnEnd:
			out = append(out, "turn/end "+p.Reason.Kind)
		}
	}
	return out
}

func TestClosers(t *testing.T) {
	ends := []string{"step/end", "turn/end interrupted"}
	for _, c := range []struct {
		name string
		in   []msg.Payload
		want []string
	}{
		{"an empty log", nil, nil},
		{"between turns", turn(1), nil},
		{"a turn just begun", []msg.Payload{msg.TurnStart{Turn: 1}}, ends[1:]},
		{"before the answer", inStep(prompt("x")), ends},
		{"in the question", inStep(says(1, 1, use("a"))), append([]string{"a TOOL_NOT_STARTED"}, ends...)},
		{"in the call", inStep(says(1, 1, use("a")), called(1, 1, "a")), append([]string{"a TOOL_OUTCOME_UNKNOWN"}, ends...)},
		{"after the result", inStep(says(1, 1, use("a")), called(1, 1, "a"), returned(1, 1, "a")), ends},
		{"in transcript order", inStep(says(1, 1, use("a"), use("b"), use("c"), use("d")), called(1, 1, "c"), called(1, 1, "b"), returned(1, 1, "b")),
			append([]string{"a TOOL_NOT_STARTED", "c TOOL_OUTCOME_UNKNOWN", "d TOOL_NOT_STARTED"}, ends...)},
		{"between steps", inStep(says(1, 1), msg.StepEnd{Turn: 1, Step: 1}), ends[1:]},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			l := create(t, dir, Options{})
			add(t, l, c.in...)
			require.NoError(t, l.Close())
			before, err := os.ReadFile(l.Path())
			require.NoError(t, err)

			s, err := Read(dir, "s1")
			require.NoError(t, err)
			closers, err := Closers(s.Events)
			require.NoError(t, err)
			assert.Equal(t, c.want, told(closers))
			closed, err := s.Closed()
			require.NoError(t, err)

			// Neither reading nor opening writes; resuming does, the same.
			l, _, err = Open(dir, "s1", Options{})
			require.NoError(t, err)
			after, err := os.ReadFile(l.Path())
			require.NoError(t, err)
			assert.Equal(t, string(before), string(after))
			written, err := l.Resume()
			require.NoError(t, err)
			assert.Len(t, written, len(c.want))
			again, err := l.Resume()
			require.NoError(t, err)
			assert.Empty(t, again)
			stored, err := Read(dir, "s1")
			require.NoError(t, err)
			assert.Equal(t, closed, stored.Events)
			for _, e := range written {
				assert.Equal(t, s.Events[len(s.Events)-1].Time, e.Time)
			}
			_, err = History(stored.Events)
			require.NoError(t, err)
			add(t, l, turn(7)...)
		})
	}
}

// What the model reads says whether a retry is safe.
func TestClosersTellTheModel(t *testing.T) {
	var o order
	for _, p := range inStep(says(1, 1, use("a"), use("b")), called(1, 1, "a")) {
		e, _, err := newEvent(p)
		require.NoError(t, err)
		e.Seq = o.next
		_, err = o.follow(e)
		require.NoError(t, err)
	}
	ps := o.closers()
	unknown, notStarted := ps[0].(msg.ToolReturned), ps[1].(msg.ToolReturned)
	assert.True(t, unknown.Message.IsError && notStarted.Message.IsError)
	assert.Contains(t, unknown.Message.Content.PlainText(), "Check first")
	assert.Contains(t, notStarted.Message.Content.PlainText(), "changed nothing")
	assert.Nil(t, unknown.Meta)
}

func TestClosersOfNoLog(t *testing.T) {
	_, err := Closers([]msg.Event{{Type: "turn/end", Data: []byte(`{"turn":1}`)}})
	assert.ErrorContains(t, err, "no turn is open")
}

// A crash while the closers are written is one more crash.
func TestResumeAfterResume(t *testing.T) {
	dir := t.TempDir()
	f := failing{}
	l := create(t, dir, Options{Fault: f.fault})
	add(t, l, inStep(says(1, 1, use("a"), use("b")))...)
	closers := l.order.closers()
	add(t, l, closers[0])
	f["append"] = 1
	done, err := l.Resume()
	require.Error(t, err)
	assert.Empty(t, done)
	done, err = l.Resume()
	require.NoError(t, err)
	assert.Len(t, done, 3)
}
