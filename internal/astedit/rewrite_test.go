//go:build cgo

package astedit

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/syntax"
	"dsh-acp/internal/text"
)

var rewriteCases = []struct {
	name     string
	lang     syntax.Lang
	pat, out string
	in, want string // equal: not changed
	says     string // in a warning
}{
	{name: "calls", lang: syntax.JavaScript, pat: "console.log($$$A)", out: "log($$$A)",
		in: "console.log(\"a\")\nconsole.log(\"b\", 2)\nother(\"c\")\n", want: "log(\"a\")\nlog(\"b\", 2)\nother(\"c\")\n"},
	{name: "template lines are indented like the match", lang: syntax.Python, pat: "$N = lambda: $R", out: "def $N():\n    return $R",
		in: "class C:\n    def m(self):\n        f = lambda: 1\n        return f\n", want: "class C:\n    def m(self):\n        def f():\n            return 1\n        return f\n"},
	{name: "a whole body", lang: syntax.Python, pat: "if x:\n    $A", out: "if w:\n    $A",
		in: "if x:\n    a = 1\n    if y:\n        b = 2\nz = 3\n", want: "if w:\n    a = 1\n    if y:\n        b = 2\nz = 3\n"},
	{name: "a capture moves with its line and not by its column", lang: syntax.JavaScript, pat: "const x = old($A)", out: "fresh(\n  $A\n)",
		in: "{\n    const x = old({\n        a: 1,\n    });\n}\n", want: "{\n    fresh(\n      {\n          a: 1,\n      }\n    );\n}\n"},
	{name: "itself", lang: syntax.JavaScript, pat: "const $X = $Y;", out: "const $X = $Y;",
		in: "function f() {\n    const t = [\n        1,\n      2,   // odd\n        3\n    ];\n}\n", want: "function f() {\n    const t = [\n        1,\n      2,   // odd\n        3\n    ];\n}\n"},
	{name: "a comment that would be lost", lang: syntax.JavaScript, pat: "call($A, $B)", out: "run($A, $B)",
		in: "call(/* unit: ms */ a, b);\ncall(c, d);\n", want: "call(/* unit: ms */ a, b);\nrun(c, d);\n", says: `line 1: match left as it is: the comment "/* unit: ms */" would be lost`},
	{name: "a comment in a capture", lang: syntax.JavaScript, pat: "call($$$A)", out: "run($$$A)",
		in: "call(/* unit: ms */ a, b);\n", want: "run(/* unit: ms */ a, b);\n"},
	{name: "a comment in a capture that is not used", lang: syntax.JavaScript, pat: "call($A)", out: "run()",
		in: "call(() => { /* why */ });\n", want: "call(() => { /* why */ });\n", says: "would be lost"},
	{name: "a comment of the pattern itself", lang: syntax.Go, pat: "func f() {\n\t// old\n\tg()\n}", out: "func f() { g() }",
		in: "package p\n\nfunc f() {\n\t// old\n\tg()\n}\n", want: "package p\n\nfunc f() { g() }\n"},
	{name: "a word that would be lost", lang: syntax.JavaScript, pat: "function $F() {}", out: "const $F = () => {}",
		in: "async function f() {}\nfunction g() {}\n", want: "async function f() {}\nconst g = () => {}\n", says: `"async", which the pattern does not have, would be lost`},
	{name: "a line comment that ends a run", lang: syntax.Go, pat: "f($$$A)", out: "g($$$A)",
		in: "package p\n\nfunc h() {\n\tf(\n\t\ta,\n\t\tb, // last\n\t)\n}\n", want: "package p\n\nfunc h() {\n\tg(a,\n\tb, // last\n\t)\n}\n"},
	{name: "no statement is swallowed", lang: syntax.Python, pat: "if $A:\n    yield\nelse:\n    yield", out: "yield",
		in: "if a:\n    yield\nelse:\n    yield\n\nif b:\n    yield 2\n    keep()\nelse:\n    yield 3\n    keep()\n", want: "yield\n\nif b:\n    yield 2\n    keep()\nelse:\n    yield 3\n    keep()\n"},
	{name: "empty runs", lang: syntax.Python, pat: "log($$$PRE, level=$L, $$$POST)", out: "emit($$$PRE, lvl=$L, $$$POST)",
		in: "log(level=1)\nlog('x', level=2)\nlog('x', 'y', level=3, end=4)\nlog()\n", want: "emit(lvl=1)\nemit('x', lvl=2)\nemit('x', 'y', lvl=3, end=4)\nlog()\n"},
	{name: "two empty runs side by side", lang: syntax.JavaScript, pat: "f([$$$A], [$$$B])", out: "g($$$A, $$$B)",
		in: "f([], []); f([1], []); f([], [2]); f([1, 2,], [3,]);", want: "g(); g(1); g(2); g(1, 2, 3,);"},
	{name: "an empty run on a line of its own", lang: syntax.JavaScript, pat: "wrap(() => { $$$B })", out: "{\n  begin();\n  $$$B\n  end();\n}",
		in: "  wrap(() => {})\n  wrap(() => { a(); })\n", want: "  {\n    begin();\n    end();\n  }\n  {\n    begin();\n    a();\n    end();\n  }\n"},
	{name: "a final comma before a bracket stays", lang: syntax.JavaScript, pat: "f($$$A)", out: "g($$$A)", in: "f(1, 2,)", want: "g(1, 2,)"},
	{name: "a final comma before another goes", lang: syntax.JavaScript, pat: "f($$$A)", out: "g($$$A, x)", in: "f(1, 2,)", want: "g(1, 2, x)"},
	{name: "the same name twice", lang: syntax.JavaScript, pat: "$A == $A", out: "true",
		in: "if (x == x) {}\nif (x == y) {}\nif (a.b == a.b) {}\n", want: "if (true) {}\nif (x == y) {}\nif (true) {}\n"},
	{name: "a lower-case name is code", lang: syntax.JavaScript, pat: "foo($x)", out: "bar($x)", in: "foo($x);\nfoo(y);\n", want: "bar($x);\nfoo(y);\n"},
	{name: "a name without a dollar is code", lang: syntax.JavaScript, pat: "_A()", out: "_B()", in: "_A();\nf();\n", want: "_B();\nf();\n"},
	{name: "an error elsewhere", lang: syntax.JavaScript, pat: "old($A)", out: "neu($A)",
		in: "let = = ;\n\nfunction ok() {\n  old(1);\n}\n", want: "let = = ;\n\nfunction ok() {\n  neu(1);\n}\n", says: "line 1: the file had syntax errors before (1 place)"},
	{name: "an error in the match", lang: syntax.Go, pat: "f($$$A)", out: "g($$$A)",
		in: "package p\n\nfunc h() {\n\tf(1 + )\n\tf(3)\n}\n", want: "package p\n\nfunc h() {\n\tf(1 + )\n\tg(3)\n}\n", says: "the code there does not parse"},
	{name: "a template that holds its pattern", lang: syntax.JavaScript, pat: "f($A)", out: "f(f($A))", in: "f(1);\n", want: "f(f(1));\n"},
	{name: "the outermost first", lang: syntax.JavaScript, pat: "f($A)", out: "g($A)", in: "f(f(f(1)));\n", want: "g(f(f(1)));\n"},
	{name: "strings and comments are no code", lang: syntax.JavaScript, pat: "old($A)", out: "neu($A)",
		in: "// old(1)\nconst s = \"old(1)\";\nold(1);\n", want: "// old(1)\nconst s = \"old(1)\";\nneu(1);\n"},
	{name: "crlf", lang: syntax.JavaScript, pat: "old($A)", out: "neu(\n  $A\n)",
		in: "function f() {\r\n  old(1);\r\n}\r\n", want: "function f() {\r\n  neu(\r\n    1\r\n  );\r\n}\r\n"},
	{name: "a mark, and characters of several bytes", lang: syntax.JavaScript, pat: "old($A)", out: "neu($A)",
		in: "\uFEFFconst s = \"žluť 🐎\"; old(s); /* é */ old(2);\n", want: "\uFEFFconst s = \"žluť 🐎\"; neu(s); /* é */ neu(2);\n"},
	{name: "captured lines move along", lang: syntax.JavaScript, pat: "log($A)", out: "if (x) {\n  trace($A);\n}",
		in: "  log({\n    a: 1,\n\n    b: 2,\n  })\n", want: "  if (x) {\n    trace({\n      a: 1,\n\n      b: 2,\n    });\n  }\n"},
	{name: "lines of a template literal stay", lang: syntax.JavaScript, pat: "log($A)", out: "if (x) {\n  trace($A);\n}",
		in: "  log(`a\n  b${c}\n`)\n", want: "  if (x) {\n    trace(`a\n  b${c}\n`);\n  }\n"},
	{name: "lines of a raw string stay", lang: syntax.Go, pat: "f($A)", out: "g(func() {\n\th($A)\n})",
		in: "package p\n\nfunc x() {\n\tf(`a\n\tb`)\n}\n", want: "package p\n\nfunc x() {\n\tg(func() {\n\t\th(`a\n\tb`)\n\t})\n}\n"},
	{name: "lines of a triple-quoted string stay", lang: syntax.Python, pat: "f($A)", out: "with x:\n    g($A)",
		in: "if a:\n    f(\"\"\"a\n    b\n    \"\"\")\n", want: "if a:\n    with x:\n        g(\"\"\"a\n    b\n    \"\"\")\n"},
	{name: "lines between two strings move", lang: syntax.Python, pat: "f($A)", out: "with x:\n    g($A)",
		in: "f(\"a\"\n  \"b\")\n", want: "with x:\n    g(\"a\"\n      \"b\")\n"},
	{name: "lines of a string in the template stay", lang: syntax.Python, pat: "doc($X)", out: "doc(\"\"\"a\nb\"\"\", $X,\n    1)",
		in: "if a:\n    doc(2)\n", want: "if a:\n    doc(\"\"\"a\nb\"\"\", 2,\n        1)\n"},
	{name: "a here document stays", lang: syntax.Ruby, pat: "run($A)", out: "go($A, 1)",
		in: "  run(<<~T)\n    a\n  T\n", want: "  go(<<~T, 1)\n    a\n  T\n"},
	{name: "a semicolon that the pattern lacks stays", lang: syntax.JavaScript, pat: "const $X = require($Y)", out: "import $X from $Y",
		in: "const a = require('a');\nconst b = require('b')\n", want: "import a from 'a';\nimport b from 'b'\n"},
	{name: "a deleted statement takes its line", lang: syntax.JavaScript, pat: "console.log($$$A)", out: "", in: "a();\n  console.log(1)\nb();\n", want: "a();\nb();\n"},
	{name: "a deleted statement beside another", lang: syntax.JavaScript, pat: "log($$$A);", out: "", in: "a(); log(1);\n", want: "a(); \n"},
	{name: "a name in a string of the template", lang: syntax.JavaScript, pat: "price($A)", out: "cost(\"$USD\", $A)", in: "price(1)", want: "cost(\"$USD\", 1)"},
	{name: "a bound name in a string of the template", lang: syntax.JavaScript, pat: "get($A)", out: "get(\"$A\")", in: "get(a)", want: "get(\"a\")"},
	{name: "brackets are not passed over", lang: syntax.Go, pat: "type $T struct{ $$$F }", out: "type X$T struct { $$$F }",
		in: "package p\n\ntype (\n\tA struct{}\n)\n", want: "package p\n\ntype (\n\tA struct{}\n)\n"},
	{name: "json", lang: syntax.JSON, pat: `"version": $V`, out: `"version": "2"`, in: "{\n  \"version\": \"1\",\n  \"x\": 1\n}\n", want: "{\n  \"version\": \"2\",\n  \"x\": 1\n}\n"},
	{name: "rust", lang: syntax.Rust, pat: "$X.unwrap()", out: "$X?", in: "fn f() { a().unwrap().b().unwrap(); }\n", want: "fn f() { a().unwrap().b()?; }\n"},
}

