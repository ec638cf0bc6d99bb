//go:build cgo

package astedit

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/syntax"
	"dsh-acp/internal/syntax/sitter"
)

var parser = sitter.New(sitter.Options{})

func TestMetavars(t *testing.T) {
	for in, want := range map[string]string{
		"$A":             "A",
		"f($A, $$B)":     "A $B",
		"f($$$ARGS)":     "$$ARGS",
		"$_ $_X $$$":     "- - $$-",
		"$a $Ab $1 a$B":  "",
		"$A$B":           "A", // "$B" is no word of its own
		"$$$$A $ $$":     "",
		"_A $A1_ $__":    "A1_ -",
		"${$A} é$A 日 $A": "A A",
	} {
		var got []string
		for _, v := range metavars(in) {
			name := v.name
			if name == "" {
				name = "-"
			}
			got = append(got, strings.Repeat("$", int(v.form))+name)
		}
		assert.Equal(t, want, strings.Join(got, " "), in)
	}
}

// compileCases are patterns with the kinds of node that they stand for.
var compileCases = []struct {
	lang  syntax.Lang
	pat   string
	kinds string
	names string
}{
	{syntax.Go, "fmt.Errorf($$$A)", "call_expression", "A"},
	{syntax.Go, "if err != nil { return $X }", "if_statement", "X"},
	{syntax.Go, "func ($R *$T) $F($$$P) { $$$B }", "method_declaration", "R T F P B"},
	{syntax.Go, "type $T struct { $$$F }", "type_declaration", "T F"},
	{syntax.Go, "switch $X { $$$C }", "expression_switch_statement", "X C"},
	{syntax.Go, "case $X: $$$B", "expression_case type_case communication_case", "X B"},
	{syntax.Go, "Name: $V", "labeled_statement keyed_element", "V"},
	{syntax.Go, "f();", "call_expression", ""},
	{syntax.Go, "[]$T", "slice_type", "T"},
	{syntax.Go, "import $P", "import_declaration", "P"},
	{syntax.JavaScript, "switch ($X) { $$$C }", "switch_statement", "X C"},
	{syntax.JavaScript, "class $C { $$$B }", "class_declaration class", "C B"},
	{syntax.JavaScript, `"$A"`, "string", "A"},
	{syntax.JavaScript, `f("x$A")`, "call_expression", ""},
	{syntax.JavaScript, "$k => $A", "arrow_function", "A"},
	{syntax.JavaScript, "$A: $B", "pair labeled_statement", "A B"},
	{syntax.JavaScript, "get() { $$$B }", "method_definition", "B"},
	{syntax.TypeScript, "import { $$$N } from $M", "import_statement", "N M"},
	{syntax.TypeScript, "readonly $X: $T", "public_field_definition required_parameter property_signature", "X T"},
	{syntax.TSX, "<$T $$$A />", "jsx_self_closing_element", "T A"},
	{syntax.Python, `f"{$A}"`, "string", "A"},
	{syntax.Python, `"$A"`, "string", ""},
	{syntax.Python, "level=$L", "assignment", "L"},
	{syntax.Python, "except $E as $N: $$$B", "except_clause", "E N B"},
	{syntax.Python, "pass", "pass_statement identifier", ""},
	{syntax.Rust, "let $X = $Y", "let_declaration", "X Y"},
	{syntax.Rust, "foo($A);", "expression_statement", "A"},
	{syntax.Rust, "impl $T { $$$B }", "impl_item", "T B"},
	{syntax.Java, "class $A { $$$B void f() { $$$C } }", "class_declaration", "A B C"},
	{syntax.C, "if ($C) { $$$B }", "if_statement", "C B"},
	{syntax.C, "struct $N { $$$F };", "struct_specifier", "N F"},
	{syntax.JSON, `"key": $V`, "pair", "V"},
	{syntax.JSON, `"a": "$V"`, "pair", "V"},
	{syntax.JSON, `{"a": $V, $$$R}`, "object", "V R"},
	{syntax.Ruby, "class $A\n$$$B\nend", "class", "A B"},
	{syntax.PHP, "$A->foo($B)", "member_call_expression", "A B"},
	{syntax.PHP, "class $A { $$$B }", "class_declaration", "A B"},
	{syntax.CSharp, "class $A { $$$B }", "class_declaration", "A B"},
	{syntax.Bash, "echo $A", "command", "A"},
	{syntax.CSS, "color: $V", "declaration", "V"},
	{syntax.HTML, "<$T>$$$C</$T>", "element", "T C"},
	{syntax.Scala, "val $X = $Y", "val_definition", "X Y"},
}

