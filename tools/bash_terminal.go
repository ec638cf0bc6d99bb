package tools

import (
	"context"
	"errors"
	"fmt"
	"time"

	"dsh-acp/internal/msg"
	"dsh-acp/internal/shell"
)

// Terminals run commands in terminals of the client's.
type Terminals interface {
	// Run is like [shell.Runner.Run], and tells begun the terminal's id before
	// the command has output. It fails with [ErrNoTerminal] if the client has
	// none for the command: nothing has run then.
	Run(ctx context.Context, command string, limit time.Duration, begun func(id string)) (shell.Result, error)
}

// ErrNoTerminal says that a command has not run since the client has no
// terminal for it.
var ErrNoTerminal = errors.New("the client has no terminal")

// inTerminal runs the command in a terminal of the client's. ok is false if
// there is none, and nothing has run.
func (r bashRun) inTerminal(ctx context.Context, s Stage) (res msg.ToolResult, ok bool) {
	if r.env.Terminals == nil {
		return msg.ToolResult{}, false
	}
	over, told := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(told)
		select {
		case <-over:
		case <-time.After(beatAfter):
			s.Running(int(beatAfter.Seconds()))
		}
	}()
	end, err := r.env.Terminals.Run(ctx, r.command, r.limit, s.Terminal)
	close(over)
	<-told // a stage is not used after the call
	switch {
	case errors.Is(err, ErrNoTerminal):
		return msg.ToolResult{}, false
	case err != nil:
		return msg.Failed("", fmt.Sprintf("Bash: %v. The command may have run, wholly or in part: check before you repeat it.", err)), true
	}
	r.client = true
	return r.result(end), true
}
