package hashline

import (
	"cmp"
	"slices"
	"strings"

	"dsh-acp/internal/text"
)

// A change is what a hunk, or a replaced string, does to the tagged text.
type change struct {
	first, last int // lines that go; last = first-1: the gap before first
	edge        edge
	rows        []string
	line        int // of the hunk in the ops
	kind        Kind

	// part replaces bytes inside of the lines from first to last instead of
	// whole lines, at offsets from the start of line first in the LF view.
	part *part
}

type part struct {
	start, end int
	new        string
	grows      int // line ends added, less those removed
}

// grows is by how many lines a change makes a text longer, as those below it
// see it.
func (c change) grows() int {
	if c.part != nil {
		return c.part.grows
	}
	return len(c.rows) - (c.last - c.first + 1)
}

// An edge tells text for the very start or end of a file from text that is put
// beside a line.
type edge int8

const (
	head   edge = -1
	middle edge = 0
	tail   edge = 1
)

// changesOf turns hunks, whose blocks are resolved, into changes of a text
// with n lines.
func changesOf(hunks []Hunk, n int) []change {
	out := make([]change, len(hunks))
	for i, h := range hunks {
		c := change{first: h.First, last: h.Last, rows: h.Rows, line: h.Line, kind: h.Kind}
		switch h.Kind {
		case InsertBefore:
			c.last = c.first - 1
		case InsertAfter:
			c.first = h.Last + 1
			c.last = h.Last
		case InsertHead:
			c.first, c.last, c.edge = 1, 0, head
		case InsertTail:
			c.first, c.last, c.edge = n+1, n, tail
		}
		out[i] = c
	}
	return out
}

// inOrder sorts changes by their place. Of texts for one gap, those after the
// line above come before those before the line below, and each in the order of
// writing.
func inOrder(changes []change) []change {
	out := slices.Clone(changes)
	side := func(c change) int {
		if c.kind == InsertBefore {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(out, func(a, b change) int {
		if a.part != nil && b.part != nil {
			return 0 // in the order of the text already
		}
		return cmp.Or(
			cmp.Compare(a.first, b.first),
			cmp.Compare(a.last, b.last), // a gap before the lines that begin there
			cmp.Compare(a.edge, b.edge),
			cmp.Compare(side(a), side(b)),
		)
	})
	return out
}

// edits returns the edits of d.LF() that make the changes, whose lines are
// those of d. Whether the last line has an end stays as it is, but for an
// empty text, which becomes whole lines.
func edits(d text.Doc, changes []change) []text.Edit {
	changes = inOrder(changes)
	n := d.Lines()
	start := func(line int) int { return d.LFOffset(d.LineStart(line)) }
	var out []text.Edit
	if n > 0 && !d.Shape().FinalNewline {
		var end *text.Edit
		changes, end = openEnd(changes, n, start)
		if end != nil {
			out = append(out, *end)
		}
	}
	for _, c := range changes {
		if c.part != nil {
			at := start(c.first)
			out = append(out, text.Edit{Start: at + c.part.start, End: at + c.part.end, New: c.part.new})
			continue
		}
		var b strings.Builder
		for _, row := range c.rows {
			b.WriteString(row)
			b.WriteByte('\n')
		}
		out = append(out, text.Edit{Start: start(c.first), End: start(c.last + 1), New: b.String()})
	}
	return out
}

// openEnd makes the changes that reach the end of a text whose last line has
// no end into one edit, and returns the others: the line end between the lines
// that stay and the new last ones is part of that edit.
func openEnd(changes []change, n int, start func(line int) int) ([]change, *text.Edit) {
	k := len(changes)
	first := n + 1
	for k > 0 && changes[k-1].part == nil && changes[k-1].last == first-1 {
		k--
		first = changes[k].first
	}
	if k == len(changes) {
		return changes, nil
	}
	var rows []string
	for _, c := range changes[k:] {
		rows = append(rows, c.rows...)
	}
	e := text.Edit{Start: start(first), End: start(n + 1), New: strings.Join(rows, "\n")}
	switch {
	case first == n+1 && len(rows) > 0:
		e.New = "\n" + e.New
	case len(rows) == 0 && first > 1 && first <= n:
		e.Start--
	}
	return changes[:k], &e
}
