package app

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/acptest"
	"dsh-acp/internal/modelserver"
)

func put(id, file, text string) modelserver.Message {
	return use(id, "Write", map[string]any{"file_path": file, "content": text})
}

func TestWhatWasReadNeedNotBeReadAgainAfterARestart(t *testing.T) {
	p := newPlace(t)
	read, unread, changed := p.write("read.txt", "1\n"), p.write("unread.txt", "1\n"), p.write("changed.txt", "1\n")
	p.plays(
		use("t1", "Read", map[string]any{"file_path": read}), use("t2", "Read", map[string]any{"file_path": changed}),
		put("t3", unread, "2\n"), say("done"),
		put("t4", read, "2\n"), put("t5", unread, "2\n"), put("t6", changed, "2\n"), say("done"))
	c, stop := p.allowing()
	id := p.newSession(c)
	p.prompt(c, id, "look")
	assert.Contains(t, p.shown(c, id, "t3"), "has not read it")
	stop()

	p.write("changed.txt", "by hand\n")
	c, _ = p.allowing()
	require.NoError(t, c.Call("session/resume", p.setup(id), nil))
	p.prompt(c, id, "write")
	assert.Equal(t, "2\n", p.read("read.txt"))
	assert.Contains(t, p.shown(c, id, "t5"), "has not read it", "that the call was planned is not to have read it")
	assert.Contains(t, p.shown(c, id, "t6"), "has changed since this session last saw it")
	assert.Equal(t, "by hand\n", p.read("changed.txt"))
}

type listed struct {
	SessionID, Cwd, Title string
	AdditionalDirectories []string
}

func (p *place) list(c *acptest.Client) []listed {
	p.t.Helper()
	var res struct{ Sessions []listed }
	require.NoError(p.t, c.Call("session/list", map[string]any{}, &res))
	return res.Sessions
}

// folder makes one beside the session's.
func (p *place) folder(name string) string {
	p.t.Helper()
	dir := filepath.Join(filepath.Dir(p.root), name)
	require.NoError(p.t, os.MkdirAll(dir, 0o755))
	return dir
}

func TestAdditionalFolders(t *testing.T) {
	p := newPlace(t)
	p.settings(`{"guard": {"outside": "refuse"}}`)
	more := p.folder("more")
	file := filepath.Join(more, "a.txt")
	require.NoError(t, os.WriteFile(file, []byte("1\n"), 0o644))
	p.plays(edit("t1", file, "1", "2"), say("done"), edit("t2", file, "2", "3"), say("refused"), edit("t3", file, "2", "4"), say("done"))
	c, stop := p.allowing()
	var res struct{ SessionID string }
	require.NoError(t, c.Call("session/new", map[string]any{"cwd": p.root, "additionalDirectories": []string{more}, "mcpServers": []any{}}, &res))
	id := res.SessionID
	assert.Empty(t, p.list(c), "nothing was said in it")
	p.prompt(c, id, "change it")
	assert.Contains(t, p.told(), more, "the model knows the folder")
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "2\n", string(raw))
	want := listed{SessionID: id, Cwd: p.root, Title: "change it", AdditionalDirectories: []string{more}}
	assert.Equal(t, []listed{want}, p.list(c))
	stop()

	c, _ = p.allowing()
	assert.Equal(t, []listed{want}, p.list(c), "what a client needs to open it again")
	require.NoError(t, c.Call("session/load", p.setup(id), nil))
	p.prompt(c, id, "again")
	assert.Contains(t, p.shown(c, id, "t2"), `"failed"`, "the folders are those of the load")
	assert.Equal(t, []listed{{SessionID: id, Cwd: p.root, Title: "change it"}}, p.list(c))

	setup := p.setup(id)
	setup["additionalDirectories"] = []string{more}
	require.NoError(t, c.Call("session/resume", setup, nil), "a session that is open here is closed first")
	p.prompt(c, id, "and now")
	raw, err = os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "4\n", string(raw))

	setup["additionalDirectories"] = []string{filepath.Join(more, "nowhere")}
	var e *acptest.Error
	require.ErrorAs(t, c.Call("session/load", setup, nil), &e)
	assert.Equal(t, -32602, e.Code)
	assert.Contains(t, e.Message, "nowhere")
}

func TestALoadFromAnotherFolder(t *testing.T) {
	p := newPlace(t)
	p.settings(`{"guard": {"outside": "refuse"}}`)
	p.write("a.txt", "1\n")
	p.plays(use("t1", "Read", map[string]any{"file_path": "a.txt"}), say("done"),
		use("t2", "Read", map[string]any{"file_path": "a.txt"}), edit("t3", filepath.Join(p.root, "a.txt"), "1", "2"), say("done"))
	c, stop := p.allowing()
	id := p.newSession(c)
	p.prompt(c, id, "look")
	stop()

	other := p.folder("other")
	require.NoError(t, os.WriteFile(filepath.Join(other, "a.txt"), []byte("elsewhere\n"), 0o644))
	c, _ = p.allowing()
	setup := p.setup(id)
	setup["cwd"] = other
	require.NoError(t, c.Call("session/load", setup, nil))
	assert.Equal(t, p.root, p.list(c)[0].Cwd, "to have looked at it changes nothing")
	p.prompt(c, id, "look again")
	assert.Contains(t, p.shown(c, id, "t2"), "elsewhere", "a relative path is one of the new folder")
	assert.Contains(t, p.shown(c, id, "t3"), `"failed"`, "the old folder is not open any more")
	assert.Equal(t, "1\n", p.read("a.txt"))
	assert.Contains(t, p.told(), "Working folder: "+other)
	assert.Equal(t, other, p.list(c)[0].Cwd)
	setup["cwd"] = filepath.Join(other, "gone")
	require.ErrorContains(t, c.Call("session/load", setup, nil), "there is no folder")
}

