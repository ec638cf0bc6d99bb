package fsbackendtest

import (
	"context"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/fsbackend"
)

// points are those at which a write can fail and leave all as it was.
var points = []fsbackend.FaultPoint{
	fsbackend.AtWrite, fsbackend.AtBeforeWrite, fsbackend.AtTempWrite, fsbackend.AtSync,
	fsbackend.AtBeforeRename, fsbackend.AtRename,
}

func (k kit) arm(f fsbackend.Fault) {
	if k.Faults == nil {
		k.t.Skip("this fixture has no fault points")
	}
	k.Faults.Add(f)
}

var faultTests = []test{
	{"a failed overwrite leaves the old file and nothing else", func(t *testing.T, k kit) {
		p := k.putMode("d/a.txt", "old text\n", 0o640)
		before := k.snapshot()
		for _, at := range points {
			for _, pre := range []fsbackend.Precondition{nil, fsbackend.Unchanged{Version: fsbackend.VersionOf([]byte("old text\n"))}} {
				k.arm(fsbackend.Fault{At: at, Path: "a.txt", AfterBytes: 3, Err: syscall.ENOSPC})
				_, err := k.Backend.Write(t.Context(), fsbackend.Write{Path: p, Data: []byte("new text that does not fit\n"), Pre: pre})
				k.fails(err, fsbackend.CodeIO, p)
				assert.ErrorIs(t, err, syscall.ENOSPC)
				k.unchanged(before)
				k.Faults.Clear()
			}
		}
		k.write(fsbackend.Write{Path: p, Data: []byte("now\n")})
		assert.Equal(t, "now\n", k.text("d/a.txt"))
	}},
	{"a failed new file leaves no folders", func(t *testing.T, k kit) {
		p := k.path("x/y/z/a.txt")
		k.must(k.World.Mkdir(k.path("x")))
		before := k.snapshot()
		for _, at := range append([]fsbackend.FaultPoint{fsbackend.AtMkdir}, points...) {
			for _, pre := range []fsbackend.Precondition{nil, fsbackend.Absent{}} {
				k.arm(fsbackend.Fault{At: at, Err: syscall.EACCES})
				_, err := k.Backend.Write(t.Context(), fsbackend.Write{Path: p, Data: []byte("x"), Pre: pre})
				k.fails(err, fsbackend.CodePermission, p)
				k.unchanged(before)
				k.Faults.Clear()
			}
		}
	}},
	{"the second of two folders fails", func(t *testing.T, k kit) {
		before := k.snapshot()
		k.arm(fsbackend.Fault{At: fsbackend.AtMkdir, Nth: 2, Err: syscall.ENOSPC})
		_, err := k.Backend.Write(t.Context(), fsbackend.Write{Path: k.path("x/y/a"), Data: []byte("x")})
		k.fails(err, fsbackend.CodeIO, k.path("x/y/a"))
		k.unchanged(before)
	}},
	{"cancelled in the middle", func(t *testing.T, k kit) {
		p := k.put("a", "old")
		before := k.snapshot()
		for _, at := range points {
			ctx, cancel := context.WithCancel(t.Context())
			k.arm(fsbackend.Fault{At: at, Path: p, Do: func(string) { cancel() }})
			_, err := k.Backend.Write(ctx, fsbackend.Write{Path: p, Data: []byte("new")})
			if at == fsbackend.AtRename && err == nil {
				assert.Equal(t, "new", k.text("a")) // too late to stop it
				continue
			}
			k.fails(err, fsbackend.CodeAborted, p)
			assert.ErrorIs(t, err, context.Canceled)
			k.unchanged(before)
			k.Faults.Clear()
		}
	}},
	{"only the nth, and only that file", func(t *testing.T, k kit) {
		k.arm(fsbackend.Fault{At: fsbackend.AtWrite, Path: "a", Nth: 2, Err: syscall.EIO})
		for i, name := range []string{"a", "b", "ba", "a", "a"} {
			_, err := k.Backend.Write(t.Context(), fsbackend.Write{Path: k.path(name), Data: []byte("x")})
			assert.Equal(t, i == 3, err != nil, "%d %s", i, name)
		}
	}},
	{"an error after the fact comes with the receipt", func(t *testing.T, k kit) {
		k.arm(fsbackend.Fault{At: fsbackend.AtAfterWrite, Err: syscall.EIO})
		r, err := k.Backend.Write(t.Context(), fsbackend.Write{Path: k.path("d/a"), Data: []byte("x")})
		k.fails(err, fsbackend.CodeIO, k.path("d/a"))
		assert.Equal(t, "x", k.text("d/a"))
		assert.Equal(t, fsbackend.VersionOf([]byte("x")), r.Version)
		assert.NotContains(t, err.Error(), "nothing")
	}},
	{"a read that fails", func(t *testing.T, k kit) {
		p := k.put("a", "x")
		k.arm(fsbackend.Fault{At: fsbackend.AtRead, Path: p, Err: syscall.EIO})
		_, err := k.Backend.Read(t.Context(), p)
		k.fails(err, fsbackend.CodeIO, p)
	}},
}

