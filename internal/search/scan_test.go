package search

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// scanCases: in want a matching line has a colon behind its number and one of
// context a hyphen; "--" is a gap.
var scanCases = []struct {
	name, expr, text string
	fold, multiline  bool
	before, after    int
	want             string
}{
	{name: "literal", expr: "b", text: "a\nb\nabc\n", want: "2:b 3:abc"},
	{name: "no last line end", expr: "b", text: "a\nb", want: "2:b"},
	{name: "nothing", expr: "x", text: "a\nb\n", want: ""},
	{name: "empty file", expr: "", text: "", want: ""},
	{name: "empty lines", expr: "^$", text: "a\n\nb\n\n", want: "2: 4:"},
	{name: "expression with a literal", expr: `f\w+\(`, text: "foo\nfoo(\nf(\n", want: "2:foo("},
	{name: "expression without", expr: `[0-9]{2}`, text: "a1\nb22\n333\n", want: "2:b22 3:333"},
	{name: "shape", expr: `[0-9]{2}-x`, text: "1-x\n12-y 34-x\n12-\nx\n", want: "2:12-y\u00b734-x"},
	{name: "shape in either case", expr: `[a-c]+x?[x-z]k`, fold: true, text: "bk\nAZK\nBxy\u212a\n", want: "2:AZK 3:Bxy\u212a"},
	{name: "shape that is longer than what is looked for", expr: `[0-9]{12}`, text: "12345678901\n123456789012\n", want: "2:123456789012"},
	{name: "shape over a line end", expr: `[0-9]\s[0-9]`, text: "1\n2 3\n4\r\n5\n", want: "2:2\u00b73"},
	{name: "either", expr: "ab|cd", text: "xcdx\nac\nab\n", want: "1:xcdx 3:ab"},
	{name: "common beginning", expr: "fo(o|x)", text: "fo\nfox\nfoo\n", want: "2:fox 3:foo"},
	{name: "ends", expr: "^a$", text: "a\nab\na\r\nba\n", want: "1:a 3:a"},
	{name: "crlf", expr: "b$", text: "ab\r\nb\r\nbc\r\n", want: "1:ab 2:b"},
	{name: "cr asked for", expr: `b\r`, text: "b\r\nb\n", want: "1:b"},
	{name: "space is no line end", expr: `a\sb`, text: "a\nb\na b\n", want: "3:a\u00b7b"},
	{name: "case", expr: "FoO", fold: true, text: "xfoox\nFOO\nfo\n", want: "1:xfoox 2:FOO"},
	{name: "case beyond ascii", expr: "Straße", fold: true, text: "STRAßE\nstraẞe\n", want: "1:STRAßE 2:straẞe"},
	{name: "kelvin", expr: "key", fold: true, text: "KEY\n\u212aey\nkez\n", want: "1:KEY 2:\u212aey"},
	{name: "long s", expr: "s", fold: true, text: "\u017f\nS\nx\n", want: "1:\u017f 2:S"},
	{name: "damaged utf-8", expr: `a.b`, text: "a\xffb\nab\n", want: "1:a\ufffdb"},
	{name: "the mark of damage", expr: "\ufffd", text: "a\xff\nb\n", want: "1:a\ufffd"},
	{name: "context", expr: "5", text: "1\n2\n3\n4\n5\n6\n7\n8\n", before: 1, after: 2, want: "4-4 5:5 6-6 7-7"},
	{name: "context at the ends", expr: "1|8", text: "1\n2\n3\n4\n5\n6\n7\n8\n", before: 2, after: 1, want: "1:1 2-2 -- 6-6 7-7 8:8"},
	{name: "contexts that touch", expr: "2|5", text: "1\n2\n3\n4\n5\n6\n", before: 1, after: 1, want: "1-1 2:2 3-3 4-4 5:5 6-6"},
	{name: "contexts that overlap", expr: "2|4", text: "1\n2\n3\n4\n5\n", before: 3, after: 3, want: "1-1 2:2 3-3 4:4 5-5"},
	{name: "matches side by side", expr: "2|3", text: "1\n2\n3\n4\n", after: 1, want: "2:2 3:3 4-4"},
	{name: "gap without context", expr: "1|3", text: "1\n2\n3\n", want: "1:1 -- 3:3"},
	{name: "over lines", expr: `b.c`, multiline: true, text: "a\nb\nc\nd\n", want: "2:b 3:c"},
	{name: "over lines, a line end at last", expr: `b\n`, multiline: true, text: "a\nb\nc\n", want: "2:b"},
	{name: "over lines, two in one line", expr: `a|b`, multiline: true, text: "ab\nc\nb\n", want: "1:ab -- 3:b"},
	{name: "over lines, one after the other", expr: `b\nc|d\ne`, multiline: true, text: "b\nc d\ne\n", want: "1:b 2:c\u00b7d 3:e"},
	{name: "over lines, ends", expr: `^b$`, multiline: true, text: "a\nb\nc", want: "2:b"},
	{name: "over lines, empty", expr: `x*`, multiline: true, text: "a\nb\n", want: "1:a 2:b"},
	{name: "over lines, context", expr: `c\nd`, multiline: true, before: 1, after: 1, text: "a\nb\nc\nd\ne\nf\n", want: "2-b 3:c 4:d 5-e"},
}

