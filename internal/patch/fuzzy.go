package patch

import (
	"fmt"
	"iter"
	"strings"

	"dsh-acp/internal/text"
)

// replaceFuzzy plans an operation whose search is nowhere byte for byte: whole
// lines are compared with its tolerance, and exactly one place may match.
func (p *planner) replaceFuzzy(i int, o ReplaceText, f *file) *Error {
	needle := text.Fold(o.Search)
	needle, ended := strings.CutSuffix(needle, "\n")
	wanted := strings.Split(needle, "\n")
	found := tolerant(f.Doc, wanted, o.Fuzzy)
	if len(found) != 1 {
		e := located(i, o, f.Path, CodeMatchCount, "")
		want, got := 1, len(found)
		e.Details.Expected, e.Details.Actual = &want, &got
		if got == 0 {
			p.notFound(e, f, o.Search)
			e.Why += fmt.Sprintf("; fuzzy=%s found no place either", o.Fuzzy)
			p.alreadyReplaced(e, o, f)
			return e
		}
		for _, line := range found[:min(got, p.limits.Candidates)] {
			e.Details.Candidates = append(e.Details.Candidates, f.candidate(line))
		}
		e.more = got - len(e.Details.Candidates)
		e.Why = fmt.Sprintf("search occurs 0 times, and %s with fuzzy=%s, want 1; add surrounding lines until it is unique%s",
			times(got), o.Fuzzy, p.list(e))
		return e
	}
	line := found[0]
	last := line + len(wanted) - 1
	end := f.Doc.LineStart(last + 1)
	if !ended {
		end -= len(f.Doc.LineEnding(last).Chars())
	}
	replace := adapt(o.Replace, f.Doc)
	if replace != o.Replace {
		f.note("line endings adapted")
	}
	f.spans = append(f.spans, span{op: i, start: f.Doc.LineStart(line), end: end, text: replace})
	f.fuzzy = append(f.fuzzy, FuzzyHit{Operation: i, Mode: o.Fuzzy, Line: line})
	f.note(fmt.Sprintf("fuzzy=%s matched line %d; verify this is the intended site", o.Fuzzy, line))
	return nil
}

// tolerant returns the lines at which wanted matches with a tolerance.
func tolerant(doc text.Doc, wanted []string, mode Mode) []int {
	even := trimRight
	if mode == Indent {
		even = trimLeft
	}
	var found []int
	for line := range matchingLines(doc, wanted, even) {
		if mode == Trim || shifted(doc, line, wanted) {
			found = append(found, line)
		}
	}
	return found
}

// matchingLines yields the lines from which on those of the document are
// wanted, once even has made all lines comparable. They are searched as one
// text, so that the time stays linear in the file.
func matchingLines(doc text.Doc, wanted []string, even func(string) string) iter.Seq[int] {
	return func(yield func(int) bool) {
		var b strings.Builder
		b.Grow(len(doc.Text()) + 2)
		b.WriteByte('\n')
		for _, l := range doc.All() {
			b.WriteString(even(l))
			b.WriteByte('\n')
		}
		hay := b.String()
		b = strings.Builder{}
		b.WriteByte('\n')
		for _, l := range wanted {
			b.WriteString(even(l))
			b.WriteByte('\n')
		}
		line, from := 1, 0
		for at := range text.Matches(hay, b.String()) {
			line += strings.Count(hay[from:at], "\n")
			if from = at; !yield(line) {
				return
			}
		}
	}
}

func trimRight(l string) string { return strings.TrimRight(l, " \t\r") }
func trimLeft(l string) string  { return strings.TrimLeft(l, " \t") }

// shifted reports whether one run of blanks stands before all lines of the
// file at line, as against wanted, or the other way round. Blank lines have
// no say.
func shifted(doc text.Doc, line int, wanted []string) bool {
	deeper, run := 0, "" // 1: the file's lines are; -1: wanted's; 0: not known
	for k, w := range wanted {
		if trimLeft(w) == "" {
			continue
		}
		l := doc.Line(line + k)
		if deeper == 0 {
			switch {
			case len(l) > len(w):
				deeper, run = 1, l[:len(l)-len(w)]
			case len(w) > len(l):
				deeper, run = -1, w[:len(w)-len(l)]
			default:
				return false
			}
		}
		if deeper < 0 {
			l, w = w, l
		}
		if len(l) != len(run)+len(w) || l[:len(run)] != run || l[len(run):] != w {
			return false
		}
	}
	return deeper != 0
}
