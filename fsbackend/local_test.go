package fsbackend_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/fsbackend"
)

func local(t testing.TB, opt fsbackend.Options) *fsbackend.Local {
	l, err := fsbackend.NewLocal(opt)
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func put(t testing.TB, path, data string) {
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(t, os.WriteFile(path, []byte(data), 0o644))
}

func TestNoRootsDenyAll(t *testing.T) {
	l := local(t, fsbackend.Options{})
	_, err := l.Stat(t.Context(), realTemp(t))
	assert.Equal(t, fsbackend.CodeDenied, fsbackend.CodeOf(err))
	assert.ErrorContains(t, err, "no folder is open")
}

func TestRootsThatCannotBe(t *testing.T) {
	dir := realTemp(t)
	put(t, filepath.Join(dir, "file"), "")
	for path, code := range map[string]string{
		"relative":                  fsbackend.CodeNotFound,
		filepath.Join(dir, "none"):  fsbackend.CodeNotFound,
		filepath.Join(dir, "file"):  fsbackend.CodeNotDirectory,
		filepath.Join(dir, "file/"): fsbackend.CodeNotDirectory,
	} {
		_, err := fsbackend.NewLocal(fsbackend.Options{Roots: []string{dir, path}})
		assert.Equal(t, code, fsbackend.CodeOf(err), path)
	}
}

func TestSeveralRoots(t *testing.T) {
	dir := realTemp(t)
	for _, d := range []string{"a/inner", "b", "c"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, d), 0o777))
	}
	require.NoError(t, os.Symlink("b", filepath.Join(dir, "blink")))
	l := local(t, fsbackend.Options{Roots: []string{
		filepath.Join(dir, "a"), filepath.Join(dir, "a/inner"), filepath.Join(dir, "blink"), filepath.Join(dir, "b"),
	}})
	for _, p := range []string{"a/x", "a/inner/x", "blink/x", "b/y"} {
		_, err := l.Write(t.Context(), fsbackend.Write{Path: filepath.Join(dir, p), Data: []byte(p)})
		assert.NoError(t, err)
	}
	f, err := l.Read(t.Context(), filepath.Join(dir, "b/x"))
	require.NoError(t, err)
	assert.Equal(t, "blink/x", string(f.Data))
	_, err = l.Read(t.Context(), filepath.Join(dir, "c/x"))
	assert.Equal(t, fsbackend.CodeDenied, fsbackend.CodeOf(err))
	for _, d := range []string{"a", "a/inner", "b"} {
		assert.ErrorContains(t, err, filepath.Join(dir, d))
	}
}

func TestUnrestricted(t *testing.T) {
	p := filepath.Join(realTemp(t), "d/x")
	l := local(t, fsbackend.Options{Unrestricted: true})
	r, err := l.Write(t.Context(), fsbackend.Write{Path: p, Data: []byte("1")})
	require.NoError(t, err)
	assert.Equal(t, []string{filepath.Dir(p)}, r.MadeDirs)
}

func TestClosed(t *testing.T) {
	dir := realTemp(t)
	put(t, filepath.Join(dir, "a"), "x")
	l := local(t, fsbackend.Options{Roots: []string{dir}})
	require.NoError(t, l.Close())
	require.NoError(t, l.Close())
	_, err := l.Read(t.Context(), filepath.Join(dir, "a"))
	assert.Error(t, err)
	_, err = l.Write(t.Context(), fsbackend.Write{Path: filepath.Join(dir, "a")})
	assert.Error(t, err)
}

