package msg

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// compact checks JSON text and appends it to dst without white space. depth
// is how many levels it may open. It keeps its own stack, so deep input costs
// memory and not goroutine stack. On error dst's contents are as before.
func compact(dst, text []byte, depth int) ([]byte, *ValueError) {
	s := scanner{text: text, out: dst, room: depth}
	if err := s.document(); err != nil {
		return dst, err
	}
	return s.out, nil
}

// A scanner reads one JSON text from front to back.
type scanner struct {
	text  []byte
	pos   int
	out   []byte
	stack []level
	room  int
}

// A level is an array or object that is open.
type level struct {
	object bool
	index  int      // of the current element
	keys   []string // of an object, decoded, in order
	seen   map[string]struct{}
}

func (s *scanner) steps() []string {
	steps := make([]string, 0, len(s.stack))
	for i := range s.stack {
		l := &s.stack[i]
		switch {
		case !l.object:
			steps = append(steps, strconv.Itoa(l.index))
		case len(l.keys) > 0:
			steps = append(steps, l.keys[len(l.keys)-1])
		}
	}
	return steps
}

func (s *scanner) fail(format string, args ...any) *ValueError {
	return &ValueError{Code: ValueBad, Path: pointer(s.steps()), Why: fmt.Sprintf(format, args...)}
}

func (s *scanner) space() {
	for s.pos < len(s.text) {
		switch s.text[s.pos] {
		case ' ', '\t', '\r', '\n':
			s.pos++
		default:
			return
		}
	}
}

// peek returns the next byte, or 0 at the end (0 is valid nowhere).
func (s *scanner) peek() byte {
	if s.pos < len(s.text) {
		return s.text[s.pos]
	}
	return 0
}

func (s *scanner) unexpected(want string) *ValueError {
	if s.pos >= len(s.text) {
		return s.fail("the text ends where %s should be", want)
	}
	r, _ := utf8.DecodeRune(s.text[s.pos:])
	return s.fail("%q at byte %d where %s should be", r, s.pos, want)
}

// document reads a value and what may follow it. The loop holds one value a
// turn; closing brackets are eaten behind each complete value.
func (s *scanner) document() *ValueError {
	for {
		s.space()
		opened, err := s.value()
		if err != nil {
			return err
		}
		if opened {
			continue
		}
		if done, err := s.closers(); done || err != nil {
			return err
		}
	}
}

// value reads a scalar, an empty container, or the opening of another (then
// opened is true and the next value is its first member).
func (s *scanner) value() (opened bool, err *ValueError) {
	switch c := s.peek(); {
	case c == '{' || c == '[':
		return s.open(c)
	case c == '"':
		start := s.pos
		if err := s.str(nil); err != nil {
			return false, err
		}
		s.out = append(s.out, s.text[start:s.pos]...)
	case c == '-' || c >= '0' && c <= '9':
		return false, s.number()
	case s.word("true"), s.word("false"), s.word("null"):
	default:
		return false, s.unexpected("a value")
	}
	return false, nil
}

func (s *scanner) word(w string) bool {
	if !strings.HasPrefix(string(s.text[s.pos:min(len(s.text), s.pos+len(w))]), w) {
		return false
	}
	s.pos += len(w)
	s.out = append(s.out, w...)
	return true
}

func (s *scanner) open(c byte) (opened bool, err *ValueError) {
	if len(s.stack) >= s.room {
		return false, &ValueError{Code: ValueTooDeep, Path: pointer(s.steps()), Why: tooDeep}
	}
	s.pos++
	s.out = append(s.out, c)
	s.space()
	if s.peek() == c+2 { // ']' and '}' lie two behind their openers
		s.pos++
		s.out = append(s.out, c+2)
		return false, nil
	}
	s.stack = append(s.stack, level{object: c == '{'})
	if c == '{' {
		return true, s.key()
	}
	return true, nil
}

// closers reads what follows a complete value: a comma (more follows), or
// closing brackets up to a comma or the end of the text (done).
func (s *scanner) closers() (done bool, err *ValueError) {
	for {
		s.space()
		if len(s.stack) == 0 {
			if s.pos < len(s.text) {
				return false, s.unexpected("the end")
			}
			return true, nil
		}
		top := &s.stack[len(s.stack)-1]
		end, want := byte(']'), "a comma or ]"
		if top.object {
			end, want = '}', "a comma or }"
		}
		switch s.peek() {
		case end:
			s.pos++
			s.out = append(s.out, end)
			s.stack = s.stack[:len(s.stack)-1]
		case ',':
			s.pos++
			s.out = append(s.out, ',')
			top.index++
			if top.object {
				s.space()
				return false, s.key()
			}
			return false, nil
		default:
			return false, s.unexpected(want)
		}
	}
}

// key reads a member's name and the colon.
func (s *scanner) key() *ValueError {
	if s.peek() != '"' {
		return s.unexpected("a key in quotes")
	}
	top := &s.stack[len(s.stack)-1]
	start := s.pos
	var name string
	if err := s.str(&name); err != nil {
		return err
	}
	dup := top.add(name)
	if dup {
		return s.fail("the key occurs twice")
	}
	s.out = append(s.out, s.text[start:s.pos]...)
	s.space()
	if s.peek() != ':' {
		return s.unexpected("a colon")
	}
	s.pos++
	s.out = append(s.out, ':')
	return nil
}

