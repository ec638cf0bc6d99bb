//go:build unix

package shell

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func open(t *testing.T, c Config) *Runner {
	t.Helper()
	if c.Dir == "" {
		c.Dir = t.TempDir()
	}
	r := New(c)
	t.Cleanup(r.Close)
	return r
}

func run(t *testing.T, r *Runner, command string) Result {
	t.Helper()
	res, err := r.Run(t.Context(), command, time.Minute, nil)
	require.NoError(t, err)
	return res
}

func TestRun(t *testing.T) {
	r := open(t, Config{})
	for _, c := range []struct {
		command, out string
		exit         int
		signal       string
	}{
		{"echo out; echo err >&2; exit 3", "out\nerr", 3, ""},
		{"true", "", 0, ""},
		{"printf 'a\\n\\n'", "a", 0, ""},
		{"cat", "", 0, ""}, // no input
		{"kill -9 $$", "", -1, "killed"},
		{"printf 'caf\\303'", "caf\uFFFD", 0, ""},
		{"printf '\\303\\251\\377x'", "é\uFFFDx", 0, ""},
		{"pwd", r.cfg.Dir, 0, ""},
		{"nosuchprogram 2>/dev/null", "", 127, ""},
		{"echo $GIT_TERMINAL_PROMPT", "0", 0, ""},
	} {
		res := run(t, r, c.command)
		assert.Equal(t, c.out, res.Output.Text(), c.command)
		assert.Equal(t, c.exit, res.Exit, c.command)
		assert.Equal(t, c.signal, res.Signal, c.command)
		assert.False(t, res.TimedOut || res.Cancelled || res.Swept, c.command)
	}
}

func TestRunFails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	_, err := open(t, Config{Dir: dir}).Run(t.Context(), "true", 0, nil)
	require.ErrorIs(t, err, os.ErrNotExist)
	assert.ErrorContains(t, err, dir, "the folder is missing, not the shell")
	r := open(t, Config{})
	r.Close()
	_, err = r.Run(t.Context(), "true", 0, nil)
	require.ErrorIs(t, err, ErrClosed)
}

func TestNoDescriptorIsInherited(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("open descriptors are listed in /proc, which this system lacks")
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "ours"))
	require.NoError(t, err)
	defer f.Close()
	res := run(t, open(t, Config{}), "for f in /proc/self/fd/*; do readlink $f; done")
	for line := range strings.Lines(res.Output.Text()) {
		line = strings.TrimSpace(line)
		ok := line == "/dev/null" || strings.HasPrefix(line, "pipe:") || strings.HasPrefix(line, "/proc/") || line == ""
		assert.True(t, ok, "descriptor of %s", line)
	}
}

// gone waits until a process has ended, for at most some seconds.
func gone(t *testing.T, pid int) {
	t.Helper()
	require.Eventually(t, func() bool {
		if syscall.Kill(pid, 0) != nil {
			return true
		}
		// Who has no parent left to wait for it is gone as well.
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return strings.Contains(string(stat), ") Z ")
	}, 5*time.Second, 10*time.Millisecond, "process %d runs on", pid)
}

// pidIn waits for a file that holds a process id.
func pidIn(t *testing.T, path string) int {
	t.Helper()
	pid := 0
	require.Eventually(t, func() bool {
		b, _ := os.ReadFile(path)
		pid, _ = strconv.Atoi(strings.TrimSpace(string(b)))
		return pid > 0 && strings.HasSuffix(string(b), "\n")
	}, 10*time.Second, 5*time.Millisecond, "no process id in %s", path)
	return pid
}

func TestCancelEndsTheTree(t *testing.T) {
	for name, command := range map[string]string{
		"child":         `sleep 300 & echo $! > pid; wait`,
		"deaf child":    `bash -c 'trap "" TERM; echo $$ > pid; while :; do sleep 1; done'`,
		"left session":  `setsid bash -c 'echo $$ > pid; exec sleep 300' & wait`,
		"writes a lot":  `yes & echo $! > pid; wait`,
		"deaf, no pipe": `bash -c 'trap "" TERM; echo $$ > pid; while :; do sleep 1; done' > /dev/null 2>&1`,
	} {
		t.Run(name, func(t *testing.T) {
			if name == "left session" && runtime.GOOS != "linux" {
				t.Skip("who has left the group is only found on Linux")
			}
			r := open(t, Config{})
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan Result, 1)
			go func() {
				res, _ := r.Run(ctx, command, 0, nil)
				done <- res
			}()
			pid := pidIn(t, filepath.Join(r.cfg.Dir, "pid"))
			begin := time.Now()
			cancel()
			res := <-done
			assert.True(t, res.Cancelled)
			assert.Less(t, time.Since(begin), 2*time.Second)
			gone(t, pid)
		})
	}
}

