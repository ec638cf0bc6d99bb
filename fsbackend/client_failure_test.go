package fsbackend_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/guard"
)

var errEditor = errors.New("the editor is on fire")

// hangs answers when the question is withdrawn, and then with an error.
func hangs(ctx context.Context, _ string) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestClientCleanBufferOlderThanTheDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, "one\ntwo\n", fsbackend.ClientOptions{})
		d.editor.Lag = 100
		d.read()
		d.put("a.txt", "one\ntwo\nby a command\n")
		f := d.read()
		assert.Equal(t, "one\ntwo\nby a command\n", string(f.Data))
		assert.Empty(t, f.Notes)
		rec, err := d.write(f, "one\nTWO\nby a command\n")
		require.NoError(t, err)
		assert.Equal(t, "one\nTWO\nby a command\n", d.disk())
		d.notes(rec.Notes, "does not show yet")
		assert.NotContains(t, d.editor.Calls(), "write a.txt")
	})
}

func TestClientWaitsForAnEditorThatFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, "one\ntwo\n", fsbackend.ClientOptions{})
		d.editor.Lag = 2
		d.read()
		d.put("a.txt", "one\ntwo\nby a command\n")
		rec := d.must("two", "TWO")
		assert.Empty(t, rec.Notes)
		assert.Contains(t, d.editor.Calls(), "write a.txt")
		assert.Equal(t, "one\nTWO\nby a command\n", d.disk())
	})
}

func TestClientChangedOnDiskBeforeTheEditorWasAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, "one\n", fsbackend.ClientOptions{})
		d.editor.Lag = 2
		d.do(d.editor.Open(d.path))
		d.put("a.txt", "by a command\n")
		f := d.read()
		assert.Equal(t, "by a command\n", string(f.Data))
		assert.Empty(t, f.Notes)
	})
}

func TestClientBothHaveChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, "one\ntwo\n", fsbackend.ClientOptions{})
		d.read()
		d.do(d.editor.Type(d.path, "one", "mine"))
		d.put("a.txt", "one\ntheirs\n")
		f := d.read()
		assert.Equal(t, "mine\ntwo\n", string(f.Data))
		d.notes(f.Notes, "the file on disk has changed too")
		_, err := d.write(f, "mine\nTWO\n")
		assert.Equal(t, fsbackend.CodeUnsaved, fsbackend.CodeOf(err), "%v", err)
		assert.Equal(t, "one\ntheirs\n", d.disk())
		assert.Equal(t, "mine\ntwo\n", d.editor.Text(d.path))

		d.do(d.editor.Save(d.path))
		d.must("two", "TWO")
		assert.Equal(t, "mine\nTWO\n", d.disk())
	})
}

func TestClientOutsideOfAllWorktrees(t *testing.T) {
	d := newDesk(t, "one\n", fsbackend.ClientOptions{})
	d.editor.Worktrees = nil
	rec := d.must("one", "two")
	d.notes(rec.Notes, "resource not found")
	assert.Equal(t, "two\n", d.disk())
	assert.Equal(t, []string{"read a.txt"}, d.editor.Calls())

	path := filepath.Join(d.root, "new.txt")
	rec, err := d.client.Write(t.Context(), fsbackend.Write{Path: path, Data: []byte("x"), Pre: fsbackend.Absent{}})
	require.NoError(t, err)
	d.notes(rec.Notes, "resource not found")
	assert.FileExists(t, path)
}

func TestClientOutsideOfItsFolders(t *testing.T) {
	d := newDesk(t, "one\n", fsbackend.ClientOptions{Folders: []string{}})
	rec := d.must("one", "two")
	assert.Empty(t, rec.Notes)
	assert.Empty(t, d.editor.Calls())
}

// TestClientChecksFirst has paths that a policy, or the folders, do not open:
// the editor hears of none of them, and of a link only where it leads.
func TestClientChecksFirst(t *testing.T) {
	d := newDesk(t, "one\n", fsbackend.ClientOptions{})
	d.put("secret", "s")
	outside := filepath.Join(realTemp(t), "x")
	d.do(os.WriteFile(outside, []byte("x"), 0o644))
	d.do(os.Symlink(outside, filepath.Join(d.root, "out")))
	d.do(os.Symlink("a.txt", filepath.Join(d.root, "link")))
	files := fsbackend.Restrict(d.client, exact(policy(t, guard.Config{Root: d.root, Block: []string{filepath.Join(d.root, "secret")}})))
	for _, path := range []string{outside, filepath.Join(d.root, "out"), filepath.Join(d.root, "secret")} {
		_, err := files.Read(t.Context(), path)
		assert.Equal(t, fsbackend.CodeDenied, fsbackend.CodeOf(err), "%v", err)
		_, err = files.Write(t.Context(), fsbackend.Write{Path: path, Data: []byte("new")})
		assert.Equal(t, fsbackend.CodeDenied, fsbackend.CodeOf(err), "%v", err)
	}
	assert.Empty(t, d.editor.Calls())
	_, err := files.Write(t.Context(), fsbackend.Write{Path: filepath.Join(d.root, "link"), Data: []byte("new")})
	require.NoError(t, err)
	assert.Equal(t, []string{"read a.txt", "write a.txt"}, d.editor.Calls())
}

