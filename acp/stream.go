package acp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/sourcegraph/jsonrpc2"

	"dsh-acp/internal/msg"
)

// maxLine is the longest line that is taken, without its line break.
const maxLine = 64 << 20

// A stream carries JSON-RPC messages as lines, under jsonrpc2. It is an
// [jsonrpc2.ObjectStream] that
//
//   - answers a line that is no message and goes on with the next;
//   - keeps each request's id as it was sent, whatever it was, and gives
//     jsonrpc2 a number of its own;
//   - keeps params and results away from jsonrpc2, which would copy and scan
//     them many times, and hands them over in [stream.received];
//   - holds the end of the input back until atEOF has returned.
//
// Reading belongs to one goroutine; the rest is safe for concurrent use.
type stream struct {
	in    *bufio.Reader
	out   *outbox
	limit int
	atEOF func()
	now   inbound // the message that ReadObject gave last

	mu   sync.Mutex
	last uint64
	ids  map[uint64]json.RawMessage // of requests without an answer so far; guarded by mu
	wait map[uint64]bool            // our own calls without an answer so far; guarded by mu
}

// inbound is what jsonrpc2 is not shown of a message.
type inbound struct {
	params json.RawMessage
	result json.RawMessage
}

func newStream(in io.Reader, out *outbox, atEOF func()) *stream {
	return &stream{
		in: bufio.NewReaderSize(in, 64<<10), out: out, limit: maxLine, atEOF: atEOF,
		ids: map[uint64]json.RawMessage{}, wait: map[uint64]bool{},
	}
}

// ReadObject reads the next message into v, a value of jsonrpc2's.
func (s *stream) ReadObject(v any) error {
	for {
		line, err := s.readLine()
		var bad *lineError
		switch {
		case errors.As(err, &bad):
			s.refuse(bad)
			continue
		case err != nil:
			s.atEOF()
			return err
		}
		env, bad := parseEnvelope(line)
		if bad != nil {
			s.refuse(bad)
			continue
		}
		stub, ok := s.admit(env)
		if !ok {
			continue
		}
		if err := json.Unmarshal(stub, v); err != nil {
			return fmt.Errorf("acp: message for jsonrpc2: %w", err)
		}
		return nil
	}
}

