package mcpserve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxLine is the longest line that is read. A longer one is refused, and the
// lines after it are read all the same.
const maxLine = 64 << 20

// grace is how long calls may go on when the input has ended.
const grace = 10 * time.Second

// listenMethod is a call that is answered only when it is cancelled.
const listenMethod = "subscriptions/listen"

// A stream carries messages as lines. The transport of the SDK ends at the
// first malformed line, and drops the answers of calls that still run when
// the input ends; this one answers the line, and holds the end back until
// every call is answered or grace is over. It connects once.
type stream struct {
	in  *bufio.Reader
	out io.Writer

	ended     chan struct{} // closed when the input has ended: no answer comes any more
	closed    chan struct{}
	closeOnce sync.Once
	lines     chan line

	mu      sync.Mutex
	pending map[any]bool  // guarded by mu; calls that are not answered, by their IDs
	idle    chan struct{} // guarded by mu; closed when pending is empty; nil unless somebody waits
}

type line struct {
	text    []byte
	tooLong bool
	err     error
}

func newStream(in io.Reader, out io.Writer) *stream {
	return &stream{
		in: bufio.NewReaderSize(in, 64<<10), out: out,
		ended: make(chan struct{}), closed: make(chan struct{}), lines: make(chan line), pending: map[any]bool{},
	}
}

// Connect is of [mcp.Transport].
func (s *stream) Connect(context.Context) (mcp.Connection, error) {
	go s.readLines()
	return s, nil
}

// SessionID is of [mcp.Connection]: a stream has one session without a name.
func (s *stream) SessionID() string { return "" }

// readLines reads ahead by one line. It ends with the input, or, when the
// stream is closed before, with the next line.
func (s *stream) readLines() {
	for {
		l := readLine(s.in, maxLine)
		select {
		case s.lines <- l:
		case <-s.closed:
			return
		}
		if l.err != nil {
			return
		}
	}
}

// readLine reads one line without its end. A last line without an end counts
// if it holds something. Of a line over the limit nothing is kept.
func readLine(r *bufio.Reader, limit int) line {
	var l line
	for {
		part, err := r.ReadSlice('\n')
		if len(l.text)+len(part) > limit {
			l.text, l.tooLong = nil, true
		}
		if !l.tooLong {
			l.text = append(l.text, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err == nil, errors.Is(err, io.EOF) && (len(l.text) > 0 || l.tooLong):
			l.text = bytes.TrimSpace(l.text)
			return l
		default:
			return line{err: err}
		}
	}
}

// Read gives the next message; lines that are none are answered here. It
// gives the input's end only when no call is open any more.
func (s *stream) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-s.closed:
			return nil, io.EOF
		case l := <-s.lines:
			if l.err != nil {
				close(s.ended)
				s.waitIdle(ctx)
				return nil, l.err
			}
			m, refusal := message(l)
			if refusal != nil {
				if err := s.writeLine(refusal); err != nil {
					return nil, err
				}
				continue
			}
			if m == nil {
				continue
			}
			s.opened(m)
			return m, nil
		}
	}
}

// message decodes a line. An empty line is neither a message nor a fault.
func message(l line) (m jsonrpc.Message, refusal []byte) {
	switch {
	case l.tooLong:
		return nil, refuse(jsonrpc.CodeParseError, fmt.Sprintf("the line is longer than %d bytes", maxLine))
	case len(l.text) == 0:
		return nil, nil
	case !json.Valid(l.text):
		return nil, refuse(jsonrpc.CodeParseError, "the line is not JSON")
	case l.text[0] == '[':
		return nil, refuse(jsonrpc.CodeInvalidRequest, "batches are not served: send one message a line")
	}
	m, err := jsonrpc.DecodeMessage(l.text)
	if err != nil {
		return nil, refuse(jsonrpc.CodeInvalidRequest, "the line is no message of JSON-RPC 2.0: "+err.Error())
	}
	return m, nil
}

// refuse makes the answer to what has no ID that could be trusted.
func refuse(code int64, why string) []byte {
	b, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": why},
	})
	if err != nil {
		panic("mcpserve: " + err.Error())
	}
	return b
}

// Write sends a message. It is safe for concurrent use.
func (s *stream) Write(_ context.Context, m jsonrpc.Message) error {
	b, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	err = s.writeLine(b)
	if r, ok := m.(*jsonrpc.Response); ok {
		s.answered(r.ID)
	}
	return err
}

// writeLine writes in one go, so that no reader sees half a line.
func (s *stream) writeLine(b []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.out.Write(append(b, '\n'))
	return err
}

func (s *stream) opened(m jsonrpc.Message) {
	r, ok := m.(*jsonrpc.Request)
	if !ok || !r.IsCall() || r.Method == listenMethod {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending[r.ID.Raw()] = true
}

func (s *stream) answered(id jsonrpc.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.pending, id.Raw())
	if len(s.pending) == 0 && s.idle != nil {
		close(s.idle)
		s.idle = nil
	}
}

// waitIdle waits until every call is answered, or nobody cares any more.
func (s *stream) waitIdle(ctx context.Context) {
	s.mu.Lock()
	if len(s.pending) == 0 {
		s.mu.Unlock()
		return
	}
	idle := make(chan struct{})
	s.idle = idle
	s.mu.Unlock()
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case <-idle:
	case <-late.C:
	case <-ctx.Done():
	case <-s.closed:
	}
}

// Close ends the stream. Whoever made its reader closes that.
func (s *stream) Close() error {
	s.closeOnce.Do(func() { close(s.closed) })
	return nil
}
