package conformance

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"
)

// child is a running agent. Messages to it are queued, so that reading what
// it says never waits for it to read.
type child struct {
	cmd    *exec.Cmd
	stderr *tail
	exited chan struct{} // closed when the process has ended and all was read

	mu    sync.Mutex
	queue [][]byte      // guarded by mu
	wake  chan struct{} // has room for one
	end   bool          // guarded by mu; close stdin when the queue is empty
}

// startChild runs the agent; line is called for each line of its stdout from
// one goroutine. A line that is no JSON is given too.
func startChild(command, env []string, dir string, line func([]byte)) (*child, error) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env, cmd.Dir = env, dir
	ownGroup(cmd)
	c := &child{cmd: cmd, stderr: &tail{}, exited: make(chan struct{}), wake: make(chan struct{}, 1)}
	cmd.Stderr = c.stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start agent: %w", err)
	}
	go c.write(stdin)
	go func() {
		defer close(c.exited)
		readLines(stdout, line)
		_ = cmd.Wait() // how it ended matters only through what it said
	}()
	return c, nil
}

func readLines(r io.Reader, line func([]byte)) {
	br := bufio.NewReaderSize(r, 1<<16)
	for {
		b, err := br.ReadBytes('\n')
		if b = bytes.TrimSpace(b); len(b) > 0 {
			line(b)
		}
		if err != nil {
			return
		}
	}
}

func (c *child) send(message json.RawMessage) {
	c.mu.Lock()
	c.queue = append(c.queue, append(append([]byte(nil), message...), '\n'))
	c.mu.Unlock()
	c.signal()
}

func (c *child) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *child) write(w io.WriteCloser) {
	defer w.Close()
	for {
		c.mu.Lock()
		queue, end := c.queue, c.end
		c.queue = nil
		c.mu.Unlock()
		for _, b := range queue {
			if _, err := w.Write(b); err != nil {
				return // the agent is gone, which the reader tells
			}
		}
		if len(queue) > 0 {
			continue
		}
		if end {
			return
		}
		select {
		case <-c.wake:
		case <-c.exited:
			return
		}
	}
}

// stop closes the agent's input and waits for it to go; after grace it and
// its group are killed. The group is killed in any case, for what it left.
func (c *child) stop(grace time.Duration) error {
	c.mu.Lock()
	c.end = true
	c.mu.Unlock()
	c.signal()
	timer := time.NewTimer(grace)
	defer timer.Stop()
	var err error
	select {
	case <-c.exited:
	case <-timer.C:
		err = errors.New("the agent did not exit at the end of its input")
	}
	killGroup(c.cmd)
	<-c.exited
	return err
}

// tail keeps the end of what is written to it.
type tail struct {
	mu sync.Mutex
	b  []byte // guarded by mu
}

const tailMax = 4096

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	if len(t.b) > tailMax {
		t.b = append([]byte(nil), t.b[len(t.b)-tailMax:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.b)
}