// readLine returns the next line that is not blank, without surrounding
// white space. The last line counts although no line break follows it.
func (s *stream) readLine() ([]byte, error) {
	for {
		line, err := s.readRaw()
		line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff")))
		var long *lineError
		if len(line) > 0 && !errors.As(err, &long) {
			return line, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// readRaw reads up to a line break or the end. A line over the limit is
// passed over and gives *lineError.
func (s *stream) readRaw() ([]byte, error) {
	var parts [][]byte
	size := 0
	for {
		part, err := s.in.ReadSlice('\n')
		if err == nil && size == 0 {
			return bytes.Clone(part), nil
		}
		if size+len(part) > s.limit+1 { // 1 for the line break
			return nil, s.passOver(parts, part, err)
		}
		size += len(part)
		parts = appendPart(parts, part)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err == nil, size > 0:
			return bytes.Join(parts, nil), nil
		default:
			return nil, err
		}
	}
}

// appendPart adds bytes to a list of blocks, each as large as all before it,
// so that a long line is copied twice and not more.
func appendPart(parts [][]byte, p []byte) [][]byte {
	if n := len(parts); n > 0 {
		last := parts[n-1]
		room := min(cap(last)-len(last), len(p))
		parts[n-1] = append(last, p[:room]...)
		p = p[room:]
		if len(p) == 0 {
			return parts
		}
		return append(parts, append(make([]byte, 0, min(2*cap(last), 4<<20)), p...))
	}
	return append(parts, append(make([]byte, 0, max(len(p), 128<<10)), p...))
}

func (s *stream) passOver(parts [][]byte, part []byte, err error) error {
	find := newIDFinder()
	for _, p := range parts {
		find.feed(p)
	}
	find.feed(part)
	for errors.Is(err, bufio.ErrBufferFull) {
		part, err = s.in.ReadSlice('\n')
		find.feed(part)
	}
	return tooLong(s.limit, find.found())
}

// admit makes the stub that jsonrpc2 sees and keeps the rest. It drops
// answers that nobody waits for: late ones, and second ones.
func (s *stream) admit(env envelope) (stub []byte, ok bool) {
	s.now = inbound{params: env.params, result: env.result}
	switch {
	case env.method != nil && env.id != nil:
		s.mu.Lock()
		s.last++
		n := s.last
		s.ids[n] = json.RawMessage(bytes.Clone(env.id))
		s.mu.Unlock()
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":%s}`, n, env.method), true
	case env.method != nil:
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%s}`, env.method), true
	}
	var n uint64
	if json.Unmarshal(env.id, &n) != nil || !s.answered(n) {
		return nil, false
	}
	if env.err == nil {
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"result":null}`, n), true
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"error":%s}`, n, cleanError(env.err)), true
}

// cleanError gives an error object that jsonrpc2 can read, whatever the
// client sent as one.
func cleanError(raw []byte) []byte {
	e := struct {
		Code    int64  `json:"code"`
		Message string `json:"message"`
	}{}
	if json.Unmarshal(raw, &e) != nil {
		e.Code, e.Message = codeInternal, "malformed error"
	}
	out, err := json.Marshal(e)
	if err != nil {
		panic("acp: error object: " + err.Error())
	}
	return out
}

// received is the hook that gives jsonrpc2's values what ReadObject kept from
// it. jsonrpc2 calls it on the reading goroutine, before the handler.
func (s *stream) received(req *jsonrpc2.Request, resp *jsonrpc2.Response) {
	switch {
	case resp != nil:
		if resp.Error == nil {
			result := s.now.result
			resp.Result = &result
		}
	case req != nil && s.now.params != nil:
		params := s.now.params
		req.Params = &params
	}
	s.now = inbound{}
}

// WriteObject sends one of jsonrpc2's values: in this package only our own
// calls come this way.
func (s *stream) WriteObject(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	s.out.put(append(unescapeHTML(line), '\n'))
	return nil
}

// Close is part of the interface. The files belong to the caller.
func (s *stream) Close() error { return nil }

// expect says that a call with this id is about to be sent.
func (s *stream) expect(n uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wait[n] = true
}

func (s *stream) answered(n uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.wait[n]
	delete(s.wait, n)
	return was
}

// rawID returns the id of an open request as the client sent it.
func (s *stream) rawID(id jsonrpc2.ID) json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ids[id.Num]
}

// reply answers a request, once; a second answer is dropped. Without an error
// result is sent, nil as null.
func (s *stream) reply(id jsonrpc2.ID, result any, rerr *rpcError) {
	s.mu.Lock()
	raw, open := s.ids[id.Num]
	delete(s.ids, id.Num)
	s.mu.Unlock()
	if !open {
		return
	}
	s.send(raw, result, rerr)
}

// refuse answers a line that is no message.
func (s *stream) refuse(bad *lineError) {
	s.send(bad.id, nil, &rpcError{Code: bad.code, Message: bad.text})
}

func (s *stream) send(id json.RawMessage, result any, rerr *rpcError) {
	if id == nil {
		id = json.RawMessage("null")
	}
	line := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	name, value := `,"result":`, result
	if rerr != nil {
		name, value = `,"error":`, any(rerr)
	}
	body, err := msg.Marshal(value)
	if err != nil {
		name = `,"error":`
		body = fmt.Appendf(nil, `{"code":%d,"message":"Internal error: the answer has no JSON"}`, codeInternal)
	}
	line = append(append(append(line, name...), body...), "}\n"...)
	s.out.put(line)
}

// unescapeHTML undoes what encoding/json does to < > & and the separators
// U+2028 and U+2029 when it is not asked not to, so that text is sent as it
// was written. An escape counts only after an even run of backslashes.
func unescapeHTML(b []byte) []byte {
	if !bytes.Contains(b, []byte(`\u00`)) && !bytes.Contains(b, []byte(`\u202`)) {
		return b
	}
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); {
		if b[i] != '\\' || i+1 == len(b) {
			out = append(out, b[i])
			i++
			continue
		}
		if b[i+1] == 'u' && i+6 <= len(b) {
			if r, ok := htmlEscapes[string(b[i+2:i+6])]; ok {
				out = append(out, r...)
				i += 6
				continue
			}
		}
		// Two at once: a backslash that is itself escaped starts nothing.
		out = append(out, b[i], b[i+1])
		i += 2
	}
	return out
}

var htmlEscapes = map[string]string{"003c": "<", "003e": ">", "0026": "&", "2028": "\u2028", "2029": "\u2029"}