// early are the moments before the last check.
var early = []fsbackend.FaultPoint{
	fsbackend.AtWrite, fsbackend.AtBeforeWrite, fsbackend.AtTempWrite, fsbackend.AtSync, fsbackend.AtBeforeRename,
}

// at arms what another program does at a moment, once.
func (k kit) at(at fsbackend.FaultPoint, do func()) {
	k.arm(fsbackend.Fault{At: at, Nth: 1, Do: func(string) { do() }})
}

var raceTests = []test{
	{"another program's change wins over a guarded write", func(t *testing.T, k kit) {
		for _, at := range early {
			p := k.put("a", "old")
			k.at(at, func() { k.put("a", "theirs") })
			_, err := k.Backend.Write(t.Context(), fsbackend.Write{
				Path: p, Data: []byte("ours"), Pre: fsbackend.Unchanged{Version: fsbackend.VersionOf([]byte("old"))},
			})
			k.fails(err, fsbackend.CodeStaleVersion, p)
			assert.Equal(t, "theirs", k.text("a"), at)
			k.Faults.Clear()
		}
		paths, err := k.World.Paths(k.Root)
		require.NoError(t, err)
		assert.Len(t, paths, 1)
	}},
	{"another program's new file wins over Absent", func(t *testing.T, k kit) {
		for _, at := range append([]fsbackend.FaultPoint{fsbackend.AtRename}, early...) {
			p := k.path("a")
			k.at(at, func() { k.put("a", "theirs") })
			_, err := k.Backend.Write(t.Context(), fsbackend.Write{Path: p, Data: []byte("ours"), Pre: fsbackend.Absent{}})
			k.fails(err, fsbackend.CodeNotObserved, p)
			assert.Equal(t, "theirs", k.text("a"), at)
			paths, err := k.World.Paths(k.Root)
			require.NoError(t, err)
			assert.Equal(t, []string{p}, paths)
			k.must(k.World.Delete(p))
			k.Faults.Clear()
		}
	}},
	{"another program's new file is what an unguarded write replaced", func(t *testing.T, k kit) {
		for _, at := range append([]fsbackend.FaultPoint{fsbackend.AtRename}, early...) {
			p := k.path("a")
			k.at(at, func() { k.must(k.World.Put(p, []byte("theirs"), 0o600)) })
			r := k.write(fsbackend.Write{Path: p, Data: []byte("ours")})
			assert.False(t, r.Created, at)
			require.NotNil(t, r.Before)
			assert.Equal(t, "theirs", string(*r.Before))
			assert.Equal(t, "ours", k.text("a"))
			k.must(k.World.Delete(p))
			k.Faults.Clear()
		}
	}},
	{"a file that vanishes meanwhile", func(t *testing.T, k kit) {
		for _, at := range early {
			p := k.put("a", "old")
			k.at(at, func() { k.must(k.World.Delete(p)) })
			_, err := k.Backend.Write(t.Context(), fsbackend.Write{
				Path: p, Data: []byte("ours"), Pre: fsbackend.Unchanged{Version: fsbackend.VersionOf([]byte("old"))},
			})
			k.fails(err, fsbackend.CodeStaleVersion, p)
			k.Faults.Clear()
		}
		paths, err := k.World.Paths(k.Root)
		require.NoError(t, err)
		assert.Empty(t, paths)
	}},
	{"a link that is swapped in leads nowhere it should not", func(t *testing.T, k kit) {
		for _, at := range early {
			secret := k.put("out:secret", "s")
			p := k.put("a", "old")
			k.at(at, func() {
				k.must(k.World.Delete(p))
				k.must(k.World.Symlink(secret, p))
			})
			_, err := k.Backend.Write(t.Context(), fsbackend.Write{Path: p, Data: []byte("ours")})
			k.fails(err, fsbackend.CodeDenied, p)
			assert.Equal(t, "s", k.text("out:secret"))
			paths, err := k.World.Paths(k.Root)
			require.NoError(t, err)
			assert.Equal(t, []string{p}, paths)
			k.must(k.World.Delete(p))
			k.Faults.Clear()
		}
	}},
	{"of many guarded writers one wins", func(t *testing.T, k kit) {
		p := k.put("a", "old")
		v := fsbackend.VersionOf([]byte("old"))
		won := k.together(8, func(i int) error {
			_, err := k.Backend.Write(t.Context(), fsbackend.Write{Path: p, Data: page(i), Pre: fsbackend.Unchanged{Version: v}})
			return err
		}, fsbackend.CodeStaleVersion)
		require.Len(t, won, 1)
		assert.Equal(t, string(page(won[0])), k.text("a"))
	}},
	{"of many creators one wins", func(t *testing.T, k kit) {
		p := k.path("x/y/a")
		won := k.together(8, func(i int) error {
			_, err := k.Backend.Write(t.Context(), fsbackend.Write{Path: p, Data: page(i), Pre: fsbackend.Absent{}})
			return err
		}, fsbackend.CodeNotObserved)
		require.Len(t, won, 1)
		assert.Equal(t, string(page(won[0])), k.text("x/y/a"))
	}},
	{"unguarded writers do not mix, nor do readers see half", func(t *testing.T, k kit) {
		p := k.put("a", string(page(0)))
		whole := map[string]bool{}
		for i := range 8 {
			whole[string(page(i))] = true
		}
		won := k.together(8, func(i int) error {
			if i%2 == 0 {
				f, err := k.Backend.Read(t.Context(), p)
				assert.True(t, whole[string(f.Data)], "torn")
				return err
			}
			_, err := k.Backend.Write(t.Context(), fsbackend.Write{Path: p, Data: page(i)})
			return err
		}, "")
		assert.Len(t, won, 8)
		assert.True(t, whole[k.text("a")], "torn")
		paths, err := k.World.Paths(k.Root)
		require.NoError(t, err)
		assert.Len(t, paths, 1)
	}},
	{"new files in one new folder", func(t *testing.T, k kit) {
		won := k.together(8, func(i int) error {
			_, err := k.Backend.Write(t.Context(), fsbackend.Write{Path: k.path("new/folder/" + string(rune('a'+i))), Data: page(i)})
			return err
		}, "")
		assert.Len(t, won, 8)
	}},
}

// page is some content of which no two mix unseen; it is long enough not to
// be written in one piece by accident, and within the usual bounds.
func page(i int) []byte {
	b := make([]byte, 3000)
	for j := range b {
		b[j] = byte('a' + i)
	}
	return b
}

// together runs f for 0 to n-1 at the same time and returns those that
// succeeded. The others must have failed with the code.
func (k kit) together(n int, f func(i int) error, code string) (won []int) {
	k.t.Helper()
	start, errs := make(chan struct{}), make([]chan error, n)
	for i := range n {
		errs[i] = make(chan error, 1)
		go func() {
			<-start
			errs[i] <- f(i)
		}()
	}
	close(start)
	for i := range n {
		err := <-errs[i]
		if err == nil {
			won = append(won, i)
			continue
		}
		assert.Equal(k.t, code, fsbackend.CodeOf(err), "%v", err)
	}
	return won
}
