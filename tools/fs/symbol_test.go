//go:build cgo

package fs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/tools/fs"
)

const greet = `package main

import "fmt"

func greet(name string) string {
	return "hi " + name
}

func main() {
	fmt.Println(greet("bob"))
}
`

// TestReadByTrees holds what is shown of a symbol and around a line.
func TestReadByTrees(t *testing.T) {
	long := "package p\n\nfunc long() {\n" + strings.Repeat("\tx()\n", 24) + "}\n"
	b := open(t, map[string]string{
		"main.go": greet,
		"long.go": long,
		"a.py":    "class A:\n    def run(self):\n        pass\n\n\ndef run():\n    class A:\n        pass\n",
		"bad.go":  "package p\n\nfunc f( {\n",
		"k.json":  "{\n  \"a\": {\n    \"b\": 1\n  }\n}\n",
	})
	for _, c := range []struct {
		name          string
		target        fs.Target
		content, warn string // content without its header
	}{
		{"a function", fs.Target{Path: "main.go", Symbol: "greet"}, "5| func greet(name string) string {\n6| \treturn \"hi \" + name\n7| }", ""},
		{"the outermost of two", fs.Target{Path: "a.py", Symbol: "A"}, "1| class A:\n2|     def run(self):\n3|         pass", ""},
		{"a qualified name", fs.Target{Path: "a.py", Symbol: "A.run"}, "2|     def run(self):\n3|         pass", ""},
		{"a function from its first line", fs.Target{Path: "main.go", Offset: 9}, "9| func main() {\n10| \tfmt.Println(greet(\"bob\"))\n11| }", ""},
		{"by the legacy name", fs.Target{Path: "main.go", Line: 9}, "9| func main() {\n10| \tfmt.Println(greet(\"bob\"))\n11| }", ""},
		{"an indented key", fs.Target{Path: "k.json", Offset: 2}, "2|   \"a\": {\n3|     \"b\": 1\n4|   }", ""},
		{"from its last line", fs.Target{Path: "main.go", Offset: 7}, "5| func greet(name string) string {\n6| \treturn \"hi \" + name\n7| }", ""},
		{"a long block", fs.Target{Path: "long.go", Symbol: "long"},
			"3| func long() {\n4| \tx()\n5| \tx()\n…\n27| \tx()\n28| }\n", ""},
		{"a line that begins no block", fs.Target{Path: "main.go", Offset: 4}, strings.TrimSuffix(shownAll(greet), "\n"), "the whole file is shown"},
		{"no such symbol", fs.Target{Path: "main.go", Symbol: "none"}, strings.TrimSuffix(shownAll(greet), "\n"), "none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := b.read(c.target)
			assert.Contains(t, says(r.Warnings), c.warn)
			assert.Equal(t, c.warn == "", r.Warnings == nil, says(r.Warnings))
			if c.name == "a long block" {
				assert.Contains(t, r.Content, "3| func long() {\n4| \tx()\n5| \tx()\n")
				assert.Contains(t, r.Content, "\n27| \tx()\n28| }")
				assert.Contains(t, r.Content, "offset 6 and limit 21")
				assert.NotContains(t, r.Content, "\n6| ")
				return
			}
			shown, notice, more := strings.Cut(r.Content, "\n[")
			assert.Equal(t, r.Header+"\n"+c.content, shown)
			if more {
				assert.Regexp(t, `^\d+ more lines? after this: go on with offset`, notice)
			}
		})
	}
	r := b.read(fs.Target{Path: "bad.go", Offset: 3})
	assert.Contains(t, says(r.Warnings), "does not parse")
	assert.Contains(t, r.Content, "3| func f( {")
}

func shownAll(text string) string {
	var s strings.Builder
	n := 0
	for line := range strings.Lines(text) {
		n++
		fmt.Fprintf(&s, "%d| %s", n, line)
	}
	return s.String()
}

func TestSymbolsOfAFolder(t *testing.T) {
	files := map[string]string{
		"b.go": "package p\n\nfunc Run() {}\n", "a/x.py": "class T:\n    def Run(self):\n        pass\n", "c.txt": "Run\n",
		"ignored.go": "package p\n\nfunc Run() {}\n", ".gitignore": "ignored.go\n", "d.js": "Run();\n",
	}
	b := open(t, files)
	paths := func(symbol string) (out []string, warned string) {
		for _, r := range b.Read(b.Context(), []fs.Target{{Path: ".", Symbol: symbol}}) {
			if r.Content != "" {
				out = append(out, r.Header+" "+strings.SplitN(r.Content, "\n", 3)[1])
			}
			warned += says(r.Warnings)
		}
		return out, warned
	}
	got, warned := paths("Run")
	require.Len(t, got, 2, "sorted, without what is ignored and what only calls")
	assert.Contains(t, got[0], "a/x.py")
	assert.Contains(t, got[0], "2|     def Run(self):")
	assert.Contains(t, got[1], "b.go")
	assert.Empty(t, warned)
	got, _ = paths("T.Run")
	assert.Len(t, got, 1)
	got, warned = paths("Missing")
	assert.Empty(t, got)
	assert.Contains(t, warned, "no definition of Missing in 3 files")

	for i := range fs.MaxSymbols + 5 {
		b.put(fmt.Sprintf("many/%03d.go", i), "package p\n\nfunc Many() {}\n")
	}
	got, warned = paths("Many")
	assert.Len(t, got, fs.MaxSymbols)
	assert.Contains(t, got[0], "many/000.go")
	assert.Contains(t, warned, "only the first 50 definitions")
}

