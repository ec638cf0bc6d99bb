//go:build cgo

package astedit

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dsh-acp/internal/syntax"
	"dsh-acp/internal/text"
)

// A rewrite changes nothing outside of its matches, and a file that parsed
// parses afterwards, or is refused.
func FuzzRewrite(f *testing.F) {
	for _, c := range rewriteCases {
		f.Add(string(c.lang), c.pat, c.out, c.in)
	}
	f.Fuzz(func(t *testing.T, lang, pat, out, in string) {
		d, err := text.ParseString(in)
		if err != nil {
			t.Skip()
		}
		p, err := NewProgram(parser, []Op{{pat, out}})
		if err != nil {
			t.Skip()
		}
		rules, err := p.For(syntax.Lang(lang))
		if err != nil {
			t.Skip()
		}
		before, err := parser.Parse(syntax.Lang(lang), d.LF())
		require.NoError(t, err)
		r, err := p.Rewrite("a", syntax.Lang(lang), d, false)
		if err != nil {
			require.Equal(t, CodeFile, err.(*Error).Code)
			return
		}
		if rules[0].pattern.MayMatch(d.LF()) {
			checkPlan(t, before, rules[0], r)
		} else {
			require.False(t, r.Changed)
		}
		require.Equal(t, r.Changed, r.Doc.Raw() != d.Raw())
		if r.Changed && len(before.Faults(1)) == 0 {
			after, err := parser.Parse(syntax.Lang(lang), r.Doc.LF())
			require.NoError(t, err)
			require.Empty(t, after.Faults(1), "%q", r.Doc.LF())
		}
	})
}

// checkPlan holds that the edits of a rule lie in its matches, or take a line
// along that is left blank, and that the result is they and nothing else.
func checkPlan(t *testing.T, tree *syntax.Tree, rule *Rule, r Result) {
	plan := rule.Plan(tree)
	require.Equal(t, plan.Matches, r.Matches)
	var want strings.Builder
	at := 0
	for _, e := range plan.Edits {
		require.LessOrEqual(t, at, e.Start)
		within := false
		for _, m := range rule.pattern.Find(tree) {
			start, end := m.Start, m.End
			if e.New == "" {
				start, end = wholeLines(tree.Source, start, m.Kept)
			}
			within = within || start <= e.Start && e.End <= max(end, m.End)
		}
		require.True(t, within, "an edit of %q", tree.Source[e.Start:e.End])
		want.WriteString(tree.Source[at:e.Start] + e.New)
		at = e.End
	}
	want.WriteString(tree.Source[at:])
	require.Equal(t, want.String(), r.Doc.LF())
}

// What the user writes as a pattern is compiled or refused, and a pattern
// finds itself: its own source, where it stands alone.
func FuzzCompile(f *testing.F) {
	for _, c := range compileCases {
		f.Add(string(c.lang), c.pat)
	}
	for _, c := range rewriteCases {
		f.Add(string(c.lang), c.pat)
		f.Add(string(c.lang), c.out)
	}
	f.Fuzz(func(t *testing.T, lang, pat string) {
		p, err := Compile(parser, syntax.Lang(lang), pat)
		if err != nil {
			require.IsType(t, &Error{}, err)
			require.NotEmpty(t, err.Error())
			return
		}
		require.NotEmpty(t, p.shapes)
		if len(metavars(pat)) > 0 {
			return
		}
		for _, at := range dialectOf(p.lang).places {
			src := at.before + p.src + at.after
			tree, err := parser.Parse(p.lang, src)
			require.NoError(t, err)
			if len(tree.Faults(1)) == 0 && len(p.Find(tree)) > 0 {
				return
			}
		}
		t.Fatalf("%q finds itself in no place of %s", pat, lang)
	})
}