func TestCompile(t *testing.T) {
	for _, c := range compileCases {
		p, err := Compile(parser, c.lang, c.pat)
		if !assert.NoError(t, err, "%s %s", c.lang, c.pat) {
			continue
		}
		g, err := parser.Grammar(c.lang)
		require.NoError(t, err)
		assert.ElementsMatch(t, strings.Fields(c.kinds), p.Kinds(g), "%s %s", c.lang, c.pat)
		assert.Equal(t, c.names, strings.Join(p.Names(), " "), "%s %s", c.lang, c.pat)
		assert.Equal(t, c.lang, p.Lang())
	}
}

func TestPatternsThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		lang      syntax.Lang
		pat, want string
	}{
		{syntax.Go, " ", "it is empty"},
		{syntax.Go, "$A", "a lone metavariable would match every node; put code around $A"},
		{syntax.JavaScript, "$$$A;", "a lone metavariable would match every node; put code around $$$A"},
		{syntax.Python, "$A\n", "a lone metavariable"},
		{syntax.JavaScript, "foo($A", `pattern "foo($A": it does not parse as javascript`},
		{syntax.JavaScript, "open();\nread();", "these are 2 statements or nodes side by side, and a pattern is one node; put them in a block"},
		{syntax.Go, "$A; $B", "2 statements"},
		{syntax.Python, "a()\nb()", "2 statements"},
		{syntax.Rust, "a(); b(); c();", "3 statements"},
		{syntax.Go, "f($A, $$$A)", "$A and $$$A are one name"},
		{syntax.Go, "$x + 1", "it does not parse as go"},
	} {
		_, err := Compile(parser, c.lang, c.pat)
		var e *Error
		if assert.ErrorAs(t, err, &e, c.pat) {
			assert.Equal(t, CodePattern, e.Code, c.pat)
			assert.Contains(t, e.Error(), c.want)
		}
	}
	_, err := Compile(parser, "cobol", "x")
	var e *Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, CodeUnsupported, e.Code)
}

// without is a build without C.
type without struct{}

func (without) Parse(syntax.Lang, string) (*syntax.Tree, error) { return nil, syntax.ErrUnavailable }

func (without) Revise(syntax.Lang, string, func(*syntax.Tree) ([]syntax.Edit, error)) (bool, error) {
	return false, syntax.ErrUnavailable
}

func TestWithoutAParser(t *testing.T) {
	_, err := NewRule(without{}, syntax.Go, "f()", "g()")
	var e *Error
	require.True(t, errors.As(err, &e))
	assert.Equal(t, CodeUnsupported, e.Code)
	assert.Contains(t, e.Error(), "CGO_ENABLED=0")
}

