package patch

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDecode(t *testing.T) {
	req, errs := Decode([]byte(`{"dryRun":true,"operations":[
		{"op":"replace_text","path":"a","search":"s","replace":""},
		{"op":"replace_text","path":"a","search":"s","replace":"r","expect":3},
		{"op":"replace_text","path":"a","search":"s","replace":"r","fuzzy":"indent","expect":1},
		{"op":"replace_range","path":"a","startLine":1,"endLine":2,"oldText":"","text":"t"},
		{"op":"replace_range","path":"a","search":"s","oldText":"o","text":""},
		{"op":"replace_range","path":"a","search":"s","offset":-2,"lines":3,"oldText":"o","text":""},
		{"op":"append_text","path":"a","text":"t"},
		{"op":"create_file","path":"n","text":""},
		{"op":"create_file","path":"n","text":"","parents":true},
		{"op":"set_json","path":"c","pointer":"","value":null},
		{"op":"insert_json","path":"c","pointer":"/a","index":0,"value":9007199254740993},
		{"op":"replace_range","path":"a","startLine":1.0,"endLine":2e1,"oldText":"o","text":"t"}]}`), Limits{})
	require.Nil(t, errs)
	require.Empty(t, req.faults)
	assert.True(t, req.DryRun)
	assert.Equal(t, []Operation{
		ReplaceText{Path: "a", Search: "s", Expect: 1},
		ReplaceText{Path: "a", Search: "s", Replace: "r", Expect: 3},
		ReplaceText{Path: "a", Search: "s", Replace: "r", Expect: 1, Fuzzy: Indent},
		ReplaceRange{Path: "a", Start: 1, End: 2, Text: "t"},
		ReplaceAnchored{Path: "a", Search: "s", Lines: 1, OldText: "o"},
		ReplaceAnchored{Path: "a", Search: "s", Offset: -2, Lines: 3, OldText: "o"},
		AppendText{Path: "a", Text: "t"},
		CreateFile{Path: "n"},
		CreateFile{Path: "n", Parents: true},
	}, req.Operations[:9])
	set := req.Operations[9].(SetJSON)
	assert.Equal(t, "null", set.Value.Literal())
	insert := req.Operations[10].(InsertJSON)
	assert.Equal(t, "9007199254740993", insert.Value.Literal())
	assert.Equal(t, ReplaceRange{Path: "a", Start: 1, End: 20, OldText: "o", Text: "t"}, req.Operations[11], "whole numbers as JSON Schema has them")
	for i, o := range req.Operations {
		assert.Equal(t, []string{"replace_text", "replace_text", "replace_text", "replace_range", "replace_range", "replace_range",
			"append_text", "create_file", "create_file", "set_json", "insert_json", "replace_range"}[i], o.Name())
	}
}

func TestDecodeRefusesCalls(t *testing.T) {
	for _, c := range []struct{ raw, code, says string }{
		{``, CodeInvalidArguments, "JSON"},
		{`{"operations":[`, CodeInvalidArguments, "JSON"},
		{`[]`, CodeInvalidArguments, "object"},
		{`"{\"operations\":[]}"`, CodeInvalidArguments, "send the object itself, not its text"},
		{`{}`, CodeInvalidArguments, "at least one"},
		{`{"operations":[]}`, CodeInvalidArguments, "at least one"},
		{`{"operations":{}}`, CodeInvalidArguments, "array"},
		{`{"operations":"[]"}`, CodeInvalidArguments, "not its text"},
		{`{"operations":[1],"dryRun":1}`, CodeInvalidArguments, "dryRun"},
		{`{"operations":[1],"dryrun":true}`, CodeInvalidArguments, `"dryrun"`},
		{`{"path":"a","op":"append_text","text":"x"}`, CodeInvalidArguments, `"path"; there are operations and dryRun; put the operation into the list`},
		{`{"operations":[1],"operations":[1]}`, CodeInvalidArguments, "twice"},
		{`{"operations":[{"op":"append_text","path":"a","text":"x","text":"y"}]}`, CodeInvalidArguments, `"text" occurs twice`},
		{`{"operations":[{"op":"set_json","path":"a","pointer":"/a","value":{"x":1,"x":2}}]}`, CodeInvalidArguments, `"x" occurs twice`},
		{`{"operations":[{"op":"replace_text","path":"a","search":"\ud83d","replace":""}]}`, CodeInvalidUnicode, "/operations/0/search"},
		{`{"operations":[{"op":"set_json","path":"a","pointer":"/a","value":{"\udc00":1}}]}`, CodeInvalidUnicode, "/operations/0/value"},
		{`{"operations":[` + strings.TrimSuffix(strings.Repeat("1,", 201), ",") + `]}`, CodeLimitExceeded, "201, the limit is 200"},
		{strings.Repeat("[", 600) + strings.Repeat("]", 600), CodeLimitExceeded, "515 levels"},
		{`{"operations":[{"op":"set_json","path":"a","pointer":"/a","value":` + strings.Repeat("[", 513) + strings.Repeat("]", 513) + `}]}`, CodeLimitExceeded, "515 levels"},
	} {
		_, errs := Decode([]byte(c.raw), Limits{})
		if assert.Len(t, errs, 1, c.raw) {
			assert.Equal(t, c.code, errs.Code(), c.raw)
			assert.Equal(t, -1, errs[0].Operation)
			assert.ErrorContains(t, errs, c.says)
		}
	}
}

