package app

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/acptest"
	"dsh-acp/tools/fs"
)

// sessionWith starts a session with settings of its own.
func (p *place) sessionWith(c *acptest.Client, settings string) (id string, err error) {
	p.t.Helper()
	var res struct {
		SessionID string `json:"sessionId"`
	}
	err = c.Call("session/new", map[string]any{
		"cwd": p.root, "mcpServers": []any{},
		"_meta": map[string]any{"dsh": map[string]any{"settings": json.RawMessage(settings)}},
	}, &res)
	return res.SessionID, err
}

// calls plays tool calls one after the other in a session and gives what the
// model was told of each.
func (p *place) calls(c *acptest.Client, id string, list ...[2]string) []string {
	p.t.Helper()
	out := make([]string, len(list))
	for i, l := range list {
		var args map[string]any
		require.NoError(p.t, json.Unmarshal([]byte(l[1]), &args), l[1])
		p.plays(use("t", l[0], args), say("ok"))
		p.prompt(c, id, "go on")
		sent := p.model.Conversation()
		var body struct {
			Messages []struct {
				Content []struct {
					Type    string
					Content json.RawMessage
				}
			}
		}
		require.NoError(p.t, json.Unmarshal(sent[len(sent)-1].Body, &body))
		last := body.Messages[len(body.Messages)-1].Content
		require.Equal(p.t, "tool_result", last[0].Type)
		out[i] = string(last[0].Content)
	}
	return out
}

const denied = "permission denied"

// The lists of the settings hold for every tool of a session, through links
// too, and a rollback is no way around them.
func TestTheListsHoldForEveryTool(t *testing.T) {
	p := newPlace(t)
	p.settings(`{"toolset": ["Read", "Write", "Edit", "apply_patch", "fs_read", "fs_write", "fs_edit", "fs_rollback", "Grep"], "overwriteUnread": true,
		"hideNativeWriteTools": false,
		"guard": {"outside": "refuse", "block": ["secret", "../out/granted.txt.bak"], "allow": ["../out/granted.txt"], "readAllow": ["../out/readable.txt"]}}`)
	outside := filepath.Join(filepath.Dir(p.root), "out")
	for _, dir := range []string{outside, filepath.Join(p.root, "secret")} {
		require.NoError(t, os.Mkdir(dir, 0o755))
	}
	p.write("secret/k.txt", "key\n")
	p.write("secrets.txt", "plain\n")
	for _, name := range []string{"granted.txt", "readable.txt", "other.txt"} {
		require.NoError(t, os.WriteFile(filepath.Join(outside, name), []byte("out\n"), 0o644))
	}
	require.NoError(t, os.Symlink(outside, filepath.Join(p.root, "link")))
	require.NoError(t, os.Symlink("secret", filepath.Join(p.root, "pub")))

	c, _ := p.agent()
	c.OnQuestion(func(q acptest.Question) any { return q.Pick("allow_once") })
	id := p.newSession(c)
	for _, x := range []struct {
		path         string
		reads, edits bool
	}{
		{"secrets.txt", true, true},
		{"secret/k.txt", false, false},
		{"pub/k.txt", false, false},
		{"link/other.txt", false, false},
		{"../out/other.txt", false, false},
		{"../out/granted.txt", false, true},
		{"../out/readable.txt", true, false},
	} {
		path := filepath.ToSlash(filepath.Join(p.root, x.path))
		if strings.HasPrefix(x.path, "link") || strings.HasPrefix(x.path, "pub") {
			path = filepath.ToSlash(p.root) + "/" + x.path
		}
		says := p.calls(c, id,
			[2]string{"Read", `{"file_path": "` + path + `"}`},
			[2]string{"fs_read", `{"path": "` + path + `"}`},
			[2]string{"Grep", `{"pattern": "key|out|plain", "path": "` + path + `", "output_mode": "content"}`},
			[2]string{"Write", `{"file_path": "` + path + `", "content": "w\n"}`},
			[2]string{"Edit", `{"file_path": "` + path + `", "old_string": "w", "new_string": "e"}`},
			[2]string{"apply_patch", `{"operations": [{"op": "replace_text", "path": "` + path + `", "search": "e", "replace": "p"}]}`},
			[2]string{"fs_write", `{"path": "` + path + `", "content": "f\n"}`},
			[2]string{"fs_edit", `{"path": "` + path + `", "old_string": "f", "new_string": "g"}`},
			[2]string{"fs_rollback", `{"path": "` + path + `", "hash": ""}`},
		)
		for i, s := range says {
			want := x.edits
			if i < 3 {
				want = x.reads
			}
			assert.Equal(t, !want, strings.Contains(s, denied), "%s, call %d: %s", x.path, i, s)
		}
		b, err := os.ReadFile(filepath.Join(p.root, x.path))
		require.NoError(t, err)
		if x.edits {
			assert.Equal(t, "f\n", string(b), x.path)
		} else {
			assert.NotContains(t, []string{"f\n", "g\n", "w\n"}, string(b), x.path)
		}
	}
	p.write("new.txt", "")
	says := p.calls(c, id, [2]string{"Write", `{"file_path": "link/new.txt", "content": "x"}`}, [2]string{"Grep", `{"pattern": "key", "output_mode": "content"}`})
	assert.Contains(t, says[0], denied)
	assert.NotContains(t, says[1], "secret/k.txt", "a search passes over what may not be read")
	assert.NoFileExists(t, filepath.Join(outside, "new.txt"))
}

