//go:build cgo

package sitter

import (
	"slices"
	"unsafe"

	bash "github.com/tree-sitter/tree-sitter-bash/bindings/go"
	csharp "github.com/tree-sitter/tree-sitter-c-sharp/bindings/go"
	c "github.com/tree-sitter/tree-sitter-c/bindings/go"
	cpp "github.com/tree-sitter/tree-sitter-cpp/bindings/go"
	css "github.com/tree-sitter/tree-sitter-css/bindings/go"
	golang "github.com/tree-sitter/tree-sitter-go/bindings/go"
	html "github.com/tree-sitter/tree-sitter-html/bindings/go"
	java "github.com/tree-sitter/tree-sitter-java/bindings/go"
	javascript "github.com/tree-sitter/tree-sitter-javascript/bindings/go"
	json "github.com/tree-sitter/tree-sitter-json/bindings/go"
	php "github.com/tree-sitter/tree-sitter-php/bindings/go"
	python "github.com/tree-sitter/tree-sitter-python/bindings/go"
	ruby "github.com/tree-sitter/tree-sitter-ruby/bindings/go"
	rust "github.com/tree-sitter/tree-sitter-rust/bindings/go"
	scala "github.com/tree-sitter/tree-sitter-scala/bindings/go"
	typescript "github.com/tree-sitter/tree-sitter-typescript/bindings/go"

	"dsh-acp/internal/syntax"
)

var grammars = map[syntax.Lang]func() unsafe.Pointer{
	syntax.Go:         golang.Language,
	syntax.JavaScript: javascript.Language,
	syntax.TypeScript: typescript.LanguageTypescript,
	syntax.TSX:        typescript.LanguageTSX,
	syntax.Python:     python.Language,
	syntax.Rust:       rust.Language,
	syntax.Java:       java.Language,
	syntax.C:          c.Language,
	syntax.CPP:        cpp.Language,
	syntax.JSON:       json.Language,
	syntax.CSharp:     csharp.Language,
	syntax.Ruby:       ruby.Language,
	syntax.PHP:        php.LanguagePHP,
	syntax.Bash:       bash.Language,
	syntax.CSS:        css.Language,
	syntax.HTML:       html.Language,
	syntax.Scala:      scala.Language,
}

// Langs returns the languages that have a grammar, sorted.
func Langs() []syntax.Lang {
	var out []syntax.Lang
	for lang := range grammars {
		out = append(out, lang)
	}
	slices.Sort(out)
	return out
}
