package tools

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/text"
)

var substitutions = []struct {
	name, file, old, new string
	all                  bool
	after                string // of the LF view; "" with a code
	code                 string
	breaks               int
}{
	{"once", "a b c", "b", "B", false, "a B c", "", 0},
	{"literal", "x=V", "V", `$& $1 \1 \n`, false, `x=$& $1 \1 \n`, "", 0},
	{"twice", "a a", "a", "b", false, "", CodeAmbiguousEdit, 0},
	{"overlap", "aaa", "aa", "b", false, "", CodeAmbiguousEdit, 0},
	{"all without overlap", "aaaaa", "aa", "b", true, "bba", "", 0},
	{"none", "a", "b", "c", false, "", CodeEditNotFound, 0},
	{"none of all", "a", "b", "c", true, "", CodeEditNotFound, 0},
	{"empty file", "", "", "x\r\n", false, "x\n", "", 0},
	{"empty old", "a", "", "x", false, "", CodeEditNotFound, 0},
	{"whole line", "a\nb\nc\n", "b", "", false, "a\nc\n", "", 1},
	{"whole lines", "a\nb\nc\n", "a\nb", "", false, "c\n", "", 1},
	{"whole line with its break", "a\nb\nc\n", "b\n", "", false, "a\nc\n", "", 0},
	{"last line", "a\nb", "b", "", false, "a\n", "", 0},
	{"end of a line", "a b\nc\n", " b", "", false, "a\nc\n", "", 0},
	{"start of a line", "a b\nc\n", "a ", "", false, "b\nc\n", "", 0},
	{"blank line", "a\n\nb\n", "a\n\nb", "", false, "", "", 1},
	{"all whole lines", "x\ny\nx\n", "x", "", true, "y\n", "", 2},
	{"some whole lines", "x\nxy\nx", "x", "", true, "y\n", "", 1},
	{"the next match takes the break", "\nx\nx\n", "\nx", "", true, "\n", "", 0},
}

func TestSubstitution(t *testing.T) {
	for _, c := range substitutions {
		d, err := text.ParseString(c.file)
		require.NoError(t, err)
		got, err := substitution{path: "f", old: c.old, new: c.new, all: c.all}.apply(d)
		if c.code != "" {
			var f *failure
			require.ErrorAs(t, err, &f, c.name)
			assert.Equal(t, c.code, f.code, c.name)
			continue
		}
		require.NoError(t, err, c.name)
		assert.Equal(t, c.after, got.after.LF(), c.name)
		assert.Equal(t, c.breaks, got.breaks, c.name)
	}
}

// FuzzSubstitution: an edit does to the LF view what a plain replacement
// does, but for line breaks that it reports; all else is a refusal.
func FuzzSubstitution(f *testing.F) {
	for _, c := range substitutions {
		f.Add(c.file, c.old, c.new, c.all)
	}
	f.Add("\ta\r\n\tb\n", "    a\n    b", "x", false)
	f.Add("“x” – y…\u00a0z", "\"x\" - y... z", "x", false)
	f.Fuzz(func(t *testing.T, file, old, new string, all bool) {
		d, err := text.ParseString(file)
		if err != nil {
			return
		}
		if _, err := text.ParseString(old + new); err != nil {
			return
		}
		old = text.Fold(old)
		if old == text.Fold(new) {
			return
		}
		lf := d.LF()
		got, err := substitution{path: "f", old: old, new: new, all: all}.apply(d)
		n := strings.Count(lf, old)
		if err != nil {
			if old != "" && (n == 1 || n > 0 && all) && len(text.FindAll(lf, old)) == 1 {
				t.Fatalf("refused: %v", err)
			}
			if !strings.Contains(err.Error(), "nothing was written") {
				t.Fatalf("the refusal does not say that nothing was written: %v", err)
			}
			return
		}
		if got.after.BOM() != d.BOM() && lf != "" {
			t.Fatal("the mark has changed")
		}
		if old == "" || got.breaks > 0 {
			return
		}
		// A CR that comes to stand before a line feed makes one CRLF of the two.
		want := text.Fold(strings.ReplaceAll(lf, old, text.Fold(new)))
		if have := got.after.LF(); have != want {
			t.Fatalf("%q with %q for %q became %q, want %q", lf, new, old, have, want)
		}
	})
}
