package cases

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCases runs the whole bank.
func TestCases(t *testing.T) {
	list, err := Load("testdata")
	require.NoError(t, err)
	r, err := NewRunner(nil)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, r.Close()) })
	// Other tests and compilers run beside this one. What grows with the square
	// of a length takes hundreds of times as long.
	r.Slack = 10
	if testing.Short() {
		r.Repeat = 3
	}
	for _, c := range list {
		t.Run(c.Area+"/"+c.ID, func(t *testing.T) {
			skip, err := r.Run(t.Context(), c)
			if skip != "" {
				t.Skip("not in this build or on this machine: " + skip)
			}
			require.NoError(t, err, c.Title)
		})
	}
}

// TestRunnerFails holds that the runner sees what is wrong: each case is
// right but for one thing.
func TestRunnerFails(t *testing.T) {
	const file = `"files":{"a.txt":{"text":"one\ntwo\n"},"b.txt":{"text":"b\n"}}`
	const edit = `"call":{"tool":"edit","args":{"path":"a.txt","old_string":"two","new_string":"2"}}`
	for _, test := range []struct{ name, body, want string }{
		{"text", edit + `,"expect":{"files":{"a.txt":{"text":"one\n2"}}}`, `must be "one\n2"`},
		{"untouched file", edit + `,"expect":{"files":{"b.txt":{"text":"b\n"}}}`, "a.txt: must be untouched"},
		{"absent file", edit + `,"expect":{"files":{"a.txt":{"absent":true}}}`, "must be absent"},
		{"mode", edit + `,"expect":{"files":{"a.txt":{"text":"one\n2\n","mode":"0755"}}}`, "must have mode 0755"},
		{"success", edit + `,"expect":{"error":{"kind":"no_match"}}`, "must fail (no_match), but succeeded"},
		{"kind", `"call":{"tool":"edit","args":{"path":"a.txt","old_string":"x","new_string":"2"}},"expect":{"error":{"kind":"stale"}}`, "must fail with kind stale"},
		{"word", `"call":{"tool":"edit","args":{"path":"a.txt","old_string":"x","new_string":"2"}},"expect":{"error":{"kind":"no_match","must_say":["elephant"]}}`, `must say "elephant"`},
		{"unknown kind", `"call":{"tool":"edit","args":{"path":"a.txt","old_string":"x","new_string":"2"}},"expect":{"error":{"kind":"odd"}}`, `kind of error "odd" is not known`},
		{"result", edit + `,"expect":{"result_says":["elephant"]}`, `the result must say "elephant"`},
		{"not said", edit + `,"expect":{"result_not_says":["EDITED"]}`, "must not say"},
		{"diff", edit + `,"expect":{"diffs":[{"path":"a.txt","oldText":"one\ntwo","newText":"one\n3"}]}`, "diff block 1: must be"},
		{"diff path", edit + `,"expect":{"diffs":[{"path":"b.txt","oldText":"one\ntwo","newText":"one\n2"}]}`, "must be of b.txt"},
		{"number of diffs", edit + `,"expect":{"diffs":[]}`, "must have 0 diff blocks, has 1"},
		{"status", edit + `,"expect":{"acp":{"last_update":{"status":"failed"}}}`, "status must be failed"},
		{"content", edit + `,"expect":{"acp":{"last_update":{"content_types":["content"]}}}`, "content must be"},
		{"hunk", `"call":{"tool":"diff.hunks","args":{"before":"a\n","after":"b\n"}},"expect":{"hunks":[{"oldStart":2}]}`, "hunk 1: .oldStart must be 2"},
		{"any_of", edit + `,"expect":{"any_of":[{"result_says":["elephant"]},{"error":{"kind":"io"}}]}`, "none of any_of holds"},
		{"then", edit + `,"expect":{"any_of":[{"files":{"a.txt":{"text":"one\n2\n"}},"then":[{"do":"call","tool":"read","args":{"path":"a.txt"},"expect":{"read":{"total_lines":9}}}]}]}`, "must have 9 lines"},
		{"step", `"steps":[{"do":"dance"}],"expect":{}`, `knows no step "dance"`},
		{"wire member", edit + `,"expect":{"exit_code":0}`, "only calls tools"},
		{"shell", edit + `,"expect":{"check_shell":"grep -q three a.txt"}`, "exit status 1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := parse(json.RawMessage(`{"id":"x","area":"edit","title":"t",` + file + "," + test.body + "}"))
			r, err := NewRunner(nil)
			require.NoError(t, err)
			defer r.Close()
			skip, err := r.Run(t.Context(), c)
			require.Empty(t, skip)
			require.ErrorContains(t, err, test.want)
		})
	}
}

func TestLeftoversAreSeen(t *testing.T) {
	c := parse(json.RawMessage(`{"id":"x","area":"edit","files":{},
		"steps":[{"do":"external","shell":"touch ../work/.tmp-1"}],"expect":{"files":{}}}`))
	r, err := NewRunner(nil)
	require.NoError(t, err)
	defer r.Close()
	_, err = r.Run(t.Context(), c)
	require.ErrorContains(t, err, ".tmp-1: must not be there")
}

