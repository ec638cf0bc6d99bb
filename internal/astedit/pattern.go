package astedit

import (
	"slices"

	"dsh-acp/internal/syntax"
)

// A Pattern is code of one language with metavariables in it. It may stand for
// several shapes, one for each place of the language in which the code has
// another meaning. It never changes and is safe for concurrent use.
type Pattern struct {
	src    string
	lang   syntax.Lang
	names  []string // of the slots
	shapes []*goal
	filter filter
	// comments are those that the pattern has itself: a rewrite may drop them.
	comments []string
}

// Source returns the pattern as it was written, without space around it.
func (p *Pattern) Source() string { return p.src }

// Lang returns the language that the pattern was compiled for.
func (p *Pattern) Lang() syntax.Lang { return p.lang }

// Names returns the metavariables that the pattern binds, in order of their
// first use, without dollars.
func (p *Pattern) Names() []string { return slices.Clone(p.names) }

// Kinds returns the names of the kinds of node that the pattern can match.
func (p *Pattern) Kinds(g *syntax.Grammar) []string {
	var out []string
	for _, s := range p.shapes {
		out = append(out, g.Name(s.kind))
	}
	return out
}

// A goal is what one node of the source must be. With meta set it is a
// metavariable, and nothing else of it counts.
type goal struct {
	kind     uint16
	named    bool
	text     string  // of a leaf
	children []*goal // nil for a leaf
	meta     *variable
}

// A variable is a metavariable in its place in a pattern.
type variable struct {
	form form
	slot int // in Pattern.names; -1 if it binds nothing
	// sepAfter is set where the pattern has a separator behind a run: one that
	// ends the run belongs to the pattern, and is not captured.
	sepAfter bool
}

// equal reports whether two goals match the same nodes.
func (g *goal) equal(h *goal) bool {
	if (g.meta == nil) != (h.meta == nil) {
		return false
	}
	if g.meta != nil {
		return *g.meta == *h.meta
	}
	return g.kind == h.kind && g.text == h.text && slices.EqualFunc(g.children, h.children, (*goal).equal)
}

// isSeparator reports whether g is a token that parts the members of a list.
func (g *goal) isSeparator() bool {
	return g.meta == nil && !g.named && (g.text == "," || g.text == ";")
}
