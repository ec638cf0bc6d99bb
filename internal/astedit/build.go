package astedit

import (
	"slices"
	"strings"

	"dsh-acp/internal/syntax"
)

// A builder makes goals of the nodes of an embedding.
type builder struct {
	*compiler
	*embedding
	used []int // holes that became goals or text
}

// left returns how many metavariables of the code are in no goal.
func (b *builder) left() int { return len(b.holes) - len(b.used) }

// goal returns what node i asks for, or nil for a node that is not the
// pattern's: of no text, or put there by the form of a metavariable.
func (b *builder) goal(i int) *goal {
	t := b.tree
	n := &t.Nodes[i]
	start, end := int(n.Start), int(n.End)
	if start >= b.end { // the closing ";" of the place
		return nil
	}
	for k, h := range b.holes {
		switch {
		case h.start <= start && end <= h.end && start <= h.name && h.name+len(h.word) <= end && start < end:
			// The topmost node of a metavariable is the metavariable.
			if b.isLiteral(h, i) {
				return b.leaf(i)
			}
			b.used = append(b.used, k)
			return &goal{meta: b.variable(h.v)}
		case h.start <= start && end <= h.end && start < end:
			return nil // around the name
		}
	}
	if strings.TrimSpace(t.Text(i)) == "" {
		return nil
	}
	if t.Child(i) < 0 {
		return b.leaf(i)
	}
	g := &goal{kind: n.Kind, named: n.Is(syntax.Named), children: []*goal{}}
	for c := t.Child(i); c >= 0; c = t.Next(c) {
		if child := b.goal(c); child != nil {
			g.children = append(g.children, child)
		}
	}
	g.children = b.separators(t.KindName(i), g.children)
	return g
}

// isLiteral reports whether the hole at node i is text of a string.
func (b *builder) isLiteral(h hole, i int) bool {
	if t := b.tree; t.IsComment(i) || !inString(t, t.Parent(i)) && !(h.quoted && inString(t, i)) {
		return false
	}
	return !(h.quoted && b.stencil.d.quoted)
}

// leaf returns the goal of a token, with the names of holes in it turned back
// into the text of the pattern.
func (b *builder) leaf(i int) *goal {
	n := &b.tree.Nodes[i]
	text := b.tree.Text(i)
	for k, h := range b.holes {
		if int(n.Start) <= h.start && h.end <= int(n.End) {
			b.used = append(b.used, k)
			form := b.tree.Source[h.start:h.end]
			text = strings.Replace(text, form, h.v.text(b.stencil.src), 1)
		}
	}
	if b.tree.IsComment(i) {
		b.out.comments = append(b.out.comments, text)
	}
	return &goal{kind: n.Kind, named: n.Is(syntax.Named), text: text}
}

func (b *builder) variable(v metavar) *variable {
	out := &variable{form: v.form, slot: -1}
	if v.name == "" {
		return out
	}
	out.slot = slices.Index(b.out.names, v.name)
	if out.slot < 0 {
		out.slot = len(b.out.names)
		b.out.names = append(b.out.names, v.name)
	}
	return out
}

// separators drops the tokens that need not be in the source: those beside a
// run, which may be empty, and the semicolons between Go's statements, which
// are mostly line breaks there.
func (b *builder) separators(parent string, list []*goal) []*goal {
	var out []*goal
	for i, g := range list {
		if g.isSeparator() {
			if i > 0 && list[i-1].isRun() {
				list[i-1].meta.sepAfter = true
				continue
			}
			if i+1 < len(list) && list[i+1].isRun() {
				continue
			}
			if b.lang == syntax.Go && g.text == ";" && !strings.HasSuffix(parent, "_clause") &&
				!strings.HasPrefix(parent, "if_") && !strings.Contains(parent, "switch") {
				continue
			}
		}
		out = append(out, g)
	}
	return out
}
