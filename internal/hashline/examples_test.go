package hashline

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/text"
)

const mainGo = "package main\n\nimport \"fmt\"\n\nfunc greet(name string) string {\n\treturn \"hi \" + name\n}\n\nfunc main() {\n\tfmt.Println(greet(\"bob\"))\n}\n"

var tagCases = []struct{ in, want string }{
	{"", "5D05"},
	{"alpha\nbeta\ngamma\n", "B6C1"},
	{"alpha  \nbeta\t\ngamma\r\n", "B6C1"},
	{"alpha\nbeta\ngamma", "9FB5"},
	{"alpha\nbeta\ngamma \t\r", "9FB5"},
	{"\uFEFFone\r\ntwo\r\n", "0127"},
	{"one\ntwo\n", "0127"},
	{mainGo, "8E3A"},
	{"// drift\n" + mainGo, "F519"},
	{"hello world\n", "8DB0"},
	{"api_key = \"old\"\nretries = 3\n", "4497"},
	{"console.log(\"a\")\nconsole.log(\"b\", 2)\nother(\"c\")\n", "861A"},
}

func TestTag(t *testing.T) {
	for _, c := range tagCases {
		assert.Equal(t, c.want, tagOf(t, c.in), "%q", c.in)
	}
}

func TestParseTag(t *testing.T) {
	id := Identify(doc(t, "alpha\nbeta\ngamma\n"))
	for _, s := range []string{"B6C1", "b6c1", "#B6C1", " B6C1 ", "¶a #1.txt#b6c1", id.Long().String(), id.Long().String()[2:]} {
		tag, err := ParseTag(s)
		require.NoError(t, err, s)
		assert.True(t, tag.Names(id), s)
	}
	for _, s := range []string{"", "B6C", "B6C1B6C1B", "XYZW", "+6C1", "0xB6C1", "B6 C1"} {
		_, err := ParseTag(s)
		assert.Equal(t, CodeNoTag, refusal(t, err).Code, s)
	}
	assert.False(t, Tag{}.Names(ID{}))
	assert.Equal(t, "", Tag{}.String())
	assert.Equal(t, "0127", Tag{0x127, 4}.String())
}

// oneBlock finds the functions of mainGo.
type oneBlock struct{}

func (oneBlock) Block(_ text.Doc, line int) (Block, error) {
	switch line {
	case 5:
		return Block{First: 5, Last: 7}, nil
	case 6:
		return Block{First: 6, Last: 6}, nil
	}
	return Block{}, errors.New("a block ends there, and none begins")
}

