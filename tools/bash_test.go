//go:build unix

package tools

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/msg"
	"dsh-acp/internal/shell"
	"dsh-acp/presenter"
)

// withShell makes a folder with files and all tools on it.
func withShell(t *testing.T, files map[string]string) (dir string, set *Set) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	local, err := fsbackend.NewLocal(fsbackend.Options{Roots: []string{dir}})
	require.NoError(t, err)
	t.Cleanup(func() { local.Close() })
	commands := shell.New(shell.Config{Dir: dir})
	t.Cleanup(commands.Close)
	set, err = New(Config{Cwd: dir, Files: local, Commands: commands,
		Offer: []string{"Read", "Write", "Edit", "Bash", "BashOutput", "KillShell", "TodoWrite", "ExitPlanMode", "NotebookEdit", "Agent"}})
	require.NoError(t, err)
	return dir, set
}

func bashArgs(t *testing.T, command string) string {
	t.Helper()
	raw, err := msg.Marshal(map[string]string{"command": command})
	require.NoError(t, err)
	return string(raw)
}

func plain(r msg.ToolResult) string { return r.Content.PlainText() }

func TestBashResults(t *testing.T) {
	_, set := withShell(t, nil)
	for _, c := range []struct {
		args, want string
		failed     bool
		code       string
	}{
		{bashArgs(t, "echo out; echo err >&2; exit 3"), "Exit code 3\nout\nerr", true, ""},
		{bashArgs(t, "echo one; echo two"), "one\ntwo", false, ""},
		{bashArgs(t, "true"), noOutput, false, ""},
		{bashArgs(t, "kill -9 $$"), "Ended by signal: killed", true, ""},
		{`{"command":"sleep 60","timeout":200}`, "did not end within 200ms", true, CodeTimeout},
		{`{"command":" "}`, "command is empty", true, msg.CodeInvalidArgs},
		{`{"command":"a\u0000b"}`, "NUL", true, msg.CodeInvalidArgs},
		{bashArgs(t, "true "+strings.Repeat("x", maxCommand-len("true "))), "no output", false, ""},
		{bashArgs(t, strings.Repeat("x", maxCommand+1)), "put long text into a file with Write", true, msg.CodeInvalidArgs},
		{`{"command":"ls","timeout":-5}`, "timeout", true, msg.CodeInvalidArgs},
		{bashArgs(t, "sleep 60 & echo begun"), "run_in_background", false, ""},
	} {
		r := call(t, set, "Bash", c.args)
		assert.Contains(t, plain(r), c.want, c.args)
		assert.Equal(t, c.failed, r.IsError, c.args)
		code := ""
		if r.Error != nil {
			code = r.Error.Code
		}
		assert.Equal(t, c.code, code, c.args)
	}
}

func TestBashNeeds(t *testing.T) {
	dir, set := withShell(t, map[string]string{"a.txt": "a\n"})
	require.NoError(t, os.Symlink("/etc", filepath.Join(dir, "link")))
	for _, c := range []struct {
		command string
		want    Need
	}{
		{"cat a.txt", Need{Access: Look}},
		{"cat missing.txt", Need{Access: Look}},
		{"cat /etc/hosts", Need{Access: Look, Outside: true, Paths: []string{"/etc/hosts"}}},
		{"ls ..", Need{Access: Look, Outside: true, Paths: []string{filepath.Dir(dir)}}},
		{"cat link/hosts", Need{Access: Look, Outside: true, Paths: []string{filepath.Join(dir, "link/hosts")}}},
		{"touch b.txt", Need{Access: Execute, Paths: []string{filepath.Join(dir, "b.txt")}, RuleExact: true}},
		{"go test ./...", Need{Access: Execute, Rule: "go test"}},
		{"cat a.txt > /tmp/x", Need{Access: Execute, Outside: true, Paths: []string{"/tmp/x"}, Rule: "cat a.txt > /tmp/x", RuleExact: true}},
		{"for i in 1; do rm $i; done", Need{Access: Execute}},
		{"cat " + strings.Repeat("a.txt ", maxReadArguments+1), Need{Access: Execute, Rule: "cat " + strings.TrimSpace(strings.Repeat("a.txt ", maxReadArguments+1)), RuleExact: true}},
	} {
		p, r := set.Plan(t.Context(), msg.ToolUse{ID: "c", Name: "Bash", Input: bashArgs(t, c.command)})
		require.Nil(t, r, c.command)
		c.want.Command = c.command
		assert.Equal(t, c.want, p.Need, c.command)
	}
}

