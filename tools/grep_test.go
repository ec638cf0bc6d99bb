package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/guard"
	"dsh-acp/internal/msg"
	"dsh-acp/presenter"
)

// searchSet makes the searches over some files. With a block list they pass
// a guard.
func searchSet(t *testing.T, cwd string, files map[string]string, block ...string) (dir string, set *Set) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	local, err := fsbackend.NewLocal(fsbackend.Options{Roots: []string{dir}})
	require.NoError(t, err)
	t.Cleanup(func() { local.Close() })
	var backend fsbackend.Backend = local
	if block != nil {
		p, err := guard.New(guard.Config{Root: dir, ReadBlock: block, Style: guard.Style{Windows: runtime.GOOS == "windows"}})
		require.NoError(t, err)
		backend = fsbackend.Restrict(local, fsbackend.Limits{Policy: p})
	}
	set, err = New(Config{Cwd: filepath.Join(dir, cwd), Roots: []string{dir}, Files: backend, Offer: []string{"Glob", "Grep", "LS"}})
	require.NoError(t, err)
	return dir, set
}

func sought(t *testing.T, set *Set, tool, args string) string {
	r := call(t, set, tool, args)
	require.False(t, r.IsError, "%s", r.Content.PlainText())
	return r.Content.PlainText()
}

func TestSearchesPassTheGuard(t *testing.T) {
	files := map[string]string{"a": "x\n", "secret/b": "x\n", "d/key": "x\n", "d/c": "x\n"}
	_, set := searchSet(t, "", files, "secret", "d/key")
	for _, c := range []struct{ tool, args, want string }{
		{"Glob", `{"pattern":"*"}`, "a d/c"},
		{"Grep", `{"pattern":"x","output_mode":"count"}`, "a:1 d/c:1"},
		{"LS", `{}`, "a d/"},
		{"LS", `{"path":"d"}`, "c"},
	} {
		got := strings.Fields(strings.Split(sought(t, set, c.tool, c.args), "\n\n")[0])
		assert.ElementsMatch(t, strings.Fields(c.want), got, c.tool)
	}
	for _, c := range []struct{ tool, args string }{
		{"Glob", `{"pattern":"*","path":"secret"}`},
		{"Glob", `{"pattern":"secret/*"}`},
		{"Grep", `{"pattern":"x","path":"secret"}`},
		{"Grep", `{"pattern":"x","path":"d/key"}`},
		{"LS", `{"path":"secret"}`},
	} {
		r := call(t, set, c.tool, c.args)
		require.True(t, r.IsError, "%s: %s", c.args, r.Content.PlainText())
		assert.Equal(t, fsbackend.CodeDenied, r.Error.Code)
	}
}

func TestIgnoreFilesAboveCount(t *testing.T) {
	files := map[string]string{".gitignore": "*.log\n/s/only\n", ".git/HEAD": "", "s/a": "x\n", "s/t/b.log": "x\n", "s/only": "x\n", "s/t/c": "x\n", "top": "x\n"}
	dir, set := searchSet(t, "s", files)
	assert.ElementsMatch(t, []string{"a", "t/c"}, strings.Fields(sought(t, set, "Glob", `{"pattern":"**"}`)))
	assert.Equal(t, "t/c", sought(t, set, "Glob", `{"pattern":"t/*"}`))
	// What lies above a repository's top says nothing in it.
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "s", ".git"), 0o755))
	assert.Len(t, strings.Fields(sought(t, set, "Glob", `{"pattern":"**"}`)), 4)
	// Outside of the session's folder paths are absolute.
	assert.Equal(t, filepath.Join(dir, "top"), sought(t, set, "Glob", fmt.Sprintf(`{"pattern":"to*","path":%q}`, dir)))
}

func TestResultsAreBounded(t *testing.T) {
	files := map[string]string{}
	for i := range 400 {
		files[fmt.Sprintf("d/%03d.txt", i)] = strings.Repeat("needle "+strings.Repeat("y", 300)+"\n", 3)
	}
	_, set := searchSet(t, "", files)
	text := sought(t, set, "Glob", `{"pattern":"*.txt"}`)
	assert.Equal(t, 250, strings.Count(text, ".txt"))
	assert.Contains(t, text, "\n\n(250 of 400 files, those that were changed last;")
	text = sought(t, set, "Grep", `{"pattern":"needle"}`)
	assert.True(t, strings.HasPrefix(text, "Found 400 files\n"))
	assert.True(t, strings.HasSuffix(text, "\n\n(files 1 to 250 of 400; go on with offset 250, or narrow the search)"), text[len(text)-200:])
	text = sought(t, set, "Grep", `{"pattern":"needle","output_mode":"content","head_limit":0}`)
	assert.Less(t, len(text), maxFoundBytes+1000)
	assert.Contains(t, text, " of 1200; go on with offset ")
}

