package text

import (
	"math"
	"sort"
)

// MaxDistance is the number of removed and added lines up to which
// [CompareLines] finds the shortest list of changes.
const MaxDistance = 6000

// A LineChange replaces the lines from Old to before OldEnd of one text by
// those from New to before NewEnd of the other. Lines are numbered from 1; one
// of the ranges may be empty.
type LineChange struct{ Old, OldEnd, New, NewEnd int }

// A LineDiff is the difference of two texts. It finds lines only as they are
// asked for, so that it is not safe for concurrent use.
type LineDiff struct {
	// Changes are in order, apart from each other by at least one line, and
	// never empty on both sides. Equal texts have none.
	Changes []LineChange
	// Coarse says that the texts are further apart than MaxDistance, so that
	// Changes is one change of all between the common first and last lines.
	Coarse bool

	old, new *side
	prefix   int // lines before the first one that differs
}

// CompareLines finds what changed from before to after. Lines end with "\n"
// alone, and a last one without it differs from the same with it: documents
// are compared by their [Doc.LF]. Where several lists of changes are equally
// short, it is the one that version 9 of the npm package diff gives.
func CompareLines(before, after string) *LineDiff {
	if before == after {
		n := countLines(before)
		return &LineDiff{
			old:    newSide(before, len(before), 0, 0, nil),
			new:    newSide(after, len(after), 0, 0, nil),
			prefix: n,
		}
	}
	if uint64(max(len(before), len(after))) > math.MaxUint32 {
		// Beyond the offsets of a side: all is one change.
		d := &LineDiff{
			old:    newSide(before, 0, 0, countLines(before), nil),
			new:    newSide(after, 0, 0, countLines(after), nil),
			Coarse: true,
		}
		d.Changes = []LineChange{{1, d.old.lines + 1, 1, d.new.lines + 1}}
		return d
	}
	prefix, suffix := common(before, after)
	tail := countLines(before[len(before)-suffix:])
	oldMid := countLines(before[prefix : len(before)-suffix])
	newMid := countLines(after[prefix : len(after)-suffix])
	names := newNames()
	d := &LineDiff{
		old:    newSide(before, prefix, oldMid, oldMid+tail, names),
		new:    newSide(after, prefix, newMid, newMid+tail, names),
		prefix: countLines(before[:prefix]),
	}
	names.old, names.new = d.old, d.new
	if d.old.lines == 0 || d.new.lines == 0 {
		d.Changes = []LineChange{{0, d.old.lines, 0, d.new.lines}}
	} else if s, ok := search(d.old, d.new); ok {
		d.Changes = s.walk(d.old, d.new)
	} else {
		d.Changes = []LineChange{{0, oldMid, 0, newMid}}
		d.Coarse = true
	}
	for i := range d.Changes {
		c, n := &d.Changes[i], d.prefix+1
		c.Old, c.OldEnd, c.New, c.NewEnd = c.Old+n, c.OldEnd+n, c.New+n, c.NewEnd+n
	}
	return d
}

// OldLines returns the number of lines of the text before.
func (d *LineDiff) OldLines() int { return d.prefix + d.old.lines }

// NewLines returns the number of lines of the text after.
func (d *LineDiff) NewLines() int { return d.prefix + d.new.lines }

// OldText returns lines i to before j of the text before, with their ends. The
// cost grows with their distance from the first change.
func (d *LineDiff) OldText(i, j int) string { return d.old.slice(i-d.prefix-1, j-d.prefix-1) }

// NewText returns lines i to before j of the text after, with their ends.
func (d *LineDiff) NewText(i, j int) string { return d.new.slice(i-d.prefix-1, j-d.prefix-1) }

// NewLine returns the number that line i of the text before has in the text
// after, and whether it is unchanged. A line that was changed or removed has
// that of the first line in its place. The line after the last counts as a
// line that stays.
func (d *LineDiff) NewLine(i int) (line int, unchanged bool) {
	above := sort.Search(len(d.Changes), func(k int) bool { return d.Changes[k].OldEnd > i })
	if above < len(d.Changes) && d.Changes[above].Old <= i {
		return d.Changes[above].New, false
	}
	if above == 0 {
		return i, true
	}
	c := d.Changes[above-1]
	return i + c.NewEnd - c.OldEnd, true
}
