package fsbackend_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/guard"
)

// What a change needs to see of a file is decided by the lists for writing,
// whatever those for reading say.
func TestReadForChange(t *testing.T) {
	w := newWorld(t, nil)
	w.put("a", "a\n")
	w.put("shut", "s\n")
	w.put("quiet", "q\n")
	w.put("../outside/out", "o\n")
	w.put("../outside/in", "i\n")
	p := policy(t, guard.Config{
		Root: w.root, Allow: []string{"../outside/out"}, Block: []string{"shut"},
		ReadAllow: []string{"../outside/in"}, ReadBlock: []string{"quiet"},
	})
	kept, err := fsbackend.OpenJournal(fsbackend.JournalOptions{Dir: t.TempDir()})
	require.NoError(t, err)
	defer kept.Close()
	const denied = fsbackend.CodeDenied
	for path, want := range map[string]struct{ read, change string }{
		"a":              {"", ""},
		"shut":           {"", denied},
		"quiet":          {denied, ""},
		"../outside/out": {denied, ""},
		"../outside/in":  {"", denied},
		"none":           {fsbackend.CodeNotFound, fsbackend.CodeNotFound},
	} {
		for name, b := range map[string]fsbackend.Backend{
			"guard":   fsbackend.Restrict(w.local, exact(p)),
			"journal": kept.Over(fsbackend.Restrict(w.local, exact(p))),
		} {
			_, err := b.Read(t.Context(), w.path(path))
			assert.Equal(t, want.read, fsbackend.CodeOf(err), "%s: read %s: %v", name, path, err)
			_, err = fsbackend.ReadForChange(t.Context(), b, w.path(path))
			assert.Equal(t, want.change, fsbackend.CodeOf(err), "%s: change %s: %v", name, path, err)
		}
	}
	f, err := fsbackend.ReadForChange(t.Context(), w.local, w.path("a"))
	require.NoError(t, err)
	assert.Equal(t, "a\n", string(f.Data), "without a policy it is Read")

	// A rollback is a change too.
	b := kept.Over(fsbackend.Restrict(w.local, exact(p)))
	_, err = b.Write(t.Context(), fsbackend.Write{Path: w.path("quiet"), Data: []byte("new\n")})
	require.NoError(t, err)
	_, err = b.Restore(t.Context(), w.path("quiet"), "")
	require.NoError(t, err)
	assert.Equal(t, "q\n", w.text("quiet"))
}
