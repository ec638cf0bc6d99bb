package jsonedit

import (
	"strings"

	"github.com/tailscale/hujson"

	"dsh-acp/internal/text"
)

// A writer collects the edits of one change. Its methods see the document as
// it was parsed.
type writer struct {
	d     *Document
	edits []text.Edit
}

func (w *writer) edit(start, end int, s string) {
	w.edits = append(w.edits, text.Edit{Start: start, End: end, New: s})
}

// An entry is a new item; the key counts in objects only.
type entry struct {
	key   string
	value *hujson.Value
}

func (f form) entry(b *box, e entry, indent string, lines bool) string {
	v := f.value(e.value, indent, lines)
	if b.node.Value.Kind() == '{' {
		return quote(e.key) + f.colon + v
	}
	return v
}

// append adds entries at the end of a container. inLine says that an empty
// one is to be filled without a line break.
func (w *writer) append(b *box, inLine bool, entries []entry) {
	d := w.d
	if len(b.items) == 0 {
		w.fill(b, inLine, entries)
		return
	}
	f := d.formIn(b)
	at, lineComment := d.contentEnd(b)
	lines := d.several(b)
	lead := strings.TrimPrefix(f.comma, ",")
	var indent string
	if lines || lineComment {
		indent = d.siblingIndent(b)
		lead = d.eol + indent
	}
	var s strings.Builder
	last := &b.items[len(b.items)-1]
	if !b.trailing {
		if at == last.end {
			s.WriteByte(',')
		} else {
			// The comma goes to the value, a comment behind it stays.
			w.edit(last.end, last.end, ",")
		}
	}
	for i, e := range entries {
		s.WriteString(lead)
		s.WriteString(f.entry(b, e, indent, lines))
		if i < len(entries)-1 || b.trailing {
			s.WriteByte(',')
		}
	}
	w.edit(at, at, s.String())
}

// fill puts entries into an empty container.
func (w *writer) fill(b *box, inLine bool, entries []entry) {
	d := w.d
	f := d.formIn(nil)
	at, lineComment := d.contentEnd(b)
	commented := at > b.open+1
	inside := d.src[b.open+1 : b.close]
	lines := !inLine || lineComment || strings.Contains(inside, "\n")
	outer := d.indentAt(b.open)
	indent := outer + f.unit
	var s strings.Builder
	for i, e := range entries {
		switch {
		case lines && i > 0:
			s.WriteString("," + d.eol + indent)
		case lines:
			s.WriteString(d.eol + indent)
		case i > 0:
			s.WriteString(f.comma)
		case commented:
			s.WriteByte(' ')
		}
		s.WriteString(f.entry(b, e, indent, lines))
	}
	switch {
	case !commented:
		if lines {
			s.WriteString(d.eol + outer)
		}
		w.edit(b.open+1, b.close, s.String())
	case lines && !strings.Contains(d.src[at:b.close], "\n"):
		w.edit(at, b.close, s.String()+d.eol+outer)
	default:
		w.edit(at, at, s.String())
	}
}

// inLine reports whether an empty container is filled on its line: it stands
// in a container that is on one line, or the document has no line break
// inside of brackets. steps lead to the container.
func (d *Document) inLine(steps []step, b *box) bool {
	if len(b.items) > 0 || !d.style().breaks {
		return true
	}
	if len(steps) == 0 {
		return false
	}
	outer := boxOf(steps[len(steps)-1].node)
	return !d.several(&outer)
}

// insert puts values before item i of an array that has one.
func (w *writer) insert(b *box, i int, values []*hujson.Value) {
	d := w.d
	f := d.formIn(b)
	at := b.items[i].start
	lines := d.several(b) && d.leads(b, i)
	sep, indent := f.comma, ""
	if lines {
		indent = d.indentAt(at)
		sep = "," + d.eol + indent
	}
	var s strings.Builder
	for _, v := range values {
		s.WriteString(f.value(v, indent, lines))
		s.WriteString(sep)
	}
	w.edit(at, at, s.String())
}

// remove takes items out of a container; gone has one entry an item. Comments
// stay, except inside of the items. Lines that held nothing else go whole.
func (w *writer) remove(b *box, gone []bool) {
	d := w.d
	last := len(gone) - 1
	for last >= 0 && gone[last] {
		last--
	}
	if last < 0 && comments(d.between(b)) == 0 {
		w.edit(b.open+1, b.close, "")
		return
	}
	if last >= 0 && last < len(gone)-1 && !b.trailing {
		w.edit(b.items[last].comma, b.items[last].comma+1, "")
	}
	done := b.open + 1
	for i, it := range b.items {
		if !gone[i] {
			continue
		}
		s, e := it.start, it.end
		if it.comma >= 0 {
			if blank(d.src[it.end:it.comma]) {
				e = it.comma + 1
			} else {
				w.edit(it.comma, it.comma+1, "")
			}
		}
		s, e = d.widen(s, e, e > it.end && i < last)
		s = max(s, done)
		w.edit(s, e, "")
		done = e
	}
}

// between returns what stands around the items of a container.
func (d *Document) between(b *box) string {
	var s strings.Builder
	at := b.open + 1
	for _, it := range b.items {
		s.WriteString(d.src[at:it.start])
		at = it.end
	}
	s.WriteString(d.src[at:b.close])
	return s.String()
}

// widen takes to an item that goes what belongs to it alone: its line, or the
// blanks on one side: those behind it if more items follow after a comma that
// goes too, else those before.
func (d *Document) widen(s, e int, more bool) (int, int) {
	ls := d.lineStart(s)
	rest := strings.TrimLeft(d.src[e:], " \t")
	end := len(d.src) - len(rest) // where the blanks behind end
	led := blank(d.src[ls:s])
	atBreak := strings.HasPrefix(rest, "\n") || strings.HasPrefix(rest, "\r\n")
	switch {
	case led && atBreak:
		return ls, end + strings.IndexByte(rest, '\n') + 1
	case led:
		// What follows on the line takes the item's place.
		return s, end
	case atBreak || !more:
		return s - len(d.src[ls:s]) + len(strings.TrimRight(d.src[ls:s], " \t")), e
	}
	return s, end
}
