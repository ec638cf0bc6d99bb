package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/eventlog"
	"dsh-acp/internal/model"
	"dsh-acp/internal/model/scripted"
	"dsh-acp/internal/msg"
)

// memLog keeps events as the file does, by way of their JSON, and tells what
// the order of appends, syncs and tool runs was.
type memLog struct {
	mu     sync.Mutex
	events []msg.Event
	trail  []string // event types, "sync", and what others note
	// refuse, if not nil, may refuse an append.
	refuse func(p msg.Payload, n int) error
}

func (l *memLog) Append(p msg.Payload) (msg.Event, error) { return l.append(p, `"append"`) }

func (l *memLog) Replace(p msg.Payload, from, to int64) (msg.Event, error) {
	return l.append(p, fmt.Sprintf(`{"op":"replace","start":%d,"end":%d}`, from, to))
}

func (l *memLog) append(p msg.Payload, op string) (msg.Event, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refuse != nil {
		if err := l.refuse(p, len(l.events)); err != nil {
			return msg.Event{}, err
		}
	}
	data, err := msg.Marshal(p)
	if err != nil {
		return msg.Event{}, err
	}
	if err := msg.Admissible(json.RawMessage(data)); err != nil {
		return msg.Event{}, err
	}
	e := msg.Event{Type: p.EventType(), Seq: int64(len(l.events)), Time: 1, Data: data, Ignorable: msg.Ignorable(p)}
	if msg.Surface(p) {
		e.SurfaceOp = json.RawMessage(op)
	}
	l.events = append(l.events, e)
	l.trail = append(l.trail, note(p))
	return e, nil
}

func note(p msg.Payload) string {
	switch p := p.(type) {
	case msg.ToolCall:
		return "tool/call " + p.CallID
	case msg.ToolReturned:
		code := "ok"
		if p.Message.IsError {
			code = "error"
		}
		if p.Error != nil {
			code = p.Error.Code
		}
		return "tool/result " + p.Message.CallID + " " + code
	case msg.UserMessage:
		return "user/message " + p.Source.Kind
	case msg.AssistantMessage:
		s := "assistant/message"
		if p.Interrupted {
			s += " interrupted"
		}
		switch p.Message.StopReason {
		case StopError, StopCommand:
			s += " " + p.Message.StopReason
		}
		return s
	case msg.TurnEnd:
		return "turn/end " + p.Reason.Kind
	default:
		return p.EventType()
	}
}

func (l *memLog) Sync() error {
	l.note("sync")
	return nil
}

func (l *memLog) note(s string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trail = append(l.trail, s)
}

// told is the trail without what most tests do not look at.
func (l *memLog) told() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	for _, s := range l.trail {
		switch s {
		case "sync", "request/header", "request/context":
		default:
			out = append(out, s)
		}
	}
	return out
}

// check holds the log against the order that sessions keep.
func (l *memLog) check(t testing.TB) {
	t.Helper()
	inTurn, inStep := false, false
	open, called, used := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, e := range l.events {
		p, err := msg.Decode(e)
		require.NoError(t, err)
		switch p := p.(type) {
		case msg.TurnStart:
			require.False(t, inTurn, "turns nest at %d", e.Seq)
			inTurn = true
		case msg.TurnEnd:
			require.True(t, inTurn && !inStep, "turn end at %d", e.Seq)
			inTurn = false
		case msg.StepStart:
			require.True(t, inTurn && !inStep, "step start at %d", e.Seq)
			inStep = true
		case msg.StepEnd:
			require.True(t, inStep, "step end at %d", e.Seq)
			require.Empty(t, open, "calls without a result at %d", e.Seq)
			inStep = false
		case msg.UserMessage:
			require.True(t, inTurn)
		case msg.AssistantMessage:
			require.True(t, inStep)
			for _, u := range p.Message.Content.ToolUses() {
				require.NotEmpty(t, u.ID)
				require.False(t, used[u.ID], "id %q is used twice", u.ID)
				open[u.ID], used[u.ID] = true, true
			}
		case msg.ToolCall:
			require.True(t, inStep && open[p.CallID] && !called[p.CallID], "call %q at %d", p.CallID, e.Seq)
			called[p.CallID] = true
		case msg.ToolReturned:
			require.True(t, inStep && open[p.Message.CallID], "result %q at %d", p.Message.CallID, e.Seq)
			delete(open, p.Message.CallID)
		}
	}
	require.False(t, inTurn || inStep, "the log ends inside of a turn")
}

