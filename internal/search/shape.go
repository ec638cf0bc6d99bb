package search

import (
	"regexp/syntax"
	"unicode"
	"unicode/utf8"
)

// A shape is a run of bytes of certain kinds that every match of an
// expression holds: three digits, a hyphen and four digits. Looking for it
// costs about a nanosecond a byte, a fiftieth of what an expression costs.
type shape struct {
	kinds [256]uint8 // bit j: the byte may be the j-th of the run
	n     int        // how many bytes the run has, from 1 to 8
}

// maxShape is how many bits kinds has.
const maxShape = 8

// shapeOf returns the longest run that an expression tells, nil if it tells
// none. The expression must be simplified.
func shapeOf(t *syntax.Regexp) *shape {
	best := runOf(t).best
	if len(best) == 0 {
		return nil
	}
	s := &shape{n: min(len(best), maxShape)}
	for j, kind := range best[:s.n] {
		for c := range kind {
			if kind[c] {
				s.kinds[c] |= 1 << j
			}
		}
	}
	return s
}

// find returns where the first run begins at or after from, or -1.
func (s *shape) find(b []byte, from int) int {
	last := s.n - 1
next:
	for i := from; i+last < len(b); {
		if s.kinds[b[i+last]] == 0 { // no run has this byte, so none lies over it
			i += s.n
			continue
		}
		for j := last; j >= 0; j-- {
			if s.kinds[b[i+j]]>>j&1 == 0 {
				i++
				continue next
			}
		}
		return i
	}
	return -1
}

// A kind is a set of bytes, all of ASCII.
type kind [utf8.RuneSelf]bool

// A run tells of runs of single bytes in what an expression matches: with
// which it begins and ends, and the longest that it holds. exact says that
// there is nothing else in it.
type run struct {
	head, tail, best []kind
	exact            bool
}

func exactly(ks ...kind) run { return run{head: ks, tail: ks, best: ks, exact: true} }

func runOf(t *syntax.Regexp) run {
	switch t.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return exactly()
	case syntax.OpLiteral:
		out := exactly()
		for _, r := range t.Rune {
			one := run{}
			if k, ok := runeKind(r, t.Flags&syntax.FoldCase != 0); ok {
				one = exactly(k)
			}
			out = out.then(one)
		}
		return out
	case syntax.OpCharClass:
		var k kind
		for i := 0; i < len(t.Rune); i += 2 {
			if t.Rune[i+1] >= utf8.RuneSelf {
				return run{}
			}
			for r := t.Rune[i]; r <= t.Rune[i+1]; r++ {
				k[r] = true
			}
		}
		return exactly(k)
	case syntax.OpCapture:
		return runOf(t.Sub[0])
	case syntax.OpPlus:
		out := runOf(t.Sub[0])
		out.exact = false
		return out
	case syntax.OpConcat:
		out := exactly()
		for _, sub := range t.Sub {
			out = out.then(runOf(sub))
		}
		return out
	}
	return run{}
}

// then is what follows of two expressions one behind the other.
func (a run) then(b run) run {
	out := run{head: a.head, tail: b.tail, best: a.best, exact: a.exact && b.exact}
	if a.exact {
		out.head = joined(a.head, b.head)
	}
	if b.exact {
		out.tail = joined(a.tail, b.tail)
	}
	for _, other := range [][]kind{b.best, joined(a.tail, b.head)} {
		if len(other) > len(out.best) {
			out.best = other
		}
	}
	return out.cut()
}

// cut shortens runs to what is looked for, so that long expressions cost no
// more. What is cut is not all of a match any more.
func (a run) cut() run {
	if len(a.head) > maxShape {
		a.head, a.exact = a.head[:maxShape], false
	}
	if n := len(a.tail); n > maxShape {
		a.tail = a.tail[n-maxShape:]
	}
	a.best = a.best[:min(len(a.best), maxShape)]
	return a
}

func joined(a, b []kind) []kind { return append(a[:len(a):len(a)], b...) }

// runeKind is the set of bytes that a character is found by, with all of its
// cases if fold is set. It fails for what is more than a byte in some case.
func runeKind(r rune, fold bool) (k kind, ok bool) {
	if r >= utf8.RuneSelf {
		return k, false
	}
	k[r] = true
	if !fold {
		return k, true
	}
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		if other >= utf8.RuneSelf {
			return k, false
		}
		k[other] = true
	}
	return k, true
}