func TestAForkGoesItsOwnWay(t *testing.T) {
	p := newPlace(t)
	a := p.write("a.txt", "0\n")
	p.plays(edit("t1", a, "0", "1"), say("one"), say("the fork"), put("t2", a, "2\n"), say("two"), say("the first"))
	c, _ := p.agent()
	questions := 0
	c.OnQuestion(func(q acptest.Question) any {
		questions++
		return q.Pick("allow_always")
	})
	id := p.newSession(c)
	p.prompt(c, id, "change it")
	before := len(c.Messages())
	var res struct{ SessionID string }
	require.NoError(t, c.Call("session/fork", p.setup(id), &res))
	fork := res.SessionID
	require.NotEqual(t, id, fork)
	for _, m := range c.Messages()[before:] {
		assert.NotContains(t, string(m.Params), "user_message_chunk", "a fork replays nothing")
	}
	p.prompt(c, fork, "what was said?")
	assert.Contains(t, p.told(), "change it", "it knows what was said")
	assert.Contains(t, p.command(c, fork, "/permissions"), "no permission", "what was allowed was allowed in the other one")
	p.prompt(c, fork, "write it")
	assert.Equal(t, 2, questions)
	assert.Equal(t, "2\n", p.read("a.txt"), "it knows what was read")
	assert.Contains(t, p.command(c, fork, "/undo"), "Took back")
	assert.Contains(t, p.command(c, fork, "/undo"), "Took back turn 1", "the other one's change can be taken back")
	assert.Equal(t, "0\n", p.read("a.txt"))
	assert.Contains(t, p.command(c, id, "/undo"), "Nothing was taken back", "the file is not as that session left it")
	p.prompt(c, id, "and you?")
	assert.NotContains(t, p.told(), "what was said?", "the first knows nothing of its fork")
	assert.Len(t, p.list(c), 2)

	require.NoError(t, c.Call("session/delete", map[string]any{"sessionId": id}, nil))
	assert.Equal(t, fork, p.list(c)[0].SessionID)
	assert.Len(t, p.list(c), 1)
	require.NoError(t, c.Call("session/load", p.setup(fork), nil), "a fork does not need what it came from")
}

func TestAForkOfABusySession(t *testing.T) {
	p := newPlace(t)
	a := p.write("a.txt", "0\n")
	p.plays(edit("t1", a, "0", "1"), say("forked"), say("done"))
	c, _ := p.agent()
	asked := make(chan acptest.Question)
	c.OnQuestion(func(q acptest.Question) any {
		asked <- q
		return nil
	})
	id := p.newSession(c)
	busy := c.Request("session/prompt", map[string]any{"sessionId": id, "prompt": []any{map[string]any{"type": "text", "text": "change it"}}})
	q := <-asked
	var res struct{ SessionID string }
	require.NoError(t, c.Call("session/fork", p.setup(id), &res))
	p.prompt(c, res.SessionID, "go on")
	assert.Contains(t, p.told(), "change it")
	assert.Contains(t, p.told(), "tool_result", "the call that had no answer yet has one in the fork")
	assert.Equal(t, "0\n", p.read("a.txt"))
	c.Reply(q.ID, q.Pick("allow_once"))
	require.NoError(t, c.Answer(busy, nil))
	assert.Equal(t, "1\n", p.read("a.txt"), "the first goes on as before")
}

func TestASessionThatIsOpenElsewhere(t *testing.T) {
	p := newPlace(t, say("hello"), say("forked"))
	c, _ := p.agent()
	id := p.newSession(c)
	p.prompt(c, id, "hi")
	other, _ := p.agent()
	for _, method := range []string{"session/load", "session/resume", "session/delete"} {
		assert.ErrorContains(t, other.Call(method, p.setup(id), nil), "in use", method)
	}
	assert.Len(t, p.list(other), 1, "it is listed all the same")
	var res struct{ SessionID string }
	require.NoError(t, other.Call("session/fork", p.setup(id), &res), "to go on elsewhere")
	p.prompt(other, res.SessionID, "and here?")
	assert.Contains(t, p.told(), `"hi"`)

	require.NoError(t, c.Call("session/close", map[string]any{"sessionId": id}, nil))
	require.NoError(t, other.Call("session/load", p.setup(id), nil), "once it is closed")
	require.NoError(t, other.Call("session/delete", map[string]any{"sessionId": id}, nil))
	assert.Error(t, c.Call("session/load", p.setup(id), nil), "a deleted session is no new one")
	entries, err := os.ReadDir(filepath.Join(p.env["DSH_STATE_DIR"], "versions"))
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	for _, e := range entries {
		assert.NotEqual(t, id, e.Name(), "its versions of files are gone too")
	}
}
