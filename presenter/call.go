package presenter

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"

	"dsh-acp/internal/msg"
)

// A call is a tool call that the client knows and that has no result yet.
// Closed calls are forgotten, so that a session's length costs nothing.
type call struct {
	id, name string
	order    int
	tool     Tool
	scan     argScanner
	input    string // as the model wrote it, once complete or cut
	complete bool   // input is known as a whole, or as far as it will ever be

	hidden     bool        // drawn as a plan, not as a call
	planBefore []PlanEntry // the client's plan before this call changed it

	console  bool   // drawn as a terminal
	terminal string // id of its display terminal
	streamed bool   // the terminal has shown output, so it will have all of it

	// before is the content that a terminal of the client's stands beside for as
	// long as the call runs, not nil then.
	before []ToolContent

	parent string // the call that it is made for; "" for the conversation's own

	sent ToolCallFields // as the client holds them
	// asked is what a question about the call showed in place of sent's content
	// and locations. Clients may have taken it over, or not.
	asked ToolCallFields
}

// open makes a call known before anything of its input is.
func (p *Presenter) open(id, name string, live bool) []Update {
	c, d := p.begin(id, name, "", json.RawMessage("{}"), false, live)
	d.RawInput = json.RawMessage("{}")
	return p.announce(c, d, false)
}

// begin makes a call and draws it from what is known of its arguments.
func (p *Presenter) begin(id, name, parent string, args json.RawMessage, done, live bool) (*call, drawing) {
	p.opened++
	c := &call{id: id, name: name, parent: parent, order: p.opened, tool: p.cfg.Tools[name]}
	if c.tool == nil {
		c.tool = unknownTool{name: name}
	}
	p.calls[id] = c
	card := c.tool.Call(args, done)
	d := p.canvas(c).draw(card)
	c.hidden = d.plan != nil
	c.console = d.console
	if d.console && p.cfg.Terminal && (live || p.cfg.ReplayTerminals) {
		c.terminal = id
		d = p.canvas(c).draw(card)
	}
	return c, d
}

// announce sends a call's first update. Unless the whole of the input is
// known it has no content but a terminal: half a snippet would mislead.
func (p *Presenter) announce(c *call, d drawing, whole bool) []Update {
	if c.hidden {
		return nil
	}
	f := d.ToolCallFields
	f.Status = StatusPending
	f.Title = cmp.Or(f.Title, c.name, "Tool call") // a client wants some title
	if !whole {
		f.Content = []ToolContent{}
		if c.terminal != "" {
			f.Content = append(f.Content, TerminalItem{TerminalID: c.terminal})
		}
	}
	c.sent = f
	var meta *Meta
	if c.terminal != "" {
		meta = &Meta{TerminalInfo: &TerminalInfo{TerminalID: c.terminal}}
	}
	return []Update{ToolCallStart{ToolCallID: c.id, Name: c.name, ToolCallFields: f, Meta: c.meta(meta)}}
}

// refine tells what is known of the input of an open call while it streams.
func (p *Presenter) refine(c *call, args json.RawMessage) []Update {
	if c.hidden {
		return nil
	}
	return p.change(c, p.partial(c, args), nil)
}

func (p *Presenter) partial(c *call, args json.RawMessage) ToolCallFields {
	f := p.canvas(c).draw(c.tool.Call(args, false)).ToolCallFields
	f.Content = nil
	f.RawInput = wireJSON(args)
	return f
}

