package patch

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/text"
)

func TestFileStates(t *testing.T) {
	edit, create, parents := `{"op":"append_text","path":"f","text":"x"}`, `{"op":"create_file","path":"f","text":"x"}`,
		`{"op":"create_file","path":"f","text":"x","parents":true}`
	denied := NewError(CodePathDenied, "outside of the root")
	binary := NewError(CodeUnsupportedEncoding, "a NUL byte at offset 3")
	for _, c := range []struct {
		name, op string
		file     File
		code     string
		says     string
	}{
		{"edit denied", edit, File{State: Regular, Fault: denied}, CodePathDenied, "outside of the root"},
		{"create denied", create, File{State: Regular, Fault: denied}, CodePathDenied, "outside of the root"},
		{"edit binary", edit, File{State: Regular, Fault: binary}, CodeUnsupportedEncoding, "NUL"},
		{"create over binary", create, File{State: Regular, Fault: binary}, CodeAlreadyExists, "exists"},
		{"edit a directory", edit, File{State: Other}, CodeNotRegular, "regular"},
		{"create over a directory", create, File{State: Other}, CodeAlreadyExists, "exists"},
		{"edit nothing", edit, File{}, CodeNotFound, "create_file"},
		{"a parent is a file", parents, File{Fault: NewError(CodeNotDirectory, "a is a file")}, CodeNotDirectory, "a is a file"},
		{"a parent is missing", create, File{NoParents: []string{"src/", "src/x/"}}, CodeParentMissing, "src/x/"},
		{"too large", edit, File{State: Regular, Doc: mustParse(t, strings.Repeat("x", 8<<20+1))}, CodeLimitExceeded, "8388609 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.file.Path = "f"
			req, errs := Decode([]byte(`{"operations":[`+c.op+`]}`), Limits{})
			require.Nil(t, errs)
			_, errs = Make(req, map[string]*File{"f": &c.file}, Options{})
			require.Len(t, errs, 1)
			assert.Equal(t, c.code, errs.Code())
			assert.ErrorContains(t, errs, c.says)
			assert.ErrorContains(t, errs, "operation 0, ")
		})
	}
}

func mustParse(t testing.TB, s string) text.Doc {
	t.Helper()
	d, err := text.ParseString(s)
	require.NoError(t, err)
	return d
}

func TestDirectoriesAreReportedOnce(t *testing.T) {
	req, errs := Decode([]byte(`{"operations":[
		{"op":"create_file","path":"src/feature/x.ts","text":"export {}\n","parents":true},
		{"op":"create_file","path":"src/y.ts","text":"","parents":true}]}`), Limits{})
	require.Nil(t, errs)
	p, errs := Make(req, map[string]*File{
		"src/feature/x.ts": {Path: "src/feature/x.ts", NoParents: []string{"src/", "src/feature/"}},
		"src/y.ts":         {Path: "src/y.ts", NoParents: []string{"src/"}},
	}, Options{})
	require.Nil(t, errs)
	assert.Equal(t, []string{"src/", "src/feature/"}, p.Dirs)
	assert.Equal(t, `Success: 2 file(s), 2 span(s), +1 -0 lines
A src/feature/x.ts
  (created directory src/)
  (created directory src/feature/)
A src/y.ts
`, p.Report().Text())
}

func TestTwoSpellingsAreOneFile(t *testing.T) {
	f := &File{Path: "d/a.txt", State: Regular, Doc: mustParse(t, "one\ntwo\n")}
	req, errs := Decode([]byte(`{"operations":[
		{"op":"replace_text","path":"d/a.txt","search":"one","replace":"1"},
		{"op":"replace_text","path":"./d/../d/a.txt","search":"two","replace":"2"}]}`), Limits{})
	require.Nil(t, errs)
	p, errs := Make(req, map[string]*File{"d/a.txt": f, "./d/../d/a.txt": f}, Options{})
	require.Nil(t, errs)
	require.Len(t, p.Files, 1)
	assert.Equal(t, "1\n2\n", p.Files[0].After.Raw())
	assert.Equal(t, []int{0, 1}, p.Files[0].Operations)
}

