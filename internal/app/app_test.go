package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/acpschema"
	"dsh-acp/internal/acptest"
	"dsh-acp/internal/config"
	"dsh-acp/internal/modelserver"
	"dsh-acp/presenter"
)

// A place is where an agent of a test works: folders that outlive it, so that
// another one can go on, and a model service with a script.
type place struct {
	t      *testing.T
	root   string // the session's folder
	script atomic.Pointer[modelserver.Script]
	model  *modelserver.Server
	env    map[string]string
}

func newPlace(t *testing.T, answers ...modelserver.Answer) *place {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	p := &place{t: t, root: filepath.Join(dir, "work")}
	p.plays(answers...)
	require.NoError(t, os.Mkdir(p.root, 0o755))
	p.model, err = modelserver.Start(func(r modelserver.Request) modelserver.Answer { return p.script.Load().Next(r) })
	require.NoError(t, err)
	t.Cleanup(func() { p.model.Close() })
	p.env = map[string]string{
		"HOME": dir, "USERPROFILE": dir, "DSH_STATE_DIR": filepath.Join(dir, "state"), "DSH_MAX_RETRIES": "0", "DSH_KEYRING": "never",
		"ANTHROPIC_BASE_URL": p.model.URL(), "ANTHROPIC_API_KEY": "sk-test-secret",
	}
	return p
}

// plays sets what the model answers from here on.
func (p *place) plays(answers ...modelserver.Answer) {
	p.script.Store(modelserver.NewScript(answers...))
}

func (p *place) write(name, text string) string {
	p.t.Helper()
	path := filepath.Join(p.root, name)
	require.NoError(p.t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

func (p *place) read(name string) string {
	p.t.Helper()
	b, err := os.ReadFile(filepath.Join(p.root, name))
	require.NoError(p.t, err)
	return string(b)
}

// pipes starts an agent and gives the other ends of its streams. stop ends
// its input and waits.
func (p *place) pipes() (toAgent io.Writer, fromAgent io.Reader, stop func()) {
	p.t.Helper()
	in, w := io.Pipe()
	r, out := io.Pipe()
	done := make(chan error, 1)
	stderr := testLog{p.t}
	a := New(Options{
		Source:  config.Source{Getenv: func(name string) (string, bool) { v, ok := p.env[name]; return v, ok }},
		Version: "test", Login: []string{"dsh-acp", "login"}, Stderr: stderr,
	})
	go func() {
		done <- a.Serve(context.Background(), in, out)
		out.Close()
	}()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		w.Close()
		require.NoError(p.t, <-done)
	}
	p.t.Cleanup(stop)
	return w, r, stop
}

// testLog shows the agent's diagnostics, and fails if they hold a key.
type testLog struct{ t *testing.T }

func (l testLog) Write(b []byte) (int, error) {
	if strings.Contains(string(b), "secret") {
		l.t.Errorf("a key in the log: %s", b)
	}
	l.t.Logf("stderr: %s", b)
	return len(b), nil
}

// agent starts an agent with the fake editor, which checks all by the schema.
func (p *place) agent() (c *acptest.Client, stop func()) {
	p.t.Helper()
	return p.agentFor(map[string]any{})
}

// agentFor is agent for an editor of these capabilities.
func (p *place) agentFor(capabilities map[string]any) (c *acptest.Client, stop func()) {
	p.t.Helper()
	in, out, stop := p.pipes()
	var schema acpschema.Checker
	c = acptest.New(p.t, io.MultiWriter(requests{&schema}, in), out)
	c.Check(func(raw []byte) error {
		unknown, err := schema.Check(acpschema.FromAgent, json.RawMessage(raw))
		if err == nil && len(unknown) > 0 {
			return fmt.Errorf("names that the schema does not know: %q", unknown)
		}
		return err
	})
	require.NoError(p.t, c.Call("initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": capabilities}, nil))
	return c, stop
}

type requests struct{ schema *acpschema.Checker }

func (r requests) Write(b []byte) (int, error) {
	_, _ = r.schema.Check(acpschema.FromClient, json.RawMessage(b))
	return len(b), nil
}

func (p *place) newSession(c *acptest.Client) string {
	p.t.Helper()
	var res struct {
		SessionID string `json:"sessionId"`
	}
	require.NoError(p.t, c.Call("session/new", map[string]any{"cwd": p.root, "mcpServers": []any{}}, &res))
	return res.SessionID
}

