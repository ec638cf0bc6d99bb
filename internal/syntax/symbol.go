package syntax

import (
	"slices"
	"strings"
)

// A Symbol is a definition by its lines, 1-based and inclusive.
type Symbol struct {
	Name  string // qualified by what it lies in, with dots
	Kind  string // the grammar's name for the definition
	Block Block
}

// Symbols returns the definitions of a name, in document order, outer ones
// before those inside of them, at most limit; a limit below 1 means all. A
// qualified name, "Type.Method" or with "::" or "#", asks for definitions in
// others: a method counts as lying in its type wherever the language lets it
// stand. Declarations without a body come after definitions.
func (t *Tree) Symbols(name string, limit int) []Symbol {
	want := strings.FieldsFunc(name, func(r rune) bool { return r == '.' || r == ':' || r == '#' })
	if len(want) == 0 {
		return nil
	}
	s := symbols{tree: t, name: t.Grammar.Field("name"), declarator: t.Grammar.Field("declarator"),
		receiver: t.Grammar.Field("receiver"), typ: t.Grammar.Field("type"), body: t.Grammar.Field("body")}
	var full, bare []Symbol
	for i := 1; i < len(t.Nodes); i++ {
		own, ok := s.defines(i)
		if !ok || own[len(own)-1] != want[len(want)-1] {
			continue
		}
		path := append(s.scope(i), own...)
		if !endsWith(path, want) {
			continue
		}
		sym := Symbol{Name: strings.Join(path, "."), Kind: t.KindName(i), Block: s.block(i)}
		if s.isBare(i) {
			bare = append(bare, sym)
		} else {
			full = append(full, sym)
		}
	}
	out := append(full, bare...)
	if limit > 0 && len(out) > limit {
		out = out[:limit]
	}
	return out
}

// endsWith reports whether path ends with the last name wanted, and has the
// others before it, in order.
func endsWith(path, want []string) bool {
	at := len(path) - 1
	for _, w := range slices.Backward(want[:len(want)-1]) {
		at--
		for at >= 0 && path[at] != w {
			at--
		}
		if at < 0 {
			return false
		}
	}
	return true
}

// symbols reads definitions off a tree, by the numbers of its fields.
type symbols struct {
	tree                                  *Tree
	name, declarator, receiver, typ, body uint16
}

// child returns the first child of i in a field, or -1.
func (s *symbols) child(i int, field uint16) int {
	if field == 0 {
		return -1
	}
	for c := s.tree.Child(i); c >= 0; c = s.tree.Next(c) {
		if s.tree.Nodes[c].Field == field {
			return c
		}
	}
	return -1
}

// uses are parts of the kinds of nodes that have a name and define nothing.
var uses = []string{"invocation", "call", "argument", "import", "jsx", "element", "access", "parameter",
	"attribute", "tag", "qualified", "scoped", "generic", "using", "directive", "annotation", "label",
	"export_specifier", "field_initializer", "creation", "named_type", "identifier", "package"}

// defines returns the name that node i defines, in its parts.
func (s *symbols) defines(i int) ([]string, bool) {
	n := &s.tree.Nodes[i]
	if !n.Is(Named) || n.Is(Error) || s.tree.Child(i) < 0 {
		return nil, false
	}
	kind := s.tree.KindName(i)
	if c := s.child(i, s.name); c >= 0 {
		for _, u := range uses {
			if strings.Contains(kind, u) {
				return nil, false
			}
		}
		if strings.HasSuffix(kind, "_specifier") && s.child(i, s.body) < 0 {
			return nil, false // "struct s x;" in C
		}
		return []string{plain(s.tree.Text(c))}, true
	}
	// C and its kin hide the name in declarators around it.
	if c := s.child(i, s.declarator); c >= 0 && (strings.HasSuffix(kind, "definition") || strings.HasSuffix(kind, "declaration")) &&
		!strings.Contains(kind, "parameter") {
		for {
			inner := s.child(c, s.declarator)
			if inner < 0 {
				break
			}
			c = inner
		}
		parts := strings.Split(s.tree.Text(c), "::")
		for k := range parts {
			parts[k] = plain(parts[k])
		}
		if last := parts[len(parts)-1]; last != "" {
			return parts, true
		}
	}
	return nil, false
}

// plain takes pointers, type arguments and quotes off a name.
func plain(s string) string {
	s = strings.Trim(strings.TrimSpace(s), "*&\"'`$ ")
	if i := strings.IndexAny(s, "<[( \n"); i > 0 {
		s = s[:i]
	}
	return s
}

// scope returns the names of what node i lies in, outermost first.
func (s *symbols) scope(i int) []string {
	var out []string
	if c := s.child(i, s.receiver); c >= 0 { // a Go method
		for k := c; k < int(s.tree.Nodes[c].Last); k++ {
			if s.tree.KindName(k) == "type_identifier" {
				out = append(out, s.tree.Text(k))
				break
			}
		}
	}
	for up := s.tree.Parent(i); up > 0; up = s.tree.Parent(up) {
		if own, ok := s.defines(up); ok {
			out = append(slices.Clone(own), out...)
		} else if c := s.child(up, s.typ); c >= 0 && s.tree.KindName(up) == "impl_item" {
			out = append([]string{plain(s.tree.Text(c))}, out...)
		}
	}
	return out
}

// isBare reports whether node i only announces a function.
func (s *symbols) isBare(i int) bool {
	if s.child(i, s.body) >= 0 {
		return false
	}
	kind := s.tree.KindName(i)
	if kind == "function_signature" || kind == "function_signature_item" {
		return true
	}
	for c := s.child(i, s.declarator); c >= 0; c = s.child(c, s.declarator) {
		if s.tree.KindName(c) == "function_declarator" {
			return true
		}
	}
	return false
}

// block returns the lines of a definition, with what it is wrapped in on its
// own line, as in "export const f".
func (s *symbols) block(i int) Block {
	t := s.tree
	start := strings.LastIndexByte(t.Source[:t.Nodes[i].Start], '\n') + 1
	for {
		up := t.Parent(i)
		if up <= 0 || int(t.Nodes[up].Start) < start || t.ListsOnly(up) || t.Nodes[up].Is(Error) || strings.HasSuffix(t.KindName(up), "body") {
			break
		}
		i = up
	}
	return t.block(i, 1+strings.Count(t.Source[:start], "\n"))
}
