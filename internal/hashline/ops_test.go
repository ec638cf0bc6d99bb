package hashline

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// parseCases show hunks as "kind first..last: rows joined by /".
var parseCases = []struct{ name, ops, want, warning string }{
	{"replace", "replace 2:\n+x", "replace 2..2: x", ""},
	{"no colon", "replace 2\n+x", "replace 2..2: x", ""},
	{"range", "replace 2..4:\n+x\n+\n+y", "replace 2..4: x//y", ""},
	{"minus", "replace 2-4:\n+x", "replace 2..4: x", ""},
	{"blank", "replace 2 4:\n+x", "replace 2..4: x", ""},
	{"ellipsis", "replace 2…4:\n+x", "replace 2..4: x", ""},
	{"three dots", "delete 2 ... 4", "delete 2..4", ""},
	{"one dot", "delete 2.4", "delete 2..4", ""},
	{"dot and equals", "delete 2.=4", "delete 2..4", ""},
	{"inclusive", "delete 2..=4", "delete 2..4", ""},
	{"inserts", "insert before 3:\n+a\ninsert after 4\n+b\ninsert head:\n+c\ninsert tail :\n+d", "before 3..3: a;after 4..4: b;head 0..0: c;tail 0..0: d", ""},
	{"blocks", "replace block 3:\n+a\ndelete block 4\ninsert after block 5:\n+b", "replace block 3: a;delete block 4;after block 5: b", ""},
	{"indented header", "  delete 2  ", "delete 2..2", ""},
	{"comment", "# why\n\n# and how\ndelete 2", "delete 2..2", ""},
	{"markers", "*** Begin Patch\ndelete 2\n*** End Patch\nwhatever", "delete 2..2", ""},
	{"abort", "delete 2\n*** Abort\ndelete 3", "delete 2..2", "ops line 2: *** Abort"},
	{"crlf ops", "replace 2:\r\n+x\r\n+y\r\n", "replace 2..2: x/y", ""},
	{"blank between rows", "replace 2:\n+x\n\n+y", "replace 2..2: x/y", "ops line 3: a blank line"},
	{"blank before rows", "replace 2:\n\n+y", "replace 2..2: y", "ops line 2: a blank line"},
	{"blank between hunks", "replace 2:\n+x\n\ndelete 4\n\n", "replace 2..2: x;delete 4..4", ""},
	{"loose rows", "replace 2:\nfoo\n  bar\n+x", "replace 2..2: foo/  bar/x", "ops line 2: rows without"},
	{"list", "replace 2:\n- a\n- b", "replace 2..2: - a/- b", "taken as a list"},
	{"a row like a header", "replace 2:\n+delete 3", "replace 2..2: delete 3", "looks like a header"},
	{"a comment in a body", "replace 2:\n# x", "replace 2..2: # x", "rows without"},
	{"numbers out of order", "replace 2:\n+3| x\n+1| y", "replace 2..2: 3| x/1| y", ""},
	{"a single number elsewhere", "replace 2:\n+9| x", "replace 2..2: 9| x", ""},
	{"variables", "replace 2:\n+echo $HOME", "replace 2..2: echo $HOME", ""},
	{"instance variable", "replace 2:\n@@count = 1", "replace 2..2: @@count = 1", "rows without"},
	{"word that begins like a verb", "replace 2:\nreplacement 3\ninsertion", "replace 2..2: replacement 3/insertion", "rows without"},
}

func show(hunks []Hunk) string {
	names := map[Kind]string{Replace: "replace", Delete: "delete", InsertBefore: "before", InsertAfter: "after", InsertHead: "head", InsertTail: "tail"}
	var out []string
	for _, h := range hunks {
		s := fmt.Sprintf("%s %d..%d", names[h.Kind], h.First, h.Last)
		if h.Block {
			s = fmt.Sprintf("%s block %d", names[h.Kind], h.First)
		}
		if h.Rows != nil {
			s += ": " + strings.Join(h.Rows, "/")
		}
		out = append(out, s)
	}
	return strings.Join(out, ";")
}

