package presenter

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dsh-acp/internal/msg"
)

// A step is one line of a script: a delta, an event, or a question.
type step struct {
	line  string
	delta msg.Delta
	event *msg.Event
	ask   string

	question Question
}

// parseScript reads a script. Its lines are
//
//	start MESSAGE           text MESSAGE TEXT        think MESSAGE TEXT
//	tool CALL NAME          input CALL FRAGMENT      ready CALL
//	usage JSON              ask CALL [PATH… | META]  event TYPE JSON
//	runs CALL SECONDS       output CALL TEXT
//
// where ready takes the fragments of its call as the whole input.
func parseScript(t testing.TB, script string) []step {
	t.Helper()
	var steps []step
	names, inputs := map[string]string{}, map[string]string{}
	for line := range strings.Lines(script) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		verb, rest, _ := strings.Cut(line, " ")
		id, arg, _ := strings.Cut(rest, " ")
		s := step{line: line}
		switch verb {
		case "start":
			s.delta = msg.MessageStart{MessageID: id}
		case "text":
			s.delta = msg.TextDelta{MessageID: id, Text: arg}
		case "think":
			s.delta = msg.ThoughtDelta{MessageID: id, Text: arg}
		case "tool":
			names[id], inputs[id] = arg, ""
			s.delta = msg.ToolStart{CallID: id, Name: arg}
		case "input":
			inputs[id] += arg
			s.delta = msg.ToolInput{CallID: id, Fragment: arg}
		case "ready":
			s.delta = msg.ToolReady{Use: msg.ToolUse{ID: id, Name: names[id], Input: inputs[id]}}
		case "usage":
			var u msg.Usage
			require.NoError(t, json.Unmarshal([]byte(rest), &u), line)
			s.delta = msg.UsageDelta{Usage: u}
		case "runs":
			seconds, err := strconv.Atoi(arg)
			require.NoError(t, err, line)
			s.delta = msg.ToolRunning{CallID: id, Elapsed: seconds}
		case "output":
			s.delta = msg.ToolOutput{CallID: id, Text: strings.ReplaceAll(arg, `\n`, "\n")}
		case "ask":
			s.ask = id
			if strings.HasPrefix(arg, "{") {
				s.question.Preview = json.RawMessage(arg)
			} else {
				s.question.Paths = strings.Fields(arg)
			}
		case "event":
			s.event = &msg.Event{Type: id, Data: json.RawMessage(arg)}
			_, err := msg.Decode(*s.event)
			require.NoError(t, err, line)
		default:
			t.Fatalf("script: unknown verb in %q", line)
		}
		steps = append(steps, s)
	}
	return steps
}

func (s step) live(t testing.TB, p *Presenter) []Update {
	switch {
	case s.delta != nil:
		return p.Delta(s.delta)
	case s.event != nil:
		return p.Event(*s.event)
	default:
		_, ok := p.PermissionCall(s.ask, s.question)
		require.True(t, ok, s.line)
		return nil
	}
}

func encode(t testing.TB, v any) string {
	t.Helper()
	raw, err := msg.Marshal(v)
	require.NoError(t, err)
	require.True(t, json.Valid(raw))
	return string(raw)
}

func encodeAll(t testing.TB, us []Update) string {
	var b strings.Builder
	for _, u := range us {
		b.WriteString(encode(t, u) + "\n")
	}
	return b.String()
}

// testTools are small tools that draw as the real ones of these names do.
func testTools() map[string]Tool {
	return map[string]Tool{
		"Edit": editTool{}, "Write": writeTool{}, "Read": readTool{}, "Bash": bashTool{},
		"Glob": globTool{}, "TodoWrite": todoTool{}, "ExitPlanMode": planTool{},
	}
}

type plainInput struct{}

func (plainInput) Input(args json.RawMessage) json.RawMessage { return args }

func arg(args json.RawMessage, name string) string {
	s, _ := jsonString(member(args, name))
	return s
}

func place(path string, line int) []Location {
	if path == "" {
		return []Location{}
	}
	return []Location{{Path: path, Line: line}}
}

type editTool struct{}

func (editTool) Call(args json.RawMessage, done bool) Card {
	path := arg(args, "file_path")
	c := Diff{Title: strings.TrimSpace("Edit " + path), Locations: place(path, 0)}
	if done {
		d := FileDiff{Path: path, NewText: arg(args, "new_string")}
		if old := arg(args, "old_string"); old != "" {
			d.OldText = &old
		}
		c.Diffs = []FileDiff{d}
	}
	return c
}

