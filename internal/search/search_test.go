package search

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// dated lays files out and sets the time of each to the number in its text.
func dated(t *testing.T, files map[string]int) *os.Root {
	dir := t.TempDir()
	for name, age := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte("one\ntwo\n"), 0o644))
		when := time.Unix(int64(1_000_000+age), 0)
		require.NoError(t, os.Chtimes(path, when, when))
	}
	return root(t, dir)
}

func paths(hits []Hit) string {
	var out []string
	for _, h := range hits {
		out = append(out, h.Path)
	}
	return strings.Join(out, " ")
}

func TestOrder(t *testing.T) {
	r := dated(t, map[string]int{"a": 1, "b/c": 3, "d": 2, "e": 2})
	p, err := Compile("o", PatternOptions{})
	require.NoError(t, err)
	found, err := Grep(context.Background(), Tree{Root: r}, Query{Pattern: p, Keep: 10})
	require.NoError(t, err)
	assert.Equal(t, "b/c e d a", paths(found.Hits))
	found, err = Grep(context.Background(), Tree{Root: r}, Query{Pattern: p, Keep: 2})
	require.NoError(t, err)
	assert.Equal(t, "b/c e", paths(found.Hits))
	assert.Equal(t, 4, found.Files)
	found, err = Grep(context.Background(), Tree{Root: r}, Query{Pattern: p, Mode: Lines, Keep: 3})
	require.NoError(t, err)
	assert.Equal(t, "b/c e", paths(found.Hits))
	assert.Len(t, found.Hits[1].Lines, 1)
	assert.Equal(t, 8, found.Total)
	assert.Equal(t, 8, found.Matches)
	listed, err := Glob(context.Background(), Tree{Root: r}, Filter{}, 10)
	require.NoError(t, err)
	assert.Equal(t, "a d e b/c", paths(listed.Files))
	listed, err = Glob(context.Background(), Tree{Root: r}, Filter{}, 2)
	require.NoError(t, err)
	assert.Equal(t, "e b/c", paths(listed.Files))
	assert.Equal(t, 4, listed.Total)
}

// TestKeepIsABound holds that the newest are kept of many, in bounded memory.
func TestKeepIsABound(t *testing.T) {
	for _, lines := range []bool{false, true} {
		c := newCollector(100, lines, newestFirst)
		for i := range 20_000 {
			age := i * 7919 % 20_000
			c.add(Hit{Path: fmt.Sprint(age), Time: time.Unix(int64(age), 0), Lines: make([]Line, 30), Total: 30, Matches: 2})
			assert.LessOrEqual(t, len(c.found.Hits), 100+50+batch+1)
		}
		found := c.result()
		assert.Equal(t, 20_000, found.Files)
		assert.Equal(t, 40_000, found.Matches)
		assert.Equal(t, "19999", found.Hits[0].Path)
		want := 100
		if lines {
			want = 4 // 30 + 30 + 30 + 10
			assert.Len(t, found.Hits[3].Lines, 10)
		}
		require.Len(t, found.Hits, want)
		assert.Equal(t, fmt.Sprint(20_000-want), found.Hits[want-1].Path)
	}
}

func TestLinksAreNotFollowed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege here")
	}
	outside := lay(t, tree{"secret": "one\n"})
	dir := lay(t, tree{"a": "one\n", "d/b": "one\n"})
	for name, target := range map[string]string{"up": "..", "d/loop": ".", "out": outside, "file": filepath.Join(outside, "secret"), "in": "a", "gone": "nowhere"} {
		require.NoError(t, os.Symlink(target, filepath.Join(dir, name)))
	}
	tr := Tree{Root: root(t, dir)}
	assert.Equal(t, []string{"a", "d/b"}, all(t, tr))
	listed, err := Glob(context.Background(), tr, Filter{}, 100)
	require.NoError(t, err)
	assert.Equal(t, 8, listed.Total, "links are named: %s", paths(listed.Files))
	assert.NotContains(t, paths(listed.Files), "secret")
}

func TestAllow(t *testing.T) {
	dir := lay(t, tree{"a": "x\n", "no/b": "x\n", "d/no": "x\n", "d/c": "x\n", ".gitignore": "c\n"})
	allow := func(path string) bool { return !strings.HasSuffix(path, "no") }
	assert.Equal(t, []string{".gitignore", "a"}, all(t, Tree{Root: root(t, dir), Allow: allow}))
	// An ignore file that may not be read says nothing.
	silent := func(path string) bool { return allow(path) && path != ".gitignore" }
	assert.Equal(t, []string{"a", "d/c"}, all(t, Tree{Root: root(t, dir), Allow: silent}))
}

