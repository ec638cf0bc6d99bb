package fsbackendtest

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/fsbackend"
)

// isLink checks that a link is still one.
func (k kit) isLink(name string) {
	k.t.Helper()
	require.NotZero(k.t, k.mode(name)&fs.ModeSymlink, "%s is no link any more", name)
}

var linkTests = []test{
	{"a chain is written through and stays", func(t *testing.T, k kit) {
		k.put("real/x", "old")
		k.link("real/x", "one")
		k.link("one", "two")
		key := k.stat("real/x").Key
		for _, name := range []string{"one", "two"} {
			assert.Equal(t, key, k.stat(name).Key)
			assert.Equal(t, k.path("real/x"), k.stat(name).Real)
			r := k.write(fsbackend.Write{Path: k.path(name), Data: []byte(name)})
			assert.Equal(t, k.path("real/x"), r.Real)
			assert.Equal(t, k.path(name), r.Path)
			assert.Equal(t, name, k.text("real/x"))
			assert.Equal(t, name, string(k.read(name).Data))
			k.isLink("one")
			k.isLink("two")
		}
	}},
	{"an absolute link into the root", func(t *testing.T, k kit) {
		p := k.put("real/x", "old")
		k.link(p, "abs")
		k.link(k.path("real"), "dir")
		k.write(fsbackend.Write{Path: k.path("abs"), Data: []byte("1")})
		assert.Equal(t, "1", k.text("real/x"))
		k.write(fsbackend.Write{Path: k.path("dir/y"), Data: []byte("2")})
		assert.Equal(t, "2", k.text("real/y"))
		k.isLink("abs")
		k.isLink("dir")
	}},
	{"two dots in a link are of the real folder", func(t *testing.T, k kit) {
		k.must(k.World.Mkdir(k.path("real/host")))
		k.put("real/s", "v1")
		k.link("../s", "real/host/s")
		k.link("real/host", "synced")
		k.link("synced", "dot")
		k.write(fsbackend.Write{Path: k.path("dot/s"), Data: []byte("v2")})
		assert.Equal(t, "v2", k.text("real/s"))
		k.isLink("real/host/s")
		k.isLink("dot")
	}},
	{"a dangling link makes the file that it names", func(t *testing.T, k kit) {
		k.link("later/x", "l")
		i := k.stat("l")
		assert.False(t, i.Exists)
		assert.Equal(t, k.path("later/x"), i.Real)
		_, err := k.Backend.Read(t.Context(), k.path("l"))
		k.fails(err, fsbackend.CodeNotFound, k.path("l"))
		r := k.write(fsbackend.Write{Path: k.path("l"), Data: []byte("1"), Pre: fsbackend.Absent{}})
		assert.Equal(t, []string{k.path("later")}, r.MadeDirs)
		assert.Equal(t, i.Key, k.stat("l").Key)
		assert.Equal(t, "1", k.text("later/x"))
		k.isLink("l")
	}},
	{"a link through a missing folder and back leads nowhere", func(t *testing.T, k kit) {
		k.link("missing/../x", "l")
		before := k.snapshot()
		_, err := k.Backend.Write(t.Context(), fsbackend.Write{Path: k.path("l"), Data: []byte("1")})
		k.fails(err, fsbackend.CodeNotFound, k.path("l"))
		k.unchanged(before)
	}},
	{"a loop is an error", func(t *testing.T, k kit) {
		k.link("b", "a")
		k.link("a", "b")
		k.link("self/x", "self")
		before := k.snapshot()
		for _, name := range []string{"a", "b/c", "self"} {
			_, err := k.Backend.Read(t.Context(), k.path(name))
			k.fails(err, fsbackend.CodeIO, k.path(name))
			_, err = k.Backend.Write(t.Context(), fsbackend.Write{Path: k.path(name), Data: []byte("1")})
			k.fails(err, fsbackend.CodeIO, k.path(name))
		}
		k.unchanged(before)
	}},
}

var boundTests = []test{
	{"outside is denied, whatever is there", func(t *testing.T, k kit) {
		k.put("out:secret", "s")
		k.must(k.World.Put(k.Root+"-evil", []byte("s"), 0))
		t.Cleanup(func() { _ = k.World.Delete(k.Root + "-evil") })
		before := k.snapshot()
		for _, p := range []string{k.path("out:secret"), k.path("out:new"), k.path("out:d/new"), k.path("out:"), k.Root + "-evil", k.Root + "-evil/x"} {
			k.denied(t, p)
		}
		k.unchanged(before)
	}},
	{"links that lead out are denied", func(t *testing.T, k kit) {
		secret := k.put("out:secret", "s")
		k.link(secret, "abs")
		k.link(k.path("out:"), "dir")
		k.link(k.path("out:none"), "dangling")
		k.link("dir", "again")
		k.put("sub/x", "x")
		k.link("../dir/secret", "sub/up")
		before := k.snapshot()
		for _, name := range []string{"abs", "dir", "dir/secret", "dir/new", "dir/d/new", "dangling", "again/secret", "sub/up"} {
			k.denied(t, k.path(name))
		}
		k.unchanged(before)
	}},
	{"a link out and back in is fine", func(t *testing.T, k kit) {
		k.put("x", "old")
		k.link(k.path("x"), "out:back")
		k.link(k.path("out:back"), "l")
		k.write(fsbackend.Write{Path: k.path("l"), Data: []byte("new")})
		assert.Equal(t, "new", k.text("x"))
	}},
	{"the message names the open folder and a way", func(t *testing.T, k kit) {
		_, err := k.Backend.Read(t.Context(), k.path("out:x"))
		require.Error(t, err)
		assert.Contains(t, err.Error(), k.Root)
		assert.ErrorIs(t, err, fs.ErrPermission)
		var e *fsbackend.Error
		require.ErrorAs(t, err, &e)
		assert.NotEmpty(t, e.Remedy)
	}},
}

// denied checks all operations on a path.
func (k kit) denied(t *testing.T, p string) {
	t.Helper()
	_, err := k.Backend.Stat(t.Context(), p)
	k.fails(err, fsbackend.CodeDenied, p)
	_, err = k.Backend.Read(t.Context(), p)
	k.fails(err, fsbackend.CodeDenied, p)
	for _, pre := range []fsbackend.Precondition{nil, fsbackend.Any{}, fsbackend.Absent{}, fsbackend.Unchanged{}} {
		_, err = k.Backend.Write(t.Context(), fsbackend.Write{Path: p, Data: []byte("no"), Pre: pre})
		k.fails(err, fsbackend.CodeDenied, p)
	}
	if f, ok := k.Backend.(fsbackend.Folders); ok {
		_, err = f.MakeDirs(t.Context(), p)
		k.fails(err, fsbackend.CodeDenied, p)
		k.fails(f.RemoveDir(t.Context(), p), fsbackend.CodeDenied, p)
		k.fails(f.Remove(t.Context(), p, fsbackend.Version{}), fsbackend.CodeDenied, p)
	}
}
