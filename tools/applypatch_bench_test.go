package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dsh-acp/fsbackend"
)

// BenchmarkApplyPatch measures a whole call of 200 operations over 64 files of
// 1,000 lines beside the same files written by hand with the same promises:
// a temporary file with the mode of the old one, synced, the old text compared
// with what was read, renamed, and the folder synced. Both take turns in
// one loop, so that a busy disk slows both; "ratio" is the call to the hand.
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
	var call, hand time.Duration
	for i := 0; b.Loop(); i++ {
		from, to := words[i%2], words[(i+1)%2]
		var ops []string
		for k := range perCall {
			line := fmt.Sprintf("line %04d ", 10*(k/files)+5)
			ops = append(ops, replaceOp(fmt.Sprintf("call/%d", k%files), line+from, line+to))
		}
		raw := json.RawMessage(operations(ops...))
		start := time.Now()
		if _, err := ApplyPatch(b.Context(), local, raw, PatchOptions{Cwd: dir}); err != nil {
			b.Fatal(err)
		}
		call += time.Since(start)
		start = time.Now()
		for i := range files {
			if err := writeByHand(filepath.Join(dir, "hand", fmt.Sprint(i)), from, to); err != nil {
				b.Fatal(err)
			}
		}
		hand += time.Since(start)
	}
	b.ReportMetric(call.Seconds()*1000/float64(b.N), "call-ms")
	b.ReportMetric(hand.Seconds()*1000/float64(b.N), "hand-ms")
	b.ReportMetric(call.Seconds()/hand.Seconds(), "ratio")
}

// writeByHand is what a careful program does to change a file.
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
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
