package fs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/tools/fs"
)

const abc = "alpha\nbeta\ngamma\n"

// A box is a toolbox over a folder of its own.
type box struct {
	*testing.T
	*fs.Fs
	dir string
}

func open(t *testing.T, files map[string]string) box {
	b := box{t, fs.New(), t.TempDir()}
	b.Cwd(b.dir)
	t.Cleanup(func() { assert.NoError(t, b.Close()) })
	for name, data := range files {
		b.put(name, data)
	}
	return b
}

func (b box) put(name, data string) {
	path := filepath.Join(b.dir, filepath.FromSlash(name))
	require.NoError(b, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(b, os.WriteFile(path, []byte(data), 0o644))
}

func (b box) get(name string) string {
	data, err := os.ReadFile(filepath.Join(b.dir, filepath.FromSlash(name)))
	require.NoError(b, err)
	return string(data)
}

func (b box) read(t fs.Target) fs.ReadResult {
	return b.Read(b.Context(), []fs.Target{t})[0]
}

// edit calls with JSON in which ' stands for ".
func (b box) edit(args string) ([]fs.EditResult, error) {
	return b.Edit(b.Context(), json.RawMessage(strings.ReplaceAll(args, "'", `"`)))
}

func (b box) write(path, text, hash string) fs.WriteResult {
	r, err := b.Write(b.Context(), []fs.TargetFile{{Path: path, Text: text, FileHash: hash}})
	require.NoError(b, err)
	return r[0]
}

func says(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func numbered(n int) string {
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, "l%d\n", i+1)
	}
	return s.String()
}

func TestRead(t *testing.T) {
	b := open(t, map[string]string{"a.txt": abc, "long": strings.Repeat("é", 201) + "\n", "ten": numbered(10), "big": numbered(2500), "empty": "", "bin": "\x00"})
	for _, c := range []struct {
		name          string
		target        fs.Target
		content, warn string // content without its header
	}{
		{"whole", fs.Target{Path: "a.txt"}, "1| alpha\n2| beta\n3| gamma", ""},
		{"empty", fs.Target{Path: "empty"}, "", ""},
		{"slice", fs.Target{Path: "ten", Offset: 5, Limit: 3}, "5| l5\n6| l6\n7| l7\n[3 more lines after this: go on with offset 8 and limit 3]", ""},
		{"limit alone", fs.Target{Path: "ten", Limit: 1}, "1| l1\n[9 more lines after this: go on with offset 2 and limit 9]", ""},
		{"huge limit", fs.Target{Path: "ten", Offset: 10, Limit: 1<<63 - 1}, "10| l10", ""},
		{"ranges", fs.Target{Path: "ten", LineRange: "1-2, 5,9-99"}, "1| l1\n2| l2\n[2 lines left out]\n5| l5\n[3 lines left out]\n9| l9\n10| l10", ""},
		{"bad range", fs.Target{Path: "a.txt", LineRange: "2-1"}, "1| alpha\n2| beta\n3| gamma", "line_range"},
		{"beyond", fs.Target{Path: "a.txt", Offset: 4, Limit: 1}, "", "the file has 3 lines"},
		{"offset alone", fs.Target{Path: "a.txt", Offset: 3}, "3| gamma", ""},
		{"symbol", fs.Target{Path: "a.txt", Symbol: "f"}, "1| alpha\n2| beta\n3| gamma", "no grammar"},
		{"long line", fs.Target{Path: "long"}, "1| " + strings.Repeat("é", 197) + "...\n[1 long line cut to 200 characters]", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := b.read(c.target)
			assert.Equal(t, strings.TrimSuffix(r.Header+"\n"+c.content, "\n"), r.Content)
			assert.Contains(t, says(r.Warnings), c.warn)
			assert.Equal(t, c.warn == "", r.Warnings == nil)
		})
	}
	assert.Equal(t, "¶a.txt#B6C1", b.read(fs.Target{Path: "./a.txt"}).Header)
	assert.Contains(t, b.read(fs.Target{Path: "big"}).Content, "2000| l2000\n[500 more lines after this: go on with offset 2001 and limit 500]")
	for path, warn := range map[string]string{"none": "none: ", "bin": "bin: ", "../x": "permission denied", "": "path is empty", "a\x00b": "NUL", "file:///a.txt": "is a URL"} {
		r := b.read(fs.Target{Path: path})
		assert.Contains(t, says(r.Warnings), warn)
		assert.Empty(t, r.FileHash+r.Header+r.Content)
	}
	assert.NotNil(t, b.read(fs.Target{Path: "a.txt", Limit: -1}).Warnings)
}

