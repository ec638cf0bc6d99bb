package tools

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"dsh-acp/internal/msg"
	"dsh-acp/internal/shell"
	"dsh-acp/presenter"
)

// bashTool runs commands.
type bashTool struct{}

//go:embed bash.md
var bashText string

const bashSchema = `{
  "type": "object",
  "properties": {
    "command": {"type": "string", "description": "the command"},
    "description": {"type": "string", "description": "what it does, in a few words, for the user"},
    "timeout": {"type": "integer", "minimum": 1, "maximum": 600000, "description": "milliseconds after which the command is ended"},
    "run_in_background": {"type": "boolean", "default": false, "description": "let the command go on, and read its output later"}
  },
  "required": ["command"],
  "additionalProperties": false
}`

// Times of a command.
const (
	bashTime    = 2 * time.Minute
	bashTimeMax = 10 * time.Minute
	// beatAfter is when a command that still runs is told to be in progress.
	beatAfter = 30 * time.Second
)

// maxCommand is what Linux takes as one argument of a program, in bytes.
const maxCommand = 128<<10 - 1

// maxReadArguments bounds the arguments of a command that are looked at for
// where they lead; a command with more is asked about.
const maxReadArguments = 64

// CodeTimeout marks the result of a command whose time was over.
const CodeTimeout = "TIMEOUT"

// Beginnings of results, by which the card knows them again.
const (
	exitedWith = "Exit code "
	endedBy    = "Ended by signal: "
	noOutput   = "(Bash completed with no output)"
)

func (bashTool) params() []param {
	return []param{
		{"command", stringParam, true},
		{"description", stringParam, false},
		{"timeout", countParam, false},
		{"run_in_background", boolParam, false},
	}
}

func (bashTool) spec(name string) msg.ToolSpec {
	return msg.ToolSpec{Name: name, Description: bashText, InputSchema: json.RawMessage(bashSchema)}
}

func (bashTool) cards() presenter.Tool { return bashCards{} }

func (bashTool) plan(ctx context.Context, e *env, name string, args arguments) (*Plan, error) {
	command := args.text("command")
	switch {
	case e.Commands == nil:
		return nil, failf(msg.CodeInvalidArgs, "%s: this session runs no commands: do it with the other tools, or tell the user what to run", name)
	case strings.TrimSpace(command) == "":
		return nil, failf(msg.CodeInvalidArgs, "%s: command is empty: give the command to run", name)
	case len(command) > maxCommand:
		return nil, failf(msg.CodeInvalidArgs, "%s: command has %d bytes, and a system takes %d at most: put long text into a file with Write, and name the file in the command", name, len(command), maxCommand)
	case strings.Contains(command, "\x00"):
		return nil, failf(msg.CodeInvalidArgs, "%s: command holds a NUL character, which no command can: leave it out", name)
	}
	limit := min(time.Duration(args.count("timeout"))*time.Millisecond, bashTimeMax)
	run := bashRun{env: e, command: command, limit: cmp.Or(limit, bashTime)}
	p := &Plan{Need: e.commandNeed(ctx, command), staged: run.run}
	if args.flag("run_in_background") {
		p.staged = run.start
	}
	return p, nil
}

// commandNeed says what a command does, as far as its text tells. One that
// evidently only reads needs no more than a look at what it reads.
func (e *env) commandNeed(ctx context.Context, command string) Need {
	a := shell.Analyse(command)
	if a.ReadOnly && len(a.Reads) <= maxReadArguments {
		n := Need{Access: Look, Command: command}
		for _, r := range a.Reads {
			if path, out := e.leadsOut(ctx, r); out {
				n.Outside = true
				n.Paths = append(n.Paths, path)
			}
		}
		return n
	}
	n := Need{Access: Execute, Command: command, Rule: a.Rule, RuleExact: a.Exact}
	for _, w := range a.Writes {
		path, out := e.leadsOut(ctx, w)
		n.Paths = append(n.Paths, path)
		n.Outside = n.Outside || out
	}
	return n
}

// leadsOut resolves an argument of a command that may be a path, and reports
// whether it leads out of the session's folders, or to where tools may not look.
func (e *env) leadsOut(ctx context.Context, arg string) (path string, out bool) {
	path, err := e.resolve(ctx, "Bash", "command", cmp.Or(arg, "."))
	if err != nil {
		return arg, true
	}
	if e.outside(path) {
		return path, true
	}
	info, err := e.Files.Stat(ctx, path)
	return path, err != nil || info.Exists && info.Real != "" && e.outside(info.Real) && !e.linked(ctx, info.Real)
}

