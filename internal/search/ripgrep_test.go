package search

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRipgrepFindsTheSame: for what both dialects read alike, the program finds
// what our own search does.
func TestRipgrepFindsTheSame(t *testing.T) {
	program, err := exec.LookPath("rg")
	if err != nil {
		t.Skip("rg is not on the path; .ci/run installs it")
	}
	dir := t.TempDir()
	when := time.Now()
	for i, f := range []struct{ name, text string }{
		{"a.go", "package a\n\nfunc A() {}\nfunc B(x int) {}\n"}, {"sub/b.go", "x\r\nfunc C()\r\ny\r\n"},
		{"sub/deep/c.txt", "one\nTWO func\nthree\nfour\nfive func\n"}, {".hidden/d.go", "func D()\n"},
		{".gitignore", "*.log\n/out/\n"}, {"x.log", "func L()\n"}, {"out/o.go", "func O()\n"}, {"secret/s.go", "func S()\n"},
		{".git/config", "func G()\n"}, {"bin.dat", "func\x00 B()\n"}, {"long.txt", strings.Repeat("x", 900) + " func long\n"},
		{"damaged.txt", "func \xff d\n"}, {"last.txt", "no end func"},
	} {
		path := filepath.Join(dir, filepath.FromSlash(f.name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(f.text), 0o644))
		at := when.Add(time.Duration(i) * time.Second)
		require.NoError(t, os.Chtimes(path, at, at))
	}
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer root.Close()
	tree := Tree{Root: root, Allow: func(path string) bool { return path != "secret" }}
	var goFiles Filter
	require.NoError(t, goFiles.Add("*.go", ""))
	for _, c := range []struct {
		expr string
		opt  PatternOptions
		q    Query
	}{
		{"func", PatternOptions{}, Query{Mode: Names}},
		{"func", PatternOptions{}, Query{Mode: Counts}},
		{"func", PatternOptions{}, Query{Mode: Lines}},
		{"FUNC", PatternOptions{FoldCase: true}, Query{Mode: Lines}},
		{`func [A-Z]\(`, PatternOptions{}, Query{Mode: Lines, Files: goFiles}},
		{"TWO|five", PatternOptions{}, Query{Mode: Lines, Before: 1, After: 1}},
		{`\)$`, PatternOptions{}, Query{Mode: Lines}},
		{`one\nTWO`, PatternOptions{Multiline: true}, Query{Mode: Lines}},
		{"nowhere", PatternOptions{}, Query{Mode: Lines}},
		{"-e", PatternOptions{}, Query{Mode: Names}},
	} {
		c.q.Keep = 100
		c.q.Pattern, err = Compile(c.expr, c.opt)
		require.NoError(t, err)
		want, err := Grep(t.Context(), tree, c.q)
		require.NoError(t, err)
		got, err := Ripgrep(t.Context(), program, tree, c.q)
		require.NoError(t, err, c.expr)
		for i := range want.Hits { // the clock of the system is finer in one of them
			require.Less(t, i, len(got.Hits), "%s: %v", c.expr, want.Hits[i])
			assert.True(t, want.Hits[i].Time.Equal(got.Hits[i].Time))
			got.Hits[i].Time = want.Hits[i].Time
		}
		assert.Equal(t, want, got, "%s in mode %d", c.expr, c.q.Mode)
	}
}

// TestRipgrepThatCannot: what does not run, or does not take an expression, is
// told, so that the search is made without it.
func TestRipgrepThatCannot(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	require.NoError(t, err)
	defer root.Close()
	p, err := Compile("x", PatternOptions{})
	require.NoError(t, err)
	for _, program := range []string{filepath.Join(root.Name(), "gone"), "go"} { // go exits with 2 for such options
		_, err = Ripgrep(t.Context(), program, Tree{Root: root}, Query{Pattern: p, Keep: 1})
		assert.ErrorIs(t, err, ErrRipgrep)
	}
}
