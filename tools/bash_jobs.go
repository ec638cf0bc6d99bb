package tools

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"dsh-acp/internal/msg"
	"dsh-acp/internal/shell"
	"dsh-acp/presenter"
)

// bashOutputTool reads what a background command has written.
type bashOutputTool struct{}

// killShellTool ends a background command.
type killShellTool struct{}

//go:embed bash_output.md
var bashOutputText string

//go:embed bash_kill.md
var killShellText string

const bashOutputSchema = `{
  "type": "object",
  "properties": {
    "bash_id": {"type": "string", "description": "the command's name, such as bash_1"},
    "filter": {"type": "string", "description": "a regular expression: only lines that match are shown"}
  },
  "required": ["bash_id"],
  "additionalProperties": false
}`

const killShellSchema = `{
  "type": "object",
  "properties": {"shell_id": {"type": "string", "description": "the command's name, such as bash_1"}},
  "required": ["shell_id"],
  "additionalProperties": false
}`

// CodeUnknownJob says that there is no background command of that name.
const CodeUnknownJob = "UNKNOWN_COMMAND"

func (bashOutputTool) params() []param {
	return []param{{"bash_id", stringParam, true}, {"filter", stringParam, false}}
}

func (bashOutputTool) spec(name string) msg.ToolSpec {
	return msg.ToolSpec{Name: name, Description: bashOutputText, InputSchema: json.RawMessage(bashOutputSchema)}
}

func (bashOutputTool) cards() presenter.Tool { return jobCards{"Output of", "bash_id"} }

func (bashOutputTool) plan(_ context.Context, e *env, name string, args arguments) (*Plan, error) {
	id := args.text("bash_id")
	if err := e.knowsJob(name, "bash_id", id); err != nil {
		return nil, err
	}
	filter, err := regexp.Compile(args.text("filter"))
	if err != nil {
		return nil, failf(msg.CodeInvalidArgs, "%s: filter is no regular expression: %v", name, err)
	}
	return &Plan{Need: Need{Access: Look}, run: func(context.Context) msg.ToolResult {
		out, state, _ := e.Commands.Read(id)
		text := out.Text()
		if args.text("filter") != "" {
			text = matching(text, filter)
		}
		if text == "" {
			text = "(nothing new)"
		}
		return msg.ToolResult{Content: msg.Blocks{msg.Text{Text: lines(jobState(id, state), text)}}}
	}}, nil
}

func matching(text string, filter *regexp.Regexp) string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		if filter.MatchString(line) {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

func (killShellTool) params() []param { return []param{{"shell_id", stringParam, true}} }

func (killShellTool) spec(name string) msg.ToolSpec {
	return msg.ToolSpec{Name: name, Description: killShellText, InputSchema: json.RawMessage(killShellSchema)}
}

func (killShellTool) cards() presenter.Tool { return jobCards{"Kill", "shell_id"} }

// plan needs no permission: the command is the session's own.
func (killShellTool) plan(_ context.Context, e *env, name string, args arguments) (*Plan, error) {
	id := args.text("shell_id")
	if err := e.knowsJob(name, "shell_id", id); err != nil {
		return nil, err
	}
	return &Plan{Need: Need{Access: Look}, run: func(context.Context) msg.ToolResult {
		text := "ended " + id + " with all that it started"
		if state, _ := e.Commands.Kill(id); !state.Running {
			text = jobState(id, state)
		}
		return msg.ToolResult{Content: msg.Blocks{msg.Text{Text: text}}}
	}}, nil
}

func (e *env) knowsJob(tool, arg, id string) error {
	if e.Commands == nil {
		return failf(CodeUnknownJob, "%s: this session runs no commands", tool)
	}
	if e.Commands.Has(id) {
		return nil
	}
	known := e.Commands.Jobs()
	if len(known) == 0 {
		return failf(CodeUnknownJob, "%s: %s %q: no command was started in the background; Bash does that with run_in_background", tool, arg, id)
	}
	return failf(CodeUnknownJob, "%s: there is no background command %q; there are %s", tool, id, list(known))
}

// jobState says in a line how a background command stands.
func jobState(id string, s shell.JobState) string {
	switch {
	case s.Running:
		return fmt.Sprintf("%s runs, for %v now", id, s.Elapsed.Round(time.Second))
	case s.Signal != "":
		return fmt.Sprintf("%s has ended by signal: %s", id, s.Signal)
	}
	return fmt.Sprintf("%s has ended with exit code %d", id, s.Exit)
}
