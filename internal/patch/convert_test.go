package patch

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/text"
)

func (w world) lookup(t testing.TB) Lookup {
	return func(path string) (text.Doc, bool) {
		s, ok := w[path]
		return mustParse(t, s), ok
	}
}

// convertCases are patches, and the files before and after. A case without
// problems must lead there by its operations.
var convertCases = []struct {
	name     string
	before   world
	patch    string
	after    world
	problems []string
}{
	{"codex update and add", world{"a.py": "def f():\n    return 1\n\nx = 1\n"},
		"*** Begin Patch\n*** Update File: a.py\n@@ def f():\n-    return 1\n+    return 2\n*** Add File: b/c.py\n+one\n+\n+two\n*** End Patch",
		world{"a.py": "def f():\n    return 2\n\nx = 1\n", "b/c.py": "one\n\ntwo\n"}, nil},
	{"codex anchor tells two places apart", world{"a": "f:\n  x\ng:\n  x\n"},
		"*** Begin Patch\n*** Update File: a\n@@ g:\n-  x\n+  y\n*** End Patch", world{"a": "f:\n  x\ng:\n  y\n"}, nil},
	{"codex order tells them apart", world{"a": "f\nx\ng\nx\n"},
		"*** Begin Patch\n*** Update File: a\n@@\n f\n-x\n+1\n@@\n-x\n+2\n*** End Patch\n", world{"a": "f\n1\ng\n2\n"}, nil},
	{"codex, two places", world{"a": "x\ny\nx\n"}, "*** Begin Patch\n*** Update File: a\n-x\n+z\n*** End Patch", nil, []string{"a: hunk 1 fits at line 1 and at line 3"}},
	{"codex lines that only come", world{"a": "f\ng\n"}, "*** Begin Patch\n*** Update File: a\n@@ f\n+new\n*** End Patch", world{"a": "f\nnew\ng\n"}, nil},
	{"codex lines at the end", world{"a": "f\ng"}, "*** Begin Patch\n*** Update File: a\n@@\n+new\n*** End of File\n*** End Patch", world{"a": "f\ng\nnew"}, nil},
	{"codex end of file", world{"a": "x\ny\nx\n"}, "*** Begin Patch\n*** Update File: a\n-x\n+z\n*** End of File\n*** End Patch", world{"a": "x\ny\nz\n"}, nil},
	{"codex blanks differ", world{"a": "\tf  \n\tg\n"}, "*** Begin Patch\n*** Update File: a\n f\n-g\n+\th\n*** End Patch", world{"a": "\tf  \n\th\n"}, nil},
	{"codex, empty lines that part", world{"a": "x\n", "b": "y\n"}, "*** Begin Patch\n*** Update File: a\n-x\n+1\n\n*** Update File: b\n-y\n+2\n\n*** End Patch\n", world{"a": "1\n", "b": "2\n"}, nil},
	{"codex with line numbers", world{"a": "x\ny\n"}, "*** Begin Patch\n*** Update File: a\n@@ -1,2 +1,2 @@\n x\n-y\n+z\n*** End Patch\n", world{"a": "x\nz\n"}, nil},
	{"codex, lines that go", world{"a": "x\n\ny\n"}, "*** Begin Patch\n*** Update File: a\n x\n-\n y\n*** End Patch\n", world{"a": "x\ny\n"}, nil},
	{"codex, an empty line comes", world{"a": "x\ny\n"}, "*** Begin Patch\n*** Update File: a\n-x\n+\n y\n*** End Patch\n", world{"a": "\ny\n"}, nil},
	{"codex in a CRLF file", world{"a": "x\r\ny\r\n"}, "*** Begin Patch\r\n*** Update File: a\r\n x\r\n-y\r\n+z\r\n+w\r\n*** End Patch\r\n", world{"a": "x\r\nz\r\nw\r\n"}, nil},
	{"codex delete and move", world{"a": "x\n", "b": "y\n"}, "*** Begin Patch\n*** Delete File: b\n*** Update File: a\n*** Move to: c\n-x\n+z\n*** End Patch",
		world{"a": "z\n"}, []string{"b: apply_patch deletes no files", "c: apply_patch renames no files"}},
	{"codex not there", world{"a": "one\n two\n"}, "*** Begin Patch\n*** Update File: a\n-two\n-three\n+z\n*** End Patch", nil, []string{"not in the file; the closest is line 2"}},
	{"codex anchor not there", world{"a": "x\n"}, "*** Begin Patch\n*** Update File: a\n@@ f\n-x\n+z\n*** End Patch", nil, []string{`no line below line 1 is "f"`}},
	{"codex file not there", nil, "*** Begin Patch\n*** Update File: a\n-x\n+z\n*** End Patch", nil, []string{"a: there is no such text file"}},
	{"codex file is there", world{"a": ""}, "*** Begin Patch\n*** Add File: a\n+z\n*** End Patch", nil, []string{"a: the patch adds the file, but it exists"}},
	{"codex cut off", world{"a": "x\n"}, "*** Begin Patch\n*** Update File: a\n-x\n+z\n", world{"a": "z\n"}, []string{"may be cut off"}},
	{"codex stray lines", world{"a": "x\n"}, "*** Begin Patch\nhello\n*** Update File: a\nx\n-x\n+z\n*** Add File: n\nx\n+y\n*** End Patch", world{"a": "z\n", "n": "y\n"},
		[]string{"line 2 of the patch belongs to no file", "a: line 4 of the patch begins with none", "n: line 8 of the patch lacks its +"}},
	{"codex nothing", nil, "*** Begin Patch\n*** End Patch", nil, []string{"names no file"}},
	{"codex no change", world{"a": "x\n"}, "*** Begin Patch\n*** Update File: a\n x\n*** End Patch", nil, []string{"changes nothing"}},
	{"codex no line", world{"a": "x\n"}, "*** Begin Patch\n*** Update File: a\n*** End Patch", nil, []string{"changes no line"}},

	{"unified", world{"a": numbered(20)},
		"--- a/a\t2024-01-01\n+++ b/a\t2024-01-02\n@@ -1,4 +1,5 @@\n l1\n-l2\n+L2\n+L2b\n l3\n l4\n@@ -18,3 +19,2 @@ f()\n l18\n-l19\n l20\n",
		world{"a": strings.NewReplacer("l2\n", "L2\nL2b\n", "l19\n", "").Replace(numbered(20))}, nil},
	{"unified, numbers off", world{"a": numbered(9)}, "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n l5\n-l6\n+x\n", world{"a": strings.Replace(numbered(9), "l6", "x", 1)}, nil},
	{"unified, two places, numbers tell", world{"a": "x\ny\nx\n"}, "--- a\n+++ a\n@@ -3 +3 @@\n-x\n+z\n", world{"a": "x\ny\nz\n"}, nil},
	{"unified, two places, numbers off", world{"a": "x\ny\nx\n"}, "--- a\n+++ a\n@@ -2 +2 @@\n-x\n+z\n", nil, []string{"fits at line 1 and at line 3"}},
	{"unified without context", world{"a": "x\ny\n"}, "--- a\n+++ a\n@@ -1,0 +2 @@\n+z\n", world{"a": "x\nz\ny\n"}, nil},
	{"unified at the top", world{"a": "x\n"}, "--- a\n+++ a\n@@ -0,0 +1 @@\n+z\n", world{"a": "z\nx\n"}, nil},
	{"unified into an empty file", world{"a": ""}, "--- a\n+++ a\n@@ -0,0 +1 @@\n+z\n", world{"a": "z\n"}, nil},
	{"git, new file", nil, "diff --git a/n b/n\nnew file mode 100644\nindex 000..111\n--- /dev/null\n+++ b/n\n@@ -0,0 +1,2 @@\n+one\n+two\n\\ No newline at end of file\n", world{"n": "one\ntwo"}, nil},
	{"git, file goes", world{"n": "x\n"}, "diff --git a/n b/n\ndeleted file mode 100644\n--- a/n\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n", nil, []string{"n: apply_patch deletes no files"}},
	{"git, renamed", world{"a": "x\n"}, "diff --git a/a b/c\nrename from a\nrename to c\n--- a/a\n+++ b/c\n@@ -1 +1 @@\n-x\n+y\n", world{"a": "y\n"}, []string{"c: apply_patch renames no files", "change a in its place"}},
	{"git, binary", nil, "diff --git a/n b/n\nBinary files a/n and b/n differ\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n", nil, []string{"binary", "a: there is no such"}},
	{"git, quoted path", world{"é\t": "x\n"}, "--- \"a/\\303\\251\\t\"\n+++ \"b/\\303\\251\\t\"\n@@ -1 +1 @@\n-x\n+y\n", world{"é\t": "y\n"}, nil},
	{"the last break comes", world{"a": "x\ny"}, "--- a\n+++ a\n@@ -1,2 +1,2 @@\n x\n-y\n\\ No newline at end of file\n+z\n", world{"a": "x\nz\n"}, nil},
	{"the last break goes", world{"a": "x\ny\n"}, "--- a\n+++ a\n@@ -1,2 +1,2 @@\n x\n-y\n+z\n\\ No newline at end of file\n", world{"a": "x\nz"}, nil},
	{"no break before and after", world{"a": "x\ny"}, "--- a\n+++ a\n@@ -1,2 +1,2 @@\n-x\n+z\n y\n\\ No newline at end of file\n", world{"a": "z\ny"}, nil},
	{"a removed line like a header", world{"a": "-- x\n++ y\n"}, "--- a\n+++ a\n@@ -1,2 +1 @@\n--- x\n ++ y\n", world{"a": "++ y\n"}, nil},
	{"prose around", world{"a": "x\n"}, "Here is the diff:\n\n```\n--- a\n+++ a\n@@ -1 +1 @@\n-x\n+y\n```\nDone.\n", world{"a": "y\n"}, nil},
	{"hunk without a file", nil, "@@ -1 +1 @@\n-x\n+y\n", nil, []string{"no file header"}},
	{"no path", nil, "*** Begin Patch\n*** Add File: \n+x\n*** End Patch", nil, []string{"no path"}},
	{"neither", nil, "hello", nil, []string{"neither"}},

	// What models make of the formats.
	{"codex, two patches", world{"a": "x\n", "b": "x\n"}, "*** Begin Patch\n*** Update File: a\n-x\n+y\n*** End Patch\nand\n*** Begin Patch\n*** Update File: b\n-x\n+z\n*** End Patch\n", world{"a": "y\n", "b": "z\n"}, nil},
	{"codex in a fence", world{"a": "x\n"}, "```\n*** Begin Patch\n*** Update File: a\n-x\n+y\n*** End Patch\n```", world{"a": "y\n"}, nil},
	{"codex in a command", world{"a": "x\n"}, "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a\n-x\n+y\n*** End Patch\nEOF\n", world{"a": "y\n"}, nil},
	{"codex without its frame", world{"a": "x\n"}, "*** Update File: a\n@@\n-x\n+y\n", world{"a": "y\n"}, nil},
	{"codex without blanks behind the stars", world{"a": "x\n"}, "***Begin Patch\n***Update File: a\n@@\n-x\n+y\n***End Patch\n", world{"a": "y\n"}, nil},
	{"codex, a part of the anchor's line", world{"a": "func f() {\n\t1\n}\nfunc g() {\n\t1\n}\n"}, "*** Begin Patch\n*** Update File: a\n@@ func g()\n-\t1\n+\t2\n*** End Patch", world{"a": "func f() {\n\t1\n}\nfunc g() {\n\t2\n}\n"}, nil},
	{"codex, one file twice", world{"a": "x\ny\n"}, "*** Begin Patch\n*** Update File: a\n-y\n+Y\n*** Update File: a\n-x\n+X\n*** End Patch", world{"a": "X\nY\n"}, nil},
	{"codex, two hunks on one line", world{"a": "x\ny\n"}, "*** Begin Patch\n*** Update File: a\n-y\n+Y\n*** Update File: a\n-y\n+Z\n*** End Patch", world{"a": "x\nY\n"}, []string{"a: overlaps operation 0"}},
	{"codex, already as it should be", world{"a": "x\n"}, "*** Begin Patch\n*** Update File: a\n-x\n+x\n*** End Patch", nil, []string{"every file already is"}},
	{"a hunk without numbers", world{"a": "x\ny\n"}, "--- a/a\n+++ b/a\n@@ ... @@\n x\n-y\n+z\n", world{"a": "x\nz\n"}, nil},
	{"a hunk under the line above it", world{"a": "f\nx\ng\nx\n"}, "--- a/a\n+++ b/a\n@@ g @@\n-x\n+z\n", world{"a": "f\nx\ng\nz\n"}, nil},
	{"no hunk header at all", world{"a": "x\ny\n"}, "--- a/a\n+++ b/a\n x\n-y\n+z\n", world{"a": "x\nz\n"}, nil},
	{"one side has its letter", world{"d/a": "x\n"}, "--- a/d/a\n+++ d/a\n@@ -1 +1 @@\n-x\n+y\n", world{"d/a": "y\n"}, nil},
	{"a blank in the path", world{"a b": "x\n"}, "diff --git a/a b b/a b\n--- a/a b\t\n+++ b/a b\t\n@@ -1 +1 @@\n-x\n+y\n", world{"a b": "y\n"}, nil},
	{"CRLF in the diff", world{"a": "x\ny\n"}, "--- a/a\r\n+++ b/a\r\n@@ -1,2 +1,2 @@\r\n x\r\n-y\r\n+z\r\n", world{"a": "x\nz\n"}, nil},
	{"a mail's signature", world{"a": "- \nx\n"}, "Subject: [PATCH] x\n\n---\n a | 2 +-\n\ndiff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n - \n-x\n+y\n-- \n2.39.0\n", world{"a": "- \ny\n"}, nil},
	{"a line that goes like a signature", world{"a": "- \nx\n"}, "--- a/a\n+++ b/a\n@@ -1,2 +1 @@\n-- \n x\n", world{"a": "x\n"}, nil},
	{"git, mode alone", world{"a": "x\n"}, "diff --git a/a b/a\nold mode 100644\nnew mode 100755\n", nil, []string{"a: apply_patch changes no modes"}},
	{"git, mode and text", world{"a": "x\n"}, "diff --git a/a b/a\nold mode 100644\nnew mode 100755\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n", world{"a": "y\n"}, []string{"a: apply_patch changes no modes"}},
	{"git, renamed alone", world{"a": "x\n"}, "diff --git a/a b/c\nsimilarity index 100%\nrename from a\nrename to c\n", nil, []string{"c: apply_patch renames no files"}},
	{"git, copied", world{"a": "x\n"}, "diff --git a/a b/c\nsimilarity index 100%\ncopy from a\ncopy to c\n", nil, []string{"c: apply_patch copies no files"}},
	{"git, an empty file comes", nil, "diff --git a/d/n b/d/n\nnew file mode 100644\nindex 0000000..e69de29\n", world{"d/n": ""}, nil},
	{"git, an empty file goes", world{"n": ""}, "diff --git a/n b/n\ndeleted file mode 100644\nindex e69de29..0000000\n", nil, []string{"n: apply_patch deletes no files"}},
	{"git, a binary file comes", nil, "diff --git a/n b/n\nnew file mode 100644\nGIT binary patch\nliteral 3\nKcmZQzWMT\n\n-- \n", nil, []string{"binary"}},
	{"git, a quoted path alone", nil, "diff --git \"a/\\303\\251\" \"b/\\303\\251\"\nnew file mode 100644\n", world{"é": ""}, nil},
	{"text without a break into an empty file", world{"a": ""}, "--- a/a\n+++ b/a\n@@ -0,0 +1,2 @@\n+x\n+y\n\\ No newline at end of file\n", world{"a": "x\ny"}, nil},
	{"lines without a break at the end", world{"a": "x\n"}, "--- a/a\n+++ b/a\n@@ -1,0 +2 @@\n+y\n\\ No newline at end of file\n", world{"a": "x\ny"}, nil},
	{"the last break alone goes", world{"a": "x\ny\n"}, "--- a/a\n+++ b/a\n@@ -2 +2 @@\n-y\n+y\n\\ No newline at end of file\n", world{"a": "x\ny"}, nil},
	{"the last break alone goes, the line is there twice", world{"a": "y\nx\r\ny\r\n"}, "--- a/a\n+++ b/a\n@@ -3 +3 @@\n-y\n+y\n\\ No newline at end of file\n", world{"a": "y\nx\r\ny"}, nil},
	{"the last break alone comes", world{"a": "x\ny"}, "--- a/a\n+++ b/a\n@@ -2 +2 @@\n-y\n\\ No newline at end of file\n+y\n", world{"a": "x\ny\n"}, nil},
}

