package cases

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"
	"time"
	"unicode/utf8"

	"dsh-acp/internal/modelserver"
)

// A modelTurn is one answer of the scripted model.
type modelTurn struct {
	ToolCalls       []modelCall     `json:"tool_calls"`
	Say             *string         `json:"say"`
	SayChunks       []string        `json:"say_chunks"`
	SlowSay         json.RawMessage `json:"slow_say"`
	EchoPrompt      bool            `json:"echo_prompt"`
	HangUntilCancel bool            `json:"hang_until_cancel"`
	Stop            string          `json:"stop_reason"`
}

type modelCall struct {
	ID       string          `json:"id"`
	Tool     string          `json:"tool"`
	Args     json.RawMessage `json:"args"`
	ArgsJSON string          `json:"args_json"`
}

// script plays the turns of a case, one a request.
type script struct {
	w *world

	mu     sync.Mutex
	played int           // guarded by mu
	seen   chan struct{} // guarded by mu; told of each text chunk, nil: nobody listens
}

// anyPiece is a piece size that no text reaches: each text is one delta.
const anyPiece = 1 << 30

func (s *script) answer(q modelserver.Request) modelserver.Answer {
	s.mu.Lock()
	i := s.played
	s.played++
	s.mu.Unlock()
	if i >= len(s.w.c.Model) {
		return modelserver.Message{Blocks: []modelserver.Block{modelserver.Text{Text: modelserver.EndText}}}
	}
	m, err := s.turn(s.w.c.Model[i], q)
	if err != nil {
		return modelserver.Failure{Status: 400, Text: fmt.Sprintf("turn %d of the case: %v", i+1, err)}
	}
	return m
}

func (s *script) turn(raw json.RawMessage, q modelserver.Request) (modelserver.Message, error) {
	m := modelserver.Message{Piece: anyPiece}
	raw, err := expandValue(raw)
	if err != nil {
		return m, err
	}
	var t modelTurn
	if err := strict(raw, &t); err != nil {
		return m, err
	}
	m.Stop, m.Hang = t.Stop, t.HangUntilCancel
	if t.EchoPrompt {
		m.Blocks = append(m.Blocks, modelserver.Text{Text: q.LastUser})
	}
	if t.Say != nil {
		m.Blocks = append(m.Blocks, modelserver.Text{Text: *t.Say})
	}
	m.Blocks = append(m.Blocks, s.chunks(t.SayChunks)...)
	slow, err := slowly(t.SlowSay)
	if err != nil {
		return m, err
	}
	m.Blocks = append(m.Blocks, slow...)
	for _, c := range t.ToolCalls {
		input := c.ArgsJSON
		if input == "" {
			args, err := s.w.substitute(c.Args)
			if err != nil {
				return m, err
			}
			input = string(args)
		}
		to := wireTargets[toolForm(c.Tool, json.RawMessage(input))]
		m.Blocks = append(m.Blocks, modelserver.ToolUse{ID: c.ID, Name: to.name, Input: renameMembers(input, to.rename)})
		// Input streams in pieces, but a long one in not too many.
		m.Piece = max(modelserver.DefaultPiece, utf8.RuneCountInString(input)/100)
	}
	return m, nil
}

// chunks makes texts that arrive one by one: each is held back until the
// program has shown the one before it, since a client may get two that have
// both arrived as one.
func (s *script) chunks(texts []string) []modelserver.Block {
	if len(texts) == 0 {
		return nil
	}
	seen := make(chan struct{}, len(texts))
	s.mu.Lock()
	s.seen = seen
	s.mu.Unlock()
	var out []modelserver.Block
	gates := make([]chan struct{}, len(texts))
	for i, t := range texts {
		gates[i] = make(chan struct{})
		out = append(out, modelserver.Text{Text: t}, modelserver.Gate{Open: gates[i]})
	}
	go func() {
		limit := 3 * time.Second
		for _, g := range gates {
			t := time.NewTimer(limit)
			select {
			case <-seen:
			case <-t.C:
				limit = 0 // it does not show each; the case will say so
			}
			t.Stop()
			close(g)
		}
	}()
	return out
}

// heard sees each line of the program.
func (s *script) heard(line []byte) {
	if !bytes.Contains(line, []byte(`"agent_message_chunk"`)) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.seen <- struct{}{}:
	default: // nobody counts, or all were counted
	}
}

// slowly makes texts with a pause before each: a string in pieces, or an
// object with text or chunks and ms.
func slowly(raw json.RawMessage) ([]modelserver.Block, error) {
	if raw == nil {
		return nil, nil
	}
	var spec struct {
		Text   string   `json:"text"`
		Chunks []string `json:"chunks"`
		MS     int      `json:"ms"`
	}
	if json.Unmarshal(raw, &spec.Text) != nil {
		if err := strict(raw, &spec); err != nil {
			return nil, fmt.Errorf("slow_say: %w", err)
		}
	}
	if spec.MS <= 0 {
		spec.MS = 50
	}
	texts := append(spec.Chunks, modelserver.Pieces(spec.Text, 8)...)
	var out []modelserver.Block
	for _, t := range texts {
		reached, open := make(chan struct{}), make(chan struct{})
		go func() {
			<-reached
			time.AfterFunc(time.Duration(spec.MS)*time.Millisecond, func() { close(open) })
		}()
		out = append(out, modelserver.Gate{Reached: reached, Open: open}, modelserver.Text{Text: t})
	}
	return out, nil
}
