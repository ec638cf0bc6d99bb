// Package fsbackendtest is the contract of fsbackend.Backend as tests: every
// backend and every decorator runs [Run]. It knows no backend, and reaches the
// files behind one only as another program would, through a [World].
package fsbackendtest

import (
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dsh-acp/fsbackend"
)

// A Fixture is a fresh backend to test.
type Fixture struct {
	Backend fsbackend.Backend
	// Root is an empty folder in which the backend may work, by its real path.
	Root string
	// Outside is an empty folder in which it may not; "" if it has no bounds.
	Outside string
	// World is the same files in the eyes of another program.
	World World
	// Faults are those that the backend passes; nil leaves out the tests of
	// failing writes and of changes at the worst moment.
	Faults *fsbackend.Faults
	// BeforeMax and MaxFile are the bounds of the backend's options; 0 leaves
	// out the tests of that bound. They should be some thousand bytes.
	BeforeMax, MaxFile int64
}

// A World changes and looks at files behind a backend's back. Put writes in
// place, with the folders above; a mode of 0 keeps the old one. Calls that the
// system cannot do fail with errors.ErrUnsupported.
type World interface {
	Put(path string, data []byte, mode fs.FileMode) error
	Mkdir(path string) error
	Symlink(target, path string) error
	Link(old, path string) error
	Pipe(path string) error
	Delete(path string) error
	// Lstat is the mode and the bytes of a file, or the target of a link. It
	// fails with fs.ErrNotExist.
	Lstat(path string) (fs.FileMode, []byte, error)
	// Paths is every path below a folder.
	Paths(dir string) ([]string, error)
}

// kit is a fixture with short words for tests.
type kit struct {
	Fixture
	t *testing.T
}

func (k kit) path(name string) string {
	if rest, ok := strings.CutPrefix(name, "out:"); ok {
		if k.Outside == "" {
			k.t.Skip("this backend has no bounds")
		}
		return filepath.Join(k.Outside, filepath.FromSlash(rest))
	}
	return filepath.Join(k.Root, filepath.FromSlash(name))
}

// must ends the test, as a skip with its reason if the system cannot.
func (k kit) must(err error) {
	k.t.Helper()
	if errors.Is(err, errors.ErrUnsupported) {
		k.t.Skipf("not on this system: %v", err)
	}
	require.NoError(k.t, err)
}

func (k kit) put(name, data string) string {
	k.t.Helper()
	p := k.path(name)
	k.must(k.World.Put(p, []byte(data), 0))
	return p
}

func (k kit) putMode(name, data string, mode fs.FileMode) string {
	k.t.Helper()
	p := k.path(name)
	k.must(k.World.Put(p, []byte(data), mode))
	return p
}

func (k kit) link(target, name string) string {
	k.t.Helper()
	p := k.path(name)
	k.must(k.World.Symlink(filepath.FromSlash(target), p))
	return p
}

// text is what a file holds for another program.
func (k kit) text(name string) string {
	k.t.Helper()
	mode, data, err := k.World.Lstat(k.path(name))
	require.NoError(k.t, err)
	require.True(k.t, mode.IsRegular(), "%s is %v", name, mode)
	return string(data)
}

func (k kit) mode(name string) fs.FileMode {
	k.t.Helper()
	mode, _, err := k.World.Lstat(k.path(name))
	require.NoError(k.t, err)
	return mode
}

// write and its kin fail the test unless the backend does.
func (k kit) write(w fsbackend.Write) fsbackend.Receipt {
	k.t.Helper()
	r, err := k.Backend.Write(k.t.Context(), w)
	require.NoError(k.t, err)
	return r
}

func (k kit) read(name string) fsbackend.File {
	k.t.Helper()
	f, err := k.Backend.Read(k.t.Context(), k.path(name))
	require.NoError(k.t, err)
	return f
}

func (k kit) stat(name string) fsbackend.Info {
	k.t.Helper()
	i, err := k.Backend.Stat(k.t.Context(), k.path(name))
	require.NoError(k.t, err)
	return i
}

// fails checks an error's code, that it names the path as asked, and that it
// is a *fs.PathError.
func (k kit) fails(err error, code, path string) {
	k.t.Helper()
	require.Error(k.t, err)
	require.Equal(k.t, code, fsbackend.CodeOf(err), "%v", err)
	var pe *fs.PathError
	require.ErrorAs(k.t, err, &pe)
	require.Equal(k.t, path, pe.Path)
	require.Contains(k.t, err.Error(), path)
}

// snapshot is all files by path, to compare a before with an after.
func (k kit) snapshot() map[string]string {
	k.t.Helper()
	all := map[string]string{}
	for _, dir := range []string{k.Root, k.Outside} {
		if dir == "" {
			continue
		}
		paths, err := k.World.Paths(dir)
		require.NoError(k.t, err)
		for _, p := range paths {
			mode, data, err := k.World.Lstat(p)
			require.NoError(k.t, err)
			all[p] = mode.String() + " " + string(data)
		}
	}
	return all
}

// unchanged checks that nothing differs from an earlier snapshot, temporary
// files included.
func (k kit) unchanged(before map[string]string) {
	k.t.Helper()
	require.Equal(k.t, maps.Clone(before), k.snapshot())
}