// A folder that becomes a link out of the root between the check and the open
// must not lead out.
func TestFolderSwappedForLink(t *testing.T) {
	top := realTemp(t)
	root, out := filepath.Join(top, "work"), filepath.Join(top, "out")
	for _, at := range []fsbackend.FaultPoint{fsbackend.AtRead, fsbackend.AtMkdir} {
		put(t, filepath.Join(root, "d/a"), "inside")
		put(t, filepath.Join(out, "a"), "secret")
		faults := fsbackend.NewFaults(fsbackend.Fault{At: at, Nth: 1, Do: func(string) {
			require.NoError(t, os.RemoveAll(filepath.Join(root, "d")))
			require.NoError(t, os.Symlink(out, filepath.Join(root, "d")))
		}})
		l := local(t, fsbackend.Options{Roots: []string{root}, Faults: faults})
		var err error
		if at == fsbackend.AtRead {
			_, err = l.Read(t.Context(), filepath.Join(root, "d/a"))
		} else {
			_, err = l.Write(t.Context(), fsbackend.Write{Path: filepath.Join(root, "d/e/f"), Data: []byte("x")})
		}
		assert.Equal(t, fsbackend.CodeDenied, fsbackend.CodeOf(err), "%v", err)
		assert.NoDirExists(t, filepath.Join(out, "e"))
		require.NoError(t, os.RemoveAll(top+"/work/d"))
	}
}

func TestBinaryBeforeIsKept(t *testing.T) {
	dir := realTemp(t)
	put(t, filepath.Join(dir, "a"), "\x00\xff")
	r, err := local(t, fsbackend.Options{Roots: []string{dir}}).Write(t.Context(), fsbackend.Write{Path: filepath.Join(dir, "a")})
	require.NoError(t, err)
	require.NotNil(t, r.Before)
	assert.Equal(t, "\x00\xff", string(*r.Before))
}

func TestNoBeforeAtAll(t *testing.T) {
	dir := realTemp(t)
	put(t, filepath.Join(dir, "a"), "x")
	l := local(t, fsbackend.Options{Roots: []string{dir}, BeforeMax: -1})
	r, err := l.Write(t.Context(), fsbackend.Write{Path: filepath.Join(dir, "a")})
	require.NoError(t, err)
	assert.Nil(t, r.Before)
	assert.Equal(t, fsbackend.VersionOf([]byte("x")), r.BeforeVersion)
}

func TestSyncIsTimed(t *testing.T) {
	dir := realTemp(t)
	var n atomic.Int64
	l := local(t, fsbackend.Options{Roots: []string{dir}, OnSync: func(d time.Duration) {
		assert.GreaterOrEqual(t, d, time.Duration(0))
		n.Add(1)
	}})
	_, err := l.Write(t.Context(), fsbackend.Write{Path: filepath.Join(dir, "a")})
	require.NoError(t, err)
	assert.EqualValues(t, 2, n.Load(), "the file and its folder")
	_, err = l.Write(t.Context(), fsbackend.Write{Path: filepath.Join(dir, "x/y/a")})
	require.NoError(t, err)
	assert.EqualValues(t, 6, n.Load(), "two folders more")
}

// Sessions share turns: a tool of one waits for a tool of the other.
func TestLocksAreShared(t *testing.T) {
	dir := realTemp(t)
	p := filepath.Join(dir, "a")
	put(t, p, "")
	locks := &fsbackend.Locks{}
	one := local(t, fsbackend.Options{Roots: []string{dir}, Locks: locks})
	two := local(t, fsbackend.Options{Unrestricted: true, Locks: locks})
	unlock, err := fsbackend.Lock(t.Context(), one, p, p, filepath.Join(dir, "b"))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	got := make(chan error)
	go func() {
		_, err := fsbackend.Lock(ctx, two, p)
		got <- err
	}()
	cancel()
	assert.Equal(t, fsbackend.CodeAborted, fsbackend.CodeOf(<-got))
	unlock()
	unlock()
	again, err := fsbackend.Lock(t.Context(), two, p)
	require.NoError(t, err)
	again()
}

// A write inside of a turn does not wait for itself.
func TestWriteWithinTurn(t *testing.T) {
	dir := realTemp(t)
	p := filepath.Join(dir, "a")
	l := local(t, fsbackend.Options{Roots: []string{dir}})
	unlock, err := fsbackend.Lock(t.Context(), l, p)
	require.NoError(t, err)
	defer unlock()
	_, err = l.Write(t.Context(), fsbackend.Write{Path: p})
	require.NoError(t, err)
}

