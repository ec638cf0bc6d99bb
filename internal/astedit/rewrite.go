package astedit

import (
	"fmt"
	"slices"
	"strings"

	"dsh-acp/internal/syntax"
	"dsh-acp/internal/text"
)

// A Rule is a pattern and what its matches become.
type Rule struct {
	pattern  *Pattern
	template *template
}

// NewRule compiles pat and out for a language. It fails with an *[Error], as
// [Compile] does, or with CodeUnbound.
func NewRule(p syntax.Parser, lang syntax.Lang, pat, out string) (*Rule, error) {
	pattern, err := Compile(p, lang, pat)
	if err != nil {
		return nil, err
	}
	template, err := newTemplate(p, pattern, strings.ReplaceAll(out, "\r\n", "\n"))
	if err != nil {
		return nil, err
	}
	return &Rule{pattern: pattern, template: template}, nil
}

// Pattern returns the pattern of the rule.
func (r *Rule) Pattern() *Pattern { return r.pattern }

// A Plan is what a rule does to one text.
type Plan struct {
	Matches int         // places that are rewritten, to the same text or another
	Nested  int         // matches inside of those, left alone
	Edits   []text.Edit // of the tree's source; none for a match that stays equal
	Skipped []Skip      // matches that are left alone, in document order
}

// A Skip says why a match was left alone.
type Skip struct {
	Line   int // 1-based
	Reason string
}

// Plan finds what the rule does to the text of a tree. Outer matches go before
// those inside of them.
func (r *Rule) Plan(t *syntax.Tree) Plan {
	var out Plan
	src := &source{Tree: t}
	end := 0
	for _, m := range r.pattern.Find(t) {
		if m.Start < end {
			out.Nested++
			continue
		}
		if reason := r.objection(src, &m); reason != "" {
			out.Skipped = append(out.Skipped, Skip{Line: src.line(m.Start), Reason: reason})
			continue
		}
		out.Matches++
		end = m.Kept
		e := text.Edit{Start: m.Start, End: m.Kept, New: r.template.fill(&m, src, src.indentation(m.Start))}
		if e.New == "" {
			e.Start, e.End = wholeLines(t.Source, e.Start, e.End)
		}
		if e.New != t.Source[e.Start:e.End] {
			out.Edits = append(out.Edits, e)
		}
		end = max(end, e.End)
	}
	return out
}

// wholeLines widens a range that is deleted to the lines that it leaves blank,
// with one line end.
func wholeLines(src string, start, end int) (int, int) {
	from := strings.LastIndexByte(src[:start], '\n') + 1
	to := strings.IndexByte(src[end:], '\n')
	if to < 0 || strings.TrimSpace(src[from:start]) != "" || strings.TrimSpace(src[end:end+to]) != "" {
		return start, end
	}
	return from, end + to + 1
}

// objection says why a match is not rewritten, "" if it is.
func (r *Rule) objection(src *source, m *Match) string {
	if src.Nodes[m.Node].Is(syntax.HasError) {
		return "the code there does not parse"
	}
	for i := src.Parent(m.Node); i >= 0; i = src.Parent(i) {
		if src.Nodes[i].Is(syntax.Error) {
			return "the code around it does not parse"
		}
	}
	for i := m.Node + 1; i < int(src.Nodes[m.Node].Last); i++ {
		n := src.Nodes[i]
		if src.IsComment(i) && int(n.Start) < m.Kept && !r.keeps(m, int(n.Start), int(n.End)) &&
			!slices.Contains(r.pattern.comments, src.Text(i)) {
			return fmt.Sprintf("the comment %s would be lost", quote(src.Text(i)))
		}
	}
	for _, i := range m.skipped {
		token := strings.TrimSpace(src.Text(i))
		if token != "" && isWord(token[0]) {
			return fmt.Sprintf("%q, which the pattern does not have, would be lost", token)
		}
	}
	return ""
}

// keeps reports whether the template has the source from start to end in it.
func (r *Rule) keeps(m *Match, start, end int) bool {
	for slot, c := range m.captures {
		if r.template.used[slot] && c.set && c.start <= start && end <= c.end {
			return true
		}
	}
	return false
}

// quote shows the first line of s, not too much of it.
func quote(s string) string {
	first, _, more := strings.Cut(s, "\n")
	if cut := head(first, 60); cut != first || !more {
		return fmt.Sprintf("%q", cut)
	}
	return fmt.Sprintf("%q", first+"...")
}
