package conformance

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"dsh-acp/internal/acpschema"
	"dsh-acp/internal/modelserver"
)

// A Difference is something that the agent did otherwise than the recording.
type Difference struct {
	Step string `json:"step,omitempty"` // "prompt:0", "session/load", …; "" for the run as a whole
	Call string `json:"call,omitempty"` // the tool call's id and tool, "" if it is about none
	At   string `json:"at"`             // the place, such as "tool_call_update (completed): content/0/newText"
	Want string `json:"want"`           // the recording's value, as JSON or in words
	Got  string `json:"got"`
}

// A Use is a rule that explained a difference.
type Use struct {
	Rule string `json:"rule"`
	At   string `json:"at"`
}

// comparison compares a recording with the trace of its scenario.
type comparison struct {
	scenario *Scenario
	theirs   []step
	ours     []step
	places   *placeholders // of our run; nil if unknown
	inputs   map[string]toolUse

	oursHeld, theirsHeld map[string]map[string]any // calls as a client holds them
	live                 map[string]map[string]any // our calls at the end of the turn that ran them
	refused              map[string]bool
	asked, shown         map[string]map[string]any
	overtaken            bool              // in the step being compared, a call was announced late or early
	rewritten            map[string]string // paths whose content a call rule explains: path to rule

	differences []Difference
	uses        []Use
}

// compareTraces compares what two agents sent for one scenario. places may be
// nil. The workspace is not looked at.
func compareTraces(s *Scenario, theirs, ours []Entry, places *placeholders) *comparison {
	c := &comparison{
		scenario: s, theirs: parseSteps(theirs), ours: parseSteps(ours), places: places,
		inputs:   map[string]toolUse{},
		oursHeld: map[string]map[string]any{}, theirsHeld: map[string]map[string]any{},
		live: map[string]map[string]any{}, refused: map[string]bool{}, asked: map[string]map[string]any{}, shown: map[string]map[string]any{},
		rewritten: map[string]string{},
	}
	for _, u := range s.toolUses() {
		c.inputs[u.ID] = u
	}
	c.schema(theirs, ours)
	for i := range max(len(c.theirs), len(c.ours)) {
		switch {
		case i >= len(c.ours):
			c.differ(c.theirs[i].Label, "", "step", "played", "not reached")
		case i >= len(c.theirs):
			c.differ(c.ours[i].Label, "", "step", "none", "played")
		default:
			c.step(&c.theirs[i], &c.ours[i])
		}
	}
	return c
}

func (c *comparison) differ(step, call, at, want, got string) {
	c.differences = append(c.differences, Difference{Step: step, Call: call, At: at, Want: want, Got: got})
}

// use notes a rule once for each place.
func (c *comparison) use(rule, at string) {
	u := Use{Rule: rule, At: at}
	if !slices.Contains(c.uses, u) {
		c.uses = append(c.uses, u)
	}
}

// schema checks each message of ours. Names that the schema does not know
// are accepted if the recorded agent sends them too.
func (c *comparison) schema(theirs, ours []Entry) {
	known := map[string]bool{}
	checkAll(theirs, func(_ Entry, unknown []string, _ error) {
		for _, u := range unknown {
			known[u] = true
		}
	})
	checkAll(ours, func(e Entry, unknown []string, err error) {
		at := fmt.Sprintf("message %d", e.Seq)
		if err != nil {
			c.differ("", "", at, "valid by the schema", err.Error()+": "+string(e.Message))
		}
		for _, u := range unknown {
			if !known[u] {
				c.differ("", "", at, "names that the schema has", u)
			}
		}
	})
}

// checkAll checks the agent's messages of a trace.
func checkAll(entries []Entry, each func(e Entry, unknown []string, err error)) {
	var checker acpschema.Checker
	for _, e := range entries {
		var m acpschema.Message
		if json.Unmarshal(e.Message, &m) == nil && m.Method == "initialize" {
			checker = acpschema.Checker{} // ids begin anew with each process
		}
		if e.From == fromClient {
			// Ours are the recorder's; only their ids matter here.
			_ = checker.Validate(acpschema.FromClient, e.Message)
			continue
		}
		unknown, err := checker.Check(acpschema.FromAgent, e.Message)
		each(e, unknown, err)
	}
}

