package jsonedit

import (
	"bytes"
	"strings"

	"github.com/tailscale/hujson"
)

// A style is how a document is laid out as a whole.
type style struct {
	unit   string // of indentation
	colon  string // between a key and its value
	comma  string // between items on one line
	breaks bool   // there are line breaks inside of brackets
}

// style looks at the whole document, once.
func (d *Document) style() style {
	if d.look != nil {
		return *d.look
	}
	l := looker{d: d}
	l.value(&d.root)
	s := style{unit: "  ", colon: ": ", comma: ", "}
	s.breaks = strings.Contains(d.src[d.root.StartOffset:d.root.EndOffset], "\n")
	if l.unit != "" {
		s.unit = l.unit
	}
	if l.colon != "" {
		s.colon = l.colon
	}
	// A document without a comma inside of a line tells by its colons.
	if !l.spaced && (l.tight || l.colon == ":") {
		s.comma = ","
	}
	d.look = &s
	return s
}

// A looker collects what a style is made of.
type looker struct {
	d      *Document
	unit   string
	colon  string // of the first member
	spaced bool   // a blank follows some comma
	tight  bool   // another token follows some comma at once
}

func (l *looker) value(v *hujson.Value) {
	switch n := v.Value.(type) {
	case *hujson.Object:
		for i := range n.Members {
			m := &n.Members[i]
			l.item(i, &m.Name, v)
			if l.colon == "" {
				l.colon = l.d.colonOf(&m.Name, &m.Value)
			}
			l.value(&m.Value)
		}
	case *hujson.Array:
		for i := range n.Elements {
			l.item(i, &n.Elements[i], v)
			l.value(&n.Elements[i])
		}
	}
}

func (l *looker) item(i int, v, outer *hujson.Value) {
	before := v.BeforeExtra
	switch {
	case bytes.IndexByte(before, '\n') >= 0:
		step, deeper := strings.CutPrefix(l.d.indentAt(v.StartOffset), l.d.indentAt(outer.StartOffset))
		switch {
		case !deeper || step == "":
		case l.unit == "" && step[0] == '\t':
			l.unit = "\t"
		case l.unit == "", l.unit[0] != '\t' && step[0] != '\t' && len(step) < len(l.unit):
			l.unit = step
		}
	case i == 0:
	case len(before) > 0 && (before[0] == ' ' || before[0] == '\t'):
		l.spaced = true
	default:
		l.tight = true
	}
}

// colonOf returns what stands between a key and its value, or "" if that is
// more than blanks on one line.
func (d *Document) colonOf(name, value *hujson.Value) string {
	between := d.src[name.EndOffset:value.StartOffset]
	before, after, _ := strings.Cut(between, ":")
	if !blank(before) || !blank(after) {
		return ""
	}
	return between
}

// A form is how a new value is written.
type form struct {
	unit, eol    string
	colon, comma string
}

// formIn returns the form of values in a container: keys as its last member
// has them, the rest as the document.
func (d *Document) formIn(b *box) form {
	s := d.style()
	f := form{unit: s.unit, eol: d.eol, colon: s.colon, comma: s.comma}
	if b != nil {
		for i := len(b.items) - 1; i >= 0 && b.items[i].name != nil; i-- {
			if colon := d.colonOf(b.items[i].name, b.items[i].value); colon != "" {
				f.colon = colon
				break
			}
		}
	}
	return f
}

// expanded writes a value with an item a line; indent is that of the line
// that it starts on.
func (f form) expanded(v *hujson.Value, indent string) string {
	var b strings.Builder
	f.write(&b, v, indent, true)
	return b.String()
}

// inline writes a value on one line.
func (f form) inline(v *hujson.Value) string {
	var b strings.Builder
	f.write(&b, v, "", false)
	return b.String()
}

func (f form) value(v *hujson.Value, indent string, lines bool) string {
	if lines {
		return f.expanded(v, indent)
	}
	return f.inline(v)
}

func (f form) write(b *strings.Builder, v *hujson.Value, indent string, lines bool) {
	inner := indent + f.unit
	separate := func(i int) {
		switch {
		case lines && i > 0:
			b.WriteString("," + f.eol + inner)
		case lines:
			b.WriteString(f.eol + inner)
		case i > 0:
			b.WriteString(f.comma)
		}
	}
	end := func(n int, bracket byte) {
		if lines && n > 0 {
			b.WriteString(f.eol + indent)
		}
		b.WriteByte(bracket)
	}
	switch n := v.Value.(type) {
	case *hujson.Object:
		b.WriteByte('{')
		for i := range n.Members {
			separate(i)
			b.WriteString(quote(keyOf(&n.Members[i])))
			b.WriteString(f.colon)
			f.write(b, &n.Members[i].Value, inner, lines)
		}
		end(len(n.Members), '}')
	case *hujson.Array:
		b.WriteByte('[')
		for i := range n.Elements {
			separate(i)
			f.write(b, &n.Elements[i], inner, lines)
		}
		end(len(n.Elements), ']')
	case hujson.Literal:
		if n.Kind() == '"' {
			b.WriteString(quote(unquote(n)))
		} else {
			b.Write(n)
		}
	}
}
