package jsonedit

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/tailscale/hujson"

	"dsh-acp/internal/text"
)

// FuzzEdit holds the laws: the text outside of the edits stays; the new text
// holds the old values with the one change; comments stay, in order, unless
// they were inside of what the change takes away.
func FuzzEdit(f *testing.F) {
	for _, c := range editCases {
		f.Add(c.in, c.at, c.value)
	}
	f.Fuzz(func(t *testing.T, in, at, raw string) {
		if !laws(t, in, at, raw) {
			t.Skip()
		}
	})
}

// laws makes a change and checks it; it is false where there is none to make.
func laws(t *testing.T, in, at, raw string) bool {
	t.Helper()
	doc, err := text.ParseString(in)
	if err != nil {
		return false
	}
	d, err := Parse(doc, Limits{})
	if err != nil {
		return false
	}
	v, err := ParseValue([]byte(raw), Limits{})
	if err != nil {
		return false
	}
	c, err := do(d, at, v)
	if err != nil {
		if _, ok := asError(err); !ok && !strings.HasPrefix(at, "+") {
			t.Fatalf("%v is no *Error", err)
		}
		return false
	}
	got, err := doc.Apply(c.Edits...)
	if err != nil {
		t.Fatalf("edits %v: %v", c.Edits, err)
	}
	if err := d.Check(got, c); err != nil {
		t.Fatalf("%q at %q = %q became %q: %v", in, at, raw, got.Text(), err)
	}
	old, now := commentsIn(doc.Text()), commentsIn(got.Text())
	if len(old)-c.Lost != len(now) || !inOrder(now, old) {
		t.Fatalf("%q at %q = %q became %q: comments %q became %q, %d lost", in, at, raw, got.Text(), old, now, c.Lost)
	}
	after, err := Parse(got, Limits{})
	if err != nil {
		t.Fatalf("%q at %q = %q became %q: %v", in, at, raw, got.Text(), err)
	}
	if want, is := model(d, at, v), tree(&after.root); want != "" && want != is {
		t.Fatalf("%q at %q = %q became %q: values\n%s, want\n%s", in, at, raw, got.Text(), is, want)
	}
	return true
}

func commentsIn(s string) []string {
	var out []string
	for i := 0; i < len(s); {
		switch {
		case s[i] == '"':
			i = stringEnd(s, i)
		case commentLen(s[i:]) > 0:
			n := commentLen(s[i:])
			out = append(out, s[i:i+n])
			i += n
		default:
			i++
		}
	}
	return out
}

// inOrder reports whether some are among all, in this order.
func inOrder(some, all []string) bool {
	for _, s := range some {
		for len(all) > 0 && all[0] != s {
			all = all[1:]
		}
		if len(all) == 0 {
			return false
		}
		all = all[1:]
	}
	return true
}

// tree gives equal values equal names, by way of the standard library.
func tree(v *hujson.Value) string {
	plain := v.Clone()
	plain.Standardize()
	var x any
	dec := json.NewDecoder(strings.NewReader(string(plain.Pack())))
	dec.UseNumber()
	if err := dec.Decode(&x); err != nil {
		panic(err)
	}
	return fmt.Sprintf("%#v", x)
}

// model makes the change on decoded values, or is "" where these do not tell
// keys apart.
func model(d *Document, at string, v Value) string {
	var root, x any
	for _, p := range []struct {
		from *hujson.Value
		to   *any
	}{{&d.root, &root}, {v.node, &x}} {
		plain := p.from.Clone()
		plain.Standardize()
		dec := json.NewDecoder(strings.NewReader(string(plain.Pack())))
		dec.UseNumber()
		if err := dec.Decode(p.to); err != nil {
			panic(err)
		}
	}
	if strings.Contains(d.src, `\u`) || twice(&d.root) {
		return ""
	}
	insert := -1
	if rest, ok := strings.CutPrefix(at, "+"); ok {
		n, pointer, _ := strings.Cut(rest, " ")
		i, err := strconv.Atoi(strings.TrimSpace(n))
		if err != nil {
			return ""
		}
		insert, at = i, pointer
	}
	tokens, err := parsePointer(at, DefaultTokens)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf("%#v", put(root, tokens, x, insert))
}

func put(v any, tokens []string, x any, insert int) any {
	if len(tokens) == 0 {
		if insert < 0 {
			return x
		}
		a := v.([]any)
		return append(append(append([]any{}, a[:insert]...), x), a[insert:]...)
	}
	switch v := v.(type) {
	case map[string]any:
		v[tokens[0]] = put(v[tokens[0]], tokens[1:], x, insert)
		return v
	case []any:
		if tokens[0] == "-" {
			return append(v, x)
		}
		i, _ := strconv.Atoi(tokens[0])
		v[i] = put(v[i], tokens[1:], x, insert)
		return v
	}
	panic(fmt.Sprintf("no way through %v", v))
}

func twice(v *hujson.Value) bool {
	for x := range v.All() {
		if o, ok := x.Value.(*hujson.Object); ok {
			if _, twice := duplicate(o); twice {
				return true
			}
		}
	}
	return false
}

// lockFile is a document of some size in the shape of a package manager's.
func lockFile(size int) string {
	var s strings.Builder
	s.WriteString("{\n  // made by a tool\n  \"packages\": {\n")
	for i := 0; s.Len() < size; i++ {
		fmt.Fprintf(&s, `    "node_modules/pkg-%d": {
      "version": "1.2.%d",
      "resolved": "https://registry.example/pkg/-/pkg-%d.tgz",
      "integrity": "sha512-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGhIjKlMnOpQrStUvWxYz==",
      "dev": true,
      "engines": {
        "node": ">=10"
      }
    },
`, i, i, i)
	}
	s.WriteString("    \"last\": {}\n  }\n}\n")
	return s.String()
}

// BenchmarkSetLockFile sets one value in 5 MiB: parse, edit, apply and check.
func BenchmarkSetLockFile(b *testing.B) {
	doc, err := text.ParseString(lockFile(5 << 20))
	if err != nil {
		b.Fatal(err)
	}
	v, err := ParseValue([]byte(`{"node":">=20"}`), Limits{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		d, err := Parse(doc, Limits{})
		if err != nil {
			b.Fatal(err)
		}
		c, err := d.Set("/packages/node_modules~1pkg-9000/engines", v)
		if err != nil {
			b.Fatal(err)
		}
		add, err := d.Set("/packages/node_modules~1new", v)
		if err != nil {
			b.Fatal(err)
		}
		after, err := doc.Apply(append(c.Edits, add.Edits...)...)
		if err != nil {
			b.Fatal(err)
		}
		if err := d.Check(after, c, add); err != nil {
			b.Fatal(err)
		}
	}
}
