package fsbackend_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/fsbackend"
)

func TestUndoAndRedo(t *testing.T) {
	s := newShop(t)
	j := s.Journal()
	first, undo, redo := fsbackend.Group{Turn: "1", Call: "a"}, fsbackend.Group{Turn: "2", Call: "u"}, fsbackend.Group{Turn: "3", Call: "r"}
	s.writeIn(in(t, first.Turn, first.Call), "f", "one")
	_, ok := j.LastUndo()
	assert.False(t, ok, "nothing was undone")

	_, err := s.Undo(in(t, undo.Turn, undo.Call), fsbackend.Group{Turn: "1"})
	require.NoError(t, err)
	assert.True(t, j.Undone(first))
	assert.True(t, j.IsUndo(undo))
	got, ok := j.LastUndo()
	assert.True(t, ok)
	assert.Equal(t, undo, got)

	_, err = s.Undo(in(t, redo.Turn, redo.Call), undo)
	require.NoError(t, err)
	assert.False(t, j.Undone(first), "it holds again")
	_, ok = j.LastUndo()
	assert.False(t, ok, "a redo is not redone")
	last, ok := j.LastTurn()
	assert.True(t, ok)
	assert.Equal(t, fsbackend.Group{Turn: "1"}, last)

	data, err := j.Content(j.Changes(first)[0].Key, j.Changes(first)[0].After)
	require.NoError(t, err)
	assert.Equal(t, "one", string(data))
	_, err = j.Content(j.Changes(first)[0].Key, fsbackend.Version{})
	assert.Error(t, err)
}

func TestUndoOfTheRestOfATurn(t *testing.T) {
	s := newShop(t)
	s.put("f", "0")
	s.writeIn(in(t, "1", "a"), "f", "1")
	s.writeIn(in(t, "1", "b"), "f", "2")
	_, err := s.Undo(in(t, "2", "u"), fsbackend.Group{Turn: "1", Call: "b"})
	require.NoError(t, err)
	done, err := s.Undo(in(t, "3", "u"), fsbackend.Group{Turn: "1"})
	require.NoError(t, err, "what was taken back already is none of its business")
	require.Len(t, done, 1)
	assert.Equal(t, "0", s.text("f"))
	_, err = s.Undo(in(t, "4", "u"), fsbackend.Group{Turn: "1"})
	assert.Equal(t, fsbackend.CodeNoHistory, fsbackend.CodeOf(err), "nothing of it is left")
}

func TestUndoKeepsWhatOthersDidInBetween(t *testing.T) {
	s := newShop(t)
	s.put("f", "0")
	s.writeIn(in(t, "1", "a"), "f", "1")
	s.put("f", "other")
	s.writeIn(in(t, "1", "b"), "f", "2")
	turn := fsbackend.Group{Turn: "1"}
	_, err := s.Undo(in(t, "2", "u"), turn)
	assert.Equal(t, fsbackend.CodeChangedOutside, fsbackend.CodeOf(err))
	assert.Equal(t, "2", s.text("f"))
	key := s.Journal().Changes(turn)[0].Key
	left, found, ok := s.Journal().Foreign(turn, key)
	assert.True(t, ok)
	assert.Equal(t, fsbackend.VersionOf([]byte("1")), left)
	assert.Equal(t, fsbackend.VersionOf([]byte("other")), found)
	_, _, ok = s.Journal().Foreign(fsbackend.Group{Turn: "1", Call: "b"}, key)
	assert.False(t, ok, "within one call there is no between")
}

func TestSeenOutlivesTheProcess(t *testing.T) {
	s := newShop(t)
	s.put("read", "r")
	s.put("planned", "p")
	file, err := s.Read(t.Context(), s.path("read"))
	require.NoError(t, err)
	planned, err := s.Read(t.Context(), s.path("planned"))
	require.NoError(t, err)
	seen := s.Journal().Seen()
	seen.NoteFile(file)
	seen.Note("missing", fsbackend.Version{})
	seen.Note("changed", fsbackend.VersionOf([]byte("1")))
	seen.Note("changed", fsbackend.VersionOf([]byte("2")))

	for range 2 { // the second time from an index that was written anew
		s = s.reopen()
		seen = s.Journal().Seen()
		v, ok := seen.Version(file.Key)
		assert.True(t, ok)
		assert.Equal(t, file.Version, v)
		v, ok = seen.Version("missing")
		assert.True(t, ok)
		assert.Equal(t, fsbackend.Version{}, v)
		v, _ = seen.Version("changed")
		assert.Equal(t, fsbackend.VersionOf([]byte("2")), v)
		_, ok = seen.Version(planned.Key)
		assert.False(t, ok, "that the journal keeps a file does not mean that the session saw it")
		assert.Equal(t, []string{s.path("planned"), s.path("read")}, s.Journal().Paths())
		s.fill()
	}
}

// TestWhatWasUndoneOutlivesARewrite fills the index until it is written anew.
func TestWhatWasUndoneOutlivesARewrite(t *testing.T) {
	s := newShop(t)
	s.put("f", "0")
	first, undo := fsbackend.Group{Turn: "1", Call: "a"}, fsbackend.Group{Turn: "2", Call: "u"}
	s.writeIn(in(t, first.Turn, first.Call), "f", "1")
	_, err := s.Undo(in(t, undo.Turn, undo.Call), first)
	require.NoError(t, err)
	_, err = s.Undo(in(t, "3", "r"), undo)
	require.NoError(t, err)
	s.fill()
	s = s.reopen().reopen()
	j := s.Journal()
	assert.False(t, j.Undone(first), "it was brought back")
	assert.True(t, j.Undone(undo))
	_, ok := j.LastUndo()
	assert.False(t, ok, "to bring back is not to take back")
	last, ok := j.LastCall()
	assert.True(t, ok)
	assert.Equal(t, first, last)
}

// fill makes so many changes that the next process writes the index anew.
func (s shop) fill() {
	for i := range 300 {
		s.Journal().Seen().Note("noise", fsbackend.VersionOf([]byte{byte(i)}))
	}
	lines := s.indexLines()
	again := s.reopen()
	require.Less(s.t, again.indexLines(), lines, "the index was written anew")
	require.NoError(s.t, again.Journal().Close())
}

func (s shop) indexLines() int {
	raw, err := os.ReadFile(filepath.Join(s.dir, "changes.log"))
	require.NoError(s.t, err)
	return len(bytes.Fields(raw))
}
