package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/guard"
	"dsh-acp/internal/msg"
	"dsh-acp/internal/patch"
	"dsh-acp/presenter"
)

// patchSet is a set of tools that offers apply_patch, on a folder with files.
func patchSet(t testing.TB, files map[string]string, change ...func(*Config)) (dir string, set *Set) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for name, s := range files {
		writeFile(t, dir, name, []byte(s))
	}
	local, err := fsbackend.NewLocal(fsbackend.Options{Roots: []string{dir}})
	require.NoError(t, err)
	t.Cleanup(func() { local.Close() })
	names, ok := Preset("patch")
	require.True(t, ok)
	c := Config{Cwd: dir, Files: local, Offer: names}
	for _, f := range change {
		f(&c)
	}
	set, err = New(c)
	require.NoError(t, err)
	return dir, set
}

func operations(list ...string) string { return `{"operations":[` + strings.Join(list, ",") + `]}` }

func replaceOp(path, search, replace string) string {
	return fmt.Sprintf(`{"op":"replace_text","path":%q,"search":%q,"replace":%q}`, path, search, replace)
}

func TestPatchNeeds(t *testing.T) {
	dir, set := patchSet(t, map[string]string{"a.txt": "one\n", "d/b.txt": "two\n"})
	ops := operations(replaceOp("d/b.txt", "two", "2"), replaceOp("a.txt", "one", "1"), replaceOp("./d/../d/b.txt", "\n", "!\n"))
	p, refused := set.Plan(t.Context(), msg.ToolUse{Name: applyPatch, Input: ops})
	require.Nil(t, refused)
	assert.Equal(t, Need{Access: Change, Paths: []string{filepath.Join(dir, "d/b.txt"), filepath.Join(dir, "a.txt")}}, p.Need)
	p, refused = set.Plan(t.Context(), msg.ToolUse{Name: applyPatch, Input: strings.TrimSuffix(ops, "}") + `,"dryRun":true}`})
	require.Nil(t, refused)
	assert.Equal(t, Look, p.Need.Access, "a preview changes nothing")
	assert.Equal(t, "one\n", read(t, dir, "a.txt"), "a plan changes nothing")
}

// TestPatchMeetsOtherFiles: what was planned is checked again.
func TestPatchMeetsOtherFiles(t *testing.T) {
	for _, c := range []struct{ name, file, text, code string }{
		{"elsewhere", "a.txt", "zero\none\n", ""},
		{"gone", "a.txt", "zero\n", patch.CodeMatchCount},
		{"twice", "a.txt", "one\none\n", patch.CodeMatchCount},
		{"created", "n.txt", "theirs\n", patch.CodeAlreadyExists},
		{"not text", "a.txt", "one\xff\n", patch.CodeUnsupportedEncoding},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, set := patchSet(t, map[string]string{"a.txt": "one\n", "b.txt": "two\n"})
			p, refused := set.Plan(t.Context(), msg.ToolUse{Name: applyPatch, Input: operations(
				replaceOp("b.txt", "two", "2"), replaceOp("a.txt", "one", "1"), `{"op":"create_file","path":"n.txt","text":""}`)})
			require.Nil(t, refused)
			require.NoError(t, os.WriteFile(filepath.Join(dir, c.file), []byte(c.text), 0o644))
			r := p.Run(t.Context())
			if c.code == "" {
				require.False(t, r.IsError, r.Content.PlainText())
				assert.Equal(t, "zero\n1\n", read(t, dir, "a.txt"))
				return
			}
			require.NotNil(t, r.Error)
			assert.Equal(t, c.code, r.Error.Code)
			assert.Equal(t, c.text, read(t, dir, c.file))
			assert.Equal(t, "two\n", read(t, dir, "b.txt"))
		})
	}
}

func TestPatchCancelled(t *testing.T) {
	dir, set := patchSet(t, map[string]string{"a.txt": "one\n"})
	ops := operations(replaceOp("a.txt", "one", "1"))
	p, refused := set.Plan(t.Context(), msg.ToolUse{Name: applyPatch, Input: ops})
	require.Nil(t, refused)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := p.Run(ctx)
	require.NotNil(t, r.Error)
	assert.Equal(t, patch.CodeAborted, r.Error.Code)
	assert.Equal(t, "one\n", read(t, dir, "a.txt"))
	_, refused = set.Plan(ctx, msg.ToolUse{Name: applyPatch, Input: ops})
	require.NotNil(t, refused)
	assert.Equal(t, patch.CodeAborted, refused.Error.Code)
}

func TestPatchThroughLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("making links needs a privilege on Windows")
	}
	dir, set := patchSet(t, map[string]string{"d/a.txt": "one\ntwo\n", "locked.txt": "x\n"})
	require.NoError(t, os.Symlink("d", filepath.Join(dir, "l")))
	require.NoError(t, os.Symlink("nowhere", filepath.Join(dir, "broken")))
	require.NoError(t, os.Symlink(t.TempDir(), filepath.Join(dir, "out")))
	require.NoError(t, os.Chmod(filepath.Join(dir, "locked.txt"), 0o444))
	for _, c := range []struct{ name, ops, code, says string }{
		{"two ways to one file", operations(replaceOp("d/a.txt", "one", "1"), replaceOp("l/a.txt", "two", "2")), "", "1 file(s), 2 span(s)"},
		{"and the same place", operations(replaceOp("d/a.txt", "1", "x"), replaceOp("l/a.txt", "1", "y")), patch.CodeOverlap, "d/a.txt"},
		{"create over a broken link", operations(`{"op":"create_file","path":"broken","text":"x"}`), patch.CodeAlreadyExists, "broken"},
		{"create below a broken link", operations(`{"op":"create_file","path":"broken/x","text":"x","parents":true}`), patch.CodeNotDirectory, "broken"},
		{"edit a broken link", operations(replaceOp("broken", "x", "y")), patch.CodeNotRegular, "broken"},
		{"out of the folder", operations(replaceOp("d/a.txt", "1", "x"), replaceOp("out/f", "x", "y")), patch.CodePathDenied, "out/f"},
		{"create out of the folder", operations(`{"op":"create_file","path":"out/f","text":"x"}`), patch.CodePathDenied, "out/f"},
		{"read-only", operations(replaceOp("d/a.txt", "1", "x"), replaceOp("locked.txt", "x", "y")), fsbackend.CodePermission, "read-only"},
		{"new folders by two ways", operations(`{"op":"create_file","path":"d/n/x","text":"x","parents":true}`, `{"op":"create_file","path":"l/n/y","text":"y","parents":true}`), "", "created directory d/n/"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := call(t, set, applyPatch, c.ops)
			assert.Contains(t, r.Content.PlainText(), c.says)
			if c.code == "" {
				assert.False(t, r.IsError)
			} else if assert.NotNil(t, r.Error, r.Content.PlainText()) {
				assert.Equal(t, c.code, r.Error.Code)
			}
		})
	}
	assert.Equal(t, "1\n2\n", read(t, dir, "d/a.txt"))
	assert.Equal(t, "y", read(t, dir, "d/n/y"))
}

func TestPatchAsksTheGuardFirst(t *testing.T) {
	dir, set := patchSet(t, map[string]string{"a.txt": "one\n", "secret/b.txt": "two\n"}, func(c *Config) {
		policy, err := guard.New(guard.Config{Root: c.Cwd, Block: []string{"secret"}})
		require.NoError(t, err)
		c.Files = fsbackend.Restrict(c.Files, fsbackend.Limits{Policy: policy})
	})
	r := call(t, set, applyPatch, operations(replaceOp("a.txt", "one", "1"), replaceOp("secret/b.txt", "two", "2"),
		`{"op":"create_file","path":"secret/n","text":""}`))
	require.NotNil(t, r.Error)
	assert.Equal(t, patch.CodePathDenied, r.Error.Code)
	assert.Contains(t, r.Content.PlainText(), "2 operations cannot be done")
	assert.Equal(t, "one\n", read(t, dir, "a.txt"))
}

func TestPatchLimits(t *testing.T) {
	_, set := patchSet(t, map[string]string{"a.txt": "one two\n", "b.txt": "x", "c.txt": "x"}, func(c *Config) {
		c.Patch.Limits = patch.Limits{Operations: 3, Files: 2, FileSize: 7}
	})
	for _, c := range []struct{ ops, says string }{
		{operations(replaceOp("a.txt", "one", "1")), "8 bytes, the limit is 7"},
		{operations(replaceOp("a.txt", "one", "1"), replaceOp("b.txt", "x", "1"), replaceOp("c.txt", "x", "1")), "3 files, the limit is 2"},
		{operations(replaceOp("b.txt", "x", "1"), replaceOp("b.txt", "x", "1"), replaceOp("b.txt", "x", "1"), replaceOp("b.txt", "x", "1")), "4, the limit is 3"},
	} {
		r := call(t, set, applyPatch, c.ops)
		require.NotNil(t, r.Error)
		assert.Equal(t, patch.CodeLimitExceeded, r.Error.Code)
		assert.Contains(t, r.Content.PlainText(), c.says)
	}
}

// TestPatchNotesWhatItWrote: the session knows the files that it changed, and
// only those.
func TestPatchNotesWhatItWrote(t *testing.T) {
	dir, set := patchSet(t, map[string]string{"a.txt": "one\n", "b.txt": "two\n"})
	r := call(t, set, applyPatch, operations(replaceOp("a.txt", "one", "1"), replaceOp("b.txt", "two", "two"), `{"op":"create_file","path":"n.txt","text":"n"}`))
	require.False(t, r.IsError, r.Content.PlainText())
	assert.Contains(t, r.Content.PlainText(), "M b.txt\n  (no change: operation 1)")
	for name, code := range map[string]string{"a.txt": "", "n.txt": "", "b.txt": fsbackend.CodeNotObserved} {
		w := call(t, set, "write", fmt.Sprintf(`{"file_path":%q,"content":"all\n"}`, name))
		if code == "" {
			assert.False(t, w.IsError, w.Content.PlainText())
		} else if assert.NotNil(t, w.Error) {
			assert.Equal(t, code, w.Error.Code)
		}
	}
	assert.Equal(t, "two\n", read(t, dir, "b.txt"))
}