// request shows a request whose input is complete, or will not become so.
// parent is the call that it is made for, "" if the conversation's model made it.
func (p *Presenter) request(use msg.ToolUse, parent string, live bool) []Update {
	c := p.calls[use.ID]
	if c != nil && c.complete && c.input == use.Input {
		return nil
	}
	input := use.Input
	if input == "" {
		input = "{}" // a tool without arguments may be called with no input at all
	}
	whole := !use.Cut && isObject([]byte(input))
	args := json.RawMessage(input)
	if !whole {
		args = knownArgs(input)
	}
	var out []Update
	if c == nil {
		var d drawing
		c, d = p.begin(use.ID, use.Name, parent, args, whole, live)
		d.RawInput = c.rawInput(use, args, whole)
		out = p.announce(c, d, whole)
	} else if !c.hidden {
		f := p.partial(c, args)
		if whole {
			f = p.canvas(c).draw(c.tool.Call(args, true)).ToolCallFields
		}
		f.RawInput = c.rawInput(use, args, whole)
		out = p.change(c, f, nil)
	}
	c.input, c.complete, c.scan = use.Input, true, argScanner{}
	if c.hidden && whole {
		if d := p.canvas(c).draw(c.tool.Call(args, true)); d.plan != nil && d.plan.Todos != nil {
			c.planBefore = p.plan
			out = append(out, p.planned(planEntries(d.plan.Todos), c.id)...)
		}
	}
	return out
}

// rawInput is the input as the client sees it: with defaults if it is whole,
// what is known of it if it was cut, and the bare text if it is no object.
func (c *call) rawInput(use msg.ToolUse, args json.RawMessage, whole bool) json.RawMessage {
	switch {
	case whole:
		return wireJSON(c.tool.Input(args))
	case use.Cut:
		return wireJSON(args)
	default:
		return wireJSON(json.RawMessage(use.Input))
	}
}

// returned closes a call with its result. A result of a call that nobody
// asked for is shown as a call of its own.
func (p *Presenter) returned(d msg.ToolReturned, live bool) []Update {
	var out []Update
	c := p.calls[d.Message.CallID]
	if c == nil {
		var dr drawing
		c, dr = p.begin(d.Message.CallID, "", "", json.RawMessage("{}"), false, live)
		dr.Title = "Result of an unknown call"
		out = p.announce(c, dr, false)
	}
	return append(out, p.close(c, d.Result(), live)...)
}

func (p *Presenter) close(c *call, r msg.ToolResult, live bool) []Update {
	delete(p.calls, c.id)
	if c.hidden {
		if r.IsError && p.planBy == c.id {
			return p.planned(c.planBefore, "") // the list that it showed is not in force
		}
		return nil
	}
	cv := p.canvas(c)
	cv.result, cv.shown = &r, c.sent.Content
	if c.before != nil {
		cv.shown = c.before
	}
	var card Card = Generic{}
	switch {
	case !neverRan(r):
		card = c.tool.Result(json.RawMessage(c.input), r)
	case c.terminal != "" && r.Error.Code != msg.CodeCut:
		card = Terminal{} // the reason goes where the output would have gone
	}
	d := cv.draw(card)
	f := d.ToolCallFields
	f.Status = StatusCompleted
	if r.IsError {
		f.Status = StatusFailed
	}
	if c.before != nil && f.Content == nil {
		f.Content = c.before // no log knows of the terminal, and it may be gone
	}
	c.settle(&f)
	var out []Update
	var meta *Meta
	switch {
	case d.output != nil:
		if d.output.Output != "" && !c.streamed {
			out = append(out, c.output(d.output.Output))
		}
		meta = &Meta{TerminalExit: &TerminalExit{
			TerminalID: c.terminal, ExitCode: d.output.ExitCode, Signal: d.output.Signal}}
		if !live {
			// Named again at its end, like in other agents' replays: a client
			// that took the first for a dead one has this to go by.
			f.Content, c.sent.Content = c.sent.Content, nil
		}
		return append(out, p.change(c, f, meta)...)
	case r.Error != nil && r.Error.Code == msg.CodeCut:
		// it has no output: there was nothing to run
	default:
		f.RawOutput = rawOutput(r.Content, d.listed)
	}
	if d.stats != nil {
		meta = &Meta{Dsh: &DshMeta{Diffs: d.stats}}
	}
	if !d.applied || !live {
		return append(out, p.change(c, f, meta)...)
	}
	out = p.change(c, ToolCallFields{Content: f.Content, Locations: f.Locations}, meta)
	f.Content, f.Locations = nil, nil
	return append(out, p.change(c, f, nil)...)
}

