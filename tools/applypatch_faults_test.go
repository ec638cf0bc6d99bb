package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/patch"
)

// A patchTrial is one call that changes three files and creates two, in a
// folder that it has to make and in one that is there. Something happens in
// the middle of it.
type patchTrial struct {
	dir     string
	foreign map[string]string // what another program put into files
	was     map[string]fs.FileInfo
}

// The files of a trial before and after; "" means that there is none.
var (
	trialFiles  = []string{"a.txt", "b.txt", "c.txt", "d/e/n.txt", "m.txt"}
	trialBefore = map[string]string{"a.txt": "one\n", "b.txt": "two\n", "c.txt": ""}
	trialAfter  = map[string]string{"a.txt": "1\n", "b.txt": "2\n", "c.txt": "3", "d/e/n.txt": "new\n", "m.txt": ""}
)

const trialCall = `{"operations":[
	{"op":"create_file","path":"d/e/n.txt","text":"new\n","parents":true},
	{"op":"replace_text","path":"a.txt","search":"one","replace":"1"},
	{"op":"replace_text","path":"b.txt","search":"two","replace":"2"},
	{"op":"append_text","path":"c.txt","text":"3"},
	{"op":"create_file","path":"m.txt","text":""}]}`

func newTrial(t *testing.T) *patchTrial {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	p := &patchTrial{dir: dir, foreign: map[string]string{}, was: map[string]fs.FileInfo{}}
	for name, s := range trialBefore {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(s), 0o644))
		p.was[name], err = os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
	}
	return p
}

// run makes the call with faults, once or with created files removed.
func (p *patchTrial) run(ctx context.Context, t *testing.T, c PatchConfig, faults ...fsbackend.Fault) (PatchReport, error) {
	local, err := fsbackend.NewLocal(fsbackend.Options{Roots: []string{p.dir}, Faults: fsbackend.NewFaults(faults...)})
	require.NoError(t, err)
	defer local.Close()
	return ApplyPatch(ctx, local, json.RawMessage(trialCall), PatchOptions{Cwd: p.dir, PatchConfig: c})
}

// interfere is another program that writes a file.
func (p *patchTrial) interfere(name string) {
	s := "theirs: " + name + "\n"
	p.foreign[name] = s
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(s), 0o644); err != nil {
		panic(err)
	}
}

