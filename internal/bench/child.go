package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"

	"dsh-acp/internal/msg"
)

// patience is how long anything may take before the measurement is given up.
const patience = 2 * time.Minute

// A child is the program, running, with the editor's end of its wire.
type child struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	stderr bytes.Buffer
	ended  chan struct{} // its output has ended

	mu    sync.Mutex
	next  int
	waits map[int]chan answer // by request id; guarded by mu
	stray int                 // answers that nobody waits for; guarded by mu
	watch func(line)          // may be nil; guarded by mu
}

// A line is a notification, and when it had been read.
type line struct {
	at  time.Time
	raw []byte
}

type answer struct {
	at     time.Time
	result json.RawMessage
	err    *answerError
}

type answerError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *answerError) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// start runs the program with some more environment.
func (l *lab) start(env ...string) (*child, error) {
	c := &child{cmd: exec.Command(l.program), ended: make(chan struct{}), waits: map[int]chan answer{}}
	c.cmd.Dir, c.cmd.Env, c.cmd.Stderr = l.work, append(l.env(), env...), &c.stderr
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	go c.read(out)
	l.children = append(l.children, c)
	return c, nil
}

func (c *child) read(out io.Reader) {
	defer close(c.ended)
	r := bufio.NewReaderSize(out, 256<<10)
	for {
		raw, err := r.ReadBytes('\n')
		if err != nil {
			return
		}
		c.take(line{time.Now(), raw})
	}
}

func (c *child) take(l line) {
	var m struct {
		ID     *int            `json:"id"`
		Method string          `json:"method"`
		Result json.RawMessage `json:"result"`
		Error  *answerError    `json:"error"`
	}
	err := json.Unmarshal(l.raw, &m)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err == nil && m.Method == "" && m.ID != nil && c.waits[*m.ID] != nil:
		c.waits[*m.ID] <- answer{l.at, m.Result, m.Error}
		delete(c.waits, *m.ID)
	case err != nil || m.Method == "":
		c.stray++
	case c.watch != nil:
		c.watch(l)
	}
}

// observe has each notification passed to f from now on; nil ends it. f is
// called by the reading goroutine.
func (c *child) observe(f func(line)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.watch = f
}

// request prepares a request: its line, and where the answer will be.
func (c *child) request(method string, params any) ([]byte, <-chan answer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next++
	raw, err := msg.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.next, "method": method, "params": params})
	if err != nil {
		return nil, nil, err
	}
	done := make(chan answer, 1)
	c.waits[c.next] = done
	return append(raw, '\n'), done, nil
}

// notification prepares a notification.
func notification(method string, params any) ([]byte, error) {
	raw, err := msg.Marshal(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
	return append(raw, '\n'), err
}

// call sends a request and waits for its answer. sent is when it was given to
// the system.
func (c *child) call(ctx context.Context, method string, params, result any) (sent time.Time, a answer, err error) {
	raw, done, err := c.request(method, params)
	if err != nil {
		return sent, a, err
	}
	sent = time.Now()
	if _, err := c.in.Write(raw); err != nil {
		return sent, a, c.explain(err)
	}
	a, err = c.await(ctx, done)
	switch {
	case err != nil:
		return sent, a, fmt.Errorf("%s: %w", method, err)
	case a.err != nil:
		return sent, a, fmt.Errorf("%s: %w", method, a.err)
	case result == nil:
		return sent, a, nil
	}
	return sent, a, json.Unmarshal(a.result, result)
}

func (c *child) await(ctx context.Context, done <-chan answer) (answer, error) {
	limit := time.NewTimer(patience)
	defer limit.Stop()
	select {
	case a := <-done:
		return a, nil
	case <-ctx.Done():
		return answer{}, ctx.Err()
	case <-limit.C:
		return answer{}, fmt.Errorf("no answer within %v", patience)
	case <-c.ended:
	}
	select {
	case a := <-done:
		return a, nil
	default:
		return answer{}, c.explain(errors.New("the program has ended"))
	}
}

// explain adds what a program that has ended said last.
func (c *child) explain(err error) error {
	select {
	case <-c.ended:
		_ = c.cmd.Wait() // its error says no more than standard error does
		return fmt.Errorf("%w; standard error: %.500s", err, c.stderr.String())
	default:
		return err
	}
}

// open answers the wire's first two requests and gives the session's id, with
// the times from before the first one.
func (c *child) open(ctx context.Context, cwd string) (session string, initialized, opened time.Time, err error) {
	_, a, err := c.call(ctx, "initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": map[string]any{}}, nil)
	if err != nil {
		return "", initialized, opened, err
	}
	session, b, err := c.session(ctx, cwd)
	return session, a.at, b, err
}

func (c *child) session(ctx context.Context, cwd string) (string, time.Time, error) {
	var made struct {
		SessionID string `json:"sessionId"`
	}
	_, a, err := c.call(ctx, "session/new", map[string]any{"cwd": cwd, "mcpServers": []any{}}, &made)
	return made.SessionID, a.at, err
}

// prompt sends text and waits until the turn has ended, well or not.
func (c *child) prompt(ctx context.Context, session, text string) (sent, done time.Time, err error) {
	var r struct {
		StopReason string `json:"stopReason"`
	}
	sent, a, err := c.call(ctx, "session/prompt", promptOf(session, text), &r)
	if err == nil && r.StopReason != "end_turn" {
		err = fmt.Errorf("session/prompt: the turn ended as %q", r.StopReason)
	}
	return sent, a.at, err
}

func promptOf(session, text string) map[string]any {
	return map[string]any{"sessionId": session, "prompt": []any{map[string]any{"type": "text", "text": text}}}
}

// strays is the number of answers that nobody had asked for.
func (c *child) strays() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stray
}

// stop ends the program as an editor does, and waits for it.
func (c *child) stop() error {
	_ = c.in.Close() // closed before is fine
	limit := time.AfterFunc(patience, func() { _ = c.cmd.Process.Kill() })
	defer limit.Stop()
	<-c.ended
	err := c.cmd.Wait()
	if err != nil {
		return fmt.Errorf("the program: %w; standard error: %.500s", err, c.stderr.String())
	}
	return nil
}
