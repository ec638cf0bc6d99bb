//go:build astgrep && cgo

package astedit_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/astedit"
	"dsh-acp/internal/syntax"
	"dsh-acp/internal/syntax/sitter"
	"dsh-acp/internal/text"
)

const rounds = 3

// TestFigures measures both programs in turn, with as many threads, on the same
// files, and takes the best of some rounds of each.
func TestFigures(t *testing.T) {
	src := filepath.Join(goroot(t), "src")
	t.Run("search for an error check", func(t *testing.T) {
		const pat = "if err != nil { return $X }"
		var found, parsed int
		ours := best(t, func(t *testing.T) { found, parsed = search(t, src, pat) })
		theirs := best(t, func(t *testing.T) {
			run(t, "", "run", "-l", "go", "-p", pat, "--json=stream", "--no-ignore", "hidden", threads(), src)
		})
		t.Logf("%d places, %d files parsed; ours %v, ast-grep %v: %.2f of its time, wanted 0.5", found, parsed, ours, theirs, ours.Seconds()/theirs.Seconds())
		assert.LessOrEqual(t, ours, theirs/2)
	})
	t.Run("search for a rare literal", func(t *testing.T) {
		const pat = "io.ErrNoProgress"
		var found, parsed int
		ours := best(t, func(t *testing.T) { found, parsed = search(t, src, pat) })
		theirs := best(t, func(t *testing.T) { run(t, "", "run", "-l", "go", "-p", pat, "--json=stream", threads(), src) })
		t.Logf("%d places, %d files parsed; ours %v, ast-grep %v, wanted 500ms", found, parsed, ours, theirs)
		assert.LessOrEqual(t, ours, 500*time.Millisecond)
	})
	t.Run("rewrite of 1,000 files", func(t *testing.T) {
		const pat, out = "if err != nil { return $X }", "if err != nil { return wrap($X) }"
		var matches int
		ours := best(t, func(t *testing.T) {
			dir := thousand(t)
			start := time.Now()
			matches = rewrite(t, dir, pat, out)
			elapsed(t, start)
		})
		theirs := best(t, func(t *testing.T) {
			dir := thousand(t)
			start := time.Now()
			run(t, dir, "run", "-l", "go", "-p", pat, "-r", out, "-U", threads(), ".")
			elapsed(t, start)
		})
		t.Logf("%d matches; ours %v, ast-grep %v", matches, ours, theirs)
		assert.LessOrEqual(t, ours, theirs)
	})
}

func threads() string { return fmt.Sprintf("-j%d", runtime.GOMAXPROCS(0)) }

// measured is what a round told of itself; 0 for all of it.
var measured atomic.Int64

func elapsed(t *testing.T, start time.Time) { measured.Store(int64(time.Since(start))) }

func best(t *testing.T, round func(*testing.T)) time.Duration {
	var least time.Duration
	for range rounds {
		measured.Store(0)
		start := time.Now()
		round(t)
		took := time.Since(start)
		if m := measured.Load(); m > 0 {
			took = time.Duration(m)
		}
		if least == 0 || took < least {
			least = took
		}
	}
	return least
}

func run(t *testing.T, dir string, args ...string) {
	cmd := exec.Command(astgrep(t), args...)
	cmd.Dir = dir
	if err := cmd.Run(); err != nil {
		e, ok := err.(*exec.ExitError)
		require.True(t, ok && e.ExitCode() == 1, err) // 1: nothing found
	}
}

// each calls f for the Go files below a folder, in as many goroutines as there
// are processors.
func each(t *testing.T, dir string, f func(name string, src string)) {
	names := make(chan string, 64)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for name := range names {
				b, err := os.ReadFile(name)
				if assert.NoError(t, err) {
					f(name, unsafe.String(unsafe.SliceData(b), len(b))) // as text.ParseOwned does
				}
			}
		})
	}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.HasSuffix(name, ".go") {
			names <- name
		}
		return err
	})
	close(names)
	wg.Wait()
	require.NoError(t, err)
}

func search(t *testing.T, dir, pat string) (found, files int) {
	p := sitter.New(sitter.Options{})
	pattern, err := astedit.Compile(p, syntax.Go, pat)
	require.NoError(t, err)
	var n, parsed atomic.Int64
	each(t, dir, func(name, src string) {
		if !pattern.MayMatch(src) {
			return
		}
		parsed.Add(1)
		tree, err := p.Parse(syntax.Go, src)
		if assert.NoError(t, err) {
			n.Add(int64(len(pattern.Find(tree))))
		}
	})
	return int(n.Load()), int(parsed.Load())
}

func rewrite(t *testing.T, dir, pat, out string) int {
	program, err := astedit.NewProgram(sitter.New(sitter.Options{}), []astedit.Op{{Pat: pat, Out: out}})
	require.NoError(t, err)
	var n atomic.Int64
	each(t, dir, func(name, src string) {
		doc, err := text.ParseString(src)
		if err != nil {
			return // the library has files that are not text, for its tests
		}
		r, err := program.Rewrite(name, syntax.Go, doc, true)
		if !assert.NoError(t, err) {
			return
		}
		n.Add(int64(r.Matches))
		if r.Changed {
			assert.NoError(t, os.WriteFile(name, r.Doc.Bytes(), 0o644))
		}
	})
	return int(n.Load())
}

// thousand copies 1,000 files of the Go library that have an error check.
func thousand(t *testing.T) string {
	dir := t.TempDir()
	var n atomic.Int64
	each(t, filepath.Join(goroot(t), "src"), func(name, src string) {
		if !strings.Contains(src, "if err != nil {") {
			return
		}
		if i := n.Add(1); i <= 1000 {
			assert.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%04d.go", i)), []byte(src), 0o644))
		}
	})
	require.GreaterOrEqual(t, n.Load(), int64(1000))
	return dir
}
