package presenter

import (
	"math"
	"slices"
	"strings"

	"dsh-acp/internal/msg"
)

// CardTextMax is the default bound of one side of a diff block, in bytes.
const CardTextMax = 512 << 10

// Config says for which client and session updates are made.
type Config struct {
	// Cwd is the session's folder, absolute. Relative paths are taken from it.
	Cwd string
	// Terminal says that the client draws display terminals, as it declares
	// by terminal_output in the _meta of its capabilities.
	Terminal bool
	// ReplayTerminals draws commands of a replay into display terminals too,
	// which are announced anew. Otherwise their output is shown as text, for
	// clients that keep no terminal which they did not see run.
	ReplayTerminals bool
	// Tools draw calls by the name that the tool was offered under. Calls of
	// other tools get a plain card. The map is only read.
	Tools map[string]Tool
	// CardTextMax bounds each side of a diff block, in bytes; 0 means
	// [CardTextMax]. Longer texts are cut after a line, and a note says so.
	CardTextMax int
	// ContextWindow is the size of the model's window in tokens until a
	// logged request says otherwise. While neither is known, no usage is told.
	ContextWindow int64
	// Compaction says that the client takes a [CompactionUpdate]; others are
	// told in a message.
	Compaction bool
}

// A Presenter turns what happens in one session into updates for its client.
// It remembers the calls that are open and what the client was told of them,
// and sends what changed. It is not safe for concurrent use.
//
// A session that is resumed without a replay is fed to Replay all the same,
// and the updates are dropped.
type Presenter struct {
	cfg    Config
	calls  map[string]*call // open ones
	opened int              // calls so far, for their order

	stream stream
	plan   []PlanEntry // as the client holds it
	planBy string      // the call that made it so; "" if it was an event

	window int64       // tokens
	usage  UsageUpdate // as the client was told last, without the cost
	cost   float64     // of the session so far, US dollars
	told   float64     // the cost that the client was told last
}

// A stream is what was shown of the message that streams now.
type stream struct {
	id            string
	text, thought strings.Builder
}

// New makes a presenter for a session that has shown nothing yet.
func New(cfg Config) *Presenter {
	if cfg.CardTextMax <= 0 {
		cfg.CardTextMax = CardTextMax
	}
	return &Presenter{cfg: cfg, calls: map[string]*call{}, window: cfg.ContextWindow}
}

// Delta returns the updates for a piece of an answer that streams.
func (p *Presenter) Delta(d msg.Delta) []Update {
	switch d := d.(type) {
	case msg.MessageStart:
		p.stream = stream{id: d.MessageID}
	case msg.TextDelta:
		p.streaming(d.MessageID).text.WriteString(d.Text)
		return message(d.MessageID, d.Text)
	case msg.ThoughtDelta:
		p.streaming(d.MessageID).thought.WriteString(d.Text)
		return thought(d.MessageID, d.Text)
	case msg.ToolStart:
		if p.calls[d.CallID] == nil {
			return p.open(d.CallID, d.Name, true)
		}
	case msg.ToolInput:
		if c := p.calls[d.CallID]; c != nil && !c.complete && c.scan.feed(d.Fragment) {
			return p.refine(c, c.scan.known())
		}
	case msg.ToolReady:
		return p.request(d.Use, "", true)
	case msg.UsageDelta:
		return p.used(d.Usage)
	case msg.ToolRunning:
		if c := p.calls[d.CallID]; c != nil && !c.hidden {
			return p.change(c, ToolCallFields{Status: StatusInProgress}, &Meta{Dsh: &DshMeta{Elapsed: d.Elapsed}})
		}
	case msg.ToolOutput:
		if c := p.calls[d.CallID]; c != nil && c.terminal != "" && d.Text != "" {
			c.streamed = true
			return []Update{c.output(d.Text)}
		}
	case msg.ToolTerminal:
		if c := p.calls[d.CallID]; c != nil && !c.hidden && c.terminal == "" && c.before == nil {
			return p.lend(c, d.TerminalID)
		}
	case msg.Compacting:
		return p.compacting(d)
	default:
		panic("presenter: no rule for this delta")
	}
	return nil
}

