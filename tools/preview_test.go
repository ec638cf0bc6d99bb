package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/msg"
	"dsh-acp/internal/text"
	"dsh-acp/presenter"
	"dsh-acp/tools/fs"
)

// previewSet offers every tool that changes files, with kept versions, syntax
// trees, and writes over unseen files allowed.
func previewSet(t *testing.T, files map[string]string) (string, *Set) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for name, data := range files {
		writeFile(t, dir, name, []byte(data))
	}
	local, err := fsbackend.NewLocal(fsbackend.Options{Roots: []string{dir}})
	require.NoError(t, err)
	t.Cleanup(func() { local.Close() })
	kept, err := fsbackend.OpenJournal(fsbackend.JournalOptions{Dir: t.TempDir(), Tag: fs.TagOf})
	require.NoError(t, err)
	t.Cleanup(func() { kept.Close() })
	set, err := New(Config{
		Cwd: dir, Files: kept.Over(local), OverwriteUnread: true, Hashline: HashlineConfig{Parser: fs.Trees()},
		Offer: []string{"Edit", "Write", "NotebookEdit", applyPatch, fs.NameWrite, fs.NameEdit, fs.NameRollback},
	})
	require.NoError(t, err)
	return dir, set
}

// onDisk is all that a folder holds.
func onDisk(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if !d.Type().IsRegular() {
			out[rel] = d.Type().String()
			return nil
		}
		data, err := os.ReadFile(path)
		out[rel] = string(data)
		return err
	}))
	return out
}

const twenty = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n"

var previewFiles = map[string]string{
	"a.txt": twenty, "b.txt": "b\n", "crlf.txt": "x\r\ny\r\n", "bom.txt": "\ufeffone\ntwo\n", "empty.txt": "",
	"bin.dat": "\x00\xff\xfe", "n.json": "{\"a\": 1}\n", "g.go": "package g\n\nfunc f() { old() }\n", "h.go": "package g\n\nfunc h() { old() }\n",
	"n.ipynb": `{"cells": [{"cell_type": "code", "id": "c1", "source": ["x = 1\n"]}], "nbformat": 4}` + "\n",
}

// previews are calls, and the first lines of the hunks that a question about
// each shows.
var previews = []struct {
	tool, args string
	hunks      []string // path:line, of the file as it is; nil: no preview
	blind      bool
}{
	{"Edit", `{"file_path":"a.txt","old_string":"8\n9\n","new_string":"8\nnine\n"}`, []string{"a.txt:6"}, false},
	{"Edit", `{"file_path":"a.txt","old_string":"1","new_string":"one","replace_all":true}`, []string{"a.txt:1", "a.txt:7"}, false},
	{"Edit", `{"file_path":"crlf.txt","old_string":"y","new_string":"z"}`, []string{"crlf.txt:1"}, false},
	{"Edit", `{"file_path":"bom.txt","old_string":"one","new_string":"1"}`, []string{"bom.txt:1"}, false},
	{"Edit", `{"file_path":"new.txt","old_string":"","new_string":"new\n"}`, []string{"new.txt:1"}, false},
	{"Write", `{"file_path":"b.txt","content":"c\n"}`, []string{"b.txt:1"}, false},
	{"Write", `{"file_path":"b.txt","content":"b\n"}`, []string{"b.txt:0"}, false},
	{"Write", `{"file_path":"crlf.txt","content":"x\nz\n"}`, []string{"crlf.txt:1"}, false},
	{"Write", `{"file_path":"empty.txt","content":"x\n"}`, []string{"empty.txt:1"}, false},
	{"Write", `{"file_path":"a.txt","content":""}`, []string{"a.txt:1"}, false},
	{"Write", `{"file_path":"sub/new.txt","content":"x\n"}`, nil, false},
	{"Write", `{"file_path":"bin.dat","content":"x\n"}`, nil, true},
	{"NotebookEdit", `{"notebook_path":"n.ipynb","cell_id":"c1","new_source":"x = 2"}`, []string{"n.ipynb:1"}, false},
	{applyPatch, `{"operations":[{"op":"replace_text","path":"a.txt","search":"20","replace":"end"},{"op":"append_text","path":"b.txt","text":"c\n"},{"op":"set_json","path":"n.json","pointer":"/a","value":2},{"op":"create_file","path":"c.txt","text":"c\n"}]}`,
		[]string{"a.txt:17", "b.txt:1", "n.json:1", "c.txt:1"}, false},
	{fs.NameWrite, `{"path":"b.txt","content":"c\n"}`, []string{"b.txt:1"}, false},
	{fs.NameWrite, `{"path":"new.txt","content":"c\n"}`, nil, false},
	{fs.NameWrite, `{"path":"bin.dat","content":"c\n"}`, nil, true},
	{fs.NameEdit, `{"path":"a.txt","file_hash":"` + fs.TagOf([]byte(twenty)) + `","ops":"replace 2:\n+two\ndelete 19"}`, []string{"a.txt:1", "a.txt:16"}, false},
	{fs.NameEdit, `{"path":"a.txt","old_string":"\n4\n5\n6","new_string":"\n4\nfive\n6"}`, []string{"a.txt:2"}, false},
	{fs.NameEdit, `{"edits":[{"path":"a.txt","old_string":"\n4\n5\n6","new_string":"\n4\nfive\n6"},{"path":"b.txt","old_string":"b","new_string":"c"}]}`,
		[]string{"a.txt:2", "b.txt:1"}, false},
}

