package hashline

import (
	"cmp"
	"fmt"
	"slices"

	"dsh-acp/internal/text"
)

// MaxRange is the most lines that one hunk may name.
const MaxRange = 100_000

// checkNumbers holds the numbers of hunks against the tagged text.
func checkNumbers(hunks []Hunk, d text.Doc) error {
	n := d.Lines()
	for _, h := range hunks {
		if h.Kind == InsertHead || h.Kind == InsertTail {
			continue
		}
		if h.Last < h.First {
			e := inOps(CodeRangeOrder, h.Line, "the range %d..%d ends before it begins: write %d..%d", h.First, h.Last, h.Last, h.First)
			return withContext(e, d, []int{h.Last, h.First})
		}
		if h.Last > n {
			hint := "read the file again if you expected more"
			if n == 0 {
				hint = "write \"insert head:\" to fill it"
			} else if h.Kind == InsertAfter || h.Kind == InsertBefore {
				hint = "write \"insert tail:\" to add at the end"
			}
			e := inOps(CodeLineRange, h.Line, "there is no line %d: the tagged text has %s; %s", h.Last, count(n, "line"), hint)
			e.Details.LineCount = &n
			return withContext(e, d, []int{h.First, n})
		}
		if h.Last-h.First >= MaxRange {
			return inOps(CodeRangeHuge, h.Line, "the range %d..%d holds %d lines, and one hunk may name %d: use several", h.First, h.Last, h.Last-h.First+1, MaxRange)
		}
	}
	return nil
}

// checkOverlap refuses hunks that claim one line, or put text inside of the
// lines of another.
func checkOverlap(changes []change, d text.Doc) error {
	var spans []change
	for _, c := range changes {
		if c.last >= c.first {
			spans = append(spans, c)
		}
	}
	slices.SortStableFunc(spans, func(a, b change) int { return cmp.Compare(a.first, b.first) })
	for i := 1; i < len(spans); i++ {
		a, b := spans[i-1], spans[i]
		if b.first <= a.last {
			return overlap(d, a, b, fmt.Sprintf("claim %s", Ranges{{b.first, min(a.last, b.last)}}.noun()))
		}
	}
	for _, c := range changes {
		if c.last >= c.first || c.edge != middle {
			continue
		}
		// The gap is before line c.first.
		i, _ := slices.BinarySearchFunc(spans, c.first, func(s change, line int) int { return cmp.Compare(s.last, line) })
		if i < len(spans) && spans[i].first < c.first {
			return overlap(d, spans[i], c, fmt.Sprintf("meet: text is put between lines %d and %d, which both go", c.first-1, c.first))
		}
	}
	return nil
}

func overlap(d text.Doc, a, b change, what string) error {
	x, y := min(a.line, b.line), max(a.line, b.line)
	e := refuse(CodeOverlap, "the hunks of ops lines %d and %d %s: join them into one", x, y, what)
	e.Details.OpsLines = []int{x, y}
	e.Details.Lines = e.Details.Lines.Add(b.first, max(b.last, b.first))
	return withContext(e, d, []int{b.first})
}
