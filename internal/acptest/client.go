// Package acptest is a fake editor for tests: it speaks raw JSON-RPC lines
// with an agent, keeps every message as it came, and answers permission
// questions by script. It takes no part in the product and knows no types of
// the protocol beyond what a question and its answer hold, so that it cannot
// hide what an agent really sends.
package acptest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"dsh-acp/internal/msg"
)

// A Message is one message from the agent.
type Message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *Error          `json:"error"`
	Raw    json.RawMessage `json:"-"` // the line
}

// An Error is a JSON-RPC error that the agent answered with.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

func (e *Error) Error() string { return fmt.Sprintf("%s (%d) %s", e.Message, e.Code, e.Data) }

// Update is what a session/update notification holds, as far as tests look.
type Update struct {
	SessionID string `json:"sessionId"`
	Update    struct {
		Kind    string          `json:"sessionUpdate"`
		CallID  string          `json:"toolCallId"`
		Status  string          `json:"status"`
		Title   string          `json:"title"`
		Content json.RawMessage `json:"content"`
	} `json:"update"`
}

// Text returns the text of a message chunk, "" for anything else.
func (u Update) Text() string {
	var c struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(u.Update.Content, &c) != nil {
		return ""
	}
	return c.Text
}

// A Question is a session/request_permission from the agent.
type Question struct {
	ID        json.RawMessage `json:"-"`
	SessionID string          `json:"sessionId"`
	ToolCall  json.RawMessage `json:"toolCall"`
	Options   []Option        `json:"options"`
}

// Option is one answer that the agent offers.
type Option struct {
	ID   string `json:"optionId"`
	Name string `json:"name"`
	Kind string `json:"kind"`
}

// Pick returns the answer that takes the first option of a kind.
func (q Question) Pick(kind string) any {
	for _, o := range q.Options {
		if o.Kind == kind {
			return Selected(o.ID)
		}
	}
	panic("acptest: no option of kind " + kind)
}

// Selected is the answer that takes an option, offered or not.
func Selected(option string) any {
	return map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": option}}
}

// Cancelled is the answer of a client whose turn was cancelled.
func Cancelled() any { return map[string]any{"outcome": map[string]any{"outcome": "cancelled"}} }

// A Client is the editor's end of a connection. It is safe for concurrent
// use. Waits have no deadline of their own: in a synctest bubble a wait that
// cannot end is a deadlock, elsewhere the test's own deadline ends it.
type Client struct {
	t  testing.TB
	in io.Writer // to the agent

	writing sync.Mutex

	mu     sync.Mutex
	cond   *sync.Cond
	log    []Message            // all that came; guarded by mu
	ended  error                // why nothing more will come; guarded by mu
	nextID int                  // guarded by mu
	answer func(q Question) any // guarded by mu
	files  func(m Message)      // guarded by mu
	check  func(raw []byte) error
}

// New starts to read out, the agent's output. in is the agent's input. A line
// that is no JSON object fails the test.
func New(t testing.TB, in io.Writer, out io.Reader) *Client {
	c := &Client{t: t, in: in}
	c.cond = sync.NewCond(&c.mu)
	go c.read(out)
	return c
}

// Check has every message of the agent looked at; an error fails the test. It
// must be set before the first message is sent.
func (c *Client) Check(check func(raw []byte) error) { c.check = check }

// OnQuestion sets how permission questions are answered: with the value
// returned as the result, an *Error as an error, or, if it is nil, not at all.
// It is called from a goroutine of its own for each question. Without it
// nothing is answered.
func (c *Client) OnQuestion(answer func(q Question) any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answer = answer
}

func (c *Client) read(out io.Reader) {
	r := bufio.NewReaderSize(out, 64<<10)
	for {
		line, err := r.ReadBytes('\n')
		if len(line) > 0 {
			c.take(line)
		}
		if err != nil {
			c.mu.Lock()
			c.ended = err
			c.cond.Broadcast()
			c.mu.Unlock()
			return
		}
	}
}