// A question shows the hunks that the call makes if it is allowed, of every
// tool, and to find them out nothing is written.
func TestPreviewsAreWhatIsDone(t *testing.T) {
	cases := previews
	if fs.Trees() != nil {
		cases = append(cases, struct {
			tool, args string
			hunks      []string
			blind      bool
		}{fs.NameEdit, `{"paths":["g.go","h.go"],"ops":[{"pat":"old()","out":"fresh()"}]}`, []string{"g.go:1", "h.go:1"}, false})
	}
	for i, c := range cases {
		t.Run(fmt.Sprint(i, " ", c.tool), func(t *testing.T) {
			dir, set := previewSet(t, previewFiles)
			before := onDisk(t, dir)
			plan, refused := set.Plan(t.Context(), msg.ToolUse{ID: "c", Name: c.tool, Input: c.args})
			require.Nil(t, refused, "%v", refused)
			preview := plan.Preview()
			assert.Equal(t, before, onDisk(t, dir), "planning writes nothing")
			assert.Equal(t, c.blind, plan.Need.Blind)
			var at []string
			hunks := presenter.DiffsFromMeta(preview)
			for _, h := range hunks {
				at = append(at, fmt.Sprintf("%s:%d", strings.TrimPrefix(filepath.ToSlash(h.Path), filepath.ToSlash(dir)+"/"), h.OldStart))
			}
			assert.Equal(t, c.hunks, at)

			result := plan.Run(t.Context())
			require.False(t, result.IsError, resultText(result))
			after := onDisk(t, dir)
			if c.tool != "NotebookEdit" && c.hunks != nil && !strings.Contains(string(result.Meta), "unchanged") {
				assert.Equal(t, presenter.DiffsFromMeta(result.Meta), hunks, "what was shown is what was done")
			}
			assert.Subset(t, changedFiles(before, after), files(hunks, dir))
			if c.hunks != nil && c.hunks[0] != "b.txt:0" {
				assert.ElementsMatch(t, changedFiles(before, after), files(hunks, dir), "all files that change are shown")
			}
		})
	}
}

func changedFiles(before, after map[string]string) []string {
	all := maps.Clone(before)
	maps.Copy(all, after)
	var out []string
	for name, data := range all {
		if was, ok := before[name]; (!ok || was != data) && !strings.HasPrefix(data, "d") {
			out = append(out, name)
		}
	}
	return out
}

// files are those of hunks that change something, each once.
func files(hunks []presenter.FileDiff, dir string) []string {
	var out []string
	for _, h := range hunks {
		name := strings.TrimPrefix(filepath.ToSlash(h.Path), filepath.ToSlash(dir)+"/")
		if (h.OldText == nil || *h.OldText != h.NewText) && (len(out) == 0 || out[len(out)-1] != name) {
			out = append(out, name)
		}
	}
	return out
}