func (c *comparison) step(theirs, ours *step) {
	if theirs.Label != ours.Label {
		c.differ(theirs.Label, "", "step", theirs.Label, ours.Label)
		return
	}
	c.response(theirs, ours)
	c.beside(theirs, ours)
	c.permissions(theirs, ours)
	c.overtaken = false
	order := callsIn(theirs.Events)
	for _, id := range callsIn(ours.Events) {
		if !slices.Contains(order, id) {
			order = append(order, id)
		}
	}
	for _, id := range order {
		c.call(theirs, ours, id)
	}
	c.texts(theirs, ours)
	c.plans(theirs, ours)
	for _, e := range ours.Late {
		if len(theirs.Late) == 0 {
			c.differ(ours.Label, e.Call, "after the answer", "nothing", e.Kind+" "+e.Source+" "+e.Text)
		}
	}
}

// beside notes what only one side sent of things that may be absent.
func (c *comparison) beside(theirs, ours *step) {
	for kind, n := range theirs.Beside {
		if n != ours.Beside[kind] {
			c.use(ruleShape, theirs.Label+": "+kind)
		}
	}
	for name, n := range theirs.Vendor {
		if n != ours.Vendor[name] {
			c.use(ruleNotice, theirs.Label+": "+name)
		}
	}
	for kind := range ours.Beside {
		if theirs.Beside[kind] == 0 {
			c.use(ruleShape, ours.Label+": "+kind)
		}
	}
}

// permissions compares which calls are asked about, in order.
func (c *comparison) permissions(theirs, ours *step) {
	list := func(evs []event) (ids []string) {
		for _, e := range evs {
			if e.Kind == kindPermission {
				ids = append(ids, e.Call)
			}
		}
		return ids
	}
	t, o := list(theirs.Events), list(ours.Events)
	if slices.Equal(t, o) {
		return
	}
	// A request that is missing or too many is told with its call.
	in := func(list []string) func(string) bool {
		return func(id string) bool { return !slices.Contains(list, id) }
	}
	tt, oo := slices.DeleteFunc(slices.Clone(t), in(o)), slices.DeleteFunc(slices.Clone(o), in(t))
	if !slices.Equal(tt, oo) {
		c.differ(ours.Label, "", "order of permission requests", fmt.Sprint(t), fmt.Sprint(o))
	}
}

// texts compares the messages and thoughts, and where they stand among the
// calls. What comes after a cancel varies and is left out.
func (c *comparison) texts(theirs, ours *step) {
	t, o := theirs.beforeCancel(), ours.beforeCancel()
	ids := haveIDs(t) && haveIDs(o)
	tp, op := passages(t, ids), passages(o, ids)
	failed := theirs.failed() && ours.failed()
	same := len(tp) == len(op)
	for i := range max(len(tp), len(op)) {
		at := fmt.Sprintf("text %d", i+1)
		switch {
		case i >= len(op):
			c.differ(ours.Label, "", at, tp[i].Source+": "+show(tp[i].Text), "(absent)")
		case i >= len(tp):
			c.differ(ours.Label, "", at, "(absent)", op[i].Source+": "+show(op[i].Text))
		case tp[i] == op[i]:
		case failed && i == len(tp)-1 && i == len(op)-1 && tp[i].Source == op[i].Source:
			// The last words of a failed turn are the agent's own.
			for _, m := range compareValues(field{path: "error text", step: ours.Method}, tp[i].Text, op[i].Text, func(r string) { c.use(r, ours.Label+": "+at) }) {
				c.differ(ours.Label, "", at, show(m.theirs), show(m.ours))
			}
		default:
			same = false
			c.differ(ours.Label, "", at, tp[i].Source+": "+show(tp[i].Text), op[i].Source+": "+show(op[i].Text))
		}
	}
	if to, oo := outline(t, ids), outline(o, ids); same && !c.overtaken && !slices.Equal(to, oo) {
		c.differ(ours.Label, "", "order of texts and calls", strings.Join(to, ", "), strings.Join(oo, ", "))
	}
}

