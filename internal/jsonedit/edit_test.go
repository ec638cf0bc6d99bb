package jsonedit

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/text"
)

const service = `{
  // service name
  "name": "demo",
  "enabled": false, // keep off in CI
  "hosts": [
    "alpha",
    // canary
    "gamma"
  ]
}
`

// An editCase is an operation and the text that it leaves; "=" is the text as
// it was. Pointers that begin with "+N " insert at index N.
type editCase struct{ name, in, at, value, want string }

var editCases = []editCase{
	// Existing values.
	{"a scalar is just its token", `{"a" : 1 ,"b":2}`, "/a", `10`, `{"a" : 10 ,"b":2}`},
	{"scalar beside a comment", "{\"a\": false, // why\n \"b\": 1}", "/a", `true`, "{\"a\": true, // why\n \"b\": 1}"},
	{"null is a value", `{"a": 1}`, "/a", `null`, `{"a": null}`},
	{"the same value", `{"a": [1, "x"]}`, "/a", `[1,"x"]`, "="},
	{"the same string, spelled with an escape", `{"a": "\u0041"}`, "/a", `"A"`, "="},
	{"the same number, spelled another way", `{"a": 1.0}`, "/a", `1`, `{"a": 1}`},
	{"a large number", `{"a": 1}`, "/a", `9007199254740993`, `{"a": 9007199254740993}`},
	{"a spelled number", `{"a": 1}`, "/a", `1.50E+3`, `{"a": 1.50E+3}`},
	{"numbers elsewhere stay", `{"i": 12345678901234567890, "x": 1, "e": 1.50E+3, "z": -0.0}`, "/x", `2`, `{"i": 12345678901234567890, "x": 2, "e": 1.50E+3, "z": -0.0}`},
	{"an element", `[1,2 , 3]`, "/1", `20`, `[1,20 , 3]`},
	{"escaped pointer", `{"a/b": {"m~n": 1, "m/n": 2}}`, "/a~1b/m~0n", `10`, `{"a/b": {"m~n": 10, "m/n": 2}}`},
	{"~01 is ~1", `{"~1": 3, "/": 4}`, "/~01", `30`, `{"~1": 30, "/": 4}`},
	{"the empty key", `{"": 1}`, "/", `2`, `{"": 2}`},
	{"a key with an escape", `{"\u0061": 1}`, "/a", `2`, `{"\u0061": 2}`},
	{"a dash is a key of an object", `{"-": 1}`, "/-", `2`, `{"-": 2}`},
	{"text like a comment in a string", `{"u": "http://x//y", "g": "/* no */,}", "z": 1}`, "/z", `2`, `{"u": "http://x//y", "g": "/* no */,}", "z": 2}`},
	{"comments everywhere", "// top\n{\"a\":1,\n\n   /* k */ \"b\" : /* v */ [1,2 , 3], // end\n \"c\":null,}\n// bottom", "/b/1", `20`, "// top\n{\"a\":1,\n\n   /* k */ \"b\" : /* v */ [1,20 , 3], // end\n \"c\":null,}\n// bottom"},

	// The root.
	{"root scalar", "// head\n1 // tail\n", "", `"x"`, "// head\n\"x\" // tail\n"},
	{"root of another kind", "/* a */ {\n  \"x\": 1\n} // b", "", `[1]`, "/* a */ [\n  1\n] // b"},
	{"root of the same kind", "{\n  \"x\": 1, // keep\n  \"y\": 2\n}\n", "", `{"x":1,"y":3}`, "{\n  \"x\": 1, // keep\n  \"y\": 3\n}\n"},

	// A container over one of its kind.
	{"only the member that differs", "{\n  \"s\": {\n    \"host\": \"h\", // where\n    /* old */ \"port\": 1\n  }\n}\n", "/s", `{"host":"h","port":2}`, "{\n  \"s\": {\n    \"host\": \"h\", // where\n    /* old */ \"port\": 2\n  }\n}\n"},
	{"the order of the file stays", `{"s": {"a": 1, "b": 2}}`, "/s", `{"b":3,"a":1}`, `{"s": {"a": 1, "b": 3}}`},
	{"another order is the same value", `{"s": {"a": 1, "b": 2}}`, "/s", `{"b":2,"a":1}`, "="},
	{"a new member", `{"s": {"a": 1}}`, "/s", `{"a":1,"b":[1,{"c":2}]}`, `{"s": {"a": 1, "b": [1, {"c": 2}]}}`},
	{"a member gone, its comment stays", "{\n  \"a\": 1, // one\n  \"b\": 2, // two\n  \"c\": 3\n}", "", `{"a":1,"c":3}`, "{\n  \"a\": 1, // one\n  // two\n  \"c\": 3\n}"},
	{"a line gone", "{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n}", "", `{"a":1,"c":3}`, "{\n  \"a\": 1,\n  \"c\": 3\n}"},
	{"the last gone", "{\n  \"a\": 1, // one\n  \"b\": 2\n}", "", `{"a":1}`, "{\n  \"a\": 1 // one\n}"},
	{"the last gone, trailing comma", "{\n  \"a\": 1,\n  \"b\": 2,\n}", "", `{"a":1}`, "{\n  \"a\": 1,\n}"},
	{"the last gone in a line", `{ "a": 1, "b": 2 }`, "", `{"a":1}`, `{ "a": 1 }`},
	{"the first gone in a line", `{ "a": 1, "b": 2 }`, "", `{"b":2}`, `{ "b": 2 }`},
	{"the middle gone in a line", `[1, 2, 3]`, "", `[1,3]`, `[1, 3]`},
	{"the last two gone", `[1, 2, 3]`, "", `[1]`, `[1]`},
	{"comma behind a comment goes", `[1 /* a */, 2 /* b */, 3]`, "", `[1,3]`, `[1 /* a */, /* b */ 3]`},
	{"all gone", "{\n  \"a\": 1\n}", "", `{}`, `{}`},
	{"all gone but a comment", "{\n  // why\n  \"a\": 1,\n  \"b\": 2\n}", "", `{}`, "{\n  // why\n}"},
	{"a key gives its place", `{"a": 1, "b": 2}`, "", `{"c":3,"b":2}`, `{"c": 3, "b": 2}`},
	{"elements around those that stay", "[\n  \"a\",\n  // b\n  \"b\",\n  \"c\",\n  \"d\"\n]", "", `["a","x","b","c","y","d"]`, "[\n  \"a\",\n  // b\n  \"x\",\n  \"b\",\n  \"c\",\n  \"y\",\n  \"d\"\n]"},
	{"one removed and one appended", `[1, 2, 3]`, "", `[2,3,4]`, `[2, 3, 4]`},
	{"nested containers", `{"a": [{"x": 1, "y": 2 /* why */}, 5]}`, "/a", `[{"y":2,"x":9},5]`, `{"a": [{"x": 9, "y": 2 /* why */}, 5]}`},
	{"another kind goes as a whole", "{\n  \"a\": {\n    \"b\": 1\n  }\n}", "/a", `[1,[]]`, "{\n  \"a\": [\n    1,\n    []\n  ]\n}"},
	{"keys that occur twice go as a whole", `{"a": {"x": 1, "x": 2}}`, "/a", `{"x":2}`, `{"a": {"x": 2}}`},

	// Layout of what is added.
	{"comma before the comment", "{\n  \"host\": \"h\",\n  \"port\": 8080 // default port\n}\n", "/debug", `true`, "{\n  \"host\": \"h\",\n  \"port\": 8080, // default port\n  \"debug\": true\n}\n"},
	{"element behind a comment", "{\n  \"l\": [\n    \"a\" // first, and last\n  ]\n}\n", "/l/-", `"b"`, "{\n  \"l\": [\n    \"a\", // first, and last\n    \"b\"\n  ]\n}\n"},
	{"comments on their own lines stay above", "[\n  1\n  // more to come\n\n  /* really */\n]", "/-", `2`, "[\n  1,\n  // more to come\n\n  /* really */\n  2\n]"},
	{"trailing comma is used, and given", "{\n  \"a\": 1,\n}", "/b", `2`, "{\n  \"a\": 1,\n  \"b\": 2,\n}"},
	{"trailing comma and comments", "{\n  \"a\": 1, // x\n  // y\n}", "/b", `2`, "{\n  \"a\": 1, // x\n  // y\n  \"b\": 2,\n}"},
	{"trailing comma in a line", `[1, 2,]`, "/-", `3`, `[1, 2, 3,]`},
	{"one line", `{"a": 1}`, "/b", `{"c":[1,2],"d":{}}`, `{"a": 1, "b": {"c": [1, 2], "d": {}}}`},
	{"one line, padded", `{ "a": 1 }`, "/b", `2`, `{ "a": 1, "b": 2 }`},
	{"one line, comment at the end", `[1 /* one */]`, "/-", `2`, `[1, /* one */ 2]`},
	{"one line, line comment at the end", "[1 // one\n]", "/-", `2`, "[1, // one\n  2\n]"},
	{"compact", `{"a":1,"b":[1,2]}`, "/c", `{"d":[1,2]}`, `{"a":1,"b":[1,2],"c":{"d":[1,2]}}`},
	{"compact, told by the colon", `{"a":1}`, "/b", `[1,2]`, `{"a":1,"b":[1,2]}`},
	{"a brace on the line below", "{\"s\": // note\n{ \"a\": 1 } }\n", "/s/b", `2`, "{\"s\": // note\n{ \"a\": 1, \"b\": 2 } }\n"},
	{"tabs and CRLF", "{\r\n\t\"a\": 1\r\n}\r\n", "/b", `{"c":1}`, "{\r\n\t\"a\": 1,\r\n\t\"b\": {\r\n\t\t\"c\": 1\r\n\t}\r\n}\r\n"},
	{"four spaces", "{\n    \"a\": {\n        \"x\": 1\n    }\n}", "/b", `[1]`, "{\n    \"a\": {\n        \"x\": 1\n    },\n    \"b\": [\n        1\n    ]\n}"},
	{"the separator of the neighbour", "{\n  \"a\" : 1\n}", "/b", `2`, "{\n  \"a\" : 1,\n  \"b\" : 2\n}"},
	{"nested value", service, "/limits", `{"cpu":2,"tags":["a"],"e":{},"f":[]}`, strings.Replace(service, "  ]\n}", "  ],\n  \"limits\": {\n    \"cpu\": 2,\n    \"tags\": [\n      \"a\"\n    ],\n    \"e\": {},\n    \"f\": []\n  }\n}", 1)},
	{"bracket on the last line", "{\n  \"a\": 1 }", "/b", `2`, "{\n  \"a\": 1,\n  \"b\": 2 }"},
	{"shortest escapes", `{"a": 1}`, "/b", `"\u00e9\u003c\u003e&\/\u2028\u0001\n\u0022"`, "{\"a\": 1, \"b\": \"é<>&/\u2028\\u0001\\n\\\"\"}"},
	{"key order as in the call", `{}`, "/x", `{"z":1,"a":2}`, `{"x": {"z": 1, "a": 2}}`},

	// Empty containers.
	{"empty, one line", `{"x": []}`, "/x/-", `1`, `{"x": [1]}`},
	{"empty, several lines", "{\n  \"x\": []\n}", "/x/-", `1`, "{\n  \"x\": [\n    1\n  ]\n}"},
	{"empty in a line of several", "{\n  \"y\": {\"x\": []}\n}", "/y/x/-", `1`, "{\n  \"y\": {\"x\": [1]}\n}"},
	{"empty root", "{}\n", "/a", `{"b":1}`, "{\"a\": {\"b\": 1}}\n"},
	{"empty root on two lines", "{\n}\n", "/a", `1`, "{\n  \"a\": 1\n}\n"},
	{"empty with a comment", `[ /* none */ ]`, "/-", `1`, `[ /* none */ 1 ]`},
	{"empty with a line comment", "{\n  // none yet\n}", "/a", `1`, "{\n  // none yet\n  \"a\": 1\n}"},
	{"empty over several lines, comment in a line", "{\n  \"x\": [/* none */]\n}", "/x/-", `1`, "{\n  \"x\": [/* none */\n    1\n  ]\n}"},

	// Insert.
	{"after the leading comment", service, "+1 /hosts", `"beta"`, strings.Replace(service, `"gamma"`, "\"beta\",\n    \"gamma\"", 1)},
	{"at the front", service, "+0 /hosts", `"beta"`, strings.Replace(service, `"alpha"`, "\"beta\",\n    \"alpha\"", 1)},
	{"in a line", `[1, 2]`, "+1 ", `[3, 4]`, `[1, [3, 4], 2]`},
	{"in a compact line", `[1,2]`, "+0 ", `{"a":[3, 4]}`, `[{"a": [3,4]},1,2]`},
	{"behind a comment in a line", `[1, /* two */ 2]`, "+1 ", `9`, `[1, /* two */ 9, 2]`},
	{"a matrix", "[\n  1, 2,\n  3, 4\n]", "+3 ", `9`, "[\n  1, 2,\n  3, 9, 4\n]"},
	{"comment on the same line", "[\n  1,\n  /* two */ 2\n]", "+1 ", `9`, "[\n  1,\n  /* two */ 9,\n  2\n]"},
}

