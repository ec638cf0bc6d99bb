package presenter

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/msg"
)

// cards holds one of each card, filled.
var cards = []Card{
	Generic{Title: "t /w/a", Kind: KindFetch, Content: msg.Blocks{msg.Text{Text: "x"}}, Locations: []Location{{Path: "a", Line: 2}}, Fence: new(string)},
	Diff{Title: "t", Diffs: []FileDiff{{Path: "a", OldText: ptr("o"), NewText: "n", OldStart: 1, NewStart: 4, Added: 1}}, Locations: []Location{{Path: "a"}}},
	Read{Title: "t", Path: "a", Offset: 9, Lines: []string{"x", "y"}, TotalLines: 12},
	Search{Title: "t", Matches: []FileMatches{{Path: "a", Matches: []Match{{LineNumber: 3, Line: "x"}}}}, Paths: []string{"p"}, Truncated: true, Total: 7},
	Terminal{Title: "ls", Description: "d", Output: "out\n\n", ExitCode: new(int)},
	Web{Title: "t", URL: "u", StatusCode: 200, Answer: "a", Sources: []WebSource{{URL: "v", Title: "n", Snippet: "s"}, {URL: "w"}}, Truncated: true},
	Plan{Todos: []msg.Todo{{Content: "c"}}},
}

// implementers are the types of this package that have the method.
func implementers(t *testing.T, method string) []string {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	var names []string
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.Name == method && fn.Recv != nil {
				names = append(names, fn.Recv.List[0].Type.(*ast.Ident).Name)
			}
		}
	}
	sort.Strings(names)
	return names
}

func typeNames[T any](values []T) []string {
	var names []string
	for _, v := range values {
		names = append(names, strings.TrimPrefix(typeName(v), "presenter."))
	}
	sort.Strings(names)
	return names
}

func TestEveryCardIsDrawn(t *testing.T) {
	require.Equal(t, implementers(t, "card"), typeNames(cards), "the table must hold one of each card")
	for _, r := range []*msg.ToolResult{nil, {}, {IsError: true}} {
		for _, terminal := range []string{"", "c"} {
			for _, c := range cards {
				cv := canvas{cwd: "/w", textMax: 100, result: r, terminal: terminal, console: terminal != ""}
				assert.NotPanics(t, func() { cv.draw(c) }, "%T", c)
			}
		}
	}
	assert.PanicsWithValue(t, "presenter: no drawing for card <nil>", func() { canvas{}.draw(nil) })
}

func TestDrawCall(t *testing.T) {
	want := []string{
		`{"title":"t a","kind":"fetch","content":[{"type":"content","content":{"type":"text","text":"` + "```\\nx\\n```" + `"}}],"locations":[{"path":"/w/a","line":2}]}`,
		`{"title":"t","kind":"edit","content":[{"type":"diff","path":"/w/a","oldText":"o","newText":"n"}],"locations":[{"path":"/w/a"}]}`,
		`{"title":"t","kind":"read","content":[],"locations":[{"path":"/w/a","line":9}]}`,
		`{"title":"t","kind":"search","content":[]}`,
		`{"title":"ls","kind":"execute","content":[{"type":"content","content":{"type":"text","text":"d"}}]}`,
		`{"title":"t","kind":"fetch","content":[]}`,
		`{}`,
	}
	for i, c := range cards {
		if g, ok := c.(Generic); ok {
			g.Locations = []Location{{Path: "/w/a", Line: 2}}
			c = g
		}
		assert.Equal(t, want[i], encode(t, canvas{cwd: "/w", textMax: 100}.draw(c).ToolCallFields))
	}
}

