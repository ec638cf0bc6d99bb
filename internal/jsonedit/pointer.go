package jsonedit

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// parsePointer splits a JSON pointer (RFC 6901) into its tokens. The empty
// pointer is the root and has none.
func parsePointer(p string, most int) ([]string, error) {
	if p == "" {
		return nil, nil
	}
	if p[0] != '/' {
		return nil, fail(CodePointer, `pointer %s: must be "" or start with /, as in %s`, quote(p), quote("/"+p))
	}
	if !utf8.ValidString(p) {
		return nil, fail(CodeUnicode, "pointer: not valid UTF-8")
	}
	tokens := strings.Split(p[1:], "/")
	if len(tokens) > most {
		return nil, fail(CodeLimit, "pointer: %d tokens, the limit is %d", len(tokens), most)
	}
	for i, t := range tokens {
		if !strings.Contains(t, "~") {
			continue
		}
		var b strings.Builder
		for j := 0; j < len(t); j++ {
			if t[j] != '~' {
				b.WriteByte(t[j])
				continue
			}
			j++
			switch {
			case j < len(t) && t[j] == '0':
				b.WriteByte('~')
			case j < len(t) && t[j] == '1':
				b.WriteByte('/')
			default:
				return nil, fail(CodePointer, "pointer %s: a ~ must be written ~0, and a / inside a key ~1", quote(p))
			}
		}
		tokens[i] = b.String()
	}
	return tokens, nil
}

var tokenEscapes = strings.NewReplacer("~", "~0", "/", "~1")

func escapeToken(t string) string { return tokenEscapes.Replace(t) }

func joinPointer(tokens []string) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteByte('/')
		b.WriteString(escapeToken(t))
	}
	return b.String()
}

// arrayIndex reads an array's token: decimal digits without leading zeros.
func arrayIndex(t string) (int, bool) {
	if t == "" || len(t) > 9 || t[0] == '0' && t != "0" {
		return 0, false
	}
	for i := range len(t) {
		if t[i] < '0' || t[i] > '9' {
			return 0, false
		}
	}
	n, err := strconv.Atoi(t)
	return n, err == nil
}

// A step is a container on the way to the target, and which of its items the
// way goes through; -1 where it ends behind the last item.
type step struct {
	node *hujson.Value
	item int
}

// A target is where a pointer leads.
type target struct {
	tokens []string
	steps  []step        // from the root down
	node   *hujson.Value // the value that is there; nil: one may be added to the last step
}

// find follows a pointer. With add, its last token may name what is not there
// yet: a new key, or "-" behind the last element.
func (d *Document) find(pointer string, add bool) (target, error) {
	tokens, err := parsePointer(pointer, d.limits.Tokens)
	if err != nil {
		return target{}, err
	}
	t := target{tokens: tokens, node: &d.root}
	for i, token := range tokens {
		last := i == len(tokens)-1
		var item int
		var next *hujson.Value
		switch n := t.node.Value.(type) {
		case *hujson.Object:
			item, err = member(n, token, joinPointer(tokens[:i]))
			if err != nil {
				return target{}, err
			}
			if item >= 0 {
				next = &n.Members[item].Value
			} else if !last || !add {
				return target{}, missing(tokens, i, "there is no key "+quote(token))
			}
		case *hujson.Array:
			item, err = element(len(n.Elements), tokens, i, last && add)
			if err != nil {
				return target{}, err
			}
			if item >= 0 {
				next = &n.Elements[item]
			}
		default:
			return target{}, fail(CodeType, "pointer %s: %s is %s, which has no members; set it to an object or array first",
				quote(pointer), whole(joinPointer(tokens[:i])), kindName(t.node))
		}
		t.steps = append(t.steps, step{t.node, item})
		t.node = next
	}
	return t, nil
}

// member returns the index of a key, or -1.
func member(o *hujson.Object, key, at string) (int, error) {
	found := -1
	for i := range o.Members {
		lit := o.Members[i].Name.Value.(hujson.Literal)
		if len(lit) < len(key)+2 || keyOf(&o.Members[i]) != key {
			continue
		}
		if found >= 0 {
			return 0, fail(CodeDuplicate, "key %s occurs twice in %s; remove one of them with a text operation first", quote(key), whole(at))
		}
		found = i
	}
	return found, nil
}

// element returns the index that token i names in an array of n, or -1 for
// the place behind the last.
func element(n int, tokens []string, i int, add bool) (int, error) {
	token := tokens[i]
	if token == "-" {
		if add {
			return -1, nil
		}
		return 0, missing(tokens, i, "- names the place behind the last element, where nothing is; it may only end the pointer of set_json")
	}
	index, ok := arrayIndex(token)
	switch {
	case !ok:
		return 0, missing(tokens, i, quote(token)+" is no array index; count from 0, without leading zeros")
	case index < n:
		return index, nil
	case i == len(tokens)-1:
		return 0, fail(CodeIndex, "pointer %s: index %d is outside of the array, which has %s; use %s to append",
			quote(joinPointer(tokens)), index, elements(n), quote(joinPointer(tokens[:i])+"/-"))
	}
	return 0, missing(tokens, i, "the array has "+elements(n))
}

func missing(tokens []string, i int, why string) *Error {
	prefix := joinPointer(tokens[:i])
	e := fail(CodeNotFound, "pointer %s: %s in %s; parents are not made, set the missing one with its content",
		quote(joinPointer(tokens)), why, whole(prefix))
	e.Prefix = prefix
	return e
}

func elements(n int) string {
	if n == 1 {
		return "1 element"
	}
	return strconv.Itoa(n) + " elements"
}

// whole names a place for people.
func whole(pointer string) string {
	if pointer == "" {
		return `the root ("")`
	}
	return pointer
}

func kindName(v *hujson.Value) string {
	switch v.Value.Kind() {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case 'n':
		return "null"
	}
	return "a boolean"
}
