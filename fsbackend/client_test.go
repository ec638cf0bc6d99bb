package fsbackend_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/acptest"
	"dsh-acp/internal/text"
)

// A desk is a client over a folder with one file that was there before, and
// the editor that has the folder open.
type desk struct {
	t      *testing.T
	root   string
	path   string
	editor *acptest.Buffers
	client *fsbackend.Client
}

func newDesk(t *testing.T, data string, opt fsbackend.ClientOptions) *desk {
	t.Helper()
	d := &desk{t: t, root: realTemp(t), editor: &acptest.Buffers{}}
	d.editor.Worktrees = []string{d.root}
	d.path = d.put("a.txt", data)
	past := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(d.path, past, past))
	l, err := fsbackend.NewLocal(fsbackend.Options{Roots: []string{d.root}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	if opt.Folders == nil {
		opt.Folders = []string{d.root}
	}
	d.client, err = fsbackend.NewClient(l, d.editor, opt)
	require.NoError(t, err)
	return d
}

func (d *desk) put(name, data string) string {
	d.t.Helper()
	path := filepath.Join(d.root, name)
	require.NoError(d.t, os.WriteFile(path, []byte(data), 0o644))
	return path
}

func (d *desk) disk() string {
	d.t.Helper()
	data, err := os.ReadFile(d.path)
	require.NoError(d.t, err)
	return string(data)
}

func (d *desk) read() fsbackend.File {
	d.t.Helper()
	f, err := d.client.Read(d.t.Context(), d.path)
	require.NoError(d.t, err)
	return f
}

// edit replaces a text as a tool does: read, plan, write what was planned.
func (d *desk) edit(old, with string) (fsbackend.Receipt, error) {
	d.t.Helper()
	f := d.read()
	require.Contains(d.t, string(f.Data), old)
	return d.write(f, strings.Replace(string(f.Data), old, with, 1))
}

func (d *desk) write(f fsbackend.File, data string) (fsbackend.Receipt, error) {
	d.t.Helper()
	return d.client.Write(d.t.Context(), fsbackend.Write{Path: d.path, Data: []byte(data), Pre: fsbackend.Unchanged{Version: f.Version}})
}

// must is edit that succeeds.
func (d *desk) must(old, with string) fsbackend.Receipt {
	d.t.Helper()
	rec, err := d.edit(old, with)
	require.NoError(d.t, err)
	return rec
}

func (d *desk) notes(notes []string, want string) {
	d.t.Helper()
	require.Len(d.t, notes, 1)
	assert.Contains(d.t, notes[0], want)
}

func (d *desk) do(err error) {
	d.t.Helper()
	require.NoError(d.t, err)
}

func TestClientEditTakesTwoRoundTrips(t *testing.T) {
	d := newDesk(t, "one\ntwo\n", fsbackend.ClientOptions{})
	rec := d.must("two", "TWO")
	assert.Equal(t, []string{"read a.txt", "write a.txt"}, d.editor.Calls())
	assert.Equal(t, "one\nTWO\n", d.disk())
	assert.Empty(t, rec.Notes)
	assert.Nil(t, rec.After)
}

func TestClientOldReadsAreNotTrusted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, "one\ntwo\n", fsbackend.ClientOptions{})
		f := d.read()
		time.Sleep(time.Minute)
		d.do(d.editor.Type(d.path, "one", "ONE"))
		_, err := d.write(f, "one\nTWO\n")
		assert.Equal(t, fsbackend.CodeStaleVersion, fsbackend.CodeOf(err), "%v", err)
		assert.Equal(t, "ONE\ntwo\n", d.editor.Text(d.path))
		assert.Equal(t, "one\ntwo\n", d.disk())
	})
}

// TestClientPlansTwiceAndAsksOnce has a tool that looks at a file when it
// plans and again when it runs.
func TestClientPlansTwiceAndAsksOnce(t *testing.T) {
	d := newDesk(t, "one\n", fsbackend.ClientOptions{})
	for range 2 {
		f, err := fsbackend.ReadForChange(t.Context(), d.client, d.path)
		require.NoError(t, err)
		assert.Equal(t, "one\n", string(f.Data))
		f.Data[0] = 'X' // it is the caller's
	}
	assert.Equal(t, []string{"read a.txt"}, d.editor.Calls())
	d.client.LookAgain()
	_, err := fsbackend.Transform(t.Context(), d.client, d.path, func(text.Doc) (text.Doc, error) { return text.ParseString("two\n") })
	require.NoError(t, err)
	assert.Equal(t, []string{"read a.txt", "read a.txt", "write a.txt"}, d.editor.Calls())
	d.put("a.txt", "three\n")
	f, err := fsbackend.ReadForChange(t.Context(), d.client, d.path)
	require.NoError(t, err)
	assert.Equal(t, "three\n", string(f.Data), "what is new on disk is noticed")
}