// TestTitleNamesFilesOnce: the spellings of one path are one file.
func TestTitleNamesFilesOnce(t *testing.T) {
	for _, c := range []struct {
		files     []string
		title     string
		locations int
	}{
		{nil, "Edit", 0},
		{[]string{"a", "/w/a", "./d/../a", "/w/b"}, "Edit a, b", 2},
		{[]string{"/w/d/a", "a", "/x/a", "b", "", "c"}, "Edit d/a, a, /x/a and 2 more", 5},
	} {
		card := Diff{Title: "Edit", Files: c.files, Locations: []Location{}}
		for _, f := range c.files {
			card.Locations = append(card.Locations, Location{Path: f})
		}
		d := canvas{cwd: "/w", textMax: 100}.draw(card)
		assert.Equal(t, c.title, d.Title)
		assert.Len(t, d.Locations, c.locations)
	}
}

func TestDrawResult(t *testing.T) {
	text := func(s string) string {
		return `"content":[{"type":"content","content":{"type":"text","text":` + s + `}}]`
	}
	raw := msg.Blocks{msg.Text{Text: "raw"}}
	for _, c := range []struct {
		name string
		card Card
		want string
	}{
		{"generic", cards[0], `{"title":"t /w/a",` + text(`"`+"```\\nx\\n```"+`"`) + `,"locations":[{"path":"/w/a","line":2}]}`},
		{"generic, raw", Generic{}, `{` + text(`"raw"`) + `}`},
		{"generic, kept", Generic{Content: msg.Blocks{}}, `{}`},
		{"diff", cards[1], `{"title":"t","content":[{"type":"diff","path":"/w/a","oldText":"o","newText":"n"}],"locations":[{"path":"/w/a","line":4}]}`},
		{"diff, kept", Diff{Kept: true}, `{}`},
		{"diff, hunks too large", Diff{Truncated: 1}, `{"content":[{"type":"terminal","terminalId":"shown"},{"type":"content","content":{"type":"text","text":"1 more hunk of this change is not shown."}}]}`},
		{"diff, deleted text", Diff{Diffs: []FileDiff{{Path: "a", OldText: ptr(""), NewText: ""}}}, `{"content":[{"type":"diff","path":"/w/a","oldText":"","newText":""}],"locations":[{"path":"/w/a"}]}`},
		{"read", cards[2], `{"title":"t",` + text(`"`+"```\\n9\\tx\\n10\\ty\\n```"+`"`) + `,"locations":[{"path":"/w/a","line":9}]}`},
		{"read, no lines", Read{Path: "a"}, `{` + text(`"`+"```\\nraw\\n```"+`"`) + `}`},
		{"search", cards[3], `{"title":"t",` + text(`"p\na:3:x\n(2 of 7 shown)"`) + `}`},
		{"search, nothing", Search{}, `{` + text(`"raw"`) + `}`},
		{"command", cards[4], `{"title":"ls",` + text(`"`+"```console\\nout\\n```"+`"`) + `}`},
		{"command, no output", Terminal{}, `{` + text(`"`+"```console\\nraw\\n```"+`"`) + `}`},
		{"web", cards[5], `{"title":"t",` + text(`"u (status 200)\n\na\n\nn\nv\ns\n\nw\n\n(not all of it is shown)"`) + `}`},
		{"web, nothing", Web{}, `{` + text(`"raw"`) + `}`},
	} {
		cv := canvas{cwd: "/w", textMax: 100, console: true, shown: []ToolContent{TerminalItem{TerminalID: "shown"}}, result: &msg.ToolResult{Content: raw}}
		if c.name == "generic" {
			cv.result = &msg.ToolResult{}
		}
		assert.Equal(t, c.want, encode(t, cv.draw(c.card).ToolCallFields), c.name)
	}
	stray := canvas{result: &msg.ToolResult{Content: raw}}.draw(Terminal{Output: "out"})
	assert.Equal(t, `{`+text(`"raw"`)+`}`, encode(t, stray.ToolCallFields), "a command's output without a command")
}