// Event returns the updates for an event that was just committed: what the
// deltas before it have not shown. The user's own messages are not sent back.
func (p *Presenter) Event(e msg.Event) []Update { return p.event(e, true) }

// Replay returns the updates for an event of a stored session: messages
// whole, and each call as a tool_call and one tool_call_update.
func (p *Presenter) Replay(e msg.Event) []Update { return p.event(e, false) }

// ReplayPayload is Replay for an event that was decoded already; nil is one
// without a payload.
func (p *Presenter) ReplayPayload(payload msg.Payload) []Update { return p.payload(payload, false) }

func (p *Presenter) event(e msg.Event, live bool) []Update {
	if live && e.Type == (msg.UserMessage{}).EventType() {
		return nil // not sent back, so images in it need not be decoded
	}
	payload, err := msg.Decode(e)
	if err != nil {
		return nil // whether such a log may be shown is for its reader to say
	}
	return p.payload(payload, live)
}

func (p *Presenter) payload(payload msg.Payload, live bool) []Update {
	switch d := payload.(type) {
	case msg.UserMessage:
		if !live && d.Source.Kind != "agent" {
			return userMessage(d)
		}
	case msg.AssistantMessage:
		return p.answer(d, live)
	case msg.ToolCall:
		if p.calls[d.CallID] == nil {
			return p.request(msg.ToolUse{ID: d.CallID, Name: d.Name, Input: d.Arguments}, "", live)
		}
	case msg.Delegated:
		return p.delegated(d, live)
	case msg.Compacted:
		return p.compacted(d)
	case msg.ToolReturned:
		return p.returned(d, live)
	case msg.TodoWrite:
		if entries := planEntries(d.Todos); !slices.Equal(entries, p.plan) {
			return p.planned(entries, "")
		}
	case msg.RequestContext:
		p.window = d.ContextWindow
		if p.window == 0 {
			p.window = p.cfg.ContextWindow
		}
	case msg.TurnEnd:
		out := p.abandon("The turn ended before this call did.", live)
		if live {
			out = append(out, p.priced()...)
		}
		return out
	default:
		// the frame of a turn, and records that clients see in other ways
	}
	return nil
}

// answer shows a committed message: what its deltas have not shown.
func (p *Presenter) answer(d msg.AssistantMessage, live bool) []Update {
	var out []Update
	text, thoughts := rest{}, rest{}
	if live && p.stream.id == d.Message.ID {
		text = restAfter(p.stream.text.String(), textOf(d.Message.Content))
		thoughts = restAfter(p.stream.thought.String(), thoughtOf(d.Message.Content))
	}
	for _, b := range d.Message.Content {
		switch b := b.(type) {
		case msg.Text:
			out = append(out, message(d.Message.ID, text.take(b.Text))...)
		case msg.Thinking:
			out = append(out, thought(d.Message.ID, thoughts.take(b.Text))...)
		case msg.ToolUse:
			out = append(out, p.request(b, "", live)...)
		}
	}
	p.stream = stream{}
	if d.Usage == nil {
		return out
	}
	p.cost += d.Usage.CostUSD
	if live {
		out = append(out, p.used(*d.Usage)...)
	}
	return out
}

// delegated shows the calls of a helper, whole and with a link to the call
// that it works for. What it says is for that call alone.
func (p *Presenter) delegated(d msg.Delegated, live bool) []Update {
	payload, err := d.Payload()
	if err != nil {
		return nil // as for an event of the conversation
	}
	var out []Update
	switch e := payload.(type) {
	case msg.AssistantMessage:
		for _, u := range e.Message.Content.ToolUses() {
			out = append(out, p.request(u, d.CallID, live)...)
		}
		if e.Usage != nil {
			p.cost += e.Usage.CostUSD
		}
	case msg.ToolReturned:
		out = p.returned(e, live)
	default:
		// the helper's own frame
	}
	return out
}

