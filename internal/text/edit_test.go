package text

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestApply(t *testing.T) {
	for _, c := range []struct {
		name, in string
		edits    []Edit
		want     string
		err      string
	}{
		{"none", "abc", nil, "abc", ""},
		{"replace", "abc", []Edit{{1, 2, "X"}}, "aXc", ""},
		{"any order", "abc", []Edit{{2, 3, "C"}, {0, 1, "A"}}, "AbC", ""},
		{"insertions at one place keep their order", "ab", []Edit{{1, 1, "x"}, {1, 1, "y"}}, "axyb", ""},
		{"insertion beside a replacement", "abc", []Edit{{1, 2, "B"}, {1, 1, "x"}, {2, 2, "y"}}, "axByc", ""},
		{"taken as it is", "a\r\nb\r\n", []Edit{{0, 1, "x\n"}}, "x\n\r\nb\r\n", ""},
		{"behind the mark", "\uFEFFab", []Edit{{0, 1, "X"}}, "\uFEFFXb", ""},
		{"whole crlf", "a\r\nb", []Edit{{1, 3, ""}}, "ab", ""},
		{"at the end", "ab", []Edit{{2, 2, "c"}}, "abc", ""},
		{"out of range", "ab", []Edit{{1, 3, ""}}, "", "edit of bytes 1 to 3: outside of the text, which has 2"},
		{"reversed", "ab", []Edit{{2, 1, ""}}, "", "edit of bytes 2 to 1: outside of the text, which has 2"},
		{"negative", "ab", []Edit{{-1, 1, ""}}, "", "edit of bytes -1 to 1: outside of the text, which has 2"},
		{"overlap", "abcd", []Edit{{2, 4, ""}, {1, 3, ""}}, "", "edits of bytes 1 to 3 and 2 to 4: overlap"},
		{"the same twice", "abcd", []Edit{{1, 3, ""}, {1, 3, ""}}, "", "edits of bytes 1 to 3 and 1 to 3: overlap"},
		{"in a character", "é", []Edit{{1, 2, ""}}, "", "edit of bytes 1 to 2: splits a character"},
		{"in a crlf", "a\r\nb", []Edit{{1, 2, ""}}, "", "edit of bytes 1 to 2: splits a CRLF line end"},
		{"new text with nul", "ab", []Edit{{0, 0, "\x00"}}, "", "edit of bytes 0 to 0: new text: not UTF-8 text: NUL byte at offset 0 (line 1); it may be a binary file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := parse(t, c.in)
			got, err := d.Apply(c.edits...)
			if c.err != "" {
				require.EqualError(t, err, c.err)
				assert.Equal(t, Doc{}, got)
			} else {
				require.NoError(t, err)
				assert.Equal(t, c.want, got.Raw())
			}
			assert.Equal(t, c.in, d.Raw())
		})
	}
}

