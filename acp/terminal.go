package acp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	acpsdk "github.com/coder/acp-go-sdk"
	"github.com/sourcegraph/jsonrpc2"
)

// Terminals run programs in terminals of the client's.
type Terminals interface {
	// Run runs a program to its end, to the end of its time, or to the end of
	// ctx, whichever comes first; then the terminal is released. begun is told
	// the terminal's id before anything else. Errors: [ErrNoTerminal], or what
	// went wrong after the program may have begun.
	Run(ctx context.Context, p Program, begun func(id string)) (TerminalEnd, error)
}

// ErrNoTerminal says that the client opened no terminal: nothing has run.
var ErrNoTerminal = errors.New("the client opened no terminal")

// A Program is what runs in a terminal.
type Program struct {
	Path string
	Args []string
	Dir  string
	Env  []string // "NAME=value", in addition to the client's own
	// Limit is when it is killed; 0 means never.
	Limit time.Duration
	// Keep is how many bytes of output the client should keep, from the end.
	Keep int
}

// A TerminalEnd is how a program ended.
type TerminalEnd struct {
	Output string
	// Cut says that the start of the output is not there.
	Cut    bool
	Exit   int    // if no signal ended it
	Signal string // "" if none did
	// TimedOut and Cancelled say that it was killed from here.
	TimedOut, Cancelled bool
}

// Times that a client has for what takes none.
const (
	terminalOpens = 30 * time.Second
	terminalTells = 10 * time.Second
)

// terminals are those of the client for one session.
type terminals struct{ sess *session }

// terminals returns the client's terminals for a turn, nil if it has none, or
// if it draws what commands write by itself.
func (sess *session) terminals() Terminals {
	s := sess.srv
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.client.terminal || s.client.terminalOutput {
		return nil
	}
	return terminals{sess}
}

func (t terminals) Run(ctx context.Context, p Program, begun func(id string)) (TerminalEnd, error) {
	id, err := t.open(ctx, p)
	if err != nil {
		return TerminalEnd{}, err
	}
	// What must be said of a terminal is said even if the turn was cancelled.
	after := context.WithoutCancel(ctx)
	defer t.say(after, "terminal/release", id, nil)
	begun(id)
	exited := make(chan exit, 1)
	waiting, stop := context.WithCancel(after)
	defer stop()
	go func() {
		var e exit
		e.err = t.sess.srv.call(waiting, "terminal/wait_for_exit", t.ref(id), &e.status)
		exited <- e
	}()
	var over <-chan time.Time
	if p.Limit > 0 {
		timer := time.NewTimer(p.Limit)
		defer timer.Stop()
		over = timer.C
	}
	var end TerminalEnd
	var how exit
	select {
	case how = <-exited:
	case <-over:
		end.TimedOut = true
	case <-ctx.Done():
		end.Cancelled = true
	}
	killed := end.TimedOut || end.Cancelled
	if killed || how.err != nil {
		t.say(after, "terminal/kill", id, nil)
	}
	if killed { // its last output is there when it is gone
		gone := time.NewTimer(terminalTells)
		defer gone.Stop()
		select {
		case <-exited:
		case <-gone.C:
		}
	} else if how.err != nil {
		return TerminalEnd{}, fmt.Errorf("the client's terminal: %w", how.err)
	}
	var out acpsdk.TerminalOutputResponse
	if err := t.say(after, "terminal/output", id, &out); err != nil && !killed {
		return TerminalEnd{}, fmt.Errorf("the client's terminal: %w", err)
	}
	end.Output, end.Cut = out.Output, out.Truncated
	switch {
	case how.status.Signal != nil:
		end.Signal = *how.status.Signal
	case how.status.ExitCode != nil:
		end.Exit = *how.status.ExitCode
	case !killed:
		end.Signal = "unknown"
	}
	return end, nil
}

// An exit is the client's answer of how a program ended.
type exit struct {
	status acpsdk.WaitForTerminalExitResponse
	err    error
}

// open has the client start a program. An answer that is an error is a no.
func (t terminals) open(ctx context.Context, p Program) (id string, err error) {
	req := acpsdk.CreateTerminalRequest{
		SessionId: acpsdk.SessionId(t.sess.opened.ID), Command: p.Path, Args: p.Args, Cwd: &p.Dir, OutputByteLimit: &p.Keep,
	}
	for _, e := range p.Env {
		name, value, _ := strings.Cut(e, "=")
		req.Env = append(req.Env, acpsdk.EnvVariable{Name: name, Value: value})
	}
	var res acpsdk.CreateTerminalResponse
	opening, cancel := context.WithTimeout(ctx, terminalOpens)
	defer cancel()
	err = t.sess.srv.call(opening, "terminal/create", req, &res)
	var refused *jsonrpc2.Error
	switch {
	case errors.As(err, &refused):
		return "", fmt.Errorf("%w: %w", ErrNoTerminal, err)
	case err != nil:
		return "", fmt.Errorf("the client's terminal: %w", err)
	case res.TerminalId == "":
		return "", fmt.Errorf("%w: it gave no id", ErrNoTerminal)
	}
	return res.TerminalId, nil
}

// say makes a call about a terminal that the client answers at once. A
// terminal that is to end has no use for an error.
func (t terminals) say(ctx context.Context, method, id string, result any) error {
	ctx, cancel := context.WithTimeout(ctx, terminalTells)
	defer cancel()
	return t.sess.srv.call(ctx, method, t.ref(id), result)
}

type terminalRef struct {
	SessionID  string `json:"sessionId"`
	TerminalID string `json:"terminalId"`
}

func (t terminals) ref(id string) terminalRef { return terminalRef{t.sess.opened.ID, id} }
