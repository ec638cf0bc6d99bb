package hashline

import (
	"fmt"
	"slices"
	"strings"

	"dsh-acp/internal/text"
)

// maxAnchors is how many named lines an error shows.
const maxAnchors = 8

// contextOf shows lines of a document with two lines around each: anchors as
// "*N| text", the others as " N| text", and "..." between stretches. Anchors
// beyond the end show the last lines. Of more than most anchors the first ones
// are shown.
func contextOf(d text.Doc, anchors []int, most int) (block string, shown Ranges) {
	n := d.Lines()
	if n == 0 {
		return "", nil
	}
	anchors = slices.Compact(slices.Sorted(slices.Values(anchors)))
	if len(anchors) > most {
		anchors = anchors[:most]
	}
	for _, a := range anchors {
		a = min(max(a, 1), n+1)
		shown = shown.Add(max(a-2, 1), min(a+2, n))
	}
	var b strings.Builder
	for i, r := range shown {
		if i > 0 {
			b.WriteString("...\n")
		}
		for line := r.First; line <= r.Last; line++ {
			mark := " "
			if _, is := slices.BinarySearch(anchors, line); is {
				mark = "*"
			}
			b.WriteString(mark + NumberedLine(line, d.Line(line)) + "\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n"), shown
}

// withContext adds lines of the tagged text to an error.
func withContext(e *Error, d text.Doc, anchors []int) *Error {
	e.Context, e.Details.ShownTagged = contextOf(d, anchors, maxAnchors)
	return e
}

// stale is the report that the file is another text than the tagged one.
// anchors are lines of live.
func stale(reason, what string, t Tag, live text.Doc, liveTag Tag, anchors []int) *Error {
	e := refuse(CodeStale, "%s\n#%s was named, the file is #%s now: write the edit again for the lines below with file_hash %s; that tag can be used at once",
		what, t, liveTag, liveTag)
	e.Details.Reason = reason
	e.Details.ExpectedTag, e.Details.LiveTag = t.String(), liveTag.String()
	e.Context, e.Details.ShownLive = contextOf(live, anchors, maxAnchors)
	return e
}

// unknownTag is a stale report for a tag that the history does not have.
func unknownTag(t Tag, live text.Doc, liveTag Tag, hunks []Hunk) *Error {
	var anchors []int
	for _, h := range hunks {
		if h.First > 0 {
			anchors = append(anchors, between(h.First, h.Last, maxAnchors)...)
		}
	}
	if len(anchors) == 0 {
		anchors = []int{1}
	}
	return stale(ReasonUnknown, fmt.Sprintf("tag #%s is not from this session: no read or edit gave it for this file", t), t, live, liveTag, anchors)
}

// unmoved is a stale report for changes that cannot be carried over.
func unmoved(tagged, live text.Doc, t, liveTag Tag, changes []change, failed []failure) *Error {
	var lines Ranges
	var anchors, ops []int
	d := text.CompareLines(tagged.LF(), live.LF())
	for _, f := range failed {
		c := changes[f.change]
		first, last := c.first, c.last
		if last < first {
			first, last = max(last, 1), min(first, max(tagged.Lines(), 1))
		}
		lines = lines.Add(first, last)
		if c.line > 0 {
			ops = append(ops, c.line)
		}
		for _, i := range between(first, last, maxAnchors) {
			line, _ := d.NewLine(i)
			anchors = append(anchors, line)
		}
	}
	reason := failed[0].reason
	var what string
	switch reason {
	case ReasonChanged:
		what = fmt.Sprintf("%s changed since #%s, or the lines beside", lines.noun(), t)
	case ReasonNotUnique:
		what = fmt.Sprintf("the file changed since #%s, and where %s went is not certain, since equal lines stand elsewhere or lines moved", t, lines.noun())
	default:
		what = fmt.Sprintf("too much changed since #%s to carry the edit over", t)
	}
	e := stale(reason, what, t, live, liveTag, anchors)
	e.Details.Lines, e.Details.OpsLines = lines, ops
	return e
}

// between returns the lines of a range, no more than most.
func between(first, last, most int) []int {
	var out []int
	for i := first; i <= last && len(out) < most; i++ {
		out = append(out, i)
	}
	return out
}
