package hashline

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestView(t *testing.T) {
	d := doc(t, "alpha\n\ngamma\n")
	tag := Identify(doc(t, "alpha\nbeta\ngamma\n")).Short()
	assert.Equal(t, "¶a.txt#B6C1\n1| alpha\n2| \n3| gamma", View("a.txt", tag, d))
	assert.Equal(t, "¶a.txt#B6C1", View("a.txt", tag, doc(t, "")))
	assert.Equal(t, "2| \n3| gamma", NumberedLines(d, 2, 9))
	assert.Equal(t, "", NumberedLines(d, 4, 9))
}

func TestHeaders(t *testing.T) {
	for _, path := range []string{"a.txt", "My Docs/a #1 ¶.txt", "#", "a#B6C1"} {
		tag := Tag{0xB6C1, 4}
		got, same, ok := ParseHeader(Header(path, tag))
		require.True(t, ok, path)
		assert.Equal(t, path, got)
		assert.Equal(t, tag, same)
	}
	for _, s := range []string{"", "a#B6C1", "¶#B6C1", "¶a", "¶a#", "¶a#B6", "¶a#B6C1 x", "¶a#B6C1\n"} {
		_, _, ok := ParseHeader(s)
		assert.False(t, ok, s)
	}
}

func TestUnwrap(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
		ok             bool
	}{
		{"a view", "¶a.txt#B6C1\n1| alpha\n2| \n3|\n4| d", "alpha\n\n\nd\n", true},
		{"a slice", "¶a.txt#B6C1\r\n5| x\r\n6| y\r\n", "x\ny\n", true},
		{"no header", "1| alpha\n2| beta", "", false},
		{"numbers do not run on", "¶a.txt#B6C1\n1| alpha\n3| beta", "", false},
		{"other text among it", "¶a.txt#B6C1\n1| alpha\nbeta", "", false},
		{"a notice", "¶a.txt#B6C1\n1| alpha\n[4 more lines]", "", false},
		{"header alone", "¶a.txt#B6C1\n", "", false},
		{"numbers as text", "12|pipe\n", "", false},
		{"empty", "", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, note, ok := Unwrap(c.in)
			require.Equal(t, c.ok, ok)
			assert.Equal(t, c.ok, note != "")
			if !ok {
				c.want = c.in
			}
			assert.Equal(t, c.want, got)
		})
	}
}

func TestRanges(t *testing.T) {
	var r Ranges
	r = r.Add(5, 6).Add(1, 1).Add(9, 9).Add(2, 3).Add(8, 7)
	assert.Equal(t, "1–3, 5–6, 9", r.String())
	assert.Equal(t, Ranges{{4, 4}, {7, 8}, {10, 12}}, r.Missing(2, 12))
	assert.Nil(t, r.Missing(5, 6))
	assert.Equal(t, Ranges{{1, 9}}, r.Add(4, 8))
	r = Ranges{{2, 3}}
	assert.False(t, r.Has(1))
	assert.True(t, r.Has(3))
	assert.False(t, r.Has(4))
}