func TestDecodeRefusesOperations(t *testing.T) {
	long := strings.Repeat("x", 1<<20+1)
	for _, c := range []struct{ op, code, says string }{
		{`1`, CodeInvalidArguments, "want an object"},
		{`{}`, CodeInvalidArguments, "op: there is none"},
		{`{"op":"delete_file","path":"a"}`, CodeInvalidArguments, `got "delete_file"`},
		{`{"op":7,"path":"a"}`, CodeInvalidArguments, `got 7`},
		{`{"op":"append_text","text":"x"}`, CodeInvalidArguments, "path is missing"},
		{`{"op":"append_text","path":"","text":"x"}`, CodeInvalidArguments, "path: must not be empty"},
		{`{"op":"append_text","path":"a\u0000","text":"x"}`, CodeInvalidUnicode, "path: holds a NUL"},
		{`{"op":"append_text","path":"a","text":""}`, CodeInvalidArguments, "text: must not be empty"},
		{`{"op":"append_text","path":"a","text":7}`, CodeInvalidArguments, "text: want a string"},
		{`{"op":"append_text","path":"a","text":"x\u0000"}`, CodeInvalidUnicode, "NUL"},
		{`{"op":"append_text","path":"a","text":"x","expect":1}`, CodeInvalidArguments, `unknown key "expect"; append_text takes path, text`},
		{`{"op":"replace_text","path":"a","replace":"x"}`, CodeInvalidArguments, "search is missing"},
		{`{"op":"replace_text","path":"a","search":"","replace":"x"}`, CodeInvalidArguments, "search: must not be empty"},
		{`{"op":"replace_text","path":"a","search":"x","replace":"y","expect":0}`, CodeInvalidArguments, "expect: is 0, want at least 1"},
		{`{"op":"replace_text","path":"a","search":"x","replace":"y","expect":1.5}`, CodeInvalidArguments, "whole number, got 1.5"},
		{`{"op":"replace_text","path":"a","search":"x","replace":"y","expect":"3"}`, CodeInvalidArguments, "whole number, got \"3\""},
		{`{"op":"replace_text","path":"a","search":"x","replace":"y","expect":null}`, CodeInvalidArguments, "whole number, got null"},
		{`{"op":"replace_text","path":"a","search":"x","replace":"y","expect":1e999}`, CodeInvalidArguments, "expect"},
		{`{"op":"replace_text","path":"a","search":"x","replace":"y","expect":10001}`, CodeLimitExceeded, "10001, the limit is 10000"},
		{`{"op":"replace_text","path":"a","search":"x","replace":"y","expect":99999999999999999999}`, CodeInvalidArguments, "expect"},
		{`{"op":"replace_text","path":"a","search":"x","replace":"y","fuzzy":"both"}`, CodeInvalidArguments, `"trim" or "indent"`},
		{`{"op":"replace_text","path":"a","search":"x","replace":"y","fuzzy":""}`, CodeInvalidArguments, `"trim" or "indent"`},
		{`{"op":"replace_text","path":"a","search":"x","replace":"y","fuzzy":"trim","expect":2}`, CodeInvalidArguments, "expect must be 1"},
		{`{"op":"replace_text","path":"a","search":"` + long + `","replace":"y"}`, CodeLimitExceeded, "1048577 bytes, the limit is 1048576"},
		{`{"op":"replace_range","path":"a","startLine":1,"endLine":1,"text":"y"}`, CodeInvalidArguments, "oldText is missing"},
		{`{"op":"replace_range","path":"a","oldText":"x","text":"y"}`, CodeInvalidArguments, "the place is missing"},
		{`{"op":"replace_range","path":"a","startLine":1,"oldText":"x","text":"y"}`, CodeInvalidArguments, "go together"},
		{`{"op":"replace_range","path":"a","endLine":1,"oldText":"x","text":"y"}`, CodeInvalidArguments, "go together"},
		{`{"op":"replace_range","path":"a","offset":1,"oldText":"x","text":"y"}`, CodeInvalidArguments, "search, which is missing"},
		{`{"op":"replace_range","path":"a","startLine":1,"endLine":1,"search":"x","oldText":"x","text":"y"}`, CodeInvalidArguments, "not both"},
		{`{"op":"replace_range","path":"a","startLine":1,"endLine":1,"lines":1,"oldText":"x","text":"y"}`, CodeInvalidArguments, "not both"},
		{`{"op":"replace_range","path":"a","search":"x","lines":0,"oldText":"x","text":"y"}`, CodeInvalidArguments, "lines: is 0"},
		{`{"op":"replace_range","path":"a","search":"x","offset":-9999999999,"oldText":"x","text":"y"}`, CodeInvalidArguments, "offset"},
		{`{"op":"replace_range","path":"a","startLine":1,"endLine":1,"oldText":"` + long + `","text":"y"}`, CodeLimitExceeded, "oldText"},
		{`{"op":"insert_json","path":"a","pointer":"/h","index":-1,"value":3}`, CodeInvalidArguments, "index: is -1"},
		{`{"op":"insert_json","path":"a","pointer":"/h","value":3}`, CodeInvalidArguments, "index is missing"},
		{`{"op":"set_json","path":"a","pointer":7,"value":3}`, CodeInvalidArguments, "pointer: want a string"},
		{`{"op":"set_json","path":"a","pointer":"/a"}`, CodeInvalidArguments, "value is missing"},
		{`{"op":"create_file","path":"a","text":"x","parents":"yes"}`, CodeInvalidArguments, "parents"},
	} {
		_, errs := world{}.call(t, c.op)
		name := fmt.Sprintf("%.90s", c.op)
		if assert.Len(t, errs, 1, name) {
			assert.Equal(t, c.code, errs.Code(), name)
			assert.Equal(t, 0, errs[0].Operation, name)
			assert.ErrorContains(t, errs, c.says, name)
		}
	}
}
