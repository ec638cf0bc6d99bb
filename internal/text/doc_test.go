package text

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// parse is Parse of a text that is one.
func parse(t testing.TB, s string) Doc {
	d, err := ParseString(s)
	require.NoError(t, err)
	return d
}

var docCases = []struct {
	name, in     string
	text, lf     string
	lines        []string
	bom          bool
	shape        Shape
	most         Ending
	lineEndings  []Ending
	lineStarting []int
}{
	{name: "empty"},
	{name: "a line", in: "a\n", text: "a\n", lf: "a\n", lines: []string{"a"}, shape: Shape{LF: 1, FinalNewline: true},
		lineEndings: []Ending{LF}, lineStarting: []int{0}},
	{name: "no final newline", in: "a\nb", text: "a\nb", lf: "a\nb", lines: []string{"a", "b"}, shape: Shape{LF: 1},
		lineEndings: []Ending{LF, NoEnding}, lineStarting: []int{0, 2}},
	{name: "one blank line", in: "\n", text: "\n", lf: "\n", lines: []string{""}, shape: Shape{LF: 1, FinalNewline: true},
		lineEndings: []Ending{LF}, lineStarting: []int{0}},
	{name: "crlf", in: "a\r\nb\r\n", text: "a\r\nb\r\n", lf: "a\nb\n", lines: []string{"a", "b"}, shape: Shape{CRLF: 2, FinalNewline: true},
		most: CRLF, lineEndings: []Ending{CRLF, CRLF}, lineStarting: []int{0, 3}},
	{name: "mixed, a tie", in: "a\r\nb\nc", text: "a\r\nb\nc", lf: "a\nb\nc", lines: []string{"a", "b", "c"}, shape: Shape{LF: 1, CRLF: 1},
		lineEndings: []Ending{CRLF, LF, NoEnding}, lineStarting: []int{0, 3, 5}},
	{name: "mixed, crlf wins", in: "a\r\nb\nc\r\n", text: "a\r\nb\nc\r\n", lf: "a\nb\nc\n", lines: []string{"a", "b", "c"}, shape: Shape{LF: 1, CRLF: 2, FinalNewline: true},
		most: CRLF, lineEndings: []Ending{CRLF, LF, CRLF}, lineStarting: []int{0, 3, 5}},
	{name: "lone cr is content", in: "a\rb\r", text: "a\rb\r", lf: "a\rb\r", lines: []string{"a\rb\r"},
		lineEndings: []Ending{NoEnding}, lineStarting: []int{0}},
	{name: "cr before crlf is content", in: "a\r\r\nb", text: "a\r\r\nb", lf: "a\r\nb", lines: []string{"a\r", "b"}, shape: Shape{CRLF: 1},
		most: CRLF, lineEndings: []Ending{CRLF, NoEnding}, lineStarting: []int{0, 4}},
	{name: "mark", in: "\uFEFFa\n", text: "a\n", lf: "a\n", lines: []string{"a"}, bom: true, shape: Shape{LF: 1, FinalNewline: true},
		lineEndings: []Ending{LF}, lineStarting: []int{0}},
	{name: "mark alone", in: "\uFEFF", bom: true},
	{name: "mark twice", in: "\uFEFF\uFEFFa", text: "\uFEFFa", lf: "\uFEFFa", lines: []string{"\uFEFFa"}, bom: true,
		lineEndings: []Ending{NoEnding}, lineStarting: []int{0}},
	{name: "characters", in: "é日🙂\n", text: "é日🙂\n", lf: "é日🙂\n", lines: []string{"é日🙂"}, shape: Shape{LF: 1, FinalNewline: true},
		lineEndings: []Ending{LF}, lineStarting: []int{0}},
}

func TestDoc(t *testing.T) {
	for _, c := range docCases {
		t.Run(c.name, func(t *testing.T) {
			d, err := Parse([]byte(c.in))
			require.NoError(t, err)
			assert.Equal(t, c.in, string(d.Bytes()))
			assert.Equal(t, c.in, d.Raw())
			assert.Equal(t, c.text, d.Text())
			assert.Equal(t, c.lf, d.LF())
			assert.Equal(t, c.bom, d.BOM())
			assert.Equal(t, c.shape, d.Shape())
			if c.most == CRLF {
				assert.Equal(t, CRLF, d.Ending())
			} else {
				assert.Equal(t, LF, d.Ending())
			}
			require.Equal(t, len(c.lines), d.Lines())
			var all []string
			for i, line := range d.All() {
				assert.Equal(t, line, d.Line(i))
				assert.Equal(t, c.lineEndings[i-1], d.LineEnding(i))
				assert.Equal(t, c.lineStarting[i-1], d.LineStart(i))
				all = append(all, line)
			}
			assert.Equal(t, c.lines, all)
			assert.Equal(t, len(d.Text()), d.LineStart(d.Lines()+1))
		})
	}
}