// What a command changed is noticed by the next edit and write.
func TestBashChangesAreNoticed(t *testing.T) {
	dir, set := withShell(t, map[string]string{"a.txt": "one\ntwo\n"})
	require.False(t, call(t, set, "Read", `{"file_path":"a.txt"}`).IsError)
	require.False(t, call(t, set, "Bash", bashArgs(t, "echo three >> a.txt")).IsError)
	r := call(t, set, "Write", `{"file_path":"a.txt","content":"x\n"}`)
	require.True(t, r.IsError)
	assert.Equal(t, fsbackend.CodeStaleVersion, r.Error.Code)
	r = call(t, set, "Edit", editArgs("a.txt", "one", "1"))
	require.False(t, r.IsError)
	assert.Contains(t, plain(r), "changed since")
	assert.Equal(t, "1\ntwo\nthree\n", read(t, dir, "a.txt"))
}

// board notes what is shown on it.
type board struct {
	mu      sync.Mutex
	out     string
	seconds []int
	events  []msg.Payload
	report  Report
	err     error
	task    string
}

func (b *board) Running(seconds int) { b.seconds = append(b.seconds, seconds) }
func (b *board) Output(text string)  { b.out += text }
func (b *board) Terminal(string)     {}
func (b *board) Record(p msg.Payload) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events = append(b.events, p)
	return b.err
}
func (b *board) Delegate(_ context.Context, task string, except ...string) (Report, error) {
	b.task = task + " without " + strings.Join(except, ",")
	return b.report, b.err
}

func onBoard(t *testing.T, set *Set, b *board, name, args string) msg.ToolResult {
	t.Helper()
	p, r := set.Plan(t.Context(), msg.ToolUse{ID: "c", Name: name, Input: args})
	require.Nil(t, r)
	return p.RunOn(t.Context(), b)
}

func TestBashShowsWhatItWritesMeanwhile(t *testing.T) {
	_, set := withShell(t, nil)
	slow, quick := &board{}, &board{}
	r := onBoard(t, set, slow, "Bash", bashArgs(t, "echo one; sleep 0.6; echo two"))
	assert.Equal(t, "one\ntwo", plain(r))
	assert.Equal(t, plain(r), slow.out)
	r = onBoard(t, set, quick, "Bash", bashArgs(t, "echo one"))
	assert.Equal(t, "one", plain(r))
	assert.Contains(t, []string{"", "one"}, quick.out)
	assert.Empty(t, quick.seconds)
}

func TestBashIsCancelled(t *testing.T) {
	dir, set := withShell(t, nil)
	p, refused := set.Plan(t.Context(), msg.ToolUse{ID: "c", Name: "Bash", Input: bashArgs(t, "echo begun; touch begun; sleep 60")})
	require.Nil(t, refused)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan msg.ToolResult)
	go func() { done <- p.Run(ctx) }()
	require.Eventually(t, func() bool {
		_, err := os.Stat(filepath.Join(dir, "begun"))
		return err == nil
	}, 20*time.Second, 5*time.Millisecond)
	cancel()
	r := <-done
	require.True(t, r.IsError)
	assert.Equal(t, msg.CodeAborted, r.Error.Code)
	assert.Contains(t, plain(r), "begun")
}