func TestWrite(t *testing.T) {
	b := open(t, map[string]string{"old.txt": abc, "dos.txt": "a\r\nb\r\n", "a.diff": "+x\n"})
	assert.Equal(t, "¶n.txt#8DB0", b.write("n.txt", "hello world\n", "").Header)
	assert.NotEmpty(t, b.write("n.txt", "hello\n", "").Header, "the session wrote it")
	assert.Contains(t, says(b.write("old.txt", "x", "").Warnings), "has not read it")
	b.put("n.txt", "other\n")
	assert.Contains(t, says(b.write("n.txt", "x", "").Warnings), "changed since")
	assert.Contains(t, says(b.write("n.txt", "x", "8db0").Warnings), "file_hash is 8DB0")
	assert.True(t, strings.HasPrefix(says(b.write("n.txt", "x", "zz").Warnings), "write n.txt: file_hash \"zz\" is not a tag"))
	assert.Equal(t, "other\n", b.get("n.txt"))
	assert.NotEmpty(t, b.write("old.txt", "", "b6c1").Header, "an empty text is a text")
	assert.Equal(t, "", b.get("old.txt"))
	b.read(fs.Target{Path: "dos.txt"})
	assert.Contains(t, says(b.write("dos.txt", "c\n", "").Warnings), "CRLF")
	assert.Equal(t, "c\r\n", b.get("dos.txt"))
	r := b.write("echo.txt", "¶old.txt#B6C1\n1| alpha\n2| beta\n3| gamma", "")
	assert.NotNil(t, r.Warnings)
	assert.Equal(t, abc, b.get("echo.txt"))
	b.read(fs.Target{Path: "a.diff"})
	b.write("a.diff", "+y\n", "")
	assert.Equal(t, "+y\n", b.get("a.diff"))
	assert.Contains(t, says(b.write("s.sh", "#!/bin/sh\n", "").Warnings), "executable")
	assert.Contains(t, says(b.write("new", "x", "8DB0").Warnings), "no such file")
	assert.Contains(t, says(b.write("nul", "\x00", "").Warnings), "not text")
}

func TestEdit(t *testing.T) {
	b := open(t, map[string]string{"a.txt": abc, "b.txt": "b\n", "c.txt": "c\n"})
	got, err := b.edit(`{'path':'a.txt','file_hash':'B6C1','ops':'replace 2..2:\n+BETA','dry_run':true}`)
	require.NoError(t, err)
	assert.Equal(t, "--- a.txt\n+++ a.txt\n@@ -1,3 +1,3 @@\n alpha\n-beta\n+BETA\n gamma\n", *got[0].Diff)
	assert.True(t, *got[0].DryRun)
	assert.Equal(t, abc, b.get("a.txt"))
	_, err = b.edit(`{'path':'a.txt','file_hash':'F1C1','ops':'delete 1'}`)
	assert.Equal(t, "EDIT_STALE", fs.CodeOf(err), "the tag of a dry run is none")
	got, err = b.edit(`{'path':'a.txt','file_hash':'B6C1','ops':'insert after 1:\n+x'}`)
	require.NoError(t, err)
	assert.Equal(t, 2, *got[0].FirstChangedLine)
	require.NotEmpty(t, got[0].Moves)
	got, err = b.edit(`{'path':'a.txt','file_hash':'B6C1','ops':'replace 3:\n+GAMMA'}`)
	require.NoError(t, err)
	assert.Equal(t, "¶a.txt#B77F", got[0].Header)
	assert.NotEmpty(t, got[0].Warnings)
	got, err = b.edit(`{'path':'a.txt','old_string':'lph','new_string':'LPH'}`)
	require.NoError(t, err)
	assert.Equal(t, "aLPHa\nx\nbeta\nGAMMA\n", b.get("a.txt"))
	assert.Equal(t, 1, *got[0].FirstChangedLine)

	_, err = b.edit(`{'path':'no.txt','file_hash':'B6C1','ops':'delete 1'}`)
	assert.Equal(t, "FS_NOT_FOUND", fs.CodeOf(err))
	_, err = b.edit(`{'path':'a.txt','ops':[{'pat':'a','out':'b'}]}`)
	assert.Equal(t, fs.CodeNoAST, fs.CodeOf(err))
	_, err = b.edit(`{}`)
	assert.Equal(t, "EDIT_ARGS", fs.CodeOf(err))
	_, err = b.edit(`{'path':'../a.txt','file_hash':'B6C1','ops':'delete 1'}`)
	assert.Equal(t, "FS_DENIED", fs.CodeOf(err))
}