func TestConvert(t *testing.T) {
	for _, c := range convertCases {
		t.Run(c.name, func(t *testing.T) {
			got := Convert(c.patch, c.before.lookup(t))
			require.Len(t, got.Problems, len(c.problems), "%q", got.Problems)
			for i, p := range c.problems {
				assert.Contains(t, got.Problems[i], p)
				assert.Contains(t, got.Message(), p)
			}
			if c.after == nil {
				assert.Nil(t, got.Operations)
				return
			}
			assert.Equal(t, c.after, c.before.apply(t, got))
		})
	}
}

// apply makes the call that a conversion shows.
func (w world) apply(t *testing.T, c Conversion) world {
	t.Helper()
	_, call, ok := strings.Cut(c.Message(), "operations:\n")
	require.True(t, ok, c.Message())
	call, _, _ = strings.Cut(call, "\nNot in them:")
	req, errs := Decode([]byte(call), Limits{})
	require.Nil(t, errs)
	p, errs := Make(req, w.files(t, req), Options{})
	require.Nil(t, errs)
	return after(p)
}

func TestConvertWithoutFiles(t *testing.T) {
	for _, c := range []struct {
		name     string
		before   world
		patch    string
		after    world
		problems int
	}{
		{"codex", world{"a": "f\nx\ng\n"}, "*** Begin Patch\n*** Update File: a\n@@ f\n-x\n+y\n g\n*** End Patch", world{"a": "f\ny\ng\n"}, 0},
		{"codex, lines go", world{"a": "f\nx\ng\n"}, "*** Begin Patch\n*** Update File: a\n-x\n*** End Patch", world{"a": "f\ng\n"}, 0},
		{"codex, lines come", world{"a": "f\ng\n"}, "*** Begin Patch\n*** Update File: a\n@@ f\n+x\n*** End Patch", world{"a": "f\nx\ng\n"}, 0},
		{"codex, lines come at the end", world{"a": "f\n"}, "*** Begin Patch\n*** Update File: a\n+x\n*** End Patch", world{"a": "f\nx\n"}, 0},
		{"codex, only an empty line", nil, "*** Begin Patch\n*** Update File: a\n-\n+x\n*** End Patch", nil, 1},
		{"codex, no change", nil, "*** Begin Patch\n*** Update File: a\n x\n*** End Patch", nil, 1},
		{"unified", world{"a": "f\nx\ng\n"}, "--- a\n+++ a\n@@ -1,3 +1,3 @@\n f\n-x\n+y\n g\n", world{"a": "f\ny\ng\n"}, 0},
		{"unified, lines come", world{"a": "f\ng\n"}, "--- a\n+++ a\n@@ -1,2 +1,3 @@\n f\n+x\n g\n", world{"a": "f\nx\ng\n"}, 0},
		{"unified, lines come on top", world{"a": "f\ng\n"}, "--- a\n+++ a\n@@ -1,2 +1,3 @@\n+x\n f\n g\n", world{"a": "x\nf\ng\n"}, 0},
		{"unified without context", nil, "--- a\n+++ a\n@@ -1,0 +2 @@\n+x\n", nil, 1},
		{"unified, last break", world{"a": "x"}, "--- a\n+++ a\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+y\n", world{"a": "y"}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Convert(c.patch, nil)
			assert.Len(t, got.Problems, c.problems, "%q", got.Problems)
			if c.after == nil {
				assert.Nil(t, got.Operations)
				return
			}
			assert.Equal(t, c.after, c.before.apply(t, got))
		})
	}
}