// add notes a key and reports whether it was there. Small objects, which are
// nearly all, go without a map.
func (l *level) add(name string) (dup bool) {
	const small = 16
	if l.seen != nil {
		_, dup = l.seen[name]
	} else {
		dup = slices.Contains(l.keys, name)
	}
	l.keys = append(l.keys, name)
	if len(l.keys) == small {
		l.seen = make(map[string]struct{}, 2*small)
		for _, k := range l.keys {
			l.seen[k] = struct{}{}
		}
	}
	if l.seen != nil {
		l.seen[name] = struct{}{}
	}
	return dup
}

// str reads a string; name, if not nil, gets its value.
func (s *scanner) str(name *string) *ValueError {
	start := s.pos
	s.pos++
	ascii, escaped := true, false
	for {
		if s.pos >= len(s.text) {
			return s.fail("the text ends inside a string")
		}
		c := s.text[s.pos]
		switch {
		case c == '"':
			s.pos++
			lit := s.text[start:s.pos]
			if !ascii && !utf8.Valid(lit) {
				return s.fail("text is not valid UTF-8")
			}
			if name == nil {
				return nil
			}
			if !escaped {
				*name = string(lit[1 : len(lit)-1])
			} else if err := json.Unmarshal(lit, name); err != nil {
				return s.fail("%v", err)
			}
			return nil
		case c == '\\':
			escaped = true
			if err := s.escape(); err != nil {
				return err
			}
		case c < ' ':
			return s.fail("control character U+%04X at byte %d must be escaped", c, s.pos)
		default:
			ascii = ascii && c < utf8.RuneSelf
			s.pos++
		}
	}
}

func (s *scanner) escape() *ValueError {
	if s.pos+1 >= len(s.text) {
		return s.fail("the text ends inside a string")
	}
	switch s.text[s.pos+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.pos += 2
		return nil
	case 'u':
	default:
		return s.fail("unknown escape \\%c at byte %d", s.text[s.pos+1], s.pos)
	}
	u, ok := hex4(s.text, s.pos)
	if !ok {
		return s.fail("\\u at byte %d wants four hexadecimal digits", s.pos)
	}
	at := s.pos
	s.pos += 6
	if u < 0xD800 || u > 0xDFFF {
		return nil
	}
	low, ok := hex4(s.text, s.pos)
	if u > 0xDBFF || !ok || low < 0xDC00 || low > 0xDFFF {
		return s.fail("lone surrogate \\u%04x at byte %d, it stands for no character", u, at)
	}
	s.pos += 6
	return nil
}

// hex4 reads \uXXXX at pos.
func hex4(text []byte, pos int) (uint16, bool) {
	if pos+6 > len(text) || text[pos] != '\\' || text[pos+1] != 'u' {
		return 0, false
	}
	var u uint16
	for _, c := range text[pos+2 : pos+6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		u = u<<4 | uint16(c)
	}
	return u, true
}

func (s *scanner) digits() (n int) {
	for s.pos < len(s.text) && s.text[s.pos] >= '0' && s.text[s.pos] <= '9' {
		s.pos++
		n++
	}
	return n
}

// number reads a number and judges what readers make of it.
func (s *scanner) number() *ValueError {
	start := s.pos
	neg := s.peek() == '-'
	if neg {
		s.pos++
	}
	lead := s.peek()
	n := s.digits()
	if n == 0 {
		return s.unexpected("a digit")
	}
	if lead == '0' && n > 1 {
		return s.fail("number with a leading zero")
	}
	whole := true
	if s.peek() == '.' {
		whole = false
		s.pos++
		if s.digits() == 0 {
			return s.unexpected("a digit")
		}
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		whole = false
		s.pos++
		if c := s.peek(); c == '+' || c == '-' {
			s.pos++
		}
		if s.digits() == 0 {
			return s.unexpected("a digit")
		}
	}
	lit := string(s.text[start:s.pos])
	if err := s.judge(lit, whole, neg); err != nil {
		return err
	}
	s.out = append(s.out, lit...)
	return nil
}

func (s *scanner) judge(lit string, whole, neg bool) *ValueError {
	if whole {
		n, err := strconv.ParseInt(lit, 10, 64)
		switch {
		case err != nil || n > MaxInteger || n < -MaxInteger:
			return s.fail("integer %s is beyond ±(2^53-1), readers would round it", clip(lit))
		case n == 0 && neg:
			return s.fail("negative zero, readers would drop its sign")
		}
		return nil
	}
	f, err := strconv.ParseFloat(lit, 64)
	switch {
	case err != nil || math.IsInf(f, 0):
		return s.fail("number %s is too large for readers", clip(lit))
	case f == 0 && neg:
		return s.fail("negative zero, readers would drop its sign")
	case f == 0 && strings.ContainsAny(mantissa(lit), "123456789"):
		return s.fail("number %s is too small, readers would make it 0", clip(lit))
	}
	return nil
}

func mantissa(lit string) string {
	m, _, _ := strings.Cut(strings.ToLower(lit), "e")
	return m
}

func clip(lit string) string {
	if len(lit) > 40 {
		return lit[:40] + "…"
	}
	return lit
}

// appendQuoted writes a valid UTF-8 string as JSON.
func appendQuoted(dst []byte, s string) []byte {
	q, err := Marshal(s)
	if err != nil {
		panic("msg: " + err.Error()) // a string always encodes
	}
	return append(dst, q...)
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