func TestClientUnsavedText(t *testing.T) {
	d := newDesk(t, "one\ntwo\n", fsbackend.ClientOptions{})
	d.do(d.editor.Type(d.path, "one", "ONE"))
	f := d.read()
	assert.Equal(t, "ONE\ntwo\n", string(f.Data))
	assert.Equal(t, fsbackend.VersionOf(f.Data), f.Version)
	d.notes(f.Notes, "not saved")

	rec, err := d.write(f, "ONE\nTWO\n")
	require.NoError(t, err)
	assert.Equal(t, "ONE\nTWO\n", d.disk())
	assert.Equal(t, "ONE\ntwo\n", string(*rec.Before))
	d.notes(rec.Notes, "it is saved now")
	assert.Empty(t, d.read().Notes)
}

func TestClientWhatTheUserTypesMeanwhileStays(t *testing.T) {
	d := newDesk(t, "one\ntwo\n", fsbackend.ClientOptions{})
	d.editor.BeforeWrite = func(context.Context, string) error { return d.editor.Type(d.path, "one\n", "zero\none\n") }
	rec := d.must("two", "TWO")
	assert.Equal(t, "zero\none\nTWO\n", d.disk())
	assert.Equal(t, d.disk(), string(rec.After))
	assert.Equal(t, fsbackend.VersionOf(rec.After), rec.Version)
	d.notes(rec.Notes, "typed meanwhile")
	assert.Equal(t, rec.Version, d.read().Version)
}

// TestClientAsksBeforeItWrites is the story of the fake editor's own test for
// corruption, with the client in the place of an agent that reads the disk.
func TestClientAsksBeforeItWrites(t *testing.T) {
	d := newDesk(t, "one\ntwo\n", fsbackend.ClientOptions{})
	d.read()
	d.do(d.editor.Type(d.path, "one\n", "one\nmore\n"))
	d.do(d.editor.Save(d.path))
	d.must("two", "TWO")
	assert.Equal(t, "one\nmore\nTWO\n", d.disk())
}

func TestClientFormatOnSave(t *testing.T) {
	d := newDesk(t, "ONE\nTWO\n", fsbackend.ClientOptions{})
	d.editor.Format = strings.ToUpper
	rec := d.must("TWO", "two\nthree")
	assert.Equal(t, "ONE\nTWO\nTHREE\n", string(rec.After))
	d.notes(rec.Notes, "formatted")
	sent, err := text.ParseString("ONE\ntwo\nthree\n")
	require.NoError(t, err)
	assert.Equal(t, d.disk(), rec.Text(sent).Raw())
	d.must("THREE", "3")
}

func TestClientLineEnds(t *testing.T) {
	for _, raw := range []bool{false, true} {
		d := newDesk(t, "one\r\ntwo\r\n", fsbackend.ClientOptions{})
		d.editor.Raw = raw
		assert.Equal(t, "one\r\ntwo\r\n", string(d.read().Data))
		rec := d.must("two\r\n", "TWO\r\nthree\r\n")
		assert.Equal(t, "one\r\nTWO\r\nthree\r\n", d.disk())
		assert.Nil(t, rec.After)
		assert.Empty(t, rec.Notes)
		assert.Contains(t, d.editor.Calls(), "write a.txt")
	}
}

func TestClientBytesThatAnEditorDoesNotKeep(t *testing.T) {
	for name, c := range map[string]struct{ old, now, why string }{
		"byte order mark":          {"\ufeffone\n", "\ufefftwo\n", "byte order mark"},
		"mixed":                    {"one\r\ntwo\n", "one\r\nTWO\n", "both kinds of line ends"},
		"lone carriage return":     {"one\rtwo\n", "one\rTWO\n", "carriage returns"},
		"not UTF-8":                {"one\xff\n", "two\xff\n", "not UTF-8"},
		"too large":                {strings.Repeat("x", 101), "small", "101 bytes"},
		"becoming too large":       {"small", strings.Repeat("x", 101), "101 bytes"},
		"becoming mixed":           {"one\n", "one\r\ntwo\n", "both kinds of line ends"},
		"becoming CRLF":            {"one\ntwo\n", "one\r\ntwo\r\n", "CRLF"},
		"becoming LF":              {"one\r\ntwo\r\n", "one\ntwo\n", "LF"},
		"getting a mark":           {"one\n", "\ufeffone\n", "byte order mark"},
		"becoming what is no text": {"one\n", "\x00", "not UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, c.old, fsbackend.ClientOptions{MaxBytes: 100})
			f := d.read()
			assert.Equal(t, c.old, string(f.Data))
			rec, err := d.write(f, c.now)
			require.NoError(t, err)
			assert.Equal(t, c.now, d.disk())
			d.notes(rec.Notes, "written to the disk and not through the editor")
			assert.Contains(t, rec.Notes[0], c.why)
			assert.NotContains(t, d.editor.Calls(), "write a.txt")
		})
	}
}