func TestForeign(t *testing.T) {
	codex := "*** Begin Patch\n*** End Patch"
	for raw, want := range map[string]string{
		`{"patch":"*** Begin Patch\n*** End Patch"}`:                                  codex,
		`{"input":"*** Begin Patch\n*** End Patch"}`:                                  codex,
		`{"operations":"*** Begin Patch\n*** End Patch"}`:                             codex,
		`"*** Begin Patch\n*** End Patch"`:                                            codex,
		codex:                                                                         codex,
		`{"diff":"--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y"}`:                                "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y",
		`{"operations":["*** Begin Patch\n*** End Patch"]}`:                           codex,
		`{"operations":[{"patch":"*** Begin Patch\n*** End Patch"}]}`:                 codex,
		`{"command":["apply_patch","*** Begin Patch\n*** End Patch"]}`:                codex,
		`["*** Begin Patch\n*** End Patch","*** Begin Patch\n*** End Patch"]`:         "",
		`{"operations":[{"op":"append_text","path":"a","text":"*** Begin Patch\n"}]}`: "",
		`{"diff":"diff --git a/a b/a\nold mode 100644\nnew mode 100755"}`:             "diff --git a/a b/a\nold mode 100644\nnew mode 100755",
		`{"operations":[]}`:                                                           "",
		`{"patch":"*** Begin Patch\n*** End Patch","x":1}`:                            "",
		`{"patch":"hello"}`:                                                           "",
		`{"patch":7}`:                                                                 "",
		`[`:                                                                           "",
		`{"patch":"a\n--- not a header\nof a diff\n@@ -x +y @@"}`:                     "",
	} {
		got, ok := Foreign([]byte(raw))
		assert.Equal(t, want != "", ok, raw)
		if ok {
			assert.Equal(t, want, got)
		}
	}
}

