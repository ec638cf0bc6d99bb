package tools

import (
	"context"
	_ "embed"
	"encoding/json"
	"strings"

	"dsh-acp/internal/msg"
	"dsh-acp/presenter"
)

// planExitTool asks the user to leave plan mode. Whoever decides about calls
// puts the question and switches the mode; when the tool runs it is done.
type planExitTool struct{}

//go:embed planexit.md
var planExitText string

const planExitSchema = `{
  "type": "object",
  "properties": {"plan": {"type": "string", "minLength": 1, "description": "the plan, in Markdown"}},
  "required": ["plan"],
  "additionalProperties": false
}`

func (planExitTool) params() []param { return []param{{"plan", stringParam, true}} }

func (planExitTool) spec(name string) msg.ToolSpec {
	return msg.ToolSpec{Name: name, Description: planExitText, InputSchema: json.RawMessage(planExitSchema)}
}

func (planExitTool) cards() presenter.Tool { return planExitCards{} }

func (planExitTool) plan(_ context.Context, _ *env, name string, args arguments) (*Plan, error) {
	if strings.TrimSpace(args.text("plan")) == "" {
		return nil, failf(msg.CodeInvalidArgs, "%s: plan is empty: say what you would do", name)
	}
	return &Plan{Need: Need{Access: Ask}, run: func(context.Context) msg.ToolResult {
		return msg.ToolResult{Content: msg.Blocks{msg.Text{Text: planApproved}}}
	}}, nil
}

const planApproved = "User has approved exiting plan mode. You can now proceed."

type planExitCards struct{}

func (planExitCards) Call(args json.RawMessage, done bool) presenter.Card {
	card := presenter.Generic{Title: "Approve Plan", Kind: presenter.KindSwitchMode}
	if plan, _ := loosely(args).text("plan"); plan != "" && done {
		card.Content = msg.Blocks{msg.Text{Text: plan}}
	}
	return card
}

func (planExitCards) Result(args json.RawMessage, r msg.ToolResult) presenter.Card {
	if r.IsError {
		return refusal()
	}
	// The plan stays in sight below the new title.
	plan, _ := loosely(args).text("plan")
	return presenter.Generic{Title: "Exited Plan Mode", Content: msg.Blocks{msg.Text{Text: plan}}}
}

func (planExitCards) Input(args json.RawMessage) json.RawMessage { return args }
