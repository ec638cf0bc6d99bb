package fsbackendtest

import (
	"context"
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/text"
)

var statTests = []test{
	{"a file", func(t *testing.T, k kit) {
		p := k.putMode("a.txt", "abc", 0o640)
		i := k.stat("a.txt")
		assert.True(t, i.Exists)
		assert.True(t, i.Regular)
		assert.False(t, i.Dir)
		assert.EqualValues(t, 3, i.Size)
		assert.Equal(t, k.mode("a.txt"), i.Mode)
		assert.Equal(t, p, i.Real)
		assert.Equal(t, 1, i.Links)
	}},
	{"absence is no error", func(t *testing.T, k kit) {
		k.put("file", "x")
		for _, name := range []string{"a.txt", "no/such/folder/a.txt", "file/below", "file/far/below"} {
			i := k.stat(name)
			assert.False(t, i.Exists, name)
			assert.False(t, i.Regular, name)
			assert.Equal(t, k.path(name), i.Real)
			assert.NotEmpty(t, i.Key)
		}
	}},
	{"a folder, and the root itself", func(t *testing.T, k kit) {
		k.must(k.World.Mkdir(k.path("d")))
		for _, name := range []string{"d", ""} {
			i := k.stat(name)
			assert.True(t, i.Exists && i.Dir && !i.Regular, name)
		}
	}},
	{"the key is the same before and after the file is made, replaced and removed", func(t *testing.T, k kit) {
		p := k.path("d/a.txt")
		key := k.stat("d/a.txt").Key
		r := k.write(fsbackend.Write{Path: p, Data: []byte("1")})
		assert.Equal(t, key, r.Key)
		assert.Equal(t, key, k.stat("d/a.txt").Key)
		k.write(fsbackend.Write{Path: p, Data: []byte("2")})
		assert.Equal(t, key, k.stat("d/a.txt").Key)
		assert.Equal(t, key, k.read("d/a.txt").Key)
		k.must(k.World.Delete(p))
		assert.Equal(t, key, k.stat("d/a.txt").Key)
	}},
	{"different files have different keys", func(t *testing.T, k kit) {
		k.put("a.txt", "x")
		k.put("b.txt", "x")
		assert.NotEqual(t, k.stat("a.txt").Key, k.stat("b.txt").Key)
		assert.NotEqual(t, k.stat("a.txt").Key, k.stat("missing").Key)
	}},
	{"a pipe", func(t *testing.T, k kit) {
		k.must(k.World.Pipe(k.path("p")))
		i := k.stat("p")
		assert.True(t, i.Exists && !i.Regular && !i.Dir)
	}},
}

var readTests = []test{
	{"bytes and version", func(t *testing.T, k kit) {
		for _, data := range []string{"", "a", "a\r\nb\n", "\xef\xbb\xbfx\n", "\x00\xff\x01", strings.Repeat("0123456789\n", 300)} {
			k.put("a.txt", data)
			f := k.read("a.txt")
			assert.Equal(t, data, string(f.Data))
			assert.NotNil(t, f.Data)
			assert.Equal(t, fsbackend.VersionOf([]byte(data)), f.Version)
			assert.EqualValues(t, len(data), f.Size)
			assert.True(t, f.Exists && f.Regular)
		}
	}},
	{"the bytes are the caller's", func(t *testing.T, k kit) {
		k.put("a.txt", "abc")
		k.read("a.txt").Data[0] = 'X'
		assert.Equal(t, "abc", string(k.read("a.txt").Data))
	}},
	{"what cannot be read says so", func(t *testing.T, k kit) {
		k.put("file", "x")
		k.must(k.World.Mkdir(k.path("d")))
		for name, code := range map[string]string{
			"missing": fsbackend.CodeNotFound, "no/such": fsbackend.CodeNotFound,
			"file/below": fsbackend.CodeNotDirectory, "d": fsbackend.CodeNotRegular,
		} {
			_, err := k.Backend.Read(t.Context(), k.path(name))
			k.fails(err, code, k.path(name))
		}
		_, err := k.Backend.Read(t.Context(), k.path("missing"))
		assert.ErrorIs(t, err, fs.ErrNotExist)
	}},
	{"a pipe is refused at once", func(t *testing.T, k kit) {
		k.must(k.World.Pipe(k.path("p")))
		_, err := k.Backend.Read(t.Context(), k.path("p"))
		k.fails(err, fsbackend.CodeNotRegular, k.path("p"))
	}},
	{"paths that no file has", func(t *testing.T, k kit) {
		for _, p := range []string{"", " ", "relative.txt", k.path("a\x00b")} {
			_, err := k.Backend.Read(t.Context(), p)
			assert.Equal(t, fsbackend.CodeNotFound, fsbackend.CodeOf(err), "%q", p)
			_, err = k.Backend.Write(t.Context(), fsbackend.Write{Path: p})
			assert.Equal(t, fsbackend.CodeNotFound, fsbackend.CodeOf(err), "%q", p)
		}
	}},
	{"names with dots and blanks are plain names", func(t *testing.T, k kit) {
		for _, name := range []string{"..notes/a.txt", "v..2.txt", "~", "a b", "-", "ü\u0308.txt"} {
			k.write(fsbackend.Write{Path: k.path(name), Data: []byte(name)})
			assert.Equal(t, name, k.text(name))
		}
	}},
	{"over the bound", func(t *testing.T, k kit) {
		if k.MaxFile == 0 {
			t.Skip("this fixture has no bound for reading")
		}
		k.put("fits", strings.Repeat("x", int(k.MaxFile)))
		assert.Len(t, k.read("fits").Data, int(k.MaxFile))
		k.put("over", strings.Repeat("x", int(k.MaxFile)+1))
		_, err := k.Backend.Read(t.Context(), k.path("over"))
		k.fails(err, fsbackend.CodeTooLarge, k.path("over"))
	}},
	{"a cancelled context", func(t *testing.T, k kit) {
		k.put("a.txt", "x")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		before := k.snapshot()
		_, err := k.Backend.Read(ctx, k.path("a.txt"))
		k.fails(err, fsbackend.CodeAborted, k.path("a.txt"))
		assert.ErrorIs(t, err, context.Canceled)
		_, err = k.Backend.Stat(ctx, k.path("a.txt"))
		k.fails(err, fsbackend.CodeAborted, k.path("a.txt"))
		_, err = k.Backend.Write(ctx, fsbackend.Write{Path: k.path("d/b.txt"), Data: []byte("y")})
		k.fails(err, fsbackend.CodeAborted, k.path("d/b.txt"))
		k.unchanged(before)
	}},
	{"text and what is not", func(t *testing.T, k kit) {
		k.put("a.txt", "\xef\xbb\xbfone\r\n")
		d, err := k.read("a.txt").Doc()
		require.NoError(t, err)
		assert.Equal(t, "\xef\xbb\xbfone\r\n", d.Raw())
		for _, data := range []string{"a\x00b", "caf\xe9\n"} {
			p := k.put("b.txt", data)
			_, err = k.read("b.txt").Doc()
			k.fails(err, fsbackend.CodeNotText, p)
			assert.ErrorIs(t, err, text.ErrNotText)
		}
	}},
}
