package fsbackend_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/guard"
)

func TestOpenDir(t *testing.T) {
	w := newWorld(t, nil)
	require.NoError(t, os.MkdirAll(filepath.Join(w.root, "a", "b"), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(w.root, "no"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(w.root, "a", "f"), []byte("x"), 0o644))
	guarded := fsbackend.Restrict(w.local, exact(policy(t, guard.Config{Root: w.root, ReadBlock: []string{"no", "a/b/key"}})))
	ctx := context.Background()
	for name, b := range map[string]fsbackend.Backend{"Local": w.local, "Restricted": guarded} {
		t.Run(name, func(t *testing.T) {
			for _, path := range []string{w.root, filepath.Join(w.root, "a"), filepath.Join(w.root, "a", "b")} {
				d, err := fsbackend.OpenDir(ctx, b, path)
				require.NoError(t, err)
				assert.Equal(t, path, d.Real)
				here, err := d.Root.Stat(".")
				require.NoError(t, err)
				there, err := os.Stat(path)
				require.NoError(t, err)
				assert.True(t, os.SameFile(here, there))
				require.NoError(t, d.Close())
			}
			for path, code := range map[string]string{
				filepath.Join(w.root, "a", "f"):      fsbackend.CodeNotDirectory,
				filepath.Join(w.root, "a", "f", "g"): fsbackend.CodeNotDirectory,
				filepath.Join(w.root, "gone"):        fsbackend.CodeNotFound,
				w.outside:                            fsbackend.CodeDenied,
				"a":                                  fsbackend.CodeNotFound,
			} {
				_, err := fsbackend.OpenDir(ctx, b, path)
				assert.Equal(t, code, fsbackend.CodeOf(err), "%s: %v", path, err)
			}
		})
	}
	_, err := guarded.OpenDir(ctx, filepath.Join(w.root, "no"))
	assert.Equal(t, fsbackend.CodeDenied, fsbackend.CodeOf(err))
	d, err := guarded.OpenDir(ctx, filepath.Join(w.root, "a", "b"))
	require.NoError(t, err)
	defer d.Close()
	assert.True(t, d.Readable(filepath.Join(d.Real, "other")))
	assert.False(t, d.Readable(filepath.Join(d.Real, "key")))
	_, err = fsbackend.OpenDir(ctx, plain{w.local}, w.root)
	assert.Equal(t, fsbackend.CodeIO, fsbackend.CodeOf(err))
}

func TestOpenDirThroughLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege here")
	}
	w := newWorld(t, nil)
	require.NoError(t, os.MkdirAll(filepath.Join(w.root, "a"), 0o755))
	require.NoError(t, os.Symlink("a", filepath.Join(w.root, "in")))
	require.NoError(t, os.Symlink(w.outside, filepath.Join(w.root, "out")))
	guarded := fsbackend.Restrict(w.local, exact(policy(t, guard.Config{Root: w.root})))
	for _, b := range []fsbackend.Backend{w.local, guarded} {
		d, err := fsbackend.OpenDir(context.Background(), b, filepath.Join(w.root, "in"))
		require.NoError(t, err)
		assert.Equal(t, filepath.Join(w.root, "a"), d.Real)
		require.NoError(t, d.Close())
		_, err = fsbackend.OpenDir(context.Background(), b, filepath.Join(w.root, "out"))
		assert.Equal(t, fsbackend.CodeDenied, fsbackend.CodeOf(err))
	}
}
