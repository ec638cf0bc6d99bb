package app

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/acptest"
)

var errEditor = errors.New("out of ink")

// editor starts an agent for an editor that has the place's folder open.
func (p *place) editor(b *acptest.Buffers) (c *acptest.Client, session string, stop func()) {
	p.t.Helper()
	b.Worktrees = []string{p.root}
	c, stop = p.agentFor(map[string]any{"fs": map[string]any{"readTextFile": true, "writeTextFile": true}})
	c.ServeFiles(context.Background(), b)
	return c, p.newSession(c), stop
}

// call is what the client holds of a call, as JSON.
func (p *place) call(c *acptest.Client, session, id string) string {
	p.t.Helper()
	call := p.fold(c, session).Call(id)
	require.NotNil(p.t, call)
	raw, err := json.Marshal(call)
	require.NoError(p.t, err)
	return string(raw)
}

// TestAnEditOfUnsavedText goes from a buffer that is not saved to its hunks in
// a session that is loaded: what is asked about, what is applied and what is
// shown are made of the editor's text, as it was formatted when it was saved.
func TestAnEditOfUnsavedText(t *testing.T) {
	p := newPlace(t)
	file := p.write("a.txt", "one\r\ntwo\r\nthree\r\n")
	p.plays(
		use("t1", "Read", map[string]any{"file_path": file}),
		use("t2", "Edit", map[string]any{"file_path": file, "old_string": "TWO", "new_string": "  2"}), say("done"))
	b := &acptest.Buffers{Format: func(s string) string { return strings.ReplaceAll(s, "  ", "\t") }}
	c, id, stop := p.editor(b)
	require.NoError(t, b.Type(file, "two", "TWO"))
	var asked string
	c.OnQuestion(func(q acptest.Question) any {
		asked = string(q.ToolCall)
		return q.Pick("allow_once")
	})
	assert.Equal(t, "end_turn", p.prompt(c, id, "change it"))

	assert.Contains(t, p.call(c, id, "t1"), `2\tTWO\n3\tthree`)
	assert.Contains(t, p.call(c, id, "t1"), "changes that are not saved")
	assert.Contains(t, asked, `"oldText":"one\nTWO\nthree","newText":"one\n  2\nthree"`)
	live := p.call(c, id, "t2")
	assert.Contains(t, live, `"newText":"one\n\t2\nthree","oldText":"one\nTWO\nthree"`)
	assert.Contains(t, live, "it formatted the text")
	assert.Equal(t, "one\r\n\t2\r\nthree\r\n", p.read("a.txt"))
	assert.Equal(t, []string{"read a.txt", "read a.txt", "read a.txt", "write a.txt"}, b.Calls(), "once for the Read, and before and after the question")
	stop()

	c, _ = p.agent()
	require.NoError(t, c.Call("session/load", map[string]any{"sessionId": id, "cwd": p.root, "mcpServers": []any{}}, nil))
	assert.JSONEq(t, live, p.call(c, id, "t2"))
}

func times(calls []string, one string) (n int) {
	for _, c := range calls {
		if c == one {
			n++
		}
	}
	return n
}

// TestAnEditAddsTwoRoundTrips counts what a change through the editor costs
// where nobody is asked.
func TestAnEditAddsTwoRoundTrips(t *testing.T) {
	p := newPlace(t)
	file := p.write("a.txt", "one\ntwo\n")
	p.env["DSH_MODE"] = "acceptEdits"
	p.plays(use("t1", "Edit", map[string]any{"file_path": file, "old_string": "two", "new_string": "TWO"}), say("done"))
	b := &acptest.Buffers{}
	c, id, _ := p.editor(b)
	assert.Equal(t, "end_turn", p.prompt(c, id, "change it"))
	assert.Equal(t, "one\nTWO\n", p.read("a.txt"))
	assert.Equal(t, []string{"read a.txt", "write a.txt"}, b.Calls())
}