func TestPatchTellsOfOtherNames(t *testing.T) {
	dir, set := patchSet(t, map[string]string{"a.txt": "one\n"})
	if err := os.Link(filepath.Join(dir, "a.txt"), filepath.Join(dir, "b.txt")); err != nil {
		t.Skip("no hard links here: ", err)
	}
	r := call(t, set, applyPatch, operations(replaceOp("a.txt", "one", "1")))
	require.False(t, r.IsError, r.Content.PlainText())
	assert.Contains(t, r.Content.PlainText(), "keeps the old text")
}

func TestPatchCards(t *testing.T) {
	var cards applyPatchCards
	many := operations(replaceOp("a", "1", "2"), replaceOp("b", "1", "2"), replaceOp("./a", "3", "4"), replaceOp("c", "1", "2"), replaceOp("d", "1", "2"))
	card := cards.Call(json.RawMessage(many), true).(presenter.Diff)
	assert.Equal(t, "Edit", card.Title)
	assert.Equal(t, []string{"a", "b", "./a", "c", "d"}, card.Files)
	assert.Len(t, card.Diffs, 5)
	assert.Nil(t, cards.Call(json.RawMessage(many), false).(presenter.Diff).Diffs, "blocks wait for the whole call")
	for _, args := range []string{``, `{}`, `[]`, `{"operations":[{}]}`, `{"operations":"x"}`, `{"operations":[{"op":"append_text"`} {
		card := cards.Call(json.RawMessage(args), true).(presenter.Diff)
		assert.Equal(t, "Apply patch", card.Title, args)
		assert.Empty(t, card.Diffs, args)
	}
	large := strings.Repeat("x", presenter.MetaMaxBytes)
	a := &appliedPatch{diffs: []presenter.FileDiff{{Path: "a", NewText: large}}}
	kept := cards.Result(json.RawMessage(many), a.result()).(presenter.Diff)
	assert.Len(t, kept.Diffs, 5, "where no hunk could be kept the snippets stay")
	assert.Equal(t, 1, kept.Truncated)
	assert.True(t, cards.Result(json.RawMessage(many), (&appliedPatch{}).result()).(presenter.Diff).Kept)
}

func TestPatchInputDefaults(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{"operations":[]}`, `{"dryRun":false,"operations":[]}`},
		{` {  "operations":[1]}`, `{"dryRun":false,"operations":[1]}`},
		{`{"operations":[],"dryRun":true}`, `{"operations":[],"dryRun":true}`},
		{`{}`, `{}`},
		{`*** Begin Patch`, `*** Begin Patch`},
	} {
		assert.Equal(t, c.want, string(applyPatchCards{}.Input(json.RawMessage(c.in))))
	}
}

// FuzzPatchCall: a card for any arguments, and a refusal changes nothing.
func FuzzPatchCall(f *testing.F) {
	for _, s := range []string{
		trialCall, operations(replaceOp("a.txt", "one", "1")), `{"patch":"*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+1\n*** End Patch"}`,
		operations(`{"op":"set_json","path":"c.json","pointer":"/a","value":[1,{"b":null}]}`), `{"operations":[{"op":"append_text","path":"../x","text":"y"}]}`,
		operations(`{"op":"create_file","path":"a.txt/x/../y","text":"","parents":true}`), "\xff", `{"operations":[null,1,{}]}`,
	} {
		f.Add(s)
	}
	cwd, err := filepath.Abs(string(filepath.Separator) + "w")
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, raw string) {
		mem, err := fsbackend.NewMem(fsbackend.MemOptions{Roots: []string{cwd}})
		require.NoError(t, err)
		before := map[string]string{"a.txt": "one\ntwo\n", "c.json": "{\"a\": 1}"}
		for name, s := range before {
			_, err := mem.Write(t.Context(), fsbackend.Write{Path: filepath.Join(cwd, name), Data: []byte(s)})
			require.NoError(t, err)
		}
		set, err := New(Config{Cwd: cwd, Files: mem, Offer: []string{applyPatch}})
		require.NoError(t, err)
		r := call(t, set, applyPatch, raw)
		cards := applyPatchCards{}
		cards.Call(json.RawMessage(raw), true)
		cards.Result(json.RawMessage(raw), r)
		cards.Input(json.RawMessage(raw))
		if r.Meta != nil {
			require.NoError(t, msg.Admissible(r.Meta))
		}
		if !r.IsError {
			return
		}
		for name, s := range before {
			file, err := mem.Read(t.Context(), filepath.Join(cwd, name))
			require.NoError(t, err)
			require.Equal(t, s, string(file.Data), "%s changed, and yet: %s", name, r.Content.PlainText())
		}
	})
}