func TestNoCardOfAFailureShowsAChange(t *testing.T) {
	shown := []ToolContent{DiffItem{Path: "/w/a", NewText: "n"}, textItem("note")}
	for _, c := range cards {
		if _, ok := c.(Plan); ok {
			continue
		}
		if _, ok := c.(Generic); ok {
			c = Generic{}
		}
		for code, keeps := range map[string]bool{
			"": false, msg.CodeRejected: true, msg.CodeQuestionAborted: true, msg.CodeAborted: false, "FS_STALE_VERSION": false,
		} {
			r := msg.Failed(code, "why")
			d := canvas{cwd: "/w", textMax: 100, console: true, shown: shown, result: &r}.draw(c)
			want := []ToolContent{textItem("```\nwhy\n```")}
			if keeps {
				want = []ToolContent{textItem("```\nwhy\n\nNot applied:\n```"), shown[0]}
			}
			assert.Equal(t, want, d.Content, "%T %s", c, code)
			assert.Nil(t, d.Locations, "%T %s", c, code)
			assert.False(t, d.applied, "%T %s", c, code)
		}
	}
	silent := canvas{shown: shown, result: &msg.ToolResult{IsError: true}}.draw(Generic{})
	assert.Equal(t, []ToolContent{textItem("```\nThe tool gave no reason.\n```")}, silent.Content)
}

func TestFence(t *testing.T) {
	for _, c := range []struct{ in, info, want string }{
		{"a", "", "```\na\n```"},
		{"a\n", "console", "```console\na\n```"},
		{"", "", "```\n```"},
		{"a `b` c", "", "```\na `b` c\n```"},
		{"```\na\n```", "", "````\n```\na\n```\n````"},
		{"  `````x", "", "``````\n  `````x\n``````"},
		{"1\t```", "", "```\n1\t```\n```"}, // within a line they close nothing
	} {
		assert.Equal(t, c.want, fence(c.in, c.info))
	}
}

func TestCutLines(t *testing.T) {
	for _, c := range []struct {
		in    string
		limit int
		want  string
		left  int
	}{
		{"ab\ncd\n", 6, "ab\ncd\n", 0},
		{"ab\ncd\n", 5, "ab\n", 3},
		{"ab\ncd", 3, "ab\n", 2},
		{"ab\ncd", 2, "ab", 3},
		{"äöü", 3, "ä", 4},
		{"äöü", 1, "", 6},
		{"", 1, "", 0},
	} {
		kept, left := cutLines(c.in, c.limit)
		assert.Equal(t, c.want, kept)
		assert.Equal(t, c.left, left)
	}
}

func TestLongTexts(t *testing.T) {
	line := strings.Repeat("x", 99) + "\n"
	long := strings.Repeat(line, 6000) // 600,000 bytes
	p := New(Config{Cwd: "/w", Tools: testTools()})
	us := p.Event(assistant("m", msg.ToolUse{ID: "c", Name: "Write", Input: encode(t, map[string]string{"file_path": "a", "content": long})}))
	require.Len(t, us, 1)
	content := us[0].(ToolCallStart).Content
	require.Len(t, content, 2)
	shown := content[0].(DiffItem).NewText
	assert.Equal(t, CardTextMax/100*100, len(shown), "whole lines below the bound")
	assert.True(t, strings.HasPrefix(long, shown))
	assert.Equal(t, textItem("The text is too long to show here; 75800 bytes are left out."), content[1])
}

func TestArgumentsAreShownLikeHunks(t *testing.T) {
	in := Diff{Diffs: []FileDiff{{Path: "a", OldText: ptr("\uFEFFa\r\nb\r"), NewText: "\uFEFFc\r\n"}}}
	d := canvas{cwd: "/w", textMax: 100}.draw(in)
	assert.Equal(t, []ToolContent{DiffItem{Path: "/w/a", OldText: ptr("a\nb\r"), NewText: "c\n"}}, d.Content)
	assert.Equal(t, "\uFEFFc\r\n", in.Diffs[0].NewText, "the card is left as it was")
}
