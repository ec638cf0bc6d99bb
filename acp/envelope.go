package acp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// An envelope is the outside of one JSON-RPC message: its members as raw
// JSON, nil where the member is absent. The slices point into the line.
type envelope struct {
	version []byte
	id      []byte
	method  []byte
	params  []byte
	result  []byte
	err     []byte
}

// A lineError says what is wrong with a line and under which id to say so.
type lineError struct {
	id   []byte // nil: answer with id null
	code int
	text string
}

func (e *lineError) Error() string { return e.text }

// parseEnvelope takes a line apart without copying it and checks what
// JSON-RPC asks of it. The value inside params and result is valid JSON and
// otherwise not looked at. It returns *lineError for a line that is no
// message; a response is never answered, so its faults are those of the
// caller to drop.
func parseEnvelope(line []byte) (envelope, *lineError) {
	var env envelope
	if !json.Valid(line) {
		return env, &lineError{code: codeParse, text: "parse error: the line is not JSON"}
	}
	if line[0] != '{' {
		what := "a single value"
		if line[0] == '[' {
			what = "an array (batches are not part of this protocol)"
		}
		return env, &lineError{code: codeInvalidRequest, text: "invalid request: want one JSON object a line, found " + what}
	}
	scan := memberScanner{member: func(key, value []byte) { env.set(key, value) }}
	scan.scanAll(line)

	id := env.id
	if !validID(id) {
		return env, &lineError{code: codeInvalidRequest, text: "invalid request: id must be a string, a number or null"}
	}
	if !utf8.Valid(line) {
		return env, &lineError{id: id, code: codeParse, text: "parse error: the line is not valid UTF-8"}
	}
	if string(env.version) != `"2.0"` {
		return env, &lineError{id: id, code: codeInvalidRequest, text: `invalid request: jsonrpc must be "2.0"`}
	}
	isAnswer := env.result != nil || env.err != nil
	switch {
	case env.method == nil && !isAnswer:
		return env, &lineError{id: id, code: codeInvalidRequest, text: "invalid request: neither method nor result nor error"}
	case env.method != nil && isAnswer:
		return env, &lineError{id: id, code: codeInvalidRequest, text: "invalid request: both a method and an answer"}
	case env.method != nil && env.method[0] != '"':
		return env, &lineError{id: id, code: codeInvalidRequest, text: "invalid request: method must be a string"}
	case env.params != nil && env.params[0] != '{' && env.params[0] != '[':
		return env, &lineError{id: id, code: codeInvalidRequest, text: "invalid request: params must be an object"}
	}
	return env, nil
}

// set stores a member. JSON null counts as absent, except for an id, which
// is told apart, and a result, where null is an answer. Of two members with
// one name the last counts, as in JavaScript.
func (e *envelope) set(key, value []byte) {
	isNull := string(value) == "null"
	if isNull && string(key) != "id" && string(key) != "result" {
		value = nil
	}
	switch string(key) {
	case "jsonrpc":
		e.version = value
	case "id":
		e.id = value
	case "method":
		e.method = value
	case "params":
		e.params = value
	case "result":
		e.result = value
	case "error":
		e.err = value
	}
}

func validID(id []byte) bool {
	if id == nil {
		return true
	}
	switch c := id[0]; {
	case c == '"', c == 'n', c == '-', c >= '0' && c <= '9':
		return true
	}
	return false
}

// maxToken bounds what a memberScanner keeps of a name or a short value.
const maxToken = 1024

// A memberScanner finds the members of the outermost object of a JSON text
// that comes in pieces. It trusts the text to be JSON; on other text it finds
// nonsense but never panics.
type memberScanner struct {
	// member is called for each member, with the name as it is unquoted.
	// With scanAll, value is a slice of the text; with feed it is a copy, or
	// nil for an object, an array or a value longer than maxToken.
	member func(key, value []byte)

	keep    bool // feed: values are collected in token
	depth   int
	inStr   bool
	escaped bool
	inValue bool
	key     []byte
	token   []byte // the name, and with keep the value, so far
	long    bool   // token is not the whole
	start   int    // scanAll: where the value began
}

