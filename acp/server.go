// Package acp serves the Agent Client Protocol, version 1, over two byte
// streams: framing, handlers, sessions and their turns, and the questions to
// the user. It sends what package presenter draws.
//
// It refuses to end on bad input, to answer a request twice, to let a message
// overtake an earlier one, and to hold an update back. It knows no tool, no
// file store and no model: those come through [Sessions].
//
// # Order
//
// One goroutine reads and never waits: it registers what a message is about
// (a turn and its cancel function, a task of a session) and hands it over.
// Tasks of one session run in the order they were read; so do its turns.
// All that is sent goes through one queue, so the updates of a turn precede
// its answer, and a session's answer precedes its updates.
package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"github.com/sourcegraph/jsonrpc2"

	"dsh-acp/presenter"
)

// Config is what a [Server] needs. All but Log, Now and Grace must be set.
type Config struct {
	Name, Title, Version string // of the agent, told in initialize

	Sessions Sessions
	Account  Account
	// Tools draws tool calls, by the names that logs hold.
	Tools map[string]presenter.Tool

	// Log gets diagnostics; the zero Logger drops them.
	Log zerolog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Grace is how long the end of a connection waits for turns to end and
	// for the client to take what is queued; 0 means 800 ms.
	Grace time.Duration
	// Login is the command line that asks for a key in a terminal, for
	// clients that do not run the agent's own command: the program, then its
	// arguments. The arguments alone are told to the others.
	Login []string
}

// A Server speaks with one client.
type Server struct {
	cfg  Config
	conn *jsonrpc2.Conn
	str  *stream
	out  *outbox

	ctx    context.Context // of all work; ends with the connection
	cancel context.CancelFunc

	control *lanes // tasks by session id
	work    *lanes // turns by session id
	calls   callIDs

	mu       sync.Mutex
	client   client                             // guarded by mu
	sessions map[string]*session                // open ones; guarded by mu
	turns    map[string][]*turn                 // admitted and not answered; guarded by mu
	inflight map[string]context.CancelCauseFunc // by raw id; guarded by mu
}

// Serve speaks with the client at the other end of in and out until in ends
// or ctx does. Then it cancels what runs, waits a little for it to be
// answered, and closes the sessions. It returns nil in both cases; an error
// is one of writing to the client. It closes neither stream, and a blocked
// Read of in may outlive it.
func Serve(ctx context.Context, cfg Config, in io.Reader, out io.Writer) error {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Grace == 0 {
		cfg.Grace = 800 * time.Millisecond
	}
	s := &Server{
		cfg:      cfg,
		control:  newLanes(),
		work:     newLanes(),
		sessions: map[string]*session{},
		turns:    map[string][]*turn{},
		inflight: map[string]context.CancelCauseFunc{},
	}
	s.ctx, s.cancel = context.WithCancel(ctx)
	defer s.cancel()

	drained := make(chan struct{})
	var once sync.Once
	drain := func() {
		once.Do(func() {
			s.drain()
			close(drained)
		})
		<-drained
	}
	s.out = newOutbox(out, func(err error) {
		cfg.Log.Error().Err(err).Msg("writing to the client: the connection is lost")
		s.cancel()
	})
	s.str = newStream(in, s.out, drain)
	s.conn = jsonrpc2.NewConn(context.WithoutCancel(ctx), s.str, handler{s},
		jsonrpc2.OnRecv(s.str.received), jsonrpc2.SetLogger(logger{cfg.Log}))

	select {
	case <-s.conn.DisconnectNotify():
	case <-s.ctx.Done():
		drain()
		s.conn.Close()
	}
	s.out.close()
	return s.out.failure()
}

// drain ends all work and gives its answers time to get out. Turns are
// cancelled; what else was asked before the end is still done.
func (s *Server) drain() {
	grace, stop := context.WithTimeout(context.WithoutCancel(s.ctx), s.cfg.Grace)
	defer stop()
	s.cancelAllTurns()
	s.endAsides()
	s.control.wait(grace)
	s.work.wait(grace)
	s.cancel()
	s.mu.Lock()
	open := s.sessions
	s.sessions = map[string]*session{}
	s.mu.Unlock()
	for id, sess := range open {
		if err := sess.opened.Work.Close(); err != nil {
			s.cfg.Log.Error().Err(err).Str("session", id).Msg("closing the session")
		}
	}
	s.out.flush(grace)
}

