package astedit

import (
	"slices"
	"strconv"
	"strings"

	"dsh-acp/internal/syntax"
)

// A hole is where a metavariable went in an embedding.
type hole struct {
	v          metavar
	start, end int // the form, with what it has around the name
	name       int // where the name starts
	word       string
	quoted     bool // the metavariable is the whole inside of a string of the pattern
}

// An embedding is code with its metavariables replaced, in a place, parsed.
type embedding struct {
	tree       *syntax.Tree
	holes      []hole
	start, end int // of the code
	closes     bool
}

// A stencil is code with metavariables that is to be embedded.
type stencil struct {
	src  string
	vars []metavar
	d    dialect
	stem string // what the names of holes begin with
}

func newStencil(src string, d dialect) *stencil {
	stem := "dshv"
	for strings.Contains(strings.ToLower(src), stem) {
		stem += "v"
	}
	return &stencil{src: src, vars: metavars(src), d: d, stem: stem}
}

// forms returns the forms that variable i may take.
func (s *stencil) forms(i int) []string {
	if s.vars[i].form == run {
		return s.d.runs
	}
	return s.d.ones
}

// first returns the number of the first variable of the same name. Both get the
// same word, for a closing tag must be named as its opening one is.
func (s *stencil) first(i int) int {
	if name := s.vars[i].name; name != "" {
		return slices.IndexFunc(s.vars, func(v metavar) bool { return v.name == name })
	}
	return i
}

// embed puts the code in a place, with form choice[i] for variable i, and
// parses it.
func (s *stencil) embed(p syntax.Parser, lang syntax.Lang, at place, choice []int) (*embedding, error) {
	var b strings.Builder
	e := &embedding{closes: at.closes}
	b.WriteString(at.before)
	e.start = b.Len()
	done := 0
	for i, v := range s.vars {
		b.WriteString(s.src[done:v.start])
		h := hole{v: v, start: b.Len(), word: s.stem + strconv.Itoa(s.first(i)) + "q"}
		form := s.forms(i)[choice[i]]
		if isQuote(s.src, v.start-1) && isQuote(s.src, v.end) && s.src[v.start-1] == s.src[v.end] {
			h.quoted, form = true, "%s"
		}
		head, tail, _ := strings.Cut(form, "%s")
		if strings.HasSuffix(head, "D") { // a capital is part of the name
			h.word, head = "D"+h.word, strings.TrimSuffix(head, "D")
		}
		b.WriteString(head)
		h.name = b.Len()
		b.WriteString(h.word + tail)
		h.end = b.Len()
		e.holes = append(e.holes, h)
		done = v.end
	}
	b.WriteString(s.src[done:])
	e.end = b.Len()
	b.WriteString(at.after)
	tree, err := p.Parse(lang, b.String())
	if err != nil {
		return nil, err
	}
	e.tree = tree
	return e, nil
}

func isQuote(s string, i int) bool {
	return i >= 0 && i < len(s) && (s[i] == '"' || s[i] == '\'' || s[i] == '`')
}

// badness is 0 for an embedding that parses, and grows with what does not.
func (e *embedding) badness() int {
	bad := 0
	for _, f := range e.tree.Faults(0) {
		bad += 2 + f.End - f.Start
	}
	return bad
}

// best embeds the code in a place with the forms that parse best. With search
// unset only the most common forms are tried.
func (s *stencil) best(p syntax.Parser, lang syntax.Lang, at place, search bool) (*embedding, error) {
	choice := make([]int, len(s.vars))
	e, err := s.embed(p, lang, at, choice)
	if err != nil || !search {
		return e, err
	}
	// One variable after the other takes the form that leaves the fewest
	// faults, until a round brings nothing. All at once would be exponential.
	for bad := e.badness(); bad > 0; {
		before := bad
		for i := range s.vars {
			for f := range s.forms(i) {
				was := choice[i]
				choice[i] = f
				next, err := s.embed(p, lang, at, choice)
				if err != nil {
					return nil, err
				}
				if b := next.badness(); b < bad {
					e, bad = next, b
				} else {
					choice[i] = was
				}
			}
		}
		if bad == before {
			break
		}
	}
	return e, nil
}

// root returns the node that is the code, or -1: the deepest named one that
// begins and ends with it.
func (e *embedding) root() int {
	t := e.tree
	i := t.Smallest(e.start, e.end)
	n := t.Nodes[i]
	if i == 0 || int(n.Start) != e.start {
		return -1
	}
	// A node may go on to the end of the line, and to the place's semicolon.
	if rest := strings.TrimSpace(t.Source[e.end:n.End]); rest != "" && !(e.closes && rest == ";") {
		return -1
	}
	for !t.Nodes[i].Is(syntax.Named) && i > 0 {
		i = t.Parent(i)
		if up := t.Nodes[i]; up.Start != n.Start || up.End != n.End {
			return -1
		}
	}
	return i
}

// pieces returns the number of named nodes, side by side, that the code is made
// of, if it is no single one; else 0.
func (e *embedding) pieces() int {
	t := e.tree
	count := 0
	for c := t.Child(t.Smallest(e.start, e.end)); c >= 0; c = t.Next(c) {
		n := t.Nodes[c]
		if n.Is(syntax.Named) && int(n.Start) >= e.start && int(n.Start) < e.end {
			count++
		}
	}
	if count < 2 {
		return 0
	}
	return count
}

// inString reports whether node i lies in a string, and not in code that the
// string has in it.
func inString(t *syntax.Tree, i int) bool {
	for ; i > 0; i = t.Parent(i) {
		switch stringPart(t.KindName(i), t.Nodes[i].Is(syntax.Named)) {
		case isText:
			return true
		case isCode:
			return false
		}
	}
	return false
}

type part int

const (
	neither part = iota
	isText       // a string, or text in one
	isCode       // code in a string
)

// stringPart tells strings from what they have in them, by the names that the
// grammars give.
func stringPart(kind string, named bool) part {
	if !named || kind == "concatenated_string" {
		return neither
	}
	for _, s := range []string{"interpolation", "substitution", "expansion", "format_expression"} {
		if strings.Contains(kind, s) {
			return isCode
		}
	}
	for _, s := range []string{"string", "heredoc", "nowdoc", "char_literal", "character_literal", "raw_text"} {
		if strings.Contains(kind, s) {
			return isText
		}
	}
	return neither
}
