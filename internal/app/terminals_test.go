package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	acpsdk "github.com/coder/acp-go-sdk"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// terminalsOfClient run programs as an editor would, without their display.
type terminalsOfClient struct {
	mu      sync.Mutex
	open    map[string]*terminalOfClient // guarded by mu
	made    []acpsdk.CreateTerminalRequest
	said    []string // methods, in order; guarded by mu
	refuses bool
}

type terminalOfClient struct {
	cmd  *exec.Cmd
	out  bytes.Buffer
	done chan struct{}
}

func (t *terminalsOfClient) note(method string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.said = append(t.said, method)
}

func (t *terminalsOfClient) find(id string) (*terminalOfClient, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if one := t.open[id]; one != nil {
		return one, nil
	}
	return nil, fmt.Errorf("no terminal %s", id)
}

func (c *sdkClient) CreateTerminal(_ context.Context, p acpsdk.CreateTerminalRequest) (acpsdk.CreateTerminalResponse, error) {
	t := c.runs
	if t == nil || t.refuses {
		if t != nil {
			t.note("create")
		}
		return acpsdk.CreateTerminalResponse{}, acpsdk.NewMethodNotFound("terminal/create")
	}
	t.note("create")
	one := &terminalOfClient{cmd: exec.Command(p.Command, p.Args...), done: make(chan struct{})}
	one.cmd.Dir, one.cmd.Env = *p.Cwd, os.Environ()
	for _, v := range p.Env {
		one.cmd.Env = append(one.cmd.Env, v.Name+"="+v.Value)
	}
	one.cmd.Stdout, one.cmd.Stderr = &one.out, &one.out
	if err := one.cmd.Start(); err != nil {
		return acpsdk.CreateTerminalResponse{}, err
	}
	go func() {
		defer close(one.done)
		_ = one.cmd.Wait() // ProcessState tells
	}()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.made = append(t.made, p)
	id := fmt.Sprint("term_", len(t.made))
	t.open[id] = one
	return acpsdk.CreateTerminalResponse{TerminalId: id}, nil
}

func (c *sdkClient) WaitForTerminalExit(ctx context.Context, p acpsdk.WaitForTerminalExitRequest) (acpsdk.WaitForTerminalExitResponse, error) {
	one, err := c.runs.find(p.TerminalId)
	if err != nil {
		return acpsdk.WaitForTerminalExitResponse{}, err
	}
	select {
	case <-one.done:
	case <-ctx.Done():
		return acpsdk.WaitForTerminalExitResponse{}, ctx.Err()
	}
	if code := one.cmd.ProcessState.ExitCode(); code >= 0 {
		return acpsdk.WaitForTerminalExitResponse{ExitCode: &code}, nil
	}
	signal := "SIGKILL"
	return acpsdk.WaitForTerminalExitResponse{Signal: &signal}, nil
}

func (c *sdkClient) TerminalOutput(_ context.Context, p acpsdk.TerminalOutputRequest) (acpsdk.TerminalOutputResponse, error) {
	c.runs.note("output")
	one, err := c.runs.find(p.TerminalId)
	if err != nil {
		return acpsdk.TerminalOutputResponse{}, err
	}
	<-one.done
	return acpsdk.TerminalOutputResponse{Output: one.out.String()}, nil
}

func (c *sdkClient) KillTerminal(_ context.Context, p acpsdk.KillTerminalRequest) (acpsdk.KillTerminalResponse, error) {
	c.runs.note("kill")
	one, err := c.runs.find(p.TerminalId)
	if err != nil {
		return acpsdk.KillTerminalResponse{}, err
	}
	return acpsdk.KillTerminalResponse{}, one.cmd.Process.Kill()
}

func (c *sdkClient) ReleaseTerminal(_ context.Context, p acpsdk.ReleaseTerminalRequest) (acpsdk.ReleaseTerminalResponse, error) {
	c.runs.note("release")
	c.runs.mu.Lock()
	defer c.runs.mu.Unlock()
	delete(c.runs.open, p.TerminalId)
	return acpsdk.ReleaseTerminalResponse{}, nil
}

// withTerminals connects a client that offers terminals, and no other way to
// show a command's output.
func (p *place) withTerminals(t *terminalsOfClient) (*sdkClient, *acpsdk.ClientSideConnection, acpsdk.SessionId) {
	p.t.Helper()
	t.open = map[string]*terminalOfClient{}
	in, out, _ := p.pipes()
	c := &sdkClient{runs: t}
	conn := acpsdk.NewClientSideConnection(c, in, out)
	_, err := conn.Initialize(p.t.Context(), acpsdk.InitializeRequest{
		ProtocolVersion: acpsdk.ProtocolVersionNumber, ClientCapabilities: acpsdk.ClientCapabilities{Terminal: true},
	})
	require.NoError(p.t, err)
	session, err := conn.NewSession(p.t.Context(), acpsdk.NewSessionRequest{Cwd: p.root, McpServers: []acpsdk.McpServer{}})
	require.NoError(p.t, err)
	return c, conn, session.SessionId
}

func promptSDK(t *testing.T, conn *acpsdk.ClientSideConnection, id acpsdk.SessionId) acpsdk.StopReason {
	t.Helper()
	res, err := conn.Prompt(t.Context(), acpsdk.PromptRequest{SessionId: id, Prompt: []acpsdk.ContentBlock{acpsdk.TextBlock("go")}})
	require.NoError(t, err)
	return res.StopReason
}

