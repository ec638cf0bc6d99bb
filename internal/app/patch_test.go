package app

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/acptest"
)

// settings writes the settings file.
func (p *place) settings(text string) {
	p.t.Helper()
	dir := filepath.Join(p.env["HOME"], ".config")
	p.env["XDG_CONFIG_HOME"] = dir
	require.NoError(p.t, os.MkdirAll(filepath.Join(dir, "dsh-acp"), 0o755))
	require.NoError(p.t, os.WriteFile(filepath.Join(dir, "dsh-acp", "settings.json"), []byte(text), 0o644))
}

func TestAPatchFromPromptToReplay(t *testing.T) {
	p := newPlace(t)
	p.env["DSH_TOOLSET"] = "patch"
	a, b := p.write("a.txt", lines), p.write("b.json", "{\n  \"x\": 1\n}\n")
	p.plays(use("t1", "apply_patch", map[string]any{"operations": []any{
		map[string]any{"op": "replace_text", "path": "a.txt", "search": "a", "replace": "b"},
		map[string]any{"op": "set_json", "path": b, "pointer": "/y", "value": true},
		map[string]any{"op": "create_file", "path": "c/n.md", "text": "# New\n", "parents": true},
	}}), say("done"))
	c, stop := p.agent()
	var question acptest.Question
	c.OnQuestion(func(q acptest.Question) any {
		question = q
		return q.Pick("allow_once")
	})
	id := p.newSession(c)
	assert.Equal(t, "end_turn", p.prompt(c, id, "change it"))
	assert.Equal(t, "{\n  \"x\": 1,\n  \"y\": true\n}\n", p.read("b.json"))
	assert.Equal(t, "# New\n", p.read("c/n.md"))

	type block struct {
		Type, Path, NewText string
		OldText             *string
	}
	var asked struct {
		Title     string
		Content   []block
		Locations []struct{ Path string }
	}
	require.NoError(t, json.Unmarshal(question.ToolCall, &asked))
	assert.Equal(t, "Edit a.txt, b.json, c/n.md", asked.Title)
	require.Len(t, asked.Content, 3, "the question shows every operation")
	require.Len(t, asked.Locations, 3, "the question names every file")
	for i, path := range []string{a, b, filepath.Join(p.root, "c", "n.md")} {
		assert.Equal(t, path, asked.Locations[i].Path)
		assert.Equal(t, path, asked.Content[i].Path)
	}

	live := p.fold(c, id).Call("t1")
	require.NotNil(t, live)
	var shown struct{ Content []block }
	raw, err := json.Marshal(live)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &shown))
	require.Len(t, shown.Content, 3)
	assert.Equal(t, "1\n2\n3\nb\n5\n6\n7", shown.Content[0].NewText)
	assert.Equal(t, "{\n  \"x\": 1,\n  \"y\": true\n}", shown.Content[1].NewText)
	assert.Nil(t, shown.Content[2].OldText)
	stop()
	c.Ended()

	require.NoError(t, os.Remove(a))
	delete(p.env, "DSH_TOOLSET") // a session replays under any setting
	c, _ = p.agent()
	require.NoError(t, c.Call("session/load", map[string]any{"sessionId": id, "cwd": p.root, "mcpServers": []any{}}, nil))
	replayed, err := json.Marshal(p.fold(c, id).Call("t1"))
	require.NoError(t, err)
	assert.JSONEq(t, string(raw), string(replayed), "the same call, from the log alone")
}

// TestHidingChangesWithTheNextRequest: the settings file is changed while a
// session runs.
func TestHidingChangesWithTheNextRequest(t *testing.T) {
	p := newPlace(t)
	file := p.write("a.txt", lines)
	p.settings(`{"toolset": "patch"}`)
	diagnostics := filepath.Join(p.env["HOME"], "dsh.log")
	p.env["DSH_LOG"] = "info:" + diagnostics
	edit := map[string]any{"file_path": file, "old_string": "a", "new_string": "b"}
	p.plays(
		use("t1", "edit", edit), say("hidden"),
		use("t2", "edit", edit), say("shown"),
		say("bad settings"), say("by name"))
	c, _ := p.agent()
	c.OnQuestion(func(q acptest.Question) any { return q.Pick("allow_once") })
	id := p.newSession(c)

	logged, err := os.ReadFile(diagnostics)
	require.NoError(t, err)
	assert.Regexp(t, `edit.*hidden from the model|hidden from the model.*edit`, string(logged))

	p.prompt(c, id, "one")
	refused, err := json.Marshal(p.fold(c, id).Call("t1"))
	require.NoError(t, err)
	assert.Contains(t, string(refused), "failed")
	assert.Contains(t, string(refused), "apply_patch")
	assert.Equal(t, lines, p.read("a.txt"))

	p.settings(`{"toolset": "patch", "hideNativeWriteTools": false}`)
	p.prompt(c, id, "two")
	assert.NotEqual(t, lines, p.read("a.txt"))

	p.settings(`{"hideNativeWriteTools": maybe`)
	p.prompt(c, id, "three")
	p.settings(`{"toolset": "patch", "hiddenToolNames": ["write", "apply_patch"]}`)
	p.prompt(c, id, "four")

	sent := p.model.Conversation()
	require.Len(t, sent, 6)
	for i, want := range [][]string{
		{"apply_patch", "write"}, {"apply_patch", "write"},
		{"apply_patch", "edit", "write"}, {"apply_patch", "edit", "write"}, {"apply_patch", "edit", "write"},
		{"apply_patch"},
	} {
		_, list, _ := strings.Cut(sent[i].System, "Your tools: ")
		list, _, _ = strings.Cut(list, ".")
		var offered, told []string
		for _, name := range []string{"apply_patch", "edit", "write"} {
			if slices.Contains(sent[i].Tools, name) {
				offered = append(offered, name)
			}
			if slices.Contains(strings.Split(list, ", "), name) {
				told = append(told, name)
			}
		}
		assert.Equal(t, want, offered, "the tools of request %d", i+1)
		assert.Equal(t, want, told, "the prompt of request %d", i+1)
	}
}