func TestMessages(t *testing.T) {
	dir := realTemp(t)
	p := filepath.Join(dir, "a")
	put(t, p, "x")
	faults := fsbackend.NewFaults(fsbackend.Fault{At: fsbackend.AtRename, Path: "full", Err: &os.LinkError{Op: "renameat", Old: ".dsh-1.tmp", New: "full", Err: syscall.ENOSPC}})
	l := local(t, fsbackend.Options{Roots: []string{dir}, Widen: "restart with --add-dir", Faults: faults})
	_, denied := l.Read(t.Context(), filepath.Dir(dir))
	_, observed := l.Write(t.Context(), fsbackend.Write{Path: p, Pre: fsbackend.Absent{}})
	_, stale := l.Write(t.Context(), fsbackend.Write{Path: p, Pre: fsbackend.Unchanged{}})
	_, full := l.Write(t.Context(), fsbackend.Write{Path: filepath.Join(dir, "full")})
	for _, c := range []struct {
		err  error
		want string
	}{
		{denied, "read " + filepath.Dir(dir) + ": denied: it lies outside of the folder that is open, " + dir + "; restart with --add-dir"},
		{observed, "write " + p + ": there is a file already that was not seen before; nothing was written; read it first, then write again"},
		{stale, "write " + p + ": the file has changed since it was read (its SHA-256 now begins with 2d711642); nothing was written; read it again and redo the change on its new text"},
		{full, "write " + filepath.Join(dir, "full") + ": writing, nothing was changed: " + syscall.ENOSPC.Error()},
	} {
		assert.EqualError(t, c.err, c.want)
	}
}

func TestHugeFile(t *testing.T) {
	dir := realTemp(t)
	p := filepath.Join(dir, "a")
	data := strings.Repeat("0123456789abcde\n", 1<<20) // 16 MiB
	l := local(t, fsbackend.Options{Roots: []string{dir}})
	_, err := l.Write(t.Context(), fsbackend.Write{Path: p, Data: []byte(data)})
	require.NoError(t, err)
	f, err := l.Read(t.Context(), p)
	require.NoError(t, err)
	require.True(t, data == string(f.Data), "read back")
	r, err := l.Write(t.Context(), fsbackend.Write{Path: p, Data: []byte("small"), Pre: fsbackend.Unchanged{Version: f.Version}})
	require.NoError(t, err)
	assert.Nil(t, r.Before)
	assert.EqualValues(t, len(data), r.BeforeSize)
}

func TestSparseFileIsTooLarge(t *testing.T) {
	dir := realTemp(t)
	p := filepath.Join(dir, "a")
	put(t, p, "")
	require.NoError(t, os.Truncate(p, fsbackend.DefaultMaxFile+1))
	_, err := local(t, fsbackend.Options{Roots: []string{dir}}).Read(t.Context(), p)
	assert.Equal(t, fsbackend.CodeTooLarge, fsbackend.CodeOf(err))
}

func TestErrorsAreThoseOfFS(t *testing.T) {
	dir := realTemp(t)
	l := local(t, fsbackend.Options{Roots: []string{dir}})
	_, err := l.Read(t.Context(), filepath.Join(dir, "none"))
	assert.ErrorIs(t, err, fs.ErrNotExist)
	assert.NotErrorIs(t, err, fs.ErrPermission)
	assert.Empty(t, fsbackend.CodeOf(nil))
	assert.Empty(t, fsbackend.CodeOf(fs.ErrClosed))
}