func TestEditBatch(t *testing.T) {
	b := open(t, map[string]string{"a.txt": abc, "b.txt": "b\n", "c.txt": "c\n"})
	args := `{'targets':[{'path':'a.txt','file_hash':'B6C1','ops':'replace 2:\n+BETA'},{'path':'b.txt','file_hash':'BEEF','ops':'delete 1'},{'path':'c.txt','file_hash':'BEEF','ops':'delete 1'}]`
	_, err := b.edit(args + `,'dry_run':true}`)
	var batch *fs.EditBatchError
	require.ErrorAs(t, err, &batch)
	assert.Empty(t, batch.Applied)
	assert.Equal(t, abc, b.get("a.txt"))
	_, err = b.edit(args + `}`)
	require.ErrorAs(t, err, &batch)
	assert.Equal(t, "b.txt", batch.FailedPath)
	assert.Equal(t, []string{"c.txt"}, batch.Skipped)
	require.Len(t, batch.Applied, 1)
	assert.Equal(t, "¶a.txt#F1C1", batch.Applied[0].Header)
	assert.Contains(t, err.Error(), "¶a.txt#F1C1")
	assert.Contains(t, err.Error(), "skipped because b.txt failed")
	assert.JSONEq(t, `{"failed_path":"b.txt","code":"EDIT_STALE","applied":[{"path":"a.txt","file_hash":"F1C1","header":"¶a.txt#F1C1"}],"skipped":["c.txt"]}`, string(batch.Details()))
	assert.Equal(t, "c\n", b.get("c.txt"))

	b.put("d.txt", "one\ntwo\n")
	d := b.read(fs.Target{Path: "d.txt"}).FileHash
	_, err = b.edit(fmt.Sprintf(`{'dry_run':true,'targets':[{'path':'d.txt','file_hash':'%s','ops':'insert head:\n+zero'},{'path':'./d.txt','file_hash':'%s','ops':'delete 2'}]}`, d, d))
	assert.NoError(t, err, "a later target sees the earlier one's text")
}

func TestDryRunGoesAsTheCallWould(t *testing.T) {
	const line = "{'path':'a.txt','file_hash':'%s','ops':'delete 1'}"
	last := open(t, map[string]string{"a.txt": abc})
	last.read(fs.Target{Path: "a.txt"})
	one, err := last.edit(fmt.Sprintf("{'targets':["+line+"],'dry_run':true}", "B6C1"))
	require.NoError(t, err)
	// The tag of the first is that of an earlier text to the third.
	targets := fmt.Sprintf("{'targets':["+line+",{'path':'a.txt','file_hash':'%s','ops':'insert tail:\\n+x'},{'path':'a.txt','file_hash':'%s','ops':'delete 1'}]", "B6C1", one[0].FileHash, one[0].FileHash)
	would, err := last.edit(targets + ",'dry_run':true}")
	require.NoError(t, err)
	assert.Equal(t, abc, last.get("a.txt"))
	_, err = last.edit(fmt.Sprintf(line, one[0].FileHash))
	assert.Equal(t, "EDIT_STALE", fs.CodeOf(err), "what a dry run made is no version")
	done, err := last.edit(targets + "}")
	require.NoError(t, err)
	require.Len(t, would, len(done))
	for i := range done {
		assert.Equal(t, done[i].Header, would[i].Header)
		assert.Equal(t, done[i].Diff, would[i].Diff)
		assert.ElementsMatch(t, done[i].Warnings, would[i].Warnings[:len(would[i].Warnings)-1], "besides that it is a dry run")
	}
	assert.Equal(t, "gamma\nx\n", last.get("a.txt"))
}

func TestRefusalShowsWhatCanBeUsedAtOnce(t *testing.T) {
	b := open(t, map[string]string{"a.txt": abc})
	b.read(fs.Target{Path: "a.txt"})
	b.put("a.txt", "alpha\nBETA\ngamma\n")
	_, err := b.edit(`{'path':'a.txt','file_hash':'B6C1','ops':'replace 2:\n+b'}`)
	require.Error(t, err)
	assert.Contains(t, err.Error(), "F1C1")
	assert.Contains(t, err.Error(), "*2| BETA")
	_, err = b.edit(`{'path':'a.txt','file_hash':'F1C1','ops':'replace 2:\n+b'}`)
	require.NoError(t, err)
	assert.Equal(t, "alpha\nb\ngamma\n", b.get("a.txt"))
}

func TestRollback(t *testing.T) {
	b := open(t, nil)
	v1, v2 := "api_key = \"old\"\nretries = 3\n", "api_key = \"new\"\nretries = 5\n"
	assert.Equal(t, "4497", b.write("c.toml", v1, "").FileHash)
	assert.Equal(t, "9623", b.write("c.toml", v2, "").FileHash)
	for _, c := range []struct{ hash, code, header, replaced, text string }{
		{"", "", "¶c.toml#4497", "9623", v1},
		{"9623", "", "¶c.toml#9623", "4497", v2},
		{"9623", "ROLLBACK_CURRENT", "", "", v2},
		{"FFFF", "ROLLBACK_UNKNOWN", "", "", v2},
	} {
		r, err := b.Rollback(t.Context(), "c.toml", c.hash)
		assert.Equal(t, c.code, fs.CodeOf(err), "%v", err)
		assert.Equal(t, c.header, r.Header)
		assert.Equal(t, c.replaced, r.ReplacedHash)
		assert.Equal(t, c.text, b.get("c.toml"))
	}
	b.put("other", "x")
	_, err := b.Rollback(t.Context(), "other", "")
	assert.Equal(t, "ROLLBACK_NO_HISTORY", fs.CodeOf(err))
}

