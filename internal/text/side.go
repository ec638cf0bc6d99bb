package text

import (
	"hash/maphash"
	"strings"
)

// A side is one of the two texts of a comparison, from the first line that
// differs. Its lines are found and numbered only as far as someone asks: when
// one line of a large file changed, that is a handful.
type side struct {
	text  string // the whole
	from  int    // where the first line that differs starts
	mid   int    // lines from there to the common suffix
	lines int    // lines from there to the end
	names *names

	starts []uint32 // of line i, from .from; one more than ids
	above  []uint32 // of the lines before .from, or nil
	ids    []int32  // equal lines, of either side, have equal ids
}

func newSide(text string, from, mid, lines int, n *names) *side {
	return &side{
		text: text, from: from, mid: mid, lines: lines, names: n,
		starts: append(make([]uint32, 0, mid+16), 0),
		ids:    make([]int32, 0, mid+15),
	}
}

// id returns the id of line i, which must exist.
func (s *side) id(i int) int32 {
	for i >= len(s.ids) {
		s.next()
	}
	return s.ids[i]
}

// next finds one more line.
func (s *side) next() {
	start := s.starts[len(s.ids)]
	rest := s.text[s.from+int(start):]
	n := strings.IndexByte(rest, '\n') + 1
	if n == 0 {
		n = len(rest)
	}
	s.starts = append(s.starts, start+uint32(n))
	s.ids = append(s.ids, s.names.id(s, len(s.ids)))
}

// line returns line i, which was found before.
func (s *side) line(i int) string {
	return s.text[s.from+int(s.starts[i]) : s.from+int(s.starts[i+1])]
}

// offset returns where line i starts; that of the line after the last is the
// end of the text. Negative lines are those before the first that differs.
func (s *side) offset(i int) int {
	switch {
	case i < -near:
		if s.above == nil {
			s.above = lineStarts(s.text[:s.from])
		}
		return int(s.above[len(s.above)+i])
	case i < 0:
		at := s.from
		for ; i < 0; i++ {
			at = strings.LastIndexByte(s.text[:at-1], '\n') + 1
		}
		return at
	case i == 0:
		return s.from
	case i == s.lines:
		return len(s.text)
	}
	s.id(i - 1)
	return s.from + int(s.starts[i])
}

// near is how many lines above the first that differs are looked for by
// going back; for those further up, all are found at once.
const near = 32

func lineStarts(s string) []uint32 {
	starts := make([]uint32, 0, countLines(s))
	for at := 0; at < len(s); {
		starts = append(starts, uint32(at))
		n := strings.IndexByte(s[at:], '\n') + 1
		if n == 0 {
			break
		}
		at += n
	}
	return starts
}

// slice returns lines i to before j with their line ends.
func (s *side) slice(i, j int) string {
	if i >= j {
		return ""
	}
	return s.text[s.offset(i):s.offset(j)]
}

// names gives equal lines equal ids, and no others: it compares the bytes, so
// that the random seed of the hash has no influence. It is an open hash table
// of 16 bytes a line; a map of strings takes several times as much.
type names struct {
	old   *side
	new   *side
	seed  maphash.Seed
	slots []int32 // id+1, or 0
	known []name  // by id
}

// A name is a line that was met first as line at of old, or ^at of new.
type name struct {
	hash uint32
	at   int32
}

func newNames() *names {
	return &names{seed: maphash.MakeSeed(), slots: make([]int32, 64)}
}

func (n *names) line(k name) string {
	if k.at < 0 {
		return n.new.line(int(^k.at))
	}
	return n.old.line(int(k.at))
}

// id returns the id of line i of s.
func (n *names) id(s *side, i int) int32 {
	line := s.line(i)
	h := uint32(maphash.String(n.seed, line))
	mask := uint32(len(n.slots) - 1)
	slot := h & mask
	for n.slots[slot] != 0 {
		id := n.slots[slot] - 1
		if k := n.known[id]; k.hash == h && n.line(k) == line {
			return id
		}
		slot = (slot + 1) & mask
	}
	id := int32(len(n.known))
	at := int32(i)
	if s == n.new {
		at = ^at
	}
	n.known = append(n.known, name{h, at})
	n.slots[slot] = id + 1
	if 2*len(n.known) > len(n.slots) {
		n.grow()
	}
	return id
}

func (n *names) grow() {
	n.slots = make([]int32, 2*len(n.slots))
	mask := uint32(len(n.slots) - 1)
	for id, k := range n.known {
		slot := k.hash & mask
		for n.slots[slot] != 0 {
			slot = (slot + 1) & mask
		}
		n.slots[slot] = int32(id) + 1
	}
}

// common returns the lengths of the longest common prefix and, apart from it,
// suffix of a and b that consist of whole lines.
func common(a, b string) (prefix, suffix int) {
	prefix = strings.LastIndexByte(a[:commonPrefix(a, b)], '\n') + 1
	a, b = a[prefix:], b[prefix:]
	suffix = commonSuffix(a, b)
	if !lineStart(a, len(a)-suffix) || !lineStart(b, len(b)-suffix) {
		// Where one of them is inside of a line, the next start is the same
		// for both, behind a line end that they share.
		if i := strings.IndexByte(a[len(a)-suffix:], '\n'); i >= 0 {
			suffix -= i + 1
		} else {
			suffix = 0
		}
	}
	return prefix, suffix
}

func lineStart(s string, i int) bool { return i == 0 || s[i-1] == '\n' }

// chunk is how many bytes are compared at once, which is much faster than one
// by one.
const chunk = 1 << 10

func commonPrefix(a, b string) int {
	n := min(len(a), len(b))
	i := 0
	for i+chunk <= n && a[i:i+chunk] == b[i:i+chunk] {
		i += chunk
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

func commonSuffix(a, b string) int {
	n := min(len(a), len(b))
	a, b = a[len(a)-n:], b[len(b)-n:]
	i := n
	for i >= chunk && a[i-chunk:i] == b[i-chunk:i] {
		i -= chunk
	}
	for i > 0 && a[i-1] == b[i-1] {
		i--
	}
	return n - i
}

// countLines counts lines; a last one may have no line end.
func countLines(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && s[len(s)-1] != '\n' {
		n++
	}
	return n
}
