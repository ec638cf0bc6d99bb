package fsbackendtest

import (
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/fsbackend"
)

// noModes skips where a file's mode is the read-only mark alone.
func noModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("this system has no permission bits")
	}
}

var writeTests = []test{
	{"a new file", func(t *testing.T, k kit) {
		p := k.path("a.txt")
		r := k.write(fsbackend.Write{Path: p, Data: []byte("new\n")})
		assert.Equal(t, "new\n", k.text("a.txt"))
		assert.Equal(t, fsbackend.Receipt{
			Path: p, Real: p, Key: k.stat("a.txt").Key, Created: true, Version: fsbackend.VersionOf([]byte("new\n")),
		}, r)
	}},
	{"over a file", func(t *testing.T, k kit) {
		p := k.put("a.txt", "old\n")
		r := k.write(fsbackend.Write{Path: p, Data: []byte("new\n")})
		assert.Equal(t, "new\n", k.text("a.txt"))
		assert.False(t, r.Created)
		require.NotNil(t, r.Before)
		assert.Equal(t, "old\n", string(*r.Before))
		assert.Equal(t, fsbackend.VersionOf([]byte("old\n")), r.BeforeVersion)
		assert.Equal(t, fsbackend.VersionOf([]byte("new\n")), r.Version)
		assert.Equal(t, r.Version, k.read("a.txt").Version)
		assert.EqualValues(t, 4, r.BeforeSize)
		assert.Equal(t, k.mode("a.txt"), r.BeforeMode)
	}},
	{"any bytes over any bytes, exactly", func(t *testing.T, k kit) {
		all := []string{"", "\x00\xff", "a\r\nb\n", "\xef\xbb\xbf", "x", strings.Repeat("long\n", 1000), "x"}
		p := k.path("a")
		for i, data := range all {
			r := k.write(fsbackend.Write{Path: p, Data: []byte(data)})
			assert.Equal(t, data, k.text("a"))
			if i > 0 && int64(len(data)) < max(k.BeforeMax, 1<<10) && int64(len(all[i-1])) < max(k.BeforeMax, 1<<10) {
				require.NotNil(t, r.Before)
				assert.Equal(t, all[i-1], string(*r.Before))
			}
		}
	}},
	{"nothing else is left in the folder", func(t *testing.T, k kit) {
		for range 3 {
			k.write(fsbackend.Write{Path: k.path("a.txt"), Data: []byte("x")})
		}
		paths, err := k.World.Paths(k.Root)
		require.NoError(t, err)
		assert.Equal(t, []string{k.path("a.txt")}, paths)
	}},
	{"the data is only read", func(t *testing.T, k kit) {
		data := []byte("abc")
		k.write(fsbackend.Write{Path: k.path("a"), Data: data})
		assert.Equal(t, "abc", string(data))
		data[0] = 'X'
		assert.Equal(t, "abc", k.text("a"))
	}},
	{"missing folders are made, outermost first", func(t *testing.T, k kit) {
		r := k.write(fsbackend.Write{Path: k.path("x/y/z/a.txt"), Data: []byte("1")})
		assert.Equal(t, []string{k.path("x"), k.path("x/y"), k.path("x/y/z")}, r.MadeDirs)
		r = k.write(fsbackend.Write{Path: k.path("x/y/q/b.txt"), Data: []byte("1")})
		assert.Equal(t, []string{k.path("x/y/q")}, r.MadeDirs)
	}},
	{"or not, if so asked", func(t *testing.T, k kit) {
		before := k.snapshot()
		_, err := k.Backend.Write(t.Context(), fsbackend.Write{Path: k.path("x/y/a.txt"), NoParents: true})
		k.fails(err, fsbackend.CodeNotFound, k.path("x/y/a.txt"))
		assert.Contains(t, err.Error(), k.path("x/y"))
		k.unchanged(before)
	}},
	{"not over a folder, below a file or over a pipe", func(t *testing.T, k kit) {
		k.put("f", "x")
		k.must(k.World.Mkdir(k.path("d")))
		before := k.snapshot()
		for name, code := range map[string]string{
			"d": fsbackend.CodeNotRegular, "f/x.txt": fsbackend.CodeNotDirectory, "": fsbackend.CodeNotRegular,
		} {
			_, err := k.Backend.Write(t.Context(), fsbackend.Write{Path: k.path(name), Data: []byte("x")})
			k.fails(err, code, k.path(name))
		}
		k.unchanged(before)
		k.must(k.World.Pipe(k.path("p")))
		before = k.snapshot()
		_, err := k.Backend.Write(t.Context(), fsbackend.Write{Path: k.path("p"), Data: []byte("x")})
		k.fails(err, fsbackend.CodeNotRegular, k.path("p"))
		k.unchanged(before)
	}},
	{"the mode stays", func(t *testing.T, k kit) {
		noModes(t)
		for _, mode := range []fs.FileMode{0o755, 0o600, 0o664, 0o644, 0o777} {
			k.putMode("a", "old", mode)
			k.write(fsbackend.Write{Path: k.path("a"), Data: []byte("new")})
			assert.Equal(t, mode, k.mode("a"))
		}
	}},
	{"a mode that is asked for", func(t *testing.T, k kit) {
		noModes(t)
		k.putMode("a", "old", 0o644)
		r := k.write(fsbackend.Write{Path: k.path("a"), Data: []byte("new"), Mode: 0o750})
		assert.EqualValues(t, 0o750, k.mode("a"))
		assert.EqualValues(t, 0o644, r.BeforeMode)
		k.write(fsbackend.Write{Path: k.path("b"), Data: []byte("new"), Mode: 0o600})
		assert.EqualValues(t, 0o600, k.mode("b"))
	}},
	{"x comes only where r is", func(t *testing.T, k kit) {
		noModes(t)
		for mode, want := range map[fs.FileMode]fs.FileMode{0o600: 0o700, 0o640: 0o750, 0o644: 0o755, 0o620: 0o720} {
			k.putMode("a", "old", mode)
			k.write(fsbackend.Write{Path: k.path("a"), Data: []byte("#!"), Executable: true})
			assert.Equal(t, want, k.mode("a"))
		}
		k.write(fsbackend.Write{Path: k.path("plain")})
		k.write(fsbackend.Write{Path: k.path("new"), Data: []byte("#!"), Executable: true})
		plain := k.mode("plain")
		assert.Equal(t, plain|plain&0o444>>2, k.mode("new"))
	}},
	{"a file marked read-only is left alone", func(t *testing.T, k kit) {
		k.putMode("a", "old", 0o444)
		t.Cleanup(func() { _ = k.World.Put(k.path("a"), nil, 0o644) })
		before := k.snapshot()
		_, err := k.Backend.Write(t.Context(), fsbackend.Write{Path: k.path("a"), Data: []byte("new")})
		k.fails(err, fsbackend.CodePermission, k.path("a"))
		assert.ErrorIs(t, err, fs.ErrPermission)
		k.unchanged(before)
	}},
	{"a hard-linked file parts, and the result says so", func(t *testing.T, k kit) {
		k.put("a", "old")
		k.must(k.World.Link(k.path("a"), k.path("b")))
		k.must(k.World.Link(k.path("a"), k.path("c")))
		if k.stat("a").Links != 3 {
			t.Skip("this system does not tell the number of names")
		}
		r := k.write(fsbackend.Write{Path: k.path("a"), Data: []byte("new")})
		assert.Equal(t, "new", k.text("a"))
		assert.Equal(t, "old", k.text("b"))
		assert.Equal(t, []string{"2 other names of this file (hard links) keep the old text"}, r.Notes)
		assert.Equal(t, 2, k.stat("b").Links)
	}},
	{"the old bytes are kept below the bound only", func(t *testing.T, k kit) {
		if k.BeforeMax == 0 {
			t.Skip("this fixture has no bound for old bytes")
		}
		n := int(k.BeforeMax)
		for _, c := range []struct {
			old, new int
			kept     bool
		}{{n - 1, n - 1, true}, {n, 1, false}, {1, n, false}, {n - 1, 1, true}, {n + 1, n + 1, false}} {
			k.put("a", strings.Repeat("o", c.old))
			r := k.write(fsbackend.Write{Path: k.path("a"), Data: []byte(strings.Repeat("n", c.new))})
			assert.Equal(t, c.kept, r.Before != nil, "%+v", c)
			assert.EqualValues(t, c.old, r.BeforeSize)
			assert.Equal(t, fsbackend.VersionOf([]byte(strings.Repeat("o", c.old))), r.BeforeVersion)
			assert.Len(t, k.text("a"), c.new)
		}
	}},
	{"a long name", func(t *testing.T, k kit) {
		name := strings.Repeat("n", 250)
		k.write(fsbackend.Write{Path: k.path(name), Data: []byte("1")})
		k.write(fsbackend.Write{Path: k.path(name), Data: []byte("2")})
		assert.Equal(t, "2", k.text(name))
	}},
	{"a path that is not clean", func(t *testing.T, k kit) {
		k.write(fsbackend.Write{Path: k.Root + string(filepath.Separator) + filepath.Join("d") + "/../a.txt", Data: []byte("1")})
		assert.Equal(t, "1", k.text("a.txt"))
	}},
}