func TestBackgroundCommands(t *testing.T) {
	_, set := withShell(t, nil)
	r := call(t, set, "BashOutput", `{"bash_id":"bash_1"}`)
	assert.Equal(t, CodeUnknownJob, r.Error.Code)
	r = call(t, set, "Bash", `{"command":"echo one; echo two; exit 4","run_in_background":true}`)
	require.False(t, r.IsError)
	assert.Contains(t, plain(r), "bash_1")
	var told string
	require.Eventually(t, func() bool {
		r := call(t, set, "BashOutput", `{"bash_id":"bash_1"}`)
		told += plain(r) + "\n"
		return strings.Contains(told, "exit code 4")
	}, 20*time.Second, 5*time.Millisecond)
	assert.Equal(t, 1, strings.Count(told, "one"))
	assert.Equal(t, 1, strings.Count(told, "two"))
	assert.Contains(t, plain(call(t, set, "KillShell", `{"shell_id":"bash_1"}`)), "exit code 4")
	require.False(t, call(t, set, "Bash", `{"command":"sleep 60","run_in_background":true}`).IsError)
	assert.Contains(t, plain(call(t, set, "KillShell", `{"shell_id":"bash_2"}`)), "ended bash_2")
	assert.Contains(t, plain(call(t, set, "BashOutput", `{"bash_id":"bash_3"}`)), "bash_1, bash_2")
	assert.Contains(t, plain(call(t, set, "BashOutput", `{"bash_id":"bash_1","filter":"("}`)), "regular expression")
}

func TestBashAnswers(t *testing.T) {
	_, set := withShell(t, map[string]string{"a.txt": "one\n", "b.txt": "two\n"})
	for command, want := range map[string]string{
		"grep three a.txt":             noOutput,
		"cat a.txt | grep -c three":    "0",
		"cmp -s a.txt b.txt":           noOutput,
		"printf '\\n  \\n\\n x\\n\\n'": " x",
		"printf '  x  \\n \\n'":        "  x",
	} {
		r := call(t, set, "Bash", bashArgs(t, command))
		assert.False(t, r.IsError, command)
		assert.Equal(t, want, plain(r), command)
	}
	assert.True(t, call(t, set, "Bash", bashArgs(t, "grep one missing.txt")).IsError, "2 is a failure")
}

func TestBashWithoutAShell(t *testing.T) {
	dir, _ := withShell(t, nil)
	local, err := fsbackend.NewLocal(fsbackend.Options{Roots: []string{dir}})
	require.NoError(t, err)
	defer local.Close()
	set, err := New(Config{Cwd: dir, Files: local, Offer: []string{"Bash", "BashOutput"}})
	require.NoError(t, err)
	assert.Contains(t, plain(call(t, set, "Bash", bashArgs(t, "ls"))), "runs no commands")
	assert.Contains(t, plain(call(t, set, "BashOutput", `{"bash_id":"bash_1"}`)), "runs no commands")
}

func TestBashCards(t *testing.T) {
	text := func(s string, failed bool) msg.ToolResult {
		r := msg.ToolResult{Content: msg.Blocks{msg.Text{Text: s}}, IsError: failed}
		return r
	}
	zero, one, three, asked, killed := 0, 1, 3, 143, "killed"
	for _, c := range []struct {
		result msg.ToolResult
		want   presenter.Card
	}{
		{text("out", false), presenter.Terminal{Output: "out", ExitCode: &zero}},
		{text(noOutput, false), presenter.Terminal{Silent: true, ExitCode: &zero}},
		{text("Exit code 3\nout", true), presenter.Terminal{Output: "Exit code 3\nout", ExitCode: &three}},
		{text("Exit code 3", true), presenter.Terminal{Output: "Exit code 3", ExitCode: &three}},
		{text("Exit code x", true), presenter.Terminal{Output: "Exit code x"}},
		{text("3\nx", true), presenter.Terminal{Output: "3\nx"}},
		{text("Ended by signal: killed\nx", true), presenter.Terminal{Output: "Ended by signal: killed\nx", Signal: &killed}},
		{msg.Failed(CodeTimeout, "too long"), presenter.Terminal{Output: "too long", ExitCode: &asked}},
		{answered("Files a and b differ", 1), presenter.Terminal{Output: "Files a and b differ", ExitCode: &one}},
		{text("The command was cancelled", true), presenter.Terminal{Output: "The command was cancelled"}},
	} {
		assert.Equal(t, c.want, bashCards{}.Result(nil, c.result), "%+v", c.result)
	}
	bg := text("Runs", false)
	bg.Meta = json.RawMessage(`{"background":"bash_1"}`)
	assert.Equal(t, presenter.Terminal{Output: "Runs"}, bashCards{}.Result(nil, bg))
	assert.Equal(t, presenter.Terminal{Title: "Terminal"}, bashCards{}.Call(json.RawMessage(`{}`), false))
	assert.Equal(t, presenter.Terminal{Title: "ls", Description: "d"}, bashCards{}.Call(json.RawMessage(`{"command":"ls","description":"d"}`), true))
}

