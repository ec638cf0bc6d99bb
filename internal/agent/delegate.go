package agent

import (
	"context"
	"errors"
	"slices"

	"dsh-acp/internal/msg"
)

// delegateNote ends the system prompt of a helper.
const delegateNote = `
You are a helper: another agent gave you the task below, and the user does not see what you write. Do the task alone, without asking back. Your last message is your report: say what you found or changed, where, and what is left open.
`

// Delegate runs a helper: a session with a history of its own whose events go
// to the log of this one, wrapped, and whose questions to the user are asked
// as those of the call. What it says is not shown; its calls are.
func (s *stage) Delegate(ctx context.Context, task string, except ...string) (Report, error) {
	parent := s.turn.s
	log := &delegateLog{stage: s}
	helper, err := New(Config{
		Log: log, Provider: parent.cfg.Provider, Approver: s, Sink: silent{},
		Tools: fewer{parent.cfg.Tools, except},
		Params: func() Params {
			p := parent.cfg.Params()
			p.System += delegateNote
			return p
		},
		NewID: parent.cfg.NewID,
		// It must have closed its calls before the turn gives up on this one.
		Grace:   parent.cfg.Grace / 2,
		OnPanic: parent.cfg.OnPanic,
	})
	if err != nil {
		return Report{}, err
	}
	helper.names.used = parent.names.used // no id is used twice in a session
	out, err := helper.Run(ctx, msg.Blocks{msg.Text{Text: task}})
	log.report.Usage = out.Usage
	switch {
	case err != nil:
		return log.report, err
	case out.Stop == StopCancelled:
		return log.report, context.Canceled
	case out.Stop == StopRefusal:
		return log.report, errors.New("the model refused the task")
	case out.Stop == StopMaxTokens:
		return log.report, errors.New("the helper's answer hit the limit of tokens again and again")
	}
	return log.report, nil
}

// delegateLog records a helper's messages, calls and results in the log of
// the session that it works for, and makes the report of them.
type delegateLog struct {
	stage  *stage
	seq    int64
	report Report
}

func (l *delegateLog) Append(p msg.Payload) (msg.Event, error) {
	switch p := p.(type) {
	case msg.AssistantMessage:
		l.report.Text = p.Message.Content.PlainText()
		for _, u := range p.Message.Content.ToolUses() {
			l.report.Calls++
			if !slices.Contains(l.report.Tools, u.Name) {
				l.report.Tools = append(l.report.Tools, u.Name)
			}
		}
	case msg.ToolCall, msg.ToolReturned:
	default:
		// The frame of its turn says nothing that a reader could use, and the
		// task stands in the call. Grants are the session's own.
		if g, ok := p.(msg.Granted); ok {
			return msg.Event{}, l.stage.Record(g)
		}
		return msg.Event{Type: p.EventType()}, nil
	}
	d, err := msg.NewDelegated(l.stage.call, p)
	if err != nil {
		return msg.Event{}, err
	}
	l.seq++
	return msg.Event{Type: d.Type, Seq: l.seq, Data: d.Data}, l.stage.Record(d)
}

// helperMessage returns the model's message in a helper's event, if it is one.
func helperMessage(d msg.Delegated) (msg.AssistantMessage, bool) {
	p, err := d.Payload()
	if err != nil {
		return msg.AssistantMessage{}, false
	}
	m, ok := p.(msg.AssistantMessage)
	return m, ok
}

func (l *delegateLog) Sync() error { return l.stage.turn.s.cfg.Log.Sync() }

// silent shows nothing: what a helper does is shown when it is recorded.
type silent struct{}

func (silent) Delta(msg.Delta) {}
func (silent) Event(msg.Event) {}

// fewer offers the tools of a box but for some.
type fewer struct {
	Toolbox
	except []string
}

func (w fewer) Specs() []msg.ToolSpec {
	return slices.DeleteFunc(slices.Clone(w.Toolbox.Specs()), func(s msg.ToolSpec) bool { return slices.Contains(w.except, s.Name) })
}

func (w fewer) Plan(ctx context.Context, use msg.ToolUse) (Plan, *msg.ToolResult) {
	if slices.Contains(w.except, use.Name) {
		r := msg.Failed(msg.CodeUnknownTool, "A helper has no tool "+use.Name+": do the task with the others.")
		return nil, &r
	}
	return w.Toolbox.Plan(ctx, use)
}