func TestCancel(t *testing.T) {
	files := tree{}
	for i := range 300 {
		files[fmt.Sprintf("%d/%d", i%20, i)] = "x\n"
	}
	dir := lay(t, files)
	p, err := Compile("x", PatternOptions{})
	require.NoError(t, err)
	for n := range 20 {
		ctx, cancel := context.WithCancel(context.Background())
		seen := 0
		allow := func(string) bool { // the calls come one at a time until there are workers
			if seen++; seen > n {
				cancel()
			}
			return true
		}
		tr := Tree{Root: root(t, dir)}
		if n == 0 {
			cancel()
		} else {
			tr.Allow = locked(allow)
		}
		_, err := Grep(ctx, tr, Query{Pattern: p, Keep: 10})
		assert.ErrorIs(t, err, context.Canceled)
		cancel()
	}
	assert.Len(t, all(t, Tree{Root: root(t, dir)}), 300)
}

// locked lets one call in at a time.
func locked(f func(string) bool) func(string) bool {
	turn := make(chan struct{}, 1)
	return func(s string) bool {
		turn <- struct{}{}
		defer func() { <-turn }()
		return f(s)
	}
}

func TestMissingRoot(t *testing.T) {
	dir := lay(t, tree{"a": "x\n"})
	r, err := os.OpenRoot(dir)
	require.NoError(t, err)
	require.NoError(t, r.Close())
	_, err = Glob(context.Background(), Tree{Root: r}, Filter{}, 1)
	assert.ErrorIs(t, err, os.ErrClosed)
}

func TestFilter(t *testing.T) {
	names := "a.go b.ts sub/a.go sub/deep/c.go sub/x.tsx .hid/a.go .github/w/ci.yml .env sub/.env Makefile"
	for _, c := range []struct {
		globs, types, under, want string
	}{
		{"", "", "", "a.go b.ts sub/a.go sub/deep/c.go sub/x.tsx Makefile"},
		{"*.go", "", "", "a.go sub/a.go sub/deep/c.go"},
		{"/*.go", "", "", "a.go"},
		{"./*.go", "", "", "a.go sub/a.go sub/deep/c.go"},
		{"**/*.go", "", "", "a.go sub/a.go sub/deep/c.go"},
		{"sub/*.go", "", "", "sub/a.go"},
		{"sub/**", "", "", "sub/a.go sub/deep/c.go sub/x.tsx"},
		{"*.{ts,tsx}", "", "", "b.ts sub/x.tsx"},
		{"*.go !sub/**", "", "", "a.go"},
		{"!*.go", "", "", "b.ts sub/x.tsx Makefile"},
		{"w/sub/*.go", "", "w", "sub/a.go"},
		{"**/.github/**", "", "", ".github/w/ci.yml"},
		{".*", "", "", ".env sub/.env"},
		{".env", "", "", ".env sub/.env"},
		{"{.env,*.ts}", "", "", "b.ts .env sub/.env"},
		{"", "go", "", "a.go sub/a.go sub/deep/c.go"},
		{"", "make", "", "Makefile"},
		{"sub/*", "ts", "", "sub/x.tsx"},
		{"", "go ts", "", "a.go b.ts sub/a.go sub/deep/c.go sub/x.tsx"},
	} {
		var f Filter
		for _, g := range strings.Fields(c.globs) {
			require.NoError(t, f.Add(g, c.under))
		}
		for _, name := range strings.Fields(c.types) {
			require.NoError(t, f.AddType(name))
		}
		files := tree{}
		for _, n := range strings.Fields(names) {
			files[n] = ""
		}
		listed, err := Glob(context.Background(), Tree{Root: root(t, lay(t, files))}, f, 100)
		require.NoError(t, err)
		assert.ElementsMatch(t, strings.Fields(c.want), strings.Fields(paths(listed.Files)), "%s %s", c.globs, c.types)
	}
	var f Filter
	assert.ErrorContains(t, f.Add("a["), "not a pattern")
	assert.ErrorContains(t, f.Add("{a"), "not a pattern")
	assert.ErrorContains(t, f.AddType("cobol2"), "the types are asm, awk")
}
