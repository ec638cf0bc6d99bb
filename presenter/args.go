package presenter

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// An argScanner reads the JSON text of a call's arguments while it streams,
// and knows which of the top-level properties are complete. It reads each
// byte once.
type argScanner struct {
	text    []byte
	depth   int
	inText  bool // within a string
	escaped bool // behind a backslash
	comma   int  // offset of the last comma of the outermost object, 0: none yet
	closed  bool // the outermost value has ended
}

// feed takes more text and reports whether another property is known to be
// complete while the object is still open.
func (s *argScanner) feed(fragment string) bool {
	before := s.comma
	for i := 0; i < len(fragment); i++ {
		s.step(fragment[i], len(s.text)+i)
	}
	s.text = append(s.text, fragment...)
	return s.comma > before && !s.closed
}

func (s *argScanner) step(c byte, offset int) {
	switch {
	case s.escaped:
		s.escaped = false
	case s.inText && c == '\\':
		s.escaped = true
	case c == '"':
		s.inText = !s.inText
	case s.inText:
	case c == '{' || c == '[':
		s.depth++
	case c == '}' || c == ']':
		s.depth--
		s.closed = s.closed || s.depth <= 0
	case c == ',' && s.depth == 1 && !s.closed:
		s.comma = offset
	}
}

// known returns an object of the properties that are complete: the whole of
// it if it has ended, {} if nothing is complete or the text is no object.
func (s *argScanner) known() json.RawMessage {
	if s.closed && isObject(s.text) {
		return s.text
	}
	if s.comma > 0 {
		if cut := append(bytes.Clone(s.text[:s.comma]), '}'); isObject(cut) {
			return cut
		}
	}
	return json.RawMessage("{}")
}

// knownArgs is what a scanner knows of text that came at once.
func knownArgs(input string) json.RawMessage {
	var s argScanner
	s.feed(input)
	return s.known()
}

// isObject reports whether raw is valid JSON, and an object.
func isObject(raw []byte) bool {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	return len(raw) > 0 && raw[0] == '{' && json.Valid(raw)
}

// wireMaxDepth bounds the nesting of a rawInput: some clients refuse a whole
// line that nests deeper than 127.
const wireMaxDepth = 100

// wireJSON returns raw as JSON that every client can read: the value itself,
// keys in their order, with U+FFFD in place of what is no Unicode. Text that
// is not JSON, nests too deep, or holds a number beyond every float comes
// back as a JSON string of that text, so that the client sees it at least.
func wireJSON(raw json.RawMessage) json.RawMessage {
	if !json.Valid(raw) || !readable(raw) {
		return mustMarshal(string(raw))
	}
	var out bytes.Buffer
	// Compact cannot fail on valid JSON.
	_ = json.Compact(&out, raw)
	return mendUnicode(out.Bytes())
}

// readable reports whether valid JSON stays within depth and number range.
func readable(raw []byte) bool {
	depth := 0
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '"':
			i = endOfString(raw, i) - 1
		case c == '{' || c == '[':
			if depth++; depth > wireMaxDepth {
				return false
			}
		case c == '}' || c == ']':
			depth--
		case c == '-' || '0' <= c && c <= '9':
			end := i
			for end < len(raw) && strings.IndexByte("+-.eE0123456789", raw[end]) >= 0 {
				end++
			}
			f, err := strconv.ParseFloat(string(raw[i:end]), 64)
			if err != nil || math.IsInf(f, 0) {
				return false
			}
			i = end - 1
		}
	}
	return true
}

// endOfString returns the offset behind the string that begins at i in valid JSON.
func endOfString(raw []byte, i int) int {
	for i++; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(raw)
}

// mendUnicode replaces bytes that are not UTF-8, and escaped halves of
// surrogate pairs, in valid JSON. Both can stand within strings only.
func mendUnicode(raw []byte) []byte {
	if !utf8.Valid(raw) {
		raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	}
	if !bytes.Contains(raw, []byte(`\u`)) {
		return raw
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		switch {
		case raw[i] != '\\':
			out = append(out, raw[i])
			i++
		case raw[i+1] != 'u':
			out = append(out, raw[i:i+2]...)
			i += 2
		default:
			n, whole := escapeAt(raw, i)
			if whole {
				out = append(out, raw[i:i+n]...)
			} else {
				out = append(out, `\ufffd`...)
			}
			i += n
		}
	}
	return out
}

// escapeAt returns the length of the \u escape at i, both halves of a pair
// together, and false if it is a half alone.
func escapeAt(raw []byte, i int) (n int, whole bool) {
	const length = len(`\u0000`)
	r := hex4(raw, i)
	switch {
	case r < 0xD800 || r > 0xDFFF:
		return length, true
	case r <= 0xDBFF:
		if low := hex4(raw, i+length); 0xDC00 <= low && low <= 0xDFFF {
			return 2 * length, true
		}
	}
	return length, false
}

// hex4 is the number of the \u escape at i, or -1 if there is none.
func hex4(raw []byte, i int) int {
	if i+6 > len(raw) || raw[i] != '\\' || raw[i+1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(raw[i+2:i+6]), 16, 32)
	if err != nil {
		return -1
	}
	return int(n)
}
