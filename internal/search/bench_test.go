package search

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// benchPatterns are a literal and common expressions, each with few, some and
// many hits.
var benchPatterns = []struct {
	name, expr string
	fold       bool
}{
	{"rare", "ErrUnexpectedEOF", false},
	{"absent", "zipFileSomething", false},
	{"frequent", "return", false},
	{"expression", `func \w+\(ctx`, false},
	{"alternatives", `TODO|FIXME|XXX`, false},
	{"case", "unexpectedeof", true},
	{"suffix", `[A-Z]\w+Error\(`, false},
	{"nothing required", `[0-9]{3}-[0-9]{4}`, false},
}

// BenchmarkGrep searches Go's own source for content, and has ripgrep do the
// same beside it where it is on the path (apt-get install ripgrep).
// "x-of-rg" is our wall time over its.
func BenchmarkGrep(b *testing.B) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Skip("there is no source of Go here: ", err)
	}
	dir, err := filepath.EvalSymlinks(filepath.Join(strings.TrimSpace(string(out)), "src"))
	require.NoError(b, err)
	rg, _ := exec.LookPath("rg")
	for _, c := range benchPatterns {
		b.Run(c.name, func(b *testing.B) {
			p, err := Compile(c.expr, PatternOptions{FoldCase: c.fold})
			require.NoError(b, err)
			r, err := os.OpenRoot(dir)
			require.NoError(b, err)
			defer r.Close()
			args := []string{"--no-config", "--hidden", "--no-heading", "-n", "-e", c.expr, dir}
			if c.fold {
				args = append([]string{"-i"}, args...)
			}
			var ours, theirs time.Duration
			var matches, lines int
			for b.Loop() {
				start := time.Now()
				found, err := Grep(context.Background(), Tree{Root: r}, Query{Pattern: p, Mode: Lines, Keep: 250})
				require.NoError(b, err)
				ours += time.Since(start)
				matches = found.Matches
				if rg == "" {
					continue
				}
				b.StopTimer()
				start = time.Now()
				out, _ := exec.Command(rg, args...).Output() // it exits with 1 where there is nothing
				theirs += time.Since(start)
				lines = strings.Count(string(out), "\n")
				b.StartTimer()
			}
			b.ReportMetric(float64(matches), "matches")
			if rg != "" {
				b.ReportMetric(float64(lines), "rg-lines")
				b.ReportMetric(float64(ours)/float64(theirs), "x-of-rg")
			}
		})
	}
}
