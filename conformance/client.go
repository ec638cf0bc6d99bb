package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"dsh-acp/internal/acpschema"
	"dsh-acp/internal/msg"
)

// recorder is the client's side of a connection: it records every message of
// both directions, answers the agent's requests by the scenario's script, and
// cancels when the scenario says so.
type recorder struct {
	scenario *Scenario
	root     string // the workspace

	mu        sync.Mutex
	agent     *child                            // guarded by mu
	entries   []Entry                           // guarded by mu
	nextID    int                               // guarded by mu; of the running process
	waiting   map[string]chan acpschema.Message // guarded by mu; by request id
	answered  int                               // guarded by mu; permission requests so far
	sessionID string                            // guarded by mu
	prompt    int                               // guarded by mu; number of the running prompt, -1 if none
	cancelled map[int]bool                      // guarded by mu; entries of scenario.Cancel that fired
	stopping  bool                              // guarded by mu; the running prompt was cancelled
	junk      []string                          // guarded by mu; lines that are no JSON
	buffers   map[string]string                 // guarded by mu; unsaved texts by path in the workspace
	terminals terminals                         // guarded by mu
}

func newRecorder(s *Scenario, root, home string) *recorder {
	return &recorder{
		scenario: s, root: root, waiting: map[string]chan acpschema.Message{}, prompt: -1, cancelled: map[int]bool{},
		buffers:   maps.Clone(s.Buffers),
		terminals: terminals{env: baseEnv(home), open: map[string]*terminal{}},
	}
}

// inWorkspace is a path below the workspace as scenarios write it.
func (r *recorder) inWorkspace(path string) string {
	rel, err := filepath.Rel(r.root, path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(rel)
}

// object is a JSON object to send.
type object map[string]any

func encode(v any) json.RawMessage {
	b, err := msg.Marshal(v)
	if err != nil {
		panic("conformance: " + err.Error()) // made of maps, strings and checked JSON
	}
	return b
}

// sendLocked records a message of ours and sends it. mu is held, so that the
// order of the record is the order of sending.
func (r *recorder) sendLocked(message json.RawMessage) {
	r.entries = append(r.entries, Entry{Seq: len(r.entries) + 1, From: fromClient, Message: message})
	r.agent.send(message)
}

// begin tells the recorder of a new process.
func (r *recorder) begin(c *child) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.agent, r.nextID = c, 0
	r.waiting = map[string]chan acpschema.Message{}
}

// call sends a request and waits for its answer.
func (r *recorder) call(ctx context.Context, method string, params object) (acpschema.Message, error) {
	r.mu.Lock()
	if r.agent == nil {
		r.mu.Unlock()
		return acpschema.Message{}, errors.New("no agent is running: the step start is missing")
	}
	id := fmt.Sprint(r.nextID)
	r.nextID++
	answer := make(chan acpschema.Message, 1)
	r.waiting[id] = answer
	agent := r.agent
	r.sendLocked(encode(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  string          `json:"method"`
		Params  object          `json:"params"`
	}{"2.0", json.RawMessage(id), method, params}))
	r.mu.Unlock()
	select {
	case m := <-answer:
		return m, nil
	case <-agent.exited:
		select {
		case m := <-answer:
			return m, nil
		default:
		}
		return acpschema.Message{}, fmt.Errorf("the agent ended before it answered; its stderr ends with: %s", strings.TrimSpace(agent.stderr.String()))
	case <-ctx.Done():
		return acpschema.Message{}, fmt.Errorf("no answer: %w", context.Cause(ctx))
	}
}

// received takes one line of the agent.
func (r *recorder) received(line []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !json.Valid(line) {
		r.junk = append(r.junk, string(line))
		return
	}
	raw := json.RawMessage(append([]byte(nil), line...))
	r.entries = append(r.entries, Entry{Seq: len(r.entries) + 1, From: fromAgent, Message: raw})
	var m acpschema.Message
	if json.Unmarshal(raw, &m) != nil {
		return // valid JSON of another kind: the schema check tells
	}
	switch {
	case m.IsRequest():
		r.answerLocked(m)
	case m.Method == "session/update":
		r.watchLocked(m.Params)
	case m.Method == "" && m.ID != nil:
		if answer := r.waiting[string(m.ID)]; answer != nil {
			delete(r.waiting, string(m.ID))
			answer <- m
		}
	}
}

