package fsbackend_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/fsbackend"
	"dsh-acp/fsbackend/fsbackendtest"
	"dsh-acp/internal/guard"
)

// policy makes one by the rules of this machine.
func policy(t testing.TB, c guard.Config) guard.Policy {
	t.Helper()
	c.Style.Windows = runtime.GOOS == "windows"
	if c.Root != "" {
		c.Style.Fold = fsbackend.FoldsCase(c.Root)
	}
	p, err := guard.New(c)
	require.NoError(t, err)
	return p
}

// exact forgets at once where entries lead.
func exact(p guard.Policy) fsbackend.Limits { return fsbackend.Limits{Policy: p, Fresh: -1} }

// plain hides what a backend can do besides.
type plain struct{ fsbackend.Backend }

func TestRestrictedContract(t *testing.T) {
	for name, wrap := range map[string]func(fsbackend.Backend) fsbackend.Backend{
		"inside": func(b fsbackend.Backend) fsbackend.Backend { return b },
		"before": func(b fsbackend.Backend) fsbackend.Backend {
			return struct {
				fsbackend.Backend
				fsbackend.Folders
				fsbackend.Locker
			}{b, b.(fsbackend.Folders), b.(fsbackend.Locker)}
		},
	} {
		t.Run("Local/"+name, func(t *testing.T) {
			fsbackendtest.Run(t, func(t *testing.T) fsbackendtest.Fixture {
				w := newWorld(t, fsbackend.NewFaults())
				return fsbackendtest.Fixture{
					Backend: fsbackend.Restrict(wrap(w.local), exact(policy(t, guard.Config{Root: w.root}))),
					Root:    w.root, Outside: w.outside, World: fsbackendtest.Disk{}, Faults: w.faults, BeforeMax: beforeMax, MaxFile: maxFile,
				}
			})
		})
	}
	t.Run("Mem", func(t *testing.T) {
		fsbackendtest.Run(t, func(t *testing.T) fsbackendtest.Fixture {
			top := realTemp(t)
			root, out := filepath.Join(top, "work"), filepath.Join(top, "outside")
			faults := fsbackend.NewFaults()
			m, err := fsbackend.NewMem(fsbackend.MemOptions{Roots: []string{root}, BeforeMax: beforeMax, MaxFile: maxFile, Faults: faults, Unrestricted: true})
			require.NoError(t, err)
			require.NoError(t, m.Mkdir(out))
			return fsbackendtest.Fixture{
				Backend: fsbackend.Restrict(m, exact(policy(t, guard.Config{Root: root}))),
				Root:    root, Outside: out, World: m, Faults: faults, BeforeMax: beforeMax, MaxFile: maxFile,
			}
		})
	})
}

// world is a root and a folder beside it, on the disk.
type world struct {
	fsbackendtest.Disk
	t                  testing.TB
	top, root, outside string
	faults             *fsbackend.Faults
	local              *fsbackend.Local
}

func newWorld(t testing.TB, faults *fsbackend.Faults) world {
	top := realTemp(t)
	w := world{t: t, top: top, root: filepath.Join(top, "work"), outside: filepath.Join(top, "outside"), faults: faults}
	require.NoError(t, os.Mkdir(w.root, 0o777))
	require.NoError(t, os.Mkdir(w.outside, 0o777))
	var err error
	w.local, err = fsbackend.NewLocal(fsbackend.Options{Roots: []string{w.root}, BeforeMax: beforeMax, MaxFile: maxFile, Faults: faults})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.local.Close()) })
	return w
}

func (w world) path(name string) string { return filepath.Join(w.root, filepath.FromSlash(name)) }

func (w world) put(name, data string) string {
	w.t.Helper()
	require.NoError(w.t, w.Put(w.path(name), []byte(data), 0))
	return w.path(name)
}

func (w world) link(target, name string) {
	w.t.Helper()
	require.NoError(w.t, w.Symlink(target, w.path(name)))
}

