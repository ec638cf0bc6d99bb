package eventlog

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/msg"
)

// surface builds events from words: "a" is a message, "a=2-4" one that
// replaces the messages 2 to 4, "-" something that is no message.
func surface(t *testing.T, words string) []msg.Event {
	var out []msg.Event
	for i, w := range strings.Fields(words) {
		text, span, replaces := strings.Cut(w, "=")
		var p msg.Payload = prompt(text)
		if text == "-" {
			p = msg.TodoWrite{}
		}
		e, _, err := newEvent(p)
		require.NoError(t, err)
		e.Seq = int64(i)
		if replaces {
			start, end, _ := strings.Cut(span, "-")
			e.SurfaceOp = json.RawMessage(`{"op":"replace","start":` + start + `,"end":` + end + `}`)
		}
		out = append(out, e)
	}
	return out
}

func TestHistory(t *testing.T) {
	for _, c := range []struct{ in, want, err string }{
		{in: "", want: ""},
		{in: "- a - b -", want: "a b"},
		{in: "a b c s=0-1 d", want: "s c d"},
		{in: "a b c s=1-1", want: "a s c"},
		{in: "a b c s=0-2 d e r=0-5", want: "r"},
		{in: "a b c s=0-1 d r=2-3", want: "r d"},
		{in: "- a s=0-1", want: "s"},
		{in: "a - s=1-1", err: "none is left"},
		{in: "a b s=0-1 r=0-1", err: "none is left"},
		{in: "a s=0-1", err: "earlier events"},
		{in: "a b s=1-0", err: "earlier events"},
	} {
		got, err := History(surface(t, c.in))
		if c.err != "" {
			assert.ErrorContains(t, err, c.err, c.in)
			continue
		}
		require.NoError(t, err, c.in)
		var words []string
		for _, e := range got {
			words = append(words, e.Payload.(msg.UserMessage).Content.PlainText())
		}
		assert.Equal(t, c.want, strings.Join(words, " "), c.in)
	}
}

func TestHistoryOfForms(t *testing.T) {
	events := surface(t, "a b")
	events[1].SurfaceOp = nil // as logs from before surface operations have it
	h, err := History(events)
	require.NoError(t, err)
	assert.Len(t, h, 2)

	events[1].SurfaceOp = json.RawMessage(`{"op":"twirl"}`)
	_, err = History(events)
	assert.ErrorContains(t, err, `event 1 (user/message): unknown surfaceOp {"op":"twirl"}`)

	_, err = History([]msg.Event{{Type: "who/knows", Data: json.RawMessage(`{}`)}})
	assert.ErrorContains(t, err, "unknown event type")
}

// Results and answers come as what they are, in the order of the log.
func TestHistoryOfATurn(t *testing.T) {
	dir, _ := sample(t, 1)
	s, err := Read(dir, "s1")
	require.NoError(t, err)
	h, err := History(s.Events)
	require.NoError(t, err)
	var got []msg.Payload
	for _, e := range h {
		got = append(got, e.Payload)
		assert.Equal(t, e.Payload.EventType(), s.Events[e.Seq].Type)
	}
	all := turn(0)
	assert.Equal(t, []msg.Payload{all[2], all[3], all[5], all[6]}, got)
}

// What a session was read with is what a reader would decode from its events.
func TestPayloadsOfASession(t *testing.T) {
	dir := t.TempDir()
	l, err := Create(dir, Header{ID: "s1"}, Options{})
	require.NoError(t, err)
	add(t, l, edits(3)...)
	_, err = l.AppendRaw(msg.Event{Type: "later/thing", Data: json.RawMessage(`{}`), Ignorable: true})
	require.NoError(t, err)
	require.NoError(t, l.Close())
	s, err := Read(dir, "s1")
	require.NoError(t, err)
	want, err := Payloads(s.Events)
	require.NoError(t, err)
	require.Len(t, s.Payloads, len(s.Events))
	assert.Equal(t, want, s.Payloads)
	assert.Nil(t, s.Payloads[len(s.Payloads)-1], "nothing is to be taken from a type that is passed over")

	_, err = Payloads([]msg.Event{{Type: "later/thing", Data: json.RawMessage(`{}`)}})
	assert.ErrorContains(t, err, "later/thing")
}

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	l, err := Create(dir, Header{ID: "s"}, Options{})
	require.NoError(t, err)
	_, err = l.Append(msg.TurnStart{Turn: 1})
	require.NoError(t, err)
	for _, s := range []string{"a", "b"} {
		_, err = l.Append(prompt(s))
		require.NoError(t, err)
	}
	_, err = l.Replace(msg.TodoWrite{}, 0, 2)
	require.ErrorContains(t, err, "only messages")
	_, err = l.Replace(prompt("sum"), 0, 3)
	require.ErrorContains(t, err, "earlier events")
	e, err := l.Replace(prompt("sum"), 0, 2)
	require.NoError(t, err)
	assert.True(t, Retold(e))
	require.NoError(t, l.Close())
	s, err := Read(dir, "s")
	require.NoError(t, err)
	got, err := Surface(s.Events, s.Payloads)
	require.NoError(t, err)
	require.Len(t, got, 1)
	assert.Equal(t, prompt("sum"), got[0].Payload)
}
