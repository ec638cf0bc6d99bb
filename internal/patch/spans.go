package patch

import (
	"cmp"
	"slices"
	"strings"

	"dsh-acp/internal/jsonedit"
	"dsh-acp/internal/text"
)

// A span is a place that an operation changes, in bytes of the text before.
type span struct {
	op         int
	start, end int
	text       string // what comes there
	json       bool
}

// clash reports whether two spans share a byte, one is inside of the other,
// or both insert at one place. Spans that only touch do not clash.
func clash(a, b span) bool {
	switch {
	case a.start == a.end && b.start == b.end:
		return a.start == b.start
	case a.start == a.end:
		return b.start < a.start && a.start < b.end
	case b.start == b.end:
		return a.start < b.start && b.start < a.end
	}
	return a.start < b.end && b.start < a.end
}

func sortSpans(spans []span) {
	slices.SortStableFunc(spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end))
	})
}

// A jsonChange is what one JSON operation does.
type jsonChange struct {
	op int
	jsonedit.Change
}

// overlaps adds an error for each operation that meets an earlier one.
func (p *planner) overlaps(f *file) {
	told := map[int]bool{}
	tell := func(a, b, from, to int) {
		if a > b {
			a, b = b, a
		}
		if told[b] {
			return
		}
		told[b] = true
		first, last := f.lineOf(from), f.lineOf(max(from, to-1))
		e := located(b, p.ops[b], f.Path, CodeOverlap,
			"overlaps operation %d, %s, on lines %d to %d of %s; merge the two into one operation, or make the second in another call",
			a, p.ops[a].Name(), first, last, f.Path)
		e.Details.Operations = []int{a, b}
		e.Details.Lines = []int{first, last}
		p.errs = append(p.errs, e)
	}
	p.claims(f, tell)
	sortSpans(f.spans)
	var reach, before span // the one that ends last, and the one before
	for k, s := range f.spans {
		if k > 0 {
			for _, o := range []span{reach, before} {
				// JSON changes were compared by their claims.
				if o.op != s.op && !(o.json && s.json && !p.adjacent) && clash(o, s) {
					tell(o.op, s.op, s.start, min(o.end, s.end))
				}
			}
		}
		if k == 0 || s.end > reach.end {
			reach = s
		}
		before = s
	}
}

func (f *file) lineOf(at int) int {
	return max(1, min(f.Doc.LineOf(at), f.Doc.Lines()))
}

// claims compares the JSON changes of a file with each other.
func (p *planner) claims(f *file, tell func(a, b, from, to int)) {
	changes := slices.Clone(f.changes)
	slices.SortStableFunc(changes, func(a, b jsonChange) int { return cmp.Compare(a.Claim.Start, b.Claim.Start) })
	reach := -1
	for k, c := range changes {
		if k > 0 {
			if o := changes[reach]; !p.adjacent && o.Claim.Touches(c.Claim) {
				tell(o.op, c.op, c.Claim.Start, min(o.Claim.End, c.Claim.End))
			}
		}
		if p.adjacent {
			for _, o := range changes[:k] {
				if f.json.Conflict(o.Change, c.Change) {
					tell(o.op, c.op, c.Claim.Start, c.Claim.End)
				}
			}
		}
		if reach < 0 || c.Claim.End > changes[reach].Claim.End {
			reach = k
		}
	}
}

// splice makes the changes of spans that are sorted and do not clash.
func splice(s string, spans []span) string {
	size := len(s)
	for _, e := range spans {
		size += len(e.text) - (e.end - e.start)
	}
	var b strings.Builder
	b.Grow(size)
	at := 0
	for _, e := range spans {
		b.WriteString(s[at:e.start])
		b.WriteString(e.text)
		at = e.end
	}
	b.WriteString(s[at:])
	return b.String()
}

// lineCounts returns how many lines a minimal comparison of the texts adds
// and removes. The line breaks themselves do not count. Where the changes are
// too many to compare the texts as wholes, each changed place is compared.
func lineCounts(before, after text.Doc, spans []span) (added, removed int) {
	old, now := before.LF(), after.LF()
	regions := regionsOf(before, after, spans)
	touched := 0
	for _, r := range regions {
		touched += r.OldEnd - r.Old + r.NewEnd - r.New
	}
	if touched <= text.MaxDistance/4 {
		return countLines(old, now)
	}
	for _, r := range regions {
		a, b := linesOf(before, r.Old, r.OldEnd), linesOf(after, r.New, r.NewEnd)
		if r.OldEnd-r.Old == 1 && r.NewEnd-r.New == 1 {
			if withoutBreak(a) != withoutBreak(b) {
				added, removed = added+1, removed+1
			}
			continue
		}
		x, y := countLines(a, b)
		added, removed = added+x, removed+y
	}
	return added, removed
}

func linesOf(d text.Doc, from, to int) string {
	return text.Fold(d.Text()[d.LineStart(from):d.LineStart(to)])
}

func countLines(old, now string) (added, removed int) {
	for _, c := range text.CompareLines(ended(old), ended(now)).Changes {
		added += c.NewEnd - c.New
		removed += c.OldEnd - c.Old
	}
	return added, removed
}

// ended gives a last line without a break one.
func ended(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}

// regionsOf returns the lines that sorted spans touch, before and after.
func regionsOf(before, after text.Doc, spans []span) []text.LineChange {
	var out []text.LineChange
	// Of offsets, by the spans so far. A new text at the very start can bring
	// a byte order mark, which is no part of the text after.
	shift := len(after.Text()) - len(after.Raw()) - (len(before.Text()) - len(before.Raw()))
	for _, s := range spans {
		r := text.LineChange{
			Old: min(before.LineOf(s.start), before.Lines()+1),
			New: min(after.LineOf(max(0, s.start+shift)), after.Lines()+1),
		}
		shift += len(s.text) - (s.end - s.start)
		r.OldEnd = min(before.LineOf(s.end), before.Lines()) + 1
		r.NewEnd = min(after.LineOf(max(0, s.end+shift)), after.Lines()) + 1
		if n := len(out); n > 0 && (r.Old < out[n-1].OldEnd || r.New < out[n-1].NewEnd) {
			out[n-1].OldEnd = max(out[n-1].OldEnd, r.OldEnd)
			out[n-1].NewEnd = max(out[n-1].NewEnd, r.NewEnd)
			continue
		}
		out = append(out, r)
	}
	return out
}
