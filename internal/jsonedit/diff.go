package jsonedit

import (
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"dsh-acp/internal/text"
)

// set makes the value of item i of b, or the root where b is nil, the new one.
func (w *writer) set(old, value *hujson.Value, b *box, i int) {
	if equal(old, value) {
		return
	}
	d := w.d
	lines := d.style().breaks
	if b != nil {
		lines = d.several(b)
	}
	switch n := old.Value.(type) {
	case *hujson.Object:
		o, same := value.Value.(*hujson.Object)
		_, twice := duplicate(n)
		if same && !twice {
			w.object(old, o, lines)
			return
		}
	case *hujson.Array:
		if a, same := value.Value.(*hujson.Array); same {
			w.array(old, a, lines)
			return
		}
	}
	indent := ""
	if b != nil {
		indent = d.indentAt(b.items[i].start)
	}
	w.edit(old.StartOffset, old.EndOffset, d.formIn(b).value(value, indent, lines))
}

// object changes the members that differ. Keys that are left out give their
// place to new ones, in order; the rest of those goes to the end.
func (w *writer) object(old *hujson.Value, o *hujson.Object, lines bool) {
	d := w.d
	b := boxOf(old)
	want := make(map[string]*hujson.Value, len(o.Members))
	for i := range o.Members {
		want[keyOf(&o.Members[i])] = &o.Members[i].Value
	}
	have := make(map[string]bool, len(b.items))
	var leaving []int
	for i, it := range b.items {
		key := unquote(it.name.Value.(hujson.Literal))
		have[key] = true
		if v, stays := want[key]; stays {
			w.set(it.value, v, &b, i)
		} else {
			leaving = append(leaving, i)
		}
	}
	var coming []entry
	for i := range o.Members {
		if key := keyOf(&o.Members[i]); !have[key] {
			coming = append(coming, entry{key, &o.Members[i].Value})
		}
	}
	swaps := min(len(leaving), len(coming))
	for k, i := range leaving[:swaps] {
		it := b.items[i]
		several := d.several(&b)
		w.edit(it.start, it.end, d.formIn(&b).entry(&b, coming[k], d.indentAt(it.start), several))
	}
	w.rest(&b, lines, leaving[swaps:], coming[swaps:])
}

// rest removes items and adds entries at the end. Both go together only where
// the last item stays, since its comma belongs to both.
func (w *writer) rest(b *box, lines bool, leaving []int, coming []entry) {
	if len(leaving) > 0 {
		gone := make([]bool, len(b.items))
		for _, i := range leaving {
			gone[i] = true
		}
		w.remove(b, gone)
	}
	if len(coming) > 0 {
		w.append(b, !lines, coming)
	}
}

// array changes the elements that differ, in the shortest way.
func (w *writer) array(old *hujson.Value, a *hujson.Array, lines bool) {
	b := boxOf(old)
	before := make([]*hujson.Value, len(b.items))
	for i := range b.items {
		before[i] = b.items[i].value
	}
	after := make([]*hujson.Value, len(a.Elements))
	for i := range a.Elements {
		after[i] = &a.Elements[i]
	}
	var leaving []int
	var coming []entry
	for _, c := range text.CompareLines(names(before), names(after)).Changes {
		i, end, j, stop := c.Old-1, c.OldEnd-1, c.New-1, c.NewEnd-1
		for ; i < end && j < stop; i, j = i+1, j+1 {
			w.set(b.items[i].value, after[j], &b, i)
		}
		for ; i < end; i++ {
			leaving = append(leaving, i)
		}
		switch {
		case j == stop:
		case i < len(b.items):
			w.insert(&b, i, after[j:stop])
		default:
			for ; j < stop; j++ {
				coming = append(coming, entry{value: after[j]})
			}
		}
	}
	w.rest(&b, lines, leaving, coming)
}

// names gives each value a line, the same for equal ones.
func names(values []*hujson.Value) string {
	var b strings.Builder
	for _, v := range values {
		name(&b, v)
		b.WriteByte('\n')
	}
	return b.String()
}

func name(b *strings.Builder, v *hujson.Value) {
	switch n := v.Value.(type) {
	case hujson.Literal:
		if n.Kind() == '"' {
			b.WriteString(quote(unquote(n)))
		} else {
			b.Write(n)
		}
	case *hujson.Array:
		b.WriteByte('[')
		for i := range n.Elements {
			name(b, &n.Elements[i])
			b.WriteByte(',')
		}
		b.WriteByte(']')
	case *hujson.Object:
		members := make([]*hujson.ObjectMember, len(n.Members))
		for i := range n.Members {
			members[i] = &n.Members[i]
		}
		if _, twice := duplicate(n); !twice {
			slices.SortFunc(members, func(a, b *hujson.ObjectMember) int {
				return strings.Compare(keyOf(a), keyOf(b))
			})
		}
		b.WriteByte('{')
		for _, m := range members {
			b.WriteString(quote(keyOf(m)))
			b.WriteByte(':')
			name(b, &m.Value)
			b.WriteByte(',')
		}
		b.WriteByte('}')
	}
}
