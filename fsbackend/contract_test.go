package fsbackend_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"dsh-acp/fsbackend"
	"dsh-acp/fsbackend/fsbackendtest"
)

const (
	beforeMax = 4000
	maxFile   = 20000
)

func TestLocalContract(t *testing.T) {
	fsbackendtest.Run(t, func(t *testing.T) fsbackendtest.Fixture {
		dir := realTemp(t)
		root, out := filepath.Join(dir, "work"), filepath.Join(dir, "outside")
		require.NoError(t, os.Mkdir(root, 0o777))
		require.NoError(t, os.Mkdir(out, 0o777))
		faults := fsbackend.NewFaults()
		l, err := fsbackend.NewLocal(fsbackend.Options{Roots: []string{root}, BeforeMax: beforeMax, MaxFile: maxFile, Faults: faults})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, l.Close()) })
		return fsbackendtest.Fixture{
			Backend: l, Root: root, Outside: out, World: fsbackendtest.Disk{}, Faults: faults, BeforeMax: beforeMax, MaxFile: maxFile,
		}
	})
}

func TestMemContract(t *testing.T) {
	fsbackendtest.Run(t, func(t *testing.T) fsbackendtest.Fixture {
		top := realTemp(t) // only a path of the right form
		root, out := filepath.Join(top, "work"), filepath.Join(top, "outside")
		faults := fsbackend.NewFaults()
		m, err := fsbackend.NewMem(fsbackend.MemOptions{Roots: []string{root}, BeforeMax: beforeMax, MaxFile: maxFile, Faults: faults})
		require.NoError(t, err)
		require.NoError(t, m.Mkdir(out))
		return fsbackendtest.Fixture{
			Backend: m, Root: root, Outside: out, World: m, Faults: faults, BeforeMax: beforeMax, MaxFile: maxFile,
		}
	})
}

// realTemp is a temporary folder by its real path.
func realTemp(t testing.TB) string {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return dir
}
