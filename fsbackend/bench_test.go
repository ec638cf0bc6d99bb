package fsbackend_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/text"
)

// BenchmarkTransform is one edit in the middle of a file, with the time that
// went into fsync told apart.
func BenchmarkTransform(b *testing.B) {
	for _, mib := range []int{0, 1, 10, 50} {
		b.Run(fmt.Sprintf("%dMiB", mib), func(b *testing.B) {
			dir := realTemp(b)
			p := filepath.Join(dir, "a")
			line := []byte("the quick brown fox jumps over the lazy dog, once a line\n")
			data := bytes.Repeat(line, max(mib<<20, 5000*len(line))/len(line))
			require.NoError(b, os.WriteFile(p, data, 0o644))
			var syncs atomic.Int64
			l := local(b, fsbackend.Options{Roots: []string{dir}, OnSync: func(d time.Duration) { syncs.Add(int64(d)) }})
			at := len(data) / 2
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				_, err := fsbackend.Transform(b.Context(), l, p, func(d text.Doc) (text.Doc, error) {
					return d.Apply(text.Edit{Start: at - at%len(line), End: at - at%len(line) + 3, New: []string{"one", "two"}[i%2]})
				})
				require.NoError(b, err)
			}
			sync := float64(syncs.Load()) / float64(b.N)
			b.ReportMetric(sync/1e6, "fsync-ms/op")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1e6-sync/1e6, "own-ms/op")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// What a journal adds to a write of a file that was read before.
func BenchmarkJournaledWrite(b *testing.B) {
	w := newWorld(b, nil)
	for name, be := range map[string]fsbackend.Backend{"local": w.local, "journaled": openJournal(b, fsbackend.JournalOptions{}).Over(w.local)} {
		b.Run(name, func(b *testing.B) {
			path := w.path("f.txt")
			for i := 0; b.Loop(); i++ {
				if _, err := be.Write(b.Context(), fsbackend.Write{Path: path, Data: fmt.Appendf(nil, "%d", i)}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