func TestSearchIsCancelled(t *testing.T) {
	_, set := searchSet(t, "", map[string]string{"a": "x\n"})
	for _, c := range []struct{ tool, args string }{{"Glob", `{"pattern":"*"}`}, {"Grep", `{"pattern":"x"}`}} {
		ctx, cancel := context.WithCancel(context.Background())
		plan, refused := set.Plan(ctx, msg.ToolUse{ID: "c", Name: c.tool, Input: c.args})
		require.Nil(t, refused)
		assert.Equal(t, Look, plan.Need.Access)
		cancel()
		r := plan.Run(ctx)
		require.True(t, r.IsError)
		assert.Equal(t, msg.CodeAborted, r.Error.Code)
	}
}

func TestSearchNeedsFolders(t *testing.T) {
	mem, err := fsbackend.NewMem(fsbackend.MemOptions{Roots: []string{t.TempDir()}, Unrestricted: true})
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, mem.Put(filepath.Join(dir, "a"), []byte("x\n"), 0))
	set, err := New(Config{Cwd: dir, Files: mem, Offer: []string{"Glob", "Grep"}})
	require.NoError(t, err)
	r := call(t, set, "Glob", `{"pattern":"*"}`)
	require.True(t, r.IsError)
	assert.Contains(t, r.Content.PlainText(), "cannot be searched")
	assert.Equal(t, "Found 1 file\na", sought(t, set, "Grep", `{"pattern":"x","path":"a"}`), "one file can be read all the same")
}

func TestSearchCards(t *testing.T) {
	for _, c := range []struct{ tool, args, title string }{
		{"Glob", `{}`, "Find"},
		{"Glob", `{"pattern":"*.go"}`, "Find `*.go`"},
		{"Glob", `{"pattern":"*.go","path":"src"}`, "Find `src` `*.go`"},
		{"Grep", `{}`, "grep"},
		{"Grep", `{"pattern":"a"}`, `grep "a"`},
		{"Grep", `{"pattern":"a","path":"src","output_mode":"content"}`, `grep "a" src`},
		{"Grep", `{"pattern":"pattern","path":"path","-i":true,"-n":true,"-C":2,"head_limit":5,"glob":"*.go"}`, `grep -i -n -C 2 | head -5 --include="*.go" "pattern" path`},
		{"Grep", `{"pattern":"a","-A":0,"-B":1,"-n":false,"output_mode":"files_with_matches"}`, `grep -A 0 -B 1 -l "a"`},
		{"Grep", `{"pattern":"a","type":"go","multiline":true,"output_mode":"count"}`, `grep -c --type=go -P "a"`},
		{"Grep", `{"pattern":7,"-i":"yes","-C":-1,"head_limit":1e99}`, "grep"},
		{"LS", `{}`, "List the folder"},
		{"LS", `{"path":"src"}`, "List `src`"},
	} {
		card, ok := Presenters()[c.tool].Call(json.RawMessage(c.args), true).(presenter.Generic)
		require.True(t, ok)
		assert.Equal(t, c.title, card.Title)
		assert.Equal(t, presenter.KindSearch, card.Kind)
		assert.Equal(t, c.tool == "Grep", card.Locations == nil, "only Grep has no such field: %s", c.args)
	}
}

// TestGrepByRipgrep: the same result by another program, and without it where
// it does not run.
func TestGrepByRipgrep(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one\ntwo\n"), 0o644))
	local, err := fsbackend.NewLocal(fsbackend.Options{Roots: []string{dir}})
	require.NoError(t, err)
	defer local.Close()
	programs := []string{filepath.Join(dir, "gone")}
	if rg, err := exec.LookPath("rg"); err == nil {
		programs = append(programs, rg)
	}
	for _, program := range programs {
		set, err := New(Config{Cwd: dir, Files: local, Offer: []string{"Grep"}, Ripgrep: program})
		require.NoError(t, err)
		assert.Equal(t, "a.txt:2:two", plain(call(t, set, "Grep", `{"pattern":"tw","output_mode":"content"}`)), program)
	}
}
