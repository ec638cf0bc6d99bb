//go:build cgo

package syntax_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/syntax"
	"dsh-acp/internal/syntax/sitter"
)

var parser = sitter.New(sitter.Options{})

func parse(t testing.TB, lang syntax.Lang, src string) *syntax.Tree {
	tree, err := parser.Parse(lang, src)
	require.NoError(t, err)
	return tree
}

const greet = `package main

import "fmt"

func greet(name string) string {
	return "hi " + name
}

// main is
// documented.
func main() {
	if x {
		a()
	} else {
		b(1,
			2)
	}

	switch y {
	case 1:
		c()
	}
}
`

const class = `import os

@cached
# why
def f(a):
    if a:
        g()
        h()
    return a

class C:
    """doc
    more"""
    x = [
        1,
    ]
    @d
    async def m(self): pass
`

const script = `export const f = async (a) => {
  a.b()
    .c();
};
const o = {
  k: {
    v: 1,
  },
};
let = = ;
g(
`

const rust = `#[derive(Debug)]
/// doc
struct S {
    a: u8,
}

impl S {
    #[inline]
    fn f(&self) -> u8 {
        self.a
    }
}
`

func TestBlock(t *testing.T) {
	for _, c := range []struct {
		lang              syntax.Lang
		src               string
		line, last, above int // last 0: no block
	}{
		{syntax.Go, greet, 1, 1, 0},
		{syntax.Go, greet, 2, 0, 0},
		{syntax.Go, greet, 5, 7, 0},
		{syntax.Go, greet, 6, 6, 0},
		{syntax.Go, greet, 7, 0, 0},
		{syntax.Go, greet, 9, 9, 0},
		{syntax.Go, greet, 11, 23, 9},
		{syntax.Go, greet, 12, 17, 0}, // the first statement, not the list
		{syntax.Go, greet, 13, 13, 0},
		{syntax.Go, greet, 14, 0, 0},
		{syntax.Go, greet, 15, 16, 0},
		{syntax.Go, greet, 16, 16, 0},
		{syntax.Go, greet, 20, 21, 0},
		{syntax.Go, greet, 24, 0, 0},
		{syntax.Go, greet, 0, 0, 0},
		{syntax.Go, greet, -1, 0, 0},
		{syntax.Python, class, 3, 9, 0}, // the decorator and what it decorates
		{syntax.Python, class, 5, 9, 3},
		{syntax.Python, class, 6, 8, 0},
		{syntax.Python, class, 7, 7, 0},
		{syntax.Python, class, 11, 18, 0},
		{syntax.Python, class, 12, 13, 0},
		{syntax.Python, class, 13, 0, 0},
		{syntax.Python, class, 14, 16, 0},
		{syntax.Python, class, 18, 18, 17},
		{syntax.JavaScript, script, 1, 4, 0},
		{syntax.JavaScript, script, 2, 3, 0},
		{syntax.JavaScript, script, 3, 0, 0},
		{syntax.JavaScript, script, 6, 8, 0},
		{syntax.JavaScript, script, 10, 0, 0},
		{syntax.Rust, rust, 3, 5, 1},
		{syntax.Rust, rust, 9, 11, 8},
		{syntax.JSON, "{\n  \"a\": [\n    1\n  ]\n}\n", 2, 4, 0},
		{syntax.JSON, "{\n  \"a\": [\n    1\n  ]\n}\n", 1, 5, 0},
	} {
		b, err := parse(t, c.lang, c.src).Block(c.line)
		if c.last == 0 {
			var e *syntax.BlockError
			require.ErrorAs(t, err, &e, "%s line %d", c.lang, c.line)
			assert.Equal(t, c.line, e.Line)
			continue
		}
		if assert.NoError(t, err, "%s line %d", c.lang, c.line) {
			assert.Equal(t, []int{c.line, c.last, c.above}, []int{b.First, b.Last, b.Above}, "%s line %d", c.lang, c.line)
		}
	}
}

func TestBlockErrorSaysWhatWouldWork(t *testing.T) {
	tree := parse(t, syntax.Go, greet)
	_, err := tree.Block(7)
	assert.EqualError(t, err, `line 7: no block begins with "}"; name the lines themselves instead, as in 7..8`)
	_, err = tree.Block(2)
	assert.EqualError(t, err, "line 2: it is blank, so that no block begins there; name the lines themselves instead, as in 2..3")
	_, err = parse(t, syntax.Go, "package p\n\nfunc f() {\n\tx = = 1\n}\n").Block(3)
	assert.EqualError(t, err, "line 3: the code there does not parse, so that its end is not known; name the lines themselves instead, as in 3..4")
}

