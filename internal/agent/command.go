package agent

import (
	"context"

	"dsh-acp/internal/msg"
)

// StopCommand is the stop reason of an assistant message that the agent wrote
// itself, in answer to a command. It is never sent to a model.
const StopCommand = "command"

// A Desk is what a command's turn is given to answer with. What it does is
// recorded and shown at once, so that a reload shows the same. It is used by
// one goroutine, until the command returns.
type Desk interface {
	// Say shows a text to the user.
	Say(text string) error
	// Show shows a call that the agent made itself, with what came of it. The
	// id must be new in the session.
	Show(use msg.ToolUse, r msg.ToolResult) error
	// Note tells the model something, from its next request on, which the
	// user is not shown.
	Note(text string) error
	// Compact sums the conversation up at the user's wish. It fails with
	// [ErrNothingToCompact], and as a request to the model does.
	Compact(ctx context.Context) error
	// Turn is the number of the command's turn.
	Turn() int
}

// Command runs a turn that the agent answers by itself: do is given a [Desk],
// and its error is shown and ends the turn as that of a request does. The model
// is told the notes alone. All else is as for [Session.Run].
func (s *Session) Command(ctx context.Context, prompt msg.Blocks, do func(ctx context.Context, d Desk) error) (Outcome, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken != nil {
		return Outcome{}, s.broken
	}
	t := s.newTurn(prompt)
	t.command = true
	stop, err := t.guard(func() (string, error) {
		if err := t.add(msg.TurnStart{Turn: t.n}); err != nil {
			return "", err
		}
		if err := t.beginStep(t.prompt, msg.SourceCommand); err != nil {
			return "", err
		}
		if err := do(ctx, desk{t}); err != nil {
			return "", err
		}
		return StopEndTurn, ctx.Err()
	})
	return t.end(ctx, stop, err)
}

type desk struct{ turn *turn }

func (d desk) Turn() int { return d.turn.n }

func (d desk) Say(text string) error {
	m := d.turn.message(msg.Text{Text: text})
	d.turn.s.cfg.Sink.Delta(msg.MessageStart{MessageID: m.Message.ID})
	return d.turn.add(m)
}

func (d desk) Show(use msg.ToolUse, r msg.ToolResult) error {
	t := d.turn
	if err := t.add(t.message(use)); err != nil {
		return err
	}
	if err := t.add(msg.ToolCall{Turn: t.n, Step: t.step, CallID: use.ID, Name: use.Name, Arguments: use.Input}); err != nil {
		return err
	}
	return t.returned(use, r)
}

func (d desk) Note(text string) error {
	t := d.turn
	return t.add(msg.UserMessage{
		ID: t.s.cfg.NewID(), Role: "user", Source: msg.Source{Kind: "agent"},
		Content: validText(msg.Blocks{msg.Text{Text: text}}),
	})
}

func (d desk) Compact(ctx context.Context) error { return d.turn.compact(ctx, wished) }

// message is one of the agent's own.
func (t *turn) message(b msg.Block) msg.AssistantMessage {
	return msg.AssistantMessage{Turn: t.n, Step: t.step, Message: msg.Assistant{
		ID: t.s.names.fresh("", t.s.cfg.NewID()), Role: "assistant", StopReason: StopCommand,
		Content: validText(msg.Blocks{b}),
	}}
}