func TestClientEditorFails(t *testing.T) {
	for name, set := range map[string]func(d *desk){
		"before it writes": func(d *desk) { d.editor.BeforeWrite = func(context.Context, string) error { return errEditor } },
		"and writes nothing, but says it did": func(d *desk) {
			d.editor.Unsaved = true
			d.editor.Format = func(string) string { return "one\n" }
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, "one\n", fsbackend.ClientOptions{})
			set(d)
			rec, err := d.edit("one", "two")
			assert.Equal(t, fsbackend.CodeIO, fsbackend.CodeOf(err), "%v", err)
			assert.Contains(t, err.Error(), "nothing was written")
			assert.Equal(t, fsbackend.Receipt{}, rec)
			assert.Equal(t, "one\n", d.disk(), "the disk is not written after the editor was told to")
		})
	}
	t.Run("after it has written", func(t *testing.T) {
		d := newDesk(t, "one\n", fsbackend.ClientOptions{})
		d.editor.AfterWrite = func(context.Context, string) error { return errEditor }
		rec := d.must("one", "two")
		assert.Equal(t, "two\n", d.disk())
		d.notes(rec.Notes, "did not confirm")
	})
	t.Run("after its buffer has the text", func(t *testing.T) {
		d := newDesk(t, "one\n", fsbackend.ClientOptions{})
		d.editor.Unsaved = true
		d.editor.AfterWrite = func(context.Context, string) error { return errEditor }
		rec, err := d.edit("one", "two")
		assert.ErrorIs(t, err, errEditor)
		assert.Equal(t, fsbackend.VersionOf([]byte("two\n")), rec.Version)
		assert.Equal(t, "one\n", d.disk())
	})
	t.Run("and cannot be asked any more", func(t *testing.T) {
		d := newDesk(t, "one\n", fsbackend.ClientOptions{})
		f := d.read()
		gone := func(context.Context, string) error { return errEditor }
		d.editor.BeforeRead, d.editor.BeforeWrite = gone, gone
		_, err := d.write(f, "two\n")
		assert.Equal(t, fsbackend.CodeIO, fsbackend.CodeOf(err), "%v", err)
		assert.Contains(t, err.Error(), "cannot be seen")
		assert.Equal(t, "one\n", d.disk())
		assert.Equal(t, "one\n", string(d.read().Data), "reading goes on by disk")
	})
}

func TestClientDoesNotSave(t *testing.T) {
	d := newDesk(t, "one\n", fsbackend.ClientOptions{})
	d.editor.Unsaved = true
	rec := d.must("one", "two")
	d.notes(rec.Notes, "not saved")
	assert.Equal(t, "one\n", d.disk())
	assert.Equal(t, rec.Version, d.read().Version)
	rec = d.must("two", "three")
	assert.Equal(t, "three\n", d.editor.Text(d.path))
	assert.Equal(t, fsbackend.VersionOf([]byte("two\n")), rec.BeforeVersion)
}

func TestClientEditorHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, "one\n", fsbackend.ClientOptions{})
		d.editor.BeforeRead = hangs
		start := time.Now()
		f := d.read()
		assert.Equal(t, fsbackend.DefaultReadTimeout, time.Since(start))
		d.notes(f.Notes, "did not answer")
		rec, err := d.write(f, "two\n")
		require.NoError(t, err)
		d.notes(rec.Notes, "did not answer")
		d.must("two", "three")
		assert.Equal(t, fsbackend.DefaultReadTimeout, time.Since(start), "it is not asked again so soon")
		assert.Equal(t, []string{"read a.txt"}, d.editor.Calls())
		time.Sleep(time.Minute)
		d.editor.BeforeRead = nil
		d.must("three", "four")
		assert.Contains(t, d.editor.Calls(), "write a.txt")
	})
}

func TestClientEditorHangsInAWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, "one\n", fsbackend.ClientOptions{})
		d.editor.BeforeWrite = hangs
		_, err := d.edit("one", "two")
		assert.Equal(t, fsbackend.CodeIO, fsbackend.CodeOf(err), "%v", err)
		assert.Contains(t, err.Error(), "did not answer within 1m0s")
		assert.Equal(t, "one\n", d.disk())

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = d.client.Write(ctx, fsbackend.Write{Path: d.path, Data: []byte("three\n")})
		assert.Equal(t, fsbackend.CodeAborted, fsbackend.CodeOf(err), "%v", err)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, "one\n", d.disk())
	})
}

func TestClientAlways(t *testing.T) {
	d := newDesk(t, "one\r\ntwo\n", fsbackend.ClientOptions{Always: true})
	_, err := d.edit("one", "ONE")
	assert.Equal(t, fsbackend.CodeEditorOnly, fsbackend.CodeOf(err), "%v", err)
	assert.Contains(t, err.Error(), "both kinds of line ends")
	assert.Equal(t, "one\r\ntwo\n", d.disk())
	d.put("a.txt", "one\n")
	d.must("one", "two")
	d.editor.Worktrees = nil
	_, err = d.edit("two", "three")
	assert.Equal(t, fsbackend.CodeEditorOnly, fsbackend.CodeOf(err), "%v", err)
}

func TestClientCommitIsUndoneThroughTheEditor(t *testing.T) {
	d := newDesk(t, "one\n", fsbackend.ClientOptions{})
	other := d.put("b.txt", "two\n")
	d.do(d.editor.Type(d.path, "one", "mine"))
	f := d.read()
	g, err := d.client.Read(t.Context(), other)
	require.NoError(t, err)
	d.editor.BeforeWrite = func(_ context.Context, path string) error {
		if path == other {
			return errEditor
		}
		return nil
	}
	c := fsbackend.Commit{Steps: []fsbackend.Step{
		{Write: fsbackend.Write{Path: d.path, Data: []byte("mine\nand ours\n"), Pre: fsbackend.Unchanged{Version: f.Version}}, Before: f.Data},
		{Write: fsbackend.Write{Path: other, Data: []byte("ours\n"), Pre: fsbackend.Unchanged{Version: g.Version}}, Before: g.Data},
	}}
	_, err = c.Run(t.Context(), d.client)
	r, ok := fsbackend.RecoveryOf(err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, []string{d.path}, r.Restored)
	assert.Empty(t, r.Uncertain)
	assert.Equal(t, "mine\n", d.editor.Text(d.path))
	assert.Equal(t, "two\n", d.editor.Text(other))
	assert.Equal(t, []string{
		"read a.txt", "read b.txt", "write a.txt", "write b.txt", "read b.txt", "read b.txt", "read a.txt", "write a.txt",
	}, d.editor.Calls())
}

func TestClientRollbackOfWhatTheEditorFormats(t *testing.T) {
	d := newDesk(t, "one\n", fsbackend.ClientOptions{})
	j, err := fsbackend.OpenJournal(fsbackend.JournalOptions{Dir: filepath.Join(t.TempDir(), "versions")})
	require.NoError(t, err)
	defer j.Close()
	files := j.Over(d.client)
	f, err := files.Read(t.Context(), d.path)
	require.NoError(t, err)
	d.editor.Format = func(s string) string { return "// formatted\n" + s }
	rec, err := files.Write(t.Context(), fsbackend.Write{Path: d.path, Data: []byte("two\n"), Pre: fsbackend.Unchanged{Version: f.Version}})
	require.NoError(t, err)
	assert.Equal(t, "// formatted\ntwo\n", d.disk())
	list, err := files.Versions(t.Context(), d.path)
	require.NoError(t, err)
	require.Len(t, list, 2)
	assert.True(t, list[0].Current)
	assert.Equal(t, rec.Version, list[0].Digest)

	back, err := files.Restore(t.Context(), d.path, "")
	require.NoError(t, err)
	assert.Equal(t, "// formatted\none\n", d.disk())
	assert.Equal(t, d.disk(), string(back.Data))
	assert.Equal(t, fsbackend.VersionOf([]byte(d.disk())), back.Version.Digest)
	d.editor.Format = nil
	_, err = files.Restore(t.Context(), d.path, rec.Version.String())
	require.NoError(t, err)
	assert.Equal(t, "// formatted\ntwo\n", d.disk())
}
