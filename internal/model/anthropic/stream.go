package anthropic

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/anthropics/anthropic-sdk-go/v2/packages/ssestream"
	"github.com/tidwall/gjson"

	"dsh-acp/internal/model"
	"dsh-acp/internal/model/transport"
	"dsh-acp/internal/msg"
)

// event is any event of the stream; which fields are set depends on Type.
type event struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message *struct {
		ID    string `json:"id"`
		Model string `json:"model"`
		Usage usage  `json:"usage"`
	} `json:"message"`
	ContentBlock *struct {
		Type      string          `json:"type"`
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Text      string          `json:"text"`
		Thinking  string          `json:"thinking"`
		Signature string          `json:"signature"`
		Data      string          `json:"data"`
		Input     json.RawMessage `json:"input"`
	} `json:"content_block"`
	Delta struct {
		Type        string `json:"type"`
		Text        string `json:"text"`
		Thinking    string `json:"thinking"`
		Signature   string `json:"signature"`
		PartialJSON string `json:"partial_json"`
		StopReason  string `json:"stop_reason"`
	} `json:"delta"`
	Usage *usage `json:"usage"`
}

// usage holds counts that grow; a field that is absent says nothing.
type usage struct {
	Input       *int64 `json:"input_tokens"`
	Output      *int64 `json:"output_tokens"`
	CachedRead  *int64 `json:"cache_read_input_tokens"`
	CachedWrite *int64 `json:"cache_creation_input_tokens"`
}

// block is a content block in the making.
type block struct {
	index int
	kind  string
	use   msg.ToolUse // id and name
	text  strings.Builder
	sign  strings.Builder
	data  string
	done  bool // its end was seen
	ready bool // ToolReady was passed on
}

// A reader takes the events of one answer, passes deltas on, and gathers the
// message. It is used once.
type reader struct {
	emit   func(msg.Delta)
	model  string
	id     string
	stop   string
	usage  msg.Usage
	blocks []*block // in order of their start
	ended  bool     // message_stop was seen
	shown  bool     // a delta of content was passed on
}

func newReader(asked string, emit func(msg.Delta)) *reader {
	return &reader{emit: emit, model: asked}
}

// read takes the whole stream and closes it.
func (r *reader) read(res *http.Response) error {
	defer res.Body.Close()
	if t, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); t != "text/event-stream" {
		body, _ := io.ReadAll(io.LimitReader(res.Body, 2000))
		return transport.Broken(fmt.Sprintf("the service answered with %s instead of an event stream (check the base URL): %s",
			t, strings.TrimSpace(string(body))), nil)
	}
	dec := ssestream.NewDecoder(res)
	for dec.Next() {
		if err := r.take(dec.Event()); err != nil {
			return err
		}
		if r.ended {
			return nil
		}
	}
	return transport.Broken("the model's answer broke off before its end", dec.Err())
}

func (r *reader) take(raw ssestream.Event) error {
	switch raw.Type {
	case "ping":
		return nil
	case "error":
		return streamError(raw.Data)
	}
	if len(raw.Data) == 0 {
		return nil
	}
	var e event
	if err := json.Unmarshal(raw.Data, &e); err != nil {
		return transport.Broken("the model service sent an event that is not as the API says", err)
	}
	switch e.Type {
	case "message_start":
		if e.Message == nil {
			return transport.Broken("message_start without a message", nil)
		}
		r.id = e.Message.ID
		if e.Message.Model != "" {
			r.model = e.Message.Model
		}
		r.emit(msg.MessageStart{MessageID: r.id, Model: r.model})
		r.count(&e.Message.Usage)
	case "content_block_start":
		return r.start(e)
	case "content_block_delta":
		return r.grow(e)
	case "content_block_stop":
		if b := r.at(e.Index); b != nil {
			b.done = true
			// Input that is empty or not JSON may have been cut by the token
			// limit, which only the message_delta tells.
			if b.kind == "tool_use" && json.Valid([]byte(b.text.String())) {
				r.ready(b)
			}
		}
	case "message_delta":
		if e.Delta.StopReason != "" {
			r.stop = e.Delta.StopReason
			r.settle()
		}
		r.count(e.Usage)
	case "message_stop":
		r.ended = true
		for _, b := range r.blocks {
			b.done = true // some gateways leave the ends of blocks out
		}
		r.settle()
	case "error":
		return streamError(raw.Data)
	}
	return nil
}

func (r *reader) start(e event) error {
	c := e.ContentBlock
	if c == nil {
		return transport.Broken("content_block_start without a block", nil)
	}
	b := &block{index: e.Index, kind: c.Type, data: c.Data}
	r.blocks = append(r.blocks, b)
	b.sign.WriteString(c.Signature)
	switch c.Type {
	case "text":
		r.say(b, c.Text)
	case "thinking":
		r.think(b, c.Thinking)
	case "tool_use":
		b.use = msg.ToolUse{ID: c.ID, Name: c.Name}
		r.shown = true
		r.emit(msg.ToolStart{CallID: c.ID, Name: c.Name})
		// Some gateways send the whole input here, and no deltas.
		if in := strings.TrimSpace(string(c.Input)); in != "" && in != "{}" && in != "null" {
			r.feed(b, in)
		}
	}
	return nil
}