func (p *place) prompt(c *acptest.Client, id, text string) string {
	p.t.Helper()
	var res struct {
		StopReason string `json:"stopReason"`
	}
	require.NoError(p.t, c.Call("session/prompt", map[string]any{"sessionId": id, "prompt": []any{map[string]any{"type": "text", "text": text}}}, &res))
	return res.StopReason
}

// fold gives what a client holds after all updates so far.
func (p *place) fold(c *acptest.Client, id string) *presenter.Client {
	p.t.Helper()
	var held presenter.Client
	for _, m := range c.Messages() {
		var n struct {
			SessionID string          `json:"sessionId"`
			Update    json.RawMessage `json:"update"`
		}
		if m.Method != "session/update" {
			continue
		}
		require.NoError(p.t, json.Unmarshal(m.Params, &n))
		if n.SessionID == id {
			require.NoError(p.t, held.Apply(n.Update))
		}
	}
	return &held
}

func use(id, name string, args map[string]any) modelserver.Message {
	raw, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return modelserver.Message{Blocks: []modelserver.Block{modelserver.ToolUse{ID: id, Name: name, Input: string(raw)}}}
}

func say(text string) modelserver.Message {
	return modelserver.Message{Blocks: []modelserver.Block{modelserver.Text{Text: text}}}
}

const lines = "1\n2\n3\na\n5\n6\n7\n8\n"

func TestAnEditFromPromptToReplay(t *testing.T) {
	p := newPlace(t)
	file := p.write("a.txt", lines)
	p.write("AGENTS.md", "Always be brief.")
	p.plays(
		use("t1", "Edit", map[string]any{"file_path": file, "old_string": "a", "new_string": "b"}), say("done"),
		say("you said: change it"))

	c, stop := p.agent()
	var question acptest.Question
	c.OnQuestion(func(q acptest.Question) any {
		question = q
		return q.Pick("allow_once")
	})
	id := p.newSession(c)
	assert.Equal(t, "end_turn", p.prompt(c, id, "change it"))
	assert.Equal(t, strings.Replace(lines, "a", "b", 1), p.read("a.txt"))
	assert.Contains(t, string(question.ToolCall), `"oldText":"1\n2\n3\na\n5\n6\n7","newText":"1\n2\n3\nb\n5\n6\n7"`, "the hunk as it would be made")
	live := p.fold(c, id).Call("t1")
	require.NotNil(t, live)
	stop()
	c.Ended()

	require.NoError(t, os.Remove(file))
	c, _ = p.agent()
	require.NoError(t, c.Call("session/load", map[string]any{"sessionId": id, "cwd": p.root, "mcpServers": []any{}}, nil))
	replayed := p.fold(c, id).Call("t1")
	require.NotNil(t, replayed)
	liveJSON, err := json.Marshal(live)
	require.NoError(t, err)
	replayedJSON, err := json.Marshal(replayed)
	require.NoError(t, err)
	assert.JSONEq(t, string(liveJSON), string(replayedJSON), "the same call, from the log alone")
	assert.Contains(t, string(replayedJSON), `1\n2\n3\nb\n5\n6\n7`)

	assert.Equal(t, "end_turn", p.prompt(c, id, "what did I say?"))
	sent := p.model.Conversation()
	last := string(sent[len(sent)-1].Body)
	assert.Contains(t, last, "change it", "the model knows what was said")
	assert.Contains(t, last, "what did I say?")
	assert.Contains(t, last, "Always be brief.")

	var list struct {
		Sessions []struct {
			SessionID, Cwd, Title string
		} `json:"sessions"`
	}
	require.NoError(t, c.Call("session/list", map[string]any{"cwd": p.root}, &list))
	require.Len(t, list.Sessions, 1)
	assert.Equal(t, "change it", list.Sessions[0].Title)
	assert.Equal(t, p.root, list.Sessions[0].Cwd)
}