func program(t testing.TB, ops ...Op) *Program {
	p, err := NewProgram(parser, ops)
	require.NoError(t, err)
	return p
}

func doc(t testing.TB, s string) text.Doc {
	d, err := text.ParseString(s)
	require.NoError(t, err)
	return d
}

func TestRewrite(t *testing.T) {
	for _, c := range rewriteCases {
		t.Run(c.name, func(t *testing.T) {
			r, err := program(t, Op{c.pat, c.out}).Rewrite("a", c.lang, doc(t, c.in), false)
			require.NoError(t, err)
			assert.Equal(t, c.want, r.Doc.Raw())
			assert.Equal(t, c.in != c.want, r.Changed)
			if c.says == "" {
				assert.Empty(t, r.Warnings)
			} else {
				assert.Contains(t, strings.Join(r.Warnings, "\n"), c.says)
			}
		})
	}
}

func TestCounts(t *testing.T) {
	r, err := program(t, Op{"f($$$A)", "g($$$A)"}).Rewrite("a.js", syntax.JavaScript, doc(t, "f(f(1), f(f(2)));\nf();\n"), false)
	require.NoError(t, err)
	assert.Equal(t, "g(f(1), f(f(2)));\ng();\n", r.Doc.Text())
	assert.Equal(t, []int{2, 3}, []int{r.Matches, r.Nested})

	r, err = program(t, Op{"nothing($A)", "g($A)"}).Rewrite("a.js", syntax.JavaScript, doc(t, "f(1);\n"), false)
	require.NoError(t, err)
	assert.Zero(t, r.Matches)
	assert.False(t, r.Changed)

	many := strings.Repeat("f(/* c */ 1);\n", maxSkips+5)
	r, err = program(t, Op{"f($A)", "g($A)"}).Rewrite("a.js", syntax.JavaScript, doc(t, many), false)
	require.NoError(t, err)
	assert.Len(t, r.Warnings, maxSkips+1)
	assert.Equal(t, "5 more matches left as they are", r.Warnings[maxSkips])
}

