package tools

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"

	"dsh-acp/internal/msg"
	"dsh-acp/presenter"
)

func TestCallCardsWhileInputStreams(t *testing.T) {
	for _, c := range []struct {
		tool, args  string
		done        bool
		title, path string
		line, diffs int
	}{
		{"Edit", `{}`, false, "Edit", "", 0, 0},
		{"Edit", `{"file_path":"a.txt"}`, false, "Edit a.txt", "a.txt", 0, 0},
		{"Edit", `{"file_path":"a.txt","old_string":"x","new_string":"y"}`, false, "Edit a.txt", "a.txt", 0, 0},
		{"Edit", `{"file_path":"a.txt","old_string":"x","new_string":"y"}`, true, "Edit a.txt", "a.txt", 0, 1},
		{"Edit", `{"file_path":"a.txt","old_string":"","new_string":""}`, true, "Edit a.txt", "a.txt", 0, 0},
		{"Write", `{}`, false, "Preparing file…", "", 0, 0},
		{"Write", `{"content":"x"}`, true, "Preparing file…", "", 0, 0},
		{"Write", `{"file_path":"a.txt"}`, true, "Write a.txt", "a.txt", 0, 0},
		{"Write", `{"file_path":"a.txt","content":""}`, true, "Write a.txt", "a.txt", 0, 1},
		{"Read", `{}`, false, "Read File", "", 0, 0},
		{"Read", `{"file_path":"a.txt"}`, true, "Read a.txt", "a.txt", 1, 0},
		{"Read", `{"file_path":"a.txt","offset":10,"limit":5}`, true, "Read a.txt (10 - 14)", "a.txt", 10, 0},
		{"Read", `{"file_path":"a.txt","offset":38}`, true, "Read a.txt (from line 38)", "a.txt", 38, 0},
		{"Read", `{"file_path":"a.txt","limit":2}`, true, "Read a.txt (1 - 2)", "a.txt", 1, 0},
	} {
		var title string
		var places []presenter.Location
		var diffs []presenter.FileDiff
		switch card := Presenters()[c.tool].Call(json.RawMessage(c.args), c.done).(type) {
		case presenter.Diff:
			title, places, diffs = card.Title, card.Locations, card.Diffs
		case presenter.Generic:
			title, places = card.Title, card.Locations
			assert.Equal(t, presenter.KindRead, card.Kind)
		default:
			t.Fatalf("%s %s: card %T", c.tool, c.args, card)
		}
		assert.Equal(t, c.title, title, c.args)
		assert.NotNil(t, places, c.args)
		if c.path != "" {
			assert.Equal(t, []presenter.Location{{Path: c.path, Line: c.line}}, places, c.args)
		} else {
			assert.Empty(t, places, c.args)
		}
		assert.Len(t, diffs, c.diffs, "%s %s", c.tool, c.args)
	}
}

func TestInputHasItsDefaults(t *testing.T) {
	for _, c := range []struct{ tool, in, want string }{
		{"Edit", `{"file_path":"a","old_string":"x","new_string":"y"}`, `{"replace_all":false,"file_path":"a","old_string":"x","new_string":"y"}`},
		{"edit", `{ "new_string":"y", "old_string":"x","file_path":"a" }`, `{"replace_all":false,"new_string":"y", "old_string":"x","file_path":"a" }`},
		{"Edit", `{"file_path":"a","old_string":"x","new_string":"y","replace_all":true}`, ""},
		{"Edit", `{"file_path":"a","old_string":"x"}`, ""},
		{"Edit", `{"file_path":`, ""},
		{"Edit", `[]`, ""},
		{"Write", `{"file_path":"a","content":"x"}`, ""},
		{"Read", `{"file_path":"a"}`, ""},
	} {
		want := c.want
		if want == "" {
			want = c.in
		}
		assert.Equal(t, want, string(Presenters()[c.tool].Input(json.RawMessage(c.in))), c.in)
	}
}

func TestResultCardsOfDamagedMeta(t *testing.T) {
	args := json.RawMessage(`{"file_path":"a.txt","old_string":"x","new_string":"y","content":"y\n"}`)
	ok := func(meta string) msg.ToolResult {
		return msg.ToolResult{Content: msg.Blocks{msg.Text{Text: "1\tx\n2\t"}}, Meta: json.RawMessage(meta)}
	}
	hunk := `{"path":"a.txt","oldText":"x","newText":"y"}`
	fence := ""
	for _, c := range []struct {
		tool, meta string
		want       presenter.Card
	}{
		{"Edit", `{"diffs":[` + hunk + `,{"path":"a.txt","oldText":"x"}]}`, presenter.Generic{}},
		{"Edit", ``, presenter.Generic{}},
		{"Edit", `{"diffs":[],"truncated":{"hunks":0,"of":3}}`, presenter.Diff{Truncated: 3, Diffs: snippet("x", "y")}},
		{"Write", `{"diffs":7}`, presenter.Diff{Kept: true}},
		{"Write", ``, presenter.Diff{Kept: true}},
		{"Write", `{"unchanged":true}`, presenter.Diff{Diffs: snippet("y\n", "y\n")}},
		{"Read", ``, presenter.Generic{Fence: &fence}},
		{"Read", `{"read":{"offset":1,"lines":9,"total":9}}`, presenter.Generic{Fence: &fence}},
		{"Read", `{"read":{"offset":1,"lines":-1,"total":9}}`, presenter.Generic{Fence: &fence}},
		{"Read", `{"read":{"offset":1,"lines":1,"total":1}}`, presenter.Read{Path: "a.txt", Offset: 1, Lines: []string{"x"}, TotalLines: 1}},
	} {
		assert.Equal(t, c.want, Presenters()[c.tool].Result(args, ok(c.meta)), "%s %s", c.tool, c.meta)
	}
}

func snippet(before, after string) []presenter.FileDiff {
	return []presenter.FileDiff{{Path: "a.txt", OldText: &before, NewText: after}}
}

// FuzzCards: there is a card for any bytes of arguments and meta, the same
// for the same bytes, and the arguments are not changed.
func FuzzCards(f *testing.F) {
	f.Add([]byte(`{"file_path":"a","old_string":"x","new_string":"y","content":"c","offset":1e99,"limit":3}`), []byte(`{"diffs":[{"path":"a","oldText":null,"newText":""}]}`), "1\tx")
	f.Add([]byte(`{"file_path":7,"offset":"x"}`), []byte(`{"read":{"offset":2,"lines":1}}`), "2\tx\n3\ty")
	f.Add([]byte(`[`), []byte(`null`), "")
	f.Fuzz(func(t *testing.T, args, meta []byte, text string) {
		for name, p := range Presenters() {
			for _, isError := range []bool{false, true} {
				r := msg.ToolResult{Content: msg.Blocks{msg.Text{Text: text}}, IsError: isError, Meta: meta}
				before := string(args)
				for _, draw := range []func() presenter.Card{
					func() presenter.Card { return p.Call(args, isError) },
					func() presenter.Card { return p.Result(args, r) },
				} {
					a, b := draw(), draw()
					assert.NotNil(t, a, name)
					assert.Equal(t, a, b, name)
				}
				p.Input(args)
				assert.Equal(t, before, string(args), name)
			}
		}
	})
}