func TestZeroDocIsEmpty(t *testing.T) {
	var d Doc
	assert.Equal(t, 0, d.Lines())
	assert.Equal(t, "", d.LF())
	assert.Equal(t, 1, d.LineOf(0))
	assert.Empty(t, d.Bytes())
	d, err := d.ApplyLF(Edit{New: "a\n"})
	require.NoError(t, err)
	assert.Equal(t, "a\n", d.Text())
}

func TestDocKeepsItsBytes(t *testing.T) {
	b := []byte("abc")
	d, err := Parse(b)
	require.NoError(t, err)
	b[0] = 'X'
	d.Bytes()[1] = 'X'
	assert.Equal(t, "abc", d.Text())
}

func TestLinesBeyondAStride(t *testing.T) {
	for _, eol := range []string{"\n", "\r\n"} {
		var b strings.Builder
		var starts []int
		for i := range 5*stride + 3 {
			starts = append(starts, b.Len())
			b.WriteString(strings.Repeat("x", i%7) + eol)
		}
		d := parse(t, b.String())
		for i, start := range starts {
			assert.Equal(t, start, d.LineStart(i+1))
			assert.Equal(t, i+1, d.LineOf(start))
			assert.Equal(t, strings.Repeat("x", i%7), d.Line(i+1))
			assert.Equal(t, start-i*(len(eol)-1), d.LFOffset(start))
			assert.Equal(t, start, d.RawOffset(start-i*(len(eol)-1)))
		}
	}
}

func TestOutOfRangePanics(t *testing.T) {
	d := parse(t, "a\r\nb")
	assert.Panics(t, func() { d.Line(0) })
	assert.Panics(t, func() { d.Line(3) })
	assert.Panics(t, func() { d.LineStart(4) })
	assert.Panics(t, func() { d.LineOf(-1) })
	assert.Panics(t, func() { d.LineOf(5) })
	assert.Panics(t, func() { d.RawOffset(4) })
	assert.Panics(t, func() { d.LFOffset(5) })
}

func TestNotText(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     NotTextError
		message  string
	}{
		{"nul", "ab\nc\x00", NotTextError{FlawNUL, 4, 2, 0, "a binary file"},
			"not UTF-8 text: NUL byte at offset 4 (line 2); it may be a binary file"},
		{"latin1", "caf\xE9 au lait", NotTextError{FlawInvalid, 3, 1, 0xE9, "Windows-1252 or another single-byte encoding"},
			"not UTF-8 text: invalid byte 0xE9 at offset 3 (line 1); it may be Windows-1252 or another single-byte encoding"},
		{"gbk", "\xC4\xE3\xBA\xC3\n", NotTextError{FlawInvalid, 0, 1, 0xC4, "GBK, Big5, Shift-JIS or another double-byte encoding"},
			"not UTF-8 text: invalid byte 0xC4 at offset 0 (line 1); it may be GBK, Big5, Shift-JIS or another double-byte encoding"},
		{"cut character", "a\xE2\x82", NotTextError{FlawInvalid, 1, 1, 0xE2, "GBK, Big5, Shift-JIS or another double-byte encoding"}, ""},
		{"utf-16le", "\xFF\xFEa\x00", NotTextError{FlawMark, 0, 1, 0xFF, "UTF-16LE"},
			"not UTF-8 text: starts with the byte order mark of UTF-16LE"},
		{"utf-16be", "\xFE\xFF\x00a", NotTextError{FlawMark, 0, 1, 0xFE, "UTF-16BE"}, ""},
		{"utf-32le", "\xFF\xFE\x00\x00a\x00\x00\x00", NotTextError{FlawMark, 0, 1, 0xFF, "UTF-32LE"}, ""},
		{"utf-32be", "\x00\x00\xFE\xFF\x00\x00\x00a", NotTextError{FlawMark, 0, 1, 0, "UTF-32BE"}, ""},
		{"utf-16le without mark", "a\x00b\x00", NotTextError{FlawNUL, 1, 1, 0, "UTF-16LE without a mark"}, ""},
		{"utf-16be without mark", "\x00a\x00b", NotTextError{FlawNUL, 0, 1, 0, "UTF-16BE without a mark"}, ""},
		{"png", "\x89PNG\r\n\x1a\n\x00", NotTextError{FlawInvalid, 0, 1, 0x89, "a PNG image"}, ""},
		{"nul behind invalid", "\xFFa\x00", NotTextError{FlawInvalid, 0, 1, 0xFF, "a binary file"}, ""},
		{"surrogate", "\xED\xA0\x80", NotTextError{FlawInvalid, 0, 1, 0xED, "Windows-1252 or another single-byte encoding"}, ""},
		{"nul far behind", strings.Repeat("a", 10000) + "\n\x00", NotTextError{FlawNUL, 10001, 2, 0, "a binary file"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse([]byte(c.in))
			require.ErrorIs(t, err, ErrNotText)
			var e *NotTextError
			require.True(t, errors.As(err, &e))
			assert.Equal(t, c.want, *e)
			if c.message != "" {
				assert.Equal(t, c.message, err.Error())
			}
		})
	}
}