func TestEdit(t *testing.T) {
	for _, c := range editCases {
		t.Run(c.name, func(t *testing.T) {
			d, doc := open(t, c.in)
			change := c.apply(t, d)
			got, err := doc.Apply(change.Edits...)
			require.NoError(t, err)
			if c.want == "=" {
				assert.Empty(t, change.Edits)
				return
			}
			require.Equal(t, c.want, got.Text())
			require.NoError(t, d.Check(got, change))
		})
	}
}

func open(t *testing.T, in string) (*Document, text.Doc) {
	t.Helper()
	doc, err := text.ParseString(in)
	require.NoError(t, err)
	d, err := Parse(doc, Limits{})
	require.NoError(t, err)
	return d, doc
}

func value(t *testing.T, raw string) Value {
	t.Helper()
	v, err := ParseValue([]byte(raw), Limits{})
	require.NoError(t, err)
	return v
}

func (c editCase) apply(t *testing.T, d *Document) Change {
	t.Helper()
	change, err := do(d, c.at, value(t, c.value))
	require.NoError(t, err)
	return change
}

func do(d *Document, at string, v Value) (Change, error) {
	if rest, insert := strings.CutPrefix(at, "+"); insert {
		index, pointer, _ := strings.Cut(rest, " ")
		var n int
		if _, err := fmt.Sscan(index, &n); err != nil {
			return Change{}, err
		}
		return d.Insert(pointer, n, v)
	}
	return d.Set(at, v)
}