func TestScan(t *testing.T) {
	for _, c := range scanCases {
		t.Run(c.name, func(t *testing.T) {
			p, err := Compile(c.expr, PatternOptions{FoldCase: c.fold, Multiline: c.multiline})
			require.NoError(t, err)
			for _, size := range []int{1, 2, 5, 16, firstBuf} {
				q := Query{Pattern: p, Mode: Lines, Before: c.before, After: c.after, Keep: 100}
				hit := scan(t, q, c.text, size)
				want := strings.TrimSpace(strings.ReplaceAll(c.want, "-- ", "-- "))
				got := notation(hit)
				if c.before+c.after == 0 && !strings.Contains(want, "--") {
					got = strings.ReplaceAll(got, "-- ", "")
				}
				assert.Equal(t, want, got, "with a buffer of %d", size)
			}
		})
	}
}

// scan searches a text with a first buffer of the given size.
func scan(t testing.TB, q Query, text string, size int) *Hit {
	s := newScanner(&q)
	s.buf = make([]byte, size)
	hit, err := s.file(context.Background(), stream{strings.NewReader(text)}, -1)
	require.NoError(t, err)
	return hit
}

func notation(hit *Hit) string {
	if hit == nil {
		return ""
	}
	var out []string
	for _, l := range hit.Lines {
		if l.Gap {
			out = append(out, "--")
		}
		sign := "-"
		if l.Match {
			sign = ":"
		}
		out = append(out, fmt.Sprint(l.Number)+sign+strings.ReplaceAll(l.Text, " ", "\u00b7"))
	}
	return strings.Join(out, " ")
}

// plainly is what a search should find, the slow way.
func plainly(p *Pattern, text string, before, after int) []Line {
	var lines []string
	if text != "" {
		lines = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	}
	match := make([]bool, len(lines))
	shown := make([]bool, len(lines))
	if p.multiline {
		at := 0
		starts := make([]int, len(lines))
		for i, l := range lines {
			starts[i] = at
			at += len(l) + 1
		}
		for _, m := range p.re.FindAllStringIndex(text, -1) {
			for i, start := range starts {
				end := start + len(lines[i]) // its line break
				match[i] = match[i] || start < m[1] && end >= m[0] || m[0] == m[1] && start <= m[0] && m[0] <= end
			}
		}
	}
	for i, l := range lines {
		if !p.multiline {
			if !p.cr {
				l = strings.TrimSuffix(l, "\r")
			}
			match[i] = p.re.MatchString(l)
		}
		if match[i] {
			for j := max(0, i-before); j <= min(len(lines)-1, i+after); j++ {
				shown[j] = true
			}
		}
	}
	var out []Line
	for i, l := range lines {
		if shown[i] {
			out = append(out, Line{
				Number: i + 1, Text: strings.ToValidUTF8(strings.TrimSuffix(l, "\r"), "\ufffd"), Match: match[i],
				Gap: len(out) > 0 && !shown[i-1],
			})
		}
	}
	return out
}