func TestAround(t *testing.T) {
	tree := parse(t, syntax.Go, greet)
	for line, want := range map[int][2]int{5: {5, 7}, 7: {5, 7}, 6: {6, 6}, 14: {12, 17}, 17: {12, 17}, 18: {11, 23}, 22: {19, 22}} {
		b, err := tree.Around(line)
		require.NoError(t, err, "line %d", line)
		assert.Equal(t, want, [2]int{b.First, b.Last}, "line %d", line)
	}
	_, err := tree.Around(99)
	assert.Error(t, err)
	_, err = tree.Around(2)
	assert.Error(t, err)
}

func TestFaults(t *testing.T) {
	assert.Empty(t, parse(t, syntax.Go, greet).Faults(0))
	all := parse(t, syntax.JavaScript, "let = = ;\nf(1);\n\nf(1,;\n").Faults(0)
	require.NotEmpty(t, all)
	assert.Equal(t, 1, all[0].Line)
	assert.Equal(t, 4, all[len(all)-1].Line)
	assert.Len(t, parse(t, syntax.JavaScript, "let = = ;\nf(1,;\nlet = = ;").Faults(1), 1)
	missing := parse(t, syntax.C, "int x = f(1;\n").Faults(0)
	require.NotEmpty(t, missing)
	assert.Equal(t, ")", missing[0].Missing)
}

func TestSymbols(t *testing.T) {
	const goSrc = "package p\n\ntype T[E any] struct {\n\tName string\n}\n\nfunc (t *T[E]) Get() int { return 1 }\n\nfunc Get() {\n\tGet()\n}\n\nvar (\n\ta = 1\n\tb = 2\n)\n"
	const tsSrc = "export class A {\n  get(): void {}\n  b = 1;\n}\nexport const get = () => {\n  get();\n};\ninterface I { x: A }\n"
	const cSrc = "int f(int);\nstruct s { int f; };\nstruct s x;\nint *f(int a) {\n  return 0;\n}\n"
	const cppSrc = "namespace n {\nclass A { void f(); };\n}\nvoid n::A::f() {\n}\n"
	const javaSrc = "class A {\n  void g() { f(); }\n  void f() {\n  }\n}\n"
	for _, c := range []struct {
		lang syntax.Lang
		src  string
		name string
		want string // name@first-last, by spaces
	}{
		{syntax.Go, goSrc, "Get", "T.Get@7-7 Get@9-11"},
		{syntax.Go, goSrc, "T.Get", "T.Get@7-7"},
		{syntax.Go, goSrc, "T", "T@3-5"},
		{syntax.Go, goSrc, "T.Name", "T.Name@4-4"},
		{syntax.Go, goSrc, "b", "b@15-15"},
		{syntax.Go, goSrc, "nothing", ""},
		{syntax.Go, goSrc, "..", ""},
		{syntax.TypeScript, tsSrc, "get", "A.get@2-2 get@5-7"},
		{syntax.TypeScript, tsSrc, "A", "A@1-4"},
		{syntax.TypeScript, tsSrc, "A#get", "A.get@2-2"},
		{syntax.C, cSrc, "f", "s.f@2-2 f@4-6 f@1-1"},
		{syntax.C, cSrc, "s", "s@2-2"},
		{syntax.CPP, cppSrc, "A::f", "n.A.f@4-5 n.A.f@2-2"},
		{syntax.Java, javaSrc, "f", "A.f@3-4"},
		{syntax.Rust, rust, "S.f", "S.f@9-11"},
		{syntax.Rust, rust, "S", "S@3-5"},
		{syntax.Python, class, "f", "f@5-9"},
		{syntax.Python, class, "C.m", "C.m@18-18"},
	} {
		var got []string
		for _, s := range parse(t, c.lang, c.src).Symbols(c.name, 0) {
			got = append(got, s.Name+"@"+strconv.Itoa(s.Block.First)+"-"+strconv.Itoa(s.Block.Last))
		}
		assert.Equal(t, c.want, strings.Join(got, " "), "%s %s", c.lang, c.name)
	}
	assert.Len(t, parse(t, syntax.Go, goSrc).Symbols("Get", 1), 1)
}
