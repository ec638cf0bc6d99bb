package jsonedit

import (
	"encoding/json"
	"strings"

	"github.com/tailscale/hujson"

	"dsh-acp/internal/text"
)

// The self-check: the new text is read once more, by a reader that shares
// nothing with what made the edits, and compared with the values that should
// be there. It keeps no tree, so that a large file costs little.

// Check reports as an *[Error] of CodeResult where after does not hold the
// values of d with changes made. The changes must be of d.
func (d *Document) Check(after text.Doc, changes ...Change) error {
	c := checker{src: after.Text(), depth: d.limits.Depth + 1, plan: expectations(changes)}
	if !c.document(&d.root) {
		line, column := place(c.src, min(c.pos, len(c.src)))
		return &Error{Code: CodeResult, Line: line, Column: column,
			Why: "the new text does not hold the values that were asked for; change this file with text operations instead"}
	}
	return nil
}

// A plan is the changes by the values of the document that they are about.
type plan struct {
	replaced map[*hujson.Value]*hujson.Value
	added    map[*hujson.Value][]entry
	inserted map[*hujson.Value]map[int][]*hujson.Value
}

func expectations(changes []Change) plan {
	p := plan{
		replaced: map[*hujson.Value]*hujson.Value{},
		added:    map[*hujson.Value][]entry{},
		inserted: map[*hujson.Value]map[int][]*hujson.Value{},
	}
	for _, c := range changes {
		if len(c.Edits) == 0 {
			continue
		}
		switch e := c.effect.(type) {
		case replaced:
			p.replaced[e.node] = e.value
		case added:
			p.added[e.box] = append(p.added[e.box], entry{e.key, e.value})
		case inserted:
			at := p.inserted[e.box]
			if at == nil {
				at = map[int][]*hujson.Value{}
				p.inserted[e.box] = at
			}
			at[e.index] = append(at[e.index], e.value)
		default:
			panic("jsonedit: a change without an effect")
		}
	}
	return p
}

// A checker walks the new text and the expected values together.
type checker struct {
	src   string
	pos   int
	depth int
	plan  plan
}

func (c *checker) document(root *hujson.Value) bool {
	return c.space() && c.value(root) && c.space() && c.pos == len(c.src)
}

// space skips blanks and comments; it is false in a comment without an end.
func (c *checker) space() bool {
	for c.pos < len(c.src) {
		switch c.src[c.pos] {
		case ' ', '\t', '\r', '\n':
			c.pos++
		case '/':
			n := commentLen(c.src[c.pos:])
			if n == 0 {
				return false
			}
			c.pos += n
		default:
			return true
		}
	}
	return true
}

// eat skips one byte if it comes next, and the space behind it.
func (c *checker) eat(b byte) bool {
	if c.pos < len(c.src) && c.src[c.pos] == b {
		c.pos++
		return c.space()
	}
	return false
}

// value reads a value that should equal v, with the plan's changes, and the
// space behind it.
func (c *checker) value(v *hujson.Value) bool {
	if n, ok := c.plan.replaced[v]; ok {
		return c.loose(n)
	}
	switch n := v.Value.(type) {
	case *hujson.Array:
		return c.array(n, v)
	case *hujson.Object:
		return c.inOrder(n, v)
	case hujson.Literal:
		return c.literal(n)
	}
	return false
}

func (c *checker) literal(want hujson.Literal) bool {
	start := c.pos
	if c.pos == len(c.src) {
		return false
	}
	if c.src[c.pos] == '"' {
		c.pos = stringEnd(c.src, c.pos)
	} else {
		for c.pos < len(c.src) && !strings.ContainsRune(" \t\r\n,]}/:", rune(c.src[c.pos])) {
			c.pos++
		}
	}
	got := c.src[start:c.pos]
	if got != string(want) && (!json.Valid([]byte(got)) || !sameLiteral([]byte(got), want)) {
		c.pos = start
		return false
	}
	return c.space()
}

// comma reads what follows an item: a comma, or nothing before the bracket.
func (c *checker) comma(bracket byte) bool {
	return c.eat(',') || c.pos < len(c.src) && c.src[c.pos] == bracket
}

func (c *checker) enter(bracket byte) bool {
	c.depth--
	return c.depth > 0 && c.eat(bracket)
}

func (c *checker) leave(bracket byte) bool {
	c.depth++
	return c.eat(bracket)
}

func (c *checker) array(n *hujson.Array, v *hujson.Value) bool {
	if !c.enter('[') {
		return false
	}
	inserts := c.plan.inserted[v]
	for i := range n.Elements {
		for _, x := range inserts[i] {
			if !c.value(x) || !c.comma(']') {
				return false
			}
		}
		if !c.value(&n.Elements[i]) || !c.comma(']') {
			return false
		}
	}
	for _, e := range c.plan.added[v] {
		if !c.value(e.value) || !c.comma(']') {
			return false
		}
	}
	return c.leave(']')
}

func (c *checker) inOrder(n *hujson.Object, v *hujson.Value) bool {
	if !c.enter('{') {
		return false
	}
	for i := range n.Members {
		m := &n.Members[i]
		if !c.literal(m.Name.Value.(hujson.Literal)) || !c.eat(':') || !c.value(&m.Value) || !c.comma('}') {
			return false
		}
	}
	for _, e := range c.plan.added[v] {
		if !c.literal(hujson.Literal(quote(e.key))) || !c.eat(':') || !c.value(e.value) || !c.comma('}') {
			return false
		}
	}
	return c.leave('}')
}

// anyOrder reads an object that was asked for: where it replaced another, that
// one's order of keys stayed.
func (c *checker) anyOrder(n *hujson.Object) bool {
	if !c.enter('{') {
		return false
	}
	want := make(map[string]*hujson.Value, len(n.Members))
	for i := range n.Members {
		want[keyOf(&n.Members[i])] = &n.Members[i].Value
	}
	for c.pos < len(c.src) && c.src[c.pos] == '"' {
		start := c.pos
		end := stringEnd(c.src, start)
		key := c.src[start:end]
		if !json.Valid([]byte(key)) {
			return false
		}
		name := unquote([]byte(key))
		v, ok := want[name]
		if !ok {
			return false
		}
		delete(want, name)
		c.pos = end
		if !c.space() || !c.eat(':') || !c.loose(v) || !c.comma('}') {
			return false
		}
	}
	return len(want) == 0 && c.leave('}')
}

// loose is value for what lies inside of a value that was asked for.
func (c *checker) loose(v *hujson.Value) bool {
	switch n := v.Value.(type) {
	case *hujson.Object:
		return c.anyOrder(n)
	case *hujson.Array:
		if !c.enter('[') {
			return false
		}
		for i := range n.Elements {
			if !c.loose(&n.Elements[i]) || !c.comma(']') {
				return false
			}
		}
		return c.leave(']')
	}
	return c.literal(v.Value.(hujson.Literal))
}
