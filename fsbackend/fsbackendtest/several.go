package fsbackendtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/text"
)

// appendLine is an engine for tests.
func appendLine(s string) func(text.Doc) (text.Doc, error) {
	return func(d text.Doc) (text.Doc, error) { return text.ParseString(d.Raw() + s + "\n") }
}

var transformTests = []test{
	{"before and after", func(t *testing.T, k kit) {
		k.put("real", "\xef\xbb\xbfone\r\n")
		p := k.link("real", "l")
		c, err := fsbackend.Transform(t.Context(), k.Backend, p, appendLine("two"))
		require.NoError(t, err)
		assert.Equal(t, p, c.Path)
		assert.Equal(t, k.path("real"), c.Real)
		assert.Equal(t, k.stat("real").Key, c.Key)
		assert.Equal(t, "\xef\xbb\xbfone\r\n", c.Before.Raw())
		assert.Equal(t, "\xef\xbb\xbfone\r\ntwo\n", c.After.Raw())
		assert.Equal(t, c.After.Raw(), k.text("real"))
		assert.Equal(t, k.read("real").Version, c.Receipt.Version)
	}},
	{"an error of the engine comes back as it is", func(t *testing.T, k kit) {
		p := k.put("a", "one\n")
		want := errors.New("no such text")
		before := k.snapshot()
		_, err := fsbackend.Transform(t.Context(), k.Backend, p, func(text.Doc) (text.Doc, error) { return text.Doc{}, want })
		assert.Same(t, want, err)
		k.unchanged(before)
	}},
	{"what cannot be read as text", func(t *testing.T, k kit) {
		k.put("bin", "a\x00b")
		k.link("bin", "l")
		for name, code := range map[string]string{
			"bin": fsbackend.CodeNotText, "l": fsbackend.CodeNotText, "none": fsbackend.CodeNotFound, "no/ne": fsbackend.CodeNotFound,
		} {
			_, err := fsbackend.Transform(t.Context(), k.Backend, k.path(name), appendLine("x"))
			k.fails(err, code, k.path(name))
		}
	}},
	{"no edit is lost", func(t *testing.T, k kit) {
		if _, ok := k.Backend.(fsbackend.Locker); !ok {
			t.Skip("this backend takes no turns")
		}
		k.put("a", "")
		k.link("a", "l")
		won := k.together(10, func(i int) error {
			_, err := fsbackend.Transform(t.Context(), k.Backend, k.path([]string{"a", "l"}[i%2]), appendLine(fmt.Sprint(i)))
			return err
		}, "")
		assert.Len(t, won, 10)
		lines := strings.Fields(k.text("a"))
		assert.ElementsMatch(t, strings.Fields("0 1 2 3 4 5 6 7 8 9"), lines)
	}},
	{"another program's change in between wins", func(t *testing.T, k kit) {
		p := k.put("a", "old\n")
		_, err := fsbackend.Transform(t.Context(), k.Backend, p, func(d text.Doc) (text.Doc, error) {
			k.put("a", "theirs\n")
			return appendLine("ours")(d)
		})
		k.fails(err, fsbackend.CodeStaleVersion, p)
		assert.Equal(t, "theirs\n", k.text("a"))
	}},
	{"the file is gone in between, with its folder", func(t *testing.T, k kit) {
		p := k.put("d/a", "old\n")
		_, err := fsbackend.Transform(t.Context(), k.Backend, p, func(d text.Doc) (text.Doc, error) {
			k.must(k.World.Delete(k.path("d")))
			return appendLine("ours")(d)
		})
		k.fails(err, fsbackend.CodeStaleVersion, p)
		assert.Empty(t, k.snapshot())
	}},
}

// plan makes steps of "name=new text"; files that exist are to change.
func (k kit) plan(steps ...string) []fsbackend.Step {
	k.t.Helper()
	var all []fsbackend.Step
	for _, s := range steps {
		name, data, _ := strings.Cut(s, "=")
		step := fsbackend.Step{Write: fsbackend.Write{Path: k.path(name), Data: []byte(data), Pre: fsbackend.Absent{}}}
		if k.stat(name).Exists {
			f := k.read(name)
			step.Before, step.Write.Pre = f.Data, fsbackend.Unchanged{Version: f.Version}
		}
		all = append(all, step)
	}
	return all
}

