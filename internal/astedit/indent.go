package astedit

import (
	"slices"
	"strings"

	"dsh-acp/internal/syntax"
)

// A source is the text of a file with what rewriting asks of it.
type source struct {
	*syntax.Tree
}

// leading returns the spaces and tabs that s begins with.
func leading(s string) string {
	return s[:len(s)-len(strings.TrimLeft(s, " \t"))]
}

// indentation returns the white space that the line of offset at begins with.
func (s *source) indentation(at int) string {
	return leading(s.Source[strings.LastIndexByte(s.Source[:at], '\n')+1 : at])
}

// line returns the 1-based line of an offset.
func (s *source) line(at int) int { return 1 + strings.Count(s.Source[:at], "\n") }

// indentLines puts indent before each line of text but the first, blank ones,
// and those that begin at a fixed offset.
func indentLines(text, indent string, fixed []int) string {
	if indent == "" || !strings.Contains(text, "\n") {
		return text
	}
	var b strings.Builder
	for at, line := range lines(text) {
		// Behind the last line a capture follows, so that it is never blank.
		isLast := at == len(text)-len(line) && !strings.HasSuffix(line, "\n")
		if at > 0 && (isLast || strings.TrimSpace(line) != "") && !slices.Contains(fixed, at) {
			b.WriteString(indent)
		}
		b.WriteString(line)
	}
	if strings.HasSuffix(text, "\n") && !slices.Contains(fixed, len(text)) {
		b.WriteString(indent)
	}
	return b.String()
}

// lines yields the lines of text with their ends, by the offset of each.
func lines(text string) func(yield func(int, string) bool) {
	return func(yield func(int, string) bool) {
		at := 0
		for line := range strings.Lines(text) {
			if !yield(at, line) {
				return
			}
			at += len(line)
		}
	}
}

// reindent returns the source from start to end with its lines after the first
// moved from the indentation of the line that it starts on to another. A line
// that begins inside of a string stays, and so does one that is indented less
// than the first.
func (s *source) reindent(start, end int, to string) string {
	text := s.Source[start:end]
	from := s.indentation(start)
	if from == to || !strings.Contains(text, "\n") {
		return text
	}
	var b strings.Builder
	for at, line := range lines(text) {
		rest, ok := strings.CutPrefix(line, from)
		if at == 0 || !ok || strings.TrimSpace(line) == "" || s.inString(start+at-1) {
			b.WriteString(line)
			continue
		}
		b.WriteString(to + rest)
	}
	return b.String()
}

// inString reports whether the byte at offset at, a line end, is text of a
// string.
func (s *source) inString(at int) bool {
	return inString(s.Tree, s.Smallest(at, at+1))
}

// endsInLineComment reports whether the source from start to end ends with a
// comment that would take what is put behind it.
func (s *source) endsInLineComment(start, end int) bool {
	if end <= start {
		return false
	}
	i := s.Smallest(end-1, end)
	text := s.Text(i)
	return s.IsComment(i) && !strings.HasPrefix(text, "/*") && !strings.HasPrefix(text, "<!--") && int(s.Nodes[i].End) <= end
}
