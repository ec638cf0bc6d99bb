package eventlog

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/msg"
)

// orderCases: the last payload is what is judged.
var orderCases = []struct {
	name string
	in   []msg.Payload
	why  string // "" is in order
}{
	{"a turn in a turn", []msg.Payload{msg.TurnStart{Turn: 1}, msg.TurnStart{Turn: 2}}, "turn 2 starts inside turn 1"},
	{"an end without a start", []msg.Payload{msg.TurnEnd{Turn: 1}}, "no turn is open"},
	{"the end of another turn", []msg.Payload{msg.TurnStart{Turn: 1}, msg.TurnEnd{Turn: 2}}, "turn 2 ends inside turn 1"},
	{"two ends", []msg.Payload{msg.TurnStart{Turn: 1}, msg.TurnEnd{Turn: 1}, msg.TurnEnd{Turn: 1}}, "no turn is open"},
	{"a step without a turn", []msg.Payload{msg.StepStart{Turn: 1, Step: 1}}, "outside of its turn"},
	{"a step of another turn", []msg.Payload{msg.TurnStart{Turn: 1}, msg.StepStart{Turn: 2, Step: 1}}, "outside of its turn"},
	{"a step in a step", []msg.Payload{msg.TurnStart{Turn: 1}, msg.StepStart{Turn: 1, Step: 1}, msg.StepStart{Turn: 1, Step: 2}}, "starts inside step 1"},
	{"a turn ends in a step", []msg.Payload{msg.TurnStart{Turn: 1}, msg.StepStart{Turn: 1, Step: 1}, msg.TurnEnd{Turn: 1}}, "ends before its step"},
	{"a step ends twice", []msg.Payload{msg.TurnStart{Turn: 1}, msg.StepStart{Turn: 1, Step: 1}, msg.StepEnd{Turn: 1, Step: 1}, msg.StepEnd{Turn: 1, Step: 1}}, "outside of that step"},
	{"a prompt before any turn", []msg.Payload{prompt("x")}, "outside of a turn"},
	{"a prompt before the step", []msg.Payload{msg.TurnStart{Turn: 1}, prompt("x")}, ""},
	{"an answer before the step", []msg.Payload{msg.TurnStart{Turn: 1}, says(1, 1)}, "outside of that step"},
	{"an answer of another step", []msg.Payload{msg.TurnStart{Turn: 1}, msg.StepStart{Turn: 1, Step: 1}, says(1, 2)}, "outside of that step"},
	{"notes between turns", []msg.Payload{msg.ModeSet{Mode: "plan"}, msg.Granted{}, msg.Titled{}, msg.TodoWrite{}, msg.EndSeed{}, msg.OptionSet{Value: json.RawMessage("1")}}, ""},

	{"a call that nobody asked for", inStep(called(1, 1, "a")), `"a" was not requested`},
	{"a call of another id", inStep(says(1, 1, use("b")), called(1, 1, "a")), `"a" was not requested`},
	{"a call twice", inStep(says(1, 1, use("a")), called(1, 1, "a"), called(1, 1, "a")), "starts twice"},
	{"a call after its result", inStep(says(1, 1, use("a")), returned(1, 1, "a"), called(1, 1, "a")), "after its result"},
	{"a call of another step", inStep(says(1, 1, use("a")), called(1, 2, "a")), "outside of that step"},
	{"a result without a request", inStep(returned(1, 1, "a")), "answers no request"},
	{"a result without a call", inStep(says(1, 1, use("a")), returned(1, 1, "a")), ""},
	{"two results", inStep(says(1, 1, use("a")), called(1, 1, "a"), returned(1, 1, "a"), returned(1, 1, "a")), "second result"},
	{"calls side by side", inStep(says(1, 1, use("a"), use("b")), called(1, 1, "a"), called(1, 1, "b"), returned(1, 1, "b"), returned(1, 1, "a"), msg.StepEnd{Turn: 1, Step: 1}), ""},
	{"a request left open", inStep(says(1, 1, use("a"), use("b")), returned(1, 1, "a"), msg.StepEnd{Turn: 1, Step: 1}), `"b" have no result`},
	{"an id twice in a message", inStep(says(1, 1, use("a"), use("a"))), `"a" is used a second time`},
	{"an id again later", append(inStep(says(1, 1, use("a")), returned(1, 1, "a"), msg.StepEnd{Turn: 1, Step: 1}), msg.StepStart{Turn: 1, Step: 2}, says(1, 2, use("a"))), `"a" is used a second time`},
	{"a result a step later", append(inStep(says(1, 1, use("a")), returned(1, 1, "a"), msg.StepEnd{Turn: 1, Step: 1}), msg.StepStart{Turn: 1, Step: 2}, returned(1, 2, "a")), "second result"},
}

func inStep(ps ...msg.Payload) []msg.Payload {
	return append([]msg.Payload{msg.TurnStart{Turn: 1}, msg.StepStart{Turn: 1, Step: 1}}, ps...)
}

// What Append refuses, loading refuses too, and neither lets the wrong event in.
func TestOrder(t *testing.T) {
	for _, c := range orderCases {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			l := create(t, dir, Options{})
			var o order
			last := len(c.in) - 1
			for i, p := range c.in {
				_, err := l.Append(p)
				e, _, encErr := newEvent(p)
				require.NoError(t, encErr)
				e.Seq = o.next
				_, again := o.follow(e)
				if i < last || c.why == "" {
					require.NoError(t, err)
					require.NoError(t, again)
					continue
				}
				assert.ErrorContains(t, err, c.why)
				assert.ErrorContains(t, err, p.EventType())
				assert.ErrorContains(t, again, c.why)
			}
			want := len(c.in)
			if c.why != "" {
				want--
			}
			stored, err := Read(dir, "s1")
			require.NoError(t, err)
			assert.Len(t, stored.Events, want)
		})
	}
}
