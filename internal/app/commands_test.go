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
	"dsh-acp/internal/modelserver"
)

// allowing starts an agent whose user allows all that is asked.
func (p *place) allowing() (c *acptest.Client, stop func()) {
	p.t.Helper()
	c, stop = p.agent()
	c.OnQuestion(func(q acptest.Question) any { return q.Pick("allow_once") })
	return c, stop
}

// command sends a prompt and returns what the agent says in answer.
func (p *place) command(c *acptest.Client, id, text string) string {
	p.t.Helper()
	before := len(c.Updates(id))
	require.Equal(p.t, "end_turn", p.prompt(c, id, text))
	var said strings.Builder
	for _, u := range c.Updates(id)[before:] {
		if u.Update.Kind == "agent_message_chunk" {
			said.WriteString(u.Text())
		}
	}
	return said.String()
}

// setup are the parameters that open a session again.
func (p *place) setup(id string) map[string]any {
	return map[string]any{"sessionId": id, "cwd": p.root, "mcpServers": []any{}}
}

// shown is what the client holds of a call, as JSON.
func (p *place) shown(c *acptest.Client, id, call string) string {
	p.t.Helper()
	held := p.fold(c, id).Call(call)
	require.NotNil(p.t, held, "call %s", call)
	raw, err := json.Marshal(held)
	require.NoError(p.t, err)
	return string(raw)
}

// told is what the model was last sent.
func (p *place) told() string {
	p.t.Helper()
	sent := p.model.Conversation()
	require.NotEmpty(p.t, sent)
	return string(sent[len(sent)-1].Body)
}

func edit(id, file, old, to string) modelserver.Message {
	return use(id, "Edit", map[string]any{"file_path": file, "old_string": old, "new_string": to})
}

func TestUndoOfATurn(t *testing.T) {
	p := newPlace(t)
	a, b := p.write("a.txt", lines), p.write("b.txt", "x\r\ny\r\n")
	p.plays(
		edit("t1", a, "a", "b"), edit("t2", b, "y", "z"), use("t3", "Write", map[string]any{"file_path": filepath.Join(p.root, "new.txt"), "content": "new\n"}), say("done"),
		say("I know"))
	c, stop := p.allowing()
	id := p.newSession(c)
	p.prompt(c, id, "change them")
	said := p.command(c, id, "/undo")
	assert.Contains(t, said, "Took back turn 1, in 3 files")
	assert.Contains(t, said, "`a.txt` (+1 −1)")
	assert.Contains(t, said, "`new.txt` (removed, +0 −1)")
	assert.Equal(t, lines, p.read("a.txt"))
	assert.Equal(t, "x\r\ny\r\n", p.read("b.txt"), "byte for byte")
	assert.NoFileExists(t, filepath.Join(p.root, "new.txt"))
	live := p.shown(c, id, "undo-2")
	assert.Contains(t, live, `"newText":"1\n2\n3\na\n5\n6\n7"`, "the hunks of the undo")
	assert.Contains(t, live, `"path":"`+b+`"`)

	p.prompt(c, id, "go on")
	assert.Contains(t, p.told(), "took back, by /undo, what you changed in turn 1")
	assert.Contains(t, p.told(), "Do not make these changes again")
	assert.NotContains(t, p.told(), `"/undo"`, "the command itself is not the model's business")
	stop()

	c, _ = p.allowing()
	require.NoError(t, c.Call("session/load", p.setup(id), nil))
	assert.JSONEq(t, live, p.shown(c, id, "undo-2"), "a load shows the undo as it was")
}

func TestUndoGoesFurtherBackAndForthAgainAfterARestart(t *testing.T) {
	p := newPlace(t)
	a := p.write("a.txt", "0\n")
	p.plays(edit("t1", a, "0", "1"), say("one"), edit("t2", a, "1", "2"), edit("t3", a, "2", "3"), say("three"))
	c, stop := p.allowing()
	id := p.newSession(c)
	p.prompt(c, id, "first")
	p.prompt(c, id, "second")
	require.Equal(t, "3\n", p.read("a.txt"))
	stop()

	c, stop = p.allowing()
	require.NoError(t, c.Call("session/resume", p.setup(id), nil))
	assert.Contains(t, p.command(c, id, "/undo call"), "the last call of turn 2")
	assert.Equal(t, "2\n", p.read("a.txt"))
	assert.Contains(t, p.command(c, id, "/undo"), "turn 2")
	assert.Equal(t, "1\n", p.read("a.txt"), "what is left of the turn")
	assert.Contains(t, p.command(c, id, "/undo"), "turn 1")
	assert.Equal(t, "0\n", p.read("a.txt"))
	assert.Contains(t, p.command(c, id, "/undo"), "nothing to take back")
	stop()

	c, _ = p.allowing()
	require.NoError(t, c.Call("session/load", p.setup(id), nil))
	list := p.command(c, id, "/undo list")
	assert.Contains(t, list, "- turn 1: `a.txt` in 1 call, taken back\n")
	assert.Contains(t, list, ", an undo")
	for _, want := range []string{"1\n", "2\n", "3\n"} {
		assert.Contains(t, p.command(c, id, "/undo redo"), "Brought back")
		assert.Equal(t, want, p.read("a.txt"))
	}
	assert.Contains(t, p.command(c, id, "/undo redo"), "nothing to bring back")
}

