package app

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"dsh-acp/acp"
	"dsh-acp/internal/agent"
)

// commands are the slash commands, in the order in which they are listed.
var commands = []acp.Command{
	{Name: "undo", Description: "Take back what the last turn changed in files", Hint: "turn [N] | call | list | redo"},
	{Name: "diff", Description: "Show what this session changed in files"},
	{Name: "permissions", Description: "List the permissions that you gave, have one hold for the project, or take one back", Hint: "keep N | revoke N"},
	{Name: "compact", Description: "Let a summary stand for the conversation so far, which makes room in the model's context window"},
	{Name: "help", Description: "List these commands"},
}

// answer carries out a command.
func (w *work) answer(ctx context.Context, d agent.Desk, c acp.Call) error {
	switch c.Name {
	case "undo":
		return w.undo(ctx, d, strings.Fields(c.Args))
	case "diff":
		return w.changed(ctx, d)
	case "permissions":
		return w.permissions(d, strings.Fields(c.Args))
	case "compact":
		err := d.Compact(ctx)
		if errors.Is(err, agent.ErrNothingToCompact) {
			return d.Say("There is no conversation yet that a summary could stand for.")
		}
		return err
	case "help":
		return d.Say(help())
	default:
		panic("app: no answer to the command " + c.Name)
	}
}

func help() string {
	var b strings.Builder
	for _, c := range commands {
		name := "/" + c.Name
		if c.Hint != "" {
			name += " " + c.Hint
		}
		fmt.Fprintf(&b, "- `%s` – %s\n", name, c.Description)
	}
	b.WriteString("\nAnything else goes to the model.\n")
	return b.String()
}