// A client's own lists hold in its session and nowhere else.
func TestListsOfOneSession(t *testing.T) {
	p := newPlace(t)
	p.settings(`{"guard": {"block": ["a"]}}`)
	for _, dir := range []string{"a", "b"} {
		require.NoError(t, os.Mkdir(filepath.Join(p.root, dir), 0o755))
		p.write(dir+"/x", "text\n")
	}
	c, _ := p.agent()
	ours, err := p.sessionWith(c, `{"guard": {"block": ["b"]}, "toolset": "hashline"}`)
	require.NoError(t, err)
	theirs := p.newSession(c)
	says := p.calls(c, ours, [2]string{"fs_read", `{"path": "a/x"}`}, [2]string{"fs_read", `{"path": "b/x"}`})
	assert.NotContains(t, says[0], denied)
	assert.Contains(t, says[1], denied)
	says = p.calls(c, theirs, [2]string{"Read", `{"file_path": "a/x"}`}, [2]string{"Read", `{"file_path": "b/x"}`})
	assert.Contains(t, says[0], denied)
	assert.NotContains(t, says[1], denied)

	for settings, want := range map[string]string{
		`{"guard": {"blocks": []}}`: "did you mean",
		`{"stateDir": "/tmp"}`:      "holds for the whole program",
		`[]`:                        "found a list",
	} {
		_, err := p.sessionWith(c, settings)
		assert.ErrorContains(t, err, want)
		assert.ErrorContains(t, err, "Invalid params")
	}
}

// Each choice of the toolbox reaches the session.
func TestTheChoicesOfTheToolbox(t *testing.T) {
	p := newPlace(t)
	p.settings(`{"toolset": "hashline"}`)
	c, _ := p.agent()
	c.OnQuestion(func(q acptest.Question) any { return q.Pick("allow_once") })
	edit := func(file string) [2]string {
		return [2]string{"fs_edit", `{"path": "` + file + `", "old_string": "\na\n", "new_string": "\nb\n"}`}
	}
	generated := "// Code generated by x. DO NOT EDIT.\na\n"

	p.write("g.go", generated)
	byDefault := p.newSession(c)
	assert.Contains(t, p.calls(c, byDefault, edit("g.go"))[0], "the file is generated")
	assert.Equal(t, generated, p.read("g.go"), "the default refuses")
	warns, err := p.sessionWith(c, `{"guard": {"generated": "warn"}}`)
	require.NoError(t, err)
	assert.Contains(t, p.calls(c, warns, edit("g.go"))[0], "the file is generated")
	assert.Contains(t, p.read("g.go"), "\nb\n")

	p.write("g.go", generated)
	refuses, err := p.sessionWith(c, `{"hashline": {"seenLines": "reject", "engine": "replace", "advertiseBatch": true}}`)
	require.NoError(t, err)
	p.write("n.txt", "1\n2\n3\n")
	says := p.calls(c, refuses,
		edit("g.go"),
		[2]string{"fs_read", `{"path": "g.go", "limit": 1}`},
		[2]string{"fs_read", `{"path": "n.txt", "limit": 1}`},
		[2]string{"fs_edit", `{"path": "n.txt", "file_hash": "` + tagOf("1\n2\n3\n") + `", "ops": "delete 3"}`},
	)
	assert.Contains(t, says[0], "path, file_hash and ops", "with one engine the others are not known")
	assert.Contains(t, says[3], "nothing written")
	assert.Contains(t, says[3], "3| 3", "the line is shown with the refusal")
	assert.Equal(t, "1\n2\n3\n", p.read("n.txt"))
	says = p.calls(c, refuses, [2]string{"fs_edit", `{"path": "n.txt", "file_hash": "` + tagOf("1\n2\n3\n") + `", "ops": "delete 3"}`},
		[2]string{"fs_edit", `{"path": "g.go", "file_hash": "` + tagOf(generated) + `", "ops": "replace 1:\n+x"}`})
	assert.Equal(t, "1\n2\n", p.read("n.txt"), "shown lines are seen")
	assert.Contains(t, says[1], "the file is generated")
	assert.Equal(t, generated, p.read("g.go"))
	sent := p.model.Conversation()
	assert.Contains(t, string(sent[len(sent)-1].Body), `"targets"`)

	off, err := p.sessionWith(c, `{"guard": {"generated": "off"}}`)
	require.NoError(t, err)
	assert.NotContains(t, p.calls(c, off, edit("g.go"))[0], "the file is generated")
	sent = p.model.Conversation()
	assert.NotContains(t, string(sent[len(sent)-1].Body), `"targets"`)
}

func tagOf(text string) string { return fs.TagOf([]byte(text)) }
