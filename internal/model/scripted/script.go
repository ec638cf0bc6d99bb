// Package scripted plays a model's answers from a file, for the demo and for
// tests. It understands nothing of what it is asked: the n-th request gets the
// n-th answer.
//
// A script is a JSON array of answers, or an object that holds the array as
// "assistant". An answer is an array of content blocks as the Messages API has
// them: text, thinking, redacted_thinking and tool_use. Blocks whose type
// begins with an underscore are stage directions:
//
//	{"type": "_stop", "stop_reason": "max_tokens"}   the answer's stop reason
//	{"type": "_http_error", "status": 529, "message": "…", "repeat": 2}
//	                                                 fail that many requests, then go on
//	{"type": "_hang"}                                say no more until the request is cancelled
//	{"type": "_break"}                               the connection breaks here
//
// A tool_use may carry "_cut": n, which ends its input after n bytes and then
// hangs, "_break": true to break instead, and "_raw": "…", the literal input
// text in place of "input".
package scripted

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"dsh-acp/internal/msg"
)

// A step is one piece of an answer, ready to play.
type step struct {
	block  msg.Block // nil for a stage direction
	cut    int       // bytes of a call's input to send, -1 for all
	end    string    // "hang" or "break" after the block; "" goes on
	status int       // of an _http_error
	words  string
	repeat int
	stop   string
}

type wireBlock struct {
	Type       string          `json:"type"`
	Text       *string         `json:"text"`
	Thinking   *string         `json:"thinking"`
	Signature  string          `json:"signature"`
	Data       *string         `json:"data"`
	ID         string          `json:"id"`
	Name       string          `json:"name"`
	Input      json.RawMessage `json:"input"`
	Cut        *int            `json:"_cut"`
	Raw        *string         `json:"_raw"`
	Break      bool            `json:"_break"`
	StopReason string          `json:"stop_reason"`
	Status     int             `json:"status"`
	Repeat     int             `json:"repeat"`
	Message    string          `json:"message"`
	Body       json.RawMessage `json:"body"`
	MS         int             `json:"ms"` // of _hang; a cancel always ends it
}

// parse reads a script. Errors name the answer and the block, counted from 0.
func parse(data []byte) ([][]step, error) {
	var answers [][]json.RawMessage
	trimmed := bytes.TrimSpace(data)
	if len(trimmed) > 0 && trimmed[0] == '{' {
		var file struct {
			Assistant *[][]json.RawMessage `json:"assistant"`
		}
		if err := json.Unmarshal(data, &file); err != nil {
			return nil, fmt.Errorf("script: %w", err)
		}
		if file.Assistant == nil {
			return nil, fmt.Errorf("script: no \"assistant\": it holds the list of answers")
		}
		answers = *file.Assistant
	} else if err := json.Unmarshal(data, &answers); err != nil {
		return nil, fmt.Errorf("script: want an array of answers, each an array of blocks: %w", err)
	}
	out := make([][]step, len(answers))
	for i, blocks := range answers {
		for j, raw := range blocks {
			s, err := parseBlock(raw)
			if err != nil {
				return nil, fmt.Errorf("script: answer %d, block %d: %w", i, j, err)
			}
			out[i] = append(out[i], s)
		}
	}
	return out, nil
}

func parseBlock(raw json.RawMessage) (step, error) {
	s := step{cut: -1}
	var b wireBlock
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&b); err != nil {
		return s, err
	}
	need := func(ok bool, what string) error {
		if ok {
			return nil
		}
		return fmt.Errorf("%s: no %s", b.Type, what)
	}
	switch b.Type {
	case "text":
		if err := need(b.Text != nil, `"text"`); err != nil {
			return s, err
		}
		s.block = msg.Text{Text: *b.Text}
	case "thinking":
		if err := need(b.Thinking != nil, `"thinking"`); err != nil {
			return s, err
		}
		s.block = msg.Thinking{Text: *b.Thinking, Signature: b.Signature}
	case "redacted_thinking":
		if err := need(b.Data != nil, `"data"`); err != nil {
			return s, err
		}
		s.block = msg.RedactedThinking{Data: *b.Data}
	case "tool_use":
		return parseCall(b)
	case "_stop":
		if err := need(b.StopReason != "", `"stop_reason"`); err != nil {
			return s, err
		}
		s.stop = b.StopReason
	case "_http_error":
		if b.Status < 400 || b.Status > 599 {
			return s, fmt.Errorf("_http_error: status %d is not one of an error", b.Status)
		}
		s.status, s.words, s.repeat = b.Status, b.Message, max(b.Repeat, 1)
		if s.words == "" {
			s.words = strings.TrimSpace(string(b.Body))
		}
	case "_hang":
		s.end = "hang"
	case "_break":
		s.end = "break"
	default:
		return s, fmt.Errorf("unknown block type %q", b.Type)
	}
	return s, nil
}

func parseCall(b wireBlock) (step, error) {
	s := step{cut: -1}
	if b.ID == "" || b.Name == "" {
		return s, fmt.Errorf("tool_use: want both \"id\" and \"name\"")
	}
	u := msg.ToolUse{ID: b.ID, Name: b.Name, Input: "{}"}
	switch {
	case b.Raw != nil:
		u.Input = *b.Raw
	case len(b.Input) > 0:
		var c bytes.Buffer
		if err := json.Compact(&c, b.Input); err != nil {
			return s, err
		}
		u.Input = c.String()
	}
	if b.Cut != nil {
		s.cut = min(max(*b.Cut, 0), len(u.Input))
		s.end = "hang"
	}
	if b.Break {
		s.end = "break"
	}
	s.block = u
	return s, nil
}
