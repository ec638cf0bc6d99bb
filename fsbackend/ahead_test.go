package fsbackend_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/fsbackend"
)

// manyFiles makes files and a commit that changes all of them.
func manyFiles(t *testing.T, dir string, n int) (c fsbackend.Commit, paths []string) {
	for i := range n {
		p := filepath.Join(dir, fmt.Sprintf("f%02d", i))
		put(t, p, "old")
		paths = append(paths, p)
		c.Steps = append(c.Steps, fsbackend.Step{
			Write:  fsbackend.Write{Path: p, Data: []byte("new"), Pre: fsbackend.Unchanged{Version: fsbackend.VersionOf([]byte("old"))}},
			Before: []byte("old"),
		})
	}
	return c, paths
}

func temporary(t *testing.T, dir string) []string {
	found, err := filepath.Glob(filepath.Join(dir, ".dsh-*"))
	require.NoError(t, err)
	return found
}

func contents(t *testing.T, paths []string) map[string]int {
	n := map[string]int{}
	for _, p := range paths {
		data, err := os.ReadFile(p)
		require.NoError(t, err)
		n[string(data)]++
	}
	return n
}

// A commit has a bounded number of files on their way at any time.
func TestCommitBeginsFilesAhead(t *testing.T) {
	dir := realTemp(t)
	c, paths := manyFiles(t, dir, 40)
	var most, at int
	faults := fsbackend.NewFaults(fsbackend.Fault{At: fsbackend.AtBeforeRename, Do: func(string) {
		at++
		n := len(temporary(t, dir))
		most = max(most, n)
		assert.Equal(t, min(16, 40-at+1), n, "at file %d", at)
	}})
	l := local(t, fsbackend.Options{Roots: []string{dir}, Faults: faults})
	done, err := c.Run(t.Context(), l)
	require.NoError(t, err)
	for i, r := range done.Receipts {
		assert.Equal(t, paths[i], r.Path)
		assert.Equal(t, fsbackend.VersionOf([]byte("new")), r.Version)
		assert.Equal(t, "old", string(*r.Before))
	}
	assert.Equal(t, map[string]int{"new": 40}, contents(t, paths))
	assert.Empty(t, temporary(t, dir))
	assert.Equal(t, 16, most)
}

// What was begun is taken back when an earlier file fails, or the caller goes.
func TestCommitDropsWhatItBegan(t *testing.T) {
	for _, journal := range []bool{false, true} {
		for _, nth := range []int{1, 3, 16, 17, 20} {
			for _, point := range []fsbackend.FaultPoint{
				fsbackend.AtWrite, fsbackend.AtTempWrite, fsbackend.AtSync, fsbackend.AtBeforeRename, fsbackend.AtRename,
			} {
				for _, cancelled := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s %d cancelled=%v journal=%v", point, nth, cancelled, journal), func(t *testing.T) {
						dir := realTemp(t)
						c, paths := manyFiles(t, dir, 20)
						ctx, cancel := context.WithCancel(t.Context())
						defer cancel()
						fault := fsbackend.Fault{At: point, Nth: nth, Err: syscall.ENOSPC}
						if cancelled {
							fault.Err, fault.Do = nil, func(string) { cancel() }
						}
						l := local(t, fsbackend.Options{Roots: []string{dir}, Faults: fsbackend.NewFaults(fault)})
						var b fsbackend.Backend = l
						if journal {
							j, err := fsbackend.OpenJournal(fsbackend.JournalOptions{Dir: t.TempDir()})
							require.NoError(t, err)
							defer j.Close()
							b = j.Over(l)
						}
						_, err := c.Run(ctx, b)
						rec, ok := fsbackend.RecoveryOf(err)
						if cancelled && nth == 20 && err == nil {
							return // it came too late
						}
						require.True(t, ok, "%v", err)
						assert.Equal(t, map[string]int{"old": 20}, contents(t, paths))
						assert.Empty(t, temporary(t, dir))
						assert.Empty(t, rec.Remaining)
						assert.Empty(t, rec.Uncertain)
					})
				}
			}
		}
	}
}

// What happens to a file between its begin and its turn is not undone by it.
func TestBegunFileIsLookedAtAgain(t *testing.T) {
	two := func(t *testing.T, meanwhile func(dir, second string)) (dir string, err error) {
		dir = realTemp(t)
		c, paths := manyFiles(t, dir, 2)
		faults := fsbackend.NewFaults(fsbackend.Fault{At: fsbackend.AtAfterWrite, Nth: 1, Do: func(string) { meanwhile(dir, paths[1]) }})
		_, err = c.Run(t.Context(), local(t, fsbackend.Options{Roots: []string{dir}, Faults: faults}))
		assert.Empty(t, temporary(t, dir))
		return dir, err
	}
	t.Run("its text", func(t *testing.T) {
		dir, err := two(t, func(_, second string) { put(t, second, "theirs") })
		assert.Equal(t, fsbackend.CodeStaleVersion, fsbackend.CodeOf(err))
		assert.Equal(t, map[string]int{"old": 1, "theirs": 1}, contents(t, []string{filepath.Join(dir, "f00"), filepath.Join(dir, "f01")}))
	})
	t.Run("it is removed", func(t *testing.T) {
		dir, err := two(t, func(_, second string) { require.NoError(t, os.Remove(second)) })
		assert.Equal(t, fsbackend.CodeStaleVersion, fsbackend.CodeOf(err))
		assert.NoFileExists(t, filepath.Join(dir, "f01"))
	})
}