func TestARejectedEditLeavesTheFile(t *testing.T) {
	p := newPlace(t)
	file := p.write("a.txt", lines)
	p.plays(
		use("t1", "Edit", map[string]any{"file_path": file, "old_string": "a", "new_string": "b"}), say("understood"))
	c, _ := p.agent()
	c.OnQuestion(func(q acptest.Question) any { return q.Pick("reject_once") })
	id := p.newSession(c)
	assert.Equal(t, "end_turn", p.prompt(c, id, "change it"))
	assert.Equal(t, lines, p.read("a.txt"))
	call, err := json.Marshal(p.fold(c, id).Call("t1"))
	require.NoError(t, err)
	assert.Contains(t, string(call), "failed")
	assert.Contains(t, string(call), `"newText":"1\n2\n3\nb\n5\n6\n7"`, "the diff stays")
	assert.Contains(t, string(p.model.Conversation()[1].Body), "rejected")
}

func TestAPathOutsideIsRefusedWithTheFolder(t *testing.T) {
	p := newPlace(t)
	p.settings(`{"guard": {"outside": "refuse"}}`)
	outside := filepath.Join(filepath.Dir(p.root), "secret.txt")
	require.NoError(t, os.WriteFile(outside, []byte("x\n"), 0o600))
	p.plays(
		use("t1", "Edit", map[string]any{"file_path": outside, "old_string": "x", "new_string": "y"}), say("ok"))
	c, _ := p.agent()
	c.OnQuestion(func(q acptest.Question) any { return q.Pick("allow_once") })
	id := p.newSession(c)
	p.prompt(c, id, "change it")
	call, err := json.Marshal(p.fold(c, id).Call("t1"))
	require.NoError(t, err)
	assert.Contains(t, string(call), "failed")
	assert.Contains(t, string(call), p.root, "the folder that is open")
	assert.Contains(t, string(call), "add the other folder", "how to widen it")
}

func TestNoKey(t *testing.T) {
	p := newPlace(t, say("hello"))
	delete(p.env, "ANTHROPIC_API_KEY")
	c, _ := p.agent()
	setup := map[string]any{"cwd": p.root, "mcpServers": []any{}}
	var e *acptest.Error
	require.ErrorAs(t, c.Call("session/new", setup, nil), &e)
	assert.Equal(t, -32000, e.Code)
	assert.Contains(t, string(e.Data), "dsh-acp login")

	cfg, err := config.Load(config.Source{Getenv: func(n string) (string, bool) { return p.env[n], p.env[n] != "" }})
	require.NoError(t, err)
	key, err := config.ParseKey("sk-from-login")
	require.NoError(t, err)
	_, err = cfg.Keys().Set(config.Anthropic, key)
	require.NoError(t, err)
	require.NoError(t, c.Call("authenticate", map[string]any{"methodId": "login"}, nil), "after a login elsewhere")
	id := p.newSession(c)
	assert.Equal(t, "end_turn", p.prompt(c, id, "hi"))
	assert.Equal(t, "sk-from-login", p.model.Conversation()[0].Header.Get("X-Api-Key"))
	require.NoError(t, c.Call("logout", map[string]any{}, nil))
	require.ErrorAs(t, c.Call("session/new", setup, nil), &e)
	assert.Equal(t, -32000, e.Code)
}

func TestAnEndpointWithoutKeys(t *testing.T) {
	p := newPlace(t, say("hello"))
	delete(p.env, "ANTHROPIC_API_KEY")
	p.env["DSH_NO_KEY"] = "true"
	c, _ := p.agent()
	assert.Equal(t, "end_turn", p.prompt(c, p.newSession(c), "hi"))
}

func TestBadSettingsAreToldNotFatal(t *testing.T) {
	p := newPlace(t)
	dir := filepath.Join(p.env["HOME"], ".config", "dsh-acp")
	p.env["XDG_CONFIG_HOME"] = filepath.Join(p.env["HOME"], ".config")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "settings.json"), []byte("{\n  \"modell\": \"x\"\n}\n"), 0o644))
	c, _ := p.agent()
	err := c.Call("session/new", map[string]any{"cwd": p.root, "mcpServers": []any{}}, nil)
	require.Error(t, err)
	assert.Contains(t, err.Error(), "settings.json:2")
	assert.Contains(t, err.Error(), "modell")
}

func TestAMissingFolder(t *testing.T) {
	p := newPlace(t)
	c, _ := p.agent()
	var e *acptest.Error
	require.ErrorAs(t, c.Call("session/new", map[string]any{"cwd": filepath.Join(p.root, "nowhere"), "mcpServers": []any{}}, nil), &e)
	assert.Equal(t, -32602, e.Code)
	assert.Contains(t, e.Message, "nowhere")
}