// exampleCases are edits of a text whose tag is given, with the new text and
// its tag.
var exampleCases = []struct {
	name, tagged, live, ops string
	want, tag               string
	first                   int
	says                    string // a part of a warning
}{
	{"replace", "alpha|beta|gamma|", "", "replace 2..2:\n+BETA", "alpha|BETA|gamma|", "F1C1", 2, ""},
	{"delete", "alpha|beta|gamma|", "", "delete 2..3", "alpha|", "BCB8", 2, ""},
	{"head and tail", "alpha|beta|gamma|", "", "insert head:\n+HEAD\ninsert tail:\n+TAIL", "HEAD|alpha|beta|gamma|TAIL|", "EBD2", 1, ""},
	{"no final newline", "alpha|beta|gamma", "", "insert tail:\n+delta", "alpha|beta|gamma|delta", "BCA3", 3, ""},
	{"numbers do not shift", "alpha|beta|gamma|", "", "insert after 1:\n+x\nreplace 3:\n+GAMMA", "alpha|x|beta|GAMMA|", "B77F", 2, ""},
	{"head of a stale text", "alpha|beta|gamma|", "alpha|BETA|gamma|", "insert head:\n+top", "top|alpha|BETA|gamma|", "E51C", 1, "had changed"},
	{"crlf and mark", "^one¬|two¬|", "", "replace 2:\n+TWO", "^one¬|TWO¬|", "8E53", 2, ""},

	{"lines above since", "package a||func f() int {|\treturn 1|}|", "// head|// more|package a||func f() int {|\treturn 1|}|",
		"replace 4:\n+\treturn 2", "// head|// more|package a||func f() int {|\treturn 2|}|", "", 6, "external change"},
	{"all numbers of one version", "one|two|three|four|five|", "", "replace 2..3:\n+TWO-THREE\ninsert before 2:\n+before two\ninsert after 5:\n+six\ndelete 1",
		"before two|TWO-THREE|four|five|six|", "", 1, ""},
	{"after an open last line", "one|two", "", "insert after 2:\n+three", "one|two|three", "", 2, ""},
	{"the last line keeps its end", "one|two|three|", "", "replace 3:\n+THREE\nreplace 1:\n+ONE", "ONE|two|THREE|", "", 1, ""},
	{"crlf rows", "one¬|two¬|three¬|", "", "replace 2:\n+2a\n+2b\ninsert before 1:\n+zero", "zero¬|one¬|2a¬|2b¬|three¬|", "", 1, ""},
	{"mark stays", "^using A;|class P {}|", "", "replace 1:\n+using B;", "^using B;|class P {}|", "", 1, ""},
	{"literal rows", "# list|x|", "", "replace 2:\n+- [ ] buy\n+- [x] pay\n+2:30 call\n++1 vote\n+12‖pipe\n+#tag",
		"# list|- [ ] buy|- [x] pay|2:30 call|+1 vote|12‖pipe|#tag|", "", 2, ""},
	{"a row that repeats its neighbour", "aaa|bbb|ccc|", "", "replace 2:\n+bbb\n+ccc", "aaa|bbb|ccc|ccc|", "", 4, "repeat"},
	{"one line stays one line", "<main>|  <section>|    <p>a</p>|  </section>|</main>|", "", "replace 2:\n+  <section id=\"s\">",
		"<main>|  <section id=\"s\">|    <p>a</p>|  </section>|</main>|", "", 2, ""},
	{"the second target with the old tag", "one|two|three|", "one|one and a half|two|three|", "replace 3:\n+THREE", "one|one and a half|two|THREE|", "", 4, "had changed"},
	{"form feed and line separator", "line0|\fline1|l2\u2028l2b|line3|", "", "delete 3", "line0|\fline1|line3|", "", 3, ""},
	{"blanks at line ends since", "one|two|three|", "one  |two|three|", "replace 3:\n+THREE", "one  |two|THREE|", "", 3, ""},

	{"into an empty file", "", "", "insert head:\n+a\n+b", "a|b|", "", 1, ""},
	{"everything goes", "a|b|", "", "delete 1..2", "", "", 1, ""},
	{"everything goes, open", "a|b", "", "delete 1..2", "", "", 1, ""},
	{"the open last line goes", "a|b", "", "delete 2", "a", "", 1, ""},
	{"the open last lines go, with text", "a|b|c", "", "insert after 1:\n+x\ndelete 2\ndelete 3", "a|x", "", 2, ""},
	{"an open last line becomes several", "a|b", "", "replace 2:\n+x\n+y", "a|x|y", "", 2, ""},
	{"gap order", "a|b|", "", "insert before 2:\n+3\ninsert after 1:\n+1\ninsert after 1:\n+2\ninsert head:\n+h\ninsert before 1:\n+0", "h|0|a|1|2|3|b|", "", 1, ""},
	{"tail behind after", "a|", "", "insert tail:\n+t\ninsert after 1:\n+x", "a|x|t|", "", 2, ""},
	{"mixed endings, one by one", "a¬|b|c¬|", "", "replace 1..2:\n+A\n+B", "A¬|B|c¬|", "", 1, ""},
	{"mixed endings, added", "a¬|b|c¬|", "", "insert after 2:\n+x", "a¬|b|x¬|c¬|", "", 3, ""},
	{"no change", "a|b|", "", "replace 2:\n+b", "a|b|", "", 0, "leaves the file as it is"},
}

func TestApply(t *testing.T) {
	for _, c := range exampleCases {
		t.Run(c.name, func(t *testing.T) {
			tagged, want := notation.Replace(c.tagged), notation.Replace(c.want)
			live := notation.Replace(c.live)
			if c.live == "" {
				live = tagged
			}
			got, err := edit(t, tagged, live, c.ops)
			require.NoError(t, err)
			assert.Equal(t, want, got.Doc.Raw())
			if c.tag != "" {
				assert.Equal(t, c.tag, got.Tag.String())
			}
			assert.Equal(t, c.first, got.FirstChangedLine)
			assert.Equal(t, want != live, got.Changed)
			says := strings.Join(got.Warnings, "\n")
			assert.Contains(t, says, c.says)
			if c.says == "" {
				assert.Empty(t, got.Warnings)
			}
			again, err := doc(t, live).ApplyLF(got.Edits...)
			require.NoError(t, err)
			assert.Equal(t, want, again.Raw())
		})
	}
}

