package astedit

import "strings"

// A form is what a metavariable stands for.
type form uint8

const (
	one  form = iota // $NAME: one named node
	any1             // $$NAME: one node, a token too
	run              // $$$NAME: sibling nodes, none to many
)

// A metavar is one occurrence of a metavariable in a pattern or a template.
type metavar struct {
	name       string // "" for those that bind nothing: $_, $_NAME, $$$
	form       form
	start, end int // in the text that it was found in
}

func (v metavar) text(src string) string { return src[v.start:v.end] }

// metavars finds the metavariables of src: dollars and a name of capitals,
// digits and underscores, as a whole word. "$name", "$Name", "a$B" and "$1" are
// ordinary code, and so is a dollar in front of a metavariable's three.
func metavars(src string) []metavar {
	var out []metavar
	for i := 0; i < len(src); {
		if src[i] != '$' {
			i++
			continue
		}
		start := i
		for i < len(src) && src[i] == '$' {
			i++
		}
		dollars, name := i-start, i
		for i < len(src) && isWord(src[i]) {
			i++
		}
		word := src[name:i]
		if dollars > 3 || start > 0 && isWord(src[start-1]) || !isName(word) || word == "" && dollars < 3 {
			continue
		}
		v := metavar{name: word, form: form(dollars - 1), start: start, end: i}
		if strings.HasPrefix(word, "_") {
			v.name = ""
		}
		out = append(out, v)
	}
	return out
}

func isName(s string) bool {
	for i := range len(s) {
		if c := s[i]; c != '_' && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// isWord reports whether c is part of a word; bytes of characters beyond ASCII
// are.
func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