func TestUndoOfAFileThatWasChangedOutside(t *testing.T) {
	p := newPlace(t)
	a, b := p.write("a.txt", lines), p.write("b.txt", "x\n")
	p.plays(edit("t1", a, "a", "b"), edit("t2", b, "x", "y"), say("done"))
	c, _ := p.allowing()
	id := p.newSession(c)
	p.prompt(c, id, "change them")
	mine := strings.Replace(p.read("a.txt"), "8", "eight, by hand", 1)
	p.write("a.txt", mine)
	said := p.command(c, id, "/undo")
	assert.Contains(t, said, "Nothing was taken back: a.txt")
	assert.Contains(t, p.command(c, id, "/undo list"), "- turn 1: `a.txt`, `b.txt` in 2 calls\n")
	assert.Contains(t, said, "+eight, by hand\n", "what would be lost")
	assert.Equal(t, mine, p.read("a.txt"))
	assert.Equal(t, "y\n", p.read("b.txt"), "all or nothing")
	assert.Contains(t, p.command(c, id, "/undo call"), "Took back")
	assert.Equal(t, "x\n", p.read("b.txt"), "a call alone still can be")
	assert.Contains(t, p.command(c, id, "/undo list"), "- turn 1: `a.txt`, `b.txt` in 2 calls, 1 of them taken back\n")
	p.write("a.txt", strings.Replace(lines, "a", "b", 1))
	assert.Contains(t, p.command(c, id, "/undo"), "Took back", "once the hand's change is out of the way")
	assert.Equal(t, lines, p.read("a.txt"))
}

func TestUndoOfAFileThatOthersChangedInBetween(t *testing.T) {
	p := newPlace(t)
	a := p.write("a.txt", "1\n2\n3\n")
	p.plays(edit("t1", a, "1", "one"), edit("t2", a, "3", "three"), say("done"))
	c, _ := p.agent()
	c.OnQuestion(func(q acptest.Question) any {
		if strings.Contains(string(q.ToolCall), "three") {
			p.write("a.txt", "one\ntwo, by hand\n3\n")
		}
		return q.Pick("allow_once")
	})
	id := p.newSession(c)
	p.prompt(c, id, "change it")
	require.Equal(t, "one\ntwo, by hand\nthree\n", p.read("a.txt"))
	said := p.command(c, id, "/undo")
	assert.Contains(t, said, "Nothing was taken back: a.txt: others changed the file between")
	assert.Contains(t, said, "+two, by hand\n")
	assert.Equal(t, "one\ntwo, by hand\nthree\n", p.read("a.txt"))
	assert.Contains(t, p.command(c, id, "/undo call"), "Took back")
	assert.Equal(t, "one\ntwo, by hand\n3\n", p.read("a.txt"))
}

func TestUndoOfACommitOfManyFiles(t *testing.T) {
	p := newPlace(t)
	p.env["DSH_TOOLSET"] = "patch"
	p.write("a.txt", lines)
	p.write("b.json", "{\n  \"x\": 1\n}\n")
	p.write("old.txt", "old\n")
	p.plays(use("t1", "apply_patch", map[string]any{"operations": []any{
		map[string]any{"op": "replace_text", "path": "a.txt", "search": "a", "replace": "b"},
		map[string]any{"op": "set_json", "path": "b.json", "pointer": "/y", "value": true},
		map[string]any{"op": "create_file", "path": "c/n.md", "text": "# New\n", "parents": true},
	}}), say("done"))
	c, _ := p.allowing()
	id := p.newSession(c)
	p.prompt(c, id, "change them")
	require.Contains(t, p.read("b.json"), "y")
	diff := p.command(c, id, "/diff")
	assert.Contains(t, diff, "3 files differ")
	assert.Contains(t, p.command(c, id, "/undo call"), "in 3 files")
	assert.Equal(t, lines, p.read("a.txt"))
	assert.Equal(t, "{\n  \"x\": 1\n}\n", p.read("b.json"))
	assert.NoFileExists(t, filepath.Join(p.root, "c", "n.md"))
	assert.Contains(t, p.command(c, id, "/diff"), "No file differs")
	assert.Contains(t, p.command(c, id, "/undo redo"), "Brought back, in 3 files")
	assert.Equal(t, "# New\n", p.read("c/n.md"))
}

