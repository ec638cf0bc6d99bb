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
// with what was read, renamed, and the folder synced. They take turns in one
// loop, each as often first as the others, so that a busy disk slows all.
// "ratio" is the median of the rounds, the call to the hand; "ratio-once" is
// that to a hand which syncs the folder once, after all files, as the call does.
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
	for _, side := range []string{"call", "each", "once"} {
		require.NoError(b, os.Mkdir(filepath.Join(dir, side), 0o755))
		for i := range files {
			require.NoError(b, os.WriteFile(filepath.Join(dir, side, fmt.Sprint(i)), []byte(text.String()), 0o644))
		}
	}
	words := []string{"of a file", "in a text"}
	b.ReportAllocs()
	var ms [3][]float64 // of the call, of the hand, and of that with one sync
	var each, once []float64
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
		byHand := func(side string, eachTime bool) error {
			side = filepath.Join(dir, side)
			for k := range files {
				if err := writeByHand(filepath.Join(side, fmt.Sprint(k)), from, to); err != nil {
					return err
				}
				if eachTime || k == files-1 {
					if err := syncFolder(side); err != nil {
						return err
					}
				}
			}
			return nil
		}
		ways := []func() error{
			byCall,
			func() error { return byHand("each", true) },
			func() error { return byHand("once", false) },
		}
		for k := range ways {
			way := (i + k) % len(ways)
			start := time.Now()
			if err := ways[way](); err != nil {
				b.Fatal(err)
			}
			ms[way] = append(ms[way], time.Since(start).Seconds()*1000)
		}
		each, once = append(each, ms[0][i]/ms[1][i]), append(once, ms[0][i]/ms[2][i])
	}
	b.ReportMetric(middle(ms[0]), "call-ms")
	b.ReportMetric(middle(ms[1]), "hand-ms")
	b.ReportMetric(middle(each), "ratio")
	b.ReportMetric(middle(once), "ratio-once")
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