func TestBlocks(t *testing.T) {
	r := Request{Path: "main.go", Live: doc(t, mainGo), Tag: "8E3A", Blocks: oneBlock{}}
	r.Change = Script{Ops: "replace block 5:\n+func greet(name string) string {\n+\treturn fmt.Sprintf(\"hi %s\", name)\n+}"}
	got, err := Apply(r)
	require.NoError(t, err)
	assert.Equal(t, "563A", got.Tag.String())
	assert.Empty(t, got.Warnings)

	r.Change = Script{Ops: "insert after block 5:\n+// done"}
	got, err = Apply(r)
	require.NoError(t, err)
	assert.Equal(t, "// done", got.Doc.Line(8))

	r.Change = Script{Ops: "replace block 6:\n+\treturn name"}
	got, err = Apply(r)
	require.NoError(t, err)
	require.Len(t, got.Warnings, 1)
	assert.Contains(t, got.Warnings[0], "that one line")

	r.Change = Script{Ops: "delete block 5\ndelete 6"}
	_, err = Apply(r)
	assert.Equal(t, CodeOverlap, refusal(t, err).Code)

	for _, resolver := range []BlockResolver{nil, oneBlock{}} {
		r.Blocks = resolver
		r.Change = Script{Ops: "replace block 7:\n+}"}
		_, err = Apply(r)
		e := refusal(t, err)
		assert.Equal(t, CodeBlockUnresolved, e.Code)
		assert.Contains(t, err.Error(), "range")
		assert.Contains(t, err.Error(), "*7| }")
	}
}

func TestMergeOverExternalChange(t *testing.T) {
	got, err := edit(t, mainGo, "// drift\n"+mainGo, "replace 6:\n+\treturn \"hello \" + name")
	require.NoError(t, err)
	assert.Equal(t, "9A19", got.Tag.String())
	assert.Equal(t, 7, got.FirstChangedLine)
	assert.Equal(t, []string{"the file had changed since #8E3A; the edit was merged over an external change"}, got.Warnings)
	assert.Equal(t, "lines 1–5 are now 2–6", got.Moves[0].String())
	assert.Equal(t, "line 3 is now 1", Move{Lines: Range{3, 3}, By: -2}.String())
}

func TestMergeOverEarlierEdit(t *testing.T) {
	h := recorded(t, "a\nx\nb\n", "a\nb\n")
	got, err := Apply(Request{Path: "f", Live: doc(t, "a\nx\nb\n"), Versions: h, Tag: tagOf(t, "a\nb\n"), Change: Script{Ops: "replace 2:\n+B"}})
	require.NoError(t, err)
	assert.Equal(t, "a\nx\nB\n", got.Doc.Raw())
	assert.Contains(t, got.Warnings[0], "over an earlier edit of this session")
}

func TestConflictReport(t *testing.T) {
	live := strings.Replace(mainGo, `"hi "`, `"yo "`, 1)
	_, err := Apply(Request{
		Path: "main.go", Live: doc(t, live), Versions: recorded(t, mainGo), Tag: "8e3a",
		Change: Script{Ops: "replace 6:\n+\treturn \"hello \" + name"},
	})
	e := refusal(t, err)
	assert.Equal(t, CodeStale, e.Code)
	assert.Equal(t, ReasonChanged, e.Details.Reason)
	assert.Equal(t, `edit rejected, nothing written: main.go: line 6 changed since #8E3A, or the lines beside
#8E3A was named, the file is #F38A now: write the edit again for the lines below with file_hash F38A; that tag can be used at once

 4| 
 5| func greet(name string) string {
*6| 	return "yo " + name
 7| }
 8| `, err.Error())
	assert.Equal(t, Ranges{{4, 8}}, e.Details.ShownLive)
	assert.Equal(t, Ranges{{6, 6}}, e.Details.Lines)

	_, err = Apply(Request{
		Path: "main.go", Live: doc(t, live), Versions: recorded(t, live, mainGo), Tag: "F38A",
		Change: Script{Ops: "replace 6:\n+\treturn \"hello \" + name"},
	})
	assert.NoError(t, err)
}

func TestInventedTag(t *testing.T) {
	for _, ops := range []string{"replace 1:\n+x", "insert head:\n+x"} {
		_, err := Apply(Request{Path: "a.txt", Live: doc(t, "alpha\nbeta\ngamma\n"), Tag: "BEEF", Change: Script{Ops: ops}})
		e := refusal(t, err)
		assert.Equal(t, CodeStale, e.Code)
		assert.Equal(t, ReasonUnknown, e.Details.Reason)
		assert.Contains(t, err.Error(), "not from this session")
		assert.Contains(t, err.Error(), "#B6C1")
		assert.Contains(t, err.Error(), "*1| alpha")
	}
}

