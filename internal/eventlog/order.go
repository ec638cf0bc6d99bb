package eventlog

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"dsh-acp/internal/msg"
)

// The order of events, held by Append and demanded on load:
//
//   - seq counts from 0 without holes;
//   - turns do not nest, steps lie in a turn and do not nest;
//   - user messages lie in a turn; assistant messages, tool calls and tool
//     results in a step of their own number;
//   - a tool call runs a request that its step's assistant message made, at
//     most once, before it has a result;
//   - each request gets exactly one result before its step ends, whether it
//     ran or not; no request id is used twice in a session.
//
// Messages with a surface operation other than "append" re-tell older ones
// and are bound by none of this but seq.

// order is where a log stands: it judges the next event, then takes it in.
// The zero order is an empty log.
type order struct {
	next     int64 // seq of the next event
	last     int64 // time of the last event
	inTurn   bool
	turn     int
	inStep   bool
	step     int
	open     []request       // requests of the open step without a result
	answered map[string]bool // ids of all requests ever made; true: has its result
}

// A request is a tool request of an assistant message.
type request struct {
	id     string
	called bool // it has its tool/call
}

// follow checks a stored or raw event against all rules and takes it in. It
// returns the payload, as [Session.Payloads] holds it.
func (o *order) follow(e msg.Event) (msg.Payload, error) {
	if e.Seq != o.next {
		return nil, fmt.Errorf("seq is %d where %d should be", e.Seq, o.next)
	}
	p, err := decodeKnown(e)
	if err != nil {
		return nil, err
	}
	if err := checkSurface(e, p); err != nil {
		return nil, err
	}
	if err := o.check(p, retold(e)); err != nil {
		return nil, err
	}
	o.take(e, p)
	return p, nil
}

// check says why p cannot follow what is there. retold says that the event
// carries a surface operation other than "append".
func (o *order) check(p msg.Payload, retold bool) error {
	if retold {
		return nil
	}
	switch p := p.(type) {
	case msg.TurnStart:
		if o.inTurn {
			return fmt.Errorf("turn %d starts inside turn %d", p.Turn, o.turn)
		}
	case msg.TurnEnd:
		switch {
		case !o.inTurn:
			return fmt.Errorf("turn %d ends, but no turn is open", p.Turn)
		case p.Turn != o.turn:
			return fmt.Errorf("turn %d ends inside turn %d", p.Turn, o.turn)
		case o.inStep:
			return fmt.Errorf("turn %d ends before its step %d", p.Turn, o.step)
		}
	case msg.StepStart:
		switch {
		case !o.inTurn || p.Turn != o.turn:
			return fmt.Errorf("step %d starts outside of its turn %d", p.Step, p.Turn)
		case o.inStep:
			return fmt.Errorf("step %d starts inside step %d", p.Step, o.step)
		}
	case msg.StepEnd:
		if err := o.within("the end of step", p.Turn, p.Step); err != nil {
			return err
		}
		if len(o.open) > 0 {
			return fmt.Errorf("step %d ends while the tool requests %s have no result", p.Step, o.openIDs())
		}
	case msg.UserMessage:
		if !o.inTurn {
			return errors.New("a user message outside of a turn")
		}
	case msg.AssistantMessage:
		return o.checkAssistant(p)
	case msg.ToolCall:
		return o.checkCall(p)
	case msg.ToolReturned:
		return o.checkResult(p)
	}
	return nil
}

func (o *order) within(what string, turn, step int) error {
	if !o.inStep || turn != o.turn || step != o.step {
		return fmt.Errorf("%s %d of turn %d outside of that step", what, step, turn)
	}
	return nil
}

func (o *order) checkAssistant(p msg.AssistantMessage) error {
	if err := o.within("an assistant message for step", p.Turn, p.Step); err != nil {
		return err
	}
	var ids []string
	for _, u := range p.Message.Content.ToolUses() {
		if _, used := o.answered[u.ID]; used || slices.Contains(ids, u.ID) {
			return fmt.Errorf("the tool request id %q is used a second time", u.ID)
		}
		ids = append(ids, u.ID)
	}
	return nil
}

func (o *order) find(id string) int {
	return slices.IndexFunc(o.open, func(r request) bool { return r.id == id })
}

func (o *order) checkCall(p msg.ToolCall) error {
	if err := o.within("a tool call for step", p.Turn, p.Step); err != nil {
		return err
	}
	switch i := o.find(p.CallID); {
	case i < 0 && o.answered[p.CallID]:
		return fmt.Errorf("the tool call %q starts after its result", p.CallID)
	case i < 0:
		return fmt.Errorf("the tool call %q was not requested in this step", p.CallID)
	case o.open[i].called:
		return fmt.Errorf("the tool call %q starts twice", p.CallID)
	}
	return nil
}

func (o *order) checkResult(p msg.ToolReturned) error {
	id := p.Message.CallID
	if err := o.within("a tool result for step", p.Turn, p.Step); err != nil {
		return err
	}
	if o.find(id) < 0 {
		if o.answered[id] {
			return fmt.Errorf("the tool request %q gets a second result", id)
		}
		return fmt.Errorf("the tool result %q answers no request of this step", id)
	}
	return nil
}

// take moves on by one event, which check has passed.
func (o *order) take(e msg.Event, p msg.Payload) {
	o.next, o.last = e.Seq+1, e.Time
	if retold(e) {
		return
	}
	switch p := p.(type) {
	case msg.TurnStart:
		o.inTurn, o.turn = true, p.Turn
	case msg.TurnEnd:
		o.inTurn = false
	case msg.StepStart:
		o.inStep, o.step = true, p.Step
	case msg.StepEnd:
		o.inStep = false
	case msg.AssistantMessage:
		if o.answered == nil {
			o.answered = map[string]bool{}
		}
		for _, u := range p.Message.Content.ToolUses() {
			o.open = append(o.open, request{id: u.ID})
			o.answered[u.ID] = false
		}
	case msg.ToolCall:
		o.open[o.find(p.CallID)].called = true
	case msg.ToolReturned:
		i := o.find(p.Message.CallID)
		o.open = slices.Delete(o.open, i, i+1)
		o.answered[p.Message.CallID] = true
	}
}

func (o *order) openIDs() string {
	ids := make([]string, len(o.open))
	for i, r := range o.open {
		ids[i] = fmt.Sprintf("%q", r.id)
	}
	return strings.Join(ids, ", ")
}
