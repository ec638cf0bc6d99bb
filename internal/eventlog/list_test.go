package eventlog

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/msg"
)

func TestList(t *testing.T) {
	dir := t.TempDir()
	clock := ticking()
	filler := prompt(strings.Repeat("x", window+100))
	for _, s := range []struct {
		id string
		in []msg.Payload
	}{
		{"empty", nil},
		{"short", turn(0)},
		{"retitled", append(turn(0), turn(1)...)},
		{"title-first", []msg.Payload{msg.Titled{Title: "first"}, msg.TurnStart{}, filler, filler}},
		{"title-last", []msg.Payload{msg.TurnStart{}, filler, filler, msg.Titled{Title: "last"}}},
		{"title-between", []msg.Payload{msg.TurnStart{}, filler, filler, msg.Titled{Title: "between"}, filler, filler}},
		{"untitled", []msg.Payload{msg.TurnStart{}, filler, filler, filler}},
		{"set", []msg.Payload{msg.OptionSet{ID: "model", Value: json.RawMessage(`"m"`)}, msg.ModeSet{Mode: "plan"}}},
		{"moved", []msg.Payload{
			msg.TurnStart{}, msg.Folders{Cwd: "/then"}, filler, filler, msg.TurnEnd{Turn: 0, Reason: msg.EndReason{Kind: msg.EndCompleted}},
			msg.TurnStart{Turn: 1}, msg.Folders{Cwd: "/now", More: []string{"/too"}}, filler, filler, filler, filler, filler,
		}},
		{"quoted", []msg.Payload{msg.TurnStart{}, prompt(`{"type":"dsh/title","seq":1,"time":2,"data":{"title":"no"}}`)}},
	} {
		l, err := Create(dir, Header{ID: s.id, Cwd: dir}, Options{Now: clock})
		require.NoError(t, err)
		add(t, l, s.in...)
		require.NoError(t, l.Close())
	}
	for name, text := range map[string]string{"broken.jsonl": "{", "notes.txt": "x", "a.b.jsonl": "x", "short.jsonl.torn-1": "x"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder.jsonl"), 0o700))

	got, err := List(dir)
	require.NoError(t, err)
	titles := map[string]string{}
	var order []string
	for _, s := range got {
		if s.Err != nil {
			titles[s.ID] = "!"
			continue
		}
		order = append(order, s.ID)
		titles[s.ID] = s.Title
		if s.ID == "moved" {
			assert.Equal(t, "/now", s.Cwd, "of the last turn, however long it is")
			assert.Equal(t, []string{"/too"}, s.More)
		} else {
			assert.Equal(t, dir, s.Cwd)
		}
		assert.Equal(t, s.ID == "empty" || s.ID == "set", s.Empty)
		assert.GreaterOrEqual(t, s.UpdatedAt, s.CreatedAt)
		full, err := Read(dir, s.ID)
		require.NoError(t, err)
		if n := len(full.Events); n > 0 && s.ID != "title-between" && s.ID != "untitled" && s.ID != "title-first" {
			assert.Equal(t, full.Events[n-1].Time, s.UpdatedAt, s.ID)
		}
	}
	assert.Equal(t, []string{"quoted", "moved", "set", "untitled", "title-between", "title-last", "title-first", "retitled", "short", "empty"}, order)
	assert.Equal(t, map[string]string{"empty": "", "short": "ta", "retitled": "tb", "title-first": "first", "title-last": "last",
		"title-between": "between", "untitled": "", "quoted": "", "set": "", "moved": "", "broken": "!", "folder": "!"}, titles)

	none, err := List(filepath.Join(dir, "none"))
	require.NoError(t, err)
	assert.Empty(t, none)
}

func TestDelete(t *testing.T) {
	dir, log := sample(t, 1)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "s1.jsonl"), append(log, "{"...), 0o600))
	l, s, err := Open(dir, "s1", Options{})
	require.NoError(t, err)
	require.NotNil(t, s.Torn)
	require.NoError(t, l.Close())
	other, err := Create(dir, Header{ID: "s1x"}, Options{})
	require.NoError(t, err)
	require.NoError(t, other.Close())

	require.NoError(t, Delete(dir, "s1"))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, e := range left {
		names = append(names, e.Name())
	}
	assert.Equal(t, []string{"s1x.jsonl", "s1x.lock"}, names)
}

func TestIDs(t *testing.T) {
	for _, ok := range []string{"a", "s1", "019a-B_c", strings.Repeat("x", 128), NewID(time.Now())} {
		assert.NoError(t, ValidID(ok), ok)
	}
	for _, bad := range []string{"", ".", "..", "a/b", `a\b`, "/etc/passwd", "../../x", "a\x00b", "a.jsonl", "-rf", "é", "a b", "a:b", "a\n",
		"con", "NUL", "Com1", strings.Repeat("x", 129)} {
		var e *IDError
		assert.ErrorAs(t, ValidID(bad), &e, "%q", bad)
	}
	at := time.UnixMilli(1_700_000_000_000)
	seen := map[string]bool{}
	last := ""
	for i := range 500 {
		id := NewID(at.Add(time.Duration(i) * time.Millisecond))
		assert.Greater(t, id, last, "ids sort by time")
		assert.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, id)
		last, seen[NewID(at)] = id, true
	}
	assert.Len(t, seen, 500)
}
