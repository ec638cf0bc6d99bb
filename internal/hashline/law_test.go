package hashline

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/text"
)

// modelled does ops the plain way: on a list of lines, anchor by anchor. kept
// maps the lines of the result to those of d that they are, 0 for new ones.
func modelled(d text.Doc, hunks []Hunk) (lines []string, kept []int) {
	n := d.Lines()
	put := func(rows []string) {
		for _, row := range rows {
			lines, kept = append(lines, row), append(kept, 0)
		}
	}
	rows := func(k Kind, line int) {
		for _, h := range hunks {
			if h.Kind == k && h.First == line {
				put(h.Rows)
			}
		}
	}
	rows(InsertHead, 0)
	for i := 1; i <= n; i++ {
		rows(InsertBefore, i)
		gone := false
		for _, h := range hunks {
			if (h.Kind == Replace || h.Kind == Delete) && h.First <= i && i <= h.Last {
				gone = true
				if h.First == i {
					put(h.Rows)
				}
			}
		}
		if !gone {
			lines, kept = append(lines, d.Line(i)), append(kept, i)
		}
		rows(InsertAfter, i)
	}
	rows(InsertTail, 0)
	return lines, kept
}

// The plain model, line by line; all bytes of lines that were not named stay;
// edits are as small as the lines that they name.
func FuzzApply(f *testing.F) {
	for _, c := range exampleCases {
		f.Add(notation.Replace(c.tagged), c.ops)
	}
	for _, c := range refusedCases {
		f.Add("alpha\r\nbeta\ngamma", c.ops)
	}
	f.Fuzz(func(t *testing.T, base, ops string) {
		d, err := text.ParseString(base)
		if err != nil {
			return
		}
		got, err := Apply(Request{Path: "f", Live: d, Tag: Identify(d).Short().String(), Change: Script{Ops: ops}})
		if err != nil {
			refusal(t, err)
			require.Equal(t, Result{}, got)
			return
		}
		parsed, err := Parse(ops, 0)
		require.NoError(t, err)
		lines, kept := modelled(d, parsed.Hunks)

		want := strings.Join(lines, "\n")
		if len(lines) > 0 && (d.Lines() == 0 || d.Shape().FinalNewline) {
			want += "\n"
		}
		if strings.HasPrefix(want, "\uFEFF") && !d.BOM() {
			want = want[len("\uFEFF"):] // such a row makes it the file's mark
		}
		// A carriage return right before a line end that is added, at the open
		// end of a text, is read as one ending with it: the bytes stay. The
		// model's own line ends meet such lines too, so both sides are folded.
		require.Equal(t, text.Fold(want), text.Fold(got.Doc.LF()))
		require.Equal(t, base != got.Doc.Raw(), got.Changed)

		for i, line := range kept {
			if line == 0 || i+1 > got.Doc.Lines() {
				continue
			}
			before, after := d.LineEnding(line), got.Doc.LineEnding(i+1)
			// The last line of a text may gain or lose its end, no other.
			if before != text.NoEnding && after != text.NoEnding {
				require.Equal(t, before, after, "line %d", line)
			}
		}
		if !got.Changed {
			require.Zero(t, got.FirstChangedLine)
			return
		}
		first := got.FirstChangedLine
		require.GreaterOrEqual(t, first, 1)
		for i := 1; i < first; i++ {
			require.Equal(t, d.Line(i), got.Doc.Line(i))
		}
	})
}

var substituteCases = []struct {
	name, in, old, new string
	all                bool
	want, note         string
}{
	{"a part of a line", "a foo b|", "foo", "bar", false, "a bar b|", ""},
	{"across lines", "a|b|c|", "a\nb", "x", false, "x|c|", ""},
	{"in a crlf file", "a¬|b¬|c¬|", "a\nb", "x\ny\nz", false, "x¬|y¬|z¬|c¬|", ""},
	{"old text with crlf", "a|b|", "a\r\nb", "x", false, "x|", ""},
	{"joins the next line", "a|b|", "a\n", "A", false, "Ab|", ""},
	{"the final newline", "a|b|", "b\n", "b", false, "a|b", ""},
	{"whole lines go", "a|b|c|", "b", "", false, "a|c|", "last line break"},
	{"whole lines with their end go", "a|b|c|", "b\n", "", false, "a|c|", ""},
	{"a part goes", "a|bc|", "b", "", false, "a|c|", ""},
	{"all", "x y x|x|", "x", "z", true, "z y z|z|", "3 occurrences replaced"},
	{"all, apart", "aaaa|", "aa", "b", true, "bb|", "2 occurrences replaced"},
}