// TestBlocks holds edits that name a block by the line on which it begins.
func TestBlocks(t *testing.T) {
	for _, c := range []struct {
		name, ops string
		want      string // "": refused
		says      string
	}{
		{"replace", "replace block 5:\n+func greet(name string) string {\n+\treturn fmt.Sprintf(\"hi %s\", name)\n+}",
			strings.Replace(greet, `"hi " + name`, `fmt.Sprintf("hi %s", name)`, 1), ""},
		{"delete", "delete block 5", strings.Replace(greet, "func greet(name string) string {\n\treturn \"hi \" + name\n}\n", "", 1), ""},
		{"insert behind", "insert after block 5:\n+\n+func bye() {}", strings.Replace(greet, "name\n}\n", "name\n}\n\nfunc bye() {}\n", 1), ""},
		{"a block of one line", "replace block 6:\n+\treturn name", strings.Replace(greet, `"hi " + name`, "name", 1), "one line"},
		{"a closing bracket", "replace block 7:\n+}", "", "EDIT_BLOCK_UNRESOLVED"},
		{"a blank line", "delete block 4", "", "EDIT_BLOCK_UNRESOLVED"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := open(t, map[string]string{"main.go": greet})
			got, err := b.edit(fmt.Sprintf(`{'path':'main.go','file_hash':'8E3A','ops':%s}`, strings.ReplaceAll(fmt.Sprintf("%q", c.ops), `\"`, `\u0022`)))
			if c.want == "" {
				assert.Equal(t, c.says, fs.CodeOf(err), "%v", err)
				assert.Equal(t, greet, b.get("main.go"))
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, b.get("main.go"))
			assert.Contains(t, strings.Join(got[0].Warnings, "; "), c.says)
			assert.Equal(t, c.says == "", len(got[0].Warnings) == 0, "%v", got[0].Warnings)
		})
	}
	b := open(t, map[string]string{"a.py": "@deco\n# about f\ndef f():\n    pass\n", "n.txt": "x\n"})
	tag := b.read(fs.Target{Path: "a.py"}).FileHash
	got, err := b.edit(fmt.Sprintf(`{'path':'a.py','file_hash':'%s','ops':'replace block 3:\n+def g():\n+    pass'}`, tag))
	require.NoError(t, err)
	assert.Equal(t, "@deco\n# about f\ndef g():\n    pass\n", b.get("a.py"), "what stands above is no part of it")
	assert.Contains(t, strings.Join(got[0].Warnings, "; "), "above")
	tag = b.read(fs.Target{Path: "n.txt"}).FileHash
	_, err = b.edit(fmt.Sprintf(`{'path':'n.txt','file_hash':'%s','ops':'delete block 1'}`, tag))
	assert.Equal(t, "EDIT_BLOCK_UNRESOLVED", fs.CodeOf(err), "%v", err)
}

// TestRepairs holds that a slip at the border of an edit is mended where a
// parse proves it, told where none does, and left alone on demand.
func TestRepairs(t *testing.T) {
	const text = "function f() {\n  if (a) {\n    b();\n  }\n}\n"
	for _, c := range []struct {
		name, file, ops string
		asIs            bool
		want            string
		says            string
	}{
		{"lines that still stand are repeated", "a.js", "replace 3:\n+    c();\n+  }", false, "function f() {\n  if (a) {\n    c();\n  }\n}\n", "repeated what stays beside"},
		{"a bracket is swallowed", "a.js", "replace 3..4:\n+    c();", false, "function f() {\n  if (a) {\n    c();\n  }\n}\n", ""},
		{"on demand nothing is mended", "a.js", "replace 3..4:\n+    c();", true, "function f() {\n  if (a) {\n    c();\n}\n", "parse"},
		{"without a grammar nothing is", "a.txt", "replace 3:\n+    c();\n+  }", false, "function f() {\n  if (a) {\n    c();\n  }\n  }\n}\n", ""},
		{"an edit that breaks the parse stands", "a.js", "replace 3:\n+    c(;", false, "function f() {\n  if (a) {\n    c(;\n  }\n}\n", "line 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := open(t, map[string]string{c.file: text})
			if c.asIs {
				b.NoRepair()
			}
			tag := b.read(fs.Target{Path: c.file}).FileHash
			got, err := b.edit(fmt.Sprintf(`{'path':'%s','file_hash':'%s','ops':%s}`, c.file, tag, fmt.Sprintf("%q", c.ops)))
			require.NoError(t, err)
			assert.Equal(t, c.want, b.get(c.file))
			require.NotEmpty(t, got[0].Warnings, "a repair is never silent")
			assert.Contains(t, strings.Join(got[0].Warnings, "; "), c.says)
		})
	}
}