func (w world) text(name string) string {
	w.t.Helper()
	data, err := os.ReadFile(w.path(name))
	require.NoError(w.t, err)
	return string(data)
}

// all tries every operation on a path and returns the code of each, by the
// first letter of its name; an operation that went through is "".
func all(t *testing.T, b fsbackend.Backend, path string) map[string]string {
	t.Helper()
	ctx := t.Context()
	codes := map[string]string{}
	_, err := b.Stat(ctx, path)
	codes["stat"] = fsbackend.CodeOf(err)
	_, err = b.Read(ctx, path)
	codes["read"] = fsbackend.CodeOf(err)
	if o, ok := b.(interface {
		Open(context.Context, string) (io.ReadCloser, fsbackend.Info, error)
	}); ok {
		f, _, err := o.Open(ctx, path)
		codes["open"] = fsbackend.CodeOf(err)
		if err == nil {
			require.NoError(t, f.Close())
		}
	}
	_, err = b.Write(ctx, fsbackend.Write{Path: path, Data: []byte("new\n")})
	codes["write"] = fsbackend.CodeOf(err)
	_, err = b.Write(ctx, fsbackend.Write{Path: path, Data: []byte("old\n"), Undo: true})
	codes["undo"] = fsbackend.CodeOf(err)
	f := b.(fsbackend.Folders)
	codes["rmdir"] = fsbackend.CodeOf(f.RemoveDir(ctx, path))
	codes["remove"] = fsbackend.CodeOf(f.Remove(ctx, path, fsbackend.Version{1}))
	_, err = f.MakeDirs(ctx, path)
	codes["mkdir"] = fsbackend.CodeOf(err)
	return codes
}

const opened = "" // the word for an operation that the policy lets through

func TestRestrictedHoldsForEverything(t *testing.T) {
	w := newWorld(t, nil)
	w.put("secret/k.txt", "key\n")
	w.put("open.txt", "a\n")
	w.put("both.txt", "b\n")
	w.link("secret", "pub")
	w.link("../outside", "out")
	w.link("../outside/file", "outfile")
	w.link("secret", "viablocked")
	w.put("hidden/x", "h\n")
	w.link("hidden", "alias")
	w.put("../outside/file", "f\n")
	w.put("../outside/granted.txt", "g\n")
	w.put("../outside/readable.txt", "r\n")
	w.link("../outside/granted.txt", "togranted")
	w.link("granted.txt", "../outside/link.txt")
	w.put("../outside/dir/x", "x\n")
	p := policy(t, guard.Config{
		Root:      w.root,
		Allow:     []string{"../outside/granted.txt", "../outside/link.txt", "../outside/dir", "../outside/no/new.txt", "both.txt"},
		Block:     []string{"secret", "alias", "both.txt"},
		ReadAllow: []string{"../outside/granted.txt", "../outside/link.txt", "../outside/dir", "../outside/readable.txt", "both.txt"},
	})
	for name, b := range map[string]fsbackend.Backend{
		"inside": fsbackend.Restrict(w.local, exact(p)),
		"before": fsbackend.Restrict(struct {
			fsbackend.Backend
			fsbackend.Folders
		}{w.local, w.local}, exact(p)),
	} {
		for path, code := range map[string]string{
			"secret": fsbackend.CodeDenied, "secret/k.txt": fsbackend.CodeDenied, "secret/new/x": fsbackend.CodeDenied,
			"pub": fsbackend.CodeDenied, "pub/k.txt": fsbackend.CodeDenied, "pub/new": fsbackend.CodeDenied,
			"out": fsbackend.CodeDenied, "out/file": fsbackend.CodeDenied, "out/new/x": fsbackend.CodeDenied, "outfile": fsbackend.CodeDenied,
			"hidden/x": fsbackend.CodeDenied, "togranted": fsbackend.CodeDenied,
			"../outside/file": fsbackend.CodeDenied, "../outside/dir/x": fsbackend.CodeDenied, "../work-evil/x": fsbackend.CodeDenied,
			"both.txt": fsbackend.CodeGuardAmbiguous,
		} {
			for op, got := range all(t, b, w.path(path)) {
				assert.Equal(t, code, got, "%s: %s of %s", name, op, path)
			}
		}
		for op, got := range all(t, b, w.path("../outside/readable.txt")) {
			if name == "inside" && (op == "stat" || op == "read" || op == "open") {
				assert.Equal(t, opened, got, "%s: %s", name, op)
			} else {
				assert.Equal(t, fsbackend.CodeDenied, got, "%s: %s", name, op)
			}
		}
		assert.Equal(t, "key\n", w.text("secret/k.txt"))
	}
	b := fsbackend.Restrict(w.local, exact(p))
	for _, path := range []string{"open.txt", "../outside/granted.txt", "../outside/link.txt"} {
		got := all(t, b, w.path(path))
		for _, op := range []string{"stat", "read", "open", "write", "undo"} {
			assert.Equal(t, opened, got[op], "%s of %s", op, path)
		}
	}
	assert.Equal(t, "old\n", w.text("../outside/granted.txt"))
	_, err := b.Write(t.Context(), fsbackend.Write{Path: w.path("../outside/no/new.txt"), Data: []byte("x")})
	assert.Equal(t, fsbackend.CodeDenied, fsbackend.CodeOf(err), "a path that is open by itself lets no folder be made")
	require.NoError(t, w.Mkdir(w.path("../outside/no")))
	_, err = b.Write(t.Context(), fsbackend.Write{Path: w.path("../outside/no/new.txt"), Data: []byte("x")})
	assert.NoError(t, err)
	entries, err := os.ReadDir(w.path("../outside/no"))
	require.NoError(t, err)
	assert.Len(t, entries, 1, "nothing but the file")
}

