package presenter

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/text"
)

// numberedLines is the text of lines l1 to ln, some of them replaced.
func numberedLines(n int, replaced map[int]string) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		if s, ok := replaced[i]; ok {
			b.WriteString(s)
		} else {
			fmt.Fprintf(&b, "l%d\n", i)
		}
	}
	return b.String()
}

func ptr(s string) *string { return &s }

var hunkCases = []struct {
	name          string
	before, after string
	want          []FileDiff
}{
	{"equal", "a\n", "a\n", nil},
	{"both empty", "", "", nil},
	{"one line in the middle", numberedLines(8, nil), numberedLines(8, map[int]string{4: "X\n"}),
		[]FileDiff{{OldText: ptr("l1\nl2\nl3\nl4\nl5\nl6\nl7"), NewText: "l1\nl2\nl3\nX\nl5\nl6\nl7", OldStart: 1, NewStart: 1, Added: 1, Removed: 1}}},
	{"first line", numberedLines(5, nil), numberedLines(5, map[int]string{1: "Z\n"}),
		[]FileDiff{{OldText: ptr("l1\nl2\nl3\nl4"), NewText: "Z\nl2\nl3\nl4", OldStart: 1, NewStart: 1, Added: 1, Removed: 1}}},
	{"insertion", numberedLines(6, nil), numberedLines(6, map[int]string{3: "l3\nN\n"}),
		[]FileDiff{{OldText: ptr("l1\nl2\nl3\nl4\nl5\nl6"), NewText: "l1\nl2\nl3\nN\nl4\nl5\nl6", OldStart: 1, NewStart: 1, Added: 1}}},
	{"deletion", numberedLines(6, nil), numberedLines(6, map[int]string{3: ""}),
		[]FileDiff{{OldText: ptr("l1\nl2\nl3\nl4\nl5\nl6"), NewText: "l1\nl2\nl4\nl5\nl6", OldStart: 1, NewStart: 1, Removed: 1}}},
	{"append", numberedLines(5, nil), numberedLines(6, nil),
		[]FileDiff{{OldText: ptr("l3\nl4\nl5"), NewText: "l3\nl4\nl5\nl6", OldStart: 3, NewStart: 3, Added: 1}}},
	{"six lines between", numberedLines(20, nil), numberedLines(20, map[int]string{5: "X\n", 12: "Y\n"}),
		[]FileDiff{{OldText: ptr("l2\nl3\nl4\nl5\nl6\nl7\nl8\nl9\nl10\nl11\nl12\nl13\nl14\nl15"),
			NewText: "l2\nl3\nl4\nX\nl6\nl7\nl8\nl9\nl10\nl11\nY\nl13\nl14\nl15", OldStart: 2, NewStart: 2, Added: 2, Removed: 2}}},
	{"seven lines between", numberedLines(20, nil), numberedLines(20, map[int]string{5: "X\n", 13: "Y\n"}),
		[]FileDiff{
			{OldText: ptr("l2\nl3\nl4\nl5\nl6\nl7\nl8"), NewText: "l2\nl3\nl4\nX\nl6\nl7\nl8", OldStart: 2, NewStart: 2, Added: 1, Removed: 1},
			{OldText: ptr("l10\nl11\nl12\nl13\nl14\nl15\nl16"), NewText: "l10\nl11\nl12\nY\nl14\nl15\nl16", OldStart: 10, NewStart: 10, Added: 1, Removed: 1},
		}},
	{"later hunks are shifted", numberedLines(20, nil), numberedLines(20, map[int]string{1: "A\nB\nl1\n", 20: "Z\n"}),
		[]FileDiff{
			{OldText: ptr("l1\nl2\nl3"), NewText: "A\nB\nl1\nl2\nl3", OldStart: 1, NewStart: 1, Added: 2},
			{OldText: ptr("l17\nl18\nl19\nl20"), NewText: "l17\nl18\nl19\nZ", OldStart: 17, NewStart: 19, Added: 1, Removed: 1},
		}},
	{"CR was folded before", "a\nb\n", "a\nB\n",
		[]FileDiff{{OldText: ptr("a\nb"), NewText: "a\nB", OldStart: 1, NewStart: 1, Added: 1, Removed: 1}}},
	{"into nothing", "", "x\n", []FileDiff{{NewText: "x", OldStart: 1, NewStart: 1, Added: 1}}},
	{"a blank line into nothing", "", "\n", []FileDiff{{NewText: "", OldStart: 1, NewStart: 1, Added: 1}}},
	{"to nothing", "x\n", "", []FileDiff{{OldText: ptr("x"), NewText: "", OldStart: 1, NewStart: 1, Removed: 1}}},
	{"a blank line replaced", "\n", "x\n", []FileDiff{{OldText: ptr(""), NewText: "x", OldStart: 1, NewStart: 1, Added: 1, Removed: 1}}},
	{"a blank line to nothing", "\n", "", []FileDiff{{OldText: ptr(""), NewText: "", OldStart: 1, NewStart: 1, Removed: 1}}},
	{"no final newline on both sides", "x", "y", []FileDiff{{OldText: ptr("x"), NewText: "y", OldStart: 1, NewStart: 1, Added: 1, Removed: 1}}},
	{"no final newline, two lines", "a\nb", "a\nc", []FileDiff{{OldText: ptr("a\nb"), NewText: "a\nc", OldStart: 1, NewStart: 1, Added: 1, Removed: 1}}},
	{"final newline removed", "a\n", "a", []FileDiff{{OldText: ptr("a\n"), NewText: "a", OldStart: 1, NewStart: 1, Added: 1, Removed: 1}}},
	{"final newline added", "a", "a\n", []FileDiff{{OldText: ptr("a"), NewText: "a\n", OldStart: 1, NewStart: 1, Added: 1, Removed: 1}}},
	{"final newline added below context", "a\nb", "a\nb\n", []FileDiff{{OldText: ptr("a\nb"), NewText: "a\nb\n", OldStart: 1, NewStart: 1, Added: 1, Removed: 1}}},
	{"final newline and more", "a\nb", "A\nb\n", []FileDiff{{OldText: ptr("a\nb"), NewText: "A\nb", OldStart: 1, NewStart: 1, Added: 2, Removed: 2}}},
	{"lone CR is content", "a\rb\n", "a\rc\n", []FileDiff{{OldText: ptr("a\rb"), NewText: "a\rc", OldStart: 1, NewStart: 1, Added: 1, Removed: 1}}},
	{"blank context lines stay", "a\n\nb\n\n", "a\n\nc\n\n", []FileDiff{{OldText: ptr("a\n\nb\n"), NewText: "a\n\nc\n", OldStart: 1, NewStart: 1, Added: 1, Removed: 1}}},
	{"an inserted duplicate comes last", "a\na\n", "a\na\na\n", []FileDiff{{OldText: ptr("a\na"), NewText: "a\na\na", OldStart: 1, NewStart: 1, Added: 1}}},
}

