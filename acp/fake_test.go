package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"dsh-acp/internal/acpschema"
	"dsh-acp/internal/acptest"
	"dsh-acp/internal/agent"
	"dsh-acp/internal/msg"
)

// A fakeHost keeps sessions in memory. Their turns are functions.
type fakeHost struct {
	mu       sync.Mutex
	next     int
	logs     map[string][]msg.Event // guarded by mu
	open     map[string]bool        // guarded by mu
	setups   []Setup                // guarded by mu
	closed   []string               // guarded by mu
	turn     func(ctx context.Context, w *fakeWork, t Turn) (Outcome, error)
	account  error
	opening  chan struct{} // if not nil, Open waits for it
	openings int
	adorn    func(o *Opened) // adds to what sessions offer
}

func newFakeHost(turn func(ctx context.Context, w *fakeWork, t Turn) (Outcome, error)) *fakeHost {
	return &fakeHost{logs: map[string][]msg.Event{}, open: map[string]bool{}, turn: turn}
}

func (h *fakeHost) Create(_ context.Context, s Setup) (*Opened, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.next++
	id := fmt.Sprintf("s%d", h.next)
	h.logs[id] = nil
	return h.opened(id, s), nil
}

func (h *fakeHost) Open(ctx context.Context, id string, s Setup) (*Opened, error) {
	if h.opening != nil {
		select {
		case <-h.opening:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.openings++
	if _, ok := h.logs[id]; !ok {
		return nil, fmt.Errorf("session %s: %w", id, fs.ErrNotExist)
	}
	if h.open[id] {
		return nil, fmt.Errorf("session %s is open already", id)
	}
	return h.opened(id, s), nil
}

// opened is called with mu held.
func (h *fakeHost) opened(id string, s Setup) *Opened {
	h.open[id] = true
	h.setups = append(h.setups, s)
	o := &Opened{
		ID: id, History: slices.Clone(h.logs[id]), Model: "small",
		Models: []Model{{ID: "small", Name: "Small"}, {ID: "large", Name: "Large", Description: "slow"}},
		Work:   &fakeWork{host: h, id: id},
	}
	if h.adorn != nil {
		h.adorn(o)
	}
	return o
}

func (h *fakeHost) List(context.Context) ([]SessionInfo, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := []SessionInfo{}
	for id := range h.logs {
		out = append(out, SessionInfo{ID: id, Cwd: "/w", Title: "T", UpdatedAt: time.UnixMilli(1)})
	}
	return out, nil
}

func (h *fakeHost) Delete(_ context.Context, id string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, ok := h.logs[id]; !ok {
		return fs.ErrNotExist
	}
	if h.open[id] {
		return fmt.Errorf("session %s is open", id)
	}
	delete(h.logs, id)
	return nil
}

func (h *fakeHost) Fork(_ context.Context, id string, s Setup) (*Opened, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, ok := h.logs[id]; !ok {
		return nil, fmt.Errorf("session %s: %w", id, fs.ErrNotExist)
	}
	h.next++
	forked := fmt.Sprintf("s%d", h.next)
	h.logs[forked] = slices.Clone(h.logs[id])
	return h.opened(forked, s), nil
}

func (h *fakeHost) Check(context.Context) error { return h.account }

func (h *fakeHost) Logout(context.Context) error {
	h.account = ErrAuthRequired
	return nil
}

type fakeWork struct {
	host *fakeHost
	id   string
}

func (w *fakeWork) append(p msg.Payload) msg.Event {
	w.host.mu.Lock()
	defer w.host.mu.Unlock()
	data, err := msg.Marshal(p)
	if err != nil {
		panic(err)
	}
	e := msg.Event{Type: p.EventType(), Seq: int64(len(w.host.logs[w.id])), Data: data}
	w.host.logs[w.id] = append(w.host.logs[w.id], e)
	return e
}

func (w *fakeWork) Record(p msg.Payload) error {
	w.append(p)
	return nil
}

func (w *fakeWork) Run(ctx context.Context, t Turn) (Outcome, error) {
	kind := "prompt"
	if t.Command != nil {
		kind = msg.SourceCommand
	}
	w.append(msg.UserMessage{ID: "u", Role: "user", Source: msg.Source{Kind: kind}, Content: t.Prompt})
	return w.host.turn(ctx, w, t)
}

func (w *fakeWork) Close() error {
	w.host.mu.Lock()
	defer w.host.mu.Unlock()
	w.host.open[w.id] = false
	w.host.closed = append(w.host.closed, w.id)
	return nil
}

// say is a turn that answers with text.
func say(text string) func(context.Context, *fakeWork, Turn) (Outcome, error) {
	return func(_ context.Context, w *fakeWork, t Turn) (Outcome, error) {
		t.Sink.Delta(msg.MessageStart{MessageID: "m"})
		t.Sink.Delta(msg.TextDelta{MessageID: "m", Text: text})
		t.Sink.Event(w.append(msg.AssistantMessage{Message: msg.Assistant{ID: "m", Role: "assistant", Content: msg.Blocks{msg.Text{Text: text}}}}))
		return Outcome{Stop: StopEndTurn}, nil
	}
}

// hang is a turn that lasts until it is cancelled.
func hang(ctx context.Context, _ *fakeWork, _ Turn) (Outcome, error) {
	<-ctx.Done()
	return Outcome{Stop: StopCancelled}, nil
}

// ask is a turn that asks for one permission and says what came of it.
func ask(n agent.Need) func(context.Context, *fakeWork, Turn) (Outcome, error) {
	return func(ctx context.Context, w *fakeWork, t Turn) (Outcome, error) {
		use := msg.ToolUse{ID: "t1", Name: "Edit", Input: `{}`}
		t.Sink.Delta(msg.ToolStart{CallID: use.ID, Name: use.Name})
		t.Sink.Delta(msg.ToolReady{Use: use})
		v, err := t.Approver.Approve(ctx, use, n)
		if err != nil {
			return Outcome{Stop: StopCancelled}, nil
		}
		if v.Grant != nil {
			w.append(*v.Grant)
		}
		verdict := "allowed"
		if !v.Allow {
			verdict = v.Code + ": " + v.Text
		}
		return say(verdict)(ctx, w, t)
	}
}

// withServer runs a test against a server in a bubble; the connection ends,
// and the server with it, when the test function returns.
func withServer(t *testing.T, host *fakeHost, test func(t *testing.T, c *acptest.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		in, toAgent := io.Pipe()
		fromAgent, out := io.Pipe()
		done := make(chan error, 1)
		go func() {
			done <- Serve(t.Context(), Config{
				Name: "test-agent", Title: "Test", Version: "1", Sessions: host, Account: host,
				Login: []string{"/bin/agent", "login"},
			}, in, out)
			out.Close()
		}()
		var schema acpschema.Checker
		toSchema := io.MultiWriter(checkedRequests{&schema}, toAgent)
		c := acptest.New(t, toSchema, fromAgent)
		c.Check(func(raw []byte) error {
			unknown, err := schema.Check(acpschema.FromAgent, json.RawMessage(raw))
			if err == nil && len(unknown) > 0 {
				return fmt.Errorf("names that the schema does not know: %q", unknown)
			}
			return err
		})
		test(t, c)
		toAgent.Close()
		require.NoError(t, <-done)
		c.Ended()
	})
}

// checkedRequests tells the schema what was asked, so that it can check the
// answers. Lines that are bad on purpose are not its business.
type checkedRequests struct{ schema *acpschema.Checker }

func (c checkedRequests) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		_, _ = c.schema.Check(acpschema.FromClient, json.RawMessage(line))
	}
	return len(p), nil
}

// newSession initializes and makes a session.
func newSession(t *testing.T, c *acptest.Client) string {
	t.Helper()
	require.NoError(t, c.Call("initialize", map[string]any{"protocolVersion": 1}, nil))
	var res struct {
		SessionID string `json:"sessionId"`
	}
	require.NoError(t, c.Call("session/new", map[string]any{"cwd": "/w", "mcpServers": []any{}}, &res))
	require.NotEmpty(t, res.SessionID)
	return res.SessionID
}

func text(s string) []any { return []any{map[string]any{"type": "text", "text": s}} }

func promptOf(session, s string) map[string]any {
	return map[string]any{"sessionId": session, "prompt": text(s)}
}

type stopReason struct {
	StopReason string `json:"stopReason"`
}