// FuzzScan: what is found is what a plain search of each line finds, whatever
// the pattern needs and wherever the buffer ends.
func FuzzScan(f *testing.F) {
	for _, c := range scanCases {
		f.Add(c.expr, c.text, c.fold, c.multiline, uint8(c.before), uint8(c.after), uint8(7))
	}
	f.Fuzz(func(t *testing.T, expr, text string, fold, multiline bool, before, after, size uint8) {
		if strings.ContainsRune(text, 0) || len(text) > 4096 || len(expr) > 64 {
			return
		}
		p, err := Compile(expr, PatternOptions{FoldCase: fold, Multiline: multiline})
		if err != nil {
			return
		}
		q := Query{Pattern: p, Mode: Lines, Before: int(before % 4), After: int(after % 4), Keep: 1 << 20}
		for line := range strings.SplitSeq(text, "\n") {
			if len(line) > shownBytes {
				return
			}
		}
		want := plainly(p, text, q.Before, q.After)
		hit := scan(t, q, text, int(size)+1)
		if hit == nil {
			require.Empty(t, want)
			return
		}
		require.Equal(t, want, hit.Lines)
		require.Equal(t, len(want), hit.Total)
		q.Mode = Names
		require.Equal(t, 1, scan(t, q, text, int(size)+1).Matches)
	})
}

func TestOtherModes(t *testing.T) {
	p, err := Compile("a", PatternOptions{})
	require.NoError(t, err)
	text := strings.Repeat("a\nb\n", 100)
	hit := scan(t, Query{Pattern: p, Mode: Counts, Keep: 1}, text, 16)
	assert.Equal(t, 100, hit.Matches)
	assert.Nil(t, hit.Lines)
	hit = scan(t, Query{Pattern: p, Mode: Names, Keep: 1}, text, 16)
	assert.Equal(t, 1, hit.Matches)
	hit = scan(t, Query{Pattern: p, Mode: Lines, After: 1, Keep: 3}, text, 16)
	assert.Equal(t, "1:a 2-b 3:a", notation(hit))
	assert.Equal(t, 200, hit.Total)
	assert.Equal(t, 100, hit.Matches)
}

func TestFilesThatAreNotSearched(t *testing.T) {
	p, err := Compile("a", PatternOptions{})
	require.NoError(t, err)
	found, err := GrepReader(context.Background(), strings.NewReader("a\x00b\na\n"), Query{Pattern: p, Keep: 1})
	require.NoError(t, err)
	assert.Zero(t, found, "binary")
	wide, err := Compile("a", PatternOptions{Multiline: true})
	require.NoError(t, err)
	large := bytes.Repeat([]byte("b\n"), maxWhole/2+firstBuf)
	found, err = GrepReader(context.Background(), bytes.NewReader(large), Query{Pattern: wide, Keep: 1})
	require.NoError(t, err)
	assert.Equal(t, Found{Left: Left{Large: 1}}, found)
	found, err = GrepReader(context.Background(), bytes.NewReader(append(large, 'a')), Query{Pattern: p, Mode: Lines, Keep: 1})
	require.NoError(t, err)
	require.Len(t, found.Hits, 1, "line by line there is no bound")
	assert.Equal(t, len(large)/2+1, found.Hits[0].Lines[0].Number)
	found, err = GrepReader(context.Background(), bytes.NewReader(bytes.Repeat([]byte("b"), 2*maxLine+firstBuf)), Query{Pattern: p, Keep: 1})
	require.NoError(t, err)
	assert.Equal(t, Found{Left: Left{Large: 1}}, found, "one long line")
}

func TestLongLinesAreCut(t *testing.T) {
	p, err := Compile("needle", PatternOptions{})
	require.NoError(t, err)
	hay := strings.Repeat("é", 2000)
	hit := scan(t, Query{Pattern: p, Mode: Lines, Keep: 9}, "needle"+hay+"\n"+hay+"needle"+hay+"\n"+hay+"needle\n", firstBuf)
	require.Len(t, hit.Lines, 3)
	for _, l := range hit.Lines {
		assert.Contains(t, l.Text, "needle")
		assert.Less(t, len(l.Text), shownBytes+60)
		assert.True(t, utf8.ValidString(l.Text))
		assert.NotContains(t, l.Text, "\ufffd")
	}
	assert.Regexp(t, regexp.MustCompile(`^needleé+ \[35\d\d bytes more\]$`), hit.Lines[0].Text)
	assert.Regexp(t, regexp.MustCompile(`^\[\d+ bytes before\] é+needleé+ \[\d+ bytes more\]$`), hit.Lines[1].Text)
	assert.Regexp(t, regexp.MustCompile(`^\[\d+ bytes before\] é+needle$`), hit.Lines[2].Text)
}

func TestCompileSaysWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		expr string
		opt  PatternOptions
		want string
	}{
		{"a(", PatternOptions{}, "backslash before each"},
		{"a)", PatternOptions{FoldCase: true}, "backslash before each"},
		{"*a", PatternOptions{}, "backslash before each"},
		{"a[", PatternOptions{Multiline: true}, "backslash before each"},
		{"(?=a)", PatternOptions{}, "no look-around"},
		{"a(?!b)", PatternOptions{}, "no look-around"},
		{"(?<=a)b", PatternOptions{}, "no look-around"},
		{"(?<!a)b", PatternOptions{}, "no look-around"},
		{`a\1`, PatternOptions{}, "invalid escape"},
		{`a\nb`, PatternOptions{}, ErrNewline.Error()},
		{"a\nb", PatternOptions{}, ErrNewline.Error()},
		{strings.Repeat("(", 2000) + strings.Repeat(")", 2000), PatternOptions{}, "nest"},
	} {
		_, err := Compile(c.expr, c.opt)
		assert.ErrorContains(t, err, c.want, c.expr)
	}
	_, err := Compile(`a\nb`, PatternOptions{Multiline: true})
	assert.NoError(t, err)
}

func TestNeededLiterals(t *testing.T) {
	for _, c := range []struct {
		expr  string
		fold  bool
		want  string
		exact bool
	}{
		{"foo", false, "foo", true},
		{"foo.*barbaz", false, "barbaz", false},
		{`func \w+\(ctx`, false, "func ", false},
		{"(abc)+", false, "abc", false},
		{"(abc){2,3}x", false, "abc", false},
		{"(abc)*x", false, "x", false},
		{"foo|barbaz", false, "foo barbaz", false},
		{"foo|[a-z]", false, "", false},
		{"foo?", false, "fo", false},
		{"[a-z]+", false, "", false},
		{"", false, "", false},
		{"Foo", true, "foo", true},
		{"task", true, "ta", false},
		{"(?i)foo", false, "foo", true},
		{"ünder", true, "nder", false},
		{"a\ufffdbc", false, "bc", false},
	} {
		p, err := Compile(c.expr, PatternOptions{FoldCase: c.fold})
		require.NoError(t, err)
		var got []string
		for _, l := range p.need {
			got = append(got, string(l.text))
		}
		assert.Equal(t, c.want, strings.Join(got, " "), c.expr)
		assert.Equal(t, c.exact, p.exact, c.expr)
	}
}

func TestShapes(t *testing.T) {
	for _, c := range []struct {
		expr, in string
		n, at    int // of the run, and where it is found
	}{
		{`[0-9]{3}-[0-9]{4}`, "12-3456 555-1234", 8, 8},
		{`x*[a-f]+[0-9]`, "gg 0 x9 zf7", 2, 9},
		{`\b[A-Z]\w`, "a B Cd", 2, 4},
		{`(ab|cd)[0-9]`, "c1", 1, 1},
		{`[0-9]{9}[a-z]`, "12345678", 8, 0},
		{`[^x]`, "y", 0, 0},
		{`x?`, "y", 0, 0},
		{`(?i)k[0-9]`, "k1", 1, 1},
		{`(?i)[0-9]b`, "1B", 2, 0},
	} {
		tree, err := syntax.Parse(c.expr, syntax.Perl)
		require.NoError(t, err)
		s := shapeOf(tree.Simplify())
		if c.n == 0 {
			assert.Nil(t, s, c.expr)
			continue
		}
		require.NotNil(t, s, c.expr)
		assert.Equal(t, c.n, s.n, c.expr)
		assert.Equal(t, c.at, s.find([]byte(c.in), 0), c.expr)
		assert.Equal(t, -1, s.find([]byte(c.in), c.at+1), c.expr)
	}
}