// FuzzContained: whatever a path or a link says, nothing beside the root is
// written, and nothing there is read.
func FuzzContained(f *testing.F) {
	for _, s := range [][2]string{
		{"a", "../out"}, {"l", "../out/secret"}, {"l/new", "../out"}, {"l/../x", "d/../../out"}, {"../out/secret", "."},
		{"l", "/"}, {"l/l/l", "."}, {"d/..", "d"}, {"l/x", "missing/../../out"}, {"l", "l"}, {"l/secret", "../out/../out"},
		{"../work-evil/x", "../work"}, {"./l//x/", "d/./"}, {"l", ".."}, {"l/out/secret", ".."},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, path, target string) {
		top := realTemp(t)
		root, secret := filepath.Join(top, "work"), filepath.Join(top, "out/secret")
		put(t, filepath.Join(root, "d/file"), "inside")
		put(t, secret, "secret")
		if os.Symlink(target, filepath.Join(root, "l")) != nil {
			t.Skip("no such link can be made")
		}
		l, err := fsbackend.NewLocal(fsbackend.Options{Roots: []string{root}})
		require.NoError(t, err)
		defer l.Close()
		p := root + string(filepath.Separator) + path
		if file, err := l.Read(t.Context(), p); err == nil && string(file.Data) == "secret" {
			t.Fatalf("read %q through %q", path, target)
		}
		_, _ = l.Write(t.Context(), fsbackend.Write{Path: p, Data: []byte("written")})
		var seen []string
		require.NoError(t, filepath.WalkDir(top, func(p string, d fs.DirEntry, err error) error {
			if p == root {
				return fs.SkipDir
			}
			seen = append(seen, strings.TrimPrefix(p, top))
			return err
		}))
		require.Equal(t, []string{"", "/out", "/out/secret"}, seen)
		data, err := os.ReadFile(secret)
		require.NoError(t, err)
		require.Equal(t, "secret", string(data))
	})
}

func TestReceiptWithoutOldBytes(t *testing.T) {
	dir := realTemp(t)
	l := local(t, fsbackend.Options{Roots: []string{dir}})
	p := filepath.Join(dir, "a")
	require.NoError(t, os.WriteFile(p, []byte("old"), 0o644))
	old := fsbackend.VersionOf([]byte("old"))
	r, err := l.Write(t.Context(), fsbackend.Write{Path: p, Data: []byte("new"), Pre: fsbackend.Unchanged{Version: old}, NoBefore: true})
	require.NoError(t, err)
	assert.Nil(t, r.Before)
	assert.Equal(t, old, r.BeforeVersion)
	assert.EqualValues(t, 3, r.BeforeSize)
}

// A commit syncs each file, and each folder once, however many files it has.
func TestCommitSyncsFoldersOnce(t *testing.T) {
	dir := realTemp(t)
	var syncs atomic.Int64
	l := local(t, fsbackend.Options{Roots: []string{dir}, OnSync: func(time.Duration) { syncs.Add(1) }})
	require.NoError(t, os.Mkdir(filepath.Join(dir, "d"), 0o755))
	var c fsbackend.Commit
	names := []string{"a", "b", "c", "d/a", "d/b"}
	for _, name := range names {
		c.Steps = append(c.Steps, fsbackend.Step{Write: fsbackend.Write{
			Path: filepath.Join(dir, filepath.FromSlash(name)), Data: []byte("x"), Pre: fsbackend.Absent{}, NoParents: true,
		}})
	}
	j, err := fsbackend.OpenJournal(fsbackend.JournalOptions{Dir: filepath.Join(t.TempDir(), "j")})
	require.NoError(t, err)
	defer j.Close()
	done, err := c.Run(t.Context(), j.Over(l))
	require.NoError(t, err)
	for _, r := range done.Receipts {
		assert.Empty(t, r.Notes)
	}
	assert.EqualValues(t, len(names)+2, syncs.Load())

	// A backend that hides what Local can do still has each name synced.
	syncs.Store(0)
	for i := range c.Steps {
		c.Steps[i].Write.Pre, c.Steps[i].Write.Data = fsbackend.Any{}, []byte("y")
	}
	_, err = c.Run(t.Context(), struct{ fsbackend.Backend }{l})
	require.NoError(t, err)
	assert.EqualValues(t, 2*len(names), syncs.Load())
}
