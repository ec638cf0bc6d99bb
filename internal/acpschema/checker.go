package acpschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
)

// A Checker checks the messages of one connection as they pass: it remembers
// the requests, so that each response is checked by the method that it
// answers. The zero value is ready. It is safe for concurrent use; a request
// is to be given before its response.
type Checker struct {
	mu   sync.Mutex
	open map[string]string // guarded by mu; "direction id" of a request to its method
}

// A Message is a JSON-RPC message taken apart.
type Message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"` // nil if absent
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"` // nil if absent
	Error   json.RawMessage `json:"error"`  // nil if absent
}

// IsRequest reports whether m wants an answer.
func (m Message) IsRequest() bool { return m.Method != "" && m.ID != nil }

// Validate checks one message: its envelope, then its params, result or error
// by the schema. It fails for a response whose request it has not seen.
func (c *Checker) Validate(dir Direction, message json.RawMessage) error {
	_, err := c.Check(dir, message)
	return err
}

// Check is Validate followed by a search for unknown names (see
// [UnknownParams]), each as "session/prompt result: usge". A message that
// does not validate has none.
func (c *Checker) Check(dir Direction, message json.RawMessage) (unknown []string, err error) {
	m, method, err := c.take(dir, message)
	if err != nil {
		return nil, err
	}
	what := ""
	switch {
	case m.Method != "":
		if err := ValidateParams(dir, m.Method, m.Params); err != nil {
			return nil, err
		}
		what, unknown = m.Method+" params: ", UnknownParams(dir, m.Method, m.Params)
	case m.Error != nil:
		return nil, validate("Error", method+" error", m.Error)
	default:
		if err := ValidateResult(dir, method, m.Result); err != nil {
			return nil, err
		}
		what, unknown = method+" result: ", UnknownResult(dir, method, m.Result)
	}
	for i, u := range unknown {
		unknown[i] = what + u
	}
	return unknown, nil
}

// take checks the envelope, notes a request, and closes the request that a
// response answers; method is the one that it answers.
func (c *Checker) take(dir Direction, message json.RawMessage) (m Message, method string, err error) {
	if err := json.Unmarshal(message, &m); err != nil {
		return m, "", fmt.Errorf("acpschema: %w", err)
	}
	if m.Version != "2.0" {
		return m, "", errors.New(`acpschema: jsonrpc: want "2.0"`)
	}
	if m.ID != nil {
		if err := validate("RequestId", "id", m.ID); err != nil && string(m.ID) != "null" {
			return m, "", err
		}
	}
	if m.Method != "" {
		if m.Result != nil || m.Error != nil {
			return m, "", fmt.Errorf("acpschema: %s: a method beside a result or an error", m.Method)
		}
		if m.ID != nil {
			c.mu.Lock()
			defer c.mu.Unlock()
			if c.open == nil {
				c.open = map[string]string{}
			}
			if was, ok := c.open[key(dir, m.ID)]; ok {
				return m, "", fmt.Errorf("acpschema: %s: id %s is in use by %s", m.Method, m.ID, was)
			}
			c.open[key(dir, m.ID)] = m.Method
		}
		return m, "", nil
	}
	if (m.Result == nil) == (m.Error == nil) {
		return m, "", errors.New("acpschema: a response needs either a result or an error")
	}
	if m.ID == nil {
		return m, "", errors.New("acpschema: a response needs an id")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	method, ok := c.open[key(dir.other(), m.ID)]
	if !ok {
		return m, "", fmt.Errorf("acpschema: a response to id %s, which no open request has", m.ID)
	}
	delete(c.open, key(dir.other(), m.ID))
	return m, method, nil
}

func key(dir Direction, id json.RawMessage) string {
	return dir.String() + " " + string(bytes.TrimSpace(id))
}
