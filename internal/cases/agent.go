package cases

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// graceful is how long a program may take to end after its input has ended.
const graceful = 5 * time.Second

// A program is the agent as a child, with all that it has written.
type program struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	pace  atomic.Int64 // bytes a second at which its output is read; 0: at once
	heard func(line []byte)

	stderr lockedBuffer
	ended  chan struct{} // closed when it has ended and all was read
	code   int           // valid once ended is closed

	mu      sync.Mutex
	lines   [][]byte      // guarded by mu
	next    int           // guarded by mu; the first line that was not taken
	closed  bool          // guarded by mu; no more lines will come
	arrived chan struct{} // guarded by mu; closed and replaced at each change
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// start runs the program. heard gets each line of its output as it arrives.
func start(command []string, dir string, env []string, heard func([]byte)) (*program, error) {
	p := &program{heard: heard, ended: make(chan struct{}), arrived: make(chan struct{})}
	p.cmd = exec.Command(command[0], command[1:]...)
	p.cmd.Dir, p.cmd.Env, p.cmd.Stderr = dir, env, &p.stderr
	p.cmd.WaitDelay = time.Second
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	// A pipe of our own: Wait would close one of cmd's before all is read.
	out, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.cmd.Stdout = w
	if err := p.cmd.Start(); err != nil {
		return nil, errors.Join(err, out.Close(), w.Close())
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	go p.read(out)
	return p, nil
}

func (p *program) read(out io.ReadCloser) {
	defer out.Close()
	r := bufio.NewReaderSize(paced{out, &p.pace}, 64<<10)
	for {
		line, err := r.ReadBytes('\n')
		if len(line) > 0 {
			line = bytes.TrimSuffix(line, []byte("\n"))
			p.heard(line)
			p.change(func() { p.lines = append(p.lines, line) })
		}
		if err != nil {
			break
		}
	}
	_ = p.cmd.Wait() // the exit code is in the state, whatever it is
	p.code = p.cmd.ProcessState.ExitCode()
	p.change(func() { p.closed = true })
	close(p.ended)
}

func (p *program) change(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
	close(p.arrived)
	p.arrived = make(chan struct{})
}

// paced reads slowly when it is told to.
type paced struct {
	r    io.Reader
	rate *atomic.Int64
}

func (s paced) Read(b []byte) (int, error) {
	rate := s.rate.Load()
	if rate <= 0 {
		return s.r.Read(b)
	}
	const ticks = 20 // a second
	n, err := s.r.Read(b[:min(len(b), max(1, int(rate/ticks)))])
	time.Sleep(time.Second / ticks)
	return n, err
}

// peek returns the line at index at, once it is there. It fails when the
// context ends, or when no more lines will come.
func (p *program) peek(ctx context.Context, at int) ([]byte, error) {
	for {
		p.mu.Lock()
		lines, closed, arrived := p.lines, p.closed, p.arrived
		p.mu.Unlock()
		switch {
		case at < len(lines):
			return lines[at], nil
		case closed:
			return nil, errOver
		}
		select {
		case <-arrived:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

var errOver = errors.New("the program has closed its output")

// position is the index of the first line that was not taken.
func (p *program) position() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.next
}

// take returns the next line.
func (p *program) take(ctx context.Context) ([]byte, error) {
	at := p.position()
	line, err := p.peek(ctx, at)
	if err == nil {
		p.mu.Lock()
		p.next = at + 1
		p.mu.Unlock()
	}
	return line, err
}

func (p *program) all() [][]byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lines
}

// send writes bytes to its input, chunk by chunk if chunk is not 0. A program
// that has ended takes none, which the case finds out by what it misses.
func (p *program) send(data []byte, chunk int) error {
	if chunk <= 0 {
		chunk = len(data)
	}
	for len(data) > 0 {
		n := min(chunk, len(data))
		if _, err := p.in.Write(data[:n]); err != nil {
			return fmt.Errorf("writing to the program: %w (its standard error: %s)", err, brief(p.stderr.String()))
		}
		data = data[n:]
	}
	return nil
}

// end closes the input and waits; a program that does not end is killed.
func (p *program) end(limit time.Duration) error {
	_ = p.in.Close() // closed already is fine
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-p.ended:
		return nil
	case <-t.C:
		p.kill()
		return fmt.Errorf("the program did not end within %v after its input had ended", limit)
	}
}

// kill ends the program at once and waits for it.
func (p *program) kill() {
	_ = p.cmd.Process.Kill() // gone already is fine
	<-p.ended
	_ = p.in.Close()
}

// peakMB is the most memory that the program has had, 0 where the system does
// not tell.
func (p *program) peakMB() int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		var kb int
		if n, _ := fmt.Sscanf(line, "VmHWM: %d kB", &kb); n == 1 {
			return kb >> 10
		}
	}
	return 0
}

// pause waits, or ends with the context.
func pause(ctx context.Context, ms int) error {
	t := time.NewTimer(time.Duration(ms) * time.Millisecond)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// errorOf tells why a wait has ended.
func errorOf(err error, p *program) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("it did not come in time")
	}
	return fmt.Errorf("%w (its standard error: %s)", err, brief(p.stderr.String()))
}

// lookup returns the member that a path like "result.sessionId" leads to.
func lookup(raw json.RawMessage, path string) (json.RawMessage, error) {
	for _, name := range strings.Split(path, ".") {
		var m map[string]json.RawMessage
		if err := json.Unmarshal(raw, &m); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		next, ok := m[name]
		if !ok {
			return nil, fmt.Errorf("%s: there is no %s", path, name)
		}
		raw = next
	}
	return raw, nil
}
