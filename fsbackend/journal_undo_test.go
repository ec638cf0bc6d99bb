package fsbackend_test

import (
	"context"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/fsbackend"
)

func in(t *testing.T, turn, call string) context.Context {
	return fsbackend.WithGroup(t.Context(), fsbackend.Group{Turn: turn, Call: call})
}

func (s shop) reopen() shop {
	require.NoError(s.t, s.Journal().Close())
	s.Journaled = openJournal(s.t, fsbackend.JournalOptions{Dir: s.dir}).Over(s.local)
	return s
}

func TestUndoOfATurn(t *testing.T) {
	s := newShop(t)
	s.put("a", "a0")
	s.put("gone", "g0")
	require.NoError(t, os.Chmod(s.path("a"), 0o750))
	mode, err := os.Stat(s.path("a"))
	require.NoError(t, err)
	s.writeIn(in(t, "t1", "c1"), "a", "a1")
	s.writeIn(in(t, "t1", "c1"), "d/new", "n1")
	s.writeIn(in(t, "t1", "c2"), "a", "a2")
	require.NoError(t, s.Remove(in(t, "t1", "c3"), s.path("gone"), fsbackend.VersionOf([]byte("g0"))))
	s.writeIn(in(t, "t1", "c4"), "same", "x")
	require.NoError(t, s.Remove(in(t, "t1", "c5"), s.path("same"), fsbackend.VersionOf([]byte("x"))))
	s = s.reopen()

	turn, ok := s.Journal().LastTurn()
	require.True(t, ok)
	require.Equal(t, fsbackend.Group{Turn: "t1"}, turn)
	call, ok := s.Journal().LastCall()
	require.True(t, ok)
	require.Equal(t, fsbackend.Group{Turn: "t1", Call: "c5"}, call)
	require.Len(t, s.Journal().Changes(turn), 6)

	done, err := s.Undo(in(t, "u1", ""), turn)
	require.NoError(t, err)
	require.Len(t, done, 3)
	for _, d := range done {
		assert.NoError(t, d.Err)
	}
	assert.Equal(t, s.path("a"), done[0].Path)
	assert.Equal(t, fsbackend.VersionOf([]byte("a0")), done[0].After)
	assert.Equal(t, fsbackend.Version{}, done[1].After)
	assert.Equal(t, fsbackend.Version{}, done[2].Before)
	assert.Equal(t, "a0", s.text("a"))
	assert.Equal(t, "g0", s.text("gone"))
	assert.NoFileExists(t, s.path("d/new"))
	now, err := os.Stat(s.path("a"))
	require.NoError(t, err)
	assert.Equal(t, mode.Mode(), now.Mode())
	_, ok = s.Journal().LastTurn()
	assert.False(t, ok, "it is undone")
	s = s.reopen()
	_, ok = s.Journal().LastTurn()
	assert.False(t, ok, "also after a restart")

	_, err = s.Undo(in(t, "u2", ""), fsbackend.Group{Turn: "u1"})
	require.NoError(t, err, "an undo is undone by its own group")
	assert.Equal(t, "a2", s.text("a"))
	assert.Equal(t, "n1", s.text("d/new"))
	assert.NoFileExists(t, s.path("gone"))
	turn, ok = s.Journal().LastTurn()
	assert.True(t, ok, "it is in effect again")
	assert.Equal(t, fsbackend.Group{Turn: "t1"}, turn)
}

func TestUndoOfACall(t *testing.T) {
	s := newShop(t)
	s.writeIn(in(t, "t1", "c1"), "a", "a1")
	s.writeIn(in(t, "t1", "c2"), "a", "a2")
	s.writeIn(in(t, "t2", "c3"), "b", "b1")
	_, err := s.Undo(t.Context(), fsbackend.Group{Turn: "t1", Call: "c1"})
	assert.Equal(t, fsbackend.CodeChangedOutside, fsbackend.CodeOf(err), "a later call built on it")
	assert.NotContains(t, err.Error(), "single calls", "this was one")
	assert.Equal(t, "a2", s.text("a"))
	_, err = s.Undo(t.Context(), fsbackend.Group{Turn: "t1", Call: "c2"})
	require.NoError(t, err)
	assert.Equal(t, "a1", s.text("a"))
	assert.Equal(t, "b1", s.text("b"))
	_, err = s.Undo(t.Context(), fsbackend.Group{Turn: "t9"})
	assert.Equal(t, fsbackend.CodeNoHistory, fsbackend.CodeOf(err))
}

func TestUndoIsAllOrNothing(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(s shop)
		code  string
	}{
		"changed since": {func(s shop) { s.put("b", "theirs") }, fsbackend.CodeChangedOutside},
		"gone since":    {func(s shop) { require.NoError(s.t, os.Remove(s.path("b"))) }, fsbackend.CodeChangedOutside},
		"bytes are lost": {func(s shop) {
			for n := range s.blobs() {
				if data, _ := os.ReadFile(n); string(data) == "b0" {
					require.NoError(s.t, os.Remove(n))
				}
			}
		}, fsbackend.CodeUnknownVersion},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop(t)
			s.put("a", "a0")
			s.put("b", "b0")
			s.writeIn(in(t, "t1", "c1"), "a", "a1")
			s.writeIn(in(t, "t1", "c1"), "b", "b1")
			c.spoil(s)
			_, err := s.Undo(t.Context(), fsbackend.Group{Turn: "t1"})
			assert.Equal(t, c.code, fsbackend.CodeOf(err))
			assert.ErrorContains(t, err, "take back single calls")
			assert.Equal(t, "a1", s.text("a"))
		})
	}
	t.Run("a write that fails", func(t *testing.T) {
		faults := fsbackend.NewFaults()
		w := newWorld(t, faults)
		s := shop{w, openJournal(t, fsbackend.JournalOptions{}).Over(w.local), ""}
		s.put("a", "a0")
		s.put("b", "b0")
		s.writeIn(in(t, "t1", "c1"), "a", "a1")
		s.writeIn(in(t, "t1", "c1"), "b", "b1")
		faults.Add(fsbackend.Fault{At: fsbackend.AtRename, Path: "b", Err: syscall.EIO})
		_, err := s.Undo(in(t, "u", ""), fsbackend.Group{Turn: "t1"})
		rec, ok := fsbackend.RecoveryOf(err)
		require.True(t, ok)
		assert.Equal(t, []string{s.path("a")}, rec.Restored)
		assert.Equal(t, "a1", s.text("a"))
		faults.Clear()
		_, ok = s.Journal().LastTurn()
		assert.True(t, ok, "still to be undone")
		_, err = s.Undo(in(t, "u", ""), fsbackend.Group{Turn: "t1"})
		require.NoError(t, err)
		assert.Equal(t, "a0"+"b0", s.text("a")+s.text("b"))
	})
}
