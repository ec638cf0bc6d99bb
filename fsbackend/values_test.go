package fsbackend_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/fsbackend"
)

func TestSeen(t *testing.T) {
	var s fsbackend.Seen
	v := fsbackend.VersionOf([]byte("x"))
	_, ok := s.Version("k")
	assert.False(t, ok)
	assert.Equal(t, fsbackend.Absent{}, s.Guard("k"))
	s.Note("k", v)
	got, ok := s.Version("k")
	assert.True(t, ok)
	assert.Equal(t, v, got)
	assert.Equal(t, fsbackend.Unchanged{Version: v}, s.Guard("k"))
	s.Note("k", fsbackend.Version{})
	_, ok = s.Version("k")
	assert.True(t, ok)
	assert.Equal(t, fsbackend.Absent{}, s.Guard("k"))
	s.NoteFile(fsbackend.File{Info: fsbackend.Info{Key: "j"}, Version: v})
	assert.Equal(t, fsbackend.Unchanged{Version: v}, s.Guard("j"))
}

// Callers that want the same keys in different orders all get them.
func TestLocksDoNotDeadlock(t *testing.T) {
	var l fsbackend.Locks
	counts := map[fsbackend.Key]int{}
	orders := [][]fsbackend.Key{{"a", "b", "c"}, {"c", "b", "a"}, {"b", "a", "b"}, {"c", "a"}, nil}
	done := make(chan error)
	for i := range 50 {
		go func() {
			keys := orders[i%len(orders)]
			unlock, err := l.Lock(t.Context(), keys...)
			if err == nil && len(keys) > 0 {
				counts["a"]++ // all of them have "a": the race detector would see a hole
			}
			if err == nil {
				unlock()
			}
			done <- err
		}()
	}
	for range 50 {
		require.NoError(t, <-done)
	}
	assert.Equal(t, 40, counts["a"])
}

// Who waits for a key that others hold leaves the rest when it gives up.
func TestLocksCancel(t *testing.T) {
	var l fsbackend.Locks
	unlock, err := l.Lock(t.Context(), "b")
	require.NoError(t, err)
	ctx, cancel := context.WithCancelCause(t.Context())
	errs := make(chan error)
	go func() {
		_, err := l.Lock(ctx, "a", "b")
		errs <- err
	}()
	cancel(errors.New("enough"))
	assert.ErrorIs(t, <-errs, context.Canceled)
	free, err := l.Lock(t.Context(), "a")
	require.NoError(t, err, "a must be free again")
	free()
	unlock()
}

func TestFaults(t *testing.T) {
	var none *fsbackend.Faults
	assert.NoError(t, none.Hit(fsbackend.AtRead, "/a"))
	boom, bang := errors.New("boom"), errors.New("bang")
	var ran []string
	f := fsbackend.NewFaults(
		fsbackend.Fault{At: fsbackend.AtAppend, Path: "b/c", Do: func(p string) { ran = append(ran, p) }},
		fsbackend.Fault{At: fsbackend.AtAppend, Path: "c", Nth: 2, Err: boom},
		fsbackend.Fault{At: fsbackend.AtAppend, Path: "./c", Nth: 2, Err: bang},
		fsbackend.Fault{At: fsbackend.AtRead, Path: "/x/c", Err: bang},
	)
	assert.NoError(t, f.Hit(fsbackend.AtAppend, "/a/b/c"))
	assert.Equal(t, boom, f.Hit(fsbackend.AtAppend, "/a/c"))
	assert.NoError(t, f.Hit(fsbackend.AtAppend, "/a/c"))
	assert.NoError(t, f.Hit(fsbackend.AtAppend, "/a/bc"))
	assert.Equal(t, bang, f.Hit(fsbackend.AtRead, "/x/c"))
	assert.NoError(t, f.Hit(fsbackend.AtRead, "/a/x/c/d"))
	assert.Equal(t, []string{"/a/b/c"}, ran)
	f.Clear()
	assert.NoError(t, f.Hit(fsbackend.AtRead, "/x/c"))
}
