package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/openai/openai-go/v3/packages/ssestream"

	"dsh-acp/internal/model"
	"dsh-acp/internal/model/transport"
	"dsh-acp/internal/msg"
)

// chunk is one event of the stream.
type chunk struct {
	ID      string          `json:"id"`
	Model   string          `json:"model"`
	Error   json.RawMessage `json:"error"`
	Choices []struct {
		Index int `json:"index"`
		Delta struct {
			Content          string     `json:"content"`
			Refusal          string     `json:"refusal"`
			ReasoningContent string     `json:"reasoning_content"`
			Reasoning        string     `json:"reasoning"` // the same, elsewhere
			ToolCalls        []callPart `json:"tool_calls"`
		} `json:"delta"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Prompt     int64 `json:"prompt_tokens"`
		Completion int64 `json:"completion_tokens"`
		Details    struct {
			Cached int64 `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
		CacheHit int64 `json:"prompt_cache_hit_tokens"` // the same, elsewhere
	} `json:"usage"`
}

type callPart struct {
	Index    int    `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// block is a piece of the answer in the making.
type block struct {
	kind  string // text, thinking or call
	text  strings.Builder
	index int // of a call
	id    string
	use   msg.ToolUse
	ready bool
}

// A reader takes the chunks of one answer, passes deltas on, and gathers the
// message. It is used once.
type reader struct {
	emit   func(msg.Delta)
	model  string
	id     string
	begun  bool
	blocks []*block
	finish string
	done   bool // [DONE] was seen
	shown  bool
	usage  msg.Usage
}

func newReader(asked string, emit func(msg.Delta)) *reader {
	return &reader{emit: emit, model: asked}
}

// read takes the whole stream and closes it. The answer has ended if a finish
// reason was given or the final mark was seen: some servers send only one.
func (r *reader) read(res *http.Response) error {
	defer res.Body.Close()
	if t, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); t != "text/event-stream" {
		body, _ := io.ReadAll(io.LimitReader(res.Body, 2000))
		return transport.Broken(fmt.Sprintf("the service answered with %s instead of an event stream (check the base URL): %s",
			t, strings.TrimSpace(string(body))), nil)
	}
	dec := ssestream.NewDecoder(res)
	for !r.done && dec.Next() {
		if err := r.take(bytes.TrimSpace(dec.Event().Data)); err != nil {
			return err
		}
	}
	if !r.done && (r.finish == "" || dec.Err() != nil) {
		return transport.Broken("the model's answer broke off before its end", dec.Err())
	}
	r.settle()
	return nil
}

func (r *reader) take(data []byte) error {
	if string(data) == "[DONE]" {
		r.done = true
		return nil
	}
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return transport.Broken("the model service sent a chunk that is not as the API says", err)
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return transport.Answered(http.StatusInternalServerError, nil, transport.Words(data))
	}
	r.begin(c)
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue
		}
		d := choice.Delta
		if s := cmp.Or(d.ReasoningContent, d.Reasoning); s != "" {
			r.last("thinking").text.WriteString(s)
			r.pass(msg.ThoughtDelta{MessageID: r.id, Text: s})
		}
		if s := d.Content + d.Refusal; s != "" {
			r.last("text").text.WriteString(s)
			r.pass(msg.TextDelta{MessageID: r.id, Text: s})
		}
		for _, part := range d.ToolCalls {
			r.call(part)
		}
		if d.Refusal != "" {
			r.finish = "content_filter"
		}
		if choice.FinishReason != "" && r.finish == "" {
			r.finish = choice.FinishReason
		}
	}
	if u := c.Usage; u != nil && u.Prompt+u.Completion > 0 {
		cached := max(u.Details.Cached, u.CacheHit)
		r.usage = model.Cost(r.model, msg.Usage{Input: max(0, u.Prompt-cached), CachedRead: cached, Output: u.Completion})
		r.emit(msg.UsageDelta{Usage: r.usage})
	}
	return nil
}

func (r *reader) begin(c chunk) {
	if r.begun {
		return
	}
	r.begun = true
	r.id = c.ID
	if c.Model != "" {
		r.model = c.Model
	}
	r.emit(msg.MessageStart{MessageID: r.id, Model: r.model})
}

func (r *reader) pass(d msg.Delta) {
	r.shown = true
	r.emit(d)
}

// last returns the last block if it is of that kind, else a new one.
func (r *reader) last(kind string) *block {
	if n := len(r.blocks); n > 0 && r.blocks[n-1].kind == kind {
		return r.blocks[n-1]
	}
	b := &block{kind: kind}
	r.blocks = append(r.blocks, b)
	return b
}

// call takes a piece of a tool call. A piece belongs to the last call of its
// index, unless it brings another id: some servers count each call as 0.
func (r *reader) call(part callPart) {
	var b *block
	for _, x := range r.blocks {
		if x.kind == "call" && x.index == part.Index && (part.ID == "" || x.id == "" || x.id == part.ID) {
			b = x
		}
	}
	if b == nil {
		r.settleCalls()
		b = &block{kind: "call", index: part.Index}
		r.blocks = append(r.blocks, b)
	}
	if b.id == "" {
		b.id = part.ID
	}
	fragment := part.Function.Arguments
	if b.use.Name == "" {
		b.text.WriteString(fragment)
		if part.Function.Name == "" {
			return // the name comes with a later piece
		}
		b.use.Name = part.Function.Name
		b.use.ID = b.id
		if b.use.ID == "" {
			b.use.ID = fmt.Sprintf("call_%d", len(r.blocks)-1)
		}
		r.pass(msg.ToolStart{CallID: b.use.ID, Name: b.use.Name})
		fragment = b.text.String()
	} else {
		b.text.WriteString(fragment)
	}
	if fragment != "" {
		r.pass(msg.ToolInput{CallID: b.use.ID, Fragment: fragment})
	}
}

// settleCalls passes on the calls that are complete since another has begun.
func (r *reader) settleCalls() {
	for _, b := range r.blocks {
		if b.kind == "call" && !b.ready && b.use.Name != "" && json.Valid([]byte(b.text.String())) {
			r.ready(b)
		}
	}
}

// settle decides over the calls that are left when the answer has ended: if it
// hit the limit the last one was cut.
func (r *reader) settle() {
	for i, b := range r.blocks {
		if b.kind != "call" || b.ready || b.use.Name == "" {
			continue
		}
		if r.finish == "length" && i == len(r.blocks)-1 && !json.Valid([]byte(b.text.String())) {
			continue
		}
		r.ready(b)
	}
}

func (r *reader) ready(b *block) {
	b.ready = true
	b.use.Input = b.text.String()
	if strings.TrimSpace(b.use.Input) == "" {
		b.use.Input = "{}"
	}
	r.emit(msg.ToolReady{Use: b.use})
}

// reply returns what has arrived; calls that were not passed on as complete are cut.
func (r *reader) reply() model.Reply {
	out := model.Reply{Usage: r.usage, Message: msg.Assistant{
		ID: r.id, Role: "assistant", Model: r.model, StopReason: stopReason(r.finish)}}
	for _, b := range r.blocks {
		switch b.kind {
		case "text":
			out.Message.Content = append(out.Message.Content, msg.Text{Text: b.text.String()})
		case "thinking":
			out.Message.Content = append(out.Message.Content, msg.Thinking{Text: b.text.String()})
		case "call":
			if b.use.Name == "" {
				continue // nothing was shown of it
			}
			u := b.use
			if !b.ready {
				u.Input, u.Cut = b.text.String(), true
			}
			out.Message.Content = append(out.Message.Content, u)
		}
	}
	return out
}

func stopReason(s string) string {
	switch s {
	case "stop":
		return msg.StopEndTurn
	case "length":
		return msg.StopMaxTokens
	case "tool_calls", "function_call":
		return msg.StopToolUse
	case "content_filter":
		return msg.StopRefusal
	}
	return s
}