// watchLocked starts the cancels that wait for an update like this one.
func (r *recorder) watchLocked(params json.RawMessage) {
	var p struct {
		Update struct {
			Kind string `json:"sessionUpdate"`
		} `json:"update"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	for i, c := range r.scenario.Cancel {
		if c.Prompt == r.prompt && c.AfterFirst == p.Update.Kind && !r.cancelled[i] {
			r.cancelled[i] = true
			agent := r.agent
			time.AfterFunc(time.Duration(c.DelayMs)*time.Millisecond, func() {
				r.mu.Lock()
				defer r.mu.Unlock()
				if r.agent == agent && r.prompt == c.Prompt {
					r.cancelLocked()
				}
			})
		}
	}
}

func (r *recorder) cancelLocked() {
	r.stopping = true
	r.sendLocked(encode(struct {
		Version string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  object `json:"params"`
	}{"2.0", "session/cancel", object{"sessionId": r.sessionID}}))
}

func (r *recorder) setPrompt(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.prompt = n
	r.stopping = r.stopping && n < 0
}

// isStopping reports whether the last prompt that began was cancelled.
func (r *recorder) isStopping() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stopping
}

func (r *recorder) respondLocked(id json.RawMessage, result any) {
	r.sendLocked(encode(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  any             `json:"result"`
	}{"2.0", id, result}))
}

func (r *recorder) refuseLocked(id json.RawMessage, code int, text string) {
	r.sendLocked(encode(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   object          `json:"error"`
	}{"2.0", id, object{"code": code, "message": text}}))
}

// answerLocked answers a request of the agent.
func (r *recorder) answerLocked(m acpschema.Message) {
	var p struct {
		Path    string `json:"path"`
		Line    *int   `json:"line"`
		Limit   *int   `json:"limit"`
		Content string `json:"content"`
		Options []struct {
			ID   string `json:"optionId"`
			Kind string `json:"kind"`
		} `json:"options"`
	}
	if err := json.Unmarshal(m.Params, &p); err != nil {
		r.refuseLocked(m.ID, -32602, "params: "+err.Error())
		return
	}
	switch m.Method {
	case "session/request_permission":
		want := r.nextPermissionLocked()
		outcome := object{"outcome": "cancelled"}
		switch want {
		case "cancelled":
		case "cancel_session":
			r.cancelLocked()
		case "cancel_session_no_answer":
			r.cancelLocked()
			return
		default:
			for _, o := range p.Options {
				if o.Kind == want {
					outcome = object{"outcome": "selected", "optionId": o.ID}
					break
				}
			}
		}
		r.respondLocked(m.ID, object{"outcome": outcome})
	case "fs/read_text_file":
		text, open := r.buffers[r.inWorkspace(p.Path)]
		if !open {
			b, err := os.ReadFile(p.Path)
			if err != nil {
				r.refuseLocked(m.ID, -32002, err.Error())
				return
			}
			text = string(b)
		}
		r.respondLocked(m.ID, object{"content": lines(text, p.Line, p.Limit)})
	case "fs/write_text_file":
		if err := os.WriteFile(p.Path, []byte(p.Content), 0o644); err != nil {
			r.refuseLocked(m.ID, -32603, err.Error())
			return
		}
		delete(r.buffers, r.inWorkspace(p.Path)) // saved
		r.respondLocked(m.ID, object{})
	default:
		if r.scenario.Terminals && strings.HasPrefix(m.Method, "terminal/") {
			r.terminalLocked(m.ID, m.Method, m.Params)
			return
		}
		r.refuseLocked(m.ID, -32601, "the recording client has no method "+m.Method)
	}
}

func (r *recorder) nextPermissionLocked() string {
	i := r.answered
	r.answered++
	switch {
	case i < len(r.scenario.Permissions):
		return r.scenario.Permissions[i]
	case r.scenario.PermissionDefault != "":
		return r.scenario.PermissionDefault
	default:
		return "allow_once"
	}
}

// lines returns a part of text: from line (1 is the first) on, at most limit
// lines; nil means from the start, and without a limit.
func lines(text string, line, limit *int) string {
	all := strings.SplitAfter(text, "\n")
	if line != nil && *line > 1 {
		all = all[min(*line-1, len(all)):]
	}
	if limit != nil && *limit >= 0 {
		all = all[:min(*limit, len(all))]
	}
	return strings.Join(all, "")
}