func (c *Client) take(line []byte) {
	m := Message{Raw: line}
	if err := json.Unmarshal(line, &m); err != nil {
		c.t.Errorf("the agent sent a line that is no message: %v: %.300q", err, line)
		return
	}
	if c.check != nil {
		if err := c.check(line); err != nil {
			c.t.Errorf("the agent sent a bad message: %v: %.600s", err, line)
		}
	}
	c.mu.Lock()
	c.log = append(c.log, m)
	answer, files := c.answer, c.files
	c.cond.Broadcast()
	c.mu.Unlock()
	if files != nil && strings.HasPrefix(m.Method, "fs/") {
		go files(m)
	}
	if m.Method == "session/request_permission" && answer != nil {
		q := Question{ID: m.ID}
		if err := json.Unmarshal(m.Params, &q); err != nil {
			c.t.Errorf("permission question: %v", err)
			return
		}
		go func() {
			if a := answer(q); a != nil {
				c.Reply(q.ID, a)
			}
		}()
	}
}

// Reply answers a request of the agent's.
func (c *Client) Reply(id json.RawMessage, result any) {
	name := "result"
	if e, ok := result.(*Error); ok {
		name, result = "error", map[string]any{"code": e.Code, "message": e.Message}
	}
	c.send(map[string]any{"jsonrpc": "2.0", "id": id, name: result})
}

// Write sends bytes as they are. An error is left to the reader to show: an
// agent that has ended takes no more.
func (c *Client) Write(raw string) {
	c.writing.Lock()
	defer c.writing.Unlock()
	_, _ = io.WriteString(c.in, raw)
}

func (c *Client) send(v any) {
	raw, err := msg.Marshal(v)
	if err != nil {
		panic("acptest: " + err.Error())
	}
	c.Write(string(raw) + "\n")
}

// Notify sends a notification.
func (c *Client) Notify(method string, params any) {
	c.send(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
}

// Request sends a request and returns its id without waiting.
func (c *Client) Request(method string, params any) int {
	c.mu.Lock()
	id := c.nextID
	c.nextID++
	c.mu.Unlock()
	c.send(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	return id
}

// Answer waits for the answer to a request, which is an *Error or decoded
// into result (nil: not looked at).
func (c *Client) Answer(id int, result any) error {
	m, err := c.Wait(func(m Message) bool { return m.Method == "" && string(m.ID) == fmt.Sprint(id) })
	switch {
	case err != nil:
		return err
	case m.Error != nil:
		return m.Error
	case result == nil:
		return nil
	}
	return json.Unmarshal(m.Result, result)
}

// Call is Request and Answer.
func (c *Client) Call(method string, params, result any) error {
	return c.Answer(c.Request(method, params), result)
}

// Wait returns the first message, of those that came and those to come, for
// which is reports true. It fails when the agent's output ends before.
func (c *Client) Wait(is func(m Message) bool) (Message, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := 0; ; {
		for ; i < len(c.log); i++ {
			if is(c.log[i]) {
				return c.log[i], nil
			}
		}
		if c.ended != nil {
			if errors.Is(c.ended, io.EOF) {
				return Message{}, errors.New("the agent's output ended")
			}
			return Message{}, c.ended
		}
		c.cond.Wait()
	}
}

// Ended waits until the agent's output ends.
func (c *Client) Ended() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.ended == nil {
		c.cond.Wait()
	}
}

// Messages returns what came so far.
func (c *Client) Messages() []Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Message(nil), c.log...)
}

// Updates returns the updates of a session so far.
func (c *Client) Updates(session string) []Update {
	var out []Update
	for _, m := range c.Messages() {
		var u Update
		if m.Method == "session/update" && json.Unmarshal(m.Params, &u) == nil && u.SessionID == session {
			out = append(out, u)
		}
	}
	return out
}
