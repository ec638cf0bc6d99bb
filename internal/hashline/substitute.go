package hashline

import (
	"fmt"
	"strings"

	"dsh-acp/internal/text"
)

// substitute finds what is to be replaced in the tagged text. The result is
// that of a plain replacement in its LF view.
func substitute(d text.Doc, s Substitution) (changes []change, notes []string, err error) {
	lf, old := d.LF(), text.Fold(s.Old)
	switch {
	case old == "":
		return nil, nil, refuse(CodeArgs, "old_string is empty: give the text that is to be replaced")
	case old == text.Fold(s.New):
		return nil, nil, refuse(CodeArgs, "old_string and new_string are the same: there is nothing to change")
	}
	var at []int
	if s.All {
		at = text.FindApart(lf, old)
	} else {
		at = text.FindAll(lf, old)
	}
	if len(at) == 0 {
		e := refuse(CodeNoMatch, "old_string is not in the text%s", nearest(d, old))
		return nil, nil, e
	}
	if len(at) > 1 && !s.All {
		return nil, nil, ambiguous(d, lf, at)
	}
	whole := 0
	line, counted := 1, 0
	for _, start := range at {
		end := start + len(old)
		if s.New == "" && wholeLines(lf, start, end) {
			// The line end would stay as an empty line that nobody asked for.
			end++
			whole++
		}
		line += strings.Count(lf[counted:start], "\n")
		counted = start
		c := change{first: line, last: line + strings.Count(lf[start:end-1], "\n"), kind: Replace}
		if lf[end-1] == '\n' && end < len(lf) && !strings.HasSuffix(s.New, "\n") && !lineBegins(lf, start, s.New) {
			c.last++ // the line below joins this one
		}
		begin := strings.LastIndexByte(lf[:start], '\n') + 1
		c.part = &part{start - begin, end - begin, s.New, strings.Count(s.New, "\n") - strings.Count(lf[start:end], "\n")}
		changes = append(changes, c)
	}
	if s.All {
		notes = append(notes, count(len(at), "occurrence")+" replaced")
	}
	if whole > 0 {
		notes = append(notes, "the match was whole lines, so that their last line break was removed too")
	}
	return changes, notes, nil
}

// wholeLines reports whether the bytes from start to end are lines without
// the end of the last one, which follows.
func wholeLines(lf string, start, end int) bool {
	return (start == 0 || lf[start-1] == '\n') && lf[end-1] != '\n' && end < len(lf) && lf[end] == '\n'
}

// lineBegins reports whether what follows a replaced text still begins a line:
// nothing is put in its place, and it began one.
func lineBegins(lf string, start int, new string) bool {
	return new == "" && (start == 0 || lf[start-1] == '\n')
}

func ambiguous(d text.Doc, lf string, at []int) error {
	var lines []int
	var named Ranges
	line, counted := 1, 0
	for _, start := range at {
		line += strings.Count(lf[counted:start], "\n")
		counted = start
		named = named.Add(line, line)
		if len(lines) < maxAnchors {
			lines = append(lines, line)
		}
	}
	e := refuse(CodeAmbiguous, "old_string occurs %d times (%s), and one is wanted: add lines around it, or set replace_all", len(at), firstOf(named).noun())
	e.Details.Lines = named
	return withContext(e, d, lines)
}

// firstOf shortens a list for a message.
func firstOf(r Ranges) Ranges {
	if len(r) > maxAnchors {
		return r[:maxAnchors]
	}
	return r
}

// maxCompared bounds the text that is searched for something alike.
const maxCompared = 4 << 20

// nearest says which lines of d are most like old, how much so, and where they
// first differ. It only explains: nothing is replaced by likeness. It starts
// with a separator, and advises to read when nothing is alike.
func nearest(d text.Doc, old string) string {
	const none = ": read the file again, and copy the text from there"
	want := strings.Split(strings.TrimSuffix(old, "\n"), "\n")
	if d.Lines() == 0 || len(d.Text()) > maxCompared || len(old) > maxCompared>>6 {
		return none
	}
	// The longest line of old says most; its likeliest places are looked at
	// as a whole.
	key := 0
	for i, s := range want {
		if len(strings.TrimSpace(s)) > len(strings.TrimSpace(want[key])) {
			key = i
		}
	}
	lines := make([]string, 0, d.Lines())
	for _, s := range d.All() {
		lines = append(lines, s)
	}
	type place struct {
		start int
		score float64
	}
	var best [5]place
	target := pairsOf(want[key])
	for i, s := range lines {
		p := place{i - key, alike(target, s)}
		for k := range best {
			if p.score > best[k].score {
				p, best[k] = best[k], p
			}
		}
	}
	top := place{}
	for _, p := range best {
		if p.score == 0 {
			continue
		}
		sum := 0.0
		for i, s := range want {
			if j := p.start + i; j >= 0 && j < len(lines) {
				if s == lines[j] {
					sum++
				} else {
					sum += alike(pairsOf(s), lines[j])
				}
			}
		}
		if sum /= float64(len(want)); sum > top.score {
			top = place{p.start, sum}
		}
	}
	if top.score < 0.4 {
		return none
	}
	for i, s := range want {
		j := top.start + i
		if j < 0 || j >= len(lines) {
			continue
		}
		if lines[j] != s {
			return fmt.Sprintf("; most alike (%d%%) are the lines from %d on; the first that differs is line %d: old_string has %q, the file has %q",
				int(100*top.score), max(top.start, 0)+1, j+1, clip(s), clip(lines[j]))
		}
	}
	return fmt.Sprintf("; most alike (%d%%) are the lines from %d on, which differ in their line ends", int(100*top.score), max(top.start, 0)+1)
}

// pairsOf counts the pairs of neighbouring bytes that are no blanks.
func pairsOf(s string) map[[2]byte]int {
	out := map[[2]byte]int{}
	eachPair(s, func(p [2]byte) { out[p]++ })
	return out
}

func eachPair(s string, f func([2]byte)) {
	last := byte(' ')
	for i := range len(s) {
		if s[i] == ' ' || s[i] == '\t' {
			continue
		}
		f([2]byte{last, s[i]})
		last = s[i]
	}
}

// alike is the share of pairs that two lines have in common, from 0 to 1.
func alike(pairs map[[2]byte]int, s string) float64 {
	total := 0
	for _, n := range pairs {
		total += n
	}
	found := map[[2]byte]int{}
	common, other := 0, 0
	eachPair(s, func(p [2]byte) {
		other++
		if n, ok := pairs[p]; ok && found[p] < n {
			found[p]++
			common++
		}
	})
	if total+other == 0 {
		return 0
	}
	return 2 * float64(common) / float64(total+other)
}
