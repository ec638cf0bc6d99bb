package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"dsh-acp/internal/modelserver"
)

// A lab is the place of one attempt: a workspace, a home of the program's own,
// and what has to be cleared away after it.
type lab struct {
	program string
	module  string
	dir     string
	work    string // the workspace
	home    string
	debug   string // the program's debug log, with the times of fsync

	children []*child
	services []*modelserver.Server
}

func newLab(program, module string) (*lab, error) {
	dir, err := os.MkdirTemp("", "dsh-bench-")
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	l := &lab{
		program: program, module: module, dir: dir, work: filepath.Join(dir, "work"), home: filepath.Join(dir, "home"),
		debug: filepath.Join(dir, "debug.log"),
	}
	return l, errors.Join(os.Mkdir(l.work, 0o755), os.Mkdir(l.home, 0o755))
}

func (l *lab) close() {
	for _, c := range l.children {
		if c.cmd.ProcessState == nil {
			_ = c.cmd.Process.Kill() // ended is fine
			<-c.ended
			_ = c.cmd.Wait()
		}
	}
	for _, s := range l.services {
		_ = s.Close()
	}
	_ = os.RemoveAll(l.dir)
}

// env is the program's environment: nothing of the user's settings.
func (l *lab) env() []string {
	var env []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		ours := strings.HasPrefix(name, "DSH_") || strings.HasPrefix(name, "ANTHROPIC_") || strings.HasPrefix(name, "OPENAI_")
		if !ours && !strings.HasSuffix(strings.ToLower(name), "_proxy") {
			env = append(env, kv)
		}
	}
	return append(env, "HOME="+l.home, "USERPROFILE="+l.home, "XDG_CONFIG_HOME="+l.home, "DSH_STATE_DIR="+filepath.Join(l.home, "state"),
		"DSH_KEYRING=never", "DSH_MODE=acceptEdits", "DSH_TOOLSET=claude")
}

// timed makes the program tell when it waits for the disk.
func (l *lab) timed() string { return "DSH_LOG=debug:" + l.debug }

// A block is one of a model's answer, in the form of the Messages API.
type block map[string]any

func say(text string) block { return block{"type": "text", "text": text} }

// edit is a call of Edit. Its id names it on the wire and in the log.
func edit(id, path, old, new string) block {
	return block{"type": "tool_use", "id": id, "name": "Edit",
		"input": map[string]any{"file_path": path, "old_string": old, "new_string": new}}
}

// script writes a model's answers and gives the environment that plays them.
func (l *lab) script(answers [][]block) ([]string, error) {
	data, err := json.Marshal(answers)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(l.dir, "script.json")
	return []string{"DSH_PROVIDER=scripted", "DSH_SCRIPT_FILE=" + path}, os.WriteFile(path, data, 0o600)
}

// serve starts a model service and gives the environment that leads to it.
func (l *lab) serve(handler func(modelserver.Request) modelserver.Answer) ([]string, error) {
	s, err := modelserver.Start(handler)
	if err != nil {
		return nil, err
	}
	l.services = append(l.services, s)
	return []string{"ANTHROPIC_BASE_URL=" + s.URL(), "ANTHROPIC_API_KEY=none"}, nil
}

// lines writes a file of n lines, no two of them alike, and returns its path.
func (l *lab) lines(n int) (string, error) {
	var b strings.Builder
	for i := range n {
		b.WriteString(numbered(i) + rest)
	}
	path := filepath.Join(l.work, fmt.Sprintf("lines%d.txt", n))
	return path, os.WriteFile(path, []byte(b.String()), 0o644)
}

// rest ends each line of such a file.
const rest = " of a file that is long enough to be slow\n"

// numbered begins line i of such a file: what an edit replaces.
func numbered(i int) string { return fmt.Sprintf("line %07d", i) }

// A syncing is one fsync of the program.
type syncing struct {
	end  time.Time
	took time.Duration
}

// syncs reads from the debug log when the program waited for the disk.
func (l *lab) syncs() ([]syncing, error) {
	data, err := os.ReadFile(l.debug)
	if err != nil {
		return nil, err
	}
	return parseSyncs(data)
}

func parseSyncs(log []byte) ([]syncing, error) {
	var out []syncing
	for text := range strings.Lines(string(log)) {
		var m struct {
			Time    time.Time `json:"time"`
			Message string    `json:"message"`
			MS      float64   `json:"ms"`
		}
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			return nil, fmt.Errorf("debug log: %w: %s", err, strconv.Quote(text))
		}
		if m.Message == "fsync" {
			out = append(out, syncing{m.Time, time.Duration(m.MS * float64(time.Millisecond))})
		}
	}
	if out == nil {
		return nil, errors.New("debug log: it tells of no fsync")
	}
	return out, nil
}

// within is the time spent in fsyncs that ended between two moments.
func within(all []syncing, from, to time.Time) time.Duration {
	var sum time.Duration
	for _, s := range all {
		if s.end.After(from) && !s.end.After(to) {
			sum += s.took
		}
	}
	return sum
}
