package patch

import (
	"fmt"
	"strings"

	"dsh-acp/internal/text"
)

// replaceRange plans lines by their numbers.
func (p *planner) replaceRange(i int, o ReplaceRange, f *file) *Error {
	n := f.Doc.Lines()
	bad := func(format string, args ...any) *Error {
		return located(i, o, f.Path, CodeRangeInvalid, format, args...)
	}
	switch {
	case o.Start < 1:
		return bad("startLine is %d; lines count from 1", o.Start)
	case o.End < o.Start:
		return bad("endLine %d is before startLine %d", o.End, o.Start)
	case n == 0:
		return bad("the file is empty, so it has no lines to replace; use append_text")
	case o.End > n:
		return bad("lines %d to %d are outside of the file, which has %s; to add behind the last use append_text", o.Start, o.End, plural(n, "line"))
	}
	return p.lines(i, o, f, o.Start, o.End, o.OldText, o.Text)
}

// replaceAnchored plans lines by their distance from a text.
func (p *planner) replaceAnchored(i int, o ReplaceAnchored, f *file) *Error {
	s := find(f.Doc, o.Search, p.limits.Candidates)
	if s.count != 1 {
		e := p.count(i, o, f, 1, s)
		if s.count == 0 {
			p.notFound(e, f, o.Search)
		} else {
			e.Why = fmt.Sprintf("search, the anchor, occurs %s, want 1; make it longer, or give startLine and endLine%s", times(s.count), p.list(e))
		}
		return e
	}
	anchor := f.Doc.LineOf(s.at[0])
	start := anchor + o.Offset
	end := start + o.Lines - 1
	if n := f.Doc.Lines(); start < 1 || end > n {
		return located(i, o, f.Path, CodeRangeInvalid,
			"search is on line %d, so offset %d and lines %d mean lines %d to %d, outside of the file, which has %s",
			anchor, o.Offset, o.Lines, start, end, plural(n, "line"))
	}
	return p.lines(i, o, f, start, end, o.OldText, o.Text)
}

// lines plans the replacement of lines that exist.
func (p *planner) lines(i int, o Operation, f *file, start, end int, oldText, newText string) *Error {
	doc := f.Doc
	from, to := doc.LineStart(start), doc.LineStart(end+1)
	body := to - len(doc.LineEnding(end).Chars()) // without the last line's break
	actual, wanted := text.Fold(doc.Text()[from:body]), withoutBreak(text.Fold(oldText))
	if actual != wanted {
		return p.mismatch(i, o, f, start, end, actual, wanted, newText)
	}
	s := span{op: i, start: from, end: body}
	switch {
	case newText != "":
		s.text = text.WithEnding(withoutBreak(text.Fold(newText)), doc.Ending())
	case body == to && start > 1:
		// The last line has no break of its own: the one before it goes.
		s.start -= len(doc.LineEnding(start - 1).Chars())
	default:
		s.end = to
	}
	f.spans = append(f.spans, s)
	return nil
}

func withoutBreak(s string) string { return strings.TrimSuffix(s, "\n") }

// mismatch says how the lines differ from oldText, and where that is.
func (p *planner) mismatch(i int, o Operation, f *file, start, end int, actual, wanted, newText string) *Error {
	const most = 40 // lines of the actual text
	e := located(i, o, f.Path, CodeOldTextMismatch, "")
	shown := strings.SplitAfterN(actual, "\n", most+1)
	if len(shown) > most {
		shown = append(shown[:most], "…")
	}
	excerpt := strings.Join(shown, "")
	e.Details.ActualText = &excerpt
	have, want := strings.Split(actual, "\n"), strings.Split(wanted, "\n")
	k := 0
	for k < len(have) && k < len(want) && have[k] == want[k] {
		k++
	}
	var why strings.Builder
	fmt.Fprintf(&why, "oldText is not what lines %d to %d hold; ", start, end)
	switch {
	case k == len(have):
		fmt.Fprintf(&why, "it has %s, the range has %d", plural(len(want), "line"), len(have))
	case k == len(want):
		fmt.Fprintf(&why, "it ends before line %d: %s", start+k, clip(have[k]))
	default:
		fmt.Fprintf(&why, "the first difference is on line %d%s: the file has %q, oldText has %q",
			start+k, kindOfDifference(have[k], want[k]), clip(have[k]), clip(want[k]))
	}
	if line, ok := onlyAt(f.Doc, wanted); ok {
		e.Details.FoundAt = line
		fmt.Fprintf(&why, "; oldText is at line %d", line)
	}
	if f.holds(start, newText) {
		e.Details.AlreadyApplied = true
		why.WriteString("; text is there instead: probably this was already applied")
	}
	why.WriteString("; the lines are:\n" + excerpt)
	e.Why = why.String()
	return e
}

// kindOfDifference names what is hard to see between two lines.
func kindOfDifference(have, want string) string {
	switch {
	case strings.TrimRight(have, " \t") == strings.TrimRight(want, " \t"):
		return " (trailing blanks)"
	case trimLeft(have) == trimLeft(want):
		return " (indentation)"
	case strings.ReplaceAll(have, "\r", "") == strings.ReplaceAll(want, "\r", ""):
		return " (a carriage return, which is a character of its line)"
	case squash(have) == squash(want):
		return " (white space)"
	}
	return ""
}

// onlyAt returns the line from which on s, without a final break, stands as
// whole lines, if that is so exactly once.
func onlyAt(doc text.Doc, s string) (line int, ok bool) {
	if s == "" {
		return 0, false
	}
	hay := doc.LF()
	for at := range text.Matches(hay, s) {
		end := at + len(s)
		if at > 0 && hay[at-1] != '\n' || end < len(hay) && hay[end] != '\n' {
			continue
		}
		if ok {
			return 0, false
		}
		line, ok = doc.LineOf(doc.RawOffset(at)), true
	}
	return line, ok
}

// holds reports whether the lines from start on are those of s.
func (f *file) holds(start int, s string) bool {
	if s == "" {
		return false
	}
	for k, l := range strings.Split(withoutBreak(text.Fold(s)), "\n") {
		if start+k > f.Doc.Lines() || f.Doc.Line(start+k) != l {
			return false
		}
	}
	return true
}