// findCases are sources with the matches in angle brackets that no language of
// the table has: each «match» is what the pattern finds.
var findCases = []struct {
	lang     syntax.Lang
	pat, src string
}{
	{syntax.JavaScript, "f($A)", "«f(1)»; f(); f(1, 2); g(1); «f(/* c */ 1)»; «f(1,)»;"},
	{syntax.JavaScript, "f($$$A)", "«f(1)»; «f()»; «f(1, 2)»; «f(«f(3)»)»"},
	{syntax.JavaScript, "f($A, $A)", "«f(a, a)»; f(a, b); «f(a.b, a.b)»; f(a, a, a)"},
	{syntax.JavaScript, "f($_, $_)", "«f(a, a)»; «f(a, b)»; f(a)"},
	{syntax.JavaScript, "f($_X, $_X)", "«f(a, b)»"},
	{syntax.JavaScript, "f($$$A, x, $$$B)", "«f(x)»; «f(1, x)»; «f(x, 2)»; «f(1, 2, x, 3, 4)»; f(1); «f(x, x)»"},
	{syntax.JavaScript, "f($$$A, $B, $$$A)", "«f(1)»; «f(1, 2, 1)»; f(1, 2); «f(1, 2, 3, 1, 2)»; f(1, 2, 3, 2, 1)"},
	{syntax.JavaScript, "f($$$A, $B)", "f(); «f(1)»; «f(1, 2, 3)»"},
	{syntax.JavaScript, "const $X = $Y", "«const a = 1;» const b = 1, c = 2; let d = 1;"},
	{syntax.JavaScript, "const $X = $Y;", "«const a = 1;» const b = 1\n"},
	{syntax.JavaScript, `"$A"`, "f(«\"x\"», \"\", 'y')"},
	{syntax.JavaScript, `"x$A"`, "f(«\"x$A\"», \"xy\")"},
	{syntax.JavaScript, "f($$A)", "«f(1)»; f(); f(1, 2)"},
	{syntax.JavaScript, "foo$A()", "«foo$A()»; foo(); foox()"},
	{syntax.Go, "f($A)", "package p\n\nvar x = «f(1)»\n\nfunc g() {\n\t«f(2)»\n\tf(1, 2)\n}\n"},
	{syntax.Go, "fmt.Errorf($$$A)", "package p\n\nfunc g() error { return «fmt.Errorf(\"x\", 1)» }\n\nvar e = «fmt.Errorf(\"y\")»\n"},
	{syntax.Go, "{ a(); b() }", "package p\n\nfunc g() «{\n\ta()\n\tb()\n}»\n\nfunc h() { a() }\n"},
	{syntax.Go, "if $C { $$$B }", "package p\n\nfunc g() {\n\t«if a {\n\t}»\n\t«if b {\n\t\tx()\n\t\ty()\n\t}»\n\tif c {\n\t} else {\n\t}\n}\n"},
	{syntax.Go, "$S = append($S, $X)", "package p\n\nfunc g() {\n\t«a.b = append(a.b, 1)»\n\ta = append(b, 1)\n}\n"},
	{syntax.Go, "T{Name: $V, $$$R}", "package p\n\nvar x, y = «T{Name: 1}», «T{\n\tName: 2,\n\tOther: 3,\n}»\n"},
	{syntax.Python, "self.$F = $V", "«self.a = 1»\n«self.b = \\\n    2»\nself.c += 1\n"},
	{syntax.Python, "if $A:\n    $$$B", "«if a:\n    x\n    y»\n«if a:\n    x\nelse:\n    y»\n"},
	{syntax.Python, "if $A:\n    x", "«if a:\n    x»\nif a:\n    x\nelse:\n    y\n"},
	{syntax.JSON, `"key": $V`, `{«"key": 1», "b": {«"key": [1, 2]»}}`},
	{syntax.JSON, "[$$$A]", "«[1, «[]», {\"a\": «[2]»}]»"},
	{syntax.Rust, "println!($$$A)", "fn f() { «println!(\"{}\", a)»; print!(\"b\"); }"},
	{syntax.Rust, "g($A);", "fn f() { «g(1);» let x = g(2); }"},
	{syntax.C, "free($P)", "void f(void) { «free(p)»; x = «free(q)»; }"},
	{syntax.Java, "System.out.println($A)", "class C { void m() { «System.out.println(1)»; System.err.println(2); } }"},
	{syntax.Java, "new $T($$$A)", "class C { Object o = «new A()», p = «new B(1, 2)», q = c(); }"},
	{syntax.CPP, "std::move($X)", "void f() { g(«std::move(a)»); std::swap(a, b); }"},
	{syntax.TypeScript, "$X as any", "const a = «b as any», c = d as string;"},
	{syntax.TypeScript, "import $D from $M", "«import a from 'x';»\n«import { b } from 'y';»\nimport 'z';\n"},
	{syntax.JavaScript, "await $P", "async function f() { «await g()»; h(); }"},
	{syntax.Python, "print($$$A)", "«print()»\n«print(1, end='')»\nprinter(2)\n"},
	{syntax.Python, "$X is None", "a = «b is None»\nc = d is not None\n"},
	{syntax.Rust, "$X.unwrap()", "fn f() { «a.unwrap()»; b.unwrap_or(1); «c().unwrap()»; }"},
	{syntax.Go, "go $F($$$A)", "package p\n\nfunc g() {\n\t«go f()»\n\tdefer f()\n\t«go a.b(1)»\n}\n"},
	{syntax.TSX, "<A $$$P />", "const x = [«<A b={1} />», «<A />», <B />];"},
}

