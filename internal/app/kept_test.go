package app

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/acptest"
	"dsh-acp/internal/config"
)

// A permission that is kept holds in later sessions of its folder and in no
// other folder, until it is taken back, by whichever session.
func TestPermissionsKeptForAProject(t *testing.T) {
	p := newPlace(t)
	other := filepath.Join(filepath.Dir(p.root), "other")
	require.NoError(t, os.Mkdir(other, 0o755))
	a := p.write("a.txt", "1\n")
	c, stop := p.agent()
	questions := 0
	ask := func(q acptest.Question) any {
		questions++
		return q.Pick("allow_always")
	}
	c.OnQuestion(ask)
	change := func(c *acptest.Client, id, path string) int {
		before := questions
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		p.plays(edit("t", path, string(b), string(b)+"x"), say("done"))
		p.prompt(c, id, "change it")
		now, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, string(b)+"x", string(now))
		return questions - before
	}
	first := p.newSession(c)
	assert.Equal(t, 1, change(c, first, a))
	assert.Equal(t, 0, change(c, first, a))
	assert.Equal(t, 1, change(c, p.newSession(c), a), "what holds for one session")
	assert.Contains(t, p.command(c, first, "/permissions keep 1"), "every session that is opened in "+p.root)
	assert.Contains(t, p.command(c, first, "/permissions"), "2. to edit files in the project's folder (in this project)")
	assert.Contains(t, p.command(c, first, "/permissions keep 2"), "already")
	second := p.newSession(c)
	assert.Equal(t, 0, change(c, second, a), "in a new session")
	entries, err := os.ReadDir(p.root)
	require.NoError(t, err)
	assert.Len(t, entries, 1, "nothing is put into the project")
	stop()

	c, _ = p.agent()
	c.OnQuestion(ask)
	third := p.newSession(c)
	assert.Equal(t, 0, change(c, third, a), "in another process")

	outside := filepath.Join(other, "o.txt")
	require.NoError(t, os.WriteFile(outside, []byte("o\n"), 0o644))
	var opened struct {
		SessionID string `json:"sessionId"`
	}
	setup := map[string]any{"cwd": p.root, "mcpServers": []any{}, "additionalDirectories": []string{other}}
	require.NoError(t, c.Call("session/new", setup, &opened))
	assert.Equal(t, 1, change(c, opened.SessionID, outside), "a further folder of a session is not the project")
	setup = map[string]any{"cwd": other, "mcpServers": []any{}}
	require.NoError(t, c.Call("session/new", setup, &opened))
	assert.Equal(t, 1, change(c, opened.SessionID, outside), "another project")

	list := p.command(c, third, "/permissions")
	assert.Contains(t, list, "1. to edit files in the project's folder (in this project)")
	assert.Contains(t, p.command(c, third, "/permissions revoke 1"), "You will be asked again")
	assert.Equal(t, 1, change(c, third, a))
	assert.Contains(t, p.command(c, third, "/permissions revoke all"), "Taken back for the session")
	assert.Contains(t, p.command(c, third, "/permissions"), "no permission that lasts")
}

// A file of permissions that somebody else could have written gives none.
func TestAFileOfPermissionsThatIsNotTrusted(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	of := func(name string) *project {
		folder := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(folder, 0o755))
		p, err := projectOf(config.Config{StateDir: filepath.Join(dir, "state")}, folder)
		require.NoError(t, err)
		return p
	}
	a, b := of("a"), of("b")
	require.NoError(t, os.Symlink(filepath.Join(dir, "a"), filepath.Join(dir, "link")))
	assert.Equal(t, a, of("link"), "a project is known by its real path")
	require.NoError(t, a.Keep("edit"))
	require.NoError(t, a.Keep("edit"))
	require.NoError(t, a.Keep("execute:go test"))
	scopes, err := a.List()
	require.NoError(t, err)
	assert.Equal(t, []string{"edit", "execute:go test"}, scopes)
	info, err := os.Stat(a.file)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	data, err := os.ReadFile(a.file)
	require.NoError(t, err)
	for why, spoil := range map[string]func(){
		"is about the folder": func() { require.NoError(t, os.WriteFile(b.file, data, 0o600)) },
		"others may write it": func() {
			require.NoError(t, os.WriteFile(b.file, data, 0o600))
			require.NoError(t, os.Chmod(b.file, 0o666))
		},
		"no plain file": func() { require.NoError(t, os.Symlink(a.file, b.file)) },
		"not what this": func() { require.NoError(t, os.WriteFile(b.file, []byte(`["edit"]`), 0o600)) },
	} {
		spoil()
		scopes, err := b.List()
		assert.ErrorContains(t, err, why)
		assert.ErrorContains(t, err, b.file)
		assert.Empty(t, scopes)
		assert.ErrorContains(t, b.Keep("edit"), why, "it is not replaced either")
		require.NoError(t, os.Remove(b.file))
	}
	require.NoError(t, b.Drop("edit"), "what is not there")
}

func TestPermissionsKeptAtOnce(t *testing.T) {
	p, err := projectOf(config.Config{StateDir: filepath.Join(t.TempDir(), "state")}, t.TempDir())
	require.NoError(t, err)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() { assert.NoError(t, p.Keep(fmt.Sprint("execute:p", i))) })
	}
	all.Wait()
	scopes, err := p.List()
	require.NoError(t, err)
	assert.Len(t, scopes, 8)
}

// Whoever may edit all files of a folder may not thereby write what is allowed.
func TestToolsDoNotReachThePermissions(t *testing.T) {
	p := newPlace(t)
	p.env["DSH_STATE_DIR"] = filepath.Join(p.root, "state")
	p.env["XDG_CONFIG_HOME"] = filepath.Join(p.root, "config")
	p.env["DSH_MODE"] = "bypassPermissions"
	require.NoError(t, os.MkdirAll(filepath.Join(p.root, "config", "dsh-acp"), 0o755))
	keys := p.write("config/dsh-acp/keys.json", `{"k": "v"}`)
	c, _ := p.agent()
	id := p.newSession(c)
	says := p.calls(c, id,
		[2]string{"Write", `{"file_path": "state/projects/x.json", "content": "{}"}`},
		[2]string{"Write", `{"file_path": "config/dsh-acp/settings.json", "content": "{}"}`},
		[2]string{"Read", `{"file_path": "` + filepath.ToSlash(keys) + `"}`},
		[2]string{"Write", `{"file_path": "free.txt", "content": "x"}`},
	)
	for _, s := range says[:3] {
		assert.Contains(t, s, denied)
	}
	assert.NotContains(t, says[3], denied)
}
