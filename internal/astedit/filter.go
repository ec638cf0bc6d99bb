package astedit

import (
	"slices"
	"strings"

	"dsh-acp/internal/syntax"
)

// A filter tells by text alone that a source cannot hold a match. It may be
// wrong the other way: what passes still has to be parsed.
type filter struct {
	shapes [][]chain // a source passes if it has all chains of one shape
	gap    *gap
}

// A chain is tokens that follow each other in every match, with nothing but
// space, comments, keywords and punctuation in between.
type chain []string

// A gap is what may stand between the tokens of a chain.
type gap struct {
	lines    []string
	blocks   [][2]string
	keywords map[string]bool
}

func newFilter(g *syntax.Grammar, d dialect, shapes []*goal) filter {
	f := filter{gap: &gap{lines: d.lines, blocks: d.blocks, keywords: map[string]bool{}}}
	for _, k := range g.Kinds {
		if k.Named {
			continue
		}
		for _, word := range strings.FieldsFunc(k.Name, func(r rune) bool { return r < 0x80 && !isWord(byte(r)) }) {
			f.gap.keywords[word] = true
		}
	}
	for _, s := range shapes {
		c := chains{grammar: g, anyCase: d.anyCase}
		c.add(s)
		c.cut()
		if !slices.ContainsFunc(f.shapes, func(other []chain) bool {
			return slices.EqualFunc(other, c.done, func(a, b chain) bool { return slices.Equal(a, b) })
		}) {
			f.shapes = append(f.shapes, c.done)
		}
	}
	return f
}

// chains collects the tokens of a goal.
type chains struct {
	grammar *syntax.Grammar
	anyCase bool
	done    []chain
	open    chain
}

func (c *chains) cut() {
	if len(c.open) > 0 {
		c.done = append(c.done, c.open)
	}
	c.open = nil
}

func (c *chains) add(g *goal) {
	switch {
	case g.meta != nil:
		c.cut()
	case g.children != nil:
		for _, child := range g.children {
			c.add(child)
		}
	case g.named:
		c.open = append(c.open, g.text)
	case !c.anyCase && c.grammar.Name(g.kind) == g.text:
		c.open = append(c.open, g.text)
	default:
		c.cut() // a token whose kind does not give its text away
	}
}

// MayMatch reports whether src could hold a match. False is certain; true asks
// for a parse.
func (p *Pattern) MayMatch(src string) bool {
	for _, shape := range p.filter.shapes {
		if p.filter.passes(src, shape) {
			return true
		}
	}
	return false
}

// Literals returns what must be in every source that the pattern matches: words,
// strings and punctuation, longest first.
func (p *Pattern) Literals() []string {
	count := map[string]int{}
	for _, shape := range p.filter.shapes {
		seen := map[string]bool{}
		for _, c := range shape {
			for _, token := range c {
				if !seen[token] {
					seen[token] = true
					count[token]++
				}
			}
		}
	}
	var out []string
	for token, n := range count {
		if n == len(p.filter.shapes) {
			out = append(out, token)
		}
	}
	slices.SortFunc(out, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	return out
}

func (f *filter) passes(src string, shape []chain) bool {
	// The long tokens are rare, and tell soonest.
	for _, c := range shape {
		for _, token := range c {
			if len(token) > 2 && !strings.Contains(src, token) {
				return false
			}
		}
	}
	for _, c := range shape {
		if !f.gap.finds(src, c) {
			return false
		}
	}
	return true
}

// finds reports whether src has the tokens of c one behind the other.
func (g *gap) finds(src string, c chain) bool {
	for at := 0; ; {
		i := strings.Index(src[at:], c[0])
		if i < 0 {
			return false
		}
		at += i
		if g.follows(src, at, c) {
			return true
		}
		at++
	}
}

// follows reports whether c begins at src[at:]. Taking each token where it
// comes first is enough: what lies between could be skipped as well.
func (g *gap) follows(src string, at int, c chain) bool {
	if !hasToken(src, at, c[0]) {
		return false
	}
	at += len(c[0])
	for _, token := range c[1:] {
		for !hasToken(src, at, token) {
			n := g.step(src, at)
			if n == 0 {
				return false
			}
			at += n
		}
		at += len(token)
	}
	return true
}

// hasToken reports whether token is at src[at:], and is no part of a longer
// word there.
func hasToken(src string, at int, token string) bool {
	if !strings.HasPrefix(src[at:], token) {
		return false
	}
	end := at + len(token)
	return !isWord(token[len(token)-1]) || end == len(src) || !isWord(src[end])
}

// step returns the length of what may be skipped at src[at:], 0 for nothing.
func (g *gap) step(src string, at int) int {
	if at >= len(src) {
		return 0
	}
	for _, begin := range g.lines {
		if strings.HasPrefix(src[at:], begin) && !strings.HasPrefix(src[at:], "#[") {
			n := strings.IndexByte(src[at:], '\n')
			if n < 0 {
				n = len(src) - at
			}
			return max(n, 1)
		}
	}
	for _, b := range g.blocks {
		if strings.HasPrefix(src[at:], b[0]) {
			n := strings.Index(src[at+len(b[0]):], b[1])
			if n < 0 {
				return len(src) - at
			}
			return len(b[0]) + n + len(b[1])
		}
	}
	if !isWord(src[at]) {
		return 1
	}
	end := at
	for end < len(src) && isWord(src[end]) {
		end++
	}
	if g.keywords[src[at:end]] {
		return end - at
	}
	return 0
}