func TestOpsInSequence(t *testing.T) {
	p := program(t, Op{"a($X)", "b($X)"}, Op{"b($X)", "c($X, /* k */ 1)"}, Op{"c($X, $Y)", "d($X, $Y)"})
	r, err := p.Rewrite("a.js", syntax.JavaScript, doc(t, "a(1); b(2);\r\n"), false)
	require.NoError(t, err)
	assert.Equal(t, "c(1, /* k */ 1); c(2, /* k */ 1);\r\n", r.Doc.Text())
	require.NotEmpty(t, r.Warnings)
	assert.Contains(t, r.Warnings[0], "ops[2]: line 1: match left as it is")
}

func TestARewriteThatBreaksAFile(t *testing.T) {
	p := program(t, Op{"old($A)", "neu($A"})
	_, err := p.Rewrite("a.js", syntax.JavaScript, doc(t, "x();\nold(1);\n"), false)
	var e *Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, CodeFile, e.Code)
	assert.Equal(t, 2, e.Line)
	assert.Equal(t, `rewrite a.js: the result would not parse at its line 2, near "neu(1;"; nothing was written. Mend out, or set force to write it all the same`, e.Error())

	r, err := p.Rewrite("a.js", syntax.JavaScript, doc(t, "x();\nold(1);\n"), true)
	require.NoError(t, err)
	assert.Equal(t, "x();\nneu(1;\n", r.Doc.Text())
	assert.Contains(t, strings.Join(r.Warnings, "\n"), "written all the same")

	// A file with errors of its own may not get more of them either.
	_, err = p.Rewrite("a.js", syntax.JavaScript, doc(t, "let = = ;\nfunction f() {\n  old(1);\n}\n"), false)
	require.ErrorAs(t, err, &e)
	assert.Equal(t, CodeFile, e.Code)
}

func TestOpsThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		ops  []Op
		code string
		op   int
		want string
	}{
		{nil, CodeArgs, -1, "no ops"},
		{[]Op{{"f()", ""}, {" ", "x"}}, CodeArgs, 1, "ops[1]: pat is empty"},
		{[]Op{{"f()", ""}, {" f() ", "x"}}, CodeArgs, 1, "the same pat as ops[0]"},
		{[]Op{{"add($A, $B)", "sum($A, $B, $C)"}}, CodeUnbound, 0, "uses $C, which the pattern \"add($A, $B)\" does not bind: it binds $A, $B"},
		{[]Op{{"f($_)", "g($_)"}}, CodeUnbound, 0, "uses $_, which captures nothing"},
		{[]Op{{"f()", "g($$$X)"}}, CodeUnbound, 0, "binds none"},
		{[]Op{{"f()", "g()"}, {"h($A", ""}}, CodePattern, 1, `ops[1]: pattern "h($A"`},
	} {
		p, err := NewProgram(parser, c.ops)
		if err == nil {
			_, err = p.For(syntax.JavaScript)
		}
		var e *Error
		require.ErrorAs(t, err, &e, c.want)
		assert.Equal(t, []any{c.code, c.op}, []any{e.Code, e.Op})
		assert.Contains(t, e.Error(), c.want)
	}
}

// Rewriting a match to itself changes no byte.
func FuzzRewriteToItself(f *testing.F) {
	for _, c := range rewriteCases {
		f.Add(string(c.lang), c.pat, c.in)
	}
	f.Fuzz(func(t *testing.T, lang, pat, in string) {
		if strings.Contains(pat, "$$$") || strings.Contains(pat, "$_") || strings.ContainsAny(pat, "\n\r") {
			t.Skip() // a run's separators and a template's line ends have a layout of their own
		}
		d, err := text.ParseString(in)
		if err != nil {
			t.Skip()
		}
		rule, err := NewRule(parser, syntax.Lang(lang), pat, strings.TrimSpace(pat))
		if err != nil {
			return
		}
		tree, err := parser.Parse(syntax.Lang(lang), d.LF())
		require.NoError(t, err)
		for _, e := range rule.Plan(tree).Edits {
			// Only the white space between the pattern's own tokens may differ,
			// and what may be left out of a list.
			require.Equal(t, squeeze(d.LF()[e.Start:e.End]), squeeze(e.New))
		}
	})
}

func squeeze(s string) string {
	return strings.NewReplacer(",", "", ";", "").Replace(strings.Join(strings.Fields(s), ""))
}

func BenchmarkFind(b *testing.B) {
	src := "package p\n" + strings.Repeat("func f(a int) error {\n\tif err != nil {\n\t\treturn err\n\t}\n\treturn nil\n}\n\n", 500)
	p, err := Compile(parser, syntax.Go, "if err != nil { return $X }")
	require.NoError(b, err)
	tree, err := parser.Parse(syntax.Go, src)
	require.NoError(b, err)
	for b.Loop() {
		if len(p.Find(tree)) != 500 {
			b.Fatal("matches are missing")
		}
	}
}
