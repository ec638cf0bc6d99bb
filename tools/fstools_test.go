package tools

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/msg"
	"dsh-acp/presenter"
	"dsh-acp/tools/fs"
)

// hashlineSet makes a folder with files, kept versions and the preset.
func hashlineSet(t *testing.T, c HashlineConfig, files map[string]string) (string, *Set) {
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
	offer, ok := Preset("hashline")
	require.True(t, ok)
	set, err := New(Config{Cwd: dir, Files: kept.Over(local), Offer: offer, Hashline: c})
	require.NoError(t, err)
	return dir, set
}

// TestHashlineSession records what a client sees of a session with the four
// tools: files before, the calls, then events, live updates and those of a
// replay. A call is named by its id and its tool.
func TestHashlineSession(t *testing.T) {
	const file = "testdata/hashline-session.txtar"
	ar, err := txtar.ParseFile(file)
	require.NoError(t, err)
	dir, set := hashlineSet(t, HashlineConfig{}, nil)
	s := &shownSession{t: t, dir: filepath.ToSlash(dir)}
	s.presenter = presenter.New(s.config())
	out := &txtar.Archive{Comment: ar.Comment}
	for _, f := range ar.Files {
		kind, rest, _ := strings.Cut(f.Name, " ")
		switch {
		case strings.HasPrefix(f.Name, "before/"):
			writeFile(t, dir, strings.TrimPrefix(f.Name, "before/"), f.Data)
			out.Files = append(out.Files, f)
		case kind == "external":
			writeFile(t, dir, rest, f.Data)
			out.Files = append(out.Files, f)
		case kind == "call":
			id, name, _ := strings.Cut(rest, " ")
			s.call(set, name, id, strings.TrimSpace(string(f.Data)))
			out.Files = append(out.Files, f)
		}
	}
	replayed, _ := s.replay()
	out.Files = append(out.Files,
		txtar.File{Name: "events", Data: []byte(s.eventsAsText.String())},
		txtar.File{Name: "live", Data: []byte(s.live.String())},
		txtar.File{Name: "replay", Data: []byte(replayed)})
	if *update {
		require.NoError(t, os.WriteFile(file, txtar.Format(out), 0o644))
		return
	}
	assert.Equal(t, string(txtar.Format(ar)), string(txtar.Format(out)))
}

func TestHashlineToolsShareWhatWasSeen(t *testing.T) {
	dir, set := hashlineSet(t, HashlineConfig{}, map[string]string{"a.txt": "alpha\nbeta\ngamma\n"})
	r := call(t, set, "fs_write", `{"path":"a.txt","content":"x\n"}`)
	assert.Equal(t, fsbackend.CodeNotObserved, r.Error.Code)
	r = call(t, set, "fs_write", `{"path":"a.txt","content":"x\n","file_hash":"b6c1"}`)
	require.False(t, r.IsError, resultText(r))
	r = call(t, set, "fs_write", `{"path":"a.txt","content":"y\n","file_hash":null}`)
	require.False(t, r.IsError, resultText(r))
	assert.Equal(t, "y\n", read(t, dir, "a.txt"))
}

func TestHashlineNeeds(t *testing.T) {
	_, set := hashlineSet(t, HashlineConfig{}, map[string]string{"a.txt": "alpha\nbeta\ngamma\n", "b.txt": "b\n"})
	for _, c := range []struct {
		tool, args string
		access     Access
		paths      int
	}{
		{"fs_read", `{"path":"a.txt"}`, Look, 1},
		{"fs_write", `{"path":"n.txt","content":""}`, Change, 1},
		{"fs_edit", `{"path":"a.txt","file_hash":"B6C1","ops":"delete 1"}`, Change, 1},
		{"fs_edit", `{"path":"a.txt","file_hash":"B6C1","ops":"delete 1","dry_run":true}`, Look, 1},
		{"fs_edit", `{"edits":[{"path":"a.txt","old_string":"alpha","new_string":"b"},{"path":"b.txt","old_string":"b","new_string":"c"}]}`, Change, 2},
	} {
		plan, refused := set.Plan(t.Context(), msg.ToolUse{ID: "c", Name: c.tool, Input: c.args})
		require.Nil(t, refused, "%s %v", c.args, refused)
		assert.Equal(t, c.access, plan.Need.Access, c.args)
		assert.Len(t, plan.Need.Paths, c.paths, c.args)
	}
	for args, code := range map[string]string{
		`{}`: string("EDIT_ARGS"),
		`{"path":"a.txt","file_hash":"BEEF","ops":"delete 1"}`:   "EDIT_STALE",
		`{"path":"a.txt","ops":[{"pat":"a","out":"b"}]}`:         fs.CodeNoAST,
		`{"path":"a.txt","old_string":"\ud800","new_string":""}`: CodeInvalidUnicode,
	} {
		plan, refused := set.Plan(t.Context(), msg.ToolUse{ID: "c", Name: "fs_edit", Input: args})
		require.Nil(t, plan, args)
		assert.Equal(t, code, refused.Error.Code, fmt.Sprint(args, resultText(*refused)))
	}
}

func TestHashlineSpecsFollowTheEngine(t *testing.T) {
	_, set := hashlineSet(t, HashlineConfig{Engine: fs.Replace}, nil)
	want := fs.Describe(fs.Offer{Engine: fs.Replace})
	specs := set.Specs()
	for i, d := range want {
		assert.Equal(t, d.Name, specs[i].Name)
		assert.Equal(t, d.Description, specs[i].Description)
		assert.JSONEq(t, string(d.InputSchema), string(specs[i].InputSchema))
	}
}