func TestPreviewOfARollback(t *testing.T) {
	for _, c := range []struct {
		name, first, second string
		hunks               int
		blind               bool
	}{
		{"text over text", "a\n", "b\n", 1, false},
		{"text over bytes", "a\n", "\x00\xff", 0, true},
		{"bytes over text", "\x00\xff", "b\n", 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, set := previewSet(t, map[string]string{"f": c.first})
			replaced, err := set.env.Files.Write(t.Context(), fsbackend.Write{Path: filepath.Join(dir, "f"), Data: []byte(c.second)})
			require.NoError(t, err)
			require.NotNil(t, replaced.Before)
			digest := fsbackend.VersionOf([]byte(c.first)).String()[:16]
			plan, refused := set.Plan(t.Context(), msg.ToolUse{ID: "c", Name: fs.NameRollback, Input: `{"path":"f","hash":"` + digest + `"}`})
			require.Nil(t, refused, "%v", refused)
			hunks := presenter.DiffsFromMeta(plan.Preview())
			assert.Len(t, hunks, c.hunks)
			assert.Equal(t, c.blind, plan.Need.Blind)
			assert.Equal(t, c.second, read(t, dir, "f"))
			result := plan.Run(t.Context())
			require.False(t, result.IsError, resultText(result))
			assert.Equal(t, c.first, read(t, dir, "f"))
			assert.Equal(t, hunks, presenter.DiffsFromMeta(result.Meta), "no half of a change is told as the whole")
		})
	}
}

// A preview is bounded, and previews of two changes differ even where what is
// shown of them does not.
func TestPreviewOfALargeChange(t *testing.T) {
	large := func(last string) string {
		return strings.Repeat("another line with some words in it\n", 8_000) + last
	}
	before := strings.Repeat("a line with some words in it\n", 8_000)
	_, set := previewSet(t, map[string]string{"f": before, "many": strings.Repeat("x\n1\n2\n3\n4\n5\n6\n7\n", 2_900)})
	of := func(tool string, args map[string]any) json.RawMessage {
		plan, refused := set.Plan(t.Context(), msg.ToolUse{ID: "c", Name: tool, Input: string(mustJSON(args))})
		require.Nil(t, refused, "%v", refused)
		return plan.Preview()
	}
	one, same, other := of("Write", map[string]any{"file_path": "f", "content": large("a")}),
		of("Write", map[string]any{"file_path": "f", "content": large("a")}), of("Write", map[string]any{"file_path": "f", "content": large("b")})
	assert.LessOrEqual(t, len(one), presenter.MetaMaxBytes+1024)
	assert.True(t, bytes.Equal(one, same))
	assert.False(t, bytes.Equal(one, other))
	many := of("Edit", map[string]any{"file_path": "many", "old_string": "x", "new_string": "y", "replace_all": true})
	assert.LessOrEqual(t, len(many), presenter.MetaMaxBytes+1024)
	assert.NotEmpty(t, presenter.DiffsFromMeta(many), "as many as there is room for")
	assert.Positive(t, presenter.OmittedFromMeta(many))
}

// What was read for a plan is not held while a command of another program
// changes it: the plan made anew shows the file as it is then.
func TestPreviewFollowsTheFile(t *testing.T) {
	dir, set := previewSet(t, previewFiles)
	use := msg.ToolUse{ID: "c", Name: "Edit", Input: `{"file_path":"a.txt","old_string":"8\n9\n","new_string":"8\nnine\n"}`}
	preview := func() json.RawMessage {
		plan, refused := set.Plan(context.Background(), use)
		require.Nil(t, refused)
		return plan.Preview()
	}
	first := preview()
	assert.Equal(t, first, preview())
	writeFile(t, dir, "a.txt", []byte("0\n"+twenty))
	second := preview()
	assert.NotEqual(t, first, second)
	doc, err := text.ParseString("0\n" + twenty)
	require.NoError(t, err)
	assert.Equal(t, presenter.Hunks("a.txt", doc.LF(), strings.Replace(doc.LF(), "9\n", "nine\n", 1)), presenter.DiffsFromMeta(second))
}
