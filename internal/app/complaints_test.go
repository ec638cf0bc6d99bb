package app

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/acptest"
)

// What people report of agents in editors, where no other test is about it;
// docs/complaints.md has the whole list.

// TestEachCallIsToldInOrder: a call is announced before it is asked about, asked
// about before it runs, ends once, and nothing of a turn follows its answer.
func TestEachCallIsToldInOrder(t *testing.T) {
	p := newPlace(t)
	file := p.write("a.txt", lines)
	p.plays(
		use("t1", "Edit", map[string]any{"file_path": file, "old_string": "a", "new_string": "b"}),
		use("t2", "Write", map[string]any{"file_path": filepath.Join(p.root, "new.txt"), "content": "x\n"}),
		use("t3", "Bash", map[string]any{"command": "echo one >> a.txt"}), say("done"))
	c, _ := p.agent()
	c.OnQuestion(func(q acptest.Question) any { return q.Pick("allow_once") })
	id := p.newSession(c)
	require.Equal(t, "end_turn", p.prompt(c, id, "go"))
	state, answered := map[string]string{}, false
	for _, m := range c.Messages() {
		var n struct {
			StopReason string
			ToolCall   struct{ ToolCallID string }
			Update     struct{ SessionUpdate, ToolCallID, Status string }
		}
		_ = json.Unmarshal(m.Params, &n) // other messages have other shapes
		_ = json.Unmarshal(m.Result, &n)
		call := n.Update.ToolCallID
		switch {
		case n.StopReason != "":
			assert.False(t, answered, "answered twice")
			answered = true
		case m.Method == "session/request_permission":
			assert.Equal(t, "pending", state[n.ToolCall.ToolCallID], "asked about a call that is not announced")
			state[n.ToolCall.ToolCallID] = "asked"
		case n.Update.SessionUpdate == "tool_call":
			assert.Empty(t, state[call], "announced twice")
			state[call] = n.Update.Status
		case n.Update.SessionUpdate == "tool_call_update":
			assert.NotEmpty(t, state[call], "an update of a call that is not announced")
			assert.NotEqual(t, "completed", state[call], "%s goes on after its end", call)
			if n.Update.Status != "" {
				assert.Equal(t, "asked", state[call], "%s ended unasked", call)
				state[call] = n.Update.Status
			}
			assert.False(t, answered, "an update after the answer")
		}
	}
	assert.True(t, answered)
	assert.Equal(t, map[string]string{"t1": "completed", "t2": "completed", "t3": "completed"}, state)
}

// TestANewFileKeepsItsDiff: what a call shows of a file that it makes stays to
// the end, and comes again when the session is loaded.
func TestANewFileKeepsItsDiff(t *testing.T) {
	p := newPlace(t,
		use("t1", "Write", map[string]any{"file_path": "new.txt", "content": "one\ntwo\n"}), say("done"))
	c, stop := p.agent()
	c.OnQuestion(func(q acptest.Question) any { return q.Pick("allow_once") })
	id := p.newSession(c)
	require.Equal(t, "end_turn", p.prompt(c, id, "go"))
	live := p.fold(c, id).Call("t1")
	path, err := json.Marshal(filepath.Join(p.root, "new.txt"))
	require.NoError(t, err)
	require.Len(t, live.Content, 1)
	assert.JSONEq(t, `{"type":"diff","path":`+string(path)+`,"oldText":null,"newText":"one\ntwo\n"}`, string(live.Content[0]))
	stop()
	c, _ = p.agent()
	require.NoError(t, c.Call("session/load", map[string]any{"sessionId": id, "cwd": p.root, "mcpServers": []any{}}, nil))
	assert.Equal(t, live, p.fold(c, id).Call("t1"))
}

// TestNamesThatShellsWouldTakeApart: folders and files with blanks, quotes,
// dollars and letters beyond ASCII are what they are, for tools and commands.
func TestNamesThatShellsWouldTakeApart(t *testing.T) {
	name := "a b $HOME ünï (1)"
	if runtime.GOOS != "windows" {
		name += ` 'q' "r" \s`
	}
	p := newPlace(t)
	dir := filepath.Join(p.root, name)
	require.NoError(t, os.Mkdir(dir, 0o755))
	file := filepath.Join(dir, name+".txt")
	require.NoError(t, os.WriteFile(file, []byte("one\ntwo\n"), 0o644))
	p.plays(
		use("t1", "Edit", map[string]any{"file_path": file, "old_string": "two", "new_string": "TWO"}),
		use("t2", "Bash", map[string]any{"command": "cat ./*.txt"}),
		use("t3", "Glob", map[string]any{"pattern": "*.txt", "path": dir}), say("done"))
	c, _ := p.agent()
	c.OnQuestion(func(q acptest.Question) any { return q.Pick("allow_once") })
	var made struct{ SessionID string }
	require.NoError(t, c.Call("session/new", map[string]any{"cwd": dir, "mcpServers": []any{}}, &made))
	require.Equal(t, "end_turn", p.prompt(c, made.SessionID, "go"))
	held := p.fold(c, made.SessionID)
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "one\nTWO\n", string(b))
	assert.Equal(t, `"one\nTWO"`, string(held.Call("t2").RawOutput))
	var found string
	require.NoError(t, json.Unmarshal(held.Call("t3").RawOutput, &found))
	assert.Equal(t, name+".txt", found)
}

// TestInitializeTouchesNothing: it is answered before any file is made or
// asked for, so a slow disk or a bad home folder cannot hold it up.
func TestInitializeTouchesNothing(t *testing.T) {
	p := newPlace(t)
	p.env["DSH_STATE_DIR"] = filepath.Join(p.root, "state")
	_, stop := p.agent() // it has answered
	stop()
	left, err := os.ReadDir(p.root)
	require.NoError(t, err)
	assert.Empty(t, left)
}