func TestHunks(t *testing.T) {
	for _, c := range hunkCases {
		t.Run(c.name, func(t *testing.T) {
			for i := range c.want {
				c.want[i].Path = "f.txt"
			}
			assert.Equal(t, c.want, Hunks("f.txt", c.before, c.after))
		})
	}
}

func TestHunksOfScatteredMatches(t *testing.T) {
	foo, bar := map[int]string{}, map[int]string{}
	for _, i := range []int{3, 30, 60} {
		foo[i], bar[i] = "foo\n", "bar\n"
	}
	var starts []int
	for _, d := range Hunks("f", numberedLines(80, foo), numberedLines(80, bar)) {
		starts = append(starts, d.OldStart)
	}
	assert.Equal(t, []int{1, 27, 57}, starts)
}

func TestHunksBound(t *testing.T) {
	words := func(word string, n int) string {
		var b strings.Builder
		b.WriteString("head 1\nhead 2\n")
		for i := range n {
			fmt.Fprintf(&b, "%s %d\n", word, i)
		}
		b.WriteString("tail 1\ntail 2\ntail 3\ntail 4\n")
		return b.String()
	}
	t.Run("at the bound", func(t *testing.T) {
		d := Hunks("f", words("old", text.MaxDistance/2), words("new", text.MaxDistance/2))
		require.Len(t, d, 1)
		assert.False(t, d[0].Coarse)
	})
	t.Run("above", func(t *testing.T) {
		d := Hunks("f", words("old", text.MaxDistance/2+1), words("new", text.MaxDistance/2))
		require.Len(t, d, 1)
		assert.True(t, d[0].Coarse)
		assert.Equal(t, 3001, d[0].Removed)
		assert.Equal(t, 3000, d[0].Added)
		assert.True(t, strings.HasPrefix(d[0].NewText, "head 1\nhead 2\nnew 0\n"))
		assert.True(t, strings.HasSuffix(d[0].NewText, "\ntail 1\ntail 2\ntail 3"))
	})
	t.Run("one side empty needs no search", func(t *testing.T) {
		d := Hunks("f", "", words("new", 2*text.MaxDistance))
		require.Len(t, d, 1)
		assert.False(t, d[0].Coarse)
		d = Hunks("f", "head 1\n", words("new", 2*text.MaxDistance))
		require.Len(t, d, 1)
		assert.False(t, d[0].Coarse)
	})
}

