package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dsh-acp/fsbackend"
)

// BenchmarkApplyPatch measures a whole call of 200 operations over 64 files of
// 1,000 lines beside the same files written by hand with the same promises:
// a temporary file with the mode of the old one, synced, the old text compared
// with what was read, and renamed; the folder is synced once, at the end. Both
// take turns in one loop, first the one and then the other, so that a busy disk
// slows both. "ratio" is the median of the rounds, the call to the hand.
func BenchmarkApplyPatch(b *testing.B) {
	const files, lines, perCall = 64, 1000, 200
	dir, err := filepath.EvalSymlinks(b.TempDir())
	require.NoError(b, err)
	local, err := fsbackend.NewLocal(fsbackend.Options{Roots: []string{dir}})
	require.NoError(b, err)
	defer local.Close()
	var text strings.Builder
	for i := range lines {
		fmt.Fprintf(&text, "line %04d of a file %s\n", i, strings.Repeat("x", 20))
	}
	for _, side := range []string{"call", "hand"} {
		require.NoError(b, os.Mkdir(filepath.Join(dir, side), 0o755))
		for i := range files {
			require.NoError(b, os.WriteFile(filepath.Join(dir, side, fmt.Sprint(i)), []byte(text.String()), 0o644))
		}
	}
	words := []string{"of a file", "in a text"}
	b.ReportAllocs()
	var calls, hands, ratios []float64
	for i := 0; b.Loop(); i++ {
		from, to := words[i%2], words[(i+1)%2]
		var ops []string
		for k := range perCall {
			line := fmt.Sprintf("line %04d ", 10*(k/files)+5)
			ops = append(ops, replaceOp(fmt.Sprintf("call/%d", k%files), line+from, line+to))
		}
		raw := json.RawMessage(operations(ops...))
		byCall := func() error {
			_, err := ApplyPatch(b.Context(), local, raw, PatchOptions{Cwd: dir})
			return err
		}
		byHand := func() error {
			for k := range files {
				if err := writeByHand(filepath.Join(dir, "hand", fmt.Sprint(k)), from, to); err != nil {
					return err
				}
			}
			return syncFolder(filepath.Join(dir, "hand"))
		}
		took := func(f func() error) float64 {
			start := time.Now()
			if err := f(); err != nil {
				b.Fatal(err)
			}
			return time.Since(start).Seconds() * 1000
		}
		var call, hand float64
		if i%2 == 0 { // who comes second may find the disk busy
			call, hand = took(byCall), took(byHand)
		} else {
			hand, call = took(byHand), took(byCall)
		}
		calls, hands, ratios = append(calls, call), append(hands, hand), append(ratios, call/hand)
	}
	b.ReportMetric(middle(calls), "call-ms")
	b.ReportMetric(middle(hands), "hand-ms")
	b.ReportMetric(middle(ratios), "ratio")
}

func middle(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// writeByHand is what a careful program does to change a file, but for the
// folder.
func writeByHand(path, from, to string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, ".hand-*")
	if err != nil {
		return err
	}
	if _, err := f.WriteString(strings.Replace(string(data), from, to, 4)); err != nil {
		return err
	}
	if err := f.Chmod(info.Mode()); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, data) {
		return fmt.Errorf("%s changed: %w", path, err)
	}
	return os.Rename(f.Name(), path)
}

func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
