//go:build cgo

package sitter

// #cgo noescape dsh_parse
// #cgo noescape dsh_flatten
// #include "glue.h"
import "C"

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unsafe"

	_ "github.com/tree-sitter/go-tree-sitter" // the C library

	"dsh-acp/internal/syntax"
)

// Available reports whether this build can parse.
const Available = true

// The Go part of the library makes each allocation of the C part a call into Go
// and back. Both end at the same malloc, which this says again.
func init() { C.ts_set_allocator(nil, nil, nil, nil) }

// A dsh_node is written where a Node is read.
var _ [unsafe.Sizeof(syntax.Node{})]byte = [C.sizeof_dsh_node]byte{}

// A Parser makes trees, in any number of goroutines at once. It keeps as many
// idle C parsers as there are processors, and needs no closing.
type Parser struct {
	options Options
	idle    chan *C.TSParser
}

// New returns a parser within the given bounds.
func New(o Options) *Parser {
	p := &Parser{options: o.withDefaults(), idle: make(chan *C.TSParser, runtime.GOMAXPROCS(0))}
	// Nothing refers to the idle parsers but p, which is what ends them.
	runtime.AddCleanup(p, drain, p.idle)
	return p
}

func drain(idle chan *C.TSParser) {
	for {
		select {
		case c := <-idle:
			C.ts_parser_delete(c)
		default:
			return
		}
	}
}

func (p *Parser) take() *C.TSParser {
	select {
	case c := <-p.idle:
		return c
	default:
		return C.ts_parser_new()
	}
}

func (p *Parser) give(c *C.TSParser) {
	select {
	case p.idle <- c:
	default:
		C.ts_parser_delete(c)
	}
}

// Parse implements [syntax.Parser].
func (p *Parser) Parse(lang syntax.Lang, src string) (*syntax.Tree, error) {
	var out *syntax.Tree
	_, err := p.Revise(lang, src, func(t *syntax.Tree) ([]syntax.Edit, error) {
		out = t
		return nil, nil
	})
	return out, err
}

// Revise implements [syntax.Parser].
func (p *Parser) Revise(lang syntax.Lang, src string, plan func(*syntax.Tree) ([]syntax.Edit, error)) (bool, error) {
	l, err := load(lang)
	if err != nil {
		return false, err
	}
	defer runtime.KeepAlive(p)
	c := p.take()
	defer p.give(c)
	if !C.ts_parser_set_language(c, l.c) {
		return false, fmt.Errorf("grammar of %s: version %d does not fit the tree-sitter that is linked", lang, C.ts_language_abi_version(l.c))
	}
	tree, count, clean, err := p.parse(c, lang, nil, src)
	if err != nil {
		return false, err
	}
	defer C.ts_tree_delete(tree)
	nodes := make([]syntax.Node, count)
	n := C.dsh_flatten(tree, (*C.dsh_node)(unsafe.Pointer(unsafe.SliceData(nodes))), C.uint32_t(count))
	edits, err := plan(&syntax.Tree{Grammar: l.grammar, Source: src, Nodes: nodes[:n]})
	if err != nil || len(edits) == 0 {
		return clean, err
	}
	mark(tree, src, edits)
	text := apply(src, edits)
	clean, err = p.isClean(c, lang, tree, text)
	if err == nil && !clean {
		// What is kept of the old tree may be in the way of a better one.
		clean, err = p.isClean(c, lang, nil, text)
	}
	return clean, err
}

func (p *Parser) isClean(c *C.TSParser, lang syntax.Lang, old *C.TSTree, src string) (bool, error) {
	tree, _, clean, err := p.parse(c, lang, old, src)
	if err != nil {
		return false, err
	}
	C.ts_tree_delete(tree)
	return clean, nil
}