func TestParse(t *testing.T) {
	for _, c := range parseCases {
		t.Run(c.name, func(t *testing.T) {
			got, err := Parse(c.ops, 0)
			require.NoError(t, err)
			assert.Equal(t, c.want, show(got.Hunks))
			if c.warning == "" {
				assert.Empty(t, got.Warnings)
			} else {
				require.Len(t, got.Warnings, 1)
				assert.Contains(t, got.Warnings[0], c.warning)
			}
		})
	}
}

var refusedCases = []struct {
	name, ops string
	code      Code
	says      []string
}{
	{"nothing", "", CodeEmpty, []string{"replace A..B:"}},
	{"blanks and comments", "\n# x\n  \n", CodeEmpty, nil},
	{"markers alone", "*** Begin Patch\n*** End Patch", CodeEmpty, nil},
	{"brackets", "@@ -1 +1 @@", CodeParse, []string{"ops line 1", "brackets", "not used here"}},
	{"brackets in a body", "replace 1:\n+x\n@@ -1 +1 @@", CodeParse, []string{"ops line 3", "brackets"}},
	{"update file", "*** Update File: a.txt", CodeParse, []string{"another patch format"}},
	{"delete with a colon", "delete 2:", CodeParse, []string{"no colon", `"delete 2"`}},
	{"bare range", "2..3", CodeParse, []string{"no verb", `"replace 2..3:"`}},
	{"bare number", "replace 1:\n+x\n5:", CodeParse, []string{"ops line 3", "no verb"}},
	{"no row", "replace 2:", CodeParse, []string{"delete"}},
	{"no row to insert", "insert after 2:\ndelete 3", CodeParse, []string{"ops line 1", "no row"}},
	{"row under delete", "delete 2\n+x", CodeParse, []string{"ops line 2", "takes no body"}},
	{"text under delete", "delete 2\nfoo", CodeParse, []string{"takes no body"}},
	{"comment under delete", "delete 2\n# foo", CodeParse, []string{"takes no body"}},
	{"row without header", "+x", CodeParse, []string{"below no header"}},
	{"text without header", "hello", CodeParse, []string{"below no header"}},
	{"unified diff", "--- a/x\n+++ b/x", CodeParse, []string{"not a unified diff"}},
	{"minus row", "replace 2:\n-old\n+new", CodeParse, []string{"ops line 2", `"+-…"`}},
	{"list with a plus row", "replace 2:\n- a\n+b", CodeParse, []string{`"+-…"`}},
	{"pasted view", "replace 2..3:\n+2| a\n+3| b", CodeParse, []string{"line numbers"}},
	{"pasted view, one row", "replace 2:\n+2| a", CodeParse, []string{"line numbers"}},
	{"pasted view without plus", "replace 2..3:\n2| a\n3| b", CodeParse, []string{"line numbers"}},
	{"line 0", "replace 0..1:\n+x", CodeParse, []string{"numbered from 1"}},
	{"upper case", "Replace 2:\n+x", CodeParse, []string{"lower case"}},
	{"text on the header", "replace 2: x", CodeParse, []string{"nothing may follow the colon"}},
	{"insert without a side", "insert 2:\n+x", CodeParse, []string{"insert before N"}},
	{"before block", "insert before block 2:\n+x", CodeParse, []string{"insert before N"}},
	{"block with a range", "replace block 2..3:\n+x", CodeParse, []string{"block N"}},
	{"the word line", "replace line 2:\n+x", CodeParse, []string{"leave out the word"}},
	{"broken header in a body", "replace 2:\n+x\nreplace 4 to 5:\n+y", CodeParse, []string{"ops line 3", "not a header"}},
	{"section", "delete 2\n¶b.txt#B6C1\ndelete 3", CodeParse, []string{"another file"}},
	{"nul", "replace 2:\n+\x00", CodeParse, []string{"NUL"}},
	{"carriage return", "replace 2:\n+x\r\r\n+y", CodeParse, []string{"carriage return"}},

	{"reversed", "replace 2..1:\n+x", CodeRangeOrder, []string{"2..1"}},
	{"beyond", "delete 3..4", CodeLineRange, []string{"no line 4", "3 lines", "*3| gamma"}},
	{"insert beyond", "insert after 4:\n+x", CodeLineRange, []string{"3 lines", "insert tail"}},
	{"far beyond", "delete 99999999999999999999", CodeLineRange, []string{"3 lines"}},
	{"overlap", "replace 1..2:\n+x\ndelete 2", CodeOverlap, []string{"ops lines 1 and 3", "line 2"}},
	{"overlap, other order", "delete 3\nreplace 1..3:\n+x", CodeOverlap, []string{"ops lines 1 and 2"}},
	{"inside a range", "delete 1..3\ninsert after 1:\n+x", CodeOverlap, []string{"ops lines 1 and 2", "between lines 1 and 2"}},
	{"inside a range, before", "delete 1..3\ninsert before 3:\n+x", CodeOverlap, []string{"ops lines 1 and 2"}},
}

