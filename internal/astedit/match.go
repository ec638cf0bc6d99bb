package astedit

import (
	"strings"

	"dsh-acp/internal/syntax"
)

// A Match is one place that a pattern fits.
type Match struct {
	Node       int // in the tree
	Start, End int // bytes of the node
	// Kept is where the part that the pattern accounts for ends: a final ";"
	// that the pattern does not have lies behind it, and outlives a rewrite.
	Kept     int
	captures []capture
	skipped  []int // nodes between the matched ones, before Kept
}

// A capture is what a metavariable stands for in one match.
type capture struct {
	set        bool
	start, end int // equal for an empty run
	run        bool
	// sep is where a final separator of the run starts; end if it has none.
	sep int
}

// Capture returns the source that the metavariable name stands for, and
// whether the pattern binds it. An empty run is "".
func (p *Pattern) Capture(t *syntax.Tree, m Match, name string) (string, bool) {
	for i, n := range p.names {
		if n == name && m.captures[i].set {
			return t.Source[m.captures[i].start:m.captures[i].sep], true
		}
	}
	return "", false
}

// Find returns all places of t that the pattern fits, in document order, outer
// ones before those inside of them. Each node is found once.
func (p *Pattern) Find(t *syntax.Tree) []Match {
	var out []Match
	m := matcher{tree: t, slots: make([]capture, len(p.names))}
	for i := range t.Nodes {
		kind := t.Nodes[i].Kind
		for _, shape := range p.shapes {
			if shape.kind != kind {
				continue
			}
			m.reset()
			end, ok := m.node(shape, i)
			if !ok {
				continue
			}
			out = append(out, m.match(i, end))
			break
		}
	}
	return out
}

// maxSteps bounds the tries of one match, which are many only for a pattern
// with several runs in one list against a list of thousands.
const maxSteps = 1 << 20

// A matcher tries a pattern against nodes of one tree.
type matcher struct {
	tree    *syntax.Tree
	slots   []capture
	trail   []int // slots in the order in which they were set
	skipped []int
	steps   int
}

// A mark is a state to go back to.
type mark struct{ trail, skipped int }

func (m *matcher) mark() mark { return mark{len(m.trail), len(m.skipped)} }

func (m *matcher) back(to mark) {
	for _, slot := range m.trail[to.trail:] {
		m.slots[slot] = capture{}
	}
	m.trail = m.trail[:to.trail]
	m.skipped = m.skipped[:to.skipped]
}

func (m *matcher) reset() {
	m.back(mark{})
	m.steps = 0
}

func (m *matcher) match(node, kept int) Match {
	n := m.tree.Nodes[node]
	out := Match{Node: node, Start: int(n.Start), End: int(n.End), Kept: kept}
	out.captures = append(out.captures, m.slots...)
	for _, s := range m.skipped {
		if int(m.tree.Nodes[s].Start) < kept {
			out.skipped = append(out.skipped, s)
		}
	}
	return out
}

// node reports whether node i is what g asks for, and where the part of it
// ends that g accounts for. On false the captures are those of before.
func (m *matcher) node(g *goal, i int) (end int, ok bool) {
	m.steps++
	n := &m.tree.Nodes[i]
	if g.meta != nil {
		if g.meta.form != any1 && !n.Is(syntax.Named) || m.tree.IsTrivia(i) {
			return 0, false
		}
		c := capture{set: true, start: int(n.Start), end: int(n.End), sep: int(n.End)}
		return c.end, m.bind(g.meta.slot, c)
	}
	if g.kind != n.Kind {
		return 0, false
	}
	if g.children == nil {
		// The text of a token follows from its kind, but for those whose
		// letters may be of any case.
		return int(n.End), !g.named || g.text == m.tree.Text(i)
	}
	before := m.mark()
	end, ok = m.list(g.children, m.tree.Child(i), int(n.Start))
	if !ok {
		m.back(before)
	}
	return end, ok
}

