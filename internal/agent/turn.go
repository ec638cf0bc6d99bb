package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"dsh-acp/internal/model"
	"dsh-acp/internal/msg"
)

// A turn is one run of the loop. Its order of events:
//
//	turn/start
//	  step/start
//	    user/message           the prompt, or a note of the agent's own
//	    assistant/message      the model's answer
//	    tool/call tool/result  for each of its calls; a call that does not run has no tool/call
//	  step/end
//	turn/end
//
// Each event is shown after the log has taken it. The log is made durable
// before a model request, before a call that may change something, and at the
// end. However the turn ends, each call gets its result and both ends are written.
//
// A command's turn has one step, in which the agent says and shows what it did;
// see [Session.Command].
type turn struct {
	s      *Session
	n      int
	prompt msg.Blocks
	// command says that the agent answers: the model is told its notes alone.
	command bool
	step    int
	inStep  bool
	before  int           // length of the history before the turn
	open    []msg.ToolUse // calls without a result, in order
	usage   msg.Usage
	ended   bool // a verdict ended the turn
	began   bool // turn/start is written, turn/end is not
	// compacted says that the turn has summed the conversation up for want of
	// room: it does so once.
	compacted bool
}

// errContext says that the model stopped since its context window is full.
var errContext = &model.Error{Kind: model.KindContextFull,
	Text: "the model's context window is full: sum the conversation up (/compact), start a new session, or choose a model with a larger window"}

// guard runs the turn and turns a panic into an error.
func (t *turn) guard(run func() (string, error)) (stop string, err error) {
	defer func() {
		if v := recover(); v != nil {
			t.s.panicked("turn", v, debug.Stack())
			err = fmt.Errorf("agent: panic in the turn: %v", v)
		}
	}()
	return run()
}

func (s *Session) panicked(where string, v any, stack []byte) {
	if s.cfg.OnPanic != nil {
		s.cfg.OnPanic(where, v, stack)
	}
}

func (t *turn) run(ctx context.Context) (string, error) {
	if err := t.add(msg.TurnStart{Turn: t.n}); err != nil {
		return "", err
	}
	input, kind := t.prompt, "prompt"
	for asked := 0; ; {
		if err := t.makeRoom(ctx); err != nil {
			return "", err
		}
		if err := t.beginStep(input, kind); err != nil {
			return "", err
		}
		answer, err := t.askOrCompact(ctx)
		if err != nil {
			return "", err
		}
		ran, err := t.calls(ctx, answer)
		if err != nil {
			return "", err
		}
		if ctx.Err() != nil || t.ended {
			return StopCancelled, nil
		}
		limit := answer.StopReason == msg.StopMaxTokens || hasCut(answer)
		switch {
		case answer.StopReason == msg.StopRefusal:
			return StopRefusal, nil
		case answer.StopReason == msg.StopContext && !t.canCompact():
			return "", errContext
		case limit && asked == MaxGoOn:
			return StopMaxTokens, nil
		case !limit && !ran:
			return StopEndTurn, nil
		}
		if err := t.endStep(); err != nil {
			return "", err
		}
		input, kind = nil, "agent"
		if answer.StopReason == msg.StopContext {
			if err := t.compact(ctx, full); err != nil {
				return "", err
			}
			continue
		}
		if limit {
			asked++
			if !ran {
				input = msg.Blocks{msg.Text{Text: goOn(answer)}}
			}
		}
	}
}

func hasCut(answer msg.Assistant) bool {
	return slices.ContainsFunc(answer.Content.ToolUses(), func(u msg.ToolUse) bool { return u.Cut })
}

// goOn is what the model is told after its answer hit the token limit.
func goOn(answer msg.Assistant) string {
	if hasCut(answer) {
		return "Your answer reached the limit of tokens for one answer within a tool call, which therefore did not run. " +
			"Make the call again so that it fits, for instance in several smaller calls."
	}
	return "Your answer reached the limit of tokens for one answer. Go on exactly where it stopped, without repeating anything."
}

func (t *turn) beginStep(input msg.Blocks, kind string) error {
	t.step++
	if err := t.add(msg.StepStart{Turn: t.n, Step: t.step}); err != nil {
		return err
	}
	if input == nil {
		return nil
	}
	return t.add(msg.UserMessage{ID: t.s.cfg.NewID(), Role: "user", Source: msg.Source{Kind: kind}, Content: validText(input)})
}

