package presenter

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aymanbagabas/go-udiff"
	"github.com/aymanbagabas/go-udiff/myers"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// oracle gives hunks by an independent implementation of the same rules, which
// needs memory by the square of the texts.
func oracle(t testing.TB, before, after string) []Hunk {
	//lint:ignore SA1019 no one is asked to use it but this test, for the very alignment that keeps it alive
	edits := myers.ComputeEdits(before, after)
	u, err := udiff.ToUnifiedDiff("a", "b", before, edits, 3)
	require.NoError(t, err)
	var hunks []Hunk
	for _, h := range u.Hunks {
		g := Hunk{OldStart: h.FromLine, NewStart: h.ToLine}
		for _, line := range h.Lines {
			switch line.Kind {
			case udiff.Delete:
				g.add("-", line.Content)
				g.OldLines++
			case udiff.Insert:
				g.add("+", line.Content)
				g.NewLines++
			case udiff.Equal:
				g.add(" ", line.Content)
				g.OldLines++
				g.NewLines++
			}
		}
		hunks = append(hunks, g)
	}
	return hunks
}

func TestHunksEqualThoseOfTheOracle(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	text := func(lines, alphabet int) string {
		var b strings.Builder
		for range lines {
			fmt.Fprintf(&b, "%c\n", 'a'+r.IntN(alphabet))
		}
		return b.String()[:max(0, b.Len()-r.IntN(2))]
	}
	for i := range 4000 {
		alphabet := 1 + r.IntN(8)
		before, after := text(r.IntN(24), alphabet), text(r.IntN(24), alphabet)
		if i%4 == 0 { // a few changes in a longer text
			lines := strings.SplitAfter(text(80, 2*alphabet), "\n")
			before = strings.Join(lines, "")
			for range 1 + r.IntN(5) {
				at := r.IntN(len(lines))
				lines = slices.Replace(lines, at, min(len(lines), at+r.IntN(3)), strings.SplitAfter(text(r.IntN(3), alphabet), "\n")...)
			}
			after = strings.Join(lines, "")
		}
		require.Equal(t, oracle(t, before, after), LineHunks(before, after, 3), "%q\n%q", before, after)
	}
}

func FuzzHunksOracle(f *testing.F) {
	seedHunks(f)
	f.Fuzz(func(t *testing.T, before, after string) {
		if len(before) > 400 || len(after) > 400 {
			t.Skip("the oracle needs memory by the square")
		}
		require.Equal(t, oracle(t, before, after), LineHunks(before, after, 3))
	})
}

func FuzzHunksApply(f *testing.F) {
	seedHunks(f)
	f.Fuzz(func(t *testing.T, before, after string) {
		for _, context := range []int{0, 1, 3} {
			requireApplies(t, before, after, LineHunks(before, after, context))
		}
		for _, d := range Hunks("f", before, after) {
			if d.OldText != nil {
				require.Contains(t, before, *d.OldText)
				if d.Removed > 0 && d.Added > 0 {
					require.NotEqual(t, *d.OldText, d.NewText, "a block that shows no change")
				}
			}
			require.Contains(t, after, d.NewText)
			require.Positive(t, d.Added+d.Removed)
		}
	})
}

func seedHunks(f *testing.F) {
	for _, c := range hunkCases {
		f.Add(c.before, c.after)
	}
	for _, p := range corpus(f)[:700] {
		if p.Class == "small" {
			f.Add(p.Before, p.After)
		}
	}
}

// manyLines returns n lines of about width bytes, no two of them equal.
func manyLines(n, width int) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("%*d\n", width-1, i)
	}
	return lines
}

// scattered replaces, inserts and removes lines in count places.
func scattered(lines []string, count int) []string {
	r := rand.New(rand.NewPCG(3, 4))
	for i := range count {
		at := r.IntN(len(lines))
		switch r.IntN(4) {
		case 0:
			lines = slices.Delete(lines, at, at+1)
		case 1:
			lines = slices.Insert(lines, at, fmt.Sprintf("inserted %d\n", i))
		default:
			lines[at] = fmt.Sprintf("changed %d\n", i)
		}
	}
	return lines
}

// replacedLine is the text of lines with line at changed.
func replacedLine(lines []string, at int) string {
	changed := slices.Clone(lines)
	changed[at] = "changed\n"
	return strings.Join(changed, "")
}

// measure runs f once and returns how long it took and how much it allocated.
func measure(f func()) (time.Duration, uint64) {
	var a, b runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&a)
	start := time.Now()
	f()
	took := time.Since(start)
	runtime.ReadMemStats(&b)
	return took, b.TotalAlloc - a.TotalAlloc
}

// The bounds on memory are the promised ones. That on time is wide, for a busy
// machine and the race detector, and still far below what a quadratic search
// takes; the benchmarks have the real numbers.
func TestHunksCost(t *testing.T) {
	many := manyLines(100_000, 40)
	big := manyLines(250_000, 42) // 10 MiB
	for _, c := range []struct {
		name          string
		before, after string
		bytes         uint64
	}{
		{"2000 edits in 100000 lines", strings.Join(many, ""), strings.Join(scattered(slices.Clone(many), 2000), ""), 128 << 20},
		{"one edit in 10 MiB", strings.Join(big, ""), replacedLine(big, 125_000), 1 << 20},
		{"two edits, at both ends of 10 MiB", "first\n" + strings.Join(big, "") + "last\n", "FIRST\n" + strings.Join(big, "") + "LAST\n", 64 << 20},
		{"nothing in common", strings.Join(many, ""), strings.ReplaceAll(strings.Join(many, ""), "\n", "x\n"), 128 << 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			var hunks []FileDiff
			took, bytes := measure(func() { hunks = Hunks("f", c.before, c.after) })
			require.NotEmpty(t, hunks)
			t.Logf("%d hunks, %v, %d KiB", len(hunks), took, bytes>>10)
			assert.Less(t, bytes, c.bytes)
			assert.Less(t, took, 15*time.Second)
		})
	}
}

func BenchmarkHunks100k2000(b *testing.B) {
	lines := manyLines(100_000, 40)
	benchmarkHunks(b, strings.Join(lines, ""), strings.Join(scattered(slices.Clone(lines), 2000), ""))
}

func BenchmarkHunksOneEdit(b *testing.B) {
	for _, n := range []int{5_000, 50_000, 250_000, 1_250_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			lines := manyLines(n, 42)
			benchmarkHunks(b, strings.Join(lines, ""), replacedLine(lines, n/2))
		})
	}
}

func BenchmarkHunksBothEnds(b *testing.B) {
	s := strings.Join(manyLines(1_250_000, 42), "")
	benchmarkHunks(b, "first\n"+s+"last\n", "FIRST\n"+s+"LAST\n")
}

func BenchmarkHunksRewritten(b *testing.B) {
	s := strings.Join(manyLines(100_000, 42), "")
	benchmarkHunks(b, s, strings.ReplaceAll(s, "\n", "x\n"))
}

func benchmarkHunks(b *testing.B, before, after string) {
	b.ReportAllocs()
	for b.Loop() {
		Hunks("f", before, after)
	}
}
