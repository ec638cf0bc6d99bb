package hashline

import (
	"dsh-acp/internal/text"
)

// Moving an edit from the tagged text to the file as it is.
//
// A change moves when its lines (for text put between two lines, those two)
// are unchanged and beside each other in the file, and when there is no other
// way to see it:
//
//   - every shortest list of changes from the tagged text to the file keeps
//     them in that place;
//   - the unchanged stretch around them occurs once in both texts, and holds
//     more than blanks and brackets;
//   - no line that occurs once in both texts has moved across them;
//   - also the places at which a comparison of the tagged text with the edited
//     one could tell the edit are unchanged (an inserted line that equals its
//     neighbour can be told above or below it), and all between such a place
//     and the one where the edit really is.
//
// With the last rule any order-preserving merge of shortest differences that
// succeeds gives the same text.

// A merger pairs the tagged text s with the file c.
type merger struct {
	s, c, e []int32 // lines of the tagged text, the file, and the edited tagged text
	words   *lexicon
	pairs   pairing // s to c
	inS     []int32 // see lexicon.places
	inC     []int32
	before  []int32 // the furthest place in c of a line of s that is before i
	behind  []int32 // the first place in c of a line of s that is at i or behind
}

// A failure names a change that cannot be moved, and why.
type failure struct {
	change int
	reason string
}

// move returns the changes with the line numbers of live, or which ones fail.
func move(tagged, live text.Doc, changes []change) ([]change, []failure, error) {
	edited, err := tagged.ApplyLF(edits(tagged, changes)...)
	if err != nil {
		return nil, nil, err
	}
	m := &merger{words: newLexicon(tagged.Lines())}
	m.s = m.words.number(tagged.LF())
	m.c = m.words.number(live.LF())
	m.e = m.words.number(edited.LF())
	var ok bool
	if m.pairs, ok = sure(m.s, m.c); !ok {
		return nil, allFail(changes, ReasonTooFar), nil
	}
	m.survey()
	var failed []failure
	moved := make([]change, len(changes))
	for i, c := range changes {
		by, reason := m.place(c)
		if reason != "" {
			failed = append(failed, failure{i, reason})
			continue
		}
		moved[i] = c
		moved[i].first += by
		moved[i].last += by
	}
	if len(failed) > 0 {
		return nil, failed, nil
	}
	own, ok := sure(m.s, m.e)
	if !ok {
		return nil, allFail(changes, ReasonTooFar), nil
	}
	agreed, gone := own.agreed(changes)
	if first, last, ok := m.doubt(own, agreed, gone); ok {
		for i, c := range changes {
			if c.first <= last+1 && first <= c.last+1 {
				failed = append(failed, failure{i, ReasonNotUnique})
			}
		}
		if failed == nil {
			failed = allFail(changes, ReasonNotUnique)
		}
		return nil, failed, nil
	}
	return moved, nil, nil
}

func allFail(changes []change, reason string) []failure {
	out := make([]failure, len(changes))
	for i := range changes {
		out[i] = failure{i, reason}
	}
	return out
}

// agreed is a pairing with the edited text without the lines that the changes
// see in another way: one that they remove while an equal one comes in nearby,
// say. gone are the lines that the changes remove.
func (p pairing) agreed(changes []change) (out pairing, gone []bool) {
	n := len(p.to)
	out, gone = pairing{make([]int32, n)}, make([]bool, n)
	copy(out.to, p.to)
	by := make([]int, n+1) // how much further lines move from here on
	for _, c := range changes {
		for i := c.first; i <= c.last; i++ {
			out.to[i-1] = -1
			gone[i-1] = true
		}
		by[c.last] += c.grows()
	}
	sum := 0
	for i := range out.to {
		sum += by[i]
		if out.to[i] != int32(i+sum) {
			out.to[i] = -1
		}
	}
	return out, gone
}

// survey finds the lines that occur once in both texts, and how they moved.
func (m *merger) survey() {
	m.inS, m.inC = m.words.places(m.s), m.words.places(m.c)
	n := len(m.s)
	m.before = make([]int32, n+1)
	m.behind = make([]int32, n+1)
	m.before[0], m.behind[n] = -1, int32(len(m.c))
	for i := range n {
		m.before[i+1] = m.before[i]
		if j := m.only(i); j >= 0 {
			m.before[i+1] = max(m.before[i], j)
		}
	}
	for i := n - 1; i >= 0; i-- {
		m.behind[i] = m.behind[i+1]
		if j := m.only(i); j >= 0 {
			m.behind[i] = min(m.behind[i], j)
		}
	}
}