// text returns a file's text, and whether there is one.
func (p *patchTrial) text(t *testing.T, name string) (string, bool) {
	data, err := os.ReadFile(filepath.Join(p.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return "", false
	}
	require.NoError(t, err)
	return string(data), true
}

// check compares the folder with what the call said of it.
func (p *patchTrial) check(t *testing.T, report PatchReport, err error) {
	t.Helper()
	for _, f := range readTree(t, p.dir) {
		assert.NotContains(t, f.Name, ".dsh-", "a temporary file is left")
	}
	if err == nil {
		assert.Len(t, report.Files, len(trialFiles))
		for _, name := range trialFiles {
			got, there := p.text(t, name)
			assert.True(t, there, name)
			// Who writes after this call has the last word.
			assert.Contains(t, []string{trialAfter[name], p.foreign[name]}, got, name)
		}
		return
	}
	var failed *PatchError
	require.ErrorAs(t, err, &failed)
	rec := failed.Report.Details.Recovery
	require.NotNil(t, rec, "a failure while writing says what is left: %v", err)
	for _, list := range [][]string{rec.Restored, rec.Uncertain, rec.CreatedDirs} {
		require.NotNil(t, list)
	}
	remaining := map[string]string{}
	for _, r := range rec.Remaining {
		remaining[r.Path] = r.Reason
		assert.Contains(t, failed.Error(), r.Path)
	}
	for _, name := range trialFiles {
		got, there := p.text(t, name)
		before, existed := trialBefore[name]
		theirs, touched := p.foreign[name]
		lists := 0
		for _, in := range []bool{slices.Contains(rec.Restored, name), remaining[name] != "", slices.Contains(rec.Uncertain, name)} {
			if in {
				lists++
			}
		}
		assert.LessOrEqual(t, lists, 1, "%s is in several lists", name)
		switch {
		case slices.Contains(rec.Restored, name):
			assert.True(t, existed, "%s was created, and cannot be restored", name)
			assert.Equal(t, before, got, "%s is said to be restored", name)
		case remaining[name] == patch.ReasonCreated:
			assert.True(t, there && !existed, "%s is said to remain, created", name)
			assert.Equal(t, trialAfter[name], got, name)
		case remaining[name] == patch.ReasonChanged:
			assert.True(t, touched, "%s is said to be changed by somebody", name)
			assert.Equal(t, theirs, got, name)
		case slices.Contains(rec.Uncertain, name):
			// nothing is claimed; the message says to look
			assert.Contains(t, failed.Error(), "read again: "+name)
		case touched && got == theirs:
			// never written by this call
		default:
			assert.Equal(t, existed, there, "%s is in no list", name)
			assert.Equal(t, before, got, "%s is in no list", name)
			if existed {
				now, err := os.Stat(filepath.Join(p.dir, name))
				require.NoError(t, err)
				assert.True(t, os.SameFile(p.was[name], now), "%s is in no list, and yet it was written", name)
			}
		}
	}
	var dirs []string
	for _, dir := range []string{"d/", "d/e/"} {
		if _, err := os.Stat(filepath.Join(p.dir, dir)); err == nil {
			dirs = append(dirs, dir)
		}
	}
	assert.ElementsMatch(t, dirs, rec.CreatedDirs)
}

// writePoints are the moments of one write.
var writePoints = []fsbackend.FaultPoint{
	fsbackend.AtWrite, fsbackend.AtTempWrite, fsbackend.AtSync, fsbackend.AtBeforeRename, fsbackend.AtRename, fsbackend.AtAfterWrite,
}

// TestEveryStepOfWriting fails, cancels, and lets another program write at
// each moment of each write, and checks the files against the report.
func TestEveryStepOfWriting(t *testing.T) {
	writes := len(trialFiles)
	events := []struct {
		name string
		arm  func(p *patchTrial, cancel context.CancelFunc, at fsbackend.Fault) []fsbackend.Fault
	}{
		{"fails", func(_ *patchTrial, _ context.CancelFunc, at fsbackend.Fault) []fsbackend.Fault {
			at.Err = syscall.ENOSPC
			return []fsbackend.Fault{at}
		}},
		{"cancel", func(_ *patchTrial, cancel context.CancelFunc, at fsbackend.Fault) []fsbackend.Fault {
			at.Do = func(string) { cancel() }
			return []fsbackend.Fault{at}
		}},
		{"foreign write to the file itself", func(p *patchTrial, _ context.CancelFunc, at fsbackend.Fault) []fsbackend.Fault {
			at.Do = func(path string) { p.interfereAt(path) }
			return []fsbackend.Fault{at}
		}},
		{"foreign write to the first file, then failure", func(p *patchTrial, _ context.CancelFunc, at fsbackend.Fault) []fsbackend.Fault {
			at.Do, at.Err = func(string) { p.interfere("a.txt") }, syscall.EIO
			return []fsbackend.Fault{at}
		}},
		{"fails, and so does the first write of undoing", func(_ *patchTrial, _ context.CancelFunc, at fsbackend.Fault) []fsbackend.Fault {
			at.Err = syscall.ENOSPC
			return []fsbackend.Fault{at, {At: fsbackend.AtWrite, Nth: at.Nth + 1, Err: syscall.EIO}}
		}},
		{"fails, and undoing fails after the fact", func(_ *patchTrial, _ context.CancelFunc, at fsbackend.Fault) []fsbackend.Fault {
			at.Err = syscall.ENOSPC
			return []fsbackend.Fault{at, {At: fsbackend.AtAfterWrite, Nth: at.Nth, Err: syscall.EIO}}
		}},
	}
	for _, event := range events {
		for _, point := range writePoints {
			for nth := 1; nth <= writes; nth++ {
				for _, c := range []PatchConfig{{}, {RemoveCreated: true}} {
					t.Run(fmt.Sprintf("%s at %s %d remove=%v", event.name, point, nth, c.RemoveCreated), func(t *testing.T) {
						p := newTrial(t)
						ctx, cancel := context.WithCancel(t.Context())
						defer cancel()
						faults := event.arm(p, cancel, fsbackend.Fault{At: point, Nth: nth})
						report, err := p.run(ctx, t, c, faults...)
						p.check(t, report, err)
						if event.name == "fails" {
							require.Error(t, err)
						}
					})
				}
			}
		}
	}
}

// interfereAt is interfere by a whole path.
func (p *patchTrial) interfereAt(path string) {
	rel, err := filepath.Rel(p.dir, path)
	if err != nil {
		panic(err)
	}
	p.interfere(filepath.ToSlash(rel))
}

// TestRecoveryReports has the examples of what a failure leaves.
func TestRecoveryReports(t *testing.T) {
	for _, c := range []struct {
		name   string
		faults func(p *patchTrial) []fsbackend.Fault
		code   string
		path   string
		want   patch.Recovery
	}{
		{"the second file", func(*patchTrial) []fsbackend.Fault {
			return []fsbackend.Fault{{At: fsbackend.AtWrite, Path: "b.txt", Err: syscall.ENOSPC}}
		}, patch.CodeWriteFailed, "b.txt", patch.Recovery{Restored: []string{"a.txt"}}},
		{"somebody saved the first", func(p *patchTrial) []fsbackend.Fault {
			return []fsbackend.Fault{{At: fsbackend.AtWrite, Path: "b.txt", Do: func(string) { p.interfere("a.txt") }, Err: syscall.ENOSPC}}
		}, patch.CodeWriteFailed, "b.txt", patch.Recovery{Remaining: []patch.Remaining{{Path: "a.txt", Reason: patch.ReasonChanged}}}},
		{"the second creation", func(*patchTrial) []fsbackend.Fault {
			return []fsbackend.Fault{{At: fsbackend.AtWrite, Path: "m.txt", Err: syscall.ENOSPC}}
		}, patch.CodeWriteFailed, "m.txt", patch.Recovery{
			Restored:  []string{"a.txt", "b.txt", "c.txt"},
			Remaining: []patch.Remaining{{Path: "d/e/n.txt", Reason: patch.ReasonCreated}}, CreatedDirs: []string{"d/", "d/e/"},
		}},
		{"changed since it was read", func(p *patchTrial) []fsbackend.Fault {
			return []fsbackend.Fault{{At: fsbackend.AtWrite, Path: "c.txt", Do: func(string) { p.interfere("c.txt") }}}
		}, patch.CodeStaleVersion, "c.txt", patch.Recovery{Restored: []string{"a.txt", "b.txt"}, Uncertain: []string{"c.txt"}}},
		{"created by somebody else", func(p *patchTrial) []fsbackend.Fault {
			return []fsbackend.Fault{{At: fsbackend.AtWrite, Path: "m.txt", Do: func(string) { p.interfere("m.txt") }}}
		}, patch.CodeStaleVersion, "m.txt", patch.Recovery{
			Restored:  []string{"a.txt", "b.txt", "c.txt"},
			Remaining: []patch.Remaining{{Path: "d/e/n.txt", Reason: patch.ReasonCreated}},
			Uncertain: []string{"m.txt"}, CreatedDirs: []string{"d/", "d/e/"},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newTrial(t)
			report, err := p.run(t.Context(), t, PatchConfig{}, c.faults(p)...)
			p.check(t, report, err)
			var failed *PatchError
			require.ErrorAs(t, err, &failed)
			assert.Equal(t, c.code, failed.Report.Code)
			assert.Equal(t, c.path, failed.Report.Details.Path)
			rec := failed.Report.Details.Recovery
			assert.ElementsMatch(t, c.want.Restored, rec.Restored)
			assert.ElementsMatch(t, c.want.Remaining, rec.Remaining)
			assert.ElementsMatch(t, c.want.Uncertain, rec.Uncertain)
			assert.ElementsMatch(t, c.want.CreatedDirs, rec.CreatedDirs)
		})
	}
}

// killedEnv makes the test binary a process that is killed in a call.
const killedEnv = "DSH_TEST_KILLED_PATCH"

// TestKilledWhileWriting: every file is whole, old or new, and the next call
// can go on.
func TestKilledWhileWriting(t *testing.T) {
	if at := os.Getenv(killedEnv); at != "" {
		killedChild(t, at)
		return
	}
	exe, err := os.Executable()
	require.NoError(t, err)
	for _, point := range writePoints {
		for nth := 1; nth <= len(trialFiles); nth++ {
			p := newTrial(t)
			cmd := exec.CommandContext(t.Context(), exe, "-test.run=^TestKilledWhileWriting$")
			cmd.Env = append(os.Environ(), killedEnv+"="+fmt.Sprintf("%s,%d,%s", point, nth, p.dir))
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			require.ErrorAs(t, err, &exit, "the child was not killed: %s", out)
			require.NotContains(t, string(out), "FAIL", "the child was not killed")
			states := map[string]int{}
			for _, name := range trialFiles {
				got, there := p.text(t, name)
				before, existed := trialBefore[name]
				switch {
				case there && got == trialAfter[name]:
					states["new"]++
				case there == existed && got == before:
					states["old"]++
				default:
					t.Errorf("killed at %s %d: %s is %q", point, nth, name, got)
				}
			}
			want := nth - 1
			switch point {
			case fsbackend.AtTempWrite, fsbackend.AtSync:
				want = 0 // all files are on their way to the disk before the first takes its place
			case fsbackend.AtAfterWrite:
				want = nth
			}
			assert.Equal(t, want, states["new"], "killed at %s %d", point, nth)
		}
	}
}

func killedChild(t *testing.T, at string) {
	parts := strings.SplitN(at, ",", 3)
	var nth int
	_, err := fmt.Sscan(parts[1], &nth)
	require.NoError(t, err)
	p := &patchTrial{dir: parts[2]}
	_, err = p.run(t.Context(), t, PatchConfig{}, fsbackend.Fault{At: fsbackend.FaultPoint(parts[0]), Nth: nth, Do: func(string) {
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		if err != nil {
			panic(err)
		}
		select {} // the signal is on its way
	}})
	t.Fatalf("the call went on: %v", err)
}