func (editTool) Result(_ json.RawMessage, r msg.ToolResult) Card {
	diffs := DiffsFromMeta(r.Meta)
	if r.IsError || diffs == nil {
		return Generic{}
	}
	return Diff{Diffs: diffs, Truncated: OmittedFromMeta(r.Meta)}
}

func (editTool) Input(args json.RawMessage) json.RawMessage {
	if len(args) < 3 || member(args, "replace_all") != nil {
		return args
	}
	return json.RawMessage(`{"replace_all":false,` + string(args[1:]))
}

type writeTool struct{ plainInput }

func (writeTool) Call(args json.RawMessage, done bool) Card {
	path := arg(args, "file_path")
	c := Diff{Title: "Preparing file…", Locations: place(path, 0)}
	if path != "" {
		c.Title = "Write " + path
	}
	if done {
		c.Diffs = []FileDiff{{Path: path, NewText: arg(args, "content")}}
	}
	return c
}

func (writeTool) Result(args json.RawMessage, r msg.ToolResult) Card {
	if diffs := DiffsFromMeta(r.Meta); diffs != nil {
		return Diff{Diffs: diffs, Truncated: OmittedFromMeta(r.Meta)}
	}
	if string(member(r.Meta, "unchanged")) == "true" {
		same := arg(args, "content")
		return Diff{Diffs: []FileDiff{{Path: arg(args, "file_path"), OldText: &same, NewText: same}}}
	}
	return Diff{Kept: true}
}

type readTool struct{ plainInput }

func (readTool) Call(args json.RawMessage, _ bool) Card {
	path := arg(args, "file_path")
	if path == "" {
		return Generic{Title: "Read File", Kind: KindRead, Locations: []Location{}}
	}
	return Generic{Title: "Read " + path, Kind: KindRead, Locations: place(path, 1)}
}

func (readTool) Result(args json.RawMessage, r msg.ToolResult) Card {
	c := Read{Path: arg(args, "file_path"), Offset: natural(member(r.Meta, "offset"))}
	for _, b := range r.Content {
		if _, ok := b.(msg.Image); ok {
			c.Images = append(c.Images, b)
		}
	}
	_ = json.Unmarshal(member(r.Meta, "lines"), &c.Lines)
	return c
}

type bashTool struct{ plainInput }

func (bashTool) Call(args json.RawMessage, _ bool) Card {
	c := Terminal{Title: arg(args, "command"), Description: arg(args, "description")}
	if c.Title == "" {
		c.Title = "Terminal"
	}
	return c
}

func (bashTool) Result(_ json.RawMessage, r msg.ToolResult) Card {
	code := natural(member(r.Meta, "exit"))
	if _, err := fmt.Sscanf(r.Content.PlainText(), "Exit code %d", &code); err != nil && r.IsError {
		return Terminal{}
	}
	return Terminal{Output: r.Content.PlainText(), ExitCode: &code}
}

type globTool struct{ plainInput }

func (globTool) Call(args json.RawMessage, _ bool) Card {
	if pattern := arg(args, "pattern"); pattern != "" {
		return Generic{Title: "Find `" + pattern + "`", Kind: KindSearch, Locations: []Location{}}
	}
	return Generic{Title: "Find", Kind: KindSearch, Locations: []Location{}}
}

func (globTool) Result(_ json.RawMessage, r msg.ToolResult) Card {
	return Search{Paths: strings.Fields(r.Content.PlainText())}
}

type todoTool struct{ plainInput }

func (todoTool) Call(args json.RawMessage, _ bool) Card {
	var p Plan
	_ = json.Unmarshal(member(args, "todos"), &p.Todos)
	return p
}

func (todoTool) Result(json.RawMessage, msg.ToolResult) Card { return Plan{} }

type planTool struct{ plainInput }

func (planTool) Call(args json.RawMessage, done bool) Card {
	c := Generic{Title: "Approve Plan", Kind: KindSwitchMode}
	if plan := arg(args, "plan"); done && plan != "" {
		c.Content = msg.Blocks{msg.Text{Text: plan}}
	}
	return c
}

func (planTool) Result(_ json.RawMessage, r msg.ToolResult) Card {
	if r.IsError {
		return Generic{}
	}
	// The plan stays in sight.
	return Generic{Title: "Exited Plan Mode", Content: msg.Blocks{}}
}