func TestErrorsOfManyOperations(t *testing.T) {
	var ops []string
	for i := range 14 {
		ops = append(ops, fmt.Sprintf(`{"op":"replace_text","path":"a%d","search":"x","replace":"y"}`, i))
	}
	ops[1] = `{"op":"nonsense"}`
	ops[2] = `{"op":"append_text","path":"there","text":"x"}`
	w := world{"there": ""}
	for i := range 5 {
		w[fmt.Sprintf("a%d", i)] = "nothing"
	}
	_, errs := w.call(t, strings.Join(ops, ","))
	require.Len(t, errs, MaxErrors)
	var at []int
	for _, e := range errs {
		at = append(at, e.Operation)
	}
	assert.Equal(t, []int{0, 1, 3, 4, 5, 6, 7, 8, 9, 10}, at)
	assert.Equal(t, CodeMatchCount, errs.Code())
	r := errs.Report(nil)
	assert.Len(t, r.Details.Errors, MaxErrors)
	assert.Equal(t, CodeInvalidArguments, r.Details.Errors[1].Code)
	assert.Contains(t, r.Message, "Nothing was written.")
	assert.Contains(t, r.Message, "\n- NOT_FOUND: operation 10, replace_text a10: ")
}

func TestLimits(t *testing.T) {
	two := `{"op":"create_file","path":"a","text":"xx"},{"op":"create_file","path":"b","text":"yy"}`
	for _, c := range []struct {
		limits Limits
		ops    string
		says   string
	}{
		{Limits{Files: 1}, two, "name 2 files, the limit is 1"},
		{Limits{NewBytes: 3}, two, "bring 4 new bytes, the limit is 3"},
		{Limits{Tokens: 1}, `{"op":"set_json","path":"c","pointer":"/a/b","value":1}`, "2 tokens, the limit is 1"},
		{Limits{Depth: 1}, `{"op":"set_json","path":"c","pointer":"/a","value":1}`, "limit of 1 levels"},
		{Limits{FileSize: 3}, `{"op":"append_text","path":"c","text":"x"}`, "the limit is 3"},
	} {
		req, errs := Decode([]byte(`{"operations":[`+c.ops+`]}`), c.limits)
		require.Nil(t, errs)
		_, errs = Make(req, world{"c": `{"a": {}}`}.files(t, req), Options{Limits: c.limits})
		if assert.Len(t, errs, 1) {
			assert.Equal(t, CodeLimitExceeded, errs.Code())
			assert.ErrorContains(t, errs, c.says)
		}
	}
	req, errs := Decode([]byte(`{"operations":[{"op":"replace_text","path":"a","search":"x","replace":"y"}]}`), Limits{})
	require.Nil(t, errs)
	_, errs = Make(req, world{"a": strings.Repeat("x\n", 30)}.files(t, req), Options{})
	assert.Len(t, errs[0].Details.Candidates, 20)
	assert.ErrorContains(t, errs, "and 10 more")
	_, errs = Make(req, world{"a": "xxx\nx\n"}.files(t, req), Options{})
	assert.Equal(t, []Candidate{{1, "xxx"}, {2, "x"}}, errs[0].Details.Candidates)
	assert.NotContains(t, errs.Error(), " more\n")
}

func TestAdjacentJSON(t *testing.T) {
	for _, c := range []struct {
		ops  string
		code string
	}{
		{`{"op":"set_json","path":"c","pointer":"/name","value":"x"},{"op":"set_json","path":"c","pointer":"/enabled","value":true}`, ""},
		{`{"op":"insert_json","path":"c","pointer":"/hosts","index":1,"value":"x"},{"op":"set_json","path":"c","pointer":"/hosts/1","value":"y"}`, ""},
		{`{"op":"set_json","path":"c","pointer":"/hosts","value":["alpha","z"]},{"op":"set_json","path":"c","pointer":"/hosts/0","value":"y"}`, CodeOverlap},
		{`{"op":"set_json","path":"c","pointer":"/b","value":1},{"op":"set_json","path":"c","pointer":"/c","value":2}`, CodeOverlap},
	} {
		req, errs := Decode([]byte(`{"operations":[`+c.ops+`]}`), Limits{})
		require.Nil(t, errs)
		_, errs = Make(req, world{"c": service}.files(t, req), Options{AdjacentJSON: true})
		if c.code == "" {
			assert.Nil(t, errs, c.ops)
		} else if assert.NotNil(t, errs, c.ops) {
			assert.Equal(t, c.code, errs.Code())
		}
	}
}