func TestRestrictedMessages(t *testing.T) {
	w := newWorld(t, nil)
	b := fsbackend.Restrict(w.local, fsbackend.Limits{Policy: policy(t, guard.Config{Root: w.root}), Widen: "say --add-dir"})
	_, err := b.Read(t.Context(), w.path("../outside/x"))
	require.Error(t, err)
	assert.Equal(t, "read "+w.path("../outside/x")+": permission denied: "+w.path("../outside/x")+" lies outside of what is open: "+w.root+"; say --add-dir", err.Error())
	none := fsbackend.Restrict(w.local, fsbackend.Limits{})
	_, err = none.Stat(t.Context(), w.put("a", "x"))
	assert.Equal(t, fsbackend.CodeDenied, fsbackend.CodeOf(err), "without a root every path is denied")
}

// A link that another program swaps in at the worst moment reaches nothing.
func TestRestrictedRaces(t *testing.T) {
	swapDir := func(w world) {
		require.NoError(t, os.Rename(w.path("pub"), w.path("old")))
		w.link("secret", "pub")
	}
	swapFile := func(w world) {
		require.NoError(t, os.Remove(w.path("pub/k")))
		w.link("../secret/k", "pub/k")
	}
	swapOuter := func(w world) {
		require.NoError(t, os.Rename(w.path("../outside"), w.path("../old")))
		w.link("work/secret", "../outside")
	}
	for name, c := range map[string]struct {
		path string
		at   fsbackend.FaultPoint
		do   func(w world)
		run  func(b fsbackend.Backend, path string) (string, error)
	}{
		"folder, read":   {"pub/k", fsbackend.AtRead, swapDir, read},
		"file, read":     {"pub/k", fsbackend.AtRead, swapFile, read},
		"granted, read":  {"../outside/k", fsbackend.AtRead, swapOuter, read},
		"folder, write":  {"pub/n/new", fsbackend.AtMkdir, swapDir, write},
		"folder, makes":  {"pub/n", fsbackend.AtMkdir, swapDir, makeDirs},
		"file, write":    {"pub/k", fsbackend.AtTempWrite, swapFile, write},
		"renaming, file": {"pub/k", fsbackend.AtBeforeRename, swapFile, write},
	} {
		t.Run(name, func(t *testing.T) {
			faults := fsbackend.NewFaults()
			w := newWorld(t, faults)
			w.put("secret/k", "key\n")
			w.put("pub/k", "open\n")
			w.put("../outside/k", "granted\n")
			b := fsbackend.Restrict(w.local, exact(policy(t, guard.Config{
				Root: w.root, Allow: []string{"../outside/k"}, Block: []string{"secret"},
			})))
			done := false
			faults.Add(fsbackend.Fault{At: c.at, Do: func(string) {
				if !done {
					done = true
					c.do(w)
				}
			}})
			got, err := c.run(b, w.path(c.path))
			require.True(t, done, "the moment came")
			assert.Error(t, err)
			assert.NotContains(t, got, "key")
			assert.Equal(t, "key\n", w.text("secret/k"))
			entries, err := os.ReadDir(w.path("secret"))
			require.NoError(t, err)
			assert.Len(t, entries, 1, "nothing was made or left in the blocked folder")
		})
	}
}