// abandon fails every call that is still open, in the order in which they
// were opened: one that streamed but was never committed, or one that a log
// does not answer.
func (p *Presenter) abandon(text string, live bool) []Update {
	open := make([]*call, 0, len(p.calls))
	for _, c := range p.calls {
		open = append(open, c)
	}
	slices.SortFunc(open, func(a, b *call) int { return a.order - b.order })
	var out []Update
	for _, c := range open {
		out = append(out, p.close(c, msg.Failed("", text), live)...)
	}
	return out
}

// used tells the window's level if it changed.
func (p *Presenter) used(u msg.Usage) []Update {
	now := UsageUpdate{Used: u.Context(), Size: p.window}
	if now.Size <= 0 || now == p.usage {
		return nil
	}
	p.usage = now
	return []Update{now}
}

// priced tells the session's price if it changed.
func (p *Presenter) priced() []Update {
	if p.usage.Size <= 0 || p.cost == p.told {
		return nil
	}
	p.told = p.cost
	u := p.usage
	// Sums of prices carry the noise of binary fractions behind the sixth digit.
	u.Cost = &Cost{Amount: math.Round(p.cost*1e6) / 1e6, Currency: "USD"}
	return []Update{u}
}

func (p *Presenter) planned(entries []PlanEntry, by string) []Update {
	p.plan, p.planBy = entries, by
	return []Update{PlanUpdate{Entries: entries}}
}

func planEntries(todos []msg.Todo) []PlanEntry {
	out := make([]PlanEntry, 0, len(todos))
	for _, t := range todos {
		e := PlanEntry{Content: t.Content, Status: t.Status, Priority: "medium"}
		switch t.Status {
		case "completed":
		case "in_progress":
			if t.ActiveForm != "" {
				e.Content = t.ActiveForm
			}
		default:
			e.Status = "pending"
		}
		out = append(out, e)
	}
	return out
}

func (p *Presenter) streaming(id string) *stream {
	if p.stream.id != id {
		p.stream = stream{id: id}
	}
	return &p.stream
}

func message(id, text string) []Update {
	if text == "" {
		return nil
	}
	return []Update{AgentMessageChunk{Content: ContentBlock{Block: msg.Text{Text: text}}, MessageID: id}}
}

func thought(id, text string) []Update {
	if text == "" {
		return nil
	}
	return []Update{AgentThoughtChunk{Content: ContentBlock{Block: msg.Text{Text: text}}, MessageID: id}}
}

func userMessage(m msg.UserMessage) []Update {
	var out []Update
	for _, b := range visible(m.Content) {
		out = append(out, UserMessageChunk{Content: b, MessageID: m.ID})
	}
	return out
}

func textOf(bs msg.Blocks) string {
	var s strings.Builder
	for _, b := range bs {
		if t, ok := b.(msg.Text); ok {
			s.WriteString(t.Text)
		}
	}
	return s.String()
}

func thoughtOf(bs msg.Blocks) string {
	var s strings.Builder
	for _, b := range bs {
		if t, ok := b.(msg.Thinking); ok {
			s.WriteString(t.Text)
		}
	}
	return s.String()
}

// A rest is what is left to show of a message that was shown in part.
type rest struct {
	shown int  // bytes, across blocks
	none  bool // what was shown is not what was committed: leave it at that
}

// restAfter compares what was shown with the whole of what was committed. A
// client cannot take text back, so text that differs is not sent again.
func restAfter(shown, whole string) rest {
	return rest{shown: len(shown), none: !strings.HasPrefix(whole, shown)}
}

// take returns what is to be shown of the next block.
func (r *rest) take(block string) string {
	skip := min(r.shown, len(block))
	r.shown -= skip
	if r.none {
		return ""
	}
	return block[skip:]
}
