// Package modelserver plays a scripted Anthropic Messages service on the
// loopback address, for tests, the demo and the conformance harness: real
// HTTP, real server-sent events, answers that a caller composes. It holds no
// model, checks no key, listens on 127.0.0.1 only and never calls out.
package modelserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
)

// Options say how a server behaves. Handler is required.
type Options struct {
	// Handler answers a request of the main conversation. Calls may come
	// from several goroutines at once, in the order of arrival only if the
	// client sends one at a time. A nil Answer is a 500.
	Handler func(Request) Answer
	// Conversation tells the requests for Handler from those that get a
	// harmless answer; nil means [IsConversation].
	Conversation func(Request) bool
}

// A Server answers requests until it is closed. It is safe for concurrent use.
type Server struct {
	opts Options
	http *http.Server
	url  string
	done context.Context // ends when the server closes

	mu       sync.Mutex
	requests []Request     // guarded by mu
	main     []int         // guarded by mu; indexes of conversation requests
	arrived  chan struct{} // guarded by mu; closed and replaced at each request
}

// Start runs a server whose conversation requests handler answers; it is
// [New] with no other options.
func Start(handler func(Request) Answer) (*Server, error) {
	return New(Options{Handler: handler})
}

// New runs a server on a free port of 127.0.0.1.
func New(opts Options) (*Server, error) {
	if opts.Handler == nil {
		return nil, errors.New("modelserver: no handler")
	}
	if opts.Conversation == nil {
		opts.Conversation = IsConversation
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("modelserver: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Server{opts: opts, url: "http://" + l.Addr().String(), done: ctx, arrived: make(chan struct{})}
	s.http = &http.Server{Handler: http.HandlerFunc(s.serve)}
	go func() {
		defer cancel()
		_ = s.http.Serve(l) // always an error; Close is the only one that can happen
	}()
	return s, nil
}

// URL is the server's base address, without a slash at the end; what a client
// takes as ANTHROPIC_BASE_URL.
func (s *Server) URL() string { return s.url }

// Close ends the server and cuts all connections. It may be called twice.
func (s *Server) Close() error { return s.http.Close() }

// Requests returns all requests so far, in the order of arrival.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Conversation returns the requests of the main conversation so far.
func (s *Server) Conversation() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Request, 0, len(s.main))
	for _, i := range s.main {
		out = append(out, s.requests[i])
	}
	return out
}

// Wait blocks until n conversation requests have arrived or ctx ends, and
// then returns ctx's error.
func (s *Server) Wait(ctx context.Context, n int) error {
	for {
		s.mu.Lock()
		have, next := len(s.main), s.arrived
		s.mu.Unlock()
		if have >= n {
			return nil
		}
		select {
		case <-next:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// record keeps r and returns the id of a message that answers it.
func (s *Server) record(r Request, conversation bool) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	id := "msg_side01"
	if conversation {
		s.main = append(s.main, len(s.requests)-1)
		id = fmt.Sprintf("msg_main%02d", len(s.main))
	}
	close(s.arrived)
	s.arrived = make(chan struct{})
	return id
}

func (s *Server) serve(w http.ResponseWriter, hr *http.Request) {
	body, err := io.ReadAll(hr.Body)
	if err != nil {
		return // the client went away while it sent
	}
	r := Request{Method: hr.Method, Path: hr.URL.Path, Header: hr.Header, Body: body}
	if len(body) == 0 {
		r.Body = nil
	}
	if r.isMessages() {
		r.parse()
	}
	conversation := s.opts.Conversation(r)
	id := s.record(r, conversation)

	var a Answer
	if conversation {
		a = s.opts.Handler(r)
		if a == nil {
			a = Failure{Status: http.StatusInternalServerError, Text: "no answer is scripted for this request"}
		}
	} else {
		a = harmless(r)
	}
	switch a := a.(type) {
	case Message:
		if a.ID == "" {
			a.ID = id
		}
		st := stream{w: w, client: hr.Context(), server: s.done}
		if r.Stream {
			st.message(a, r.Model)
		} else {
			st.whole(a, r.Model)
		}
	case Failure:
		fail(w, a)
	case Raw:
		raw(w, hr.Context(), s.done, a)
	default:
		panic(fmt.Sprintf("modelserver: no way to send answer %T", a))
	}
}

// harmless answers what is not part of the conversation so that the client
// goes on: a title, a token count, a probe of the address.
func harmless(r Request) Answer {
	switch {
	case r.isMessages() && strings.Contains(r.Format, `"title"`):
		return Message{Blocks: []Block{Text{Text: `{"title":"` + DefaultTitle + `"}`}}}
	case r.isMessages() && r.Format != "":
		return Message{Blocks: []Block{Text{Text: "{}"}}}
	case r.isMessages():
		return Message{Blocks: []Block{Text{Text: "ok"}}}
	case strings.HasSuffix(r.Path, "/v1/messages/count_tokens"):
		return Raw{ContentType: "application/json", Body: fmt.Appendf(nil, `{"input_tokens":%d}`, DefaultUsage.Input)}
	case strings.HasSuffix(r.Path, "/v1/models"):
		return Raw{ContentType: "application/json", Body: []byte(`{"data":[],"has_more":false,"first_id":null,"last_id":null}`)}
	case r.Method == http.MethodHead:
		return Raw{ContentType: "text/plain"}
	default:
		return Failure{Status: http.StatusNotFound, Text: "no such path: " + r.Path}
	}
}