func (s *Server) endAsides() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sess := range s.sessions {
		sess.end()
	}
}

// A request is one call of the client's.
type request struct {
	id     jsonrpc2.ID
	method string
	params json.RawMessage // nil if absent
}

type handler struct{ s *Server }

// Handle takes a message from the read loop. It must not wait.
func (h handler) Handle(_ context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) {
	r := &request{id: req.ID, method: req.Method}
	if req.Params != nil {
		r.params = *req.Params
	}
	if req.Notif {
		defer func() {
			if v := recover(); v != nil {
				h.s.logPanic(r.method, v)
			}
		}()
		h.s.notified(r)
		return
	}
	defer h.s.guard(r)
	handle, ok := methods[r.method]
	if !ok {
		h.s.fail(r, &rpcError{Code: codeMethodNotFound, Message: fmt.Sprintf("Method not found: %.200q", r.method)})
		return
	}
	handle(h.s, r)
}

// guard turns a panic into the request's answer. It is deferred.
func (s *Server) guard(r *request) {
	v := recover()
	if v == nil {
		return
	}
	s.logPanic(r.method, v)
	s.fail(r, &rpcError{Code: codeInternal, Message: fmt.Sprintf("Internal error: %s: %v", r.method, v)})
}

func (s *Server) logPanic(method string, v any) {
	s.cfg.Log.Error().Str("method", method).Str("stack", string(debug.Stack())).Msgf("panic: %v", v)
}

func (s *Server) answer(r *request, result any) { s.str.reply(r.id, result, nil) }

func (s *Server) fail(r *request, err error) { s.str.reply(r.id, nil, asRPC(err)) }

// A task is the waiting part of a request: it gives the result and, if more
// is to be sent after the answer, a function that does it.
type task func(ctx context.Context) (result any, after func(), err error)

// run does a task in its turn among those with the same key and answers with
// what it gives. The client can withdraw the request meanwhile.
func (s *Server) run(r *request, key string, do task) {
	ctx, cancel := context.WithCancelCause(s.ctx)
	release := s.track(r, cancel)
	s.control.do(key, func() {
		defer s.guard(r)
		defer cancel(nil)
		defer release()
		if ctx.Err() != nil {
			s.fail(r, errCancelled)
			return
		}
		result, after, err := do(ctx)
		switch {
		case err != nil && ctx.Err() != nil:
			s.fail(r, errCancelled)
		case err != nil:
			s.fail(r, err)
		default:
			s.answer(r, result)
			if after != nil {
				after()
			}
		}
	})
}

// track makes a request known to $/cancel_request until release is called.
func (s *Server) track(r *request, cancel context.CancelCauseFunc) (release func()) {
	key := string(s.str.rawID(r.id))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inflight[key] = cancel
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.inflight, key)
	}
}

// notified takes a notification. Unknown ones are passed over in silence, as
// JSON-RPC asks.
func (s *Server) notified(r *request) {
	switch r.method {
	case "session/cancel":
		var p struct {
			SessionID string `json:"sessionId"`
		}
		if json.Unmarshal(r.params, &p) == nil {
			s.cancelTurns(p.SessionID)
		}
	case "$/cancel_request":
		var p struct {
			RequestID json.RawMessage `json:"requestId"`
		}
		if json.Unmarshal(r.params, &p) != nil {
			return
		}
		s.mu.Lock()
		cancel := s.inflight[string(p.RequestID)]
		s.mu.Unlock()
		if cancel != nil {
			cancel(errCancelled)
		}
	default:
		s.cfg.Log.Debug().Str("method", r.method).Msg("unknown notification")
	}
}

// logger gives jsonrpc2's remarks to zerolog.
type logger struct{ log zerolog.Logger }

func (l logger) Printf(format string, v ...any) { l.log.Debug().Msgf(format, v...) }