func (s *step) failed() bool { return s.Response != nil && s.Response.Error != nil }

func (s *step) beforeCancel() []event {
	if s.CancelAt < 0 {
		return s.Events
	}
	// Only texts vary after a cancel; calls stay for the outline.
	out := slices.Clone(s.Events[:s.CancelAt])
	for _, e := range s.Events[s.CancelAt:] {
		if e.Kind != kindChunk {
			out = append(out, e)
		}
	}
	return out
}

func (c *comparison) plans(theirs, ours *step) {
	list := func(evs []event) (out []any) {
		for _, e := range evs {
			if e.Kind == kindPlan {
				out = append(out, e.Fields["entries"])
			}
		}
		return out
	}
	t, o := list(theirs.Events), list(ours.Events)
	for i := range max(len(t), len(o)) {
		at := fmt.Sprintf("plan %d", i+1)
		switch {
		case i >= len(o):
			c.differ(ours.Label, "", at, show(t[i]), "(absent)")
		case i >= len(t):
			c.differ(ours.Label, "", at, "(absent)", show(o[i]))
		case !equal(t[i], o[i]):
			c.differ(ours.Label, "", at, show(t[i]), show(o[i]))
		}
	}
}

// response compares the answers: success or the error's code, the stop
// reason, the listed sessions. Capabilities, modes and options are only
// checked for their shape.
func (c *comparison) response(theirs, ours *step) {
	t, o := theirs.Response, ours.Response
	if t == nil || o == nil {
		if t != o {
			c.differ(ours.Label, "", "answer", present(t), present(o))
		}
		return
	}
	if (t.Error == nil) != (o.Error == nil) {
		c.differ(ours.Label, "", "answer", outcome(t), outcome(o))
		return
	}
	diff := func(path string, a, b any) {
		for _, m := range compareValues(field{path: path, step: ours.Method}, a, b, func(r string) { c.use(r, ours.Label+": "+path) }) {
			c.differ(ours.Label, "", m.path, show(m.theirs), show(m.ours))
		}
	}
	if t.Error != nil {
		te, _ := decodeAny(t.Error).(map[string]any)
		oe, _ := decodeAny(o.Error).(map[string]any)
		diff("error/code", te["code"], oe["code"])
		diff("error/message", te["message"], oe["message"])
		return
	}
	tr, _ := decodeAny(t.Result).(map[string]any)
	or, _ := decodeAny(o.Result).(map[string]any)
	switch ours.Method {
	case "initialize":
		diff("protocolVersion", tr["protocolVersion"], or["protocolVersion"])
	case "session/prompt":
		diff("stopReason", tr["stopReason"], or["stopReason"])
	case "session/list":
		diff("sessions", places(tr), places(or))
	}
}

// places lists the sessions of a session/list by id and folder.
func places(result map[string]any) []any {
	list, _ := result["sessions"].([]any)
	out := []any{}
	for _, s := range list {
		m, _ := s.(map[string]any)
		out = append(out, []any{m["sessionId"], m["cwd"]})
	}
	return out
}

func present(m *acpschema.Message) string {
	if m == nil {
		return "(absent)"
	}
	return outcome(m)
}

func outcome(m *acpschema.Message) string {
	if m.Error != nil {
		return "error " + string(m.Error)
	}
	return "result " + string(m.Result)
}

// foretold is what the pieces of our own run make of a call's input.
func (c *comparison) foretold(id string) []any {
	u, ok := c.inputs[id]
	if !ok || c.places == nil {
		return nil
	}
	input, err := compact(c.places.show(u.Input))
	if err != nil {
		return nil
	}
	out := []any{}
	for _, p := range partials(input, modelserver.DefaultPiece, u.Cut) {
		out = append(out, decodeAny(c.places.hide(encode(p))))
	}
	return out
}

func (c *comparison) input(id string) map[string]any {
	m, _ := decodeAny(c.inputs[id].Input).(map[string]any)
	return m
}