func (t *turn) endStep() error { return t.add(msg.StepEnd{Turn: t.n, Step: t.step}) }

// ask sends one request and commits the answer, or what came of it.
func (t *turn) ask(ctx context.Context) (msg.Assistant, error) {
	if err := ctx.Err(); err != nil {
		return msg.Assistant{}, err
	}
	params := t.s.cfg.Params()
	req := model.Request{
		Model: params.Model, System: params.System, MaxTokens: params.MaxTokens, Effort: params.Effort,
		Messages: slices.Clone(t.s.history), Tools: t.s.cfg.Tools.Specs(),
	}
	if err := t.describe(params, req); err != nil {
		return msg.Assistant{}, err
	}
	if err := t.sync(); err != nil {
		return msg.Assistant{}, err
	}
	names := &t.s.names
	names.begin()
	reply, err := t.s.cfg.Provider.Stream(ctx, req, func(d msg.Delta) {
		t.s.cfg.Sink.Delta(names.delta(d, t.s.cfg.NewID))
	})
	answer := names.reply(reply.Message, t.s.cfg.NewID)
	answer.Content = validText(answer.Content)
	answer.Role = "assistant"
	if commitErr := t.commit(answer, reply.Usage, err != nil); commitErr != nil {
		return answer, commitErr
	}
	return answer, err
}

func (t *turn) commit(answer msg.Assistant, usage msg.Usage, interrupted bool) error {
	if interrupted && len(answer.Content) == 0 {
		return nil // nothing was shown
	}
	m := msg.AssistantMessage{Turn: t.n, Step: t.step, Message: answer, Interrupted: interrupted}
	if usage != (msg.Usage{}) {
		m.Usage = &usage
	}
	return t.add(m)
}

// describe records provider, model and the frame of the request when they
// differ from those of the request before. The system prompt is recorded by
// its digest: the log is about the conversation.
func (t *turn) describe(params Params, req model.Request) error {
	route := msg.RequestContext{Provider: params.Route, Model: req.Model, ContextWindow: params.Window}
	tools := make([]string, len(req.Tools))
	for i, s := range req.Tools {
		tools[i] = s.Name
	}
	sum := sha256.Sum256([]byte(req.System))
	header, err := msg.Marshal(struct {
		Model     string   `json:"model"`
		MaxTokens int64    `json:"maxTokens,omitempty"`
		Effort    string   `json:"effort,omitempty"`
		System    string   `json:"systemSHA256"`
		Tools     []string `json:"tools"`
	}{req.Model, req.MaxTokens, req.Effort, hex.EncodeToString(sum[:]), tools})
	if err != nil {
		return err
	}
	if s := fmt.Sprint(route); s != t.s.route {
		if err := t.add(route); err != nil {
			return err
		}
		t.s.route = s
	}
	if string(header) != t.s.header {
		reason := "change"
		if t.s.header == "" {
			reason = "initial"
			if t.s.resumed {
				reason = "resume"
			}
		}
		if err := t.add(msg.RequestHeader{Header: header, Reason: reason}); err != nil {
			return err
		}
		t.s.header = string(header)
	}
	return nil
}

// add commits an event, takes it in, and shows it. What the turn knows of
// itself changes here only, so that it always agrees with the log.
func (t *turn) add(p msg.Payload) error {
	e, err := t.s.cfg.Log.Append(p)
	if err != nil {
		return &LogError{Err: err}
	}
	t.s.last = e.Seq
	t.take(p)
	t.s.cfg.Sink.Event(e)
	return nil
}

func (t *turn) take(p msg.Payload) {
	if !t.command || isNote(p) {
		t.s.history = tell(t.s.history, p)
	}
	switch p := p.(type) {
	case msg.TurnStart:
		t.began = true
	case msg.TurnEnd:
		t.began = false
	case msg.StepStart:
		t.inStep = true
	case msg.StepEnd:
		t.inStep = false
	case msg.AssistantMessage:
		t.open = append(t.open, p.Message.Content.ToolUses()...)
		if p.Usage != nil {
			t.usage = t.usage.Add(*p.Usage)
			t.s.count(*p.Usage)
			t.s.level = p.Usage.Context()
		}
	case msg.Compacted:
		if p.Usage != nil {
			t.usage = t.usage.Add(*p.Usage)
			t.s.count(*p.Usage)
		}
		t.s.level = 0
	case msg.Delegated:
		if m, ok := helperMessage(p); ok && m.Usage != nil {
			t.usage = t.usage.Add(*m.Usage)
			t.s.count(*m.Usage)
		}
	case msg.ToolReturned:
		t.open = slices.DeleteFunc(t.open, func(u msg.ToolUse) bool { return u.ID == p.Message.CallID })
	}
}

