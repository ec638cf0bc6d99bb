// Package astedit finds code by its structure and rewrites it. A pattern is code
// with metavariables in it; it is compiled for a language, matched against
// syntax trees, and its matches become the text of a template.
//
// The package is pure: trees come from a [syntax.Parser] that the caller gives,
// texts are values, and what comes back is a document or one error. It refuses
// to guess. A pattern that can match nothing is an error, as is a name in a
// template that the pattern does not bind. A match whose comments, or whose
// words that the pattern does not have, would be lost stays as it is, and so
// does one where the code does not parse; both are told. A file that would
// parse worse than before is not rewritten unless forced.
//
// What a pattern means:
//
//	$NAME     one named node; the same name again: the same text again
//	$$NAME    one node, which may be a token
//	$$$NAME   sibling nodes, none to many, the fewest that let the rest match
//	$_, $$$   and names that begin with "_": the same, but nothing is captured
//
// Names are of capitals, digits and underscores, and a metavariable is a whole
// word of the pattern. In a string it is text, but for JavaScript, TypeScript
// and JSON, where "$A" as all of a string stands for the inside of any.
//
// Comments and tokens of the source that the pattern does not name are passed
// over; named nodes never are. Code that means different things in different
// places, as f(x) does in Go, matches all of them.
package astedit
