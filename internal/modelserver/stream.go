package modelserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"dsh-acp/internal/msg"
)

// stream sends one message.
type stream struct {
	w              http.ResponseWriter
	client, server context.Context
}

type object map[string]any

// message sends m as server-sent events, each flushed by itself.
func (s stream) message(m Message, model string) {
	s.w.Header().Set("Content-Type", "text/event-stream")
	s.w.Header().Set("Cache-Control", "no-cache")
	s.w.WriteHeader(http.StatusOK)
	u := m.usage()
	started := head(m, model)
	started["content"], started["stop_reason"] = []any{}, nil
	started["usage"] = usageObject(u, 1)
	s.event("message_start", object{"type": "message_start", "message": started})
	s.event("ping", object{"type": "ping"})
	index := 0
	for _, b := range m.Blocks {
		if g, ok := b.(Gate); ok {
			if !s.pass(g) {
				return
			}
			continue
		}
		if !s.block(index, b, m.Piece) {
			s.hang()
			return
		}
		index++
	}
	if m.Hang {
		s.hang()
		return
	}
	if m.Break {
		return
	}
	s.event("message_delta", object{
		"type":  "message_delta",
		"delta": object{"stop_reason": m.stop(), "stop_sequence": nil},
		"usage": usageObject(u, u.Output),
	})
	s.event("message_stop", object{"type": "message_stop"})
}

// block sends one content block and reports whether it was sent to its end.
func (s stream) block(index int, b Block, piece int) bool {
	delta := func(d object) {
		s.event("content_block_delta", object{"type": "content_block_delta", "index": index, "delta": d})
	}
	start := func(c object) {
		s.event("content_block_start", object{"type": "content_block_start", "index": index, "content_block": c})
	}
	switch b := b.(type) {
	case Text:
		start(object{"type": "text", "text": ""})
		for _, p := range Pieces(b.Text, piece) {
			delta(object{"type": "text_delta", "text": p})
		}
	case Thinking:
		start(object{"type": "thinking", "thinking": "", "signature": ""})
		for _, p := range Pieces(b.Text, piece) {
			delta(object{"type": "thinking_delta", "thinking": p})
		}
		delta(object{"type": "signature_delta", "signature": b.Signature})
	case Redacted:
		start(object{"type": "redacted_thinking", "data": b.Data})
	case ToolUse:
		start(object{"type": "tool_use", "id": b.ID, "name": b.Name, "input": object{}})
		// The service opens every input with an empty piece.
		delta(object{"type": "input_json_delta", "partial_json": ""})
		input := b.Input
		if b.Cut != nil {
			input = firstChars(input, *b.Cut)
		}
		for _, p := range Pieces(input, piece) {
			delta(object{"type": "input_json_delta", "partial_json": p})
		}
		if b.Cut != nil {
			return false
		}
	default:
		panic(fmt.Sprintf("modelserver: no way to stream block %T", b))
	}
	s.event("content_block_stop", object{"type": "content_block_stop", "index": index})
	return true
}

// whole sends m as one JSON object. Gates and hangs still hold it back.
func (s stream) whole(m Message, model string) {
	content := []any{}
	for _, b := range m.Blocks {
		switch b := b.(type) {
		case Gate:
			if !s.pass(b) {
				return
			}
		case Text:
			content = append(content, object{"type": "text", "text": b.Text})
		case Thinking:
			content = append(content, object{"type": "thinking", "thinking": b.Text, "signature": b.Signature})
		case Redacted:
			content = append(content, object{"type": "redacted_thinking", "data": b.Data})
		case ToolUse:
			if b.Cut != nil || !json.Valid([]byte(b.Input)) {
				s.hang()
				return
			}
			content = append(content, object{"type": "tool_use", "id": b.ID, "name": b.Name, "input": json.RawMessage(b.Input)})
		default:
			panic(fmt.Sprintf("modelserver: no way to send block %T", b))
		}
	}
	if m.Hang {
		s.hang()
		return
	}
	out := head(m, model)
	u := m.usage()
	out["content"], out["stop_reason"], out["usage"] = content, m.stop(), usageObject(u, u.Output)
	s.w.Header().Set("Content-Type", "application/json")
	_, _ = s.w.Write(encode(out)) // a client that left has no use for the error
}

func head(m Message, model string) object {
	return object{"id": m.ID, "type": "message", "role": "assistant", "model": model, "stop_sequence": nil}
}

func usageObject(u Usage, output int) object {
	return object{
		"input_tokens": u.Input, "output_tokens": output,
		"cache_read_input_tokens": u.CacheRead, "cache_creation_input_tokens": u.CacheWrite,
	}
}

func (s stream) event(name string, data object) {
	// An error means that the client left; the handler ends at the next wait
	// or at the message's end, and nobody reads what it still writes.
	_, _ = fmt.Fprintf(s.w, "event: %s\ndata: %s\n\n", name, encode(data))
	flush(s.w)
}

func (s stream) hang() {
	flush(s.w)
	select {
	case <-s.client.Done():
	case <-s.server.Done():
		panic(http.ErrAbortHandler) // a clean end would look like an answer that is complete
	}
}

// pass waits at a gate and reports whether the client is still there.
func (s stream) pass(g Gate) bool {
	flush(s.w)
	if g.Reached != nil {
		close(g.Reached)
	}
	if g.Open == nil {
		return true
	}
	select {
	case <-g.Open:
		return true
	case <-s.client.Done():
	case <-s.server.Done():
		panic(http.ErrAbortHandler)
	}
	return false
}

func fail(w http.ResponseWriter, f Failure) {
	for k, vs := range f.Header {
		for _, v := range vs {
			w.Header().Add(k, v)
		}
	}
	body := []byte(f.Body)
	if f.Body == nil {
		text := f.Text
		if text == "" {
			text = fmt.Sprintf("scripted status %d", f.Status)
		}
		body = encode(object{"type": "error", "error": object{"type": errorType(f.Status), "message": text}, "request_id": "req_scripted"})
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(f.Status)
	_, _ = w.Write(body)
}

func errorType(status int) string {
	switch status {
	case 400:
		return "invalid_request_error"
	case 401:
		return "authentication_error"
	case 403:
		return "permission_error"
	case 404:
		return "not_found_error"
	case 413:
		return "request_too_large"
	case 429:
		return "rate_limit_error"
	case 529:
		return "overloaded_error"
	default:
		return "api_error"
	}
}

func raw(w http.ResponseWriter, client, server context.Context, r Raw) {
	if r.ContentType == "" {
		r.ContentType = "text/event-stream"
	}
	if r.Status == 0 {
		r.Status = http.StatusOK
	}
	w.Header().Set("Content-Type", r.ContentType)
	w.WriteHeader(r.Status)
	_, _ = w.Write(r.Body)
	if r.Hang {
		stream{w: w, client: client, server: server}.hang()
	}
}

func flush(w http.ResponseWriter) {
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}

func encode(v any) []byte {
	b, err := msg.Marshal(v)
	if err != nil {
		panic("modelserver: " + err.Error()) // only a Body or Input that is no JSON, which callers check
	}
	return b
}

func firstChars(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