// The same without a chosen moment: a name that is now a file and now a link
// never gives what the link leads to.
func TestRestrictedReadsNoLinkThatComesAndGoes(t *testing.T) {
	w := newWorld(t, nil)
	w.put("pub/secret", "key\n") // in the same folder, whose handle would let the link through
	w.put("pub/k", "open\n")
	b := fsbackend.Restrict(w.local, fsbackend.Limits{Policy: policy(t, guard.Config{Root: w.root, Block: []string{"pub/secret"}})})
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Symlink("secret", w.path("next"))
			_ = os.Rename(w.path("next"), w.path("pub/k"))
			_ = os.WriteFile(w.path("next"), []byte("open\n"), 0o666)
			_ = os.Rename(w.path("next"), w.path("pub/k"))
			for range 20 { // long enough as a file for the first look
				_, _ = os.Lstat(w.path("pub/k"))
			}
		}
	}()
	for range 3000 {
		if got, err := read(b, w.path("pub/k")); err == nil {
			assert.Equal(t, "open\n", got)
		}
	}
	close(stop)
	<-ended
}

func read(b fsbackend.Backend, path string) (string, error) {
	f, err := b.Read(context.Background(), path)
	return string(f.Data), err
}

func write(b fsbackend.Backend, path string) (string, error) {
	r, err := b.Write(context.Background(), fsbackend.Write{Path: path, Data: []byte("new\n")})
	if r.Before != nil {
		return string(*r.Before), err
	}
	return "", err
}

func makeDirs(b fsbackend.Backend, path string) (string, error) {
	_, err := b.(fsbackend.Folders).MakeDirs(context.Background(), path)
	return "", err
}

func TestRestrictedPolicyIsOfNow(t *testing.T) {
	w := newWorld(t, nil)
	p := w.put("a", "x")
	b := fsbackend.Restrict(w.local, fsbackend.Limits{Policy: policy(t, guard.Config{Root: w.root})})
	_, err := b.Read(t.Context(), p)
	require.NoError(t, err)
	b.SetPolicy(policy(t, guard.Config{Root: w.root, Block: []string{"a"}}))
	_, err = b.Read(t.Context(), p)
	assert.Equal(t, fsbackend.CodeDenied, fsbackend.CodeOf(err), "at once")
	assert.Equal(t, []string{"a"}, b.Policy().Config().Block)
	b.SetPolicy(policy(t, guard.Config{Root: w.root}))
	assert.NoError(t, b.MayRead(t.Context(), p))
	assert.NoError(t, b.MayWrite(t.Context(), p))
	assert.Equal(t, fsbackend.CodeDenied, fsbackend.CodeOf(b.MayWrite(t.Context(), w.path("../outside/x"))))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.Equal(t, fsbackend.CodeAborted, fsbackend.CodeOf(b.MayRead(ctx, p)))
}

