package shell

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"
)

// liveMax bounds, in bytes, how much of a command's output is shown while it
// runs; the end of it is shown when the command has ended.
const liveMax = 256 << 10

// A Capture is what was kept of an output: all of it, or its start and its end.
// It is valid UTF-8; bytes that were not are U+FFFD.
type Capture struct {
	Head string // all of the output if Left is 0
	Tail string
	Left int64 // bytes between the two that were not kept
}

// Text is the capture as one text, without the line breaks at its end. A note
// stands for what was left out.
func (c Capture) Text() string {
	if c.Left == 0 {
		return strings.TrimRight(c.Head+c.Tail, "\n")
	}
	return strings.TrimRight(strings.TrimRight(c.Head, "\n")+leftNote(c.Left)+c.Tail, "\n")
}

func leftNote(n int64) string {
	return fmt.Sprintf("\n\n[… %d bytes of output are left out here …]\n\n", n)
}

// An output takes what a command writes and keeps its start and its end, in
// memory that does not grow with it. It is safe for concurrent use.
type output struct {
	headMax, tailMax int

	mu     sync.Mutex
	broken []byte // the start of a character whose end has not come; guarded by mu
	head   []byte // guarded by mu
	tail   []byte // what follows head, at most twice tailMax; guarded by mu
	total  int64  // bytes taken, as valid text; guarded by mu

	shown int64  // bytes that fresh gave out; guarded by mu
	next  []byte // what it gives out next; guarded by mu
}

func newOutput(headMax, tailMax int) *output { return &output{headMax: headMax, tailMax: tailMax} }

// Write takes more output. It never fails.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	chunk := p
	if len(o.broken) > 0 {
		chunk = append(o.broken, p...)
		o.broken = nil
	}
	whole := len(chunk) - openRune(chunk)
	o.broken = append([]byte(nil), chunk[whole:]...)
	o.add(chunk[:whole])
	return len(p), nil
}

// finish takes what is left of a character that was cut off.
func (o *output) finish() {
	o.mu.Lock()
	defer o.mu.Unlock()
	rest := o.broken
	o.broken = nil
	o.add(rest)
}

// add is called with mu held.
func (o *output) add(chunk []byte) {
	if !utf8.Valid(chunk) {
		chunk = bytes.ToValidUTF8(chunk, []byte("\uFFFD"))
	}
	if room := liveMax - o.shown - int64(len(o.next)); room > 0 && o.shown+int64(len(o.next)) == o.total {
		o.next = append(o.next, chunk[:runeEnd(chunk, int(min(room, int64(len(chunk)))))]...)
	}
	o.total += int64(len(chunk))
	if room := o.headMax - len(o.head); room > 0 && len(o.tail) == 0 {
		n := runeEnd(chunk, min(room, len(chunk)))
		o.head = append(o.head, chunk[:n]...)
		chunk = chunk[n:]
	}
	if len(chunk) >= o.tailMax {
		o.tail = append(o.tail[:0], chunk[len(chunk)-o.tailMax:]...)
		return
	}
	if len(o.tail)+len(chunk) > 2*o.tailMax {
		o.tail = o.tail[:copy(o.tail, o.tail[len(o.tail)+len(chunk)-o.tailMax:])]
	}
	o.tail = append(o.tail, chunk...)
}

// capture returns what is kept so far.
func (o *output) capture() Capture {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.kept()
}

// kept is called with mu held.
func (o *output) kept() Capture {
	tail := o.end()
	c := Capture{Head: string(o.head), Tail: string(tail), Left: o.total - int64(len(o.head)) - int64(len(tail))}
	if c.Left == 0 {
		return c
	}
	// Whole lines read better at the cut, unless a line is very long.
	if i := strings.LastIndexByte(c.Head, '\n'); i >= len(c.Head)/2 {
		c.Left += int64(len(c.Head) - i - 1)
		c.Head = c.Head[:i+1]
	}
	if i := strings.IndexByte(c.Tail, '\n'); i >= 0 && i < len(c.Tail)/2 {
		c.Left += int64(i + 1)
		c.Tail = c.Tail[i+1:]
	}
	return c
}

// take returns what is kept and begins anew.
func (o *output) take() Capture {
	o.mu.Lock()
	defer o.mu.Unlock()
	c := o.kept()
	o.head, o.tail, o.total, o.shown, o.next = nil, nil, 0, 0, nil
	return c
}

// end is the last tailMax bytes behind head, from a character's start on. It
// is called with mu held.
func (o *output) end() []byte {
	tail := o.tail
	if len(tail) > o.tailMax {
		tail = tail[len(tail)-o.tailMax:]
	}
	if o.total > int64(len(o.head)+len(tail)) {
		for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
			tail = tail[1:]
		}
	}
	return tail
}

// fresh returns what came since the last call and may be shown now. Line
// breaks at its end wait for what follows them, so that what was shown is
// always a start of the trimmed text.
func (o *output) fresh() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	text := bytes.TrimRight(o.next, "\n")
	o.shown += int64(len(text))
	out := string(text)
	o.next = append(o.next[:0], o.next[len(text):]...)
	return out
}

// rest returns what is left to show at the end, "" if fresh has given out
// nothing yet: then the whole text is still to be shown.
func (o *output) rest() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.shown == 0 {
		return ""
	}
	left := o.total - o.shown - int64(len(o.next))
	if left == 0 {
		return strings.TrimRight(string(o.next), "\n")
	}
	tail := o.end()
	if left <= int64(len(tail)) {
		return strings.TrimRight(string(o.next)+string(tail[int64(len(tail))-left:]), "\n")
	}
	return strings.TrimRight(string(o.next)+leftNote(left-int64(len(tail)))+string(tail), "\n")
}

// openRune returns how many bytes at the end of b may be the start of a
// character.
func openRune(b []byte) int {
	for n := 1; n <= min(utf8.UTFMax-1, len(b)); n++ {
		if c := b[len(b)-n]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(b[len(b)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

// runeEnd moves n back to where no character is cut.
func runeEnd(b []byte, n int) int {
	for n > 0 && n < len(b) && !utf8.RuneStart(b[n]) {
		n--
	}
	return n
}
