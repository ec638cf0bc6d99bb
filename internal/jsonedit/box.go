package jsonedit

import (
	"strings"

	"github.com/tailscale/hujson"
)

// A box is an array or object with the places of its parts, the same for both.
type box struct {
	node  *hujson.Value
	open  int // offset of the opening bracket
	close int // and of the closing one
	items []item
	// trailing says that a comma follows the last item.
	trailing bool
}

// An item is an element, or a member with its key.
type item struct {
	name  *hujson.Value // nil for an element
	value *hujson.Value
	start int // of the key, or of the element
	end   int
	comma int // offset of the comma behind it, or -1
}

func boxOf(v *hujson.Value) box {
	b := box{node: v, open: v.StartOffset, close: v.EndOffset - 1}
	add := func(name, value *hujson.Value) {
		it := item{name: name, value: value, start: value.StartOffset, end: value.EndOffset}
		if name != nil {
			it.start = name.StartOffset
		}
		it.comma = it.end + len(value.AfterExtra)
		b.items = append(b.items, it)
	}
	switch n := v.Value.(type) {
	case *hujson.Object:
		b.items = make([]item, 0, len(n.Members))
		for i := range n.Members {
			add(&n.Members[i].Name, &n.Members[i].Value)
		}
	case *hujson.Array:
		b.items = make([]item, 0, len(n.Elements))
		for i := range n.Elements {
			add(nil, &n.Elements[i])
		}
	}
	if n := len(b.items); n > 0 {
		// The parser keeps what follows the last value with the container,
		// unless there is a comma.
		last := &b.items[n-1]
		b.trailing = last.value.AfterExtra != nil
		if !b.trailing {
			last.comma = -1
		}
	}
	return b
}

// next returns where the item after i starts, or the closing bracket.
func (b *box) next(i int) int {
	if i+1 < len(b.items) {
		return b.items[i+1].start
	}
	return b.close
}

// tail returns where the space behind the last item starts.
func (b *box) tail() int {
	n := len(b.items)
	switch {
	case n == 0:
		return b.open + 1
	case b.trailing:
		return b.items[n-1].comma + 1
	}
	return b.items[n-1].end
}

// several reports whether the container is laid out on several lines: there
// is a break before its first item.
func (d *Document) several(b *box) bool {
	return len(b.items) > 0 && strings.Contains(d.src[b.open:b.items[0].start], "\n")
}

// contentEnd returns where the last token or comment before the closing
// bracket ends, and whether it is a line comment.
func (d *Document) contentEnd(b *box) (at int, lineComment bool) {
	at = b.tail()
	for i := at; i < b.close; {
		n := commentLen(d.src[i:])
		if n == 0 {
			i++
			continue
		}
		lineComment = d.src[i+1] == '/'
		i += n
		at = i
	}
	return at, lineComment
}

// comments returns how many comments lie between two offsets, of which the
// first is not inside of a token.
func comments(s string) int {
	count := 0
	for i := 0; i < len(s); {
		switch s[i] {
		case '"':
			i = stringEnd(s, i)
			continue
		case '/':
			if n := commentLen(s[i:]); n > 0 {
				count++
				i += n
				continue
			}
		}
		i++
	}
	return count
}

// lineStart returns where the line of an offset starts.
func (d *Document) lineStart(at int) int { return strings.LastIndexByte(d.src[:at], '\n') + 1 }

// indentAt returns the blanks that the line of an offset starts with.
func (d *Document) indentAt(at int) string {
	line := d.src[d.lineStart(at):at]
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// leads reports whether only blanks and comments stand before an item on its
// line.
func (d *Document) leads(b *box, i int) bool {
	from := b.open + 1
	if i > 0 {
		from = b.items[i-1].comma + 1
	}
	return strings.Contains(d.src[from:b.items[i].start], "\n")
}

// siblingIndent returns the indentation that a new item on its own line gets.
func (d *Document) siblingIndent(b *box) string {
	for i := len(b.items) - 1; i >= 0; i-- {
		if d.leads(b, i) {
			return d.indentAt(b.items[i].start)
		}
	}
	return d.indentAt(b.open) + d.style().unit
}

func blank(s string) bool { return strings.Trim(s, " \t") == "" }