func TestBOMIsNoPartOfTheDocument(t *testing.T) {
	d, doc := open(t, "\uFEFF{\"a\": 1}")
	change, err := d.Set("/a", value(t, "2"))
	require.NoError(t, err)
	got, err := doc.Apply(change.Edits...)
	require.NoError(t, err)
	assert.Equal(t, "\uFEFF{\"a\": 2}", got.Raw())
}

func TestErrors(t *testing.T) {
	deep := strings.Repeat("[", 100) + "{}" + strings.Repeat("]", 100)
	for _, c := range []struct{ in, at, value, code, says string }{
		{service, "hosts", "1", CodePointer, `"/hosts"`},
		{service, "/a~2", "1", CodePointer, "~0"},
		{service, "/a~", "1", CodePointer, "~0"},
		{service, "/hosts/01", "1", CodeNotFound, "leading zeros"},
		{service, "/hosts/x", "1", CodeNotFound, "no array index"},
		{service, "/hosts/", "1", CodeNotFound, "no array index"},
		{service, "/hosts/2", "1", CodeIndex, `"/hosts/-"`},
		{service, "/hosts/7", "1", CodeIndex, "2 elements"},
		{service, "/hosts/7/x", "1", CodeNotFound, "2 elements"},
		{service, "/hosts/-/x", "1", CodeNotFound, "behind the last"},
		{service, "/limits/cpu", "1", CodeNotFound, `"limits"`},
		{service, "/name/x", "1", CodeType, "a string"},
		{service, "+0 /name", "1", CodeType, "a string"},
		{service, "+0 /nothing", "1", CodeNotFound, `"nothing"`},
		{service, "+0 /hosts/-", "1", CodeNotFound, "behind the last"},
		{service, "+2 /hosts", "1", CodeIndex, `"/hosts/-"`},
		{service, "+-1 /hosts", "1", CodeIndex, "index -1"},
		{`{"e": []}`, "+0 /e", "1", CodeEmptyArray, `"/e/-"`},
		{`{"a": {"x": 1, "x": 2}}`, "/a/x", "1", CodeDuplicate, `"x" occurs twice`},
		{`{"a": 1, "\u0061": {}}`, "/a/x", "1", CodeDuplicate, `"a" occurs twice`},
		{service, strings.Repeat("/a", 129), "1", CodeLimit, "128"},
		{deep, strings.Repeat("/0", 100) + "/a", strings.Repeat("[", 412) + strings.Repeat("]", 412), CodeLimit, "513 levels"},
	} {
		d, _ := open(t, c.in)
		_, err := do(d, c.at, value(t, c.value))
		e, ok := asError(err)
		if assert.True(t, ok, "%s: %v", c.at, err) {
			assert.Equal(t, c.code, e.Code, c.at)
			assert.ErrorContains(t, err, c.says, c.at)
		}
	}
	d, _ := open(t, service)
	_, err := d.Set("/hosts/1/x/y", value(t, "1"))
	e, _ := asError(err)
	assert.Equal(t, CodeType, e.Code)
	_, err = d.Set("/limits/cpu", value(t, "1"))
	e, _ = asError(err)
	assert.Equal(t, "", e.Prefix)
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct {
		in           string
		line, column int
		code         string
	}{
		{"{\n  \"a\": 1\n  \"b\": 2\n}\n", 3, 3, CodeParse},
		{"", 1, 1, CodeParse},
		{"  \n", 2, 1, CodeParse},
		{"{\"a\": 1", 1, 8, CodeParse},
		{"{\"a\": tru}", 1, 7, CodeParse},
		{"{} {}", 1, 4, CodeParse},
		{"{'a': 1}", 1, 2, CodeParse},
		{"[1, /* ]", 1, 5, CodeParse},
		{"[\"\\", 1, 4, CodeParse},
		{"\n" + strings.Repeat("[", 100_000), 2, 513, CodeLimit},
	} {
		doc, err := text.ParseString(c.in)
		require.NoError(t, err)
		_, err = Parse(doc, Limits{})
		e, ok := asError(err)
		if assert.True(t, ok, "%.20q: %v", c.in, err) {
			assert.Equal(t, c.code, e.Code, "%.20q", c.in)
			assert.Equal(t, c.line, e.Line, "%.20q", c.in)
			if c.column > 0 {
				assert.Equal(t, c.column, e.Column, "%.20q: %v", c.in, e)
			}
		}
	}
}