func TestMatch(t *testing.T) {
	for _, test := range []struct {
		pattern, value string
		want           string // of the error; "" for a match
	}{
		{`{}`, `{"a":1}`, ""},
		{`{"a":"*"}`, `{"a":null}`, ""},
		{`{"a":"*"}`, `{"b":1}`, ".a is missing"},
		{`{"a":null}`, `{"a":null}`, ""},
		{`{"a":null}`, `{}`, ".a is missing"},
		{`{"a":{"b":[1,{"c":"x"}]}}`, `{"a":{"b":[1,{"c":"x","d":2}],"e":3}}`, ""},
		{`{"a":[1]}`, `{"a":[1,2]}`, "must be a list of 1"},
		{`{"id":9007199254740993}`, `{"id":9007199254740992}`, ".id must be"},
		{`["a.txt"]`, `[{"path":"a.txt","hash":"1"}]`, ""},
		{`{"a":"x"}`, `{"a":"y"}`, ".a must be x"},
		{`{"a":{}}`, `{"a":"y"}`, ".a must be an object"},
	} {
		err := match(json.RawMessage(test.pattern), json.RawMessage(test.value))
		if test.want == "" {
			assert.NoError(t, err, test.pattern)
		} else {
			assert.ErrorContains(t, err, test.want, test.pattern)
		}
	}
}

func TestRenameMembers(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{`{"path":"a","x":{"path":1}}`, `{"file_path":"a","x":{"path":1}}`},
		{`{"old":"path","path":"path"}`, `{"old":"path","file_path":"path"}`},
		{`{ "path" : "a\"path", "path":"\ud800"}`, `{ "file_path" : "a\"path", "file_path":"\ud800"}`},
		{`["path"]`, `["path"]`},
		{`{"path":"a`, `{"file_path":"a`},
		{`{"a":["path",{"path":2}],"path":3}`, `{"a":["path",{"path":2}],"file_path":3}`},
	} {
		assert.Equal(t, test.want, renameMembers(test.in, pathNames), test.in)
	}
}

func TestSubstitute(t *testing.T) {
	w := &world{vars: map[string]json.RawMessage{"P": json.RawMessage(`7`), "S": json.RawMessage(`"id-1"`)}}
	for _, test := range []struct{ in, want string }{
		{`{"id":"${P}","s":"${S}"}`, `{"id":7,"s":"id-1"}`},
		{`["../${S}/x ${P}"]`, `["../id-1/x 7"]`},
		{`"n=${1}x ${none}"`, `"n=${1}x ${none}"`},
	} {
		got, err := w.substitute(json.RawMessage(test.in))
		require.NoError(t, err)
		assert.Equal(t, test.want, string(got))
	}
}

func TestVariantsOfMaybe(t *testing.T) {
	c := parse(json.RawMessage(`{"id":"x","steps":[{"do":"sleep"},{"do":"maybe","p":0.5,"steps":[{"do":"touch"}]},{"do":"call"}]}`))
	require.NoError(t, c.fault)
	var got []string
	for _, v := range variants(c) {
		var words []string
		for _, s := range v.Steps {
			words = append(words, s.Do)
		}
		got = append(got, strings.Join(words, " "))
	}
	assert.Equal(t, []string{"sleep touch call", "sleep call"}, got)
}

func TestFaultyCasesFailAlone(t *testing.T) {
	r, err := NewRunner(nil)
	require.NoError(t, err)
	defer r.Close()
	for _, test := range []struct{ name, text, want string }{
		{"unknown member", `{"id":"x","call":{"tool":"read"},"expects":{}}`, `unknown field "expects"`},
		{"of another type", `{"id":"x","call":"read"}`, "cannot unmarshal"},
		{"nothing to do", `{"id":"x"}`, "either call or steps"},
		{"both to do", `{"id":"x","call":{"tool":"read"},"steps":[{"do":"sleep"}]}`, "either call or steps"},
	} {
		_, err := r.Run(t.Context(), parse(json.RawMessage(test.text)))
		require.ErrorContains(t, err, test.want, test.name)
	}
}

func TestLoadRefuses(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"no id", `[{"call":{"tool":"read"}}]`, "has no id"},
		{"the same id", `[{"id":"x","call":{"tool":"read"}},{"id":"x","call":{"tool":"read"}}]`, "is taken"},
		{"no list", `{"id":"x"}`, "cannot unmarshal"},
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "a.json"), []byte(test.text), 0o644))
		_, err := Load(dir)
		require.ErrorContains(t, err, test.want, test.name)
	}
	_, err := Load(t.TempDir())
	require.ErrorContains(t, err, "no *.json file")
}

func TestRunCounts(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "edit.json"), []byte(`[
		{"id":"x1","title":"fine","files":{"a":{"text":"1"}},"call":{"tool":"read","args":{"path":"a"}},"expect":{"read":{"lines":[[1,"1"]],"total_lines":1}}},
		{"id":"x2","title":"broken","files":{},"call":{"tool":"read","args":{"path":"a"}},"expect":{"read":{"total_lines":1}}},
		{"id":"x3","title":"later","files":{},"call":{"tool":"some_day","args":{}},"expect":{}}]`), 0o644))
	var out strings.Builder
	report, err := Run(t.Context(), Options{Dir: dir, Out: &out})
	require.NoError(t, err)
	assert.Equal(t, Report{Passed: 1, Failed: 1, Skipped: 1}, report)
	assert.Contains(t, out.String(), "FAIL: x2 broken\n")
	assert.Contains(t, out.String(), "skip: x3: some_day\n")
	assert.True(t, strings.HasSuffix(out.String(), "1 passed, 1 failed, 1 skipped\n"))
}
