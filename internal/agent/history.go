package agent

import (
	"cmp"
	"slices"

	"dsh-acp/internal/eventlog"
	"dsh-acp/internal/model"
	"dsh-acp/internal/msg"
)

// StopError is the stop reason of an assistant message that the agent wrote
// itself, to show why a turn failed. It is never sent to a model.
const StopError = "error"

// History returns what the model is told of the events: its own and the
// user's messages in order, and for each answer the results of its calls in
// the order of the calls, whatever order they settled in. Of a turn that the
// model refused nothing is told, as the protocol has it: clients take its
// prompt back, and a model that sees it again refuses again. Of a command's
// turn only the agent's notes are told. A summary is told wherever it stands.
func History(events []msg.Event) ([]model.Message, error) {
	payloads, err := eventlog.Payloads(events)
	if err != nil {
		return nil, err
	}
	return history(events, payloads)
}

func history(events []msg.Event, payloads []msg.Payload) ([]model.Message, error) {
	entries, err := eventlog.Surface(events, payloads)
	if err != nil {
		return nil, err
	}
	refused, commands, summaries := untold(events, payloads)
	var out []model.Message
	for _, e := range entries {
		switch {
		case slices.Contains(summaries, e.Seq):
		case within(refused, e.Seq), within(commands, e.Seq) && !isNote(e.Payload):
			continue
		}
		out = tell(out, e.Payload)
	}
	return out, nil
}

// isNote reports whether a message is the agent's own word to the model.
func isNote(p msg.Payload) bool {
	m, ok := p.(msg.UserMessage)
	return ok && m.Source.Kind == "agent"
}

// tell adds one message to what the model is told.
func tell(history []model.Message, p msg.Payload) []model.Message {
	switch p := p.(type) {
	case msg.UserMessage:
		return append(history, model.Message{Role: "user", Content: p.Content})
	case msg.AssistantMessage:
		if p.Message.StopReason == StopError || p.Message.StopReason == StopCommand {
			return history
		}
		return append(history, model.Message{Role: "assistant", Content: p.Message.Content})
	case msg.ToolReturned:
		n := len(history)
		if n == 0 || history[n-1].Role != "tool" {
			return append(history, model.Message{Role: "tool", Results: []msg.ToolMessage{p.Message}})
		}
		last := &history[n-1]
		last.Results = append(last.Results, p.Message)
		if n > 1 {
			slices.SortStableFunc(last.Results, byRequest(history[n-2].Content.ToolUses()))
		}
	}
	return history
}

// byRequest orders results as the calls were made.
func byRequest(uses []msg.ToolUse) func(a, b msg.ToolMessage) int {
	place := func(m msg.ToolMessage) int {
		return slices.IndexFunc(uses, func(u msg.ToolUse) bool { return u.ID == m.CallID })
	}
	return func(a, b msg.ToolMessage) int { return cmp.Compare(place(a), place(b)) }
}

// A span is the seqs of a turn's first and last event.
type span struct{ from, to int64 }

func within(spans []span, seq int64) bool {
	return slices.ContainsFunc(spans, func(s span) bool { return s.from <= seq && seq <= s.to })
}

// untold finds the turns of which not all is told, and the events that are
// told all the same: those that stand for others.
func untold(events []msg.Event, payloads []msg.Payload) (refused, commands []span, summaries []int64) {
	var start int64
	command := false
	for i, p := range payloads {
		switch p := p.(type) {
		case msg.TurnStart:
			start, command = events[i].Seq, false
		case msg.UserMessage:
			command = command || p.Source.Kind == msg.SourceCommand
			if eventlog.Retold(events[i]) {
				summaries = append(summaries, events[i].Seq)
			}
		case msg.TurnEnd:
			if p.Reason.Kind == msg.EndBlocked {
				refused = append(refused, span{start, events[i].Seq})
			}
			if command {
				commands = append(commands, span{start, events[i].Seq})
			}
		}
	}
	return refused, commands, summaries
}