func TestDetails(t *testing.T) {
	w := world{"a": "x\ny\n", "c": service}
	detail := func(ops string) string {
		_, errs := w.call(t, ops)
		require.NotNil(t, errs)
		raw, err := json.Marshal(errs.Report(nil).Details)
		require.NoError(t, err)
		return string(raw)
	}
	assert.JSONEq(t, `{"operation":0,"path":"a","expected":1,"actual":2,"candidates":[{"line":1,"text":"x"},{"line":2,"text":"y"}]}`,
		detail(`{"op":"replace_text","path":"a","search":"\n","replace":""}`))
	w["a"] = numbered(60)
	assert.JSONEq(t, `{"operation":1,"path":"a","operations":[0,1],"lines":[2,2]}`,
		detail(`{"op":"replace_text","path":"a","search":"l2\n","replace":""},{"op":"replace_range","path":"a","startLine":2,"endLine":2,"oldText":"l2","text":"x"}`))
	assert.JSONEq(t, `{"operation":0,"path":"c","prefix":""}`, detail(`{"op":"set_json","path":"c","pointer":"/limits/cpu","value":1}`))
	w["c"] = "{\n  1}"
	assert.JSONEq(t, `{"operation":0,"path":"c","line":2,"column":3}`, detail(`{"op":"set_json","path":"c","pointer":"/a","value":1}`))
	_, errs := w.call(t, `{"op":"replace_range","path":"a","startLine":1,"endLine":60,"oldText":"l9","text":"x"}`)
	assert.Equal(t, 41, strings.Count(*errs[0].Details.ActualText, "\n")+1)
	assert.Equal(t, 9, errs[0].Details.FoundAt)
}

func TestReports(t *testing.T) {
	p, errs := world{"a": "  x\n"}.call(t, `{"op":"replace_text","path":"a","search":"x\n","replace":"y\n"}`)
	require.Nil(t, errs)
	assert.JSONEq(t, `{"ok":true,"dryRun":false,"createdDirs":[],"files":[
		{"path":"a","status":"M","spans":1,"added":1,"removed":1,"version":"","notes":[],"fuzzy":[]}]}`, string(JSON(p.Report())))
	p, errs = world{"a": " x \n"}.call(t, `{"op":"replace_text","path":"a","search":" x\n","replace":"y\n","fuzzy":"trim"}`)
	require.Nil(t, errs)
	p.DryRun = true
	r := p.Report()
	assert.Equal(t, []FuzzyHit{{Operation: 0, Mode: Trim, Line: 1}}, r.Files[0].Fuzzy)
	assert.Equal(t, "Preview: 1 file(s), 1 span(s), +1 -1 lines\nM a\n  (fuzzy=trim matched line 1; verify this is the intended site)\n(dry run: nothing was written)\n", r.Text())

	failed := Errors{{Code: CodeWriteFailed, Operation: -1, Path: "b", Why: "no space left on device"}}
	report := failed.Report(&Recovery{Restored: []string{"a"}})
	assert.JSONEq(t, `{"ok":false,"code":"WRITE_FAILED","message":"WRITE_FAILED: b: no space left on device\nPut back as before: a\nEverything is as it was before the call.",
		"details":{"path":"b","recovery":{"restored":["a"],"remaining":[],"uncertain":[],"createdDirs":[]}}}`, string(JSON(report)))
	assert.Equal(t, "WRITE_FAILED: b: no space left on device\nStill in the new state: d/n (created)\nState not known, read again: c\nDirectories that this call made and that are still there: d/",
		failed.Text(&Recovery{Remaining: []Remaining{{"d/n", ReasonCreated}}, Uncertain: []string{"c"}, CreatedDirs: []string{"d/"}}))
}

func TestSnippets(t *testing.T) {
	old := func(s string) *string { return &s }
	req, errs := Decode([]byte(`{"operations":[
		{"op":"replace_text","path":"a","search":"s","replace":"r"},
		{"op":"replace_range","path":"a","startLine":1,"endLine":2,"oldText":"o","text":"t"},
		{"op":"replace_range","path":"a","search":"s","oldText":"o","text":"t"},
		{"op":"append_text","path":"a","text":"t"},
		{"op":"create_file","path":"a","text":"t"},
		{"op":"set_json","path":"a","pointer":"","value":{"x": 1.0}},
		{"op":"insert_json","path":"a","pointer":"/a","index":0,"value":"é"}]}`), Limits{})
	require.Nil(t, errs)
	want := []Snippet{
		{"a", old("s"), "r"}, {"a", old("o"), "t"}, {"a", old("o"), "t"}, {"a", nil, "t"}, {"a", nil, "t"},
		{"a", nil, "{\n  \"x\": 1.0\n}"}, {"a", nil, `"é"`},
	}
	for i, o := range req.Operations {
		assert.Equal(t, want[i], SnippetOf(o))
	}
}
