package search

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Pattern is what lines are searched for. It is safe for concurrent use.
type Pattern struct {
	re        *regexp.Regexp
	multiline bool
	need      []literal // each match holds one of these; none: nothing is known
	exact     bool      // and each of them is a match
	shape     *shape    // each match holds this too; nil: nothing is known, or no more than need tells
	cr        bool      // it tells the CR before a line's end apart
}

// PatternOptions say how a pattern is meant. The zero value takes upper and
// lower case apart and matches within lines.
type PatternOptions struct {
	FoldCase bool
	// Multiline lets a match go over line ends; a dot matches them too.
	Multiline bool
}

// ErrNewline says that a pattern holds a line break though it is matched line
// by line.
var ErrNewline = errors.New("the pattern holds a line break, but each line is searched by itself")

// Compile makes a pattern of a regular expression in the syntax of Go. Its
// error says what is wrong and, where that is known, what would work.
func Compile(expr string, opt PatternOptions) (*Pattern, error) {
	flags, prefix := syntax.Perl, ""
	if opt.FoldCase {
		flags, prefix = flags|syntax.FoldCase, "i"
	}
	if opt.Multiline {
		flags, prefix = flags&^syntax.OneLine|syntax.DotNL, prefix+"ms"
	}
	tree, err := syntax.Parse(expr, flags)
	if err != nil {
		return nil, explain(err)
	}
	if prefix != "" {
		expr = "(?" + prefix + ":" + expr + ")"
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, explain(err)
	}
	p := &Pattern{re: re, multiline: opt.Multiline, cr: holds(tree, '\r')}
	if !opt.Multiline && holds(tree, '\n') {
		return nil, ErrNewline
	}
	tree = tree.Simplify()
	p.need = required(tree)
	p.exact = !opt.Multiline && p.need != nil && tree.Op == syntax.OpLiteral && len(p.need) == 1 && len(p.need[0].text) == runesLen(tree.Rune)
	if s := shapeOf(tree); s != nil && !opt.Multiline && !(len(p.need) == 1 && s.n <= len(p.need[0].text)) {
		p.shape = s
	}
	return p, nil
}

func runesLen(rs []rune) int {
	n := 0
	for _, r := range rs {
		n += utf8.RuneLen(r)
	}
	return n
}

// explain adds what would work.
func explain(err error) error {
	var e *syntax.Error
	if !errors.As(err, &e) {
		return err
	}
	what := fmt.Sprintf("%s: `%s`", e.Code, e.Expr)
	switch {
	case e.Code == syntax.ErrInvalidPerlOp && strings.ContainsAny(e.Expr, "=!"),
		strings.HasPrefix(e.Expr, "(?<="), strings.HasPrefix(e.Expr, "(?<!"):
		return fmt.Errorf("%s: there is no look-around in these expressions; match more and look at the lines", what)
	case e.Code == syntax.ErrMissingParen, e.Code == syntax.ErrUnexpectedParen, e.Code == syntax.ErrMissingBracket,
		e.Code == syntax.ErrMissingRepeatArgument, e.Code == syntax.ErrInvalidRepeatOp:
		return fmt.Errorf(`%s: put a backslash before each of ( ) [ ] * + ? that is meant as a plain character`, what)
	}
	return errors.New(what)
}

// holds reports whether a character is named in the expression.
func holds(t *syntax.Regexp, r rune) bool {
	if t.Op == syntax.OpLiteral && slices.Contains(t.Rune, r) {
		return true
	}
	return slices.ContainsFunc(t.Sub, func(s *syntax.Regexp) bool { return holds(s, r) })
}

// maxNeed bounds how many literals are searched for at once.
const maxNeed = 16

// required returns literals of which every match holds at least one, or nil if
// the expression tells none.
func required(t *syntax.Regexp) []literal {
	switch t.Op {
	case syntax.OpLiteral:
		if l, ok := newLiteral(t.Rune, t.Flags&syntax.FoldCase != 0); ok {
			return []literal{l}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return required(t.Sub[0])
	case syntax.OpRepeat:
		if t.Min > 0 {
			return required(t.Sub[0])
		}
	case syntax.OpConcat:
		var best []literal
		for _, sub := range t.Sub {
			if c := required(sub); better(c, best) {
				best = c
			}
		}
		return best
	case syntax.OpAlternate:
		var all []literal
		for _, sub := range t.Sub {
			c := required(sub)
			if c == nil || len(all)+len(c) > maxNeed {
				return nil
			}
			all = append(all, c...)
		}
		return all
	}
	return nil
}

// better reports whether a narrows more down than b: by its shortest literal,
// then by how few there are.
func better(a, b []literal) bool {
	if a == nil || b == nil {
		return a != nil
	}
	if x, y := shortest(a), shortest(b); x != y {
		return x > y
	}
	return len(a) < len(b)
}

func shortest(ls []literal) int {
	n := len(ls[0].text)
	for _, l := range ls {
		n = min(n, len(l.text))
	}
	return n
}
