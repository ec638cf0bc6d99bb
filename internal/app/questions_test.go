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
)

// held is a call as the client holds it.
func (p *place) held(c *acptest.Client, id, call string) string {
	p.t.Helper()
	held := p.fold(c, id).Call(call)
	require.NotNil(p.t, held)
	raw, err := json.Marshal(held)
	require.NoError(p.t, err)
	return string(raw)
}

// asked waits for a session's question.
func asked(t *testing.T, c *acptest.Client, session string) acptest.Question {
	t.Helper()
	var q acptest.Question
	_, err := c.Wait(func(m acptest.Message) bool {
		if m.Method != "session/request_permission" || json.Unmarshal(m.Params, &q) != nil || q.SessionID != session {
			return false
		}
		q.ID = m.ID
		return true
	})
	require.NoError(t, err)
	return q
}

func prompting(id string) map[string]any {
	return map[string]any{"sessionId": id, "prompt": []any{map[string]any{"type": "text", "text": "change it"}}}
}

func (p *place) load(c *acptest.Client, id string) {
	p.t.Helper()
	require.NoError(p.t, c.Call("session/load", map[string]any{"sessionId": id, "cwd": p.root, "mcpServers": []any{}}, nil))
}

// A yes is about the hunks that were shown: when the file changes before it
// comes, those of the new text are asked about.
func TestAFileThatChangesWhileTheUserIsAsked(t *testing.T) {
	p := newPlace(t)
	file := p.write("a.txt", lines)
	p.plays(edit("t1", file, "a", "b"), say("done"))
	c, _ := p.agent()
	var questions []string
	c.OnQuestion(func(q acptest.Question) any {
		questions = append(questions, string(q.ToolCall))
		if len(questions) == 1 {
			p.write("a.txt", "0\n"+lines)
		}
		return q.Pick("allow_once")
	})
	id := p.newSession(c)
	p.prompt(c, id, "change it")
	require.Len(t, questions, 2)
	assert.NotContains(t, questions[0], "The file changed while you were asked")
	assert.Contains(t, questions[0], `"line":1`)
	assert.Contains(t, questions[1], "The file changed while you were asked")
	assert.Contains(t, questions[1], `"line":2`)
	assert.Equal(t, "0\n"+strings.Replace(lines, "a", "b", 1), p.read("a.txt"))
	assert.NotContains(t, p.held(c, id, "t1"), "The file changed", "the note does not outlive the question")
}

// However a question ends without a yes, the file stays, the diff stays in
// sight, marked, and a load shows the same.
func TestAQuestionThatIsNotAnswered(t *testing.T) {
	for name, end := range map[string]func(c *acptest.Client, id string, q acptest.Question, prompt int, stop func()){
		"reject": func(c *acptest.Client, id string, q acptest.Question, prompt int, stop func()) {
			c.Reply(q.ID, q.Pick("reject_once"))
			assert.NoError(t, c.Answer(prompt, nil))
		},
		"withdrawn by the client": func(c *acptest.Client, id string, q acptest.Question, prompt int, stop func()) {
			c.Reply(q.ID, acptest.Cancelled())
			assert.NoError(t, c.Answer(prompt, nil))
		},
		"cancelled, then answered late": func(c *acptest.Client, id string, q acptest.Question, prompt int, stop func()) {
			c.Notify("session/cancel", map[string]any{"sessionId": id})
			assert.NoError(t, c.Answer(prompt, nil))
			c.Reply(q.ID, q.Pick("allow_once"))
			c.Reply(q.ID, q.Pick("allow_once"))
		},
		"no such option": func(c *acptest.Client, id string, q acptest.Question, prompt int, stop func()) {
			c.Reply(q.ID, acptest.Selected("perhaps"))
			assert.NoError(t, c.Answer(prompt, nil))
		},
		"the client leaves": func(c *acptest.Client, id string, q acptest.Question, prompt int, stop func()) { stop() },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			file := p.write("a.txt", lines)
			p.plays(edit("t1", file, "a", "b"), say("understood"))
			c, stop := p.agent()
			id := p.newSession(c)
			prompt := c.Request("session/prompt", prompting(id))
			end(c, id, asked(t, c, id), prompt, stop)
			stop()
			c.Ended()
			assert.Equal(t, lines, p.read("a.txt"))
			live := p.held(c, id, "t1")
			assert.Contains(t, live, `"failed"`)
			assert.Contains(t, live, "Not applied:")
			assert.Contains(t, live, `"newText":"1\n2\n3\nb\n5\n6\n7"`)

			c, _ = p.agent()
			p.load(c, id)
			assert.JSONEq(t, live, p.held(c, id, "t1"))
			p.plays(say("I know"))
			p.prompt(c, id, "go on")
			assert.Contains(t, p.told(), `"is_error":true`)
			assert.Contains(t, p.told(), "did not run", "the model is told")
		})
	}
}

// A process that dies while the user is asked has done nothing, which the next
// one says.
func TestDeathWhileTheUserIsAsked(t *testing.T) {
	p := newPlace(t)
	file := p.write("a.txt", lines)
	p.plays(edit("t1", file, "a", "b"), say("I see"))
	c, _ := p.agent()
	id := p.newSession(c)
	prompt := c.Request("session/prompt", prompting(id))
	q := asked(t, c, id)
	// What is on the disk now is what a killed process would leave.
	left := filepath.Join(filepath.Dir(p.root), "left")
	require.NoError(t, os.CopyFS(left, os.DirFS(p.env["DSH_STATE_DIR"])))
	c.Reply(q.ID, q.Pick("reject_once"))
	require.NoError(t, c.Answer(prompt, nil))

	p.env["DSH_STATE_DIR"] = left
	after, _ := p.agent()
	p.load(after, id)
	assert.Contains(t, p.held(after, id, "t1"), `"failed"`)
	p.plays(say("I see"))
	p.prompt(after, id, "go on")
	assert.Contains(t, p.told(), "t1")
	assert.Contains(t, p.told(), `"is_error":true`)
	assert.Contains(t, p.told(), "It can be made again", "nothing was done")
	assert.Equal(t, lines, p.read("a.txt"))
}

// Two sessions ask at once. Each answer counts for its own question, and a
// lasting yes in one takes no open question of another back.
func TestTwoSessionsAskAtOnce(t *testing.T) {
	p := newPlace(t)
	a, b := p.write("a.txt", lines), p.write("b.txt", lines)
	c, _ := p.agent()
	one, two := p.newSession(c), p.newSession(c)
	p.plays(edit("t1", a, "a", "b"))
	first := c.Request("session/prompt", prompting(one))
	qa := asked(t, c, one)
	p.plays(edit("t2", b, "a", "b"))
	second := c.Request("session/prompt", prompting(two))
	qb := asked(t, c, two)
	p.plays(say("done"), say("done"))
	c.Reply(qb.ID, qb.Pick("allow_always"))
	require.NoError(t, c.Answer(second, nil))
	assert.Equal(t, lines, p.read("a.txt"), "still asked about")
	c.Reply(qa.ID, qa.Pick("reject_once"))
	require.NoError(t, c.Answer(first, nil))
	assert.Equal(t, lines, p.read("a.txt"))
	assert.NotEqual(t, lines, p.read("b.txt"))
}
