package fsbackend_test

import (
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