// scanAll scans a whole text at once.
func (s *memberScanner) scanAll(text []byte) {
	s.run(text, text)
}

// feed scans the next piece of a text.
func (s *memberScanner) feed(piece []byte) {
	s.keep = true
	s.run(piece, nil)
}

func (s *memberScanner) run(p, whole []byte) {
	for i := 0; i < len(p); i++ {
		c := p[i]
		if s.inStr {
			if s.depth != 1 || (s.inValue && !s.keep) {
				i = s.skipString(p, i)
				continue
			}
			s.collect(c)
			switch {
			case s.escaped:
				s.escaped = false
			case c == '\\':
				s.escaped = true
			case c == '"':
				s.inStr = false
			}
			continue
		}
		switch c {
		case '"':
			s.inStr = true
			if s.depth == 1 {
				s.collect(c)
			}
		case '{', '[':
			s.depth++
			if s.depth > 1 && s.inValue {
				s.long = true
			}
		case '}', ']':
			if s.depth == 1 {
				s.end(whole, i)
			}
			s.depth--
		case ':':
			if s.depth == 1 {
				s.key, s.token = unquote(s.token), nil
				s.inValue, s.long, s.start = true, false, i+1
			}
		case ',':
			if s.depth == 1 {
				s.end(whole, i)
			}
		case ' ', '\t', '\r', '\n':
		default:
			if s.depth == 1 && s.inValue && s.keep {
				s.collect(c)
			}
		}
	}
}

// skipString moves on behind the string, or to the end of p, and returns the
// place of the last byte that it took. One loop over the bytes: a search for
// the quote from each backslash on would take the square of a long text.
func (s *memberScanner) skipString(p []byte, i int) int {
	for ; i < len(p); i++ {
		switch {
		case s.escaped:
			s.escaped = false
		case p[i] == '\\':
			s.escaped = true
		case p[i] == '"':
			s.inStr = false
			return i
		}
	}
	return i
}

func (s *memberScanner) collect(c byte) {
	if len(s.token) >= maxToken {
		s.long = true
		return
	}
	s.token = append(s.token, c)
}

func (s *memberScanner) end(whole []byte, i int) {
	if s.inValue {
		var value []byte
		switch {
		case whole != nil:
			value = bytes.TrimSpace(whole[s.start:i])
		case !s.long:
			value = s.token
		}
		s.member(s.key, value)
	}
	s.inValue, s.token, s.key = false, nil, nil
}

func unquote(token []byte) []byte {
	if len(token) < 2 {
		return nil
	}
	if bytes.IndexByte(token, '\\') < 0 {
		return token[1 : len(token)-1]
	}
	var s string
	if json.Unmarshal(token, &s) != nil {
		return nil
	}
	return []byte(s)
}

// An idFinder looks for the id of a message that is too long to keep.
type idFinder struct {
	scan memberScanner
	id   []byte
}

func newIDFinder() *idFinder {
	f := &idFinder{}
	f.scan.member = func(key, value []byte) {
		if string(key) == "id" && value != nil {
			f.id = value
		}
	}
	return f
}

func (f *idFinder) feed(p []byte) { f.scan.feed(p) }

// found returns the id as it was sent, or nil.
func (f *idFinder) found() []byte {
	if f.id == nil || !validID(f.id) || !json.Valid(f.id) || !utf8.Valid(f.id) {
		return nil
	}
	return f.id
}

func tooLong(limit int, id []byte) *lineError {
	return &lineError{
		id: id, code: codeInvalidRequest,
		text: fmt.Sprintf("invalid request: the line is longer than %d MiB; send the content in smaller pieces", limit>>20),
	}
}