// change sends those of the fields that the client does not hold yet, and
// nothing if it holds them all. Meta goes with the fields, never alone.
func (p *Presenter) change(c *call, f ToolCallFields, meta *Meta) []Update {
	has := &c.sent
	changed := keep(&f.Status, &has.Status)
	changed = keep(&f.Title, &has.Title) || changed
	changed = keep(&f.Kind, &has.Kind) || changed
	changed = keepJSON(&f.RawInput, &has.RawInput) || changed
	changed = keepJSON(&f.RawOutput, &has.RawOutput) || changed
	changed = keepSlice(&f.Content, &has.Content) || changed
	changed = keepSlice(&f.Locations, &has.Locations) || changed
	if !changed {
		return nil
	}
	return []Update{ToolCallUpdate{ToolCallID: c.id, ToolCallFields: f, Meta: c.meta(meta)}}
}

// lend shows a terminal of the client's in a call until its end.
func (p *Presenter) lend(c *call, terminal string) []Update {
	c.before = append([]ToolContent{}, c.sent.Content...)
	return p.change(c, ToolCallFields{Content: append(slices.Clone(c.before), TerminalItem{TerminalID: terminal})}, nil)
}

// output is an update with text for the call's display terminal.
func (c *call) output(text string) Update {
	return ToolCallUpdate{ToolCallID: c.id, Meta: c.meta(&Meta{TerminalOutput: &TerminalOutput{TerminalID: c.terminal, Data: text}})}
}

// meta adds the call's parent to what an update carries beside the protocol.
func (c *call) meta(m *Meta) *Meta {
	if c.parent == "" {
		return m
	}
	if m == nil {
		m = &Meta{}
	}
	if m.Dsh == nil {
		m.Dsh = &DshMeta{}
	}
	m.Dsh.Parent = c.parent
	return m
}

// keep records a new value of a field and reports whether it is one;
// otherwise it empties the field.
func keep(now, has *string) bool {
	if *now == "" || *now == *has {
		*now = ""
		return false
	}
	*has = *now
	return true
}

func keepJSON(now, has *json.RawMessage) bool {
	if *now == nil || string(*now) == string(*has) {
		*now = nil
		return false
	}
	*has = *now
	return true
}

func keepSlice[S ~[]E, E any](now, has *S) bool {
	if *now == nil || (*has != nil && reflect.DeepEqual(*now, *has)) {
		*now = nil
		return false
	}
	*has = *now
	return true
}

func (p *Presenter) canvas(c *call) canvas {
	return canvas{cwd: p.cfg.Cwd, textMax: p.cfg.CardTextMax, terminal: c.terminal, console: c.console}
}

// neverRan reports whether r is the agent's own: no tool made it, so no tool
// is asked to draw it. A call that was aborted had run, and may have output.
func neverRan(r msg.ToolResult) bool {
	if !r.IsError || r.Error == nil {
		return false
	}
	switch r.Error.Code {
	case msg.CodeInvalidArgs, msg.CodeUnknownTool, msg.CodeRejected, msg.CodeQuestionAborted,
		msg.CodeModeRefused, msg.CodeAbortedUnstarted, msg.CodeCut,
		msg.CodeNotStarted, msg.CodeOutcomeUnknown, msg.CodePanic, msg.CodeBadMeta:
		return true
	}
	return false
}

// unknownTool draws the calls of tools that this build does not have: a model
// may invent one, and a log may come from a newer build.
type unknownTool struct{ name string }

func (t unknownTool) Call(json.RawMessage, bool) Card {
	return Generic{Title: t.name, Kind: KindOther}
}
func (t unknownTool) Result(json.RawMessage, msg.ToolResult) Card { return Generic{} }
func (t unknownTool) Input(args json.RawMessage) json.RawMessage  { return args }