// FuzzConvert holds that what is shown can be called as it is.
func FuzzConvert(f *testing.F) {
	for _, c := range convertCases {
		for _, s := range c.before {
			f.Add(c.patch, s)
			break
		}
	}
	f.Fuzz(func(t *testing.T, patch, file string) {
		if _, err := text.ParseString(file); err != nil {
			t.Skip()
		}
		if _, err := text.ParseString(patch); err != nil {
			t.Skip()
		}
		for _, lookup := range []Lookup{nil, func(p string) (text.Doc, bool) { return mustParse(t, file), p != "n" }} {
			c := Convert(patch, lookup)
			if c.Operations == nil {
				continue
			}
			req, errs := Decode([]byte(`{"operations":`+string(c.Operations)+`}`), Limits{})
			if errs != nil && errs.Code() != CodeLimitExceeded {
				t.Fatalf("%s: %v", c.Operations, errs)
			}
			if len(req.faults) > 0 {
				t.Fatalf("%s: %v", c.Operations, req.faults)
			}
			if lookup == nil || errs != nil {
				continue
			}
			files := map[string]*File{}
			for _, o := range req.Operations {
				f := &File{Path: o.Target()}
				if doc, ok := lookup(f.Path); ok {
					f.State, f.Doc = Regular, doc
				}
				files[f.Path] = f
			}
			if _, errs := Make(req, files, Options{Limits: Limits{Files: len(files)}}); errs != nil {
				t.Fatalf("%s: %v", c.Operations, errs)
			}
		}
	})
}