func TestTimeLimit(t *testing.T) {
	r := open(t, Config{})
	res, err := r.Run(t.Context(), "echo begun; sleep 300", 300*time.Millisecond, nil)
	require.NoError(t, err)
	assert.True(t, res.TimedOut)
	assert.Equal(t, "begun", res.Output.Text())
}

func TestLeftoversAreEnded(t *testing.T) {
	r := open(t, Config{})
	begin := time.Now()
	res := run(t, r, "sleep 300 & echo $! > pid; echo done")
	assert.Equal(t, "done", res.Output.Text())
	assert.True(t, res.Swept)
	assert.Less(t, time.Since(begin), 5*time.Second)
	gone(t, pidIn(t, filepath.Join(r.cfg.Dir, "pid")))
}

func TestBackground(t *testing.T) {
	r := open(t, Config{})
	id, err := r.Start("echo one; read x < go; echo two; exit 4")
	require.NoError(t, err)
	require.NoError(t, syscall.Mkfifo(filepath.Join(r.cfg.Dir, "go.new"), 0o600))
	_, _, ok := r.Read("bash_9")
	assert.False(t, ok)
	var text string
	var state JobState
	collect := func() bool {
		var c Capture
		c, state, ok = r.Read(id)
		require.True(t, ok)
		text += c.Text()
		return !state.Running
	}
	require.Eventually(t, collect, 10*time.Second, 5*time.Millisecond) // there is no go: read fails at once
	collect()
	assert.Contains(t, text, "one")
	assert.Contains(t, text, "two")
	assert.Equal(t, 4, state.Exit)
	assert.Equal(t, []string{id}, r.Jobs())

	id, err = r.Start("echo $$ > pid; exec sleep 300")
	require.NoError(t, err)
	pid := pidIn(t, filepath.Join(r.cfg.Dir, "pid"))
	state, ok = r.Kill(id)
	require.True(t, ok)
	assert.True(t, state.Running)
	gone(t, pid)
	state, _ = r.Kill(id)
	assert.False(t, state.Running)
}

func TestCloseEndsEverything(t *testing.T) {
	r := open(t, Config{})
	_, err := r.Start("echo $$ > one; exec sleep 300")
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = r.Run(context.Background(), "echo $$ > two; sleep 300", 0, nil)
	}()
	one, two := pidIn(t, filepath.Join(r.cfg.Dir, "one")), pidIn(t, filepath.Join(r.cfg.Dir, "two"))
	r.Close()
	<-done
	gone(t, one)
	gone(t, two)
}

func TestWatchShowsAllOnce(t *testing.T) {
	r := open(t, Config{Head: 100, Tail: 100})
	for _, c := range []struct{ command, want string }{
		{"echo a; sleep 0.5; echo b; echo", "a\nb"},
		{"seq 1 200; sleep 0.5; seq 201 205", ""},
	} {
		var live strings.Builder
		res, err := r.Run(t.Context(), c.command, time.Minute, func(fresh string, elapsed time.Duration) {
			live.WriteString(fresh)
			assert.Positive(t, elapsed)
		})
		require.NoError(t, err)
		require.NotEmpty(t, live.String())
		got := live.String() + res.Rest
		if c.want == "" {
			for i := range 205 {
				c.want += strconv.Itoa(i+1) + "\n"
			}
			c.want = strings.TrimSuffix(c.want, "\n")
		}
		assert.Equal(t, c.want, got)
	}
}

// 100 MB of output cost little time and no memory.
func TestMuchOutput(t *testing.T) {
	r := open(t, Config{})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	cpu := ownCPU(t)
	res := run(t, r, "head -c 100000000 /dev/zero | tr '\\0' 'x'; echo; echo end")
	cpu = ownCPU(t) - cpu
	runtime.ReadMemStats(&after)
	assert.True(t, strings.HasSuffix(res.Output.Text(), "x\nend"))
	assert.Len(t, res.Output.Head, 15_000)
	assert.Equal(t, int64(100_000_005), int64(len(res.Output.Head)+len(res.Output.Tail))+res.Output.Left)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8<<20), "bytes allocated")
	assert.Less(t, cpu, 2*time.Second, "time of this process")
	t.Logf("%v of this process's time, %d KiB allocated", cpu, (after.TotalAlloc-before.TotalAlloc)>>10)
}

func ownCPU(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
