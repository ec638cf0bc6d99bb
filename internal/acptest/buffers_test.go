package acptest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// desk is an editor with one file.
func desk(t *testing.T, data string) (*Buffers, string) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "a.txt")
	require.NoError(t, os.WriteFile(path, []byte(data), 0o644))
	return &Buffers{Worktrees: []string{dir}}, path
}

func onDisk(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(data)
}

func TestBuffersKeepWhatTheUserTypes(t *testing.T) {
	b, path := desk(t, "one\r\ntwo\r\nthree\r\n")
	require.NoError(t, b.Type(path, "one", "ONE"))
	got, err := b.ReadText(t.Context(), path)
	require.NoError(t, err)
	assert.Equal(t, "ONE\ntwo\nthree\n", got)
	assert.Equal(t, "one\r\ntwo\r\nthree\r\n", onDisk(t, path), "unsaved")

	require.NoError(t, b.Type(path, "ONE\n", "zero\nONE\n"))
	require.NoError(t, b.WriteText(t.Context(), path, strings.Replace(got, "three", "THREE", 1)))
	assert.Equal(t, "zero\nONE\ntwo\nTHREE\n", b.Text(path))
	assert.Equal(t, "zero\r\nONE\r\ntwo\r\nTHREE\r\n", onDisk(t, path))
}

// TestBuffersCorruptByWritesFromAnotherText is the reason for the order in
// which files are read and written through an editor: a text that was made
// from the file, and not from what the agent last read of the buffer, comes
// out with lines twice.
func TestBuffersCorruptByWritesFromAnotherText(t *testing.T) {
	b, path := desk(t, "one\ntwo\n")
	_, err := b.ReadText(t.Context(), path)
	require.NoError(t, err)
	require.NoError(t, b.Type(path, "one\n", "one\nmore\n"))
	require.NoError(t, b.Save(path))

	made := strings.Replace(onDisk(t, path), "two", "TWO", 1)
	require.NoError(t, b.WriteText(t.Context(), path, made))
	assert.Equal(t, "one\nmore\nmore\nTWO\n", onDisk(t, path), "the editor compares with its snapshot")

	got, err := b.ReadText(t.Context(), path)
	require.NoError(t, err)
	require.NoError(t, b.WriteText(t.Context(), path, strings.Replace(got, "more\n", "", 1)))
	assert.Equal(t, "one\nmore\nTWO\n", onDisk(t, path), "right after a read it does what it is told")
}

func TestBuffersFollowFilesWithADelay(t *testing.T) {
	b, path := desk(t, "one\n")
	b.Lag = 1
	require.NoError(t, b.Open(path))
	require.NoError(t, os.WriteFile(path, []byte("two\n"), 0o644))
	for i, want := range []string{"one\n", "two\n"} {
		got, err := b.ReadText(t.Context(), path)
		require.NoError(t, err)
		assert.Equal(t, want, got, i)
	}
	require.NoError(t, b.Type(path, "two", "mine"))
	require.NoError(t, os.WriteFile(path, []byte("three\n"), 0o644))
	for range 3 {
		got, err := b.ReadText(t.Context(), path)
		require.NoError(t, err)
		assert.Equal(t, "mine\n", got, "unsaved text stays")
	}
}

func TestBuffersFormatAndBounds(t *testing.T) {
	b, path := desk(t, "one\n")
	b.Format = strings.ToUpper
	_, err := b.ReadText(t.Context(), path)
	require.NoError(t, err)
	require.NoError(t, b.WriteText(t.Context(), path, "one\ntwo\n"))
	assert.Equal(t, "ONE\nTWO\n", onDisk(t, path))

	empty, err := b.ReadText(t.Context(), filepath.Join(filepath.Dir(path), "new.txt"))
	require.NoError(t, err)
	assert.Empty(t, empty)
	outside := filepath.Join(t.TempDir(), "x")
	_, err = b.ReadText(t.Context(), outside)
	assert.ErrorIs(t, err, ErrNoResource)
	assert.ErrorIs(t, b.WriteText(t.Context(), outside, "x"), ErrNoResource)
	assert.Equal(t, []string{"read a.txt", "write a.txt", "read new.txt", "read x", "write x"}, b.Calls())
}
