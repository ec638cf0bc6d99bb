package fs

import (
	"errors"
	"fmt"

	"dsh-acp/internal/hashline"
	"dsh-acp/internal/syntax"
	"dsh-acp/internal/text"
)

// maxChecked is the size of text, in bytes, above which nobody looks whether
// it parses: a tree takes some ten times the memory of its text.
const maxChecked = 2 << 20

// A grammar answers for the language of one file. It is for one call: it keeps
// trees, and is not safe for concurrent use.
type grammar struct {
	parser syntax.Parser
	lang   syntax.Lang
	kept   [2]*syntax.Tree // the last two: of a text before and after an edit
}

// grammar is that of a file, by its name; nil if there is none.
func (b *Box) grammar(abs string) *grammar {
	lang := syntax.ByName(abs)
	if b.Parser == nil || lang == "" {
		return nil
	}
	return &grammar{parser: b.Parser, lang: lang}
}

func (g *grammar) tree(lf string) (*syntax.Tree, error) {
	for _, t := range g.kept {
		if t != nil && t.Source == lf {
			return t, nil
		}
	}
	t, err := g.parser.Parse(g.lang, lf)
	if err != nil {
		return nil, err
	}
	g.kept[0], g.kept[1] = t, g.kept[0]
	return t, nil
}

// Block is of [hashline.BlockResolver].
func (g *grammar) Block(d text.Doc, line int) (hashline.Block, error) {
	t, err := g.tree(d.LF())
	if err != nil {
		return hashline.Block{}, err
	}
	b, err := t.Block(line)
	if err != nil {
		return hashline.Block{}, whyNoBlock(err)
	}
	out := hashline.Block{First: b.First, Last: b.Last}
	if b.Above > 0 {
		what := fmt.Sprintf("line %d", b.Above)
		if b.Above < b.First-1 {
			what = fmt.Sprintf("lines %d–%d", b.Above, b.First-1)
		}
		out.Notes = []string{fmt.Sprintf("the block that begins on line %d does not have %s, the comments and attributes above it", line, what)}
	}
	return out, nil
}

// around is the block that begins on a line, else the smallest that holds it.
func (g *grammar) around(d text.Doc, line int) (hashline.Range, error) {
	t, err := g.tree(d.LF())
	if err != nil {
		return hashline.Range{}, err
	}
	b, err := t.Around(line)
	if err != nil {
		return hashline.Range{}, whyNoBlock(err)
	}
	return hashline.Range{First: b.First, Last: b.Last}, nil
}

// whyNoBlock leaves of an error what its reader does not say himself.
func whyNoBlock(err error) error {
	var none *syntax.BlockError
	if errors.As(err, &none) {
		return errors.New(none.Why)
	}
	return err
}

// Fault is of [hashline.Syntax].
func (g *grammar) Fault(lf string) int {
	if len(lf) > maxChecked {
		return 0
	}
	t, err := g.tree(lf)
	if err != nil {
		return 0 // nothing is known, so nothing is said
	}
	if faults := t.Faults(1); len(faults) > 0 {
		return faults[0].Line
	}
	return 0
}

// symbols are the lines of the definitions of a name, at most limit.
func (g *grammar) symbols(d text.Doc, name string, limit int) ([]hashline.Range, error) {
	t, err := g.tree(d.LF())
	if err != nil {
		return nil, err
	}
	var out []hashline.Range
	for _, s := range t.Symbols(name, limit) {
		out = append(out, hashline.Range{First: s.Block.First, Last: s.Block.Last})
	}
	return out, nil
}

var (
	_ hashline.BlockResolver = (*grammar)(nil)
	_ hashline.Syntax        = (*grammar)(nil)
)
