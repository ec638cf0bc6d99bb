package tools

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var small = ReadLimits{Lines: 4, Columns: 5, Bytes: 40}

var windowCases = []struct {
	name, text    string
	offset, limit int
	want          view
}{
	{"empty", "", 1, 0, view{}},
	{"one line", "a\n", 1, 0, view{[]string{"a"}, 1, true, false}},
	{"no final break", "a\nb", 1, 0, view{[]string{"a", "b"}, 2, false, false}},
	{"crlf", "a\r\nb\r\n", 1, 0, view{[]string{"a", "b"}, 2, true, false}},
	{"lone cr is text", "a\rb\r", 1, 0, view{[]string{"a\rb\r"}, 1, false, false}},
	{"limit", "a\nb\nc\n", 2, 1, view{[]string{"b"}, 3, false, false}},
	{"limit to the end", "a\nb\n", 1, 2, view{[]string{"a", "b"}, 2, false, false}},
	{"limit beyond the end", "a\nb\n", 1, 3, view{[]string{"a", "b"}, 2, true, false}},
	{"line bound", "1\n2\n3\n4\n5\n6", 1, 0, view{[]string{"1", "2", "3", "4"}, 6, false, true}},
	{"line bound over limit", "1\n2\n3\n4\n5\n6", 1, 9, view{[]string{"1", "2", "3", "4"}, 6, false, true}},
	{"byte bound", strings.Repeat("€€€€€\n", 4), 1, 0, view{[]string{"€€€€€", "€€€€€"}, 4, false, true}},
	{"long line", "abcdefgh\nx", 1, 0, view{[]string{"abcde… (3 more characters)", "x"}, 2, false, false}},
	{"long line with crlf", "abcdef\r\n", 1, 0, view{[]string{"abcde… (1 more characters)"}, 1, true, false}},
	{"just not long", "abcde\r\n", 1, 0, view{[]string{"abcde"}, 1, true, false}},
	{"behind the end", "a\n", 3, 0, view{nil, 1, false, false}},
}

func TestWindow(t *testing.T) {
	for _, c := range windowCases {
		w := newWindow(small, c.offset, c.limit)
		w.add([]byte(c.text))
		assert.Equal(t, c.want, w.end(), c.name)
	}
}

// FuzzWindow: the cut between pieces does not matter, and the number of lines
// is that of the text.
func FuzzWindow(f *testing.F) {
	for _, c := range windowCases {
		f.Add(c.text, c.offset, c.limit, 1)
	}
	f.Fuzz(func(t *testing.T, text string, offset, limit, cut int) {
		if offset < 1 || offset > 1000 || limit < 0 || cut < 1 || !utf8.ValidString(text) {
			return
		}
		whole, pieces := newWindow(small, offset, limit), newWindow(small, offset, limit)
		whole.add([]byte(text))
		for rest := []byte(text); len(rest) > 0; {
			n := min(cut, len(rest))
			pieces.add(rest[:n])
			rest = rest[n:]
		}
		a, b := whole.end(), pieces.end()
		assert.Equal(t, a, b, "in pieces of %d", cut)
		lines := strings.Count(text, "\n")
		if text != "" && !strings.HasSuffix(text, "\n") {
			lines++
		}
		if a.total != lines {
			t.Fatalf("%d lines, counted %d", lines, a.total)
		}
	})
}

func TestStreamCheck(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"plain €uro 🐎", ""},
		{"a\x00b", "NUL byte at offset 1"},
		{"caf\xe9 x", "invalid byte at offset 3"},
		{"caf\xc3", "cut off"},
		{"x\xf0\x9f\x90", "cut off"},
	} {
		for size := 1; size <= len(c.text); size++ {
			var s utf8Stream
			var err error
			for rest := []byte(c.text); len(rest) > 0 && err == nil; rest = rest[min(size, len(rest)):] {
				err = s.add(rest[:min(size, len(rest))])
			}
			if err == nil {
				err = s.end()
			}
			if c.want == "" {
				assert.NoError(t, err, "%q in pieces of %d", c.text, size)
			} else {
				require.ErrorContains(t, err, c.want, "%q in pieces of %d", c.text, size)
			}
		}
	}
}
