package modelserver

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
)

// A Request is one HTTP request that the server got.
type Request struct {
	Method string
	Path   string
	Header http.Header
	Body   []byte // as it came; nil if there was none

	// What Body says, for POST /v1/messages; zero if it is not such a body.
	Model    string
	Stream   bool
	System   string   // text blocks joined with newlines
	Tools    []string // names, in order
	LastUser string   // text blocks of the last user message, joined with newlines
	Format   string   // the JSON text of output_config.format, "" if absent
	// Messages are the conversation's messages, undecoded.
	Messages []json.RawMessage
}

// IsConversation reports whether r belongs to the main conversation of a
// coding agent, rather than to what it asks beside it (a title, a suggestion,
// a probe): it is a streamed message request that offers one of the tools
// Bash, Edit and Read, and asks for no suggestion.
func IsConversation(r Request) bool {
	if !r.isMessages() || !r.Stream || strings.Contains(r.LastUser, "[SUGGESTION MODE:") {
		return false
	}
	for _, t := range r.Tools {
		if t == "Bash" || t == "Edit" || t == "Read" {
			return true
		}
	}
	return false
}

func (r Request) isMessages() bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.Path, "/v1/messages")
}

// parse fills what the body says. A body that is no request leaves it zero.
func (r *Request) parse() {
	var in struct {
		Model        string          `json:"model"`
		Stream       bool            `json:"stream"`
		System       json.RawMessage `json:"system"`
		Tools        []struct{ Name string }
		Messages     []json.RawMessage `json:"messages"`
		OutputConfig struct {
			Format json.RawMessage `json:"format"`
		} `json:"output_config"`
	}
	if json.Unmarshal(r.Body, &in) != nil {
		return
	}
	r.Model, r.Stream, r.Messages = in.Model, in.Stream, in.Messages
	r.System = plainText(in.System)
	if f := bytes.TrimSpace(in.OutputConfig.Format); len(f) > 0 && string(f) != "null" {
		r.Format = string(f)
	}
	for _, t := range in.Tools {
		r.Tools = append(r.Tools, t.Name)
	}
	for i := len(in.Messages) - 1; i >= 0; i-- {
		var m struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		}
		if json.Unmarshal(in.Messages[i], &m) == nil && m.Role == "user" {
			r.LastUser = plainText(m.Content)
			break
		}
	}
}

// plainText reads content that is a string or a list of blocks.
func plainText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var blocks []struct{ Type, Text string }
	if json.Unmarshal(raw, &blocks) != nil {
		return ""
	}
	var texts []string
	for _, b := range blocks {
		if b.Type == "text" {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n")
}
