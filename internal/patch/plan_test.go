package patch

import (
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

// A world is files by the paths of a call; those that it lacks are missing.
type world map[string]string

func (w world) files(t testing.TB, req Request) map[string]*File {
	t.Helper()
	out := map[string]*File{}
	for _, o := range req.Operations {
		if o == nil || out[o.Target()] != nil {
			continue
		}
		f := &File{Path: o.Target()}
		if s, ok := w[f.Path]; ok {
			doc, err := text.ParseString(s)
			require.NoError(t, err)
			f.State, f.Doc = Regular, doc
		}
		out[f.Path] = f
	}
	return out
}

// call plans a call; operations are JSON without the brackets around them.
func (w world) call(t testing.TB, operations string) (*Plan, Errors) {
	t.Helper()
	req, errs := Decode([]byte(`{"operations":[`+operations+`]}`), Limits{})
	require.Nil(t, errs)
	return Make(req, w.files(t, req), Options{})
}

// after returns the texts that a plan makes.
func after(p *Plan) world {
	out := world{}
	for _, c := range p.Files {
		out[c.File.Path] = c.After.Raw()
	}
	return out
}

func numbered(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "l%d\n", i)
	}
	return b.String()
}

func TestPlan(t *testing.T) {
	for _, c := range []struct {
		name   string
		before world
		ops    string
		after  world
		text   string // of the result; not compared if empty
	}{
		{"P1 batch",
			world{"a.ts": "return 1\n" + strings.Repeat("x\n", 18) + "const old = true\n", "c.jsonc": service, "notes.txt": "todo"},
			`{"op":"replace_text","path":"a.ts","search":"return 1","replace":"return 2"},
			 {"op":"replace_range","path":"a.ts","startLine":20,"endLine":20,"oldText":"const old = true","text":"const old = false"},
			 {"op":"set_json","path":"c.jsonc","pointer":"/enabled","value":true},
			 {"op":"insert_json","path":"c.jsonc","pointer":"/hosts","index":1,"value":"beta"},
			 {"op":"append_text","path":"notes.txt","text":"\n- one more"},
			 {"op":"create_file","path":"n.md","text":"# New\n"}`,
			world{
				"a.ts":      "return 2\n" + strings.Repeat("x\n", 18) + "const old = false\n",
				"c.jsonc":   strings.Replace(strings.Replace(service, "false,", "true,", 1), `"gamma"`, "\"beta\",\n    \"gamma\"", 1),
				"notes.txt": "todo\n- one more",
				"n.md":      "# New\n",
			},
			"Success: 4 file(s), 6 span(s), +6 -3 lines\nM a.ts\nM c.jsonc\nM notes.txt\nA n.md\n"},
		{"P2 expected count", world{"a": "foo foo\nfoo\n"}, `{"op":"replace_text","path":"a","search":"foo","replace":"b","expect":3}`,
			world{"a": "b b\nb\n"}, "Success: 1 file(s), 3 span(s), +2 -2 lines\nM a\n"},
		{"P5 numbers of the text before", world{"l": numbered(12)},
			`{"op":"replace_range","path":"l","startLine":5,"endLine":5,"oldText":"l5","text":""},
			 {"op":"replace_range","path":"l","startLine":10,"endLine":10,"oldText":"l10\n","text":"L"}`,
			world{"l": strings.NewReplacer("l5\n", "", "l10", "L").Replace(numbered(12))}, ""},
		{"P7 touching", world{"l": numbered(6)},
			`{"op":"replace_range","path":"l","startLine":3,"endLine":4,"oldText":"l3\nl4","text":""},
			 {"op":"replace_range","path":"l","startLine":5,"endLine":5,"oldText":"l5","text":"five"}`,
			world{"l": "l1\nl2\nfive\nl6\n"}, ""},
		{"P8 members apart", world{"c": service},
			`{"op":"set_json","path":"c","pointer":"/name","value":"x"},{"op":"set_json","path":"c","pointer":"/hosts/0","value":"y"}`,
			world{"c": strings.NewReplacer("demo", "x", "alpha", "y").Replace(service)}, ""},
		{"P9 append an element", world{"c": service}, `{"op":"set_json","path":"c","pointer":"/hosts/-","value":"delta"}`,
			world{"c": strings.Replace(service, `"gamma"`, "\"gamma\",\n    \"delta\"", 1)}, "Success: 1 file(s), 1 span(s), +2 -1 lines\nM c\n"},
		{"P14 fuzzy trim", world{"a": "x = 1  \ny = 2\n"}, `{"op":"replace_text","path":"a","search":"x = 1\ny = 2","replace":"z","fuzzy":"trim"}`,
			world{"a": "z\n"}, "Success: 1 file(s), 1 span(s), +1 -2 lines\nM a\n  (fuzzy=trim matched line 1; verify this is the intended site)\n"},
		{"P15 fuzzy indent", world{"a": "    if (a) {\n        b()\n    }\n"},
			`{"op":"replace_text","path":"a","search":"if (a) {\n    b()\n}","replace":"c()","fuzzy":"indent"}`, world{"a": "c()\n"}, ""},
		{"fuzzy indent the other way, blank line between", world{"a": "f(\n\n  x)\n"},
			`{"op":"replace_text","path":"a","search":"\tf(\n \n\t  x)\n","replace":"g\n","fuzzy":"indent"}`, world{"a": "g\n"}, ""},
		{"P16 exact goes before tolerance", world{"a": "  x\n  y\nx\ny\n"},
			`{"op":"replace_text","path":"a","search":"\nx\ny","replace":"\nz","fuzzy":"indent"}`, world{"a": "  x\n  y\nz\n"}, "Success: 1 file(s), 1 span(s), +1 -2 lines\nM a\n"},
		{"P17 anchored", world{"a": "x\nfunc main() {\n\tf()\n\tg()\n}\n"},
			`{"op":"replace_range","path":"a","search":"func main()","offset":1,"lines":2,"oldText":"\tf()\n\tg()","text":"\th()"}`,
			world{"a": "x\nfunc main() {\n\th()\n}\n"}, ""},
		{"anchored, defaults", world{"a": "x\nyes\n"}, `{"op":"replace_range","path":"a","search":"ye","oldText":"yes","text":"no"}`, world{"a": "x\nno\n"}, ""},
		{"anchored upwards", world{"a": "x\nyes\n"}, `{"op":"replace_range","path":"a","search":"yes","offset":-1,"oldText":"x","text":""}`, world{"a": "yes\n"}, ""},
		{"P18 range in CRLF", world{"a": "a\r\nb\r\nc\r\n"}, `{"op":"replace_range","path":"a","startLine":2,"endLine":2,"oldText":"b","text":"x\ny"}`,
			world{"a": "a\r\nx\r\ny\r\nc\r\n"}, ""},
		{"P18 text in CRLF", world{"a": "a\r\nb\r\nc\r\n"}, `{"op":"replace_text","path":"a","search":"a\nb","replace":"x\ny\nz"}`,
			world{"a": "x\r\ny\r\nz\r\nc\r\n"}, "Success: 1 file(s), 1 span(s), +3 -2 lines\nM a\n  (line endings adapted)\n"},
		{"one line in CRLF, more lines come", world{"a": "a\r\nb\r\n"}, `{"op":"replace_text","path":"a","search":"a","replace":"x\ny"}`,
			world{"a": "x\r\ny\r\nb\r\n"}, "Success: 1 file(s), 1 span(s), +2 -1 lines\nM a\n  (line endings adapted)\n"},
		{"replace with its own CR stays", world{"a": "a\r\nb\r\n"}, `{"op":"replace_text","path":"a","search":"a\r\n","replace":"x\n"}`, world{"a": "x\nb\r\n"}, ""},
		{"byte for byte in a mixed file", world{"a": "a\nb\nc\r\nd\r\ne\r\n"}, `{"op":"replace_text","path":"a","search":"a\nb","replace":"x\ny"}`, world{"a": "x\ny\nc\r\nd\r\ne\r\n"}, ""},
		{"half of a CRLF", world{"a": "a\r\nb\r\n"}, `{"op":"replace_text","path":"a","search":"a\r","replace":"x\r"}`, world{"a": "x\r\nb\r\n"}, ""},
		{"CRLF in text, LF in the file", world{"a": "a\nb\n"}, `{"op":"replace_range","path":"a","startLine":1,"endLine":1,"oldText":"a\r\n","text":"x\r\ny\r\n"}`, world{"a": "x\ny\nb\n"}, ""},
		{"append in CRLF", world{"a": "a\r\n"}, `{"op":"append_text","path":"a","text":"b\nc\n"}`, world{"a": "a\r\nb\r\nc\r\n"}, ""},
		{"a mark into an empty file", world{"a": ""}, `{"op":"append_text","path":"a","text":"\ufeffb\n"}`, world{"a": "\uFEFFb\n"}, "Success: 1 file(s), 1 span(s), +1 -0 lines\nM a\n"},
		{"nothing but a mark", world{"a": "abc"}, `{"op":"replace_text","path":"a","search":"abc","replace":"\ufeff"}`, world{"a": "\uFEFF"}, "Success: 1 file(s), 1 span(s), +0 -1 lines\nM a\n"},
		{"a mark and lines behind it", world{"a": "a\nb\nc\n"},
			`{"op":"replace_text","path":"a","search":"a","replace":"\ufeffa"},{"op":"replace_range","path":"a","startLine":2,"endLine":2,"oldText":"b","text":""}`,
			world{"a": "\uFEFFa\nc\n"}, "Success: 1 file(s), 2 span(s), +0 -1 lines\nM a\n"},
		{"create keeps what is given", nil, `{"op":"create_file","path":"n","text":"a\r\nb\n"}`, world{"n": "a\r\nb\n"}, "Success: 1 file(s), 1 span(s), +2 -0 lines\nA n\n"},
		{"create an empty file", nil, `{"op":"create_file","path":"n","text":""}`, world{"n": ""}, "Success: 1 file(s), 1 span(s), +0 -0 lines\nA n\n"},
		{"P19 last line goes, no break", world{"a": "a\nb"}, `{"op":"replace_range","path":"a","startLine":2,"endLine":2,"oldText":"b","text":""}`, world{"a": "a"}, ""},
		{"P19 last line goes, break", world{"a": "a\nb\n"}, `{"op":"replace_range","path":"a","startLine":2,"endLine":2,"oldText":"b","text":""}`, world{"a": "a\n"}, ""},
		{"P19 last line stays open", world{"a": "a\nb"}, `{"op":"replace_range","path":"a","startLine":2,"endLine":2,"oldText":"b","text":"c\n"}`, world{"a": "a\nc"}, ""},
		{"an extra empty line", world{"a": "a\nb\n"}, `{"op":"replace_range","path":"a","startLine":1,"endLine":1,"oldText":"a","text":"x\n\n"}`, world{"a": "x\n\nb\n"}, ""},
		{"one empty line", world{"a": "a\nb\n"}, `{"op":"replace_range","path":"a","startLine":1,"endLine":1,"oldText":"a","text":"\n"}`, world{"a": "\nb\n"}, ""},
		{"the only line goes", world{"a": "only"}, `{"op":"replace_range","path":"a","startLine":1,"endLine":1,"oldText":"only","text":""}`, world{"a": ""}, "Success: 1 file(s), 1 span(s), +0 -1 lines\nM a\n"},
		{"all lines go", world{"a": "x\ny\n"}, `{"op":"replace_range","path":"a","startLine":1,"endLine":2,"oldText":"x\ny","text":""}`, world{"a": ""}, ""},
		{"the last line goes and text is appended", world{"a": "a\nb"},
			`{"op":"replace_range","path":"a","startLine":2,"endLine":2,"oldText":"b","text":""},{"op":"append_text","path":"a","text":"\nc"}`, world{"a": "a\nc"}, ""},
		{"appended text joins", world{"a": "head"}, `{"op":"append_text","path":"a","text":"er"}`, world{"a": "header"},
			"Success: 1 file(s), 1 span(s), +1 -1 lines\nM a\n  (the last line had no line break, so the appended text continues it)\n"},
		{"a mark is no part of a match", world{"a": "\uFEFFa\nb\n"},
			`{"op":"replace_range","path":"a","startLine":1,"endLine":1,"oldText":"a","text":"x"}`, world{"a": "\uFEFFx\nb\n"}, ""},
		{"only the final break", world{"a": "a"}, `{"op":"append_text","path":"a","text":"\n"}`, world{"a": "a\n"}, "Success: 1 file(s), 1 span(s), +0 -0 lines\nM a\n"},
		{"U+FFFD is text", world{"a": "\uFFFD\n"}, `{"op":"replace_text","path":"a","search":"\ufffd","replace":"x"}`, world{"a": "x\n"}, ""},
		{"an idle operation", world{"a": "a\n", "c": `{"x":1}`},
			`{"op":"set_json","path":"c","pointer":"/x","value":1},{"op":"replace_text","path":"a","search":"a","replace":"b"}`,
			world{"a": "b\n", "c": `{"x":1}`}, "Success: 2 file(s), 1 span(s), +1 -1 lines\nM c\n  (no change: operation 0)\nM a\n"},
		{"an idle text operation", world{"a": "a\nb\n"},
			`{"op":"replace_text","path":"a","search":"a","replace":"a"},{"op":"replace_text","path":"a","search":"b","replace":"c"}`,
			world{"a": "a\nc\n"}, "Success: 1 file(s), 2 span(s), +1 -1 lines\nM a\n  (no change: operation 0)\n"},
		{"JSON and text in one file", world{"c": service},
			`{"op":"replace_text","path":"c","search":"service name","replace":"the name"},{"op":"set_json","path":"c","pointer":"/name","value":"x"}`,
			world{"c": strings.NewReplacer("service name", "the name", "demo", "x").Replace(service)}, ""},
		{"comments that go are told", world{"c": `{"a": [1 /* one */]}`}, `{"op":"set_json","path":"c","pointer":"/a","value":1}`, world{"c": `{"a": 1}`},
			"Success: 1 file(s), 1 span(s), +1 -1 lines\nM c\n  (1 comment inside of what operation 0 replaced went with it)\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, errs := c.before.call(t, c.ops)
			require.Nil(t, errs)
			assert.Equal(t, c.after, after(p))
			if c.text != "" {
				assert.Equal(t, c.text, p.Report().Text())
			}
		})
	}
}