// TestEveryToolChangesFilesThroughTheEditor has each of them change a buffer
// that is not saved, and show what the editor made of the change.
func TestEveryToolChangesFilesThroughTheEditor(t *testing.T) {
	notebook := "{\n \"cells\": [\n  {\n   \"cell_type\": \"code\",\n   \"execution_count\": null,\n   \"id\": \"c1\",\n   \"metadata\": {},\n   \"outputs\": [],\n   \"source\": [\"old\"]\n  }\n ],\n \"metadata\": {},\n \"nbformat\": 4,\n \"nbformat_minor\": 5\n}\n"
	plain := "one\ntwo\nthree\n"
	for name, test := range map[string]struct {
		file, old string
		args      map[string]any
		want      string // in the file
		hunk      string // of the call; "" for tools that show none
	}{
		"Edit": {"a.txt", plain, map[string]any{"file_path": "a.txt", "old_string": "two", "new_string": "2"},
			"mine\n2\nthree\n// saved\n", `"newText":"mine\n2\nthree\n// saved"`},
		"Write": {"a.txt", plain, map[string]any{"file_path": "a.txt", "content": "mine\n2\n"},
			"mine\n2\n// saved\n", `"newText":"mine\n2\n// saved"`},
		"apply_patch": {"a.txt", plain, map[string]any{"operations": []any{map[string]any{"op": "replace_text", "path": "a.txt", "search": "two", "replace": "2"}}},
			"mine\n2\nthree\n// saved\n", `"newText":"mine\n2\nthree\n// saved"`},
		"fs_edit": {"a.txt", plain, map[string]any{"path": "a.txt", "old_string": "two", "new_string": "2"},
			"mine\n2\nthree\n// saved\n", `"newText":"mine\n2\nthree\n// saved"`},
		"fs_write": {"a.txt", plain, map[string]any{"path": "a.txt", "content": "mine\n2\n"},
			"mine\n2\n// saved\n", `"newText":"mine\n2\n// saved"`},
		"NotebookEdit": {"a.ipynb", notebook, map[string]any{"notebook_path": "a.ipynb", "cell_id": "c1", "new_source": "new"},
			"new", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			file := p.write(test.file, test.old)
			p.env["DSH_MODE"], p.env["DSH_TOOLSET"], p.env["DSH_HIDE_NATIVE_WRITE_TOOLS"] = "acceptEdits", "Read,"+name, "false"
			p.plays(use("t0", "Read", map[string]any{"file_path": file}), use("t1", name, test.args), say("done"))
			b := &acptest.Buffers{}
			if name != "NotebookEdit" {
				b.Format = func(s string) string { return strings.TrimSuffix(s, "// saved\n") + "// saved\n" }
			}
			c, id, _ := p.editor(b)
			if name == "NotebookEdit" {
				require.NoError(t, b.Type(file, `"metadata": {},`+"\n   \"outputs\"", `"metadata": {"mine": 1},`+"\n   \"outputs\""))
			} else {
				require.NoError(t, b.Type(file, "one", "mine"))
			}
			assert.Equal(t, "end_turn", p.prompt(c, id, "change it"))
			assert.Contains(t, p.read(test.file), test.want)
			assert.Contains(t, p.read(test.file), "mine")
			assert.Equal(t, []string{"read " + test.file, "read " + test.file, "write " + test.file}, b.Calls(), "the Read, and two for the change")
			call := p.call(c, id, "t1")
			assert.Contains(t, call, "it is saved now")
			assert.Contains(t, call, test.hunk)
		})
	}
}

// TestUndoGoesThroughTheEditor rolls back by the tool and by the command.
func TestUndoGoesThroughTheEditor(t *testing.T) {
	p := newPlace(t)
	file := p.write("a.txt", "one\ntwo\n")
	p.env["DSH_MODE"], p.env["DSH_TOOLSET"] = "acceptEdits", "Edit,fs_rollback"
	p.plays(
		use("t1", "Edit", map[string]any{"file_path": file, "old_string": "two", "new_string": "2"}),
		use("t2", "fs_rollback", map[string]any{"path": "a.txt", "hash": ""}),
		use("t3", "Edit", map[string]any{"file_path": file, "old_string": "two", "new_string": "zwei"}),
		say("done"))
	b := &acptest.Buffers{}
	c, id, _ := p.editor(b)
	require.NoError(t, b.Type(file, "one", "mine"))
	assert.Equal(t, "end_turn", p.prompt(c, id, "change it"))
	assert.Equal(t, "mine\nzwei\n", p.read("a.txt"))
	assert.Equal(t, 3, times(b.Calls(), "write a.txt"), "%v", b.Calls())
	assert.Equal(t, "end_turn", p.prompt(c, id, "/undo call"))
	assert.Equal(t, "mine\ntwo\n", p.read("a.txt"), "with what was not saved before")
	assert.Equal(t, "mine\ntwo\n", b.Text(file))
	assert.Equal(t, 4, times(b.Calls(), "write a.txt"))
}