// only returns where line i of s is in c if it is a telling one that occurs
// once in both, otherwise -1.
func (m *merger) only(i int) int32 {
	id := m.s[i]
	if m.inS[id] >= 0 && m.inC[id] >= 0 && m.words.telling(id) {
		return m.inC[id]
	}
	return -1
}

// place returns by how many lines a change moves, or why it cannot.
func (m *merger) place(c change) (by int, reason string) {
	first, last := c.first-1, c.last-1 // from 0
	if last < first {
		first, last = last, first // the lines on both sides of the gap
	}
	top, bottom := max(first, 0), min(last, len(m.s)-1)
	if top > bottom {
		return 0, ReasonChanged // there was no line to hold on to
	}
	by, ok := m.together(top, bottom)
	if !ok {
		return 0, m.why(top, bottom)
	}
	// Where there is no line on one side, the end of the file must be there.
	if first < 0 && by != 0 || last >= len(m.s) && bottom+by != len(m.c)-1 {
		return 0, ReasonChanged
	}
	// The stretch that stays around them.
	from, to := top, bottom
	for from > 0 && m.pairs.to[from-1] == int32(from-1+by) {
		from--
	}
	for to+1 < len(m.s) && m.pairs.to[to+1] == int32(to+1+by) {
		to++
	}
	if !m.distinct(from, to) {
		return 0, ReasonNotUnique
	}
	if m.before[top] > int32(bottom+by) || m.behind[bottom+1] < int32(top+by) {
		return 0, ReasonNotUnique
	}
	return by, ""
}

// together reports whether the lines surely stay, beside each other, and how
// far they move.
func (m *merger) together(top, bottom int) (by int, ok bool) {
	if m.pairs.to[top] < 0 {
		return 0, false
	}
	by = int(m.pairs.to[top]) - top
	for i := top; i <= bottom; i++ {
		if m.pairs.to[i] != int32(i+by) {
			return 0, false
		}
	}
	return by, true
}

// why tells lines that are gone from lines that are there more than once.
func (m *merger) why(top, bottom int) string {
	for i := top; i <= bottom; i++ {
		if m.pairs.to[i] < 0 && m.inC[m.s[i]] == -1 {
			return ReasonChanged
		}
	}
	for i := top; i <= bottom; i++ {
		if m.pairs.to[i] < 0 {
			return ReasonNotUnique
		}
	}
	return ReasonChanged // something was put in between
}

// distinct reports whether a stretch of s is the only one of its kind in both
// texts, and more than blanks and brackets unless it is all of s.
func (m *merger) distinct(from, to int) bool {
	telling := from == 0 && to == len(m.s)-1
	for i := from; i <= to; i++ {
		if m.only(i) >= 0 {
			return true
		}
		telling = telling || m.words.telling(m.s[i])
	}
	part := m.s[from : to+1]
	return telling && occurs(m.s, part) == 1 && occurs(m.c, part) == 1
}

// doubt looks for a place at which the edit could be told and that is not
// unchanged in the file; lines count from 1, and last may be first-1. own is
// the pairing with the edited text, agreed that part of it which is as the
// changes say, and gone the lines that they remove.
func (m *merger) doubt(own, agreed pairing, gone []bool) (first, last int, found bool) {
	n := len(m.s)
	for i := 0; i < n; i++ {
		j, wider := i, false
		for ; j < n && agreed.to[j] < 0; j++ {
			wider = wider || !gone[j]
		}
		if j == i {
			continue
		}
		_, ok := m.together(i, j-1)
		// Lines that come in can be told on either side of the stretch, too.
		if !ok || wider && !(m.closed(i) && m.closed(j)) {
			return i + 1, j, true
		}
		i = j
	}
	for i := 0; i <= n; i++ {
		if m.added(own, i) && !m.closed(i) {
			return i + 1, i, true
		}
	}
	return 0, 0, false
}

// closed reports whether the file has nothing new between lines i-1 and i.
func (m *merger) closed(i int) bool {
	n := len(m.s)
	switch {
	case n == 0:
		return len(m.c) == 0
	case i == 0:
		return m.pairs.to[0] == 0
	case i == n:
		return int(m.pairs.to[n-1]) == len(m.c)-1
	}
	_, ok := m.together(i-1, i)
	return ok
}

// added reports whether the edit adds lines between lines i-1 and i, which it
// keeps.
func (m *merger) added(own pairing, i int) bool {
	above, below := int32(-1), int32(len(m.e))
	if i > 0 {
		if above = own.to[i-1]; above < 0 {
			return false
		}
	}
	if i < len(m.s) {
		if below = own.to[i]; below < 0 {
			return false
		}
	}
	return below != above+1
}
