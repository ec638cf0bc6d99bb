//go:build unix

package app

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/acptest"
	"dsh-acp/internal/modelserver"
)

// pid waits for a file of the session's folder that holds a process id.
func (p *place) pid(name string) int {
	p.t.Helper()
	pid := 0
	require.Eventually(p.t, func() bool {
		b, _ := os.ReadFile(filepath.Join(p.root, name))
		pid, _ = strconv.Atoi(strings.TrimSpace(string(b)))
		return strings.HasSuffix(string(b), "\n")
	}, 20*time.Second, 5*time.Millisecond)
	return pid
}

func ended(t *testing.T, pid int) {
	t.Helper()
	require.Eventually(t, func() bool {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		return syscall.Kill(pid, 0) != nil || err == nil && strings.Contains(string(stat), ") Z ")
	}, 10*time.Second, 10*time.Millisecond, "process %d runs on", pid)
}

func TestCommandsFromPromptToReplay(t *testing.T) {
	p := newPlace(t,
		use("t1", "Bash", map[string]any{"command": "echo one > made.txt; exit 3"}),
		use("t2", "Bash", map[string]any{"command": "cat made.txt"}),
		modelserver.Message{Blocks: []modelserver.Block{modelserver.Text{Text: "Done."}}})
	c, stop := p.agent()
	asked := 0
	c.OnQuestion(func(q acptest.Question) any {
		asked++
		return q.Pick("allow_once")
	})
	id := p.newSession(c)
	assert.Equal(t, "end_turn", p.prompt(c, id, "go"))
	assert.Equal(t, 1, asked, "one that only reads is not asked about")
	live := p.fold(c, id)
	assert.Equal(t, `"Exit code 3"`, string(live.Call("t1").RawOutput))
	assert.Equal(t, "failed", live.Call("t1").Status)
	assert.Equal(t, `"one"`, string(live.Call("t2").RawOutput))
	stop()
	c, _ = p.agent()
	require.NoError(t, c.Call("session/load", map[string]any{"sessionId": id, "cwd": p.root, "mcpServers": []any{}}, nil))
	again := p.fold(c, id)
	assert.Equal(t, live.Call("t1"), again.Call("t1"))
	assert.Equal(t, live.Call("t2"), again.Call("t2"))
}

func TestCancelEndsACommand(t *testing.T) {
	p := newPlace(t, use("t1", "Bash", map[string]any{"command": "sleep 300 & echo $! > pid; wait"}))
	c, _ := p.agent()
	c.OnQuestion(func(q acptest.Question) any { return q.Pick("allow_once") })
	id := p.newSession(c)
	req := c.Request("session/prompt", map[string]any{"sessionId": id, "prompt": []any{map[string]any{"type": "text", "text": "x"}}})
	pid := p.pid("pid")
	c.Notify("session/cancel", map[string]any{"sessionId": id})
	var res struct {
		StopReason string `json:"stopReason"`
	}
	require.NoError(t, c.Answer(req, &res))
	assert.Equal(t, "cancelled", res.StopReason)
	assert.Equal(t, "failed", p.fold(c, id).Call("t1").Status)
	ended(t, pid)
}

// At the end of the connection nothing runs on, whether it was waited for or not.
func TestTheEndOfTheConnectionEndsCommands(t *testing.T) {
	p := newPlace(t,
		use("t1", "Bash", map[string]any{"command": "echo $$ > one; exec sleep 300", "run_in_background": true}),
		use("t2", "Bash", map[string]any{"command": "echo $$ > two; sleep 300"}))
	c, stop := p.agent()
	c.OnQuestion(func(q acptest.Question) any { return q.Pick("allow_once") })
	id := p.newSession(c)
	c.Request("session/prompt", map[string]any{"sessionId": id, "prompt": []any{map[string]any{"type": "text", "text": "x"}}})
	one, two := p.pid("one"), p.pid("two")
	stop()
	ended(t, one)
	ended(t, two)
}