func TestEditorFilesSetting(t *testing.T) {
	for name, c := range map[string]struct {
		setting string
		offered bool
		calls   bool
		refused bool
	}{
		"never":               {"never", true, false, false},
		"auto, offered":       {"auto", true, true, false},
		"auto, not offered":   {"auto", false, false, false},
		"always, offered":     {"always", true, true, false},
		"always, not offered": {"always", false, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			file := p.write("a.txt", "one\n")
			p.env["DSH_MODE"], p.env["DSH_EDITOR_FILES"] = "acceptEdits", c.setting
			p.plays(use("t1", "Edit", map[string]any{"file_path": file, "old_string": "one", "new_string": "two"}), say("done"))
			b := &acptest.Buffers{Worktrees: []string{p.root}}
			client, _ := p.agentFor(map[string]any{"fs": map[string]any{"readTextFile": c.offered, "writeTextFile": c.offered}})
			client.ServeFiles(t.Context(), b)
			id := p.newSession(client)
			assert.Equal(t, "end_turn", p.prompt(client, id, "change it"))
			assert.Equal(t, c.calls, len(b.Calls()) > 0)
			if c.refused {
				assert.Equal(t, "one\n", p.read("a.txt"))
				assert.Contains(t, p.call(client, id, "t1"), "only changed through the editor")
				return
			}
			assert.Equal(t, "two\n", p.read("a.txt"))
		})
	}
}

// TestEditorThatFails has the model told what became of the call, and the next
// one succeed.
func TestEditorThatFails(t *testing.T) {
	p := newPlace(t)
	file := p.write("a.txt", "one\n")
	p.env["DSH_MODE"] = "acceptEdits"
	again := map[string]any{"file_path": file, "old_string": "one", "new_string": "two"}
	p.plays(use("t1", "Edit", again), use("t2", "Edit", again), say("done"))
	b := &acptest.Buffers{}
	b.BeforeWrite = func(context.Context, string) error {
		if times(b.Calls(), "write a.txt") == 1 {
			return errEditor
		}
		return nil
	}
	c, id, _ := p.editor(b)
	assert.Equal(t, "end_turn", p.prompt(c, id, "change it"))
	assert.Contains(t, p.call(c, id, "t1"), "out of ink; nothing was written")
	assert.Equal(t, "two\n", p.read("a.txt"))
}

// TestEditorThatLeaves ends while the agent waits for its answer: the agent
// ends too, and has not written the file by itself.
func TestEditorThatLeaves(t *testing.T) {
	p := newPlace(t)
	file := p.write("a.txt", "one\n")
	p.env["DSH_MODE"] = "acceptEdits"
	p.plays(use("t1", "Edit", map[string]any{"file_path": file, "old_string": "one", "new_string": "two"}), say("done"))
	told := make(chan struct{})
	b := &acptest.Buffers{BeforeWrite: func(context.Context, string) error {
		close(told)
		select {} // never answered
	}}
	c, id, stop := p.editor(b)
	c.Request("session/prompt", map[string]any{"sessionId": id, "prompt": []any{map[string]any{"type": "text", "text": "change it"}}})
	<-told
	stop()
	c.Ended()
	assert.Equal(t, "one\n", p.read("a.txt"))
}

// TestEditorKnowsNothingOfTheAgentsRules keeps files that no user has asked
// about out of the editor.
func TestEditorKnowsNothingOfTheAgentsRules(t *testing.T) {
	p := newPlace(t)
	p.write("AGENTS.md", "Be brief.")
	p.plays(say("done"))
	b := &acptest.Buffers{}
	c, id, _ := p.editor(b)
	assert.Equal(t, "end_turn", p.prompt(c, id, "hello"))
	assert.Empty(t, b.Calls())
}

// TestSearchesBesideAnEditor goes through the folders on the disk.
func TestSearchesBesideAnEditor(t *testing.T) {
	p := newPlace(t)
	p.write("a.txt", "one\n")
	p.plays(
		use("t1", "Grep", map[string]any{"pattern": "one", "output_mode": "content"}),
		use("t2", "Glob", map[string]any{"pattern": "*.txt"}), say("done"))
	c, id, _ := p.editor(&acptest.Buffers{})
	p.prompt(c, id, "search")
	assert.Contains(t, p.call(c, id, "t1"), "a.txt:1:one")
	assert.Contains(t, p.call(c, id, "t2"), `"RawOutput":"a.txt"`)
}
