package conformance

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsh-acp/internal/acpschema"
)

// The fake agent plays the agent's messages of a trace back. Its environment
// names the scenario's folder and a mutation of what it says.
const (
	fakeDir      = "CONFORMANCE_FAKE_DIR"
	fakeMutation = "CONFORMANCE_FAKE_MUTATION"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(fakeDir); dir != "" {
		if err := playBack(dir, os.Getenv(fakeMutation)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	code := m.Run()
	if err := os.RemoveAll(agentDir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// fakeAdapter starts this test binary as the fake agent.
func fakeAdapter(t *testing.T, dir, mutation string) Adapter {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, err = filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	return Adapter{Name: "fake", Command: []string{exe}, Env: func(Setup) []string {
		return []string{fakeDir + "=" + dir, fakeMutation + "=" + mutation}
	}}
}

const fakeSession = "5e551011-0000-4000-8000-00000000fa4e"

// playBack is the fake agent: it says what the trace says, each message after
// the client's messages that precede it there.
func playBack(dir, mutation string) error {
	c, err := loadCase(dir)
	if err != nil {
		return err
	}
	work, err := os.Getwd()
	if err != nil {
		return err
	}
	home := os.Getenv("HOME")
	part, err := countStarts(filepath.Join(home, ".fake-starts"))
	if err != nil {
		return err
	}
	places := newPlaceholders(work, home)
	places.add("${SESSION}", fakeSession)
	parts := split(c.Trace)
	if part >= len(parts) {
		return fmt.Errorf("start %d, but the trace has %d", part+1, len(parts))
	}
	entries := parts[part]
	if f, ok := mutations[mutation]; ok {
		entries = f.change(entries)
	}
	in := bufio.NewReader(os.Stdin)
	out := bufio.NewWriter(os.Stdout)
	for i, e := range entries {
		if e.From == fromClient {
			if _, err := in.ReadBytes('\n'); err != nil {
				return fmt.Errorf("message %d: the client left: %w", e.Seq, err)
			}
			continue
		}
		if part == len(parts)-1 && lastAnswer(entries, i) {
			// What the recorded agent did to the files happens by now.
			if err := settle(work, c.Scenario, mutation); err != nil {
				return err
			}
		}
		out.Write(places.show(e.Message))
		out.WriteByte('\n')
		if err := out.Flush(); err != nil {
			return err
		}
	}
	_, err = in.ReadBytes('\n') // the end of the input
	if err == nil {
		return fmt.Errorf("the client said more than in the trace")
	}
	return nil
}

// lastAnswer reports whether entry i is the last response of the trace.
func lastAnswer(entries []Entry, i int) bool {
	isAnswer := func(e Entry) bool {
		var m acpschema.Message
		return e.From == fromAgent && json.Unmarshal(e.Message, &m) == nil && m.Method == "" && m.ID != nil
	}
	for _, e := range entries[i+1:] {
		if isAnswer(e) {
			return false
		}
	}
	return isAnswer(entries[i])
}

func settle(work string, s *Scenario, mutation string) error {
	files, err := readFiles(work)
	if err != nil {
		return err
	}
	for name := range files {
		if _, ok := s.After[name]; !ok {
			if err := os.Remove(filepath.Join(work, name)); err != nil {
				return err
			}
		}
	}
	if err := writeFiles(work, s.After); err != nil {
		return err
	}
	if mutation == "stray file" {
		return os.WriteFile(filepath.Join(work, "stray.tmp"), nil, 0o644)
	}
	return nil
}

// countStarts returns how often it was called with the same path before.
func countStarts(path string) (int, error) {
	b, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return 0, err
	}
	return len(b), os.WriteFile(path, append(b, '.'), 0o644)
}

// split cuts a trace at the starts of the agent.
func split(entries []Entry) [][]Entry {
	var out [][]Entry
	for _, e := range entries {
		if e.From == fromClient && bytes.Contains(e.Message, []byte(`"method":"initialize"`)) {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], e)
	}
	return out
}

// replaceIn changes text in the agent's n-th message (1 is the first) that
// holds it and all of marks.
func replaceIn(n int, old, new string, marks ...string) func([]Entry) []Entry {
	return func(entries []Entry) []Entry {
		out := append([]Entry(nil), entries...)
		for i := range out {
			if holds(out[i], append([]string{old}, marks...)...) {
				if n--; n == 0 {
					out[i].Message = json.RawMessage(strings.Replace(string(out[i].Message), old, new, 1))
				}
			}
		}
		return out
	}
}

// drop leaves the agent's first message out that holds all of marks.
func drop(marks ...string) func([]Entry) []Entry {
	return func(entries []Entry) []Entry {
		for i := range entries {
			if holds(entries[i], marks...) {
				return append(append([]Entry(nil), entries[:i]...), entries[i+1:]...)
			}
		}
		return entries
	}
}

func holds(e Entry, marks ...string) bool {
	if e.From != fromAgent {
		return false
	}
	for _, m := range marks {
		if !strings.Contains(string(e.Message), m) {
			return false
		}
	}
	return true
}
