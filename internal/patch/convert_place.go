package patch

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"dsh-acp/internal/text"
)

// located finds a hunk in the file, from line cursor on where the format goes
// by order, and adds its change. It returns the line behind the hunk.
func (c *converter) located(path string, doc text.Doc, h hunk, cursor int) int {
	n := doc.Lines()
	old := h.old()
	from := cursor
	if h.start > 0 {
		from = 1 // the header says where, order does not
	}
	for _, a := range h.anchors {
		line := anchorLine(doc, a, from)
		if line == 0 {
			c.problem("%s: hunk %d: no line below line %d is %q", path, h.number, from, clip(a))
			return cursor
		}
		from = line + 1
	}
	if len(old) == 0 {
		return c.insertion(path, doc, h, from, cursor)
	}
	places := placesOf(doc, old, from)
	if h.atEnd {
		places = slices.DeleteFunc(places, func(p int) bool { return p+len(old) <= n })
	}
	start := 0
	switch {
	case len(places) == 0:
		why := ""
		if line, ok := closest(doc, strings.Join(old, "\n")); ok {
			why = fmt.Sprintf("; the closest is line %d: %s", line, clip(doc.Line(line)))
		}
		c.problem("%s: hunk %d: its lines are not in the file%s; read the file again", path, h.number, why)
		return cursor
	case h.start > 0 && slices.Contains(places, h.start):
		start = h.start
	case len(places) == 1 || len(h.anchors) > 0:
		start = places[0]
	default:
		c.problem("%s: hunk %d fits at line %d and at line %d; give more lines around it, or use replace_range", path, h.number, places[0], places[1])
		return cursor
	}
	c.atLine(path, doc, h, start)
	return start + len(old)
}

// atLine adds a hunk whose place is known.
func (c *converter) atLine(path string, doc text.Doc, h hunk, start int) {
	atEnd := start+len(h.old()) > doc.Lines()
	if h.newOpen && atEnd && doc.Shape().FinalNewline {
		c.openEnd(path, doc, h, start)
		return
	}
	c.replaceLines(path, h, start, lineOf(doc))
	if h.oldOpen && !h.newOpen && atEnd && doc.Lines() > 0 {
		c.ops = append(c.ops, AppendText{path, "\n"})
	}
}

// openEnd adds a hunk at the end of the file that takes the last line break
// away, which no range of lines can.
func (c *converter) openEnd(path string, doc text.Doc, h hunk, start int) {
	_, after, from := h.change(start, lineOf(doc))
	s := doc.Text()
	// The last lines, as many as there must be for the file to hold them once.
	line := from - sort.Search(from-1, func(up int) bool {
		last := s[doc.LineStart(from-up):]
		return last != "" && strings.Index(s, last) == len(s)-len(last)
	})
	above := s[doc.LineStart(line):doc.LineStart(from)]
	c.ops = append(c.ops, ReplaceText{Path: path, Expect: 1, Search: s[doc.LineStart(line):], Replace: above + text.WithEnding(strings.Join(after, "\n"), doc.Ending())})
}

// insertion adds lines that come without any line before or behind them.
func (c *converter) insertion(path string, doc text.Doc, h hunk, from, cursor int) int {
	at := doc.Lines() + 1 // behind the last line
	switch {
	case h.start > 0:
		at = min(h.start, at)
	case len(h.anchors) > 0 && !h.atEnd:
		at = from
	}
	c.atLine(path, doc, h, at)
	return max(cursor, at)
}

// lineOf returns the lines of a document, those that it has.
func lineOf(doc text.Doc) func(int) (string, bool) {
	return func(i int) (string, bool) {
		if i < 1 || i > doc.Lines() {
			return "", false
		}
		return doc.Line(i), true
	}
}

// unlocated adds a hunk of a file that could not be looked into.
func (c *converter) unlocated(path string, h hunk) {
	if h.oldOpen != h.newOpen {
		c.problem("%s: hunk %d changes the last line break, which the operations leave out", path, h.number)
	}
	old := h.old()
	if h.start > 0 && len(old) > 0 {
		c.replaceLines(path, h, h.start, func(i int) (string, bool) {
			if i < h.start || i >= h.start+len(old) {
				return "", false
			}
			return old[i-h.start], true
		})
		return
	}
	var now []string
	for _, l := range h.lines {
		if l.op != '-' {
			now = append(now, l.text)
		}
	}
	core, _ := h.core()
	switch {
	case len(core) == 0:
		c.problem("%s: hunk %d changes nothing", path, h.number)
	case h.start > 0:
		c.problem("%s: hunk %d shows no line of the file; use replace_range with the line above it", path, h.number)
	case strings.Join(old, "") == "" && len(old) > 0:
		c.problem("%s: hunk %d shows only empty lines of the file; give a line of text around them", path, h.number)
	case len(old) > 0 && len(now) == 0:
		c.ops = append(c.ops, ReplaceText{Path: path, Expect: 1, Search: strings.Join(old, "\n") + "\n"})
	case len(old) > 0:
		c.ops = append(c.ops, ReplaceText{Path: path, Expect: 1, Search: strings.Join(old, "\n"), Replace: strings.Join(now, "\n")})
	case len(h.anchors) > 0:
		a := h.anchors[len(h.anchors)-1]
		c.ops = append(c.ops, ReplaceText{Path: path, Expect: 1, Search: a, Replace: a + "\n" + strings.Join(now, "\n")})
	default:
		c.ops = append(c.ops, AppendText{path, strings.Join(now, "\n") + "\n"})
	}
}

// anchorLine returns the first line from on that is a, up to blanks around it,
// else the first that holds it, or 0.
func anchorLine(doc text.Doc, a string, from int) int {
	inside := 0
	for i, l := range doc.All() {
		switch {
		case i < from:
		case strings.TrimSpace(l) == strings.TrimSpace(a):
			return i
		case inside == 0 && strings.Contains(l, strings.TrimSpace(a)):
			inside = i
		}
	}
	return inside
}

// placesOf returns the lines from on at which old stands; only where it does
// nowhere, blanks at line ends and then around lines do not count.
func placesOf(doc text.Doc, old []string, from int) []int {
	for _, even := range []func(string) string{
		func(s string) string { return s },
		trimRight,
		strings.TrimSpace,
	} {
		var places []int
		for line := range matchingLines(doc, old, even) {
			if line >= from {
				places = append(places, line)
			}
		}
		if len(places) > 0 {
			return places
		}
	}
	return nil
}