func TestRewrite(t *testing.T) {
	for _, c := range []struct {
		name, before, content, want string
		folded                      bool
	}{
		{"lf over lf", "a\n", "b\n", "b\n", false},
		{"lf over crlf", "a\r\nb\r\n", "x\ny\n", "x\r\ny\r\n", true},
		{"lf over mixed", "a\r\nb\nc\r\n", "a\nb\nd\n", "a\r\nb\nd\r\n", true},
		{"lf over mixed, lines come and go", "a\r\nb\nc\r\nd\r\n", "b\nc\nnew\nmore\nd\n", "b\nc\r\nnew\r\nmore\r\nd\r\n", true},
		{"lf over mixed, nothing else", "a\r\nb\n", "a\nb\n", "a\r\nb\n", true},
		{"lf over mixed, lf lines alone stay", "a\nb\nc\r\n", "a\nb\n", "a\nb\n", false},
		{"crlf over mixed is taken as given", "a\r\nb\n", "a\r\nb\r\n", "a\r\nb\r\n", false},
		{"crlf over lf", "a\n", "x\r\n", "x\r\n", false},
		{"any crlf is taken as given", "a\r\n", "x\r\ny\n", "x\r\ny\n", false},
		{"no line end over crlf", "a\r\n", "x", "x", false},
		{"mark stays", "\uFEFFa\r\n", "x\n", "\uFEFFx\r\n", true},
		{"one mark", "\uFEFFa\n", "\uFEFFx\n", "\uFEFFx\n", false},
		{"new mark", "a\r\n", "\uFEFFx\n", "\uFEFFx\r\n", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, folded, err := parse(t, c.before).Rewrite(c.content)
			require.NoError(t, err)
			assert.Equal(t, c.want, d.Raw())
			assert.Equal(t, c.folded, folded)
		})
	}
	_, _, err := Doc{}.Rewrite("\x00")
	assert.ErrorIs(t, err, ErrNotText)
}

func FuzzDoc(f *testing.F) {
	for _, c := range docCases {
		f.Add([]byte(c.in))
	}
	f.Add([]byte("\xFF\xFE\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := Parse(b)
		if err != nil {
			var e *NotTextError
			if !errors.As(err, &e) || e.Offset >= len(b) || e.Byte != b[e.Offset] {
				t.Fatalf("%q: %v", b, err)
			}
			return
		}
		if !bytes.Equal(d.Bytes(), b) {
			t.Fatalf("%q came back as %q", b, d.Bytes())
		}
		lf := d.LF()
		for i := 0; i <= len(lf); i++ {
			raw := d.RawOffset(i)
			if back := d.LFOffset(raw); back != i {
				t.Fatalf("%q: LF offset %d is raw %d, which is LF offset %d", b, i, raw, back)
			}
			if Fold(d.Text()[:raw]) != lf[:i] {
				t.Fatalf("%q: LF offset %d is not raw %d", b, i, raw)
			}
		}
		var all strings.Builder
		for i, line := range d.All() {
			if n := d.LineOf(d.LineStart(i)); n != i {
				t.Fatalf("%q: line %d starts in line %d", b, i, n)
			}
			all.WriteString(line + d.LineEnding(i).Chars())
		}
		if all.String() != d.Text() {
			t.Fatalf("%q has the lines %q", b, all.String())
		}
	})
}