func TestErrors(t *testing.T) {
	two := "    if (a) {\n        b()\n    }\n" + strings.Repeat("x\n", 5) + "    if (a) {\n        b()\n    }\n"
	for _, c := range []struct {
		name   string
		before world
		ops    string
		code   string
		op     int
		says   []string
	}{
		{"P2 too many", world{"a": "foo\nx foo\nfoo\n"}, `{"op":"replace_text","path":"a","search":"foo","replace":"b"}`, CodeMatchCount, 0,
			[]string{"3 times, want 1", "candidates", "line 1: foo", "line 2: x foo", "line 3", "set expect to 3"}},
		{"P2 too few", world{"a": "foo\nfoo\nfoo\n"}, `{"op":"replace_text","path":"a","search":"foo","replace":"b","expect":2}`, CodeMatchCount, 0, []string{"3 times, want 2"}},
		{"P3 overlap of matches", world{"a": "aaa"}, `{"op":"replace_text","path":"a","search":"aa","replace":"b","expect":2}`, CodeMatchCount, 0, []string{"overlap"}},
		{"P3 overlap, any count", world{"a": "aaa"}, `{"op":"replace_text","path":"a","search":"aa","replace":"b"}`, CodeMatchCount, 0, []string{"overlap"}},
		{"P4 second absent", world{"a": "x", "b": "y"}, `{"op":"replace_text","path":"a","search":"x","replace":"z"},{"op":"replace_text","path":"b","search":"q","replace":"z"}`,
			CodeMatchCount, 1, []string{"b: search occurs 0 times"}},
		{"closest line", world{"a": "one\n\tif  x {\n\ty\nif x {\n z\n"}, `{"op":"replace_text","path":"a","search":"\nif x{\n  y","replace":"q"}`, CodeMatchCount, 0, []string{"line 2: \tif  x {"}},
		{"closest line that contains it", world{"a": "one\ncall(if x)\n"}, `{"op":"replace_text","path":"a","search":"if x)\nq","replace":"q"}`, CodeMatchCount, 0, []string{"line 2"}},
		{"already applied", world{"a": "new\n"}, `{"op":"replace_text","path":"a","search":"old","replace":"new"}`, CodeMatchCount, 0, []string{"already applied"}},
		{"P6 overlap", world{"l": numbered(8)},
			`{"op":"replace_range","path":"l","startLine":3,"endLine":6,"oldText":"l3\nl4\nl5\nl6","text":"x"},{"op":"replace_text","path":"l","search":"l5","replace":"y"}`,
			CodeOverlap, 1, []string{"operation 0", "lines 5 to 5", "l"}},
		{"one operation twice", world{"a": "x\n"}, `{"op":"replace_text","path":"a","search":"x","replace":"y"},{"op":"replace_text","path":"a","search":"x","replace":"y"}`, CodeOverlap, 1, []string{"operation 0"}},
		{"two insertions at one place", world{"a": "x\n"}, `{"op":"append_text","path":"a","text":"y"},{"op":"append_text","path":"a","text":"z"}`, CodeOverlap, 1, []string{"operation 0"}},
		{"P8 neighbours", world{"c": service}, `{"op":"set_json","path":"c","pointer":"/name","value":"x"},{"op":"set_json","path":"c","pointer":"/enabled","value":true}`, CodeOverlap, 1, []string{"operation 0"}},
		{"P8 insert and set", world{"c": service}, `{"op":"insert_json","path":"c","pointer":"/hosts","index":1,"value":"x"},{"op":"set_json","path":"c","pointer":"/hosts/1","value":"y"}`, CodeOverlap, 1, []string{"operation 0"}},
		{"two new keys", world{"c.json": "{\"name\": 1}\n"}, `{"op":"set_json","path":"c.json","pointer":"/b","value":2},{"op":"set_json","path":"c.json","pointer":"/c","value":3}`, CodeOverlap, 1, []string{"c.json"}},
		{"JSON and text on one place", world{"c": service}, `{"op":"replace_text","path":"c","search":"\"demo\"","replace":"1"},{"op":"set_json","path":"c","pointer":"/name","value":"x"}`, CodeOverlap, 1, nil},
		{"text that breaks the JSON", world{"c": service}, `{"op":"replace_text","path":"c","search":"\"hosts\":","replace":"\"hosts\""},{"op":"set_json","path":"c","pointer":"/name","value":"x"}`, CodeJSONResultInvalid, 1, []string{"line 5"}},
		{"P9 insert behind the last", world{"c": service}, `{"op":"insert_json","path":"c","pointer":"/hosts","index":2,"value":"x"}`, CodeIndexRange, 0, []string{"/hosts/-"}},
		{"P10 missing parent", world{"c": service}, `{"op":"set_json","path":"c","pointer":"/limits/cpu","value":2}`, CodePointerNotFound, 0, []string{"limits"}},
		{"P12 empty array", world{"c": `{"x": []}`}, `{"op":"insert_json","path":"c","pointer":"/x","index":0,"value":1}`, CodeEmptyArray, 0, []string{"empty", "/x/-"}},
		{"P13 pointer", world{"c": service}, `{"op":"set_json","path":"c","pointer":"/a~2","value":1}`, CodePointerInvalid, 0, nil},
		{"P13 leading zero", world{"c": service}, `{"op":"set_json","path":"c","pointer":"/hosts/01","value":1}`, CodePointerNotFound, 0, nil},
		{"index of the length", world{"c": service}, `{"op":"set_json","path":"c","pointer":"/hosts/2","value":1}`, CodeIndexRange, 0, []string{"/hosts/-"}},
		{"scalar parent", world{"c": service}, `{"op":"set_json","path":"c","pointer":"/name/x","value":1}`, CodeJSONType, 0, nil},
		{"duplicate key", world{"c": `{"a":1,"a":2}`}, `{"op":"set_json","path":"c","pointer":"/a","value":1}`, CodeJSONDuplicateKey, 0, nil},
		{"malformed, told once", world{"m.json": "{\n  \"a\": 1\n  \"b\": 2\n}\n"},
			`{"op":"set_json","path":"m.json","pointer":"/a","value":2},{"op":"set_json","path":"m.json","pointer":"/b","value":2}`, CodeJSONParse, 0, []string{"m.json", "line 3"}},
		{"P14 without fuzzy", world{"a": "x = 1  \ny = 2\n"}, `{"op":"replace_text","path":"a","search":"x = 1\ny = 2","replace":"z"}`, CodeMatchCount, 0, []string{"0 times", "line 1"}},
		{"P15 uneven", world{"a": "    if (a) {\n      b()\n    }\n"}, `{"op":"replace_text","path":"a","search":"if (a) {\n    b()\n}","replace":"c()","fuzzy":"indent"}`, CodeMatchCount, 0, []string{"0 times"}},
		{"P16 two places", world{"a": two}, `{"op":"replace_text","path":"a","search":"if (a) {\n    b()\n}","replace":"c()","fuzzy":"indent"}`, CodeMatchCount, 0, []string{"2 times", "candidates", "line 1", "line 9"}},
		{"exact count decides before tolerance", world{"a": "x\nx\n"}, `{"op":"replace_text","path":"a","search":"x","replace":"y","fuzzy":"trim"}`, CodeMatchCount, 0, []string{"2 times"}},
		{"indent forgives no trailing blank", world{"a": "  a \n  b\n"}, `{"op":"replace_text","path":"a","search":"a\nb","replace":"c","fuzzy":"indent"}`, CodeMatchCount, 0, []string{"0 times"}},
		{"trim forgives no indentation", world{"a": "  a \n  b\n"}, `{"op":"replace_text","path":"a","search":"a\nb","replace":"c","fuzzy":"trim"}`, CodeMatchCount, 0, []string{"0 times"}},
		{"no character is another", world{"t": "top–level  \n"}, `{"op":"replace_text","path":"t","search":"top-level","replace":"x","fuzzy":"trim"}`, CodeMatchCount, 0, []string{"0 times"}},
		{"P17 outside", world{"a": "x\nfunc main()\n"}, `{"op":"replace_range","path":"a","search":"func main()","offset":-9,"oldText":"x","text":""}`, CodeRangeInvalid, 0, []string{"line 2", "2 lines"}},
		{"P17 anchor twice", world{"a": "x\nx\n"}, `{"op":"replace_range","path":"a","search":"x","oldText":"x","text":""}`, CodeMatchCount, 0, []string{"2 times", "line 2"}},
		{"anchor absent", world{"a": "x\n"}, `{"op":"replace_range","path":"a","search":"y","oldText":"x","text":""}`, CodeMatchCount, 0, []string{"0 times"}},
		{"line behind the last break", world{"a": "a\nb\n"}, `{"op":"replace_range","path":"a","startLine":3,"endLine":3,"oldText":"","text":"c"}`, CodeRangeInvalid, 0, []string{"2 lines"}},
		{"line 0", world{"a": "a\nb\n"}, `{"op":"replace_range","path":"a","startLine":0,"endLine":1,"oldText":"a","text":"c"}`, CodeRangeInvalid, 0, []string{"startLine"}},
		{"reversed", world{"a": "a\nb\n"}, `{"op":"replace_range","path":"a","startLine":2,"endLine":1,"oldText":"b","text":"c"}`, CodeRangeInvalid, 0, []string{"endLine"}},
		{"empty file", world{"a": ""}, `{"op":"replace_range","path":"a","startLine":1,"endLine":1,"oldText":"","text":"c"}`, CodeRangeInvalid, 0, []string{"append_text"}},
		{"trailing blank", world{"a": "alpha\nbeta \ngamma\n"}, `{"op":"replace_range","path":"a","startLine":1,"endLine":3,"oldText":"alpha\nbeta\ngamma","text":"x"}`, CodeOldTextMismatch, 0, []string{"line 2", "trailing"}},
		{"a lone CR", world{"a": "a\rb\n"}, `{"op":"replace_text","path":"a","search":"a\nb","replace":"x"}`, CodeMatchCount, 0, []string{"other line breaks", `file has LF (\n) and CR (\r), which ends no line here, search has LF (\n)`}},
		{"CRLF in LF", world{"a": "a\nb\n"}, `{"op":"replace_text","path":"a","search":"a\r\nb","replace":"x"}`, CodeMatchCount, 0, []string{`file has LF (\n), search has CRLF (\r\n)`}},
		{"LF in a mixed file", world{"a": "a\r\nb\n"}, `{"op":"replace_text","path":"a","search":"a\nb","replace":"x","fuzzy":"indent"}`, CodeMatchCount, 0, []string{`file has LF (\n) and CRLF (\r\n), search has LF (\n)`}},
		{"a lone CR in lines", world{"a": "a\rb\n"}, `{"op":"replace_range","path":"a","startLine":1,"endLine":1,"oldText":"ab","text":"x"}`, CodeOldTextMismatch, 0, []string{"a carriage return, which is a character of its line", `"a\rb"`}},
		{"indentation", world{"a": "\tx\n"}, `{"op":"replace_range","path":"a","startLine":1,"endLine":1,"oldText":"    x","text":"y"}`, CodeOldTextMismatch, 0, []string{"line 1", "indentation"}},
		{"inner space", world{"a": "a  b\n"}, `{"op":"replace_range","path":"a","startLine":1,"endLine":1,"oldText":"a b","text":"y"}`, CodeOldTextMismatch, 0, []string{"white space"}},
		{"elsewhere", world{"a": "x\ny\nz\n"}, `{"op":"replace_range","path":"a","startLine":1,"endLine":1,"oldText":"z","text":"q"}`, CodeOldTextMismatch, 0, []string{"oldText is at line 3"}},
		{"range already applied", world{"a": "x\nq\nr\n"}, `{"op":"replace_range","path":"a","startLine":2,"endLine":2,"oldText":"y","text":"q\nr"}`, CodeOldTextMismatch, 0, []string{"already applied"}},
		{"too many lines of oldText", world{"a": "x\ny\n"}, `{"op":"replace_range","path":"a","startLine":1,"endLine":1,"oldText":"x\ny","text":"q"}`, CodeOldTextMismatch, 0, []string{"it has 2 lines, the range has 1"}},
		{"too few lines of oldText", world{"a": "x\ny\n"}, `{"op":"replace_range","path":"a","startLine":1,"endLine":2,"oldText":"x","text":"q"}`, CodeOldTextMismatch, 0, []string{"before line 2: y"}},
		{"missing", nil, `{"op":"append_text","path":"a-typo.txt","text":"y\n"}`, CodeNotFound, 0, []string{"a-typo.txt"}},
		{"exists", world{"t": "keep"}, `{"op":"create_file","path":"t","text":"other"}`, CodeAlreadyExists, 0, []string{"never overwrites"}},
		{"exists with this text", world{"t": "same"}, `{"op":"create_file","path":"t","text":"same"}`, CodeAlreadyExists, 0, []string{"already applied"}},
		{"create and change", nil, `{"op":"create_file","path":"t","text":"a"},{"op":"append_text","path":"t","text":"b"}`, CodePathConflict, 1, []string{"operation 0"}},
		{"create twice", nil, `{"op":"create_file","path":"t","text":"a"},{"op":"create_file","path":"t","text":"b"}`, CodePathConflict, 1, nil},
		{"create below a new file", nil, `{"op":"create_file","path":"t","text":"a"},{"op":"create_file","path":"t/u","text":"b","parents":true}`, CodePathConflict, 1, nil},
		{"nothing changes", world{"a": "x"}, `{"op":"replace_text","path":"a","search":"x","replace":"x"}`, CodeNoChange, -1, nil},
		{"nothing changes in JSON", world{"c": service}, `{"op":"set_json","path":"c","pointer":"/name","value":"demo"}`, CodeNoChange, -1, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, errs := c.before.call(t, c.ops)
			require.Nil(t, p)
			require.Len(t, errs, 1)
			assert.Equal(t, c.code, errs.Code())
			assert.Equal(t, c.op, errs[0].Operation)
			for _, s := range c.says {
				assert.ErrorContains(t, errs, s)
			}
		})
	}
}
