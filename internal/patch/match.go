package patch

import (
	"fmt"
	"strings"

	"dsh-acp/internal/text"
)

// A search is an exact search in one file.
type search struct {
	needle  string // as it was found, perhaps with other line ends
	adapted bool   // its LFs were made CRLFs
	count   int    // matches, also those that overlap
	at      []int  // the first of them
	overlap bool
}

// find looks for needle and keeps up to most places. Where nothing is found,
// the file has CRLF throughout and needle has bare LFs alone, it looks once
// more with CRLFs.
func find(doc text.Doc, needle string, most int) search {
	s := findIn(doc.Text(), needle, most)
	if s.count == 0 && doc.Shape().AllCRLF() && strings.Contains(needle, "\n") && !strings.Contains(needle, "\r") {
		s = findIn(doc.Text(), text.WithEnding(needle, text.CRLF), most)
		s.adapted = true
	}
	return s
}

func findIn(hay, needle string, most int) search {
	s := search{needle: needle}
	last := -len(needle)
	for at := range text.Matches(hay, needle) {
		s.overlap = s.overlap || at < last+len(needle)
		last = at
		s.count++
		if len(s.at) < most {
			s.at = append(s.at, at)
		}
	}
	return s
}

// replaceText plans one operation.
func (p *planner) replaceText(i int, o ReplaceText, f *file) *Error {
	s := find(f.Doc, o.Search, max(o.Expect, p.limits.Candidates))
	switch {
	case s.count == 0 && o.Fuzzy != Exact:
		return p.replaceFuzzy(i, o, f)
	case s.overlap:
		e := p.count(i, o, f, o.Expect, s)
		e.Why = fmt.Sprintf("search occurs %s, and places overlap each other, so that they cannot all be replaced; make it longer%s", times(s.count), p.list(e))
		return e
	case s.count != o.Expect:
		e := p.count(i, o, f, o.Expect, s)
		switch {
		case s.count == 0:
			p.notFound(e, f, o.Search)
			p.alreadyReplaced(e, o, f)
		default:
			e.Why = fmt.Sprintf("search occurs %s, want %d; add surrounding lines until it is unique, or set expect to %d if all are meant%s",
				times(s.count), o.Expect, s.count, p.list(e))
		}
		return e
	}
	replace := o.Replace
	if s.adapted || !strings.ContainsAny(s.needle, "\r\n") {
		// The search does not tell the line ends of its place, so new lines
		// get those of the file.
		replace = adapt(replace, f.Doc)
	}
	if s.adapted || replace != o.Replace {
		f.note("line endings adapted")
	}
	for _, at := range s.at {
		f.spans = append(f.spans, span{op: i, start: at, end: at + len(s.needle), text: replace})
	}
	return nil
}

// adapt gives text with bare LFs the line ends of a file that has mostly
// CRLFs. Text that brings a CR knows what it wants.
func adapt(s string, doc text.Doc) string {
	if strings.Contains(s, "\r") || doc.Ending() != text.CRLF {
		return s
	}
	return text.WithEnding(s, text.CRLF)
}

// count makes a MATCH_COUNT error with the places that were found.
func (p *planner) count(i int, o Operation, f *file, want int, s search) *Error {
	e := located(i, o, f.Path, CodeMatchCount, "")
	e.Details.Expected, e.Details.Actual = &want, &s.count
	last, covered := 0, 0
	for _, at := range s.at {
		line := f.Doc.LineOf(at)
		if line != last && len(e.Details.Candidates) == p.limits.Candidates {
			break
		}
		if line != last {
			e.Details.Candidates = append(e.Details.Candidates, f.candidate(line))
		}
		last = line
		covered++
	}
	e.more = s.count - covered
	return e
}

func (f *file) candidate(line int) Candidate {
	return Candidate{line, clip(f.Doc.Line(line))}
}

// list writes the candidates of an error for its text.
func (p *planner) list(e *Error) string {
	if len(e.Details.Candidates) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("; candidates:")
	for _, c := range e.Details.Candidates {
		fmt.Fprintf(&b, "\n  line %d: %s", c.Line, c.Text)
	}
	if e.more > 0 {
		fmt.Fprintf(&b, "\n  and %d more", e.more)
	}
	return b.String()
}

func times(n int) string {
	if n == 1 {
		return "1 time"
	}
	return fmt.Sprintf("%d times", n)
}

// notFound names the line that a search without a match most likely meant.
func (p *planner) notFound(e *Error, f *file, needle string) {
	e.Why = fmt.Sprintf("search occurs 0 times, want %d; read the file again and copy the text as it is", *e.Details.Expected)
	line, ok := closest(f.Doc, needle)
	if ok {
		e.Details.Candidates = []Candidate{f.candidate(line)}
		e.Why += fmt.Sprintf("; the closest is line %d: %s", line, e.Details.Candidates[0].Text)
	}
	if strings.Contains(unbroken.Replace(f.Doc.Text()), unbroken.Replace(needle)) {
		e.Why += fmt.Sprintf("; it is there with other line breaks: the file has %s, search has %s", breaksOf(f.Doc.Text()), breaksOf(needle))
	}
}

// unbroken makes all that can be meant as a line break the same.
var unbroken = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// breaksOf names what a text has that can be meant as a line break.
func breaksOf(s string) string {
	crlf := strings.Count(s, "\r\n")
	var kinds []string
	for _, k := range []struct {
		name string
		n    int
	}{
		{`LF (\n)`, strings.Count(s, "\n") - crlf},
		{`CRLF (\r\n)`, crlf},
		{`CR (\r), which ends no line here`, strings.Count(s, "\r") - crlf},
	} {
		if k.n > 0 {
			kinds = append(kinds, k.name)
		}
	}
	if len(kinds) == 0 {
		return "none"
	}
	return strings.Join(kinds, " and ")
}

// closest finds the line that shares the first line of needle that is not
// blank, up to white space, and after which most lines of needle follow. A
// line that only contains it counts where there is none that is the same.
func closest(doc text.Doc, needle string) (line int, ok bool) {
	wanted := strings.Split(text.Fold(needle), "\n")
	for len(wanted) > 0 && squash(wanted[0]) == "" {
		wanted = wanted[1:]
	}
	if len(wanted) == 0 {
		return 0, false
	}
	const window = 50 // lines that are compared behind the first
	wanted = wanted[:min(len(wanted), window)]
	for i, w := range wanted {
		wanted[i] = squash(w)
	}
	best, inside := 0, 0
	for i, l := range doc.All() {
		l = squash(l)
		if l != wanted[0] {
			if inside == 0 && strings.Contains(l, wanted[0]) {
				inside = i
			}
			continue
		}
		score := 1
		for k := 1; k < len(wanted) && i+k <= doc.Lines() && squash(doc.Line(i+k)) == wanted[k]; k++ {
			score++
		}
		if score > best {
			best, line = score, i
		}
		if best == len(wanted) {
			break
		}
	}
	if line == 0 {
		line = inside
	}
	return line, line > 0
}

// squash drops the white space of a line.
func squash(s string) string {
	if !strings.ContainsAny(s, " \t\r\v\f") {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch r {
		case ' ', '\t', '\r', '\v', '\f':
			return -1
		}
		return r
	}, s)
}

// alreadyReplaced adds a hint where the new text is there as often as the old
// one was expected: the call may have been made before.
func (p *planner) alreadyReplaced(e *Error, o ReplaceText, f *file) {
	if o.Replace == "" || find(f.Doc, o.Replace, 1).count != o.Expect {
		return
	}
	e.Details.AlreadyApplied = true
	e.Why += "; replace is there as often as search was expected: probably this was already applied"
}