// shows lists what a call's content was, update by update.
func shows(updates []acpsdk.SessionUpdate, call string) []string {
	var out []string
	for _, u := range updates {
		if u.ToolCallUpdate == nil || string(u.ToolCallUpdate.ToolCallId) != call || u.ToolCallUpdate.Content == nil {
			continue
		}
		line := ""
		for _, item := range u.ToolCallUpdate.Content {
			switch {
			case item.Terminal != nil:
				line += "<" + item.Terminal.TerminalId + ">"
			case item.Content != nil && item.Content.Content.Text != nil:
				line += item.Content.Content.Text.Text
			}
		}
		out = append(out, line)
	}
	return out
}

func TestCommandsInTheClientsTerminals(t *testing.T) {
	p := newPlace(t,
		use("t1", "Bash", map[string]any{"command": "pwd; echo $PAGER; echo err >&2; exit 3", "description": "Look"}),
		use("t2", "Bash", map[string]any{"command": "true"}),
		use("t3", "Bash", map[string]any{"command": "echo begun; exec sleep 300", "timeout": 300}),
		say("done"))
	terminals := &terminalsOfClient{}
	c, conn, id := p.withTerminals(terminals)
	assert.Equal(t, acpsdk.StopReasonEndTurn, promptSDK(t, conn, id))
	live := c.take()
	text := "Exit code 3\n" + p.root + "\ncat\nerr"
	assert.Equal(t, []string{"Look", "Look<term_1>", "```\n" + text + "\n```"}, shows(live, "t1"), "the terminal, then what the model got")
	assert.Equal(t, []string{"<term_2>", ""}, shows(live, "t2"))
	timedOut := shows(live, "t3")
	require.Len(t, timedOut, 2)
	assert.Contains(t, timedOut[1], "did not end within 300ms")
	assert.Contains(t, timedOut[1], "begun")
	assert.Equal(t, []string{"create", "output", "release", "create", "output", "release", "create", "kill", "output", "release"}, terminals.said)
	assert.Empty(t, terminals.open, "all are released")
	assert.Equal(t, keptByClient, *terminals.made[0].OutputByteLimit)

	_, err := conn.LoadSession(t.Context(), acpsdk.LoadSessionRequest{SessionId: id, Cwd: p.root, McpServers: []acpsdk.McpServer{}})
	require.NoError(t, err)
	again := c.take()
	for _, call := range []string{"t1", "t3"} {
		was, is := shows(live, call), shows(again, call)
		assert.Equal(t, was[len(was)-1:], is, "a replay shows the text and names no terminal that is gone")
	}
	assert.Empty(t, shows(again, "t2"))
}

func TestCancelKillsTheClientsTerminal(t *testing.T) {
	p := newPlace(t, use("t1", "Bash", map[string]any{"command": "echo $$ > pid; exec sleep 300"}))
	terminals := &terminalsOfClient{}
	c, conn, id := p.withTerminals(terminals)
	stopped := make(chan acpsdk.StopReason)
	go func() { stopped <- promptSDK(t, conn, id) }()
	require.Eventually(t, func() bool {
		b, err := os.ReadFile(filepath.Join(p.root, "pid"))
		return err == nil && bytes.HasSuffix(b, []byte("\n"))
	}, 20*time.Second, 5*time.Millisecond)
	require.NoError(t, conn.Cancel(t.Context(), acpsdk.CancelNotification{SessionId: id}))
	assert.Equal(t, acpsdk.StopReasonCancelled, <-stopped)
	assert.Equal(t, []string{"create", "kill", "output", "release"}, terminals.said)
	last := shows(c.take(), "t1")
	require.NotEmpty(t, last)
	assert.Contains(t, last[len(last)-1], "was cancelled while it ran")
}

// A client that says no, though it offered terminals, costs one question.
func TestAClientThatRefusesTerminals(t *testing.T) {
	p := newPlace(t,
		use("t1", "Bash", map[string]any{"command": "printf one"}), use("t2", "Bash", map[string]any{"command": "printf two"}), say("done"))
	terminals := &terminalsOfClient{refuses: true}
	c, conn, id := p.withTerminals(terminals)
	assert.Equal(t, acpsdk.StopReasonEndTurn, promptSDK(t, conn, id))
	assert.Equal(t, []string{"create"}, terminals.said)
	live := c.take()
	assert.Equal(t, []string{"```console\none\n```"}, shows(live, "t1"))
	assert.Equal(t, []string{"```console\ntwo\n```"}, shows(live, "t2"))
}

func TestTerminalsThatAreNotUsed(t *testing.T) {
	for name, change := range map[string]func(p *place) string{
		"the settings want none":  func(p *place) string { p.env["DSH_EDITOR_TERMINAL"] = "never"; return `{"terminal":true}` },
		"the client draws output": func(*place) string { return `{"terminal":true,"_meta":{"terminal_output":true}}` },
		"the client has none":     func(*place) string { return `{}` },
	} {
		p := newPlace(t, use("t1", "Bash", map[string]any{"command": "printf one"}), say("done"))
		capabilities := change(p)
		c, _ := p.agent()
		require.NoError(t, c.Call("initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": json.RawMessage(capabilities)}, nil))
		id := p.newSession(c)
		assert.Equal(t, "end_turn", p.prompt(c, id, "go"), name)
		for _, m := range c.Messages() {
			assert.NotEqual(t, "terminal/create", m.Method, name)
		}
	}
}
