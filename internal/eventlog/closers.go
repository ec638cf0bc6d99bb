package eventlog

import "dsh-acp/internal/msg"

// What the model reads about calls that a crash cut off.
const (
	notStarted = "This call did not run: the program ended before the call was started, " +
		"so it changed nothing. It can be made again if it is still wanted."
	outcomeUnknown = "The program ended while this call was running, and how it came out was not recorded: " +
		"it may have done all of its work, some of it, or none. Do not simply repeat it. " +
		"Check first what is there now (read the files it names, look at the state it changes), " +
		"then do only what is missing."
)

// Closers gives what is missing to close a turn that a crash left open:
// for each tool request without a result, in order, a failed one, then the
// ends of step and turn. It is empty for a log that ends between turns.
// It fails on events that are not a log's, as [Read] and [Open] give them.
func Closers(events []msg.Event) ([]msg.Payload, error) {
	var o order
	for _, e := range events {
		if _, err := o.follow(e); err != nil {
			return nil, err
		}
	}
	return o.closers(), nil
}

func (o *order) closers() []msg.Payload {
	if !o.inTurn {
		return nil
	}
	var out []msg.Payload
	for _, r := range o.open {
		res := msg.Failed(msg.CodeNotStarted, notStarted)
		if r.called {
			res = msg.Failed(msg.CodeOutcomeUnknown, outcomeUnknown)
		}
		out = append(out, msg.ToolReturned{
			Turn: o.turn, Step: o.step, Error: res.Error,
			Message: msg.ToolMessage{Role: "tool", CallID: r.id, Content: res.Content, IsError: true},
		})
	}
	if o.inStep {
		out = append(out, msg.StepEnd{Turn: o.turn, Step: o.step})
	}
	return append(out, msg.TurnEnd{Turn: o.turn, Reason: msg.EndReason{Kind: msg.EndInterrupted}})
}