// recovery runs a commit that must fail.
func (k kit) recovery(ctx context.Context, c fsbackend.Commit, code string) *fsbackend.CommitError {
	k.t.Helper()
	_, err := c.Run(ctx, k.Backend)
	var ce *fsbackend.CommitError
	require.ErrorAs(k.t, err, &ce)
	require.Equal(k.t, code, fsbackend.CodeOf(err), "%v", err)
	r, ok := fsbackend.RecoveryOf(err)
	require.True(k.t, ok)
	require.True(k.t, r.Restored != nil && r.Remaining != nil && r.Uncertain != nil && r.CreatedDirs != nil)
	return ce
}

func (k kit) folders() {
	if _, ok := k.Backend.(fsbackend.Folders); !ok {
		k.t.Skip("this backend makes and removes no folders")
	}
}

var commitTests = []test{
	{"all is written, changes first", func(t *testing.T, k kit) {
		k.folders()
		k.put("b", "old")
		c := fsbackend.Commit{Dirs: []string{k.path("m/n")}, Steps: k.plan("m/n/x=1", "b=2", "q/y=3")}
		done, err := c.Run(t.Context(), k.Backend)
		require.NoError(t, err)
		require.Len(t, done.Receipts, 3)
		for i, r := range done.Receipts {
			assert.Equal(t, c.Steps[i].Write.Path, r.Path)
		}
		assert.Equal(t, []string{k.path("m"), k.path("m/n"), k.path("q")}, done.Dirs)
		assert.Equal(t, "1"+"2"+"3", k.text("m/n/x")+k.text("b")+k.text("q/y"))
	}},
	{"the third write fails", func(t *testing.T, k kit) {
		k.folders()
		noModes(t)
		k.putMode("a", "one", 0o750)
		k.put("b", "")
		k.put("c", "three")
		before := k.snapshot()
		for _, at := range points {
			k.arm(fsbackend.Fault{At: at, Nth: 3, Err: syscall.ENOSPC})
			steps := k.plan("a=1", "b=2", "c=3")
			steps[0].Write.Executable = true
			e := k.recovery(t.Context(), fsbackend.Commit{Dirs: []string{k.path("new/dir")}, Steps: steps}, fsbackend.CodeIO)
			assert.Equal(t, 2, e.Step)
			assert.Contains(t, e.Error(), k.path("c"))
			assert.Equal(t, fsbackend.Recovery{
				Restored: []string{k.path("a"), k.path("b")}, Remaining: []fsbackend.Remaining{}, Uncertain: []string{}, CreatedDirs: []string{},
			}, e.Recovery)
			k.unchanged(before)
			k.Faults.Clear()
		}
	}},
	{"created files stay, with their folders", func(t *testing.T, k kit) {
		k.folders()
		k.put("a", "one")
		k.arm(fsbackend.Fault{At: fsbackend.AtWrite, Path: "z", Err: syscall.EIO})
		c := fsbackend.Commit{Dirs: []string{k.path("unused"), k.path("p/q")}, Steps: k.plan("p/q/n=1", "a=2", "r/z=3")}
		e := k.recovery(t.Context(), c, fsbackend.CodeIO)
		assert.Equal(t, fsbackend.Recovery{
			Restored:    []string{k.path("a")},
			Remaining:   []fsbackend.Remaining{{Path: k.path("p/q/n"), Reason: fsbackend.RemainsCreated}},
			Uncertain:   []string{},
			CreatedDirs: []string{k.path("p"), k.path("p/q")},
		}, e.Recovery)
		assert.Equal(t, "one", k.text("a"))
		assert.Equal(t, "1", k.text("p/q/n"))
	}},
	{"or are removed, if so asked", func(t *testing.T, k kit) {
		k.folders()
		k.put("a", "one")
		before := k.snapshot()
		k.arm(fsbackend.Fault{At: fsbackend.AtWrite, Path: "z", Err: syscall.EIO})
		c := fsbackend.Commit{Steps: k.plan("p/q/n=1", "a=2", "r/z=3"), RemoveCreated: true}
		e := k.recovery(t.Context(), c, fsbackend.CodeIO)
		assert.Equal(t, []string{k.path("a")}, e.Recovery.Restored)
		assert.Empty(t, e.Recovery.Remaining)
		assert.Empty(t, e.Recovery.CreatedDirs)
		k.unchanged(before)
	}},
	{"what another program changed since stays", func(t *testing.T, k kit) {
		k.folders()
		k.put("a", "one")
		k.put("b", "two")
		k.put("c", "three")
		c := fsbackend.Commit{Steps: k.plan("a=1", "b=2", "c=3", "n=4", "z=5"), RemoveCreated: true}
		k.arm(fsbackend.Fault{At: fsbackend.AtWrite, Path: "z", Err: syscall.EIO, Do: func(string) {
			k.put("a", "theirs")
			k.put("n", "theirs")
			k.must(k.World.Delete(k.path("b")))
		}})
		e := k.recovery(t.Context(), c, fsbackend.CodeIO)
		assert.Equal(t, []string{k.path("c")}, e.Recovery.Restored)
		assert.Equal(t, []fsbackend.Remaining{
			{Path: k.path("a"), Reason: fsbackend.RemainsChanged},
			{Path: k.path("b"), Reason: fsbackend.RemainsChanged},
			{Path: k.path("n"), Reason: fsbackend.RemainsChanged},
		}, e.Recovery.Remaining)
		assert.Equal(t, "theirs", k.text("a"))
	}},
	{"a stale step stops it", func(t *testing.T, k kit) {
		k.folders()
		k.put("a", "one")
		k.put("b", "two")
		steps := k.plan("a=1", "b=2", "n=3")
		k.put("b", "theirs")
		e := k.recovery(t.Context(), fsbackend.Commit{Steps: steps}, fsbackend.CodeStaleVersion)
		assert.Equal(t, []string{k.path("a")}, e.Recovery.Restored)
		assert.Equal(t, []string{k.path("b")}, e.Recovery.Uncertain)
		assert.Equal(t, "one", k.text("a"))
		assert.Equal(t, "theirs", k.text("b"))
		assert.False(t, k.stat("n").Exists)
	}},
	{"a write that fails after the fact is undone too", func(t *testing.T, k kit) {
		k.folders()
		k.put("a", "one")
		k.put("b", "two")
		before := k.snapshot()
		k.arm(fsbackend.Fault{At: fsbackend.AtAfterWrite, Nth: 2, Err: syscall.EIO})
		e := k.recovery(t.Context(), fsbackend.Commit{Steps: k.plan("a=1", "b=2")}, fsbackend.CodeIO)
		assert.Equal(t, []string{k.path("a"), k.path("b")}, e.Recovery.Restored)
		k.unchanged(before)
	}},
	{"a write-back that fails is uncertain", func(t *testing.T, k kit) {
		k.folders()
		k.put("a", "one")
		k.put("b", "two")
		k.arm(fsbackend.Fault{At: fsbackend.AtTempWrite, Nth: 2, Err: syscall.EIO})
		k.arm(fsbackend.Fault{At: fsbackend.AtTempWrite, Nth: 3, Err: syscall.EIO})
		e := k.recovery(t.Context(), fsbackend.Commit{Steps: k.plan("a=1", "b=2")}, fsbackend.CodeIO)
		assert.Equal(t, []string{k.path("a")}, e.Recovery.Uncertain)
		assert.Empty(t, e.Recovery.Restored)
	}},
	{"cancelled between two files", func(t *testing.T, k kit) {
		k.folders()
		k.put("a", "one")
		k.put("b", "two")
		before := k.snapshot()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		k.arm(fsbackend.Fault{At: fsbackend.AtAfterWrite, Path: "a", Nth: 1, Do: func(string) { cancel() }})
		e := k.recovery(ctx, fsbackend.Commit{Steps: k.plan("a=1", "b=2")}, fsbackend.CodeAborted)
		assert.Equal(t, []string{k.path("a")}, e.Recovery.Restored)
		assert.ErrorIs(t, e, context.Canceled)
		k.unchanged(before)
	}},
	{"a folder that cannot be made", func(t *testing.T, k kit) {
		k.folders()
		k.put("a", "one")
		before := k.snapshot()
		c := fsbackend.Commit{Dirs: []string{k.path("d/e"), k.path("a/b")}, Steps: k.plan("a=1")}
		e := k.recovery(t.Context(), c, fsbackend.CodeNotDirectory)
		assert.Equal(t, -1, e.Step)
		assert.Empty(t, e.Recovery.CreatedDirs)
		k.unchanged(before)
	}},
	{"large files are undone from the plan's bytes", func(t *testing.T, k kit) {
		k.folders()
		if k.BeforeMax == 0 || k.MaxFile != 0 && k.MaxFile < k.BeforeMax+10 {
			t.Skip("this fixture has no bound for old bytes below that for reading")
		}
		k.put("a", strings.Repeat("o", int(k.BeforeMax)+5))
		k.put("b", "two")
		before := k.snapshot()
		k.arm(fsbackend.Fault{At: fsbackend.AtRename, Nth: 2, Err: syscall.EIO})
		e := k.recovery(t.Context(), fsbackend.Commit{Steps: k.plan("a=1", "b=2")}, fsbackend.CodeIO)
		assert.Equal(t, []string{k.path("a")}, e.Recovery.Restored)
		k.unchanged(before)
	}},
}
