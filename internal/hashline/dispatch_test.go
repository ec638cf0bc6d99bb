package hashline

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		name, args string
		engine     Engine
		want       Call
	}{
		{"flat", `{"path":"a","file_hash":"B6C1","ops":"delete 2","dry_run":true}`, Auto,
			ReplaceCall{[]Target{{"a", "B6C1", Script{"delete 2", 0}}}, true}},
		{"flat, forced", `{"path":"a","file_hash":"B6C1","ops":"delete 2"}`, ReplaceEngine,
			ReplaceCall{[]Target{{"a", "B6C1", Script{"delete 2", 0}}}, false}},
		{"null is absent", `{"path":"a","file_hash":null,"ops":"delete 2","targets":null}`, Auto,
			ReplaceCall{[]Target{{"a", "", Script{"delete 2", 0}}}, false}},
		{"targets", `{"targets":[{"path":"a","file_hash":"B6C1","ops":"x"},{"path":"b","file_hash":"1234","ops":"y"}]}`, Auto,
			ReplaceCall{[]Target{{"a", "B6C1", Script{"x", 0}}, {"b", "1234", Script{"y", 0}}}, false}},
		{"a shell variable in a row", `{"targets":[{"path":"a","file_hash":"B6C1","ops":"replace 1:\n+echo $HOME"}]}`, Auto,
			ReplaceCall{[]Target{{"a", "B6C1", Script{"replace 1:\n+echo $HOME", 0}}}, false}},
		{"a pattern to the forced engine", `{"path":"a","file_hash":"B6C1","ops":"replace 1:\n$HOME"}`, ReplaceEngine,
			ReplaceCall{[]Target{{"a", "B6C1", Script{"replace 1:\n$HOME", 0}}}, false}},
		{"a pasted patch", `{"ops":"*** Begin Patch\n¶a#B6C1\ndelete 2\n¶b c#1234\ndelete 3\n"}`, Auto,
			ReplaceCall{[]Target{{"a", "B6C1", Script{"delete 2\n", 3}}, {"b c", "1234", Script{"delete 3\n", 5}}}, false}},
		{"content", `{"path":"a","old_string":"x","new_string":"","replace_all":true}`, Auto,
			ContentCall{[]ContentEdit{{"a", "", Substitution{"x", "", true}}}, false}},
		{"edits", `{"edits":[{"path":"a","file_hash":"B6C1","old_string":"x","new_string":"y"}],"dry_run":true}`, Auto,
			ContentCall{[]ContentEdit{{"a", "B6C1", Substitution{"x", "y", false}}}, true}},
		{"ast", `{"ast":{"ops":[{"pat":"f($A)","out":"g($A)"}],"paths":["src"],"max_files":3,"force":true}}`, Auto,
			ASTCall{[]ASTOp{{"f($A)", "g($A)"}}, []string{"src"}, 3, true, false}},
		{"flat ast", `{"path":"a.go","ops":[{"pat":"f($A)","out":"g($A)"}],"dry_run":true}`, ASTEngine,
			ASTCall{[]ASTOp{{"f($A)", "g($A)"}}, []string{"a.go"}, 0, false, true}},
		{"ast with dry_run inside", `{"ast":{"ops":[{"pat":"f($A)","out":"g($A)"}],"paths":["a.go"],"dry_run":true}}`, Auto,
			ASTCall{[]ASTOp{{"f($A)", "g($A)"}}, []string{"a.go"}, 0, false, true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Decode(json.RawMessage(c.args), c.engine)
			require.NoError(t, err)
			assert.Equal(t, c.want, got)
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	ast := []Shape{ShapeAST}
	astMany := []Shape{ShapeASTMany}
	targets := []Shape{ShapeTargets}
	all := []Shape{ShapeReplace, ShapeContent, ShapeAST}
	for _, c := range []struct {
		name, args string
		engine     Engine
		says       string
		expected   []Shape
	}{
		{"nothing", `{}`, Auto, "no edit", all},
		{"a key twice", `{"path":"a","file_hash":"B6C1","ops":"delete 2","path":"b"}`, Auto, `"path" is given twice`, all},
		{"a key twice below", `{"targets":[{"path":"path","file_hash":"B6C1","ops":"x"},{"ops":"x","path":"b","ops":"y"}]}`, Auto, `"ops" is given twice`, all},
		{"half a character", `{"path":"a","old_string":"\ud83d","new_string":""}`, Auto, `\ud83d, one half`, all},
		{"not UTF-8", "{\"path\":\"a\",\"old_string\":\"\xff\",\"new_string\":\"\"}", Auto, "not UTF-8", all},
		{"not an object", `[1]`, Auto, "not a JSON object", all},
		{"null", `null`, Auto, "not a JSON object", all},
		{"no targets", `{"targets":[]}`, Auto, "empty", all},
		{"two engines", `{"targets":[{}],"ast":{}}`, Auto, "one of targets and ast", all},
		{"batch and flat", `{"edits":[{}],"ops":"x"}`, Auto, "either edits or ops", all},
		{"ops and old_string", `{"path":"a","ops":"x","old_string":"y"}`, Auto, "either ops or old_string", all},
		{"a pattern in targets", `{"targets":[{"path":"a","file_hash":"B6C1","ops":"foo($A)"}]}`, Auto, "$A in ops is a syntax pattern", astMany},
		{"a list pattern in flat ops", `{"path":"a","file_hash":"B6C1","ops":"foo($$$A)"}`, Auto, "$$$A", ast},
		{"pat in targets", `{"targets":[{"path":"a","pat":"x"}]}`, Auto, "belong to ast", astMany},
		{"old_string in targets", `{"targets":[{"path":"a","old_string":"x"}]}`, Auto, "belong into edits", []Shape{ShapeEdits}},
		{"a list in targets", `{"targets":[{"path":"a","ops":[]}]}`, Auto, "belongs to ast", []Shape{ShapeASTMany, ShapeTargets}},
		{"targets in ast", `{"ast":{"targets":[]}}`, Auto, "do not go with ast", targets},
		{"file_hash in ast", `{"ast":{"file_hash":"B6C1"}}`, Auto, "do not go with ast", targets},
		{"file_hash in ast.ops", `{"ast":{"ops":[{"file_hash":"B6C1","ops":"x"}]}}`, Auto, "belong into targets", targets},
		{"ops in edits", `{"edits":[{"path":"a","ops":"x"}]}`, Auto, "belong into targets", targets},
		{"pat alone", `{"pat":"x","out":"y"}`, Auto, "list named ops", ast},
		{"no old_string", `{"path":"a","new_string":"y"}`, Auto, "old_string is missing", []Shape{ShapeContent}},
		{"no new_string", `{"path":"a","old_string":"y"}`, Auto, "new_string is missing", []Shape{ShapeContent}},
		{"no path", `{"ops":"delete 2","file_hash":"B6C1"}`, Auto, "path is missing", []Shape{ShapeReplace}},
		{"unknown key", `{"path":"a","ops":"delete 2","file_hsh":"B6C1"}`, Auto, `"file_hsh" is not known`, []Shape{ShapeReplace}},
		{"number for a text", `{"path":1,"ops":"delete 2"}`, Auto, "are texts", []Shape{ShapeReplace}},
		{"dry_run as a text", `{"path":"a","ops":"delete 2","dry_run":"yes"}`, Auto, "neither true nor false", []Shape{ShapeReplace}},
		{"another file in a section", `{"path":"a","ops":"¶b#B6C1\ndelete 2"}`, Auto, "a target of its own", targets},
		{"another tag in a section", `{"path":"a","file_hash":"1234","ops":"¶a#B6C1\ndelete 2"}`, Auto, "give one of them", []Shape{ShapeReplace}},
		{"no pattern list", `{"ast":{"ops":[],"paths":["a"]}}`, Auto, "empty", astMany},
		{"no path for a pattern", `{"ops":[{"pat":"x","out":"y"}]}`, Auto, "no path", ast},
		{"forced replace, list", `{"path":"a","ops":[]}`, ReplaceEngine, "wanted", []Shape{ShapeReplace}},
		{"forced replace, content", `{"path":"a","old_string":"x","new_string":"y"}`, ReplaceEngine, "wanted", []Shape{ShapeReplace}},
		{"forced ast, text", `{"path":"a","ops":"delete 2"}`, ASTEngine, "wanted", ast},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Decode(json.RawMessage(c.args), c.engine)
			assert.Nil(t, got)
			e := refusal(t, err)
			assert.Equal(t, CodeArgs, e.Code)
			assert.Contains(t, err.Error(), c.says)
			assert.Equal(t, c.expected, e.Details.Expected)
			for _, s := range c.expected {
				assert.True(t, json.Valid([]byte(s)))
				assert.Contains(t, err.Error(), string(s))
			}
		})
	}
}