func TestLineHunks(t *testing.T) {
	for _, c := range []struct {
		name          string
		before, after string
		context       int
		want          []Hunk
	}{
		{"no newline on both sides", "a\nb\nc", "A\nb\nc", 3,
			[]Hunk{{1, 3, 1, 3, []string{"-a", "+A", " b", " c", NoNewline}, false}}},
		{"final newline added", "a\nb", "a\nb\n", 3,
			[]Hunk{{1, 2, 1, 2, []string{" a", "-b", NoNewline, "+b"}, false}}},
		{"no context", "a\nb\nc\n", "a\nc\n", 0,
			[]Hunk{{2, 1, 2, 0, []string{"-b"}, false}}},
		{"negative context", "a\nb\nc\n", "a\nc\n", -5,
			[]Hunk{{2, 1, 2, 0, []string{"-b"}, false}}},
		{"all context", "a\nb\nc\nd\n", "a\nb\nc\nD\n", 1 << 62,
			[]Hunk{{1, 4, 1, 4, []string{" a", " b", " c", "-d", "+D"}, false}}},
		{"equal", "a", "a", 3, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, LineHunks(c.before, c.after, c.context))
		})
	}
}

func TestUnified(t *testing.T) {
	assert.Equal(t, "", Unified("a", "b", nil))
	assert.Equal(t, "--- a/f\n+++ b/f\n@@ -1,2 +1,1 @@\n a\n-b\n",
		Unified("a/f", "b/f", LineHunks("a\nb\n", "a\n", 3)))
	assert.Equal(t, "--- a\n+++ b\n@@ -0,0 +1,1 @@\n+x\n\\ No newline at end of file\n",
		Unified("a", "b", LineHunks("", "x", 3)))
}

// corpusPair is a line of the corpus.
type corpusPair struct {
	Class, Before, After string
	Context              int
	Hunks                [][5]any
}

func corpus(t testing.TB) []corpusPair {
	f, err := os.Open("testdata/hunks/corpus.jsonl.gz")
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	var pairs []corpusPair
	s := bufio.NewScanner(z)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var p corpusPair
		require.NoError(t, json.Unmarshal(s.Bytes(), &p))
		pairs = append(pairs, p)
	}
	require.NoError(t, s.Err())
	return pairs
}

// signs gives hunks in the form of the corpus.
func signs(hunks []Hunk) [][5]any {
	all := [][5]any{}
	for _, h := range hunks {
		var b strings.Builder
		for _, line := range h.Lines {
			b.WriteByte(line[0])
		}
		all = append(all, [5]any{float64(h.OldStart), float64(h.OldLines), float64(h.NewStart), float64(h.NewLines), b.String()})
	}
	return all
}

func TestHunksEqualThoseOfThePackageDiff(t *testing.T) {
	pairs := corpus(t)
	require.GreaterOrEqual(t, len(pairs), 2000)
	classes := map[string]int{}
	for i, p := range pairs {
		classes[p.Class]++
		got := LineHunks(p.Before, p.After, p.Context)
		require.Equal(t, p.Hunks, signs(got), "pair %d (%s)\n%q\n%q", i, p.Class, p.Before, p.After)
		requireApplies(t, p.Before, p.After, got)
	}
	t.Logf("%d pairs: %v", len(pairs), classes)
}

// requireApplies checks that hunks turn before into after, and that their
// lines are those of the texts.
func requireApplies(t testing.TB, before, after string, hunks []Hunk) {
	lines := strings.SplitAfter(before, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	var b strings.Builder
	at, newLine := 0, 1
	for _, h := range hunks {
		for ; at < h.OldStart-1; at++ {
			b.WriteString(lines[at])
			newLine++
		}
		require.Equal(t, newLine, h.NewStart)
		oldLines, newLines := 0, 0
		for i, line := range h.Lines {
			if line == NoNewline {
				continue
			}
			content := line[1:] + "\n"
			if i+1 < len(h.Lines) && h.Lines[i+1] == NoNewline {
				content = line[1:]
			}
			if line[0] != '+' {
				require.Equal(t, lines[at], content)
				at++
				oldLines++
			}
			if line[0] != '-' {
				b.WriteString(content)
				newLines++
			}
		}
		require.Equal(t, h.OldLines, oldLines)
		require.Equal(t, h.NewLines, newLines)
		newLine += newLines
	}
	for ; at < len(lines); at++ {
		b.WriteString(lines[at])
	}
	require.Equal(t, after, b.String())
}
