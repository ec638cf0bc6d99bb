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
// prompt back, and a model that sees it again refuses again.
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
	refused := refusedTurns(events, payloads)
	var out []model.Message
	for _, e := range entries {
		if slices.ContainsFunc(refused, func(r span) bool { return r.from <= e.Seq && e.Seq <= r.to }) {
			continue
		}
		out = tell(out, e.Payload)
	}
	return out, nil
}

// tell adds one message to what the model is told.
func tell(history []model.Message, p msg.Payload) []model.Message {
	switch p := p.(type) {
	case msg.UserMessage:
		return append(history, model.Message{Role: "user", Content: p.Content})
	case msg.AssistantMessage:
		if p.Message.StopReason == StopError {
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

func refusedTurns(events []msg.Event, payloads []msg.Payload) []span {
	var out []span
	var start int64
	for i, p := range payloads {
		switch p := p.(type) {
		case msg.TurnStart:
			start = events[i].Seq
		case msg.TurnEnd:
			if p.Reason.Kind == msg.EndBlocked {
				out = append(out, span{start, events[i].Seq})
			}
		}
	}
	return out
}
