package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/acptest"
	"dsh-acp/internal/modelserver"
)

// TestMain lets the test binary be the program: a child that is started with
// this variable runs main.
func TestMain(m *testing.M) {
	if os.Getenv("DSH_ACP_TEST_RUN_MAIN") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// A program is this program in a folder of its own.
type program struct {
	t   *testing.T
	dir string
	env []string
}

func newProgram(t *testing.T, env ...string) *program {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	base := []string{"DSH_ACP_TEST_RUN_MAIN=1", "HOME=" + dir, "USERPROFILE=" + dir, "DSH_KEYRING=never",
		"GORACE=atexit_sleep_ms=0", // the race detector's own wait is not the program's
		"PATH=" + os.Getenv("PATH"), "SYSTEMROOT=" + os.Getenv("SYSTEMROOT")}
	return &program{t: t, dir: dir, env: append(base, env...)}
}

func (p *program) command(args ...string) *exec.Cmd {
	exe, err := os.Executable()
	require.NoError(p.t, err)
	cmd := exec.Command(exe, args...)
	cmd.Env, cmd.Dir = p.env, p.dir
	return cmd
}

// run gives the program text on standard input and waits for its end.
func (p *program) run(stdin string, args ...string) (stdout, stderr string, code int) {
	p.t.Helper()
	cmd := p.command(args...)
	var out, diag bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &diag
	err := cmd.Run()
	if err != nil {
		var exit *exec.ExitError
		require.ErrorAs(p.t, err, &exit)
	}
	return out.String(), diag.String(), cmd.ProcessState.ExitCode()
}

// serve starts the program with the fake editor at its pipes.
func (p *program) serve() (*acptest.Client, *exec.Cmd, io.Closer) {
	p.t.Helper()
	cmd := p.command()
	in, err := cmd.StdinPipe()
	require.NoError(p.t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(p.t, err)
	cmd.Stderr = os.Stderr
	require.NoError(p.t, cmd.Start())
	p.t.Cleanup(func() { _ = cmd.Process.Kill() })
	c := acptest.New(p.t, in, out)
	require.NoError(p.t, c.Call("initialize", map[string]any{"protocolVersion": 1}, nil))
	return c, cmd, in
}

func newSession(t *testing.T, c *acptest.Client, cwd string) string {
	t.Helper()
	var res struct {
		SessionID string `json:"sessionId"`
	}
	require.NoError(t, c.Call("session/new", map[string]any{"cwd": cwd, "mcpServers": []any{}}, &res))
	return res.SessionID
}

func TestStdoutHoldsProtocolLinesOnly(t *testing.T) {
	initialize := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`
	for _, c := range []struct {
		name, in string
		env      []string
		answers  int
	}{
		{"a line without its end", initialize, nil, 1},
		{"nothing", "", nil, 0},
		{"junk", "hello\n" + initialize + "\n", nil, 2},
		{"much to tell", initialize + "\n" + `{"jsonrpc":"2.0","id":1,"method":"session/list"}` + "\n", []string{"DSH_LOG=trace"}, 2},
		{"bad settings", initialize + "\n" + `{"jsonrpc":"2.0","id":1,"method":"session/list"}` + "\n", []string{"DSH_MODE=yolo"}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			stdout, stderr, code := newProgram(t, c.env...).run(c.in)
			assert.Equal(t, 0, code, stderr)
			n := 0
			for line := range strings.Lines(stdout) {
				var m struct {
					Version string `json:"jsonrpc"`
				}
				require.NoError(t, json.Unmarshal([]byte(line), &m), line)
				assert.Equal(t, "2.0", m.Version)
				n++
			}
			assert.Equal(t, c.answers, n, stdout)
		})
	}
}

func TestEndWhileIdleAndInATurn(t *testing.T) {
	model, err := modelserver.Start(func(modelserver.Request) modelserver.Answer {
		return modelserver.Message{Blocks: []modelserver.Block{modelserver.Text{Text: "thinking about it"}}, Hang: true}
	})
	require.NoError(t, err)
	defer model.Close()
	for _, c := range []struct {
		name   string
		busy   bool
		signal bool
		within time.Duration
	}{
		{"input ends, idle", false, false, 100 * time.Millisecond},
		{"signal, idle", false, true, 100 * time.Millisecond},
		{"input ends, in a turn", true, false, time.Second},
		{"signal, in a turn", true, true, time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.signal && runtime.GOOS == "windows" {
				t.Skip("windows has no signal that a process can send to end another one politely")
			}
			p := newProgram(t, "ANTHROPIC_BASE_URL="+model.URL(), "ANTHROPIC_API_KEY=k")
			client, cmd, stdin := p.serve()
			id := newSession(t, client, p.dir)
			if c.busy {
				client.Request("session/prompt", map[string]any{"sessionId": id, "prompt": []any{map[string]any{"type": "text", "text": "x"}}})
				_, err := client.Wait(func(m acptest.Message) bool { return strings.Contains(string(m.Params), "agent_message_chunk") })
				require.NoError(t, err)
			}
			begin := time.Now()
			if c.signal {
				require.NoError(t, cmd.Process.Signal(os.Interrupt))
			} else {
				require.NoError(t, stdin.Close())
			}
			client.Ended()
			require.NoError(t, cmd.Wait(), "exit code 0")
			// Twice the bound: this is no benchmark, and the machine is shared.
			assert.Less(t, time.Since(begin), 2*c.within)
			if !c.busy {
				return
			}
			last := client.Messages()[len(client.Messages())-1]
			assert.Contains(t, string(last.Result), `"cancelled"`, "the turn is answered")
			state, err := filepath.Glob(filepath.Join(p.dir, ".local", "state", "dsh-acp", "sessions", id+".jsonl"))
			require.NoError(t, err)
			if runtime.GOOS != "windows" {
				require.Len(t, state, 1)
				b, err := os.ReadFile(state[0])
				require.NoError(t, err)
				assert.Contains(t, string(b), "turn/end", "the log is complete")
			}
		})
	}
}

func TestCommands(t *testing.T) {
	t.Run("version", func(t *testing.T) {
		stdout, _, code := newProgram(t).run("", "version")
		assert.Equal(t, 0, code)
		assert.Equal(t, "dsh-acp "+version+"\n", stdout)
	})
	t.Run("unknown", func(t *testing.T) {
		stdout, stderr, code := newProgram(t).run("", "frobnicate")
		assert.Equal(t, 2, code)
		assert.Empty(t, stdout)
		assert.Contains(t, stderr, "frobnicate")
	})
	t.Run("login, doctor, logout", func(t *testing.T) {
		p := newProgram(t)
		stdout, _, code := p.run("", "doctor")
		assert.Regexp(t, `This build: (syntax trees of bash, c, cpp.*, typescript|syntax trees are not in this build: it was made with CGO_ENABLED=0)\.`, stdout)
		assert.Equal(t, 1, code, "no key")
		assert.Contains(t, stdout, "agent_servers")
		_, stderr, code := p.run("", "login")
		assert.Equal(t, 1, code)
		assert.Contains(t, stderr, "no key")
		stdout, stderr, code = p.run("sk-very-secret\n", "login")
		require.Equal(t, 0, code, stderr)
		assert.NotContains(t, stdout+stderr, "secret")
		stdout, _, code = p.run("", "doctor")
		assert.Equal(t, 0, code, stdout)
		assert.NotContains(t, stdout, "secret")
		_, _, code = p.run("", "logout")
		assert.Equal(t, 0, code)
		_, _, code = p.run("", "doctor")
		assert.Equal(t, 1, code)
	})
	t.Run("a flag of a setting", func(t *testing.T) {
		stdout, _, _ := newProgram(t).run("", "doctor", "--mode", "plan")
		assert.Regexp(t, `mode\s+plan\s+flag`, stdout)
		stdout, _, _ = newProgram(t).run("", "doctor", "--guard-allow=,", "--guard-block=")
		assert.Regexp(t, `guard.allow\s+\(empty\)\s+flag`, stdout)
		assert.Regexp(t, `guard.block\s+\(not set\)\s+flag`, stdout)
		stdout, _, code := newProgram(t).run("", "mcp", "--help")
		assert.Equal(t, 0, code)
		assert.Contains(t, stdout, "--guard-block")
	})
}

func TestSplitWords(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []string
	}{
		{"a b  c", []string{"a", "b", "c"}},
		{`'a b' "c 'd"e`, []string{"a b", "c 'de"}},
		{`C:\bin\agent.exe ""`, []string{`C:\bin\agent.exe`, ""}},
	} {
		got, err := splitWords(c.in)
		require.NoError(t, err)
		assert.Equal(t, c.want, got)
	}
	_, err := splitWords(`a "b`)
	assert.Error(t, err)
}
