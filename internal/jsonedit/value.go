package jsonedit

import (
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// A Value is a JSON value as a call spells it: numbers digit for digit, keys
// in their order. The zero Value is none; [ParseValue] makes the others.
type Value struct{ node *hujson.Value }

// A Member is a key and its value.
type Member struct {
	Key   string
	Value Value
}

// ParseValue reads strict JSON. It fails with an *[Error]: CodeValueFormat for
// what is not JSON or has a key twice in one object, CodeUnicode for a lone
// surrogate, which stands for no character, and CodeLimit.
func ParseValue(raw []byte, limits Limits) (Value, error) {
	src := string(raw)
	if err := checkDepth(src, limits.withDefaults().Depth); err != nil {
		return Value{}, err
	}
	if !utf8.Valid(raw) {
		return Value{}, fail(CodeUnicode, "not valid UTF-8")
	}
	if err := json.Unmarshal(raw, new(json.RawMessage)); err != nil {
		return Value{}, fail(CodeValueFormat, "not JSON: %v", err)
	}
	root, err := parse(src)
	if err != nil {
		return Value{}, err
	}
	if err := checkValue(&root, ""); err != nil {
		return Value{}, err
	}
	return Value{&root}, nil
}

// checkValue looks for what the parser lets pass.
func checkValue(v *hujson.Value, at string) error {
	switch n := v.Value.(type) {
	case hujson.Literal:
		if n.Kind() == '"' {
			return checkString(n, at)
		}
	case *hujson.Array:
		for i := range n.Elements {
			if err := checkValue(&n.Elements[i], at+"/"+strconv.Itoa(i)); err != nil {
				return err
			}
		}
	case *hujson.Object:
		seen := make(map[string]bool, len(n.Members))
		for i := range n.Members {
			m := &n.Members[i]
			if err := checkString(m.Name.Value.(hujson.Literal), at); err != nil {
				return err
			}
			key := keyOf(m)
			if seen[key] {
				return fail(CodeValueFormat, "%s: the key %s occurs twice", where(at), quote(key))
			}
			seen[key] = true
			if err := checkValue(&m.Value, at+"/"+escapeToken(key)); err != nil {
				return err
			}
		}
	}
	return nil
}

func where(at string) string {
	if at == "" {
		return "at the root"
	}
	return "at " + at
}

func checkString(lit hujson.Literal, at string) error {
	if u, lone := loneSurrogate(lit); lone {
		return fail(CodeUnicode, `%s: lone surrogate \u%04x stands for no character; write the character itself or both halves`, where(at), u)
	}
	return nil
}

// Kind is '{', '[', '"', '0' for a number, or the first letter of true, false
// and null. Of the zero Value it is 0.
func (v Value) Kind() byte {
	if v.node == nil {
		return 0
	}
	return byte(v.node.Value.Kind())
}

// Str returns the text of a string, and whether v is one.
func (v Value) Str() (string, bool) {
	if v.Kind() != '"' {
		return "", false
	}
	return unquote(v.node.Value.(hujson.Literal)), true
}

// Literal returns how a number, true, false or null is spelled, a string with
// its quotes, and "" for anything else.
func (v Value) Literal() string {
	if v.node == nil {
		return ""
	}
	lit, _ := v.node.Value.(hujson.Literal)
	return string(lit)
}

// Members returns the members of an object in order, and whether v is one.
func (v Value) Members() ([]Member, bool) {
	if v.Kind() != '{' {
		return nil, false
	}
	o := v.node.Value.(*hujson.Object)
	out := make([]Member, len(o.Members))
	for i := range o.Members {
		out[i] = Member{keyOf(&o.Members[i]), Value{&o.Members[i].Value}}
	}
	return out, true
}

// Elements returns the elements of an array, and whether v is one.
func (v Value) Elements() ([]Value, bool) {
	if v.Kind() != '[' {
		return nil, false
	}
	a := v.node.Value.(*hujson.Array)
	out := make([]Value, len(a.Elements))
	for i := range a.Elements {
		out[i] = Value{&a.Elements[i]}
	}
	return out, true
}

// Depth returns how many levels of arrays and objects v has; 0 for a scalar.
func (v Value) Depth() int {
	if v.node == nil {
		return 0
	}
	return depthOf(v.node)
}

func depthOf(v *hujson.Value) int {
	depth := 0
	switch n := v.Value.(type) {
	case *hujson.Array:
		for i := range n.Elements {
			depth = max(depth, depthOf(&n.Elements[i]))
		}
	case *hujson.Object:
		for i := range n.Members {
			depth = max(depth, depthOf(&n.Members[i].Value))
		}
	default:
		return 0
	}
	return depth + 1
}

// String returns v as JSON, members and elements a line each and two spaces
// a level. It is for people; what is written to a file takes the file's form.
func (v Value) String() string {
	if v.node == nil {
		return ""
	}
	f := form{unit: "  ", eol: "\n", colon: ": ", comma: ", "}
	return f.expanded(v.node, "")
}

// duplicate returns a key that an object holds twice.
func duplicate(o *hujson.Object) (string, bool) {
	if len(o.Members) <= 8 {
		for i := range o.Members {
			for j := range i {
				if sameString(o.Members[i].Name.Value.(hujson.Literal), o.Members[j].Name.Value.(hujson.Literal)) {
					return keyOf(&o.Members[i]), true
				}
			}
		}
		return "", false
	}
	seen := make(map[string]struct{}, len(o.Members))
	for i := range o.Members {
		key := keyOf(&o.Members[i])
		if _, twice := seen[key]; twice {
			return key, true
		}
		seen[key] = struct{}{}
	}
	return "", false
}

func keyOf(m *hujson.ObjectMember) string { return unquote(m.Name.Value.(hujson.Literal)) }

// equal reports whether two values are the same. Numbers are compared as they
// are spelled, since a call may mean to change the spelling; strings by their
// characters; objects without regard to order, unless keys occur twice.
func equal(a, b *hujson.Value) bool {
	switch x := a.Value.(type) {
	case hujson.Literal:
		y, ok := b.Value.(hujson.Literal)
		return ok && sameLiteral(x, y)
	case *hujson.Array:
		y, ok := b.Value.(*hujson.Array)
		if !ok || len(x.Elements) != len(y.Elements) {
			return false
		}
		for i := range x.Elements {
			if !equal(&x.Elements[i], &y.Elements[i]) {
				return false
			}
		}
		return true
	case *hujson.Object:
		y, ok := b.Value.(*hujson.Object)
		return ok && len(x.Members) == len(y.Members) && equalMembers(x, y)
	}
	return false
}

func equalMembers(x, y *hujson.Object) bool {
	// In order first: that needs no keys decoded, and is the rule.
	i := 0
	for ; i < len(x.Members); i++ {
		if !sameString(x.Members[i].Name.Value.(hujson.Literal), y.Members[i].Name.Value.(hujson.Literal)) {
			break
		}
	}
	if i == len(x.Members) {
		for i := range x.Members {
			if !equal(&x.Members[i].Value, &y.Members[i].Value) {
				return false
			}
		}
		return true
	}
	if _, twice := duplicate(x); twice {
		return false
	}
	if _, twice := duplicate(y); twice {
		return false
	}
	byKey := make(map[string]*hujson.Value, len(y.Members))
	for i := range y.Members {
		byKey[keyOf(&y.Members[i])] = &y.Members[i].Value
	}
	for i := range x.Members {
		other, ok := byKey[keyOf(&x.Members[i])]
		if !ok || !equal(&x.Members[i].Value, other) {
			return false
		}
	}
	return true
}