func TestFind(t *testing.T) {
	for _, c := range findCases {
		src, want := unmark(c.src)
		p, err := Compile(parser, c.lang, c.pat)
		require.NoError(t, err, c.pat)
		tree, err := parser.Parse(c.lang, src)
		require.NoError(t, err)
		require.Empty(t, tree.Faults(0), src)
		var got [][2]int
		for _, m := range p.Find(tree) {
			got = append(got, [2]int{m.Start, m.End})
		}
		assert.Equal(t, want, got, "%s %s", c.lang, c.pat)
		assert.True(t, p.MayMatch(src), "the filter of %s", c.pat)
	}
}

// unmark takes the marks out of a text, and returns the spans, outer first.
func unmark(s string) (string, [][2]int) {
	var b strings.Builder
	var spans [][2]int
	var open []int
	for _, r := range s {
		switch r {
		case '«':
			open = append(open, len(spans))
			spans = append(spans, [2]int{b.Len()})
		case '»':
			spans[open[len(open)-1]][1] = b.Len()
			open = open[:len(open)-1]
		default:
			b.WriteRune(r)
		}
	}
	return b.String(), spans
}

func TestCaptures(t *testing.T) {
	p, err := Compile(parser, syntax.JavaScript, "f($$$A, $B, $_)")
	require.NoError(t, err)
	tree, err := parser.Parse(syntax.JavaScript, "f(1, /* c */ 2, 3, 4,)")
	require.NoError(t, err)
	m := p.Find(tree)
	require.Len(t, m, 1)
	for name, want := range map[string]string{"A": "1, /* c */ 2", "B": "3"} {
		got, ok := p.Capture(tree, m[0], name)
		assert.True(t, ok)
		assert.Equal(t, want, got)
	}
	_, ok := p.Capture(tree, m[0], "C")
	assert.False(t, ok)
}

func TestFilter(t *testing.T) {
	for _, c := range []struct {
		pat, src string
		want     bool
	}{
		{"if err != nil { return $X }", "if err != nil {\n\treturn err\n}", true},
		{"if err != nil { return $X }", "if err != /* c */ nil { // d\n\treturn err\n}", true},
		{"if err != nil { return $X }", "if err := f(); err != nil { return err }", false},
		{"if err != nil { return $X }", "if err != nil { log(err); return err }", false},
		{"if err != nil { return $X }", "if err == nil { return err }", false},
		{"if err != nil { return $X }", "iferr != nil { return err }", false},
		{"if err != nil { return $X }", "if err != nilly { return err }", false},
		{"f($A).g()", "f(x).h(); z().g()", true}, // each chain is there
		{"f($A).g()", "f(x).gg()", false},
		{"$X = append($X, 1)", "append(a, 1)", false},
		{"$A == $B", "", false},
	} {
		p, err := Compile(parser, syntax.Go, c.pat)
		require.NoError(t, err)
		assert.Equal(t, c.want, p.MayMatch(c.src), "%s in %s", c.pat, c.src)
	}
	p, err := Compile(parser, syntax.Go, "http.Get($A)")
	require.NoError(t, err)
	assert.Equal(t, []string{"http", "Get", "(", ")", "."}, p.Literals())
}

// Where a pattern fits, its filter lets the text pass.
func FuzzFilter(f *testing.F) {
	for _, c := range findCases {
		src, _ := unmark(c.src)
		f.Add(string(c.lang), c.pat, src)
	}
	for _, c := range rewriteCases {
		f.Add(string(c.lang), c.pat, c.in)
	}
	f.Fuzz(func(t *testing.T, lang, pat, src string) {
		p, err := Compile(parser, syntax.Lang(lang), pat)
		if err != nil {
			return
		}
		tree, err := parser.Parse(p.Lang(), src)
		require.NoError(t, err)
		for _, m := range p.Find(tree) {
			require.True(t, m.Start <= m.Kept && m.Kept <= m.End)
			if tree.Nodes[m.Node].Is(syntax.HasError) {
				continue // the parser put in a token that is not there; such a match is not rewritten
			}
			require.True(t, p.MayMatch(src), "%q fits %q at %d", pat, src, m.Start)
		}
	})
}
