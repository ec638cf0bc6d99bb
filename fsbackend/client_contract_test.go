package fsbackend_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dsh-acp/fsbackend"
	"dsh-acp/fsbackend/fsbackendtest"
	"dsh-acp/internal/acptest"
	"dsh-acp/internal/guard"
)

func TestClientContract(t *testing.T) {
	for name, set := range map[string]func(*acptest.Buffers){
		"as Zed":                 func(*acptest.Buffers) {},
		"line ends as they are":  func(b *acptest.Buffers) { b.Raw = true },
		"changes are seen later": func(b *acptest.Buffers) { b.Lag = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			fsbackendtest.Run(t, func(t *testing.T) fsbackendtest.Fixture {
				b := &acptest.Buffers{}
				set(b)
				f, _ := clientFixture(t, b)
				return f
			})
		})
	}
}

// TestClientContractUnderPolicyAndJournal has the client where a session has it.
func TestClientContractUnderPolicyAndJournal(t *testing.T) {
	fsbackendtest.Run(t, func(t *testing.T) fsbackendtest.Fixture {
		f, client := clientFixture(t, &acptest.Buffers{})
		j, err := fsbackend.OpenJournal(fsbackend.JournalOptions{Dir: filepath.Join(t.TempDir(), "versions")})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, j.Close()) })
		f.Backend = j.Over(fsbackend.Restrict(client, exact(policy(t, guard.Config{Root: f.Root}))))
		return f
	})
}

// TestClientContractWithoutEditor has one that answers nothing but errors.
func TestClientContractWithoutEditor(t *testing.T) {
	fsbackendtest.Run(t, func(t *testing.T) fsbackendtest.Fixture {
		f, client := clientFixture(t, &acptest.Buffers{Worktrees: []string{t.TempDir()}})
		f.Backend = plainNotes{client}
		return f
	})
}

// clientFixture is a client over a disk; b is told its worktree, unless it has
// one.
func clientFixture(t *testing.T, b *acptest.Buffers) (fsbackendtest.Fixture, *fsbackend.Client) {
	t.Helper()
	dir := realTemp(t)
	root, out := filepath.Join(dir, "work"), filepath.Join(dir, "outside")
	require.NoError(t, os.Mkdir(root, 0o777))
	require.NoError(t, os.Mkdir(out, 0o777))
	if b.Worktrees == nil {
		b.Worktrees = []string{root}
	}
	faults := fsbackend.NewFaults()
	l, err := fsbackend.NewLocal(fsbackend.Options{Roots: []string{root}, BeforeMax: beforeMax, MaxFile: maxFile, Faults: faults})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	c, err := fsbackend.NewClient(l, b, fsbackend.ClientOptions{Folders: []string{root}})
	require.NoError(t, err)
	return fsbackendtest.Fixture{
		Backend: c, Root: root, Outside: out, World: fsbackendtest.Disk{}, Faults: faults, BeforeMax: beforeMax, MaxFile: maxFile,
	}, c
}

// plainNotes drops the note on the way that a write took, which the contract
// knows nothing of.
type plainNotes struct{ *fsbackend.Client }

func (p plainNotes) Write(ctx context.Context, w fsbackend.Write) (fsbackend.Receipt, error) {
	rec, err := p.Client.Write(ctx, w)
	rec.Notes = slices.DeleteFunc(rec.Notes, func(s string) bool { return strings.HasPrefix(s, "written to the disk") })
	if len(rec.Notes) == 0 {
		rec.Notes = nil
	}
	return rec, err
}