// lfCases replace the first match of old in the LF view. "\r\n" is written as
// "¬\n" to be seen.
var lfCases = []struct{ name, in, old, new, want string }{
	{"lf", "a\nb\nc\n", "b", "x\ny", "a\nx\ny\nc\n"},
	{"crlf", "a¬\nb¬\nc¬\n", "b\n", "x\ny\n", "a¬\nx¬\ny¬\nc¬\n"},
	{"crlf across lines", "a¬\nb¬\nc¬\n", "a\nb", "A\nB", "A¬\nB¬\nc¬\n"},
	{"new text with crlf", "a\nb\n", "b", "x¬\ny", "a\nx\ny\n"},
	{"new text with crlf in crlf", "a¬\nb¬\n", "b", "x¬\ny", "a¬\nx¬\ny¬\n"},
	{"no line end at all", "a", "a", "a\nb\n", "a\nb\n"},
	{"mixed: other lines stay", "a¬\nb\nc", "c", "d", "a¬\nb\nd"},
	{"mixed: a line keeps its end", "a¬\nb\nc¬\n", "b\n", "B\n", "a¬\nB\nc¬\n"},
	{"mixed: lines one by one keep their ends", "a¬\nb\nc¬\n", "a\nb\nc", "A\nB\nC", "A¬\nB\nC¬\n"},
	{"mixed: kept lines between changes", "a¬\nb\nc¬\nd\ne¬\n", "a\nb\nc\nd\n", "A\nb\nc\nD\n", "A¬\nb\nc¬\nD\ne¬\n"},
	{"mixed: added lines get crlf", "a¬\nb\nc¬\n", "b\n", "b\nx\ny\n", "a¬\nb\nx¬\ny¬\nc¬\n"},
	{"mixed: added lines before", "a¬\nb\nc¬\n", "b\n", "x\ny\nb\n", "a¬\nx¬\ny¬\nb\nc¬\n"},
	{"mixed: added lines get lf on a tie", "a¬\nb\n", "b\n", "b\nx\n", "a¬\nb\nx\n"},
	{"mixed: added inside of a line", "a¬\nbd\nc¬\n", "b", "b\n", "a¬\nb¬\nd\nc¬\n"},
	{"mixed: removed line", "a¬\nb\nc¬\n", "b\n", "", "a¬\nc¬\n"},
	{"mixed: joined lines keep the last end", "a¬\nb\nc¬\n", "a\nb", "ab", "ab\nc¬\n"},
	{"mixed: joined by the line end alone", "a¬\nb\nc¬\n", "\nb", "b", "ab\nc¬\n"},
	{"mixed: more lines than before", "a¬\nb\nc¬\n", "b\n", "x\ny\n", "a¬\nx¬\ny\nc¬\n"},
	{"mixed: fewer lines than before", "a¬\nb¬\nc\nd¬\n", "a\nb\nc\n", "x\ny\n", "x¬\ny\nd¬\n"},
	{"mixed: all", "a¬\nb\nc¬\n", "a\nb\nc\n", "", ""},
	{"mixed: lone cr", "a¬¬\nb\nc¬\n", "b", "x", "a¬¬\nx\nc¬\n"},
	{"mark", "\uFEFFa¬\nb¬\n", "a", "x\ny", "\uFEFFx¬\ny¬\nb¬\n"},
}

func TestApplyLF(t *testing.T) {
	cr := strings.NewReplacer("¬", "\r")
	for _, c := range lfCases {
		t.Run(c.name, func(t *testing.T) {
			d := parse(t, cr.Replace(c.in))
			at := strings.Index(d.LF(), c.old)
			require.GreaterOrEqual(t, at, 0)
			got, err := d.ApplyLF(Edit{at, at + len(c.old), cr.Replace(c.new)})
			require.NoError(t, err)
			assert.Equal(t, cr.Replace(c.want), got.Raw())
		})
	}
}

func TestApplyLFOfSeveralEdits(t *testing.T) {
	d := parse(t, "foo\r\nbar\nfoo\r\nbar\nfoo\r\n")
	var edits []Edit
	for _, at := range FindApart(d.LF(), "foo\n") {
		edits = append(edits, Edit{at, at + 4, "x\ny\n"})
	}
	got, err := d.ApplyLF(edits...)
	require.NoError(t, err)
	assert.Equal(t, "x\r\ny\r\nbar\nx\r\ny\r\nbar\nx\r\ny\r\n", got.Raw())

	_, err = d.ApplyLF(Edit{0, 2, ""}, Edit{1, 3, ""})
	assert.EqualError(t, err, "edits of bytes 0 to 2 and 1 to 3: overlap")
	_, err = d.ApplyLF(Edit{0, 100, ""})
	assert.Error(t, err)
}

func TestFindAll(t *testing.T) {
	for _, c := range []struct {
		haystack, needle string
		want, apart      []int
	}{
		{"aaa", "aa", []int{0, 1}, []int{0}},
		{"aaaa", "aa", []int{0, 1, 2}, []int{0, 2}},
		{"abcabc", "bc", []int{1, 4}, []int{1, 4}},
		{"ababa", "aba", []int{0, 2}, []int{0}},
		{"abaababaab", "aba", []int{0, 3, 5}, []int{0, 3}},
		{"abc", "", nil, nil},
		{"", "a", nil, nil},
		{"}\n}\n}\n", "}\n}\n", []int{0, 2}, []int{0}},
	} {
		assert.Equal(t, c.want, FindAll(c.haystack, c.needle), "%q in %q", c.needle, c.haystack)
		assert.Equal(t, c.apart, FindApart(c.haystack, c.needle), "%q in %q", c.needle, c.haystack)
	}
}

