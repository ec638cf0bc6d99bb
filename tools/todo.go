package tools

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"dsh-acp/internal/msg"
	"dsh-acp/presenter"
)

// todoTool replaces the list of tasks.
type todoTool struct{}

//go:embed todo.md
var todoText string

const todoSchema = `{
  "type": "object",
  "properties": {
    "todos": {
      "type": "array",
      "description": "the whole list",
      "items": {
        "type": "object",
        "properties": {
          "content": {"type": "string", "minLength": 1, "description": "what is to be done"},
          "status": {"type": "string", "enum": ["pending", "in_progress", "completed"]},
          "activeForm": {"type": "string", "description": "what is being done, shown while the task is in progress"}
        },
        "required": ["content", "status"],
        "additionalProperties": false
      }
    }
  },
  "required": ["todos"],
  "additionalProperties": false
}`

// maxTodos bounds the list; a plan that long helps nobody.
const maxTodos = 200

var todoStates = []string{"pending", "in_progress", "completed"}

func (todoTool) params() []param { return []param{{"todos", listParam, true}} }

func (todoTool) spec(name string) msg.ToolSpec {
	return msg.ToolSpec{Name: name, Description: todoText, InputSchema: json.RawMessage(todoSchema)}
}

func (todoTool) cards() presenter.Tool { return todoCards{} }

func (todoTool) plan(_ context.Context, _ *env, name string, args arguments) (*Plan, error) {
	items := args.list("todos")
	if len(items) > maxTodos {
		return nil, failf(msg.CodeInvalidArgs, "%s: todos has %d entries, at most %d are taken: join some", name, len(items), maxTodos)
	}
	todos := make([]msg.Todo, len(items))
	for i, raw := range items {
		// decode refuses what is unknown, given twice or of another type.
		at := fmt.Sprintf("%s: entry %d of todos", name, i+1)
		m, err := decode(at, string(raw), []param{{"content", stringParam, true}, {"status", stringParam, true}, {"activeForm", stringParam, false}})
		if err != nil {
			return nil, err
		}
		todos[i] = msg.Todo{Content: m.text("content"), Status: m.text("status"), ActiveForm: m.text("activeForm")}
		switch {
		case strings.TrimSpace(todos[i].Content) == "":
			return nil, failf(msg.CodeInvalidArgs, "%s: content is empty: say what is to be done", at)
		case !slices.Contains(todoStates, todos[i].Status):
			return nil, failf(msg.CodeInvalidArgs, "%s: status is %q, want one of %s", at, todos[i].Status, list(todoStates))
		}
	}
	return &Plan{Need: Need{Access: Look}, staged: func(_ context.Context, s Stage) msg.ToolResult {
		if err := s.Record(msg.TodoWrite{Todos: todos}); err != nil {
			return msg.Failed("", fmt.Sprintf("%s: the list was not stored: %v", name, err))
		}
		return msg.ToolResult{Content: msg.Blocks{msg.Text{Text: todoState(todos)}}}
	}}, nil
}

func todoState(todos []msg.Todo) string {
	counts := map[string]int{}
	for _, t := range todos {
		counts[t.Status]++
	}
	return fmt.Sprintf("The list now has %s: %d completed, %d in progress, %d pending.",
		plural(len(todos), "1 task", "%d tasks"), counts["completed"], counts["in_progress"], counts["pending"])
}

// todoCards draws the list as the client's plan.
type todoCards struct{}

func (todoCards) Call(args json.RawMessage, done bool) presenter.Card {
	var card presenter.Plan
	if !done {
		return card
	}
	var m struct {
		Todos []msg.Todo `json:"todos"`
	}
	if json.Unmarshal(args, &m) == nil {
		card.Todos = m.Todos
	}
	return card
}

func (todoCards) Result(json.RawMessage, msg.ToolResult) presenter.Card { return presenter.Plan{} }

func (todoCards) Input(args json.RawMessage) json.RawMessage { return args }