func TestClientUnsavedTextThatCannotBeCarried(t *testing.T) {
	for name, c := range map[string]struct{ old, now string }{
		"the file cannot":     {"one\r\ntwo\n", "one\r\nTWO\n"},
		"the new text cannot": {"one\ntwo\n", "one\r\ntwo\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, c.old, fsbackend.ClientOptions{})
			d.do(d.editor.Type(d.path, "one", "mine"))
			f := d.read()
			d.notes(f.Notes, "not saved")
			_, err := d.write(f, c.now)
			assert.Equal(t, fsbackend.CodeUnsaved, fsbackend.CodeOf(err), "%v", err)
			assert.Contains(t, err.Error(), "ask the user to save")
			assert.Equal(t, c.old, d.disk())
		})
	}
}

func TestClientNewFiles(t *testing.T) {
	d := newDesk(t, "", fsbackend.ClientOptions{})
	path := filepath.Join(d.root, "new", "b.sh")
	rec, err := d.client.Write(t.Context(), fsbackend.Write{Path: path, Data: []byte("#!/bin/sh\n"), Pre: fsbackend.Absent{}, Executable: true})
	require.NoError(t, err)
	assert.True(t, rec.Created)
	assert.Equal(t, []string{filepath.Dir(path)}, rec.MadeDirs)
	assert.Equal(t, []string{"read b.sh", "write b.sh"}, d.editor.Calls())
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.NotZero(t, info.Mode()&0o100)

	path = filepath.Join(d.root, "c.txt")
	d.do(d.editor.Type(path, "", "never saved"))
	_, err = d.client.Write(t.Context(), fsbackend.Write{Path: path, Data: []byte("x"), Pre: fsbackend.Absent{}})
	assert.Equal(t, fsbackend.CodeUnsaved, fsbackend.CodeOf(err), "%v", err)
	assert.NoFileExists(t, path)

	path = filepath.Join(d.root, "d.txt")
	rec, err = d.client.Write(t.Context(), fsbackend.Write{Path: path, Data: []byte("x\r\n"), Pre: fsbackend.Absent{}})
	require.NoError(t, err)
	d.notes(rec.Notes, "CRLF")
}

func TestClientModes(t *testing.T) {
	d := newDesk(t, "one\n", fsbackend.ClientOptions{})
	d.do(os.Chmod(d.path, 0o640))
	d.must("one", "two")
	rec, err := d.client.Write(t.Context(), fsbackend.Write{Path: d.path, Data: []byte("three\n"), Mode: 0o750})
	require.NoError(t, err)
	assert.EqualValues(t, 0o640, rec.BeforeMode)
	info, err := os.Stat(d.path)
	require.NoError(t, err)
	assert.EqualValues(t, 0o750, info.Mode())
	d.do(os.Chmod(d.path, 0o440))
	_, err = d.edit("three", "four")
	assert.Equal(t, fsbackend.CodePermission, fsbackend.CodeOf(err), "%v", err)
	assert.Equal(t, "three\n", d.editor.Text(d.path))
	d.do(os.Chmod(d.path, 0o640))
}

// TestClientNamesFilesAsTheEditorDoes has a session in a folder that is a
// link: the editor knows it by that name alone.
func TestClientNamesFilesAsTheEditorDoes(t *testing.T) {
	real := realTemp(t)
	link := filepath.Join(realTemp(t), "link")
	require.NoError(t, os.Symlink(real, link))
	require.NoError(t, os.Mkdir(filepath.Join(real, "d"), 0o777))
	require.NoError(t, os.Symlink("d", filepath.Join(real, "again")))
	l, err := fsbackend.NewLocal(fsbackend.Options{Roots: []string{link}})
	require.NoError(t, err)
	defer l.Close()
	b := &acptest.Buffers{Worktrees: []string{link}}
	c, err := fsbackend.NewClient(l, b, fsbackend.ClientOptions{Folders: []string{link}})
	require.NoError(t, err)
	for _, path := range []string{filepath.Join(link, "again", "a.txt"), filepath.Join(real, "d", "a.txt")} {
		rec, err := c.Write(t.Context(), fsbackend.Write{Path: path, Data: []byte(path)})
		require.NoError(t, err)
		assert.Empty(t, rec.Notes)
		assert.Equal(t, path, b.Text(filepath.Join(link, "d", "a.txt")))
	}
}