func TestClaims(t *testing.T) {
	for _, c := range []struct {
		in, a, b string
		touches  bool
	}{
		{service, "/name", "/enabled", true},
		{service, "/name", "/hosts/0", false},
		{service, "+1 /hosts", "/hosts/1", true},
		{service, "+1 /hosts", "/hosts/0", true},
		{service, "+0 /hosts", "+1 /hosts", false},
		{service, "+1 /hosts", "+1 /hosts", true},
		{service, "/hosts/-", "/hosts/-", true},
		{service, "/hosts/-", "/hosts/1", true},
		{service, "/hosts/-", "/hosts/0", false},
		{service, "/x", "/hosts/0", false},
		{service, "/x", "/hosts", true},
		{service, "", "/name", true},
		{`{"x": [], "y": [], "z": []}`, "/x/-", "/y/-", false},
	} {
		d, _ := open(t, c.in)
		a, err := do(d, c.a, value(t, `"A"`))
		require.NoError(t, err)
		b, err := do(d, c.b, value(t, `"B"`))
		require.NoError(t, err)
		assert.Equal(t, c.touches, a.Claim.Touches(b.Claim), "%s and %s", c.a, c.b)
		assert.Equal(t, c.touches, b.Claim.Touches(a.Claim), "%s and %s", c.b, c.a)
	}
}