func TestCollision(t *testing.T) {
	a, b := collision(t)
	for name, h := range map[string]history{"one known": recorded(t, a), "both known": recorded(t, b, a)} {
		_, err := Apply(Request{Path: "c.txt", Live: doc(t, b), Versions: h, Tag: tagOf(t, a), Change: Script{Ops: "replace 2:\n+edited"}})
		assert.Equal(t, CodeStale, refusal(t, err).Code, name)
	}
	// The second text is shown under its long tag, which tells them apart.
	h := recorded(t, a)
	id := Identify(doc(t, b))
	assert.Equal(t, id.Long(), NameFor(id, h))
	h = append(history{{ID: id, Text: doc(t, b), Shown: id.Long()}}, h...)
	assert.Equal(t, id.Long(), NameFor(id, h))
	got, err := Apply(Request{Path: "c.txt", Live: doc(t, b), Versions: h, Tag: id.Long().String(), Change: Script{Ops: "replace 2:\n+edited"}})
	require.NoError(t, err)
	assert.Equal(t, "edited", got.Doc.Line(2))
	_, err = Apply(Request{Path: "c.txt", Live: doc(t, b), Versions: h, Tag: id.Short().String(), Change: Script{Ops: "replace 2:\n+edited"}})
	assert.Equal(t, ReasonChanged, refusal(t, err).Details.Reason)
}

// collision finds two texts with one short tag.
func collision(t *testing.T) (a, b string) {
	seen := map[Tag]string{}
	for i := range 400_000 {
		s := strings.ReplaceAll("line one {i}\nline two {i}\n", "{i}", string(rune('0'+i%10))+strings.Repeat("x", i/10%100)+strings.Repeat("y", i/1000))
		tag := Name(doc(t, s))
		if other, ok := seen[tag]; ok {
			require.Equal(t, tag, Identify(doc(t, s)).Short())
			return other, s
		}
		seen[tag] = s
	}
	t.Fatal("no two texts have the same tag")
	return "", ""
}

func TestSeen(t *testing.T) {
	tagged := "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
	h := recorded(t, tagged)
	h[0].Seen = Ranges{{1, 3}}
	r := Request{Path: "f", Live: doc(t, tagged), Versions: h, Tag: tagOf(t, tagged)}
	try := func(ops string, p SeenPolicy) (Result, error) {
		r.Change, r.Seen = Script{Ops: ops}, p
		return Apply(r)
	}
	got, err := try("replace 3..5:\n+x\ninsert before 9:\n+y", SeenWarn)
	require.NoError(t, err)
	assert.Contains(t, got.Warnings[0], "lines 4–5, 9 of #")
	assert.Equal(t, Ranges{{1, 3}, {7, 7}}, got.Seen)

	got, err = try("replace 4:\n+x", SeenOff)
	require.NoError(t, err)
	assert.Empty(t, got.Warnings)

	_, err = try("replace 4:\n+x", SeenReject)
	e := refusal(t, err)
	assert.Equal(t, CodeUnseen, e.Code)
	assert.Equal(t, " 2| 2\n 3| 3\n*4| 4\n 5| 5\n 6| 6", e.Context)
	h[0].Seen = h[0].Seen.Add(e.Details.ShownTagged[0].First, e.Details.ShownTagged[0].Last)
	_, err = try("replace 4:\n+x", SeenReject)
	assert.NoError(t, err)
	_, err = try("insert head:\n+x", SeenReject)
	assert.NoError(t, err)
}

// braces parses what has its curly brackets in pairs.
type braces struct{}

func (braces) Fault(lf string) int {
	if strings.Count(lf, "{") == strings.Count(lf, "}") {
		return 0
	}
	return 1
}

func TestRepairs(t *testing.T) {
	base := "f {\n\ta\n}\ng\n"
	for _, c := range []struct{ name, ops, want, says string }{
		{"a bracket twice", "replace 2:\n+\tb\n+}", "f {\n\tb\n}\ng\n", "repaired: the last 1 row repeated"},
		{"a bracket swallowed", "replace 1..3:\n+f {\n+\tb", "f {\n\tb\n}\ng\n", "repaired: the range took line 3"},
		{"no slip", "replace 1:\n+f {{", "f {{\n\ta\n}\ng\n", "does not parse any more"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := Request{Live: doc(t, base), Tag: tagOf(t, base), Change: Script{Ops: c.ops}, Syntax: braces{}}
			got, err := Apply(r)
			require.NoError(t, err)
			assert.Equal(t, c.want, got.Doc.Raw())
			assert.Contains(t, strings.Join(got.Warnings, "\n"), c.says)

			r.NoRepair = true
			got, err = Apply(r)
			require.NoError(t, err)
			assert.Contains(t, strings.Join(got.Warnings, "\n"), "does not parse any more")
			assert.NotContains(t, strings.Join(got.Warnings, "\n"), "repaired")

			r.Syntax, r.NoRepair = nil, false
			got, err = Apply(r)
			require.NoError(t, err)
			assert.NotContains(t, strings.Join(got.Warnings, "\n"), "repaired")
		})
	}
}
