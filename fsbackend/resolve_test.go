package fsbackend

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// folded is a tree whose names are found in any case, as on most disks of
// Windows and macOS, and Unicode forms besides: "~1" stands for any tail.
func folded(t *testing.T, paths ...string) lookup {
	tree := &Tree{nodes: map[string]*node{}}
	for _, p := range paths {
		name, target, isLink := strings.Cut(p, " -> ")
		switch {
		case isLink:
			require.NoError(t, tree.Symlink(target, name))
		case strings.HasSuffix(p, "/"):
			require.NoError(t, tree.Mkdir(p))
		default:
			require.NoError(t, tree.Put(p, nil, 0))
		}
	}
	stored := func(path string) string {
		for p := range tree.nodes {
			if strings.EqualFold(p, path) {
				return p
			}
			if head, ok := strings.CutSuffix(strings.ToLower(path), "~1"); ok && strings.HasPrefix(strings.ToLower(p), head) && filepath.Dir(p) == filepath.Dir(path) {
				return p
			}
		}
		return path
	}
	l := tree.lookup()
	return lookup{
		lstat:    func(p string) (fs.FileInfo, error) { return l.lstat(stored(p)) },
		readlink: func(p string) (string, error) { return l.readlink(stored(p)) },
		same:     l.same,
		names: func(dir string) ([]string, error) {
			all, err := tree.Paths(stored(dir))
			var names []string
			for _, p := range all {
				if filepath.Dir(p) == stored(dir) {
					names = append(names, filepath.Base(p))
				}
			}
			return names, err
		},
	}
}

func TestResolveRegardlessOfCase(t *testing.T) {
	l := folded(t, "/Users/ann/Work/Main.go", "/Users/ann/link -> WORK", "/Users/ann/progra~long name/x", "/Users/ann/123")
	for in, want := range map[string]string{
		"/users/ANN/work/main.GO":     "/Users/ann/Work/Main.go",
		"/Users/ann/Work/Main.go":     "/Users/ann/Work/Main.go",
		"/users/ann/LINK/main.go":     "/Users/ann/Work/Main.go",
		"/users/ann/work/New.go":      "/Users/ann/Work/New.go",
		"/users/ann/work/Sub/New.go":  "/Users/ann/Work/Sub/New.go",
		"/USERS/ann/123":              "/Users/ann/123",
		"/Users/ann/progra~1/x":       "/Users/ann/progra~long name/x",
		"/Users/ann/Work/Main.go/low": "/Users/ann/Work/Main.go/low",
	} {
		r, err := l.resolve(filepath.FromSlash(in))
		require.NoError(t, err)
		assert.Equal(t, want, filepath.ToSlash(r.real), in)
	}
}

// Where case matters, names that differ in it are different files.
func TestResolveWithCase(t *testing.T) {
	tree := &Tree{nodes: map[string]*node{}}
	require.NoError(t, tree.Put("/d/a", []byte("1"), 0))
	require.NoError(t, tree.Put("/d/A", []byte("2"), 0))
	require.NoError(t, tree.Link("/d/a", "/d/other"))
	for _, p := range []string{"/d/a", "/d/A", "/d/other"} {
		r, err := tree.lookup().resolve(p)
		require.NoError(t, err)
		assert.Equal(t, p, r.real)
	}
}

func TestResolveMissing(t *testing.T) {
	tree := &Tree{nodes: map[string]*node{}}
	require.NoError(t, tree.Put("/d/f", nil, 0))
	require.NoError(t, tree.Symlink("none/deep", "/d/l"))
	require.NoError(t, tree.Symlink("none/../x", "/d/back"))
	for _, c := range []struct {
		in, real, file string
		missing        []string
	}{
		{"/d/x", "/d/x", "", nil},
		{"/d/x/y/z", "/d/x/y/z", "", []string{"/d/x", "/d/x/y"}},
		{"/d/f/y", "/d/f/y", "/d/f", nil},
		{"/d/l", "/d/none/deep", "", []string{"/d/none"}},
		{"/d/l/more", "/d/none/deep/more", "", []string{"/d/none", "/d/none/deep"}},
	} {
		r, err := tree.lookup().resolve(c.in)
		require.NoError(t, err)
		assert.Equal(t, resolved{real: c.real, file: c.file, missing: c.missing}, r, c.in)
	}
	_, err := tree.lookup().resolve("/d/back")
	assert.ErrorIs(t, err, fs.ErrNotExist)
}

func TestResolveLinkLimit(t *testing.T) {
	tree := &Tree{nodes: map[string]*node{}}
	require.NoError(t, tree.Put("/f", nil, 0))
	last := "/f"
	for i := range maxLinks + 1 {
		next := "/l" + strings.Repeat("x", i)
		require.NoError(t, tree.Symlink(last, next))
		if i == maxLinks {
			_, err := tree.lookup().resolve(next)
			assert.ErrorIs(t, err, errLoop)
			break
		}
		r, err := tree.lookup().resolve(next)
		require.NoError(t, err)
		assert.Equal(t, "/f", r.real)
		last = next
	}
}

func TestWithin(t *testing.T) {
	for _, c := range []struct {
		root, path string
		want       bool
	}{
		{"/w", "/w", true}, {"/w", "/w/a", true}, {"/w", "/w-evil", false}, {"/w", "/", false}, {"/", "/a", true}, {"/", "/", true},
		{"/w/a", "/w", false}, {"/w", "/W/a", false}, {"/w", "/w..a", false}, {"/w", "/w/..a", true},
	} {
		assert.Equal(t, c.want, within(c.root, c.path), "%s in %s", c.path, c.root)
	}
}

// linkNew is what systems without a rename that replaces nothing use.
func TestLinkNew(t *testing.T) {
	dir, err := openRoots([]string{t.TempDir()}, false, "")
	require.NoError(t, err)
	defer dir.close()
	r := dir.list[0].handle
	require.NoError(t, r.WriteFile("tmp", []byte("new"), 0o600))
	require.NoError(t, linkNew(r, "tmp", "a"))
	_, err = r.Stat("tmp")
	assert.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, r.WriteFile("tmp", []byte("newer"), 0o600))
	assert.ErrorIs(t, linkNew(r, "tmp", "a"), fs.ErrExist)
	data, err := r.ReadFile("a")
	require.NoError(t, err)
	assert.Equal(t, "new", string(data))
}