// watcher is a sink. It fails the test on a call after the turn, on an event
// that is not in the log yet, and on calls that overlap.
type watcher struct {
	t      testing.TB
	log    *memLog
	mu     sync.Mutex
	closed bool
	deltas []msg.Delta
	events []msg.Event
	// onDelta and onEvent, if not nil, are called for each.
	onDelta func(msg.Delta)
	onEvent func(msg.Event)
}

func (w *watcher) enter() func() {
	if !w.mu.TryLock() {
		w.t.Error("calls of the sink overlap")
		w.mu.Lock()
	}
	if w.closed {
		w.t.Error("the sink is called outside of a turn")
	}
	return w.mu.Unlock
}

func (w *watcher) Delta(d msg.Delta) {
	defer w.enter()()
	w.deltas = append(w.deltas, d)
	if w.onDelta != nil {
		w.onDelta(d)
	}
}

func (w *watcher) Event(e msg.Event) {
	defer w.enter()()
	w.log.mu.Lock()
	logged := int(e.Seq) < len(w.log.events)
	w.log.mu.Unlock()
	if !logged {
		w.t.Errorf("event %d is shown before it is in the log", e.Seq)
	}
	w.events = append(w.events, e)
	if w.onEvent != nil {
		w.onEvent(e)
	}
}

// shownText is the text of the deltas, by message.
func (w *watcher) shownText() string {
	var b strings.Builder
	for _, d := range w.deltas {
		if d, ok := d.(msg.TextDelta); ok {
			b.WriteString(d.Text)
		}
	}
	return b.String()
}

// box is a toolbox of named behaviours. A name that begins with "look" only
// looks, with "edit" edits.
type box struct {
	log *memLog
	run map[string]func(ctx context.Context, u msg.ToolUse) msg.ToolResult
	// plan, if there is one for a name, refuses the call.
	plan map[string]func(u msg.ToolUse) *msg.ToolResult
	// file, if not "", is what edits would change; their previews hold it.
	file string
	// paths, if not nil, are those that edits would touch, in place of one.
	paths []string
}

func (b *box) Specs() []msg.ToolSpec {
	return []msg.ToolSpec{{Name: "look", InputSchema: json.RawMessage(`{"type":"object"}`)}, {Name: "edit", InputSchema: json.RawMessage(`{"type":"object"}`)}}
}

func (b *box) Plan(ctx context.Context, u msg.ToolUse) (Plan, *msg.ToolResult) {
	b.log.note("plan " + u.ID)
	if f := b.plan[u.Name]; f != nil {
		if r := f(u); r != nil {
			return nil, r
		}
	}
	run := b.run[u.Name]
	if run == nil {
		run = func(context.Context, msg.ToolUse) msg.ToolResult { return text("done " + u.ID) }
	}
	return &boxPlan{b, u, run, b.file}, nil
}

type boxPlan struct {
	b    *box
	u    msg.ToolUse
	run  func(ctx context.Context, u msg.ToolUse) msg.ToolResult
	file string // as the plan saw it
}

func (p *boxPlan) Need() Need {
	if strings.HasPrefix(p.u.Name, "look") {
		return Need{Access: Look}
	}
	n := Need{Access: Edit, Paths: []string{"/w/a.txt"}}
	if p.b.paths != nil {
		n.Paths = p.b.paths
	}
	if p.file != "" {
		n.Preview = func() json.RawMessage { return json.RawMessage(`{"diffs":["` + p.file + `"]}`) }
	}
	return n
}