func (r *reader) grow(e event) error {
	b := r.at(e.Index)
	if b == nil {
		return transport.Broken(fmt.Sprintf("a delta for content block %d, which was not started", e.Index), nil)
	}
	switch e.Delta.Type {
	case "text_delta":
		r.say(b, e.Delta.Text)
	case "thinking_delta":
		r.think(b, e.Delta.Thinking)
	case "signature_delta":
		b.sign.WriteString(e.Delta.Signature)
	case "input_json_delta":
		r.feed(b, e.Delta.PartialJSON)
	}
	return nil
}

func (r *reader) say(b *block, s string) {
	if s != "" {
		b.text.WriteString(s)
		r.shown = true
		r.emit(msg.TextDelta{MessageID: r.id, Text: s})
	}
}

func (r *reader) think(b *block, s string) {
	if s != "" {
		b.text.WriteString(s)
		r.shown = true
		r.emit(msg.ThoughtDelta{MessageID: r.id, Text: s})
	}
}

func (r *reader) feed(b *block, s string) {
	if s != "" && b.kind == "tool_use" {
		b.text.WriteString(s)
		r.emit(msg.ToolInput{CallID: b.use.ID, Fragment: s})
	}
}

func (r *reader) ready(b *block) {
	b.ready = true
	b.use.Input = b.input()
	r.emit(msg.ToolReady{Use: b.use})
}

// settle decides over calls whose input is not JSON, once the stop reason is
// known: the last block of an answer that hit a limit was cut, others the
// model wrote that way.
func (r *reader) settle() {
	for i, b := range r.blocks {
		if b.kind != "tool_use" || !b.done || b.ready {
			continue
		}
		if i == len(r.blocks)-1 && limited(r.stop) {
			b.use.Cut = true
			continue
		}
		r.ready(b)
	}
}

func limited(stop string) bool {
	return stop == "max_tokens" || stop == "model_context_window_exceeded"
}

// input is the JSON text so far; a call without arguments sends none.
func (b *block) input() string {
	if b.text.Len() == 0 && b.done {
		return "{}"
	}
	return b.text.String()
}

func (r *reader) at(index int) *block {
	for _, b := range slices.Backward(r.blocks) {
		if b.index == index {
			return b
		}
	}
	return nil
}

func (r *reader) count(u *usage) {
	if u == nil {
		return
	}
	set := func(to *int64, from *int64) {
		if from != nil {
			*to = *from
		}
	}
	set(&r.usage.Input, u.Input)
	set(&r.usage.Output, u.Output)
	set(&r.usage.CachedRead, u.CachedRead)
	set(&r.usage.CachedWrite, u.CachedWrite)
	r.usage = model.Cost(r.model, r.usage)
	r.emit(msg.UsageDelta{Usage: r.usage})
}

// reply returns what has arrived. broken says that the stream failed, so that
// calls without an end are cut.
func (r *reader) reply(broken bool) model.Reply {
	out := model.Reply{Usage: r.usage, Message: msg.Assistant{
		ID: r.id, Role: "assistant", Model: r.model, StopReason: stopReason(r.stop)}}
	for _, b := range r.blocks {
		switch b.kind {
		case "text":
			if b.text.Len() > 0 {
				out.Message.Content = append(out.Message.Content, msg.Text{Text: b.text.String()})
			}
		case "thinking":
			if b.text.Len() > 0 || b.sign.Len() > 0 {
				out.Message.Content = append(out.Message.Content, msg.Thinking{Text: b.text.String(), Signature: b.sign.String()})
			}
		case "redacted_thinking":
			out.Message.Content = append(out.Message.Content, msg.RedactedThinking{Data: b.data})
		case "tool_use":
			u := b.use
			u.Input = b.input()
			u.Cut = u.Cut || (!b.ready && broken) || !b.done
			out.Message.Content = append(out.Message.Content, u)
		}
	}
	return out
}

func stopReason(s string) string {
	switch s {
	case "end_turn", "stop_sequence", "pause_turn":
		return msg.StopEndTurn
	case "model_context_window_exceeded":
		return msg.StopContext
	}
	return s // tool_use, max_tokens and refusal are ours too
}

// streamError makes the failure of a stream that the service ended with an
// error event.
func streamError(data []byte) error {
	status := map[string]int{
		"invalid_request_error": 400, "authentication_error": 401, "permission_error": 403,
		"not_found_error": 404, "request_too_large": 413, "rate_limit_error": 429, "overloaded_error": 529,
	}[gjson.GetBytes(data, "error.type").String()]
	if status == 0 {
		status = 500
	}
	return transport.Answered(status, nil, transport.Words(data))
}