func TestCommitAsksForLeaveFirst(t *testing.T) {
	w := newWorld(t, nil)
	w.put("a", "1\n")
	w.put("secret", "2\n")
	b := fsbackend.Restrict(w.local, exact(policy(t, guard.Config{Root: w.root, Block: []string{"secret"}})))
	step := func(name string) fsbackend.Step {
		return fsbackend.Step{Write: fsbackend.Write{Path: w.path(name), Data: []byte("new\n")}, Before: []byte("1\n")}
	}
	for _, c := range []struct {
		commit fsbackend.Commit
		step   int
	}{
		{fsbackend.Commit{Steps: []fsbackend.Step{step("a"), step("secret")}}, 1},
		{fsbackend.Commit{Dirs: []string{w.path("d"), w.path("secret/d")}, Steps: []fsbackend.Step{step("a")}}, -1},
	} {
		_, err := c.commit.Run(t.Context(), b)
		var e *fsbackend.CommitError
		require.ErrorAs(t, err, &e)
		assert.Equal(t, c.step, e.Step)
		assert.Equal(t, fsbackend.CodeDenied, fsbackend.CodeOf(err))
		assert.Empty(t, e.Recovery.Restored)
		assert.Equal(t, "1\n", w.text("a"))
		assert.NoDirExists(t, w.path("d"))
	}
}

func TestRestrictedGenerated(t *testing.T) {
	w := newWorld(t, nil)
	const head = "// Code generated by x. DO NOT EDIT.\n"
	for mode, c := range map[fsbackend.Generated]struct{ code, note string }{
		fsbackend.GeneratedRefuse: {fsbackend.CodeGenerated, ""},
		fsbackend.GeneratedWarn:   {"", "line 1 says"},
		fsbackend.GeneratedOff:    {"", ""},
	} {
		p := w.put("x.go", head+"package x\n")
		b := fsbackend.Restrict(w.local, fsbackend.Limits{Policy: policy(t, guard.Config{Root: w.root}), Generated: mode})
		rec, err := b.Write(t.Context(), fsbackend.Write{Path: p, Data: []byte("package y\n")})
		assert.Equal(t, c.code, fsbackend.CodeOf(err))
		if c.code != "" {
			assert.ErrorContains(t, err, "DO NOT EDIT")
			assert.Equal(t, head+"package x\n", w.text("x.go"))
		}
		if c.note != "" {
			assert.Contains(t, strings.Join(rec.Notes, "\n"), c.note)
		} else {
			assert.Empty(t, rec.Notes)
		}
		assert.Equal(t, c.code, fsbackend.CodeOf(b.MayReplace(p, []byte(head))), "asked ahead")
		other := w.put("a.go", "package a\n")
		_, err = fsbackend.Commit{Steps: []fsbackend.Step{
			{Write: fsbackend.Write{Path: other, Data: []byte("package b\n")}, Before: []byte("package a\n")},
			{Write: fsbackend.Write{Path: w.put("x.go", head), Data: []byte("package y\n")}, Before: []byte(head)},
		}}.Run(t.Context(), b)
		assert.Equal(t, c.code, fsbackend.CodeOf(err))
		if c.code != "" {
			assert.Equal(t, "package a\n", w.text("a.go"), "the file before it")
		}
		_, err = b.Write(t.Context(), fsbackend.Write{Path: w.put("x.go", head), Data: []byte("package z\n"), Undo: true})
		assert.NoError(t, err, "putting back is no change")
		_, err = b.Write(t.Context(), fsbackend.Write{Path: w.path("new.go"), Data: []byte(head)})
		assert.NoError(t, err, "a new file")
		require.NoError(t, os.Remove(w.path("new.go")))
	}
}

