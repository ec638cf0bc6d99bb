package search

import (
	"strings"
)

// A wild is one pattern of an ignore file, cut at its slashes. Matching takes
// time of the order of pattern times path: patterns come from files that
// nobody vouches for.
type wild struct {
	lead  string // what a path must begin with, before the parts
	parts []part
}

// A part is what stands between two slashes.
type part struct {
	text string
	deep bool // "**" alone: any number of names
	form form
}

// form is how a part can be compared.
type form int

const (
	formGlob   form = iota
	formPlain       // no special character
	formSuffix      // "*" and then none
)

// newWild cuts a pattern. A slash in a bracket expression does not cut.
func newWild(pattern string) wild {
	var w wild
	// Git compares what stands before the first special character by itself,
	// so that in "a**/b" the stars stand at a start and go over slashes,
	// against its manual.
	if n := strings.IndexAny(pattern, `*?[\`); n > 0 && strings.HasPrefix(pattern[n:], "**") {
		w.lead, pattern = pattern[:n], pattern[n:]
	}
	start := 0
	var cur strings.Builder
	flush := func() {
		w.parts = append(w.parts, newPart(cur.String()))
		cur.Reset()
	}
	for i := 0; i < len(pattern); {
		switch c := pattern[i]; {
		case c == '/':
			cur.WriteString(pattern[start:i])
			flush()
			i++
			start = i
		case c == '\\' && i+1 < len(pattern) && pattern[i+1] == '/':
			cur.WriteString(pattern[start:i])
			flush()
			i += 2
			start = i
		case c == '\\':
			i = min(i+2, len(pattern))
		case c == '[':
			if _, n, ok := bracket(pattern[i:], 0); ok {
				i += n
			} else {
				i++
			}
		default:
			i++
		}
	}
	cur.WriteString(pattern[start:])
	flush()
	return w
}

func newPart(s string) part {
	switch rest, star := strings.CutPrefix(s, "*"); {
	case len(s) > 1 && strings.Trim(s, "*") == "":
		return part{text: s, deep: true}
	case !strings.ContainsAny(s, `*?[\`):
		return part{text: s, form: formPlain}
	case star && !strings.ContainsAny(rest, `*?[\`):
		return part{text: rest, form: formSuffix}
	}
	return part{text: s}
}

// match reports whether the pattern matches the whole path. "**" stands for
// any number of names, at the end for at least one.
func (w wild) match(path string) bool {
	// The usual backtracking over the last "**" is enough: an earlier one
	// gains nothing by taking more.
	names, ok := strings.CutPrefix(path, w.lead)
	if !ok {
		return false
	}
	p, s := 0, 0
	backP, backS := -1, 0
	next := func(at int) (name string, after int) {
		if i := strings.IndexByte(names[at:], '/'); i >= 0 {
			return names[at : at+i], at + i + 1
		}
		return names[at:], len(names) + 1
	}
	for s <= len(names) {
		if p < len(w.parts) && w.parts[p].deep {
			if p == len(w.parts)-1 {
				return true // at least the name at s is left
			}
			backP, backS = p+1, s
			p++
			continue
		}
		if p < len(w.parts) {
			if name, after := next(s); w.parts[p].match(name) {
				p, s = p+1, after
				continue
			}
		}
		if backP < 0 {
			return false
		}
		if _, after := next(backS); after <= len(names) {
			backS = after
			p, s = backP, backS
			continue
		}
		return false
	}
	return p == len(w.parts)
}

func (p part) match(name string) bool {
	switch p.form {
	case formPlain:
		return name == p.text
	case formSuffix:
		return strings.HasSuffix(name, p.text)
	}
	return globName(p.text, name)
}

// globName matches one name against "*", "?", bracket expressions and
// backslashes. Characters are bytes, as Git takes them.
func globName(p, s string) bool {
	i, j := 0, 0
	backI, backJ := -1, 0
	for {
		if i < len(p) && p[i] == '*' {
			backI, backJ = i+1, j
			i++
			continue
		}
		if j == len(s) {
			return i == len(p)
		}
		if n, ok := one(p[i:], s[j]); ok {
			i += n
			j++
			continue
		}
		if backI < 0 {
			return false
		}
		backJ++
		i, j = backI, backJ
		if j > len(s) {
			return false
		}
	}
}

// one matches the byte c against the head of p and tells how long that is.
func one(p string, c byte) (n int, ok bool) {
	if p == "" {
		return 0, false
	}
	switch p[0] {
	case '?':
		return 1, true
	case '[':
		in, n, ok := bracket(p, c)
		return n, ok && in
	case '\\':
		if len(p) == 1 {
			return 1, false // a pattern that ends so matches nothing
		}
		return 2, p[1] == c
	}
	return 1, p[0] == c
}

// bracket reads the bracket expression at the head of p: whether c is in it,
// how long it is, and whether it is closed. A slash is in none.
func bracket(p string, c byte) (in bool, n int, closed bool) {
	i := 1
	negated := false
	if i < len(p) && (p[i] == '!' || p[i] == '^') {
		negated = true
		i++
	}
	for first := true; ; first = false {
		if i >= len(p) {
			return false, 0, false
		}
		if p[i] == ']' && !first {
			break
		}
		if strings.HasPrefix(p[i:], "[:") {
			end := strings.Index(p[i+2:], ":]")
			if end < 0 {
				return false, 0, false
			}
			known, member := class(p[i+2:i+2+end], c)
			if !known {
				return false, 0, false
			}
			in = in || member
			i += 2 + end + 2
			continue
		}
		lo, ok := bracketByte(p, &i)
		if !ok {
			return false, 0, false
		}
		hi := lo
		if i+1 < len(p) && p[i] == '-' && p[i+1] != ']' {
			i++
			if hi, ok = bracketByte(p, &i); !ok {
				return false, 0, false
			}
		}
		in = in || lo <= c && c <= hi
	}
	return in != negated && c != '/', i + 1, true
}

func bracketByte(p string, i *int) (byte, bool) {
	if p[*i] == '\\' {
		*i++
	}
	if *i >= len(p) {
		return 0, false
	}
	c := p[*i]
	*i++
	return c, true
}

// class tells whether c is in a named class of bytes, and whether there is one
// of that name.
func class(name string, c byte) (known, in bool) {
	upper, lower, digit := 'A' <= c && c <= 'Z', 'a' <= c && c <= 'z', '0' <= c && c <= '9'
	graph := c > ' ' && c < 0x7f
	switch name {
	case "alnum":
		return true, upper || lower || digit
	case "alpha":
		return true, upper || lower
	case "blank":
		return true, c == ' ' || c == '\t'
	case "cntrl":
		return true, c < ' ' || c == 0x7f
	case "digit":
		return true, digit
	case "graph":
		return true, graph
	case "lower":
		return true, lower
	case "print":
		return true, graph || c == ' '
	case "punct":
		return true, graph && !upper && !lower && !digit
	case "space":
		return true, c == ' ' || c >= '\t' && c <= '\r'
	case "upper":
		return true, upper
	case "xdigit":
		return true, digit || 'a' <= c|0x20 && c|0x20 <= 'f'
	}
	return false, false
}

// bom is skipped at the start of an ignore file.
const bom = string(rune(0xfeff))
