package text

import (
	"fmt"
	"strings"
)

// A ConflictError says that two versions change the same lines of their base.
type ConflictError struct {
	From, To int // the first and last of these lines in the base, 1-based; From > To: between them
}

func (e *ConflictError) Error() string {
	switch {
	case e.From > e.To:
		return fmt.Sprintf("merge: both sides insert before line %d", e.From)
	case e.From == e.To:
		return fmt.Sprintf("merge: both sides change line %d", e.From)
	}
	return fmt.Sprintf("merge: both sides change lines %d to %d", e.From, e.To)
}

// Merge returns ours with the changes that theirs makes to base. Lines that
// theirs does not change keep their endings in ours, and ours keeps its mark;
// added lines get the ending of most lines of ours. A change that both sides
// make is made once.
//
// It fails with a *[ConflictError], and merges nothing, where changes of both
// sides touch. That is so as well when one of them could be told in another
// place (a line was added next to an equal one) and would touch there: it is
// better to refuse than to guess which was meant.
func Merge(base, ours, theirs Doc) (Doc, error) {
	mine := CompareLines(base.LF(), ours.LF())
	other := CompareLines(base.LF(), theirs.LF())
	inOther, inMine := shared(mine, other)
	var edits []Edit
	i, shift := 0, 0 // changes of mine that are above, and how far they move lines
	for j, c := range other.Changes {
		if inMine[j] {
			continue
		}
		low, high := other.slack(j)
		for ; i < len(mine.Changes); i++ {
			m := mine.Changes[i]
			start, end := mine.slack(i)
			if !inOther[i] && start <= high && low <= end {
				return Doc{}, &ConflictError{From: min(start, low), To: max(end, high) - 1}
			}
			if m.Old >= c.OldEnd {
				break
			}
			shift = m.NewEnd - m.OldEnd
		}
		edits = append(edits, Edit{
			Start: mine.NewOffset(c.Old + shift),
			End:   mine.NewOffset(c.OldEnd + shift),
			New:   other.NewText(c.New, c.NewEnd),
		})
	}
	return ours.ApplyLF(edits...)
}

// shared tells of each change of two differences of one text whether the
// other has it too.
func shared(a, b *LineDiff) (inB, inA []bool) {
	inB, inA = make([]bool, len(a.Changes)), make([]bool, len(b.Changes))
	for i, j := 0, 0; i < len(a.Changes) && j < len(b.Changes); {
		x, y := a.Changes[i], b.Changes[j]
		if x.Old == y.Old && x.OldEnd == y.OldEnd && a.NewText(x.New, x.NewEnd) == b.NewText(y.New, y.NewEnd) {
			inB[i], inA[j] = true, true
		}
		// Of two that start in one place, the insertion is first.
		if x.Old < y.Old || x.Old == y.Old && x.OldEnd <= y.OldEnd {
			i++
		} else {
			j++
		}
	}
	return inB, inA
}

// slack returns the lines of the old text, from low to before high, that
// change i may be said to touch: an insertion or removal can be shifted while
// the line that it gives up equals the one that it takes.
func (d *LineDiff) slack(i int) (low, high int) {
	c := d.Changes[i]
	if c.Old != c.OldEnd && c.New != c.NewEnd {
		return c.Old, c.OldEnd
	}
	// It can be shifted as far as the text that has the lines repeats them,
	// in steps of whole lines and not across another change.
	s, first, end := d.old, c.Old, c.OldEnd
	top, bottom := 1, d.OldLines()+1
	if i > 0 {
		top = d.Changes[i-1].OldEnd
	}
	if i+1 < len(d.Changes) {
		bottom = d.Changes[i+1].Old
	}
	if first == end {
		s, first, end = d.new, c.New, c.NewEnd
		top, bottom = top+c.New-c.Old, bottom+c.NewEnd-c.OldEnd
	}
	at := func(line int) int { return s.offset(line - d.prefix - 1) }
	above, below := s.text[at(top):at(first)], s.text[at(end):at(bottom)]
	k := len(above) - commonSuffix(above, s.text[at(top):at(end)])
	up := strings.Count(above[k:], "\n")
	if !lineStart(above, k) {
		up-- // of this line only a part is equal
	}
	n := commonPrefix(below, s.text[at(first):at(bottom)])
	down := strings.Count(below[:n], "\n")
	if n > 0 && n == len(below) && below[n-1] != '\n' {
		down++ // a last line without an end
	}
	return c.Old - up, c.OldEnd + down
}
