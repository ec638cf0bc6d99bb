package shell

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
)

func TestCaptureKeepsBothEnds(t *testing.T) {
	o := newOutput(20, 20)
	for i := range 1000 {
		o.Write([]byte{byte('a' + i%26), '\n'})
	}
	o.finish()
	c := o.capture()
	assert.Equal(t, "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n", c.Head)
	assert.Equal(t, "d\ne\nf\ng\nh\ni\nj\nk\nl\n", c.Tail)
	assert.Equal(t, int64(2000-20-18), c.Left)
	assert.Contains(t, c.Text(), "1962 bytes")
}

// However an output is cut into writes, what is kept of it is the same, valid,
// and within the bounds; and what is shown is all of it, in order.
func FuzzOutput(f *testing.F) {
	f.Add([]byte("one\ntwo\n"), 3, 4, 5)
	f.Add([]byte("é\xff\xc3"), 1, 1, 1)
	f.Add([]byte(strings.Repeat("日本語\n", 30)), 2, 7, 16)
	f.Fuzz(func(t *testing.T, b []byte, step, headMax, tailMax int) {
		if step < 1 || step > 64 || headMax < 4 || headMax > 64 || tailMax < 4 || tailMax > 64 {
			return
		}
		o, whole := newOutput(headMax, tailMax), newOutput(headMax, tailMax)
		shown := ""
		for rest := b; len(rest) > 0; rest = rest[min(step, len(rest)):] {
			o.Write(rest[:min(step, len(rest))])
			shown += o.fresh()
		}
		o.finish()
		whole.Write(b)
		whole.finish()
		c := o.capture()
		if !utf8.ValidString(c.Head) || !utf8.ValidString(c.Tail) || len(c.Head) > headMax || len(c.Tail) > tailMax {
			t.Fatalf("kept %q and %q", c.Head, c.Tail)
		}
		if utf8.Valid(b) {
			if c != whole.capture() {
				t.Fatalf("kept %+v in pieces and %+v at once", c, whole.capture())
			}
			if got, want := shown+o.rest(), strings.TrimRight(string(b), "\n"); shown != "" && got != want {
				t.Fatalf("shown %q of %q", got, want)
			}
		}
	})
}
