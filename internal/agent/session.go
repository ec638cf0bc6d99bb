package agent

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"dsh-acp/internal/eventlog"
	"dsh-acp/internal/model"
	"dsh-acp/internal/msg"
)

// Limits of a turn. There is none on the number of steps: a turn lasts as
// long as the model asks for tools, and the user can cancel it.
const (
	// MaxGoOn is how often in a turn the model is asked to go on after it hit
	// the token limit of an answer.
	MaxGoOn = 3
	// MaxParallel is how many calls that only look run at the same time.
	MaxParallel = 8
	// DefaultGrace is how long a cancelled turn waits for a running tool.
	DefaultGrace = 800 * time.Millisecond
)

// Config is what a session's turns are made of. Log, Provider, Tools, Approver
// and Sink are required.
type Config struct {
	Log      Log
	Provider model.Provider
	Tools    Toolbox
	Approver Approver
	Sink     Sink
	// Params is asked before each model request; nil means zero Params.
	Params func() Params
	// Past are the events that the log holds already, closed as after a
	// crash; nil for a new session.
	Past []msg.Event
	// Payloads are those of Past, one for one, if they are at hand; nil has
	// them decoded.
	Payloads []msg.Payload
	// NewID makes ids for messages; nil means random ones.
	NewID func() string
	// Grace bounds the wait for a tool that does not stop when its turn is
	// cancelled; 0 means DefaultGrace.
	Grace time.Duration
	// OnPanic, if not nil, is told of each panic that was caught: where, what
	// and the stack. It may be called from any goroutine.
	OnPanic func(where string, v any, stack []byte)
}

// Params are the parts of a model request that settings and options decide.
type Params struct {
	System    string // the system prompt
	Model     string // "" means the provider's default
	MaxTokens int64  // 0 means the provider's default
	Effort    string // "" means the model's default
	// Route names the provider, and Window the model's context window (0: not
	// known), for the log.
	Route  string
	Window int64
	// Compact lets the turn sum the conversation up when the window is nearly
	// full, or when the service says that it is.
	Compact bool
}

// Values of [Outcome].Stop: the stop reasons of the protocol.
const (
	StopEndTurn   = "end_turn"
	StopMaxTokens = "max_tokens"
	StopRefusal   = "refusal"
	StopCancelled = "cancelled"
)

// An Outcome is how a turn ended.
type Outcome struct {
	Stop  string // one of the Stop constants; "" beside an error
	Usage msg.Usage
}

// A Session runs the turns of one conversation, one at a time. Its methods are
// safe for concurrent use; a Run waits for the one before it.
type Session struct {
	cfg Config

	mu      sync.Mutex // held by a Run
	history []model.Message
	level   int64 // tokens in the window after the last answer; 0: not known
	last    int64 // seq of the last event that this session knows of
	turns   int
	names   names
	route   string // the request/context last recorded, as JSON
	header  string // the request/header last recorded
	resumed bool
	broken  error // why no further turn can run

	totalMu sync.Mutex
	total   msg.Usage // guarded by totalMu
}

// New makes a session. It fails if something required is missing, or if the
// past cannot be understood.
func New(cfg Config) (*Session, error) {
	if cfg.Log == nil || cfg.Provider == nil || cfg.Tools == nil || cfg.Approver == nil || cfg.Sink == nil {
		return nil, errors.New("agent: log, provider, tools, approver and sink are required")
	}
	if cfg.Params == nil {
		cfg.Params = func() Params { return Params{} }
	}
	if cfg.NewID == nil {
		cfg.NewID = randomID
	}
	if cfg.Grace == 0 {
		cfg.Grace = DefaultGrace
	}
	s := &Session{cfg: cfg, resumed: len(cfg.Past) > 0, names: names{used: &idSet{ids: map[string]bool{}}}}
	if err := s.recall(cfg.Past, cfg.Payloads); err != nil {
		return nil, fmt.Errorf("agent: %w", err)
	}
	s.cfg.Past, s.cfg.Payloads = nil, nil // not needed any more
	return s, nil
}

// recall takes from the past what the next turn builds on.
func (s *Session) recall(past []msg.Event, payloads []msg.Payload) error {
	var err error
	if payloads == nil {
		if payloads, err = eventlog.Payloads(past); err != nil {
			return err
		}
	}
	if s.history, err = history(past, payloads); err != nil {
		return err
	}
	for i, p := range payloads {
		s.last = past[i].Seq
		switch p := p.(type) {
		case msg.TurnStart:
			s.turns = max(s.turns, p.Turn)
		case msg.AssistantMessage:
			s.names.recall(p.Message)
			if p.Usage != nil {
				s.total = s.total.Add(*p.Usage)
				s.level = p.Usage.Context()
			}
		case msg.Compacted:
			if p.Usage != nil {
				s.total = s.total.Add(*p.Usage)
			}
			s.level = 0
		case msg.Delegated:
			if m, ok := helperMessage(p); ok {
				s.names.recall(m.Message)
				if m.Usage != nil {
					s.total = s.total.Add(*m.Usage)
				}
			}
		}
	}
	return nil
}

// Usage returns the sum over all messages of the session, the past's included.
func (s *Session) Usage() msg.Usage {
	s.totalMu.Lock()
	defer s.totalMu.Unlock()
	return s.total
}

func (s *Session) count(u msg.Usage) {
	s.totalMu.Lock()
	defer s.totalMu.Unlock()
	s.total = s.total.Add(u)
}

// Run runs one turn: it sends the prompt and goes on until the model asks for
// no more tools. When ctx ends the turn is closed and the outcome is
// StopCancelled, without an error. The error is a *[model.Error] if the model
// service failed, a *[LogError] if the session could not be recorded, or else
// tells of a panic; the session can be used again unless its log is broken.
// After Run has returned, the Sink is not called until the next Run.
func (s *Session) Run(ctx context.Context, prompt msg.Blocks) (Outcome, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken != nil {
		return Outcome{}, s.broken
	}
	t := s.newTurn(prompt)
	stop, err := t.guard(func() (string, error) { return t.run(ctx) })
	return t.end(ctx, stop, err)
}

// newTurn needs mu.
func (s *Session) newTurn(prompt msg.Blocks) *turn {
	s.turns++
	return &turn{s: s, n: s.turns, prompt: append(msg.Blocks{}, prompt...), before: len(s.history)}
}

// A LogError says that the session's log did not take an event. What had been
// done until then is done.
type LogError struct{ Err error }

func (e *LogError) Error() string { return "session log: " + e.Err.Error() }

func (e *LogError) Unwrap() error { return e.Err }

// randomID makes an id in the form of a UUID, version 4.
func randomID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}