func TestDiffShowsTheSumOfAllTurns(t *testing.T) {
	p := newPlace(t)
	a, b := p.write("a.txt", lines), p.write("b.txt", "x\n")
	p.plays(edit("t1", a, "a", "b"), edit("t2", b, "x", "y"), say("one"), edit("t3", a, "b", "c"), edit("t4", b, "y", "x"), say("two"))
	c, stop := p.allowing()
	id := p.newSession(c)
	assert.Contains(t, p.command(c, id, "/diff"), "No file differs")
	p.prompt(c, id, "first")
	p.prompt(c, id, "second")
	said := p.command(c, id, "/diff")
	assert.Contains(t, said, "1 file differs")
	assert.NotContains(t, said, "b.txt", "it is as it was")
	shown := p.shown(c, id, "diff-4")
	assert.Contains(t, shown, `"newText":"1\n2\n3\nc\n5\n6\n7","oldText":"1\n2\n3\na\n5\n6\n7"`)
	assert.Contains(t, shown, `"Locations":[{"line":1,"path":"`+a+`"}]`)
	stop()

	require.NoError(t, os.Remove(a))
	c, _ = p.allowing()
	require.NoError(t, c.Call("session/load", p.setup(id), nil))
	assert.JSONEq(t, shown, p.shown(c, id, "diff-4"), "the load shows the files of then")
	assert.Contains(t, p.command(c, id, "/diff"), "`a.txt` (removed")
}

func TestWhatIsNoCommandGoesToTheModel(t *testing.T) {
	p := newPlace(t)
	p.plays(say("a path"), say("what?"))
	c, _ := p.agent()
	id := p.newSession(c)
	assert.Equal(t, "a path", p.command(c, id, "/usr/bin/env is where?"))
	assert.Contains(t, p.told(), "/usr/bin/env is where?")
	assert.Equal(t, "what?", p.command(c, id, "/undoo"))
	help := p.command(c, id, "/help")
	for _, name := range []string{"/undo", "/diff", "/permissions", "/compact", "/help"} {
		assert.Contains(t, help, "`"+name)
	}
	assert.Contains(t, p.command(c, id, "/undo it all"), "/undo list", "how to say it")
	assert.Len(t, p.model.Conversation(), 2, "commands ask no model")
}

func TestPermissionsAreListedAndTakenBack(t *testing.T) {
	p := newPlace(t)
	a := p.write("a.txt", "1\n")
	p.plays(edit("t1", a, "1", "2"), edit("t2", a, "2", "3"), say("done"), edit("t3", a, "3", "4"), say("done"))
	c, _ := p.agent()
	questions := 0
	c.OnQuestion(func(q acptest.Question) any {
		questions++
		return q.Pick("allow_always")
	})
	id := p.newSession(c)
	assert.Contains(t, p.command(c, id, "/permissions"), "no permission that lasts")
	p.prompt(c, id, "change it")
	assert.Equal(t, 1, questions, "the second is allowed")
	list := p.command(c, id, "/permissions")
	assert.Contains(t, list, "1. to edit files in the session's folders (in this session)")
	assert.Contains(t, p.command(c, id, "/permissions revoke 2"), "no number 2")
	assert.Contains(t, p.command(c, id, "/permissions revoke 1"), "Taken back")
	p.prompt(c, id, "again")
	assert.Equal(t, 2, questions)
}

func TestCompactPutsASummaryInPlace(t *testing.T) {
	p := newPlace(t)
	p.plays(say("A long story."), say("It was about a story."), say("Yes."))
	c, _ := p.agent()
	id := p.newSession(c)
	assert.Contains(t, p.command(c, id, "/compact"), "no conversation yet")
	p.prompt(c, id, "tell me a tale of a dragon")
	p.command(c, id, "/compact")
	p.prompt(c, id, "do you remember?")
	assert.Contains(t, p.told(), "It was about a story.")
	assert.NotContains(t, p.told(), "tale of a dragon")
}