// bind sets a slot, or compares the text with what was bound before.
func (m *matcher) bind(slot int, c capture) bool {
	if slot < 0 {
		return true
	}
	if old := m.slots[slot]; old.set {
		return m.tree.Source[old.start:old.sep] == m.tree.Source[c.start:c.sep]
	}
	m.slots[slot] = c
	m.trail = append(m.trail, slot)
	return true
}

// list matches goals against the siblings from c on, all of them; c is -1 for
// none. end is where the last node before c ended.
func (m *matcher) list(goals []*goal, c, end int) (int, bool) {
	for len(goals) > 0 {
		g := goals[0]
		if g.meta != nil && g.meta.form == run {
			return m.run(goals, c, end)
		}
		for {
			if c < 0 {
				return 0, false
			}
			e, ok := m.node(g, c)
			if ok {
				end = e
				break
			}
			if !m.skip(c) {
				return 0, false
			}
			c = m.tree.Next(c)
		}
		goals, c = goals[1:], m.tree.Next(c)
	}
	for ; c >= 0; c = m.tree.Next(c) {
		if !m.skip(c) {
			return 0, false
		}
	}
	return end, true
}

// skip passes over a node that the pattern does not name, if it may. Brackets
// come in pairs, of which one could be behind the match.
func (m *matcher) skip(c int) bool {
	n := &m.tree.Nodes[c]
	if n.Is(syntax.Named) {
		if !m.tree.IsTrivia(c) {
			return false
		}
	} else if n.End == n.Start+1 && strings.IndexByte("()[]{}", m.tree.Source[n.Start]) >= 0 {
		return false
	}
	m.skipped = append(m.skipped, c)
	return true
}

// run matches goals that begin with a run: the shortest that lets the rest
// match right behind it.
func (m *matcher) run(goals []*goal, first, end int) (int, bool) {
	g, rest := goals[0], goals[1:]
	for last := first; ; {
		// The run is the siblings from first to before last; last is -1 behind
		// the final one. A rest that is empty takes the siblings that are left.
		if len(rest) > 0 || last < 0 {
			before := m.mark()
			c := m.capture(first, last, end, g.meta)
			if m.bind(g.meta.slot, c) && (last >= 0 || len(rest) == 0 || rest[0].isRun()) {
				if e, ok := m.after(rest, last, max(end, c.end)); ok {
					return e, true
				}
			}
			m.back(before)
		}
		if last < 0 || m.steps > maxSteps {
			return 0, false
		}
		last = m.tree.Next(last)
	}
}

func (g *goal) isRun() bool { return g.meta != nil && g.meta.form == run }

// after matches the goals behind a run. The first must match right there: what
// could be skipped is part of the run instead.
func (m *matcher) after(goals []*goal, c, end int) (int, bool) {
	if len(goals) == 0 || goals[0].isRun() {
		return m.list(goals, c, end)
	}
	e, ok := m.node(goals[0], c)
	if !ok {
		return 0, false
	}
	return m.list(goals[1:], m.tree.Next(c), e)
}

// capture makes the capture of the siblings from first to before last, without
// separators and blank tokens at its start, and blank ones at its end.
func (m *matcher) capture(first, last, end int, v *variable) capture {
	c := capture{set: true, run: true, start: end, end: end, sep: end}
	begun := false
	for i := first; i >= 0 && i != last; i = m.tree.Next(i) {
		n := &m.tree.Nodes[i]
		text := ""
		if !n.Is(syntax.Named) {
			text = strings.TrimSpace(m.tree.Text(i))
			if text == "" || !begun && isSeparator(text) {
				continue
			}
		}
		if !begun {
			c.start, begun = int(n.Start), true
		}
		c.end = int(n.End)
		if isSeparator(text) {
			continue
		}
		c.sep = c.end
	}
	if v.sepAfter {
		c.end = c.sep
	}
	return c
}

func isSeparator(token string) bool { return token == "," || token == ";" }
