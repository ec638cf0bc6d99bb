package eventlog

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dsh-acp/internal/msg"
)

// edits is a session of n turns with one edit each, of the size that edits
// have: 2 KiB of hunks.
func edits(n int) []msg.Payload {
	hunk := strings.Repeat("a line of code, as lines of code are\n", 12)
	meta, err := json.Marshal(map[string]any{"diffs": []any{map[string]any{"path": "a.go", "oldText": hunk, "newText": hunk, "oldStart": 1}}})
	if err != nil {
		panic(err)
	}
	var out []msg.Payload
	for i := range n {
		id := fmt.Sprint("call", i)
		r := returned(i, 1, id)
		r.Meta = meta
		out = append(out, msg.TurnStart{Turn: i}, msg.StepStart{Turn: i, Step: 1}, prompt("change it"),
			says(i, 1, msg.Text{Text: "I change it."}, use(id)), called(i, 1, id), r,
			msg.StepEnd{Turn: i, Step: 1}, msg.TurnEnd{Turn: i, Reason: msg.EndReason{Kind: msg.EndCompleted}})
	}
	return out
}

func BenchmarkAppend1000Edits(b *testing.B) {
	ps := edits(1000)
	for b.Loop() {
		l, err := Create(b.TempDir(), Header{ID: "s1"}, Options{})
		require.NoError(b, err)
		add(b, l, ps...)
		require.NoError(b, l.Close())
	}
}

func BenchmarkLoad1000Edits(b *testing.B) {
	dir := b.TempDir()
	l, err := Create(dir, Header{ID: "s1"}, Options{})
	require.NoError(b, err)
	add(b, l, edits(1000)...)
	require.NoError(b, l.Close())
	for b.Loop() {
		s, err := Read(dir, "s1")
		require.NoError(b, err)
		_, err = History(s.Events)
		require.NoError(b, err)
	}
}