func (p *boxPlan) Run(ctx context.Context) msg.ToolResult {
	p.b.log.note("run " + p.u.ID)
	return p.run(ctx, p.u)
}

func text(s string) msg.ToolResult {
	return msg.ToolResult{Content: msg.Blocks{msg.Text{Text: s}}}
}

// judge approves what its function says; nil allows all.
type judge struct {
	log *memLog
	say func(ctx context.Context, u msg.ToolUse, n Need) (Verdict, error)
}

func (j *judge) Approve(ctx context.Context, u msg.ToolUse, n Need) (Verdict, error) {
	j.log.note("approve " + u.ID)
	if j.say == nil {
		return Verdict{Allow: true}, nil
	}
	return j.say(ctx, u, n)
}

// world is a session with its surroundings.
type world struct {
	t     testing.TB
	log   *memLog
	sink  *watcher
	tools *box
	judge *judge
	model *scripted.Provider
	cfg   Config
	s     *Session
}

// newWorld makes a session whose model plays script.
func newWorld(t testing.TB, script string) *world {
	t.Helper()
	p, err := scripted.New([]byte(script), scripted.Options{})
	require.NoError(t, err)
	w := withProvider(t, p)
	w.model = p
	return w
}

func withProvider(t testing.TB, p model.Provider) *world {
	t.Helper()
	log := &memLog{}
	w := &world{t: t, log: log,
		sink:  &watcher{t: t, log: log},
		tools: &box{log: log, run: map[string]func(context.Context, msg.ToolUse) msg.ToolResult{}, plan: map[string]func(msg.ToolUse) *msg.ToolResult{}},
		judge: &judge{log: log},
	}
	n := 0
	w.cfg = Config{Log: log, Provider: p, Tools: w.tools, Approver: w.judge, Sink: w.sink,
		NewID: func() string { n++; return fmt.Sprintf("id-%d", n) }}
	w.open(nil)
	return w
}

// open starts the session anew, as after a load.
func (w *world) open(past []msg.Event) {
	w.t.Helper()
	w.cfg.Past = past
	s, err := New(w.cfg)
	require.NoError(w.t, err)
	w.s = s
}

// run runs a turn and holds what must be so after any turn: the log is whole,
// the sink rests, and a reload knows the same history.
func (w *world) run(ctx context.Context, prompt string) (Outcome, error) {
	w.t.Helper()
	return w.turn(func() (Outcome, error) { return w.s.Run(ctx, msg.Blocks{msg.Text{Text: prompt}}) })
}

// command is run for a command.
func (w *world) command(ctx context.Context, do func(ctx context.Context, d Desk) error) (Outcome, error) {
	w.t.Helper()
	return w.turn(func() (Outcome, error) { return w.s.Command(ctx, msg.Blocks{msg.Text{Text: "/x"}}, do) })
}

func (w *world) turn(run func() (Outcome, error)) (Outcome, error) {
	w.t.Helper()
	w.sink.closed = false
	out, err := run()
	w.sink.closed = true
	if w.s.broken == nil {
		w.log.check(w.t)
		told, herr := History(w.log.events)
		require.NoError(w.t, herr)
		if len(told)+len(w.s.history) > 0 {
			assert.Equal(w.t, told, w.s.history, "history after a reload")
		}
		assert.Equal(w.t, w.log.events, w.sink.events, "events shown")
	}
	return out, err
}

var errDisk = errors.New("disk is full")

// closeLog appends what the log's own package would after a crash.
func closeLog(t testing.TB, l *memLog) {
	t.Helper()
	closers, err := eventlog.Closers(l.events)
	require.NoError(t, err)
	for _, p := range closers {
		_, err := l.Append(p)
		require.NoError(t, err)
	}
}