// parse makes a C tree, which the caller deletes.
func (p *Parser) parse(c *C.TSParser, lang syntax.Lang, old *C.TSTree, src string) (tree *C.TSTree, nodes int, clean bool, err error) {
	if len(src) > min(p.options.MaxBytes, math.MaxInt32) {
		return nil, 0, false, &syntax.LimitError{Lang: lang, Bytes: len(src),
			Limit: fmt.Sprintf("more than the %d bytes that are parsed", p.options.MaxBytes)}
	}
	var count C.uint32_t
	var ok C.bool
	text := (*C.char)(unsafe.Pointer(unsafe.StringData(src)))
	tree = C.dsh_parse(c, old, text, C.uint32_t(len(src)), C.int64_t(p.options.Timeout), &count, &ok)
	if tree == nil {
		return nil, 0, false, &syntax.LimitError{Lang: lang, Bytes: len(src),
			Limit: fmt.Sprintf("longer than the %s that one text may take", p.options.Timeout)}
	}
	return tree, int(count), bool(ok), nil
}

// mark tells a tree which parts of its text change. The last edit comes first,
// so that those before it keep their places.
func mark(tree *C.TSTree, src string, edits []syntax.Edit) {
	for _, e := range slices.Backward(edits) {
		start := pointAt(C.TSPoint{}, src[:e.Start])
		C.ts_tree_edit(tree, &C.TSInputEdit{
			start_byte: C.uint32_t(e.Start), old_end_byte: C.uint32_t(e.End), new_end_byte: C.uint32_t(e.Start + len(e.New)),
			start_point: start, old_end_point: pointAt(start, src[e.Start:e.End]), new_end_point: pointAt(start, e.New),
		})
	}
}

// pointAt returns the row and column, in bytes, behind text that begins at p.
func pointAt(p C.TSPoint, text string) C.TSPoint {
	if rows := strings.Count(text, "\n"); rows > 0 {
		return C.TSPoint{row: p.row + C.uint32_t(rows), column: C.uint32_t(len(text) - strings.LastIndexByte(text, '\n') - 1)}
	}
	return C.TSPoint{row: p.row, column: p.column + C.uint32_t(len(text))}
}

// apply returns src with the edits made.
func apply(src string, edits []syntax.Edit) string {
	var b strings.Builder
	at := 0
	for _, e := range edits {
		b.WriteString(src[at:e.Start])
		b.WriteString(e.New)
		at = e.End
	}
	b.WriteString(src[at:])
	return b.String()
}

// Grammar returns the grammar that trees of lang have. It fails with a
// *[syntax.UnsupportedError] if there is none.
func (p *Parser) Grammar(lang syntax.Lang) (*syntax.Grammar, error) {
	l, err := load(lang)
	if err != nil {
		return nil, err
	}
	return l.grammar, nil
}

// A language is a grammar on both sides.
type language struct {
	c       *C.TSLanguage
	grammar *syntax.Grammar
}

var loaded sync.Map // syntax.Lang -> *language

func load(lang syntax.Lang) (*language, error) {
	if l, ok := loaded.Load(lang); ok {
		return l.(*language), nil
	}
	get, ok := grammars[lang]
	if !ok {
		return nil, &syntax.UnsupportedError{Lang: lang}
	}
	c := (*C.TSLanguage)(get())
	g := &syntax.Grammar{Lang: lang}
	for i := range C.ts_language_symbol_count(c) {
		g.Kinds = append(g.Kinds, syntax.Kind{
			Name:  C.GoString(C.ts_language_symbol_name(c, C.uint16_t(i))),
			Named: C.ts_language_symbol_type(c, C.uint16_t(i)) == 0,
		})
	}
	for i := range C.ts_language_field_count(c) + 1 {
		name := C.ts_language_field_name_for_id(c, C.uint16_t(i))
		if name == nil {
			g.Fields = append(g.Fields, "")
			continue
		}
		g.Fields = append(g.Fields, C.GoString(name))
	}
	l, _ := loaded.LoadOrStore(lang, &language{c: c, grammar: g})
	return l.(*language), nil
}
