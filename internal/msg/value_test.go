package msg

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func selfHolding() any {
	a := []any{nil}
	a[0] = map[string]any{"in": a}
	return a
}

func nested(levels int) string {
	return strings.Repeat("[", levels) + strings.Repeat("]", levels)
}

// valueCases: want is the text, or why (a part of the error) with the path.
var valueCases = []struct {
	name      string
	in        any
	want      string
	path, why string
}{
	{name: "null", in: nil, want: `null`},
	{name: "bool", in: true, want: `true`},
	{name: "text", in: "a\n<&>\u2028é😀", want: `"a\n<&>\u2028é😀"`},
	{name: "bad text", in: map[string]any{"k": "\xff"}, path: "/k", why: "UTF-8"},
	{name: "bad key", in: map[string]any{"\xff": 1}, path: "/\uFFFD", why: "UTF-8"},
	{name: "float", in: 1.5, want: `1.5`},
	{name: "whole float", in: 3e5, want: `300000`},
	{name: "large float", in: 1e18, want: `1e+18`},
	{name: "float32", in: float32(0.1), want: `0.1`},
	{name: "nan", in: []any{1, map[string]any{"x": math.NaN()}}, path: "/1/x", why: "NaN"},
	{name: "infinite", in: math.Inf(-1), why: "-Inf"},
	{name: "negative zero", in: math.Copysign(0, -1), why: "negative zero"},
	{name: "int", in: -5, want: `-5`},
	{name: "largest", in: int64(MaxInteger), want: `9007199254740991`},
	{name: "too large", in: int64(MaxInteger + 1), why: "2^53-1"},
	{name: "too small", in: int64(-MaxInteger - 1), why: "2^53-1"},
	{name: "too large unsigned", in: uint64(math.MaxUint64), why: "2^53-1"},
	{name: "json number", in: json.Number("1.50"), want: `1.50`},
	{name: "json number that is none", in: json.Number("0x1"), why: "the end should be"},
	{name: "empty json number", in: json.Number(""), why: "the text ends"},
	{name: "object", in: map[string]any{"b": []any{}, "a": map[string]any{}}, want: `{"a":{},"b":[]}`},
	{name: "cycle", in: selfHolding(), path: "/0/in", why: "contains itself"},
	{name: "twice, no cycle", in: func() any { a := []any{1}; return []any{a, a} }(), want: `[[1],[1]]`},
	{name: "struct", in: []any{struct{}{}}, path: "/0", why: "marshal it first"},
	{name: "bytes", in: []byte("x"), why: "marshal it first"},
	{name: "func", in: func() {}, why: "marshal it first"},
	{name: "pointer", in: new(int), why: "marshal it first"},
	{name: "other map", in: map[string]int{}, why: "marshal it first"},

	{name: "raw", in: json.RawMessage(" {\n\"a\" : [ 1 , \"x\\u00e9\" ] }\n"), want: `{"a":[1,"x\u00e9"]}`},
	{name: "raw inside", in: map[string]any{"r": json.RawMessage(`{"a":{"b":-0}}`)}, path: "/r/a/b", why: "negative zero"},
	{name: "no raw", in: json.RawMessage(nil), why: "the text ends"},
	{name: "duplicate key", in: json.RawMessage(`{"a":{"b":1,"c":2,"b":3}}`), path: "/a/b", why: "twice"},
	{name: "duplicate by escape", in: json.RawMessage(`{"a":1,"\u0061":2}`), path: "/a", why: "twice"},
	{name: "same key elsewhere", in: json.RawMessage(`{"a":{"a":[{"a":1},{"a":1}]}}`), want: `{"a":{"a":[{"a":1},{"a":1}]}}`},
	{name: "pointer escapes", in: json.RawMessage(`{"a/b":{"c~d":[0,-0.0]}}`), path: "/a~1b/c~0d/1", why: "negative zero"},
	{name: "raw bad text", in: json.RawMessage("{\"a\":\"\xc3\"}"), path: "/a", why: "UTF-8"},
	{name: "surrogate pair", in: json.RawMessage(`"\ud83d\ude00"`), want: `"\ud83d\ude00"`},
	{name: "lone high", in: json.RawMessage(`["a","\ud83dx"]`), path: "/1", why: `lone surrogate \ud83d`},
	{name: "lone low", in: json.RawMessage(`"\ude00"`), why: `lone surrogate \ude00`},
	{name: "two highs", in: json.RawMessage(`"\ud83d\ud83d"`), why: "lone surrogate"},
	{name: "lone in key", in: json.RawMessage(`{"\ud83d":1}`), why: "lone surrogate"},
	{name: "raw integer", in: json.RawMessage(`9007199254740992`), why: "2^53-1"},
	{name: "raw huge integer", in: json.RawMessage(strings.Repeat("9", 99)), why: "2^53-1"},
	{name: "raw overflow", in: json.RawMessage(`1e400`), why: "too large"},
	{name: "raw underflow", in: json.RawMessage(`1e-400`), why: "too small"},
	{name: "raw zero with exponent", in: json.RawMessage(`0.0e-400`), want: `0.0e-400`},
	{name: "leading zero", in: json.RawMessage(`01`), why: "leading zero"},
	{name: "bare dot", in: json.RawMessage(`1.`), why: "a digit should be"},
	{name: "control character", in: json.RawMessage("\"a\tb\""), why: "U+0009"},
	{name: "bad escape", in: json.RawMessage(`"\x"`), why: `unknown escape \x`},
	{name: "short escape", in: json.RawMessage(`"\u12"`), why: "four hexadecimal digits"},
	{name: "trailing comma", in: json.RawMessage(`[1,]`), path: "/1", why: "a value should be"},
	{name: "two values", in: json.RawMessage(`1 2`), why: "the end should be"},
	{name: "wrong bracket", in: json.RawMessage(`[1}`), path: "/0", why: "a comma or ] should be"},
	{name: "cut", in: json.RawMessage(`{"a":[1,"x`), path: "/a/1", why: "ends inside a string"},
	{name: "word cut", in: json.RawMessage(`tru`), why: "a value should be"},
}

