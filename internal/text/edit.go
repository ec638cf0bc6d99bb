package text

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// An Edit replaces the bytes from Start to before End by New. Offsets are
// those of [Doc.Text] for [Doc.Apply], and of [Doc.LF] for [Doc.ApplyLF].
type Edit struct {
	Start, End int
	New        string
}

// Apply returns the document with all edits made, or an error and none made.
// The edits may come in any order, and all offsets are of d: they must lie in
// the text, on the boundary of a character, outside of a "\r\n", and apart
// from each other. Insertions at the same place are made in the order given.
// New must be text and is taken as it is; a mark that it puts first in a file
// without one becomes the file's.
func (d Doc) Apply(edits ...Edit) (Doc, error) {
	s := d.Text()
	sorted, err := plan(s, edits)
	if err != nil {
		return Doc{}, err
	}
	for _, e := range sorted {
		if insidePair(s, e.Start) || insidePair(s, e.End) {
			return Doc{}, fmt.Errorf("edit of bytes %d to %d: splits a CRLF line end", e.Start, e.End)
		}
	}
	return d.build(sorted), nil
}

// ApplyLF is [Doc.Apply] for edits of [Doc.LF]. All bytes outside of the edits
// stay. Of the lines inside, those that New keeps retain their own endings, as
// do lines that are replaced one by one; line ends that New adds get the
// ending of most lines of d.
func (d Doc) ApplyLF(edits ...Edit) (Doc, error) {
	raw, err := d.RawEdits(edits...)
	if err != nil {
		return Doc{}, err
	}
	return d.build(raw), nil
}

// RawEdits returns the edits of [Doc.Text] that do what edits do to [Doc.LF],
// sorted; see [Doc.ApplyLF]. It fails as [Doc.Apply] does.
func (d Doc) RawEdits(edits ...Edit) ([]Edit, error) {
	lf := d.LF()
	sorted, err := plan(lf, edits)
	if err != nil {
		return nil, err
	}
	shape := d.Shape()
	for i, e := range sorted {
		r := Edit{d.RawOffset(e.Start), d.RawOffset(e.End), Fold(e.New)}
		if shape.Mixed() {
			r.New = keepEndings(d.Text()[r.Start:r.End], r.New, shape.Ending())
		} else {
			r.New = WithEnding(r.New, shape.Ending())
		}
		sorted[i] = r
	}
	return sorted, nil
}

// plan checks edits of s and returns them sorted, in a new slice.
func plan(s string, edits []Edit) ([]Edit, error) {
	for _, e := range edits {
		switch {
		case e.Start < 0 || e.End < e.Start || e.End > len(s):
			return nil, fmt.Errorf("edit of bytes %d to %d: outside of the text, which has %d", e.Start, e.End, len(s))
		case insideRune(s, e.Start) || insideRune(s, e.End):
			return nil, fmt.Errorf("edit of bytes %d to %d: splits a character", e.Start, e.End)
		}
		if err := check(e.New); err != nil {
			return nil, fmt.Errorf("edit of bytes %d to %d: new text: %w", e.Start, e.End, err)
		}
	}
	sorted := slices.Clone(edits)
	slices.SortStableFunc(sorted, func(a, b Edit) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End))
	})
	for i := 1; i < len(sorted); i++ {
		if a, b := sorted[i-1], sorted[i]; b.Start < a.End {
			return nil, fmt.Errorf("edits of bytes %d to %d and %d to %d: overlap", a.Start, a.End, b.Start, b.End)
		}
	}
	return sorted, nil
}

// build makes edits of Text that are sorted and valid.
func (d Doc) build(edits []Edit) Doc {
	if len(edits) == 0 {
		return d
	}
	s := d.Text()
	size := len(d.raw)
	for _, e := range edits {
		size += len(e.New) - (e.End - e.Start)
	}
	var b strings.Builder
	b.Grow(size)
	b.WriteString(d.raw[:len(d.raw)-len(s)])
	at := 0
	for _, e := range edits {
		b.WriteString(s[at:e.Start])
		b.WriteString(e.New)
		at = e.End
	}
	b.WriteString(s[at:])
	return known(b.String())
}

func insidePair(s string, i int) bool {
	return i > 0 && i < len(s) && s[i-1] == '\r' && s[i] == '\n'
}

func insideRune(s string, i int) bool { return i < len(s) && !utf8.RuneStart(s[i]) }

// keepEndings returns text, which has LFs alone, with the endings that fit in
// the place of old, a part of a document with mixed endings.
func keepEndings(old, text string, most Ending) string {
	if !strings.Contains(text, "\n") {
		return text
	}
	var endings []Ending // of the lines of old
	for rest := old; rest != ""; {
		var e Ending
		_, e, rest = cutLine(rest)
		endings = append(endings, e)
	}
	var b strings.Builder
	b.Grow(len(text) + strings.Count(text, "\n"))
	// put writes s, whose n-th line gets the ending that of(n) has.
	put := func(s string, of func(n int) Ending) {
		for n := 0; s != ""; n++ {
			line, rest, ended := strings.Cut(s, "\n")
			b.WriteString(line)
			if ended {
				if e := of(n); e != NoEnding {
					b.WriteString(e.Chars())
				} else {
					b.WriteString(most.Chars())
				}
			}
			s = rest
		}
	}
	d := CompareLines(Fold(old), text)
	at := 1 // the line of old that comes next
	keep := func(to int) {
		first := at - 1
		put(d.OldText(at, to), func(n int) Ending { return endings[first+n] })
		at = to
	}
	for _, c := range d.Changes {
		keep(c.Old)
		gone := endings[c.Old-1 : c.OldEnd-1]
		come := c.NewEnd - c.New
		put(d.NewText(c.New, c.NewEnd), func(n int) Ending {
			switch {
			case len(gone) == come:
				return gone[n]
			case n == come-1 && len(gone) > 0:
				// The end of what was replaced is still an end.
				return gone[len(gone)-1]
			}
			return most
		})
		at = c.OldEnd
	}
	keep(len(endings) + 1)
	return b.String()
}