func (t *turn) sync() error {
	if err := t.s.cfg.Log.Sync(); err != nil {
		return &LogError{Err: err}
	}
	return nil
}

// end closes the turn, whatever state it is in, and says how it went.
func (t *turn) end(ctx context.Context, stop string, err error) (out Outcome, _ error) {
	if ctx.Err() != nil && (err == nil || isStop(err)) {
		stop, err = StopCancelled, nil
	}
	out = Outcome{Stop: stop, Usage: t.usage}
	if err != nil {
		out.Stop = ""
	}
	if !t.began {
		return out, err
	}
	closeErr := t.close(reasonOf(stop, err), stop == StopCancelled, err)
	if _, log := errors.AsType[*LogError](closeErr); closeErr != nil && !log && t.began {
		// A panic while an event was shown: go on with the events after it.
		if again := t.close(reasonOf("", closeErr), false, nil); again != nil {
			closeErr = again
		}
	}
	if t.began {
		// The log has no end of this turn, so it takes no other.
		t.s.broken = closeErr
	}
	if closeErr != nil {
		return Outcome{Usage: t.usage}, closeErr
	}
	if stop == StopRefusal {
		t.s.history = t.s.history[:t.before]
	}
	return out, err
}

// isStop reports whether err is what a cancelled request may end with.
func isStop(err error) bool {
	_, service := errors.AsType[*model.Error](err)
	return service || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

func reasonOf(stop string, err error) msg.EndReason {
	if err != nil {
		code := "INTERNAL"
		if e, ok := errors.AsType[*model.Error](err); ok {
			code = e.Kind
		}
		return msg.EndReason{Kind: msg.EndFailed, Error: &msg.EndError{Message: strings.ToValidUTF8(err.Error(), "\uFFFD"), Code: code}}
	}
	switch stop {
	case StopEndTurn:
		return msg.EndReason{Kind: msg.EndCompleted}
	case StopMaxTokens:
		return msg.EndReason{Kind: msg.EndMaxTokens}
	case StopRefusal:
		return msg.EndReason{Kind: msg.EndBlocked, Reason: "the model refused"}
	case StopCancelled:
		return msg.EndReason{Kind: msg.EndAborted, Reason: "cancelled"}
	default:
		panic(fmt.Sprintf("agent: no end for stop %q", stop))
	}
}

// close writes what is missing for the turn to be whole.
func (t *turn) close(reason msg.EndReason, cancelled bool, cause error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			t.s.panicked("end of turn", v, debug.Stack())
			err = fmt.Errorf("agent: panic at the end of the turn: %v", v)
		}
	}()
	for len(t.open) > 0 {
		if err := t.returned(t.open[0], unstarted(t.open[0], cancelled, reason)); err != nil {
			return err
		}
	}
	if _, broken := errors.AsType[*LogError](cause); cause != nil && !broken && t.inStep {
		if err := t.say(cause); err != nil {
			return err
		}
	}
	if t.inStep {
		if err := t.endStep(); err != nil {
			return err
		}
	}
	if err := t.add(msg.TurnEnd{Turn: t.n, Reason: reason}); err != nil {
		return err
	}
	return t.sync()
}

// say shows why the turn failed, as a message that a reload shows again and
// that the model never sees.
func (t *turn) say(cause error) error {
	id := t.s.names.fresh("", t.s.cfg.NewID())
	text := strings.ToValidUTF8(cause.Error(), "\uFFFD")
	t.s.cfg.Sink.Delta(msg.MessageStart{MessageID: id})
	t.s.cfg.Sink.Delta(msg.TextDelta{MessageID: id, Text: text})
	return t.add(msg.AssistantMessage{Turn: t.n, Step: t.step, Interrupted: true, Message: msg.Assistant{
		ID: id, Role: "assistant", StopReason: StopError, Content: msg.Blocks{msg.Text{Text: text}}}})
}
