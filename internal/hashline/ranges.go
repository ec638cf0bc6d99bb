package hashline

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// A Range is the lines from First to Last, both included, 1-based.
type Range struct {
	First int `json:"first"`
	Last  int `json:"last"`
}

// Ranges is a set of lines: ranges in order that neither overlap nor touch.
// nil and empty are two things where a comment says so.
type Ranges []Range

// Add returns the set with the lines from first to last as well. It may reuse
// the memory of r. A range without lines adds none.
func (r Ranges) Add(first, last int) Ranges {
	if last < first {
		return r
	}
	i := sort.Search(len(r), func(i int) bool { return r[i].Last >= first-1 })
	j := i
	for ; j < len(r) && r[j].First <= last+1; j++ {
		first, last = min(first, r[j].First), max(last, r[j].Last)
	}
	return slices.Replace(r, i, j, Range{first, last})
}

// Has reports whether the set holds a line.
func (r Ranges) Has(line int) bool {
	i := sort.Search(len(r), func(i int) bool { return r[i].Last >= line })
	return i < len(r) && r[i].First <= line
}

// Missing returns the lines from first to last that are not in the set.
func (r Ranges) Missing(first, last int) Ranges {
	var out Ranges
	for _, k := range r {
		if k.Last < first {
			continue
		}
		if k.First > last {
			break
		}
		out = out.Add(first, k.First-1)
		first = k.Last + 1
	}
	return out.Add(first, last)
}

// String lists the lines: "3, 7–9".
func (r Ranges) String() string {
	parts := make([]string, len(r))
	for i, k := range r {
		parts[i] = fmt.Sprint(k.First)
		if k.Last > k.First {
			parts[i] += fmt.Sprintf("–%d", k.Last)
		}
	}
	return strings.Join(parts, ", ")
}

// noun gives "line 3" or "lines 3, 7–9".
func (r Ranges) noun() string {
	if len(r) == 1 && r[0].First == r[0].Last {
		return "line " + r.String()
	}
	return "lines " + r.String()
}
