package fsbackend_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/fsbackend"
)

// The old bytes are stored before the new ones are in place, and also if they
// are too many for a receipt.
func TestJournalKeepsBeforeItWrites(t *testing.T) {
	faults := fsbackend.NewFaults()
	w := newWorld(t, faults)
	dir := filepath.Join(t.TempDir(), "j")
	b := openJournal(t, fsbackend.JournalOptions{Dir: dir}).Over(w.local)
	old := strings.Repeat("x", beforeMax+1)
	path := w.put("f", old)
	digest := fsbackend.VersionOf([]byte(old)).String()
	stored := false
	faults.Add(fsbackend.Fault{At: fsbackend.AtRename, Nth: 1, Do: func(string) {
		data, err := os.ReadFile(filepath.Join(dir, "versions", digest))
		stored = err == nil && string(data) == old
	}})
	r, err := b.Write(t.Context(), fsbackend.Write{Path: path, Data: []byte("new")})
	require.NoError(t, err)
	require.Empty(t, r.Notes)
	assert.Nil(t, r.Before, "the receipt does not have them")
	assert.True(t, stored)
	_, err = b.Restore(t.Context(), path, "")
	require.NoError(t, err)
	assert.Equal(t, old, w.text("f"))
}

func TestJournalThatCannotWrite(t *testing.T) {
	for _, at := range []fsbackend.FaultPoint{fsbackend.AtTempWrite, fsbackend.AtAppend} {
		w := newWorld(t, nil)
		faults := fsbackend.NewFaults()
		j := openJournal(t, fsbackend.JournalOptions{Faults: faults})
		b := j.Over(w.local)
		w.put("f", "v0")
		faults.Add(fsbackend.Fault{At: at, Err: syscall.ENOSPC})
		_, err := b.Read(t.Context(), w.path("f"))
		require.NoError(t, err, "reading goes on")
		assert.NotEmpty(t, j.Notes())
		r, err := b.Write(t.Context(), fsbackend.Write{Path: w.path("f"), Data: []byte("v1")})
		require.NoError(t, err, "writing goes on")
		assert.Contains(t, strings.Join(r.Notes, ""), "cannot be rolled back")
		assert.Error(t, b.Remove(t.Context(), w.path("f"), fsbackend.VersionOf([]byte("v1"))), "removing does not")
		assert.Equal(t, "v1", w.text("f"))
		faults.Clear()
		r, err = b.Write(t.Context(), fsbackend.Write{Path: w.path("f"), Data: []byte("v2")})
		require.NoError(t, err)
		assert.Empty(t, r.Notes)
		_, err = b.Restore(t.Context(), w.path("f"), "")
		require.NoError(t, err)
		assert.Equal(t, "v1", w.text("f"))
	}
	_, err := fsbackend.OpenJournal(fsbackend.JournalOptions{Dir: "relative"})
	assert.Error(t, err)
}

// Whatever a file holds and becomes, it can be put back, byte for byte.
func FuzzRollback(f *testing.F) {
	f.Add([]byte("a\n"), []byte("b\n"), true, uint16(0o644))
	f.Add([]byte("\xef\xbb\xbfa\r\nb"), []byte(""), false, uint16(0o755))
	f.Add([]byte("a  \n"), []byte("a\n"), false, uint16(0o600))
	f.Add([]byte("\x00\xff"), []byte("text"), true, uint16(0o400))
	f.Fuzz(func(t *testing.T, x, y []byte, see bool, mode uint16) {
		top := filepath.Join(string(filepath.Separator), "w")
		m, err := fsbackend.NewMem(fsbackend.MemOptions{Roots: []string{top}})
		require.NoError(t, err)
		path := filepath.Join(top, "f")
		perm := os.FileMode(mode)&0o777 | 0o200
		require.NoError(t, m.Put(path, x, perm))
		b := openJournal(t, fsbackend.JournalOptions{}).Over(m)
		if see {
			_, err = b.Read(t.Context(), path)
			require.NoError(t, err)
		}
		_, err = b.Write(t.Context(), fsbackend.Write{Path: path, Data: y})
		require.NoError(t, err)
		r, err := b.Restore(t.Context(), path, "")
		if string(x) == string(y) {
			require.Equal(t, fsbackend.CodeIsOldest, fsbackend.CodeOf(err))
			return
		}
		require.NoError(t, err)
		got, data, err := m.Lstat(path)
		require.NoError(t, err)
		require.Equal(t, string(x), string(data))
		require.Equal(t, perm, got)
		_, err = b.Restore(t.Context(), path, r.Replaced.Digest.String())
		require.NoError(t, err)
		_, data, err = m.Lstat(path)
		require.NoError(t, err)
		require.Equal(t, string(y), string(data))
	})
}

// reads counts how often a file is read whole.
type reads struct {
	fsbackend.Backend
	n int
}

func (r *reads) Read(ctx context.Context, path string) (fsbackend.File, error) {
	r.n++
	return r.Backend.Read(ctx, path)
}

// A file that is too large to be kept is not read for it.
func TestJournalReadsNothingThatItCannotKeep(t *testing.T) {
	dir := realTemp(t)
	p := filepath.Join(dir, "a")
	require.NoError(t, os.WriteFile(p, make([]byte, 100), 0o644))
	j, err := fsbackend.OpenJournal(fsbackend.JournalOptions{Dir: filepath.Join(t.TempDir(), "j"), MaxBytes: 100})
	require.NoError(t, err)
	defer j.Close()
	below := &reads{Backend: local(t, fsbackend.Options{Roots: []string{dir}})}
	r, err := j.Over(below).Write(t.Context(), fsbackend.Write{Path: p, Data: []byte("x"), Pre: fsbackend.Any{}})
	require.NoError(t, err)
	assert.Zero(t, below.n)
	assert.Contains(t, strings.Join(r.Notes, ""), "100 bytes are more than the 50 of one version that are kept")
}
