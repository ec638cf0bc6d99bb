//go:build cgo

package sitter

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	official "github.com/tree-sitter/go-tree-sitter"

	"dsh-acp/internal/syntax"
)

// snippets parse, each in its language.
var snippets = map[syntax.Lang]string{
	syntax.Go:         "package p\n\n// f does.\nfunc f(a int) error {\n\treturn g(a, \"é\")\n}\n",
	syntax.JavaScript: "const f = async (a) => { await g(`x${a}`); };\nconst e = <b c=\"d\">t</b>;\n",
	syntax.TypeScript: "interface I { a: string }\nconst x = <I>y;\n",
	syntax.TSX:        "const x: I = <T a={b} />;\n",
	syntax.Python:     "@d\ndef f(a: int) -> str:\n    \"\"\"doc\"\"\"\n    return f\"{a}\"  # c\n",
	syntax.Rust:       "impl T { fn f(&self) -> u8 { vec![1] } }\n",
	syntax.Java:       "class C { void f() { g(1); } }\n",
	syntax.C:          "#define X 1\nint main(void) { return X; }\n",
	syntax.CPP:        "namespace n { template <class T> T f(T t) { return t; } }\n",
	syntax.JSON:       "{\"a\": [1, true, null]}\n",
	syntax.CSharp:     "class C { int F() => 1; }\n",
	syntax.Ruby:       "class C\n  def f(a) = a.b { |c| c }\nend\n",
	syntax.PHP:        "<?php\nclass C { function f($a) { return $a->b; } }\n",
	syntax.Bash:       "f() { echo \"$1\" | grep x; }\n",
	syntax.CSS:        "a > b { color: red; }\n",
	syntax.HTML:       "<p class=\"a\">t<br></p>\n",
	syntax.Scala:      "object O { def f(a: Int) = a match { case 1 => 2 } }\n",
}

func TestEveryLanguageParses(t *testing.T) {
	p := New(Options{})
	assert.Len(t, snippets, len(Langs()))
	for lang, src := range snippets {
		tree, err := p.Parse(lang, src)
		require.NoError(t, err, lang)
		assert.Empty(t, tree.Faults(0), lang)
		assert.Equal(t, lang, tree.Grammar.Lang)
		assert.Contains(t, Langs(), lang)
		assert.Equal(t, src, tree.Source)
	}
}

// The nodes are those that the Go part of the official library shows.
func TestInterface(t *testing.T) {
	p := New(Options{})
	for lang, get := range grammars {
		for _, src := range []string{snippets[lang], "", "(((", "\x00\xff", snippets[lang] + ") } ="} {
			tree, err := p.Parse(lang, src)
			require.NoError(t, err)
			theirs := official.NewParser()
			require.NoError(t, theirs.SetLanguage(official.NewLanguage(get())))
			want := theirs.Parse([]byte(src), nil)
			n := 0
			var walk func(c *official.TreeCursor, parent int)
			walk = func(c *official.TreeCursor, parent int) {
				require.Less(t, n, len(tree.Nodes))
				i, node := n, c.Node()
				n++
				ours := tree.Nodes[i]
				require.Equal(t, node.Kind(), tree.KindName(i))
				require.Equal(t, [2]uint{node.StartByte(), node.EndByte()}, [2]uint{uint(ours.Start), uint(ours.End)})
				require.Equal(t, c.FieldName(), tree.Grammar.FieldName(ours.Field))
				require.Equal(t, parent, tree.Parent(i))
				require.Equal(t, []bool{node.IsNamed(), node.IsExtra(), node.IsError(), node.IsMissing(), node.HasError()},
					[]bool{ours.Is(syntax.Named), ours.Is(syntax.Extra), ours.Is(syntax.Error), ours.Is(syntax.Missing), ours.Is(syntax.HasError)})
				require.Len(t, tree.Children(i), int(node.ChildCount()))
				if c.GotoFirstChild() {
					walk(c, i)
					for c.GotoNextSibling() {
						walk(c, i)
					}
					c.GotoParent()
				}
				require.Equal(t, n, int(ours.Last))
			}
			c := want.Walk()
			walk(c, -1)
			require.Len(t, tree.Nodes, n)
			c.Close()
			want.Close()
			theirs.Close()
		}
	}
}

