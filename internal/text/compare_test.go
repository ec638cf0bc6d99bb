package text

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCompareLines(t *testing.T) {
	for _, c := range []struct {
		before, after string
		want          []LineChange
	}{
		{"", "", nil},
		{"a\n", "a\n", nil},
		{"", "a\n", []LineChange{{1, 1, 1, 2}}},
		{"a\n", "", []LineChange{{1, 2, 1, 1}}},
		{"a\nb\nc\n", "a\nX\nc\n", []LineChange{{2, 3, 2, 3}}},
		{"a\nb\nc\n", "a\nc\n", []LineChange{{2, 3, 2, 2}}},
		{"a\nb\n", "x\na\nb\ny\n", []LineChange{{1, 1, 1, 2}, {3, 3, 4, 5}}},
		{"a\na\n", "a\na\na\n", []LineChange{{3, 3, 3, 4}}},
		{"a", "a\n", []LineChange{{1, 2, 1, 2}}},
		{"a\nb", "a\nb\nc", []LineChange{{2, 3, 2, 4}}},
		{"b\nc", "a\nb\nc", []LineChange{{1, 1, 1, 2}}},
	} {
		d := CompareLines(c.before, c.after)
		assert.Equal(t, c.want, d.Changes, "%q %q", c.before, c.after)
		assert.False(t, d.Coarse)
		assert.Equal(t, countLines(c.before), d.OldLines())
		assert.Equal(t, countLines(c.after), d.NewLines())
		assert.Equal(t, c.before, d.OldText(1, d.OldLines()+1))
		assert.Equal(t, c.after, d.NewText(1, d.NewLines()+1))
	}
}

func TestCompareLinesIsCoarseBeyondItsBound(t *testing.T) {
	lines := func(word string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%s%d\n", word, i)
		}
		return "head\n" + b.String() + "tail\n"
	}
	d := CompareLines(lines("a", MaxDistance/2), lines("b", MaxDistance/2))
	assert.False(t, d.Coarse)
	d = CompareLines(lines("a", MaxDistance/2), lines("b", MaxDistance/2+1))
	assert.True(t, d.Coarse)
	assert.Equal(t, []LineChange{{2, 3002, 2, 3003}}, d.Changes)
}

func TestTextFarAboveTheFirstChange(t *testing.T) {
	var head strings.Builder
	for i := range 3 * near {
		fmt.Fprintf(&head, "%d\n", i)
	}
	d := CompareLines(head.String()+"a\nb", head.String()+"A\nb")
	require.Equal(t, []LineChange{{3*near + 1, 3*near + 2, 3*near + 1, 3*near + 2}}, d.Changes)
	all := strings.SplitAfter(head.String()+"A\nb", "\n")
	for i, line := range all {
		assert.Equal(t, line, d.NewText(i+1, i+2))
	}
	assert.Equal(t, head.String()+"a\nb", d.OldText(1, len(all)+1))
	same := CompareLines(head.String()+"x", head.String()+"x")
	assert.Equal(t, head.String()+"x", same.OldText(1, same.OldLines()+1))
	assert.Equal(t, "x", same.NewText(3*near+1, 3*near+2))
}

func TestNewLine(t *testing.T) {
	d := CompareLines("1\n2\n3\n4\n5\n6\n", "0\n1\n2\nX\n4\n6\n")
	for i, want := range []struct {
		line int
		same bool
	}{{2, true}, {3, true}, {4, false}, {5, true}, {6, false}, {6, true}, {7, true}} {
		line, same := d.NewLine(i + 1)
		assert.Equal(t, want.line, line, "line %d", i+1)
		assert.Equal(t, want.same, same, "line %d", i+1)
	}
}

// The changes, applied, turn one text into the other; and all that is not
// changed is equal.
func FuzzCompareLines(f *testing.F) {
	f.Add("a\nb\nc", "a\nc\n")
	f.Add("x\nx\ny\n", "y\nx\nx\n")
	f.Add("\n\n\n", "\n")
	f.Fuzz(func(t *testing.T, before, after string) {
		d := CompareLines(before, after)
		var b strings.Builder
		old, new := 1, 1
		for _, c := range d.Changes {
			require.Equal(t, c.Old-old, c.New-new)
			require.Equal(t, d.OldText(old, c.Old), d.NewText(new, c.New))
			b.WriteString(d.OldText(old, c.Old) + d.NewText(c.New, c.NewEnd))
			old, new = c.OldEnd, c.NewEnd
		}
		b.WriteString(d.OldText(old, d.OldLines()+1))
		require.Equal(t, after, b.String())
	})
}
