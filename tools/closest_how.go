package tools

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// how says in which way a line of the file and a wanted line differ.
func how(have, want string) string {
	bareHave, bareWant := strings.Join(strings.Fields(have), " "), strings.Join(strings.Fields(want), " ")
	if bareHave == bareWant || strings.TrimSpace(want) != "" && strings.Contains(bareHave, bareWant) {
		if s := blanks(have, want); s != "" {
			return " in white space: " + s
		}
	}
	if s := unseen(have, want); s != "" {
		return ": " + s
	}
	h, w, ok := firstPair(have, want)
	switch {
	case !ok:
		return fmt.Sprintf(": the file has %s, old_string has %s", quoted(have), quoted(want))
	case special(h) || special(w):
		return fmt.Sprintf(": the file has %s where old_string has %s", point(h), point(w))
	}
	return fmt.Sprintf(": the file has %s, old_string has %s", quoted(have), quoted(want))
}

// unseen names the first character that only one of two lines has and that
// takes no room, if the lines agree but for those.
func unseen(have, want string) string {
	if !strings.Contains(loose(have), loose(want)) {
		return ""
	}
	only := func(a, b string) (rune, bool) {
		for _, r := range a {
			if unicode.Is(unicode.Cf, r) && !strings.ContainsRune(b, r) {
				return r, true
			}
		}
		return 0, false
	}
	if r, ok := only(have, want); ok {
		return fmt.Sprintf("the file has %s in it, which cannot be seen, and old_string has none", point(r))
	}
	if r, ok := only(want, have); ok {
		return fmt.Sprintf("old_string has %s in it, which cannot be seen, and the file has none", point(r))
	}
	return ""
}

// blanks says how two lines differ that agree but for white space: at the
// start, at the end, or in between.
func blanks(have, want string) string {
	lead := func(s string) string { return s[:len(s)-len(strings.TrimLeftFunc(s, unicode.IsSpace))] }
	trail := func(s string) string { return s[len(strings.TrimRightFunc(s, unicode.IsSpace)):] }
	switch {
	case lead(have) != lead(want):
		return fmt.Sprintf("the file starts it with %s, old_string with %s", blankRun(lead(have)), blankRun(lead(want)))
	case trail(have) != trail(want):
		return fmt.Sprintf("the file ends it with %s, old_string with %s", blankRun(trail(have)), blankRun(trail(want)))
	}
	h, w := runs(have), runs(want)
	for i := range min(len(h), len(w)) {
		if h[i] != w[i] {
			return fmt.Sprintf("inside, the file has %s where old_string has %s", blankRun(h[i]), blankRun(w[i]))
		}
	}
	return ""
}

// runs returns the runs of white space of a line, in order.
func runs(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsSpace(r) })
}

// blankRun describes white space: "2 tabs", "1 tab and 4 spaces", "none".
func blankRun(s string) string {
	if s == "" {
		return "none"
	}
	var parts []string
	for s != "" {
		r, _ := utf8.DecodeRuneInString(s)
		rest := strings.TrimLeft(s, string(r))
		n := utf8.RuneCountInString(s[:len(s)-len(rest)])
		s = rest
		switch r {
		case '\t':
			parts = append(parts, plural(n, "1 tab", "%d tabs"))
		case ' ':
			parts = append(parts, plural(n, "1 space", "%d spaces"))
		default:
			parts = append(parts, plural(n, point(r), "%d times "+point(r)))
		}
		if len(parts) == 4 && s != "" {
			parts = append(parts, "more")
			break
		}
	}
	return strings.Join(parts, " and ")
}

// firstPair returns the first characters at which the two lines differ when
// the wanted line is laid on the part of the file's line that is most like it.
func firstPair(have, want string) (h, w rune, ok bool) {
	hs, ws := []rune(have), []rune(want)
	if len(ws) == 0 {
		return 0, 0, false
	}
	best, bestSame := 0, -1
	for at := range max(1, min(len(hs)-len(ws)+1, 2000)) {
		same := 0
		for k := range min(len(ws), len(hs)-at) {
			if hs[at+k] == ws[k] {
				same++
			}
		}
		if same > bestSame {
			best, bestSame = at, same
		}
	}
	for k := range ws {
		if best+k >= len(hs) {
			return 0, 0, false
		}
		if hs[best+k] != ws[k] {
			return hs[best+k], ws[k], true
		}
	}
	return 0, 0, false
}

// special reports whether a character is easily taken for another one, or
// cannot be seen.
func special(r rune) bool {
	return r > unicode.MaxASCII || r == '\t' || unicode.IsControl(r)
}

// point names a character: its code point, and what it looks like or is called.
func point(r rune) string {
	if name, ok := pointNames[r]; ok {
		return fmt.Sprintf("U+%04X (%s)", r, name)
	}
	if unicode.IsGraphic(r) && !unicode.IsSpace(r) {
		return fmt.Sprintf("U+%04X (%c)", r, r)
	}
	return fmt.Sprintf("U+%04X", r)
}

var pointNames = map[rune]string{
	'\t': "tab", ' ': "space", '\r': "carriage return", '\u00a0': "no-break space", '\u202f': "narrow no-break space",
	'\u200b': "zero width space", '\u200d': "zero width joiner", '\ufeff': "byte order mark", '\u00ad': "soft hyphen",
	'\u2018': "left single quote", '\u2019': "right single quote", '\u201c': "left double quote", '\u201d': "right double quote",
	'\u2013': "en dash", '\u2014': "em dash", '\u2212': "minus sign", '\u2026': "ellipsis", '"': "straight double quote",
	'\'': "straight single quote", '-': "hyphen",
}

// quoted shows a line with its white space visible.
func quoted(line string) string { return fmt.Sprintf("%q", clip(line, 120)) }

// clip cuts a line to n characters.
func clip(line string, n int) string {
	if len(line) <= n {
		return line
	}
	at := 0
	for i := range line {
		if at == n {
			return line[:i] + "…"
		}
		at++
	}
	return line
}