// linked reports whether a real path lies in a folder of the session that is
// itself reached through a link.
func (e *env) linked(ctx context.Context, path string) bool {
	for _, root := range e.Roots {
		if info, err := e.Files.Stat(ctx, root); err == nil && info.Real != "" && within(info.Real, path) {
			return true
		}
	}
	return false
}

type bashRun struct {
	env     *env
	command string
	limit   time.Duration
	client  bool // it runs in a terminal of the client's
}

// ended says how far the end of a command went that was ended from here.
func (r bashRun) ended() string {
	if r.client {
		return "by the client"
	}
	return "with all that it started"
}

func (r bashRun) run(ctx context.Context, s Stage) msg.ToolResult {
	if res, ok := r.inTerminal(ctx, s); ok {
		return res
	}
	told := false
	res, err := r.env.Commands.Run(ctx, r.command, r.limit, func(fresh string, elapsed time.Duration) {
		if fresh != "" {
			s.Output(fresh)
		}
		if !told && elapsed >= beatAfter {
			told = true
			s.Running(int(elapsed.Seconds()))
		}
	})
	if err != nil {
		return msg.Failed("", fmt.Sprintf("Bash: the command did not run: %v", err))
	}
	if res.Rest != "" {
		s.Output(res.Rest)
	}
	return r.result(res)
}

func (r bashRun) result(res shell.Result) msg.ToolResult {
	out := strings.TrimRight(withoutBlankHead(res.Output.Text()), " \t\r\n")
	swept := ""
	if res.Swept {
		swept = "[Processes that the command left running were ended with it. To keep one running use run_in_background.]"
	}
	switch {
	case res.Cancelled:
		return msg.Failed(msg.CodeAborted, lines("The command was cancelled while it ran, and was ended "+r.ended()+". "+
			"It may have done its work in part: check before you repeat it.", out))
	case res.TimedOut:
		return msg.Failed(CodeTimeout, lines(fmt.Sprintf("The command did not end within %v and was ended %s. "+
			"Give it more time with timeout (at most %d), or use run_in_background.", r.limit, r.ended(), bashTimeMax.Milliseconds()), out))
	case res.Signal != "":
		return msg.Failed("", lines(endedBy+res.Signal, out, swept))
	case res.Exit == 1 && shell.Answers(r.command):
		// Not found, not equal, not so: the command did what it was to do.
		return answered(lines(cmp.Or(out, noOutput), swept), res.Exit)
	case res.Exit != 0:
		return msg.Failed("", lines(fmt.Sprintf("%s%d", exitedWith, res.Exit), out, swept))
	}
	return msg.ToolResult{Content: msg.Blocks{msg.Text{Text: lines(cmp.Or(out, noOutput), swept)}}}
}

// withoutBlankHead takes the blank lines off the start of an output.
func withoutBlankHead(out string) string {
	for {
		line, rest, more := strings.Cut(out, "\n")
		if !more || strings.TrimSpace(line) != "" {
			return out
		}
		out = rest
	}
}

// answered is the result of a command whose exit code is an answer.
func answered(text string, exit int) msg.ToolResult {
	return msg.ToolResult{Content: msg.Blocks{msg.Text{Text: text}}, Meta: bashMeta{Exit: exit}.encode()}
}

func (r bashRun) start(_ context.Context, _ Stage) msg.ToolResult {
	id, err := r.env.Commands.Start(r.command)
	if err != nil {
		return msg.Failed("", fmt.Sprintf("Bash: the command did not start: %v", err))
	}
	return msg.ToolResult{
		Content: msg.Blocks{msg.Text{Text: fmt.Sprintf("Runs in the background as %s. Read its output with BashOutput, end it with KillShell.", id)}},
		Meta:    bashMeta{Background: id}.encode(),
	}
}

// bashMeta is what a card cannot tell from the text of a result.
type bashMeta struct {
	Background string `json:"background,omitempty"` // the command's name
	Exit       int    `json:"exit,omitempty"`       // the exit code of a command that did not fail
}

func (m bashMeta) encode() json.RawMessage {
	b, err := msg.Marshal(m)
	if err != nil {
		panic("tools: a string without JSON: " + err.Error())
	}
	return b
}

// lines joins those parts that say something.
func lines(parts ...string) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, "\n")
}