// With a forced engine no argument whatever makes an error speak of the other.
func TestForcedEngineIsSilentOnTheOther(t *testing.T) {
	for _, args := range []string{`{}`, `null`, `{"targets":[]}`, `{"targets":[{}]}`, `{"targets":[{"path":"a","pat":"x"}]}`, `{"ast":{}}`, `{"edits":[]}`,
		`{"path":"a","ops":[]}`, `{"path":"a","ops":[{}]}`, `{"path":"a","ops":"x","zzz":1}`, `{"targets":[{"path":"a","file_hash":"x","ops":"foo($A)"}],"zzz":1}`} {
		if _, err := Decode(json.RawMessage(args), ReplaceEngine); assert.Error(t, err, args) {
			assert.NotRegexp(t, `\bout\b|\$A|AST|\bast\b|syntax`, err.Error(), args)
		}
		if _, err := Decode(json.RawMessage(args), ASTEngine); assert.Error(t, err, args) {
			assert.NotRegexp(t, `B6C1|targets|¶|replace 2`, err.Error(), args)
		}
	}
}

func TestBatchError(t *testing.T) {
	cause := refuse(CodeStale, "line 1 changed")
	cause.Path = "b.txt"
	err := &BatchError{FailedPath: "b.txt", Cause: cause, Applied: []Applied{{"a.txt", "F1C1", "¶a.txt#F1C1"}}, Skipped: []string{"c.txt"}}
	assert.Equal(t, `b.txt failed: edit rejected, nothing written for this target: b.txt: line 1 changed

written before it, and kept:
¶a.txt#F1C1

skipped because b.txt failed, not tried: c.txt`, err.Error())
	var e *Error
	require.True(t, errors.As(err, &e))
	assert.Equal(t, "b.txt failed: edit rejected, nothing written: b.txt: line 1 changed", (&BatchError{FailedPath: "b.txt", Cause: cause}).Error())
}