func TestMatchesStops(t *testing.T) {
	n := 0
	for range Matches("aaaa", "a") {
		if n++; n == 2 {
			break
		}
	}
	assert.Equal(t, 2, n)
}

func FuzzFindAll(f *testing.F) {
	f.Add("aabaabaaab", "aab")
	f.Add("aaaa", "aa")
	f.Fuzz(func(t *testing.T, haystack, needle string) {
		if needle == "" || len(haystack) > 1000 {
			return
		}
		var want []int
		for i := range len(haystack) {
			if strings.HasPrefix(haystack[i:], needle) {
				want = append(want, i)
			}
		}
		assert.Equal(t, want, FindAll(haystack, needle))
	})
}

func FuzzApplyLF(f *testing.F) {
	cr := strings.NewReplacer("¬", "\r")
	for _, c := range lfCases {
		in := cr.Replace(c.in)
		at := strings.Index(Fold(in), c.old)
		f.Add(in, max(0, at), len(c.old), cr.Replace(c.new))
	}
	f.Fuzz(func(t *testing.T, in string, start, length int, repl string) {
		d, err := ParseString(in)
		if err != nil || start < 0 || length < 0 || length > 1<<20 || start > 1<<20 {
			return
		}
		lf := d.LF()
		e := Edit{start, start + length, repl}
		got, err := d.ApplyLF(e)
		if err != nil {
			return
		}
		raw, err := d.RawEdits(e)
		require.NoError(t, err)
		s := d.Text()
		// What lies outside of the edit is untouched, and its place is right.
		want := d.Raw()[:len(d.Raw())-len(s)] + s[:raw[0].Start] + raw[0].New + s[raw[0].End:]
		require.Equal(t, want, got.Raw())
		require.Equal(t, lf[:start], Fold(s[:raw[0].Start]))
		// The lines inside are those that were asked for.
		require.Equal(t, Fold(repl), Fold(raw[0].New))
		again, err := d.Apply(raw...)
		require.NoError(t, err)
		require.Equal(t, got.Raw(), again.Raw())
		require.Equal(t, lf[start+length:], Fold(s[raw[0].End:]))
		// To replace a text by itself changes nothing.
		same, err := d.ApplyLF(Edit{start, start + length, lf[start : start+length]})
		require.NoError(t, err)
		if !strings.Contains(lf, "\r\n") {
			require.Equal(t, d.Raw(), same.Raw())
		}
		if _, err := ParseString(got.Raw()); err != nil {
			t.Fatalf("%q became no text: %v", in, err)
		}
	})
}

func TestLargeFile(t *testing.T) {
	line := strings.Repeat("x", 39) + "\n"
	data := []byte(strings.Repeat(line, 25<<20/len(line)) + "needle\n" + strings.Repeat(line, 25<<20/len(line)))
	size := uint64(len(data))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := time.Now()
	d, err := ParseOwned(data)
	require.NoError(t, err)
	found := FindAll(d.LF(), "needle")
	require.Len(t, found, 1)
	got, err := d.ApplyLF(Edit{found[0], found[0] + 6, "thread\nand more"})
	require.NoError(t, err)
	number := d.LineOf(found[0])
	out := got.Bytes()
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	assert.Equal(t, 25<<20/len(line)+1, number)
	assert.Len(t, out, len(data)+9)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, 3*size)
	assert.Less(t, took, 15*time.Second)
	t.Logf("%v, %.2f times the file", took, float64(after.TotalAlloc-before.TotalAlloc)/float64(size))
}

func TestManyOverlapsAreFoundInTime(t *testing.T) {
	start := time.Now()
	assert.Len(t, FindAll(strings.Repeat("a", 1<<20), strings.Repeat("a", 1<<19)), 1<<19+1)
	assert.Less(t, time.Since(start), 15*time.Second)
}

func BenchmarkEdit50MiB(b *testing.B) {
	line := strings.Repeat("x", 39) + "\r\n"
	data := []byte(strings.Repeat(line, 50<<20/len(line)) + "needle\r\n")
	b.ReportAllocs()
	for b.Loop() {
		d, _ := ParseOwned(data)
		at := FindAll(d.LF(), "needle")[0]
		got, err := d.ApplyLF(Edit{at, at + 6, "thread"})
		if err != nil || len(got.Bytes()) != len(data) {
			b.Fatal(err)
		}
	}
}
