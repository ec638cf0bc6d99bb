package acptest

import (
	"context"
	"encoding/json"
	"fmt"
)

// ServeFiles answers the agent's requests to read and write text files out of
// buffers, each from a goroutine of its own; ctx is that of the buffers' hooks.
// It must be set before the first session begins.
func (c *Client) ServeFiles(ctx context.Context, b *Buffers) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files = func(m Message) { c.serveFile(ctx, b, m) }
}

func (c *Client) serveFile(ctx context.Context, b *Buffers, m Message) {
	var p struct{ Path, Content string }
	if err := json.Unmarshal(m.Params, &p); err != nil {
		c.t.Errorf("%s: %v", m.Method, err)
		return
	}
	var result any = map[string]any{}
	var err error
	switch m.Method {
	case "fs/read_text_file":
		var text string
		text, err = b.ReadText(ctx, p.Path)
		result = map[string]any{"content": text}
	case "fs/write_text_file":
		err = b.WriteText(ctx, p.Path, p.Content)
	default:
		err = fmt.Errorf("%s: no such method", m.Method)
	}
	if err != nil {
		result = &Error{Code: -32002, Message: err.Error()}
	}
	c.Reply(m.ID, result)
}
