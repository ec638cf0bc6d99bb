package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"

	"dsh-acp/internal/modelserver"
)

// script turns the scenario's model messages into answers.
func (s *Scenario) script(p *placeholders) (*modelserver.Script, error) {
	answers := make([]modelserver.Answer, 0, len(s.Assistant))
	for i, blocks := range s.Assistant {
		a, err := answer(blocks, p)
		if err != nil {
			return nil, fmt.Errorf("scenario %s: assistant message %d: %w", s.Name, i, err)
		}
		answers = append(answers, a)
	}
	return modelserver.NewScript(answers...), nil
}

func answer(blocks []json.RawMessage, p *placeholders) (modelserver.Answer, error) {
	var m modelserver.Message
	for _, raw := range blocks {
		var b struct {
			Type       string          `json:"type"`
			Text       string          `json:"text"`
			Thinking   string          `json:"thinking"`
			Signature  string          `json:"signature"`
			Data       string          `json:"data"`
			ID         string          `json:"id"`
			Name       string          `json:"name"`
			Input      json.RawMessage `json:"input"`
			Cut        *int            `json:"_cut"`
			Status     int             `json:"status"`
			Repeat     int             `json:"repeat"`
			Message    string          `json:"message"`
			Body       json.RawMessage `json:"body"`
			StopReason string          `json:"stop_reason"`
		}
		if err := json.Unmarshal(p.show(raw), &b); err != nil {
			return nil, err
		}
		switch b.Type {
		case "text":
			m.Blocks = append(m.Blocks, modelserver.Text{Text: b.Text})
		case "thinking":
			m.Blocks = append(m.Blocks, modelserver.Thinking{Text: b.Thinking, Signature: b.Signature})
		case "redacted_thinking":
			m.Blocks = append(m.Blocks, modelserver.Redacted{Data: b.Data})
		case "tool_use":
			input, err := compact(b.Input)
			if err != nil {
				return nil, err
			}
			m.Blocks = append(m.Blocks, modelserver.ToolUse{ID: b.ID, Name: b.Name, Input: input, Cut: b.Cut})
		case "_http_error":
			return modelserver.Failure{Status: b.Status, Repeat: b.Repeat, Text: b.Message, Body: b.Body}, nil
		case "_stop":
			m.Stop = b.StopReason
		case "_hang":
			m.Hang = true
		default:
			return nil, fmt.Errorf("block type %q: want text, thinking, redacted_thinking, tool_use, _http_error, _stop or _hang", b.Type)
		}
	}
	return m, nil
}

// compact is the input as it is streamed: in the order of its keys and
// without blanks.
func compact(input json.RawMessage) (string, error) {
	var b bytes.Buffer
	if err := json.Compact(&b, input); err != nil {
		return "", err
	}
	return b.String(), nil
}