func TestTodoWrite(t *testing.T) {
	_, set := withShell(t, nil)
	b := &board{}
	args := `{"todos":[{"content":"Write","status":"in_progress","activeForm":"Writing"},{"content":"Test","status":"pending"}]}`
	r := onBoard(t, set, b, "TodoWrite", args)
	require.False(t, r.IsError)
	assert.Equal(t, []msg.Payload{msg.TodoWrite{Todos: []msg.Todo{
		{Content: "Write", Status: "in_progress", ActiveForm: "Writing"}, {Content: "Test", Status: "pending"}}}}, b.events)
	assert.Equal(t, presenter.Plan{Todos: b.events[0].(msg.TodoWrite).Todos}, todoCards{}.Call(json.RawMessage(args), true))
	for _, c := range []struct{ args, want string }{
		{`{}`, `"todos" is missing`},
		{`{"todos":"x"}`, "an array"},
		{`{"todos":[1]}`, "entry 1"},
		{`{"todos":[{"content":"a","status":"done"}]}`, "want one of pending"},
		{`{"todos":[{"content":" ","status":"pending"}]}`, "content is empty"},
		{`{"todos":[{"content":"a","status":"pending","x":1}]}`, "unknown argument"},
		{`{"todos":[` + strings.TrimSuffix(strings.Repeat(`{},`, maxTodos+1), ",") + `]}`, "at most"},
	} {
		assert.Contains(t, plain(call(t, set, "TodoWrite", c.args)), c.want, c.args)
	}
	assert.True(t, call(t, set, "TodoWrite", args).IsError, "without a session there is no list")
}

func TestPlanExit(t *testing.T) {
	_, set := withShell(t, nil)
	p, refused := set.Plan(t.Context(), msg.ToolUse{Name: "ExitPlanMode", Input: `{"plan":"1. x"}`})
	require.Nil(t, refused)
	assert.Equal(t, Need{Access: Ask}, p.Need)
	assert.Equal(t, planApproved, plain(p.Run(t.Context())))
	assert.Contains(t, plain(call(t, set, "ExitPlanMode", `{"plan":" "}`)), "plan is empty")
}

func TestAgentTool(t *testing.T) {
	_, set := withShell(t, nil)
	args := `{"description":"Look around","prompt":"Find it","subagent_type":"any"}`
	b := &board{report: Report{Text: "It is here.\n\nThere too.", Tools: []string{"Read", "Edit"}, Calls: 3}}
	r := onBoard(t, set, b, "Agent", args)
	require.False(t, r.IsError)
	assert.Equal(t, "Find it without Agent,TodoWrite,ExitPlanMode", b.task)
	card := agentCards{}.Result(json.RawMessage(args), r).(presenter.Generic)
	assert.Equal(t, msg.Blocks{msg.Text{Text: "It made 3 calls: Read, Edit."}, msg.Text{Text: "It is here.\n\nThere too."}}, card.Content)
	for _, err := range []error{context.Canceled, errOffstage} {
		b.err = err
		r = onBoard(t, set, b, "Agent", args)
		assert.True(t, r.IsError)
		assert.True(t, slices.Contains([]string{msg.CodeAborted, CodeHelper}, r.Error.Code))
		assert.Contains(t, plain(r), "3 calls")
	}
	assert.Contains(t, plain(call(t, set, "Agent", `{"description":"d","prompt":""}`)), "prompt is empty")
	assert.Contains(t, plain(call(t, set, "Agent", `{"description":"d","prompt":"p","run_in_background":true}`)), "background")
}