func TestEncode(t *testing.T) {
	for _, c := range valueCases {
		t.Run(c.name, func(t *testing.T) {
			got, err := Encode(c.in)
			assert.Equal(t, err, Admissible(c.in))
			if c.why == "" {
				require.NoError(t, err)
				assert.Equal(t, c.want, string(got))
				return
			}
			var bad *ValueError
			require.ErrorAs(t, err, &bad)
			assert.Equal(t, ValueBad, bad.Code)
			assert.Equal(t, c.path, bad.Path)
			assert.Contains(t, err.Error(), c.why)
		})
	}
}

func TestManyKeys(t *testing.T) {
	var b strings.Builder
	for i := range 100 {
		b.WriteString(`,"k` + strconv.Itoa(i) + `":1`)
	}
	ok := "{" + b.String()[1:] + "}"
	require.NoError(t, Admissible(json.RawMessage(ok)))
	for _, dup := range []string{"k0", "k15", "k16", "k99"} {
		var bad *ValueError
		require.ErrorAs(t, Admissible(json.RawMessage(ok[:len(ok)-1]+`,"`+dup+`":2}`)), &bad)
		assert.Equal(t, "/"+dup, bad.Path)
	}
}

func TestDepth(t *testing.T) {
	deep := func(levels int) any {
		v := any([]any{})
		for range levels - 1 {
			v = []any{v}
		}
		return v
	}
	for name, c := range map[string]struct {
		in any
		ok bool
	}{
		"raw at the limit":     {json.RawMessage(nested(MaxDepth)), true},
		"raw beyond":           {json.RawMessage(nested(MaxDepth + 1)), false},
		"raw far beyond":       {json.RawMessage(nested(5_000_000)), false},
		"value at the limit":   {deep(MaxDepth), true},
		"value beyond":         {deep(MaxDepth + 1), false},
		"raw inside a value":   {[]any{json.RawMessage(nested(MaxDepth - 1))}, true},
		"raw inside, too deep": {[]any{json.RawMessage(nested(MaxDepth))}, false},
		"open brackets only":   {json.RawMessage(strings.Repeat(`{"a":`, 2_000_000)), false},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := Encode(c.in)
			if c.ok {
				require.NoError(t, err)
				assert.True(t, json.Valid(text))
				return
			}
			var bad *ValueError
			require.ErrorAs(t, err, &bad)
			assert.Equal(t, ValueTooDeep, bad.Code)
			assert.Less(t, len(bad.Error()), 400, "a long way is shortened")
		})
	}
}

// A text that is admissible comes back the same from Go's decoder, and what
// comes back is admissible as a value, with the same meaning.
func FuzzValue(f *testing.F) {
	for _, c := range valueCases {
		if raw, ok := c.in.(json.RawMessage); ok {
			f.Add([]byte(raw))
		}
	}
	f.Add([]byte(nested(50)))
	f.Fuzz(func(t *testing.T, b []byte) {
		text, err := Encode(json.RawMessage(b))
		if err != nil {
			var bad *ValueError
			if !errors.As(err, &bad) || bad.Why == "" || bad.Code == "" {
				t.Fatalf("error %v says too little", err)
			}
			return
		}
		if !json.Valid(b) {
			t.Fatalf("%q is not JSON, but passed", b)
		}
		for _, from := range [][]byte{b, text} {
			var v any
			if err := json.Unmarshal(from, &v); err != nil {
				t.Fatal(err)
			}
			again, err := Encode(v)
			if err != nil {
				t.Fatalf("%q passes as text, but not as a value: %v", b, err)
			}
			var w any
			if err := json.Unmarshal(again, &w); err != nil {
				t.Fatal(err)
			}
			if !assert.ObjectsAreEqual(v, w) {
				t.Fatalf("%q: %#v came back as %#v", b, v, w)
			}
		}
		if twice, err := Encode(text); err != nil || string(twice) != string(text) {
			t.Fatalf("%q is not stable: %q, %v", text, twice, err)
		}
	})
}

func BenchmarkCompact(b *testing.B) {
	text := []byte(`{"diffs":[` + strings.Repeat(`{"path":"a/b.go","oldText":"l1\nl2","newText":"l1\nX","oldStart":12},`, 200) + `{}]}`)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := Compact(text, MaxDepth); err != nil {
			b.Fatal(err)
		}
	}
}
