package astedit

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"dsh-acp/internal/syntax"
)

// Compile makes a pattern for one language. The code is tried in each place of
// the language where it can stand, and all meanings that fit are taken. It
// fails with an *[Error]: CodePattern for what parses nowhere, is more than one
// node, or is a metavariable alone; CodeUnsupported without a grammar.
func Compile(p syntax.Parser, lang syntax.Lang, pat string) (*Pattern, error) {
	src := strings.TrimSpace(strings.ReplaceAll(pat, "\r\n", "\n"))
	if src == "" {
		return nil, patternError(pat, "it is empty")
	}
	d := dialectOf(lang)
	if lang == syntax.Go && !strings.HasSuffix(src, "{;") {
		// Here a final semicolon is no part of the statement.
		src = strings.TrimRight(src, "; \t\n")
	}
	c := &compiler{parser: p, lang: lang, stencil: newStencil(src, d)}
	c.out = &Pattern{src: src, lang: lang}
	if err := c.check(); err != nil {
		return nil, err
	}
	for {
		if err := c.all(); err != nil {
			return nil, err
		}
		if len(c.out.shapes) > 0 {
			c.out.filter = newFilter(c.grammar, d, c.out.shapes)
			return c.out, nil
		}
		// "struct s { int x; };" is a node and a semicolon beside it.
		if shorter := strings.TrimRight(src, "; \t\n"); shorter != src && !c.alone {
			src = shorter
			c.stencil, c.out.src = newStencil(src, d), src
			continue
		}
		return nil, c.refusal()
	}
}

// all adds the shapes that the code has in the places where it fits: with the
// common forms of metavariables before rare ones, in common places before rare.
func (c *compiler) all() error {
	for _, last := range []bool{false, true} {
		for _, search := range []bool{false, true} {
			for _, at := range c.stencil.d.places {
				if at.last != last {
					continue
				}
				if err := c.try(at, search); err != nil {
					return err
				}
			}
			if len(c.out.shapes) > 0 {
				return nil
			}
		}
	}
	return nil
}

type compiler struct {
	parser  syntax.Parser
	lang    syntax.Lang
	stencil *stencil
	out     *Pattern
	grammar *syntax.Grammar

	alone  bool       // in some place the code is a metavariable and nothing else
	pieces int        // in some place, so many nodes
	worst  *embedding // the embedding with the fewest faults, if all have some
}

// check refuses what no place can mend.
func (c *compiler) check() error {
	src := c.stencil.src
	for _, v := range c.stencil.vars {
		if strings.Trim(src[:v.start]+src[v.end:], " \t\n;") == "" {
			return c.lone(v.text(src))
		}
	}
	forms := map[string]form{}
	for _, v := range c.stencil.vars {
		if v.name == "" {
			continue
		}
		if f, ok := forms[v.name]; ok && (f == run) != (v.form == run) {
			return patternError(src, "$%s and $$$%s are one name, for a node and for a run of nodes; give one of them another name", v.name, v.name)
		}
		forms[v.name] = v.form
	}
	return nil
}

func (c *compiler) lone(text string) error {
	return patternError(c.stencil.src, "a lone metavariable would match every node; put code around %s", text)
}

// try adds the shape that the code has in one place, if it has one there.
func (c *compiler) try(at place, search bool) error {
	e, err := c.stencil.best(c.parser, c.lang, at, search)
	if err != nil {
		return unsupported(err)
	}
	c.grammar = e.tree.Grammar
	if bad := e.badness(); bad > 0 {
		if c.worst == nil || bad < c.worst.badness() {
			c.worst = e
		}
		return nil
	}
	root := e.root()
	if root < 0 || e.tree.ListsOnly(root) && e.pieces() > 0 {
		c.pieces = max(c.pieces, e.pieces())
		return nil
	}
	b := builder{compiler: c, embedding: e}
	g := b.goal(root)
	switch {
	case g == nil:
		return nil
	case g.meta != nil:
		c.alone = true
		return nil
	case b.left() > 0:
		return nil // a metavariable that is no node, nor text: part of one
	}
	if at.only != "" && at.only != e.tree.KindName(root) {
		return nil
	}
	if !slices.ContainsFunc(c.out.shapes, g.equal) {
		c.out.shapes = append(c.out.shapes, g)
	}
	return nil
}

// unsupported makes an *Error of what a parser says.
func unsupported(err error) error {
	var limit *syntax.LimitError
	if errors.As(err, &limit) {
		return &Error{Code: CodePattern, Op: -1, Msg: err.Error()}
	}
	return &Error{Code: CodeUnsupported, Op: -1, Msg: err.Error()}
}

// refusal says why the code fits no place.
func (c *compiler) refusal() error {
	src := c.stencil.src
	switch {
	case c.alone:
		return c.lone(src)
	case c.pieces > 0:
		return patternError(src, "these are %d statements or nodes side by side, and a pattern is one node; "+
			"put them in a block with braces or indentation as they stand in the file, or use one op for each statement", c.pieces)
	case c.worst != nil:
		return patternError(src, "it does not parse as %s, whether as %s: %s", c.lang, c.places(), c.worst.complaint(src))
	}
	return patternError(src, "it is no whole node of %s, whether as %s; write all of an expression, a statement or a declaration", c.lang, c.places())
}

func (c *compiler) places() string {
	var names []string
	for _, p := range c.stencil.d.places {
		names = append(names, p.name)
	}
	return strings.Join(names, ", ")
}

// complaint describes the first fault of an embedding in words of the pattern.
func (e *embedding) complaint(src string) string {
	f := e.tree.Faults(1)[0]
	// Back from the embedding to the pattern: holes may be longer or shorter.
	at := f.Start - e.start
	for _, h := range e.holes {
		if h.end <= f.Start {
			at += h.v.end - h.v.start - (h.end - h.start)
		}
	}
	at = min(max(at, 0), len(src))
	if f.Missing != "" {
		return fmt.Sprintf("%q is missing after %q", f.Missing, tail(src[:at], 20))
	}
	if at == len(src) {
		return fmt.Sprintf("it ends too early, after %q", tail(src, 20))
	}
	return fmt.Sprintf("trouble near %q", head(src[at:], 20))
}

func head(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "..."
	}
	return s
}

func tail(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return "..." + string(r[len(r)-n:])
	}
	return s
}