func TestConflict(t *testing.T) {
	for _, c := range []struct {
		a, b     string
		conflict bool
	}{
		{"/name", "/enabled", false},
		{"/hosts", "/hosts/0", true},
		{"", "/name", true},
		{"/hosts", "+0 /hosts", true},
		{"/hosts/0", "+0 /hosts", false},
		{"+0 /hosts", "+1 /hosts", false},
		{"/name", "/name", true},
		{"/hosts/-", "/hosts/-", false},
	} {
		d, _ := open(t, service)
		a, err := do(d, c.a, value(t, `["A"]`))
		require.NoError(t, err)
		b, err := do(d, c.b, value(t, `["B"]`))
		require.NoError(t, err)
		assert.Equal(t, c.conflict, d.Conflict(a, b), "%s and %s", c.a, c.b)
		assert.Equal(t, c.conflict, d.Conflict(b, a), "%s and %s", c.b, c.a)
	}
}

func TestLostComments(t *testing.T) {
	d, _ := open(t, `{"a": [1, /* x */ 2 // y
	], "b": "// no"}`)
	for at, want := range map[string]int{"/a": 2, "/a/0": 0, "/b": 0} {
		c, err := d.Set(at, value(t, "null"))
		require.NoError(t, err)
		assert.Equal(t, want, c.Lost, at)
	}
}

