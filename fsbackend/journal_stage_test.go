package fsbackend_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/fsbackend"
)

func stored(t *testing.T, dir string) int {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "versions", "*"))
	require.NoError(t, err)
	return len(names)
}

// The bytes of a write are stored while it runs; of one that fails nothing is left.
func TestJournalOfAFailedWrite(t *testing.T) {
	dir, kept := realTemp(t), filepath.Join(t.TempDir(), "j")
	p := filepath.Join(dir, "a")
	require.NoError(t, os.WriteFile(p, []byte("old"), 0o644))
	j, err := fsbackend.OpenJournal(fsbackend.JournalOptions{Dir: kept})
	require.NoError(t, err)
	defer j.Close()
	b := j.Over(local(t, fsbackend.Options{Roots: []string{dir}}))
	_, err = b.Write(t.Context(), fsbackend.Write{Path: p, Data: []byte("new"), Pre: fsbackend.Unchanged{Version: fsbackend.VersionOf([]byte("other"))}})
	require.Equal(t, fsbackend.CodeStaleVersion, fsbackend.CodeOf(err))
	assert.Equal(t, 1, stored(t, kept), "what was there is kept, what was refused is not")
}

// Writes of the same bytes share one version, whichever of them comes first,
// and those that fail do not take it from the others.
func TestJournalOfEqualWrites(t *testing.T) {
	dir, kept := realTemp(t), filepath.Join(t.TempDir(), "j")
	j, err := fsbackend.OpenJournal(fsbackend.JournalOptions{Dir: kept})
	require.NoError(t, err)
	defer j.Close()
	b := j.Over(local(t, fsbackend.Options{Roots: []string{dir}}))
	const n = 16
	wrong := fsbackend.Unchanged{Version: fsbackend.VersionOf([]byte("none"))}
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			w := fsbackend.Write{Path: filepath.Join(dir, fmt.Sprint(i)), Data: []byte("the same")}
			if i%2 == 1 {
				w.Pre = wrong
			}
			_, err := b.Write(t.Context(), w)
			assert.Equal(t, i%2 == 1, err != nil, "%v", err)
		})
	}
	all.Wait()
	require.Equal(t, 1, stored(t, kept))
	for i := 0; i < n; i += 2 {
		versions, err := b.Versions(t.Context(), filepath.Join(dir, fmt.Sprint(i)))
		require.NoError(t, err)
		require.Len(t, versions, 1)
	}
}
