// Package syntax holds syntax trees as plain values, the languages that files
// are written in, and what can be asked of a tree alone: the block that begins
// on a line, the definition of a name, the places that do not parse. It refuses
// to parse: a [Parser] does, and the one of this module is in package sitter.
//
// A tree is a flat list of nodes in document order. It holds no memory outside
// of Go, so that nothing needs closing and walking costs no call into C.
package syntax

import (
	"sort"
	"strings"
)

// A Flag is a property of a node.
type Flag uint8

// The flags of a [Node].
const (
	Named    Flag = 1 << iota // a rule of the grammar, not a token like "("
	Extra                     // may stand anywhere, as comments do
	Error                     // text that the grammar has no place for
	Missing                   // of no text: the parser put it in to go on
	HasError                  // is, or holds, an Error or Missing node
)

// A Node is one node of a [Tree]. Offsets are bytes of the tree's source.
type Node struct {
	Start, End uint32
	Parent     uint32 // index; the root, which is 0, has itself
	Last       uint32 // index after the last node below this one
	Kind       uint16 // see [Grammar.Name]
	Field      uint16 // see [Grammar.FieldName]; 0 for none
	Flags      Flag
}

// Is reports whether the node has all of these flags.
func (n Node) Is(f Flag) bool { return n.Flags&f == f }

// ErrorKind is the kind of nodes with the flag Error.
const ErrorKind = 0xFFFF

// A Grammar names the kinds and fields of a language's nodes. It never changes
// and is safe for concurrent use. Trees of one language share one grammar.
type Grammar struct {
	Lang   Lang
	Kinds  []Kind   // by number
	Fields []string // by number; the first is ""
}

// A Kind is one sort of node.
type Kind struct {
	Name  string // the rule's name, or the token's text
	Named bool
}

// Name returns the name of a kind: that of its rule, or a token's text.
func (g *Grammar) Name(kind uint16) string {
	if int(kind) < len(g.Kinds) {
		return g.Kinds[kind].Name
	}
	return "ERROR"
}

// FieldName returns the name of a field, "" for 0.
func (g *Grammar) FieldName(field uint16) string {
	if int(field) < len(g.Fields) {
		return g.Fields[field]
	}
	return ""
}

// Field returns the number of a field, 0 if the grammar has none of that name.
func (g *Grammar) Field(name string) uint16 {
	for i, f := range g.Fields {
		if f == name {
			return uint16(i)
		}
	}
	return 0
}

// A Tree is the syntax tree of one text. It has at least a root, node 0; nodes
// are in document order, each before those below it. It never changes after it
// was made and is safe for concurrent use.
type Tree struct {
	Grammar *Grammar
	Source  string
	Nodes   []Node
}

// Text returns the source of node i.
func (t *Tree) Text(i int) string {
	n := &t.Nodes[i]
	return t.Source[n.Start:n.End]
}

// KindName returns the name of the kind of node i.
func (t *Tree) KindName(i int) string { return t.Grammar.Name(t.Nodes[i].Kind) }

// Parent returns the index of the node above i, or -1 for the root.
func (t *Tree) Parent(i int) int {
	if i == 0 {
		return -1
	}
	return int(t.Nodes[i].Parent)
}

// Child returns the index of the first node below i, or -1.
func (t *Tree) Child(i int) int {
	if int(t.Nodes[i].Last) > i+1 {
		return i + 1
	}
	return -1
}

// Next returns the index of the node after i with the same parent, or -1.
func (t *Tree) Next(i int) int {
	if last := t.Nodes[i].Last; i > 0 && last < t.Nodes[t.Nodes[i].Parent].Last {
		return int(last)
	}
	return -1
}

// Children returns the indexes of the nodes right below i, in order.
func (t *Tree) Children(i int) []int {
	var out []int
	for c := t.Child(i); c >= 0; c = t.Next(c) {
		out = append(out, c)
	}
	return out
}

// IsComment reports whether node i is a comment.
func (t *Tree) IsComment(i int) bool {
	n := &t.Nodes[i]
	return n.Flags&(Named|Error) == Named && strings.Contains(t.Grammar.Name(n.Kind), "comment")
}

// IsTrivia reports whether node i is a comment or a mark that a line goes on:
// something that may stand anywhere and means nothing.
func (t *Tree) IsTrivia(i int) bool {
	n := &t.Nodes[i]
	return t.IsComment(i) || n.Flags&(Extra|Error) == Extra && t.Grammar.Name(n.Kind) == "line_continuation"
}

// Smallest returns the deepest node that holds all bytes from start to before
// end; of nodes with the same span, the one farthest down.
func (t *Tree) Smallest(start, end int) int {
	// Nodes in document order have ascending starts. What holds the place is the
	// last that starts before it, or above that one.
	i := sort.Search(len(t.Nodes), func(i int) bool { return int(t.Nodes[i].Start) > start }) - 1
	for i > 0 && int(t.Nodes[i].End) < end {
		i = int(t.Nodes[i].Parent)
	}
	return max(i, 0)
}

// A Fault is a place that does not parse.
type Fault struct {
	Start, End int
	Line       int    // 1-based
	Missing    string // the token that is not there, or "" for text that does not fit
}

// Faults returns the places that do not parse, in document order, at most
// limit of them; a limit below 1 means all.
func (t *Tree) Faults(limit int) []Fault {
	if !t.Nodes[0].Is(HasError) {
		return nil
	}
	var out []Fault
	for i := 0; i < len(t.Nodes) && (limit < 1 || len(out) < limit); {
		n := &t.Nodes[i]
		switch {
		case n.Is(Error) || n.Is(Missing):
			f := Fault{Start: int(n.Start), End: int(n.End)}
			if n.Is(Missing) {
				f.Missing = t.KindName(i)
			}
			out = append(out, f)
			i = int(n.Last) // faults inside of one are the same fault
		case !n.Is(HasError):
			i = int(n.Last)
		default:
			if !t.holdsError(i) {
				// What is missing is a token that no tree shows, as a line end may be.
				out = append(out, Fault{Start: int(n.Start), End: int(n.End)})
			}
			i++
		}
	}
	line, at := 1, 0
	for k := range out {
		line += strings.Count(t.Source[at:out[k].Start], "\n")
		at = out[k].Start
		out[k].Line = line
	}
	return out
}

// holdsError reports whether a node right below i has the flag HasError.
func (t *Tree) holdsError(i int) bool {
	for c := t.Child(i); c >= 0; c = t.Next(c) {
		if t.Nodes[c].Is(HasError) {
			return true
		}
	}
	return false
}