func TestSubstitute(t *testing.T) {
	for _, c := range substituteCases {
		t.Run(c.name, func(t *testing.T) {
			in := notation.Replace(c.in)
			got, err := Apply(Request{Live: doc(t, in), Tag: tagOf(t, in), Change: Substitution{c.old, c.new, c.all}})
			require.NoError(t, err)
			assert.Equal(t, notation.Replace(c.want), got.Doc.Raw())
			assert.Contains(t, strings.Join(got.Warnings, "\n"), c.note)
			assert.Equal(t, c.note == "", len(got.Warnings) == 0)

			// The same after somebody put a line above and one below.
			live := "above\n" + in
			if strings.HasSuffix(in, "\n") {
				got, err = Apply(Request{Live: doc(t, live), Versions: recorded(t, in), Tag: tagOf(t, in), Change: Substitution{c.old, c.new, c.all}})
				if err == nil {
					assert.Equal(t, text.Fold("above\n"+notation.Replace(c.want)), got.Doc.LF())
				} else {
					assert.Equal(t, ReasonNotUnique, refusal(t, err).Details.Reason)
				}
			}
		})
	}
}

func TestSubstituteMoves(t *testing.T) {
	base := "one\ntwo two\nthree\n"
	r := Request{Live: doc(t, "zero\r\none\r\ntwo two\r\nthree\r\n"), Versions: recorded(t, base), Tag: tagOf(t, base), Change: Substitution{"two\nthree", "2\n2b\n3", false}}
	got, err := Apply(r)
	require.NoError(t, err)
	assert.Equal(t, "zero\r\none\r\ntwo 2\r\n2b\r\n3\r\n", got.Doc.Raw())

	r.Live = doc(t, "one\ntwo, two\nthree\n")
	_, err = Apply(r)
	assert.Equal(t, ReasonChanged, refusal(t, err).Details.Reason)

	// Without a tag the match in the file as it is counts.
	r.Tag, r.Change = "", Substitution{"two, two", "2", false}
	got, err = Apply(r)
	require.NoError(t, err)
	assert.Equal(t, "one\n2\nthree\n", got.Doc.Raw())
	assert.Contains(t, got.Warnings[0], "had changed")
}

func TestSubstituteRefuses(t *testing.T) {
	base := "func greet(name string) {\n\treturn name\n}\nx\nx\n"
	for _, c := range []struct {
		old, new string
		code     Code
		says     []string
	}{
		{"", "x", CodeArgs, []string{"old_string is empty"}},
		{"x", "x", CodeArgs, []string{"the same"}},
		{"x\n", "y\n", CodeAmbiguous, []string{"2 times (lines 4–5)", "*4| x", "replace_all"}},
		{"func greet(name string) {\n\treturn nam", "y", CodeNoMatch[:0], nil},
		{"func greet(nam string) {\n\treturn name", "y", CodeNoMatch, []string{"%) are the lines from 1 on", "the first that differs is line 1"}},
		{"zzzzqqq", "y", CodeNoMatch, []string{"read the file again"}},
	} {
		_, err := Apply(Request{Path: "f", Live: doc(t, base), Tag: tagOf(t, base), Change: Substitution{Old: c.old, New: c.new}})
		if c.code == "" {
			require.NoError(t, err)
			continue
		}
		e := refusal(t, err)
		assert.Equal(t, c.code, e.Code)
		for _, s := range c.says {
			assert.Contains(t, err.Error(), s)
		}
	}
}

func FuzzSubstitute(f *testing.F) {
	for _, c := range substituteCases {
		f.Add(notation.Replace(c.in), c.old, c.new, c.all)
	}
	f.Fuzz(func(t *testing.T, base, old, new string, all bool) {
		d, err := text.ParseString(base)
		if err != nil {
			return
		}
		got, err := Apply(Request{Live: d, Tag: Identify(d).Short().String(), Change: Substitution{old, new, all}})
		if err != nil || new == "" || strings.Contains(new, "\uFEFF") {
			return // an empty text may take a line end with it
		}
		n := 1
		if all {
			n = -1
		}
		// A carriage return that is written before a line end makes one ending with it.
		want := strings.Replace(d.LF(), text.Fold(old), text.Fold(new), n)
		require.Equal(t, text.Fold(want), text.Fold(got.Doc.LF()))
	})
}