func TestRollbackOfBlanks(t *testing.T) {
	b := open(t, map[string]string{"n.md": "one  \n"})
	b.read(fs.Target{Path: "n.md"})
	b.write("n.md", "one\n", "")
	r, err := b.Rollback(t.Context(), "n.md", "")
	require.NoError(t, err)
	assert.Equal(t, "one  \n", b.get("n.md"))
	_, err = b.Rollback(t.Context(), "n.md", r.ReplacedHash)
	require.NoError(t, err, "both have one tag, so a longer name is given")
	assert.Equal(t, "one\n", b.get("n.md"))
}

func TestPolicy(t *testing.T) {
	out := t.TempDir()
	x := filepath.Join(out, "x.json")
	b := open(t, map[string]string{"secret/k": "k\n", "secretary.txt": "s\n"})
	b.Allowlist(x).Blocklist("secret").ReadAllowlist(x, out)
	require.NoError(t, os.WriteFile(filepath.Join(out, "f"), []byte("f\n"), 0o644))
	assert.NotEmpty(t, b.write(x, "{}\n", "").Header)
	assert.Contains(t, says(b.write("secret/k", "no", "").Warnings), "permission denied")
	assert.Empty(t, b.read(fs.Target{Path: filepath.Join(out, "f")}).Header, "an entry for a folder opens nothing in it")
	assert.NotEmpty(t, b.read(fs.Target{Path: "secretary.txt"}).Header)

	b.Blocklist("secret", out)
	_, err := b.Write(t.Context(), []fs.TargetFile{{Path: "new.txt", Text: "n"}, {Path: x, Text: "[]"}})
	assert.Equal(t, "FS_GUARD_AMBIGUOUS", fs.CodeOf(err))
	assert.NoFileExists(t, filepath.Join(b.dir, "new.txt"), "told before the first write")
	assert.NotNil(t, b.read(fs.Target{Path: x}).Warnings)

	b.RemoveAllowlistPath(x)
	list, set := b.AllowlistRef()
	assert.Empty(t, list)
	assert.True(t, set, "an emptied list stays set")
	b.AddAllowlistPath(x)
	b.AddAllowlistPath(x)
	list, _ = b.AllowlistRef()
	assert.Equal(t, []string{x}, list)
	none := fs.New()
	defer none.Close()
	assert.Contains(t, says(none.Read(t.Context(), []fs.Target{{Path: x}})[0].Warnings), "permission denied")
	_, set = none.BlocklistRef()
	assert.False(t, set)
}

func TestConcurrentEdits(t *testing.T) {
	b := open(t, map[string]string{"n.txt": numbered(20)})
	tag := b.read(fs.Target{Path: "n.txt"}).FileHash
	var all sync.WaitGroup
	errs := make([]error, 20)
	for i := range errs {
		all.Go(func() {
			_, errs[i] = b.edit(fmt.Sprintf(`{'path':'n.txt','file_hash':'%s','ops':'replace %d:\n+x%d'}`, tag, i+1, i+1))
		})
	}
	all.Wait()
	require.NoError(t, errors.Join(errs...))
	assert.Equal(t, strings.ReplaceAll(numbered(20), "l", "x"), b.get("n.txt"))
}

func TestFreeFunctions(t *testing.T) {
	dir, kept := t.TempDir(), t.TempDir()
	m := fs.Metadata{Root: dir, Journal: kept}
	ctx := context.Background()
	w, err := fs.Write(ctx, m, []fs.TargetFile{{Path: "a.txt", Text: abc}})
	require.NoError(t, err)
	assert.Equal(t, "B6C1", w[0].FileHash)
	_, err = fs.Edit(ctx, m, json.RawMessage(`{"path":"a.txt","file_hash":"B6C1","ops":"delete 1"}`))
	require.NoError(t, err)
	r, err := fs.Rollback(ctx, m, "a.txt", "B6C1")
	require.NoError(t, err)
	assert.Equal(t, "¶a.txt#B6C1", r.Header)
	assert.Equal(t, "B6C1", fs.Read(ctx, m, []fs.Target{{Path: "a.txt"}})[0].FileHash)
}
