package tools

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/patch"
)

func TestDirectoriesThatCannotBeMade(t *testing.T) {
	for nth := 1; nth <= 2; nth++ {
		p := newTrial(t)
		report, err := p.run(t.Context(), t, PatchConfig{}, fsbackend.Fault{At: fsbackend.AtMkdir, Nth: nth, Err: syscall.EACCES})
		p.check(t, report, err)
		var failed *PatchError
		require.ErrorAs(t, err, &failed)
		assert.Equal(t, patch.CodeMkdirFailed, failed.Report.Code)
		assert.Equal(t, patch.Recovery{Restored: []string{}, Remaining: []patch.Remaining{}, Uncertain: []string{}, CreatedDirs: []string{}}, *failed.Report.Details.Recovery)
	}
}

// TestCancelledWhileDirectoriesAreMade: what was made is gone again.
func TestCancelledWhileDirectoriesAreMade(t *testing.T) {
	for nth := 1; nth <= 2; nth++ {
		p := newTrial(t)
		ctx, cancel := context.WithCancel(t.Context())
		report, err := p.run(ctx, t, PatchConfig{}, fsbackend.Fault{At: fsbackend.AtMkdir, Nth: nth, Do: func(string) { cancel() }})
		p.check(t, report, err)
		var failed *PatchError
		require.ErrorAs(t, err, &failed)
		assert.Equal(t, patch.CodeAborted, failed.Report.Code)
		assert.NoDirExists(t, filepath.Join(p.dir, "d"))
	}
}

// TestDirectoriesThatOthersUse: another program makes a directory, or puts a
// file into one of this call's, before the call fails.
func TestDirectoriesThatOthersUse(t *testing.T) {
	theirs := filepath.FromSlash("d/theirs.txt")
	for _, c := range []struct {
		name   string
		faults func(p *patchTrial) []fsbackend.Fault
		code   string
		left   []string // directories of this call that stay
		gone   string
	}{
		{"they make it first", func(p *patchTrial) []fsbackend.Fault {
			return []fsbackend.Fault{
				{At: fsbackend.AtMkdir, Nth: 1, Do: func(dir string) { must(os.Mkdir(dir, 0o755)) }},
				{At: fsbackend.AtWrite, Path: "a.txt", Err: syscall.ENOSPC},
			}
		}, patch.CodeWriteFailed, nil, "d/e"},
		{"they put a file into it", func(p *patchTrial) []fsbackend.Fault {
			return []fsbackend.Fault{{At: fsbackend.AtWrite, Path: "b.txt", Err: syscall.ENOSPC, Do: func(string) {
				must(os.WriteFile(filepath.Join(p.dir, theirs), []byte("theirs\n"), 0o644))
			}}}
		}, patch.CodeWriteFailed, []string{"d/"}, "d/e"},
		{"they put a file in its place", func(p *patchTrial) []fsbackend.Fault {
			return []fsbackend.Fault{{At: fsbackend.AtMkdir, Nth: 1, Do: func(dir string) { must(os.WriteFile(dir, nil, 0o644)) }}}
		}, patch.CodeMkdirFailed, nil, "d/e"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newTrial(t)
			_, err := p.run(t.Context(), t, PatchConfig{}, c.faults(p)...)
			var failed *PatchError
			require.ErrorAs(t, err, &failed)
			assert.Equal(t, c.code, failed.Report.Code)
			assert.Equal(t, append([]string{}, c.left...), failed.Report.Details.Recovery.CreatedDirs)
			assert.NoDirExists(t, filepath.Join(p.dir, c.gone))
			for name, before := range trialBefore {
				got, _ := p.text(t, name)
				assert.Equal(t, before, got, name)
			}
			if len(c.left) > 0 {
				assert.FileExists(t, filepath.Join(p.dir, theirs))
				assert.True(t, strings.HasSuffix(failed.Error(), "still there: d/"), failed.Error())
			}
		})
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