func TestCheckSeesAnotherValue(t *testing.T) {
	d, _ := open(t, service)
	set, err := d.Set("/hosts/-", value(t, `{"a":[1,"\u00e9"],"b":2}`))
	require.NoError(t, err)
	whole, err := d.Set("/hosts", value(t, `{"a":[1,{"x":"é","y":0}],"b":2}`))
	require.NoError(t, err)
	for _, c := range []struct {
		change Change
		hosts  string
		good   bool
	}{
		{set, `["alpha", "gamma", {"a": [1, "é"], "b": 2}]`, true},
		{set, `["alpha", "gamma", {"a": [1, "\u00e9",], "b": 2,},] // x`, true},
		{set, `["alpha", "gamma", {"a": [1, "e"], "b": 2}]`, false},
		{set, `["alpha", "gamma", {"b": 2, "a": [1, "é"]}]`, false},
		{set, `["alpha", "gamma"]`, false},
		{set, `["alpha" "gamma", {"a": [1, "é"], "b": 2}]`, false},
		{set, `["alpha", "gamma", {"a": [1, "é"], "b": 2}, 3]`, false},
		{set, `["alpha", "gamma", {"a": [1, "é"], "b": 20}]`, false},
		{set, `["alpha", "gamma", {"a": [1, "é"], "b": 2} /* x ]`, false},
		{whole, `{"b": 2, "a": [1, {"y": 0, "x": "é"}]}`, true},
		{whole, `{"b": 2, "a": [1, {"y": 0, "x": "é"}], "c": 1}`, false},
		{whole, `{"b": 2, "b": 2, "a": [1, {"y": 0, "x": "é"}]}`, false},
		{whole, `{"b": 2}`, false},
		{whole, `["b", 2]`, false},
	} {
		after, err := text.ParseString("{\"name\": \"demo\", \"enabled\": false, \"hosts\": " + c.hosts + "\n}")
		require.NoError(t, err)
		err = d.Check(after, c.change)
		if c.good {
			assert.NoError(t, err, c.hosts)
			continue
		}
		e, ok := asError(err)
		if assert.True(t, ok, c.hosts) {
			assert.Equal(t, CodeResult, e.Code)
		}
	}
}

func asError(err error) (*Error, bool) {
	var e *Error
	ok := errors.As(err, &e)
	return e, ok
}