// A text that was parsed again in part has a fault where one that is parsed
// afresh has.
func TestRevise(t *testing.T) {
	p := New(Options{})
	for lang, src := range snippets {
		for _, with := range []string{"", "(", "}", "\n", "x", "\"", "1 + 1", "\n    y\n", "*/", "é"} {
			for at := 0; at <= len(src); at++ {
				if at < len(src) && src[at] >= 0x80 && src[at] < 0xC0 {
					continue
				}
				end := min(at+at%3, len(src))
				edits := []syntax.Edit{{Start: at, End: end, New: with}}
				if end+2 < len(src) {
					edits = append(edits, syntax.Edit{Start: end + 1, End: end + 2, New: with})
				}
				var before *syntax.Tree
				clean, err := p.Revise(lang, src, func(t *syntax.Tree) ([]syntax.Edit, error) {
					before = t
					return edits, nil
				})
				require.NoError(t, err)
				require.Equal(t, src, before.Source)
				after, err := p.Parse(lang, apply(src, edits))
				require.NoError(t, err)
				require.Equal(t, len(after.Faults(0)) == 0, clean, "%s: %q", lang, after.Source)
			}
		}
	}
	_, err := p.Revise(syntax.Go, "package p\n", func(*syntax.Tree) ([]syntax.Edit, error) { return nil, os.ErrInvalid })
	require.ErrorIs(t, err, os.ErrInvalid)
	clean, err := p.Revise(syntax.Go, "package = p\n", func(*syntax.Tree) ([]syntax.Edit, error) { return nil, nil })
	require.NoError(t, err)
	require.False(t, clean)
}

func TestLimits(t *testing.T) {
	_, err := New(Options{MaxBytes: 4}).Parse(syntax.Go, "12345")
	var limit *syntax.LimitError
	require.ErrorAs(t, err, &limit)
	assert.Equal(t, "parsing 5 bytes of go: more than the 4 bytes that are parsed", err.Error())

	p := New(Options{Timeout: time.Nanosecond})
	long := strings.Repeat("f(1);\n", 20000)
	_, err = p.Parse(syntax.JavaScript, long)
	require.ErrorAs(t, err, &limit)
	assert.Equal(t, "parsing 120000 bytes of javascript: longer than the 1ns that one text may take", err.Error())

	// The parser that was stopped starts afresh.
	p.options.Timeout = DefaultTimeout
	tree, err := p.Parse(syntax.JavaScript, "f(1);\n")
	require.NoError(t, err)
	assert.Equal(t, 6, int(tree.Nodes[0].End))
	assert.Empty(t, tree.Faults(0))

	_, err = p.Parse("cobol", "")
	var unsupported *syntax.UnsupportedError
	require.ErrorAs(t, err, &unsupported)
	assert.Equal(t, "no grammar for cobol", err.Error())
	_, err = p.Grammar("cobol")
	require.ErrorAs(t, err, &unsupported)
}

func TestParserIsSharedBetweenGoroutines(t *testing.T) {
	p := New(Options{})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for k := range 20 {
				lang := Langs()[(i+k)%len(Langs())]
				tree, err := p.Parse(lang, snippets[lang])
				if assert.NoError(t, err) {
					assert.Empty(t, tree.Faults(0), lang)
				}
			}
		})
	}
	wg.Wait()
}

func TestDeepAndWideTexts(t *testing.T) {
	p := New(Options{})
	for _, src := range []string{strings.Repeat("[", 20000) + strings.Repeat("]", 20000), "[" + strings.Repeat("1,", 50000) + "1]"} {
		tree, err := p.Parse(syntax.JSON, src)
		require.NoError(t, err)
		assert.Empty(t, tree.Faults(0))
		at := tree.Smallest(len(src)/2, len(src)/2+1)
		assert.LessOrEqual(t, int(tree.Nodes[at].Start), len(src)/2)
		assert.Greater(t, int(tree.Nodes[at].End), len(src)/2)
	}
}

// resident returns the memory that the process holds, in bytes.
func resident(t *testing.T) int {
	b, err := os.ReadFile("/proc/self/statm")
	require.NoError(t, err)
	pages, err := strconv.Atoi(strings.Fields(string(b))[1])
	require.NoError(t, err)
	return pages * os.Getpagesize()
}

func TestMemoryStaysFlat(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the memory of C code is read from /proc, which is Linux's")
	}
	p := New(Options{})
	parse := func(n int) {
		for i := range n {
			_, err := p.Parse(syntax.Go, snippets[syntax.Go]+fmt.Sprintf("var x%d = 1\n", i))
			require.NoError(t, err)
		}
		runtime.GC()
	}
	parse(1000)
	before := resident(t)
	parse(10000)
	// One leaked tree is a few KB: 10,000 of them were tens of MB.
	assert.Less(t, resident(t)-before, 8<<20)
}

func BenchmarkParse(b *testing.B) {
	src := "package p\n" + strings.Repeat("func f(a int) error {\n\tif err := g(a, \"b\"); err != nil {\n\t\treturn err\n\t}\n\treturn nil\n}\n\n", 500)
	p := New(Options{})
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		if _, err := p.Parse(syntax.Go, src); err != nil {
			b.Fatal(err)
		}
	}
}
