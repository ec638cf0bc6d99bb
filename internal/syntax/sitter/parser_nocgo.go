//go:build !cgo

package sitter

import "dsh-acp/internal/syntax"

// Available reports whether this build can parse.
const Available = false

// A Parser of this build parses nothing.
type Parser struct{}

// New returns a parser that says that this build has none.
func New(Options) *Parser { return &Parser{} }

// Parse fails with [syntax.ErrUnavailable].
func (*Parser) Parse(syntax.Lang, string) (*syntax.Tree, error) {
	return nil, syntax.ErrUnavailable
}

// Revise fails with [syntax.ErrUnavailable].
func (*Parser) Revise(syntax.Lang, string, func(*syntax.Tree) ([]syntax.Edit, error)) (bool, error) {
	return false, syntax.ErrUnavailable
}

// Grammar fails with [syntax.ErrUnavailable].
func (*Parser) Grammar(syntax.Lang) (*syntax.Grammar, error) {
	return nil, syntax.ErrUnavailable
}

// Langs returns nil: there are no grammars.
func Langs() []syntax.Lang { return nil }
