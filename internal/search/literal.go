package search

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// A literal is a text that is searched for as it is, or in either case.
type literal struct {
	text []byte // in lower case if fold
	fold bool
	// For fold: where in text the byte is that candidates are found by, and
	// its two cases, which are the same for what is no letter.
	at           int
	lower, upper byte
}

// newLiteral makes a literal of characters, or, of those that are to be found
// in either case, of the longest stretch in which that can be done by bytes.
// It fails if there is none.
//
// U+FFFD is left out: the regexp package takes bytes that are no UTF-8 for it.
// So are, in either case, all but ASCII, and k and s: U+212A and U+017F count
// as them.
func newLiteral(rs []rune, fold bool) (literal, bool) {
	var best, cur strings.Builder
	keep := func() {
		if cur.Len() > best.Len() {
			best.Reset()
			best.WriteString(cur.String())
		}
		cur.Reset()
	}
	for _, r := range rs {
		low := r
		if 'A' <= r && r <= 'Z' {
			low = r + 'a' - 'A'
		}
		switch {
		case r == utf8.RuneError, fold && (r >= utf8.RuneSelf || low == 'k' || low == 's'):
			keep()
		case fold:
			cur.WriteRune(low)
		default:
			cur.WriteRune(r)
		}
	}
	keep()
	if best.Len() == 0 {
		return literal{}, false
	}
	l := literal{text: []byte(best.String()), fold: fold}
	if fold {
		for i := range len(l.text) {
			if rarity(l.text[i]) > rarity(l.text[l.at]) {
				l.at = i
			}
		}
		l.lower = l.text[l.at]
		l.upper = l.lower
		if 'a' <= l.lower && l.lower <= 'z' {
			l.upper -= 'a' - 'A'
		}
	}
	return l, true
}

// common are bytes in the order of how common they are in text and code.
const common = " etaoinrscldufmphg.(),_vyw\"=:xb-;/"

// rarity is higher for bytes that are met less.
func rarity(c byte) int {
	if i := strings.IndexByte(common, c); i >= 0 {
		return i
	}
	return len(common)
}

// A finder looks for the first of some literals, forwards through one buffer.
// It remembers what lies ahead, so that no byte is looked at twice for one of
// them however far apart the hits of another are.
type finder struct {
	need []literal
	buf  []byte
	next []int // of each literal; -1: none ahead
	// For literals in either case: where the two cases of their byte are next.
	low, up []int
}

func (f *finder) use(need []literal) {
	f.need = need
	f.next = make([]int, len(need))
	f.low = make([]int, len(need))
	f.up = make([]int, len(need))
}

// reset begins with another buffer.
func (f *finder) reset(buf []byte) {
	f.buf = buf
	for i := range f.next {
		f.next[i], f.low[i], f.up[i] = -2, -2, -2
	}
}

// find returns where the first literal begins at or after from, or -1. from
// never goes back.
func (f *finder) find(from int) int {
	best := -1
	for i := range f.need {
		at := f.next[i]
		if at != -1 && at < from {
			at = f.search(i, from)
			f.next[i] = at
		}
		if at >= 0 && (best < 0 || at < best) {
			best = at
		}
	}
	return best
}

func (f *finder) search(i, from int) int {
	l := &f.need[i]
	if !l.fold {
		return ahead(bytes.Index(f.buf[from:], l.text), from)
	}
	for from < len(f.buf) {
		low := f.candidate(&f.low[i], l.lower, from+l.at)
		up := low
		if l.upper != l.lower {
			up = f.candidate(&f.up[i], l.upper, from+l.at)
		}
		at := low
		if at < 0 || up >= 0 && up < at {
			at = up
		}
		if at < 0 {
			return -1
		}
		if l.here(f.buf, at-l.at) {
			return at - l.at
		}
		from = at - l.at + 1
	}
	return -1
}

// candidate advances a remembered place of a byte to at least from.
func (f *finder) candidate(known *int, c byte, from int) int {
	if *known != -1 && *known < from {
		if from >= len(f.buf) {
			*known = -1
		} else {
			*known = ahead(bytes.IndexByte(f.buf[from:], c), from)
		}
	}
	return *known
}

func ahead(i, from int) int {
	if i < 0 {
		return -1
	}
	return from + i
}

// here compares the literal in either case with what is at a place.
func (l *literal) here(buf []byte, at int) bool {
	if at < 0 || at+len(l.text) > len(buf) {
		return false
	}
	for i := range len(l.text) {
		c := buf[at+i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != l.text[i] {
			return false
		}
	}
	return true
}