func TestRestrictedWithoutExtras(t *testing.T) {
	w := newWorld(t, nil)
	p := w.put("a", "x")
	b := fsbackend.Restrict(plain{w.local}, exact(policy(t, guard.Config{Root: w.root})))
	f, info, err := b.Open(t.Context(), p)
	require.NoError(t, err)
	data, err := io.ReadAll(f)
	require.NoError(t, err)
	assert.Equal(t, "x", string(data))
	assert.EqualValues(t, 1, info.Size)
	require.NoError(t, f.Close())
	_, err = b.MakeDirs(t.Context(), w.path("d"))
	assert.Equal(t, fsbackend.CodeIO, fsbackend.CodeOf(err))
	assert.Error(t, b.RemoveDir(t.Context(), w.path("d")))
	assert.Error(t, b.Remove(t.Context(), p, fsbackend.Version{}))
	unlock, err := b.Lock(t.Context(), "k")
	require.NoError(t, err)
	unlock()
	assert.NoError(t, b.MayRead(t.Context(), p))
}

func TestFoldsCase(t *testing.T) {
	dir := realTemp(t)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "Name"), 0o777))
	_, err := os.Lstat(filepath.Join(dir, "nAME"))
	assert.Equal(t, !errors.Is(err, os.ErrNotExist), fsbackend.FoldsCase(filepath.Join(dir, "Name")))
	assert.False(t, fsbackend.FoldsCase(filepath.Join(dir, "missing")))
	assert.False(t, fsbackend.FoldsCase(string(filepath.Separator)))
}

func TestRestrictedRootIsALink(t *testing.T) {
	w := newWorld(t, nil)
	w.put("a.txt", "a\n")
	w.put("secret/k", "key\n")
	root := filepath.Join(w.top, "rootlink")
	require.NoError(t, w.Symlink("work", root))
	local, err := fsbackend.NewLocal(fsbackend.Options{Roots: []string{root}})
	require.NoError(t, err)
	defer local.Close()
	b := fsbackend.Restrict(local, exact(policy(t, guard.Config{Root: root, Block: []string{"secret"}})))
	for _, dir := range []string{root, w.root} {
		for _, name := range []string{"a.txt", "new/b.txt"} {
			_, err := b.Write(t.Context(), fsbackend.Write{Path: filepath.Join(dir, name), Data: []byte("b\n")})
			assert.NoError(t, err)
			assert.NoError(t, b.MayWrite(t.Context(), filepath.Join(dir, name)))
		}
		_, err = b.Read(t.Context(), filepath.Join(dir, "secret", "k"))
		assert.Equal(t, fsbackend.CodeDenied, fsbackend.CodeOf(err))
		assert.Equal(t, fsbackend.CodeDenied, fsbackend.CodeOf(b.MayRead(t.Context(), filepath.Join(dir, "secret", "k"))))
	}
	assert.Equal(t, "b\n", w.text("new/b.txt"))
	require.NoError(t, os.Remove(root))
	gone := fsbackend.Restrict(local, exact(b.Policy()))
	_, err = gone.Read(t.Context(), filepath.Join(w.root, "a.txt"))
	assert.Equal(t, fsbackend.CodeDenied, fsbackend.CodeOf(err), "a root that is gone opens nothing")
}

// A link among the entries is followed anew once what is remembered is old.
func TestRestrictedForgets(t *testing.T) {
	w := newWorld(t, nil)
	w.put("one/k", "1")
	w.put("two/k", "2")
	w.link("one", "entry")
	b := fsbackend.Restrict(w.local, exact(policy(t, guard.Config{Root: w.root, Block: []string{"entry"}})))
	code := func(name string) string {
		_, err := b.Read(t.Context(), w.path(name))
		return fsbackend.CodeOf(err)
	}
	assert.Equal(t, fsbackend.CodeDenied, code("one/k"))
	assert.Equal(t, opened, code("two/k"))
	require.NoError(t, os.Remove(w.path("entry")))
	w.link("two", "entry")
	assert.Equal(t, opened, code("one/k"))
	assert.Equal(t, fsbackend.CodeDenied, code("two/k"))
	assert.Equal(t, fsbackend.CodeDenied, code("entry/k"))
}
