package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"sync"
)

// terminals are those of the recording client: programs without a display.
type terminals struct {
	env  []string
	open map[string]*terminal
	made int
}

type terminal struct {
	cmd    *exec.Cmd
	out    lockedBuffer
	exited chan struct{}
}

// lockedBuffer is written by a program and read by whoever asks.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer // guarded by mu
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

// create starts a program and names its terminal.
func (t *terminals) create(params json.RawMessage) (id string, err error) {
	var p struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
		Cwd     string   `json:"cwd"`
		Env     []struct {
			Name  string `json:"name"`
			Value string `json:"value"`
		} `json:"env"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return "", err
	}
	one := &terminal{cmd: exec.Command(p.Command, p.Args...), exited: make(chan struct{})}
	one.cmd.Dir, one.cmd.Env = p.Cwd, t.env
	for _, v := range p.Env {
		one.cmd.Env = append(one.cmd.Env, v.Name+"="+v.Value)
	}
	one.cmd.Stdout, one.cmd.Stderr = &one.out, &one.out
	if err := one.cmd.Start(); err != nil {
		return "", err
	}
	go func() {
		defer close(one.exited)
		_ = one.cmd.Wait() // what it tells is in ProcessState too
	}()
	t.made++
	id = fmt.Sprintf("terminal_%d", t.made)
	t.open[id] = one
	return id, nil
}

// status is how a program that has ended did so.
func (t *terminal) status() object {
	if code := t.cmd.ProcessState.ExitCode(); code >= 0 {
		return object{"exitCode": code, "signal": nil}
	}
	return object{"exitCode": nil, "signal": "SIGKILL"}
}

// end kills what is left when the client goes.
func (t *terminals) end() {
	for _, one := range t.open {
		_ = one.cmd.Process.Kill() // it may have ended
	}
}

// terminalLocked answers a request about terminals.
func (r *recorder) terminalLocked(id json.RawMessage, method string, params json.RawMessage) {
	if method == "terminal/create" {
		name, err := r.terminals.create(params)
		if err != nil {
			r.refuseLocked(id, -32603, err.Error())
			return
		}
		r.respondLocked(id, object{"terminalId": name})
		return
	}
	var p struct {
		ID string `json:"terminalId"`
	}
	_ = json.Unmarshal(params, &p) // told by the schema check
	one := r.terminals.open[p.ID]
	if one == nil {
		r.refuseLocked(id, -32002, "there is no terminal "+p.ID)
		return
	}
	switch method {
	case "terminal/output":
		r.respondLocked(id, object{"output": one.out.String(), "truncated": false})
	case "terminal/wait_for_exit":
		agent := r.agent
		go func() {
			<-one.exited
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.agent == agent {
				r.respondLocked(id, one.status())
			}
		}()
	case "terminal/kill":
		_ = one.cmd.Process.Kill() // it may have ended
		r.respondLocked(id, object{})
	case "terminal/release":
		delete(r.terminals.open, p.ID)
		r.respondLocked(id, object{})
	default:
		r.refuseLocked(id, -32601, "the recording client has no method "+method)
	}
}
