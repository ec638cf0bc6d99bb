package jsonedit

import (
	"cmp"
	"slices"

	"github.com/tailscale/hujson"

	"dsh-acp/internal/text"
)

// A Change is what one operation does to a document.
type Change struct {
	// Edits are of the document's text, sorted, and apart from each other.
	// None means that the value is there already.
	Edits []text.Edit
	// Claim is what the operation reserves: two changes whose claims touch
	// may not go together. It counts only if there are edits.
	Claim Claim
	// Lost counts comments inside of what the edits take away: of a value
	// that is replaced as a whole, or of a member that is gone.
	Lost int

	pointer []string // as tokens, for [Document.Conflict]
	effect  effect
}

// A Claim is a range of offsets with both ends in it.
type Claim struct{ Start, End int }

// Touches reports whether two claims share an offset.
func (c Claim) Touches(o Claim) bool { return c.Start <= o.End && o.Start <= c.End }

// An effect says what a change means for the values, apart from how it is
// written. It is one of replaced, added and inserted.
type effect interface{ effect() }

type replaced struct{ node, value *hujson.Value }

type added struct {
	box   *hujson.Value
	key   string // of a member
	value *hujson.Value
}

type inserted struct {
	box   *hujson.Value
	index int
	value *hujson.Value
}

func (replaced) effect() {}
func (added) effect()    {}
func (inserted) effect() {}

// Set makes value the one that pointer leads to. A last token that is a new
// key, or "-" in an array, adds at the end. Where an object replaces an
// object, or an array an array, only what differs changes. Errors are
// *[Error].
func (d *Document) Set(pointer string, value Value) (Change, error) {
	t, err := d.find(pointer, true)
	if err != nil {
		return Change{}, err
	}
	if err := d.fits(value, len(t.steps)); err != nil {
		return Change{}, err
	}
	if t.node == nil {
		return d.add(t, value), nil
	}
	c := Change{pointer: t.tokens, effect: replaced{t.node, value.node}}
	w := writer{d: d}
	switch n := len(t.steps); n {
	case 0:
		c.Claim = Claim{0, len(d.src)}
		w.set(t.node, value.node, nil, 0)
	default:
		s := t.steps[n-1]
		b := boxOf(s.node)
		c.Claim = Claim{b.items[s.item].start, b.next(s.item)}
		w.set(t.node, value.node, &b, s.item)
	}
	return d.finish(c, w), nil
}

func (d *Document) add(t target, value Value) Change {
	s := t.steps[len(t.steps)-1]
	b := boxOf(s.node)
	c := Change{pointer: t.tokens}
	from := b.open
	if n := len(b.items); n > 0 {
		from = b.items[n-1].end
	}
	c.Claim = Claim{from, b.close}
	e := added{box: s.node, value: value.node}
	if s.node.Value.Kind() == '{' {
		e.key = t.tokens[len(t.tokens)-1]
	}
	c.effect = e
	w := writer{d: d}
	w.append(&b, d.inLine(t.steps[:len(t.steps)-1], &b), []entry{{e.key, value.node}})
	return d.finish(c, w)
}

// Insert puts value before the element at index of the array that pointer
// leads to, behind the comments that lead that element. Errors are *[Error].
func (d *Document) Insert(pointer string, index int, value Value) (Change, error) {
	t, err := d.find(pointer, false)
	if err != nil {
		return Change{}, err
	}
	if err := d.fits(value, len(t.steps)+1); err != nil {
		return Change{}, err
	}
	a, ok := t.node.Value.(*hujson.Array)
	switch {
	case !ok:
		return Change{}, fail(CodeType, "pointer %s: there is %s, and insert_json wants an array", quote(pointer), kindName(t.node))
	case len(a.Elements) == 0:
		return Change{}, fail(CodeEmptyArray, "pointer %s: the array is empty, so there is no element to insert before; use set_json with %s",
			quote(pointer), quote(pointer+"/-"))
	case index < 0 || index >= len(a.Elements):
		return Change{}, fail(CodeIndex, "pointer %s: index %d is outside of the array, which has %s; to append use set_json with %s",
			quote(pointer), index, elements(len(a.Elements)), quote(pointer+"/-"))
	}
	b := boxOf(t.node)
	at := b.items[index].start
	c := Change{
		Claim:   Claim{at, at},
		pointer: t.tokens,
		effect:  inserted{t.node, index, value.node},
	}
	w := writer{d: d}
	w.insert(&b, index, []*hujson.Value{value.node})
	return d.finish(c, w), nil
}

// fits checks that a value below so many levels is not too deep.
func (d *Document) fits(v Value, levels int) error {
	if v.node == nil {
		panic("jsonedit: the zero Value was to be written")
	}
	if n := levels + v.Depth(); n > d.limits.Depth {
		return fail(CodeLimit, "value: the document would nest %d levels deep, the limit is %d", n, d.limits.Depth)
	}
	return nil
}

func (d *Document) finish(c Change, w writer) Change {
	slices.SortStableFunc(w.edits, func(a, b text.Edit) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End))
	})
	c.Edits = w.edits
	for _, e := range c.Edits {
		c.Lost += comments(d.src[e.Start:e.End])
	}
	return c
}

// Conflict reports whether the value of one change holds the place of the
// other, so that no order of the two could be right.
func (d *Document) Conflict(a, b Change) bool {
	if _, insert := a.effect.(inserted); insert {
		a, b = b, a
	}
	if _, insert := a.effect.(inserted); insert {
		return false
	}
	if len(b.pointer) < len(a.pointer) {
		if _, insert := b.effect.(inserted); !insert {
			a, b = b, a
		}
	}
	return len(a.pointer) <= len(b.pointer) && slices.Equal(a.pointer, b.pointer[:len(a.pointer)]) &&
		(len(a.pointer) == 0 || a.pointer[len(a.pointer)-1] != "-")
}