var guardTests = []test{
	{"Absent", func(t *testing.T, k kit) {
		p := k.path("a")
		k.write(fsbackend.Write{Path: p, Data: []byte("1"), Pre: fsbackend.Absent{}})
		before := k.snapshot()
		_, err := k.Backend.Write(t.Context(), fsbackend.Write{Path: p, Data: []byte("2"), Pre: fsbackend.Absent{}})
		k.fails(err, fsbackend.CodeNotObserved, p)
		k.unchanged(before)
	}},
	{"Unchanged", func(t *testing.T, k kit) {
		p := k.put("a", "1")
		v := k.read("a").Version
		r := k.write(fsbackend.Write{Path: p, Data: []byte("2"), Pre: fsbackend.Unchanged{Version: v}})
		k.write(fsbackend.Write{Path: p, Data: []byte("3"), Pre: fsbackend.Unchanged{Version: r.Version}})
		before := k.snapshot()
		_, err := k.Backend.Write(t.Context(), fsbackend.Write{Path: p, Data: []byte("4"), Pre: fsbackend.Unchanged{Version: r.Version}})
		k.fails(err, fsbackend.CodeStaleVersion, p)
		k.unchanged(before)
	}},
	{"Unchanged goes by content, not by time", func(t *testing.T, k kit) {
		p := k.put("a", "1")
		v := k.read("a").Version
		k.put("a", "2")
		k.put("a", "1")
		k.write(fsbackend.Write{Path: p, Data: []byte("3"), Pre: fsbackend.Unchanged{Version: v}})
		assert.Equal(t, "3", k.text("a"))
	}},
	{"Unchanged of a file that is gone", func(t *testing.T, k kit) {
		p := k.put("d/a", "1")
		v := k.read("d/a").Version
		k.must(k.World.Delete(p))
		before := k.snapshot()
		_, err := k.Backend.Write(t.Context(), fsbackend.Write{Path: p, Data: []byte("2"), Pre: fsbackend.Unchanged{Version: v}})
		k.fails(err, fsbackend.CodeStaleVersion, p)
		k.must(k.World.Delete(k.path("d")))
		_, err = k.Backend.Write(t.Context(), fsbackend.Write{Path: p, Data: []byte("2"), Pre: fsbackend.Unchanged{Version: v}})
		k.fails(err, fsbackend.CodeStaleVersion, p)
		delete(before, k.path("d"))
		k.unchanged(before)
	}},
	{"Any", func(t *testing.T, k kit) {
		k.put("a", "1")
		k.write(fsbackend.Write{Path: k.path("a"), Data: []byte("2"), Pre: fsbackend.Any{}})
		assert.Equal(t, "2", k.text("a"))
	}},
}
