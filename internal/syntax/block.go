package syntax

import (
	"fmt"
	"strings"
)

// A Block is a syntactic block by its lines, 1-based and inclusive.
type Block struct {
	Node        int
	First, Last int
	// Above is the first line of the comments, attributes and decorators that
	// stand directly above the block and are no part of it; 0 if there are none.
	Above int
}

// A BlockError says why no block begins on a line.
type BlockError struct {
	Line int
	Why  string
}

func (e *BlockError) Error() string {
	return fmt.Sprintf("line %d: %s; name the lines themselves instead, as in %d..%d", e.Line, e.Why, e.Line, e.Line+1)
}

// Block returns the block that begins on a line: the largest node that starts
// with the line's first character. It fails with a *[BlockError] where none
// does, or where the text does not parse.
func (t *Tree) Block(line int) (Block, error) {
	start, ok := lineStart(t.Source, line)
	if !ok {
		return Block{}, &BlockError{line, "the file has no such line"}
	}
	text, _, _ := strings.Cut(t.Source[start:], "\n")
	at := start + len(text) - len(strings.TrimLeft(text, " \t\r"))
	if strings.TrimSpace(text) == "" {
		return Block{}, &BlockError{line, "it is blank, so that no block begins there"}
	}
	i := t.Smallest(at, at+1)
	for i > 0 && !t.Nodes[i].Is(Named) && int(t.Nodes[i].Start) == at {
		i = t.Parent(i)
	}
	if i <= 0 || int(t.Nodes[i].Start) != at || t.ListsOnly(i) {
		return Block{}, &BlockError{line, fmt.Sprintf("no block begins with %q", first(strings.TrimSpace(text), 40))}
	}
	for {
		up := t.Parent(i)
		if up <= 0 || int(t.Nodes[up].Start) < start || t.ListsOnly(up) || t.Nodes[up].Is(Error) {
			break
		}
		i = up
	}
	if t.broken(i) {
		return Block{}, &BlockError{line, "the code there does not parse, so that its end is not known"}
	}
	return t.block(i, line), nil
}

// Around returns the block that begins on a line or, where none does, the
// smallest that holds the line. It fails with a *[BlockError] if there is none.
func (t *Tree) Around(line int) (Block, error) {
	b, err := t.Block(line)
	if err == nil {
		return b, nil
	}
	at, ok := lineStart(t.Source, line)
	if !ok {
		return Block{}, err
	}
	text, _, _ := strings.Cut(t.Source[at:], "\n")
	at += len(text) - len(strings.TrimLeft(text, " \t\r"))
	for i := t.Smallest(at, min(at+1, len(t.Source))); i > 0; i = t.Parent(i) {
		b, inner := t.Block(1 + strings.Count(t.Source[:t.Nodes[i].Start], "\n"))
		if inner == nil && b.First <= line && line <= b.Last && b.Last > b.First {
			return b, nil
		}
	}
	return Block{}, err
}

// block makes the Block of a node that starts on a line.
func (t *Tree) block(i, line int) Block {
	text := strings.TrimRight(t.Text(i), " \t\r\n")
	return Block{Node: i, First: line, Last: line + strings.Count(text, "\n"), Above: t.above(line)}
}

// above returns the first line of what is attached to a line from above.
func (t *Tree) above(line int) int {
	found := 0
	for line > 1 {
		start, _ := lineStart(t.Source, line-1)
		text, _, _ := strings.Cut(t.Source[start:], "\n")
		text = strings.TrimRight(text, " \t\r")
		if text == "" {
			return found
		}
		at := start + len(text) - 1
		i := t.Smallest(at, at+1)
		for i > 0 && !t.attached(i) {
			i = t.Parent(i)
		}
		if i <= 0 {
			return found
		}
		for up := t.Parent(i); up > 0 && t.attached(up); up = t.Parent(up) {
			i = up // a comment may have parts
		}
		head := int(t.Nodes[i].Start)
		begin := strings.LastIndexByte(t.Source[:head], '\n') + 1
		if strings.TrimSpace(t.Source[begin:head]) != "" {
			return found // behind code
		}
		line = 1 + strings.Count(t.Source[:head], "\n")
		found = line
	}
	return found
}

// attached reports whether a node belongs to what follows it.
func (t *Tree) attached(i int) bool {
	if t.IsComment(i) {
		return true
	}
	switch t.KindName(i) {
	case "decorator", "attribute_item", "attribute_list", "annotation", "marker_annotation":
		return true
	}
	return false
}

// broken reports whether a node does not parse, or lies in text that does not.
func (t *Tree) broken(i int) bool {
	if t.Nodes[i].Is(HasError) {
		return true
	}
	for ; i > 0; i = t.Parent(i) {
		if t.Nodes[i].Is(Error) {
			return true
		}
	}
	return false
}

// ListsOnly reports whether a node is nothing but a list of others, without
// brackets: it begins where its first member does, and stands for none of them.
func (t *Tree) ListsOnly(i int) bool {
	switch t.KindName(i) {
	case "statement_list", "block", "statements", "body_statement", "declaration_list",
		"block_mapping", "block_sequence", "field_declaration_list", "case_block", "template_body":
		c := t.Child(i)
		return c >= 0 && t.Nodes[c].Is(Named)
	}
	return false
}

// lineStart returns the offset of a line, and whether there is such a line.
func lineStart(src string, line int) (int, bool) {
	at := 0
	for ; line > 1; line-- {
		n := strings.IndexByte(src[at:], '\n')
		if n < 0 {
			return 0, false
		}
		at += n + 1
	}
	return at, line == 1 && at < len(src)
}

func first(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "..."
	}
	return s
}
