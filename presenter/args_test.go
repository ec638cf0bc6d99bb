package presenter

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
)

var argCases = []struct {
	name   string
	pieces []string
	refine []bool // after each piece
	known  string
}{
	{"nothing", nil, nil, `{}`},
	{"one property", []string{`{"a":1}`}, []bool{false}, `{"a":1}`},
	{"comma at the end", []string{`{"a":1,`}, []bool{true}, `{"a":1}`},
	{"two commas in one piece", []string{`{"a":1,"b":2,"c`}, []bool{true}, `{"a":1,"b":2}`},
	{"comma and end in one piece", []string{`{"a":1`, `,"b":2}`}, []bool{false, false}, `{"a":1,"b":2}`},
	{"commas within", []string{`{"a":"x,y","b":[1,2,{"c":3,"d":4}]`, `,"e"`}, []bool{true, true}, `{"a":"x,y","b":[1,2,{"c":3,"d":4}]}`},
	{"quotes and backslashes", []string{`{"a":"\\`, `","b":"\"`, `,"`, `,"c`}, []bool{false, true, false, true}, `{"a":"\\","b":"\","}`},
	{"cut in a string", []string{`{"a":1,"b":"x`}, []bool{true}, `{"a":1}`},
	{"spaces", []string{" { \"a\" : 1 , "}, []bool{true}, `{"a":1}`},
	{"array", []string{`[1,2`}, []bool{true}, `{}`},
	{"not JSON", []string{`{oops,`}, []bool{true}, `{}`},
	{"behind the end", []string{`{"a":1}`, `,"b":2,`}, []bool{false, false}, `{}`},
	{"closed too often", []string{`}}{"a":1,`}, []bool{false}, `{}`},
}

func TestArgScanner(t *testing.T) {
	for _, c := range argCases {
		var s argScanner
		for i, p := range c.pieces {
			assert.Equal(t, c.refine[i], s.feed(p), "%s: piece %d", c.name, i)
		}
		assert.Equal(t, c.known, string(wireJSON(s.known())), c.name)
	}
}

// FuzzArgScanner: what is known does not depend on where the text was cut,
// and it is always an object.
func FuzzArgScanner(f *testing.F) {
	for _, c := range argCases {
		f.Add(strings.Join(c.pieces, ""), 3)
	}
	f.Fuzz(func(t *testing.T, text string, at int) {
		at = min(max(at, 0), len(text))
		var s argScanner
		s.feed(text[:at])
		s.feed(text[at:])
		assert.Equal(t, string(knownArgs(text)), string(s.known()))
		var m map[string]any
		if err := json.Unmarshal(s.known(), &m); err != nil || m == nil {
			t.Fatalf("known of %q is no object: %s", text, s.known())
		}
	})
}

var wireCases = []struct{ name, in, want string }{
	{"order and spaces", `{ "b" : 1,` + "\n" + `"a":[ ] }`, `{"b":1,"a":[]}`},
	{"no escaping", `{"a":"<&>"}`, `{"a":"<&>"}`},
	{"pair of surrogates", `"\ud83d\ude00"`, `"\ud83d\ude00"`},
	{"half of a pair", `"\ud83d and \uDE00"`, `"\ufffd and \ufffd"`},
	{"two first halves", `"\ud83d\ud83d\ude00"`, `"\ufffd\ud83d\ude00"`},
	{"half at the end", `"\ud83d"`, `"\ufffd"`},
	{"escaped backslash", `"\\ud83d"`, `"\\ud83d"`},
	{"not UTF-8", "\"a\xffb\"", "\"a\uFFFDb\""},
	{"not JSON", `{"a":`, `"{\"a\":"`},
	{"number beyond floats", `{"a":1e999}`, `"{\"a\":1e999}"`},
	{"large number", `12345678901234567890`, `12345678901234567890`},
	{"number in a string", `"1e999"`, `"1e999"`},
	{"deep", strings.Repeat("[", 101) + strings.Repeat("]", 101), `"` + strings.Repeat("[", 101) + strings.Repeat("]", 101) + `"`},
	{"deep enough", strings.Repeat("[", 100) + strings.Repeat("]", 100), strings.Repeat("[", 100) + strings.Repeat("]", 100)},
}

func TestWireJSON(t *testing.T) {
	for _, c := range wireCases {
		assert.Equal(t, c.want, string(wireJSON(json.RawMessage(c.in))), c.name)
	}
}

func FuzzWireJSON(f *testing.F) {
	for _, c := range wireCases {
		f.Add([]byte(c.in))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		out := wireJSON(in)
		assert.True(t, json.Valid(out) && utf8.Valid(out))
		assert.Equal(t, string(out), string(wireJSON(out)), "not stable")
		var a, b any
		if json.Unmarshal(in, &a) == nil && json.Unmarshal(out, &b) == nil && utf8.Valid(in) {
			if _, asText := b.(string); !asText {
				assert.Equal(t, a, b)
			}
		}
	})
}