func TestRefused(t *testing.T) {
	base := "alpha\nbeta\ngamma\n"
	for _, c := range refusedCases {
		t.Run(c.name, func(t *testing.T) {
			got, err := edit(t, base, base, c.ops)
			e := refusal(t, err)
			assert.Equal(t, c.code, e.Code, err.Error())
			assert.Contains(t, err.Error(), "a.txt: ")
			for _, s := range c.says {
				assert.Contains(t, err.Error(), s)
			}
			assert.Equal(t, Result{}, got)
		})
	}
}

func TestHugeRange(t *testing.T) {
	base := strings.Repeat("x\n", MaxRange+1)
	_, err := edit(t, base, base, fmt.Sprintf("delete 1..%d", MaxRange+1))
	assert.Equal(t, CodeRangeHuge, refusal(t, err).Code)
	_, err = edit(t, base, base, fmt.Sprintf("delete 1..%d", MaxRange))
	assert.NoError(t, err)
}

func TestOpsLineNumbers(t *testing.T) {
	_, err := Parse("delete 2\noops", 10)
	assert.Equal(t, []int{11}, refusal(t, err).Details.OpsLines)
}

func FuzzParse(f *testing.F) {
	for _, c := range parseCases {
		f.Add(c.ops, "alpha\nbeta\ngamma\n")
	}
	for _, c := range refusedCases {
		f.Add(c.ops, "alpha\nbeta")
	}
	f.Fuzz(func(t *testing.T, ops, base string) {
		got, err := Parse(ops, 0)
		if err != nil {
			_ = refusal(t, err)
			return
		}
		require.NotEmpty(t, got.Hunks)
		for _, h := range got.Hunks {
			require.Equal(t, h.Kind == Delete, len(h.Rows) == 0)
		}
	})
}

// A NUL is told of where it stands, before the file is looked at.
func TestNULIsRefused(t *testing.T) {
	for _, c := range []struct {
		change Change
		code   Code
		says   string
	}{
		{Script{Ops: "replace 1:\n+a\x00b"}, CodeParse, "ops line 2: the line holds a NUL"},
		{Script{Ops: "delete 1\n+a\x00", FirstLine: 5}, CodeParse, "ops line 6: the line holds a NUL"},
		{Substitution{Old: "a", New: "x\ny\x00"}, CodeArgs, "new_string holds a NUL character in its line 2"},
	} {
		_, err := Apply(Request{Path: "a.txt", Live: doc(t, "a\n"), Tag: tagOf(t, "a\n"), Change: c.change})
		var refused *Error
		require.ErrorAs(t, err, &refused)
		assert.Equal(t, c.code, refused.Code)
		assert.Contains(t, err.Error(), "nothing written: a.txt: "+c.says)
	}
}
