// Package msg holds the words that all other packages share: content blocks,
// messages, tool requests and results, streamed deltas, and the payloads of
// session events. It is data only: it does no I/O, reads no clock and takes
// no context.
package msg

import (
	"encoding/json"
	"fmt"
)

// A Block is one piece of a message's content. It is one of [Text], [Image],
// [Thinking], [RedactedThinking], [ToolUse], [ResourceLink] and [Resource].
// In JSON it is an object whose "type" names the member.
type Block interface{ blockType() string }

// Text is plain text, Markdown by custom.
type Text struct {
	Text string `json:"text"`
}

// Image is a picture. Data is the raw bytes (base64 in JSON).
type Image struct {
	MIME string `json:"mimeType"`
	Data []byte `json:"data"`
	URI  string `json:"uri,omitempty"`
}

// Thinking is a model's reasoning. Signature belongs to the provider and is
// sent back unchanged with the block; it is empty if the provider gave none.
type Thinking struct {
	Text      string `json:"thinking"`
	Signature string `json:"signature,omitempty"`
}

// RedactedThinking is reasoning that the provider sent encrypted. It is sent
// back unchanged and never shown.
type RedactedThinking struct {
	Data string `json:"data"`
}

// ToolUse is a model's request to run a tool.
type ToolUse struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Input is the JSON text of the arguments as the model wrote it,
	// unparsed: it may be malformed, or cut off when Cut is set.
	Input string `json:"input"`
	// Cut says that the stream ended (token limit, cancel, broken
	// connection) before the input was complete. A cut call never runs and
	// its input is never sent back to a model.
	Cut bool `json:"cut,omitempty"`
}

// ResourceLink names something that the user mentioned but did not include.
type ResourceLink struct {
	URI         string `json:"uri"`
	Name        string `json:"name"`
	MIME        string `json:"mimeType,omitempty"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Size        *int64 `json:"size,omitempty"`
}

// Resource is included content, such as an editor's @-mention of a file.
// Text is nil when the content is binary, and then Blob holds it.
type Resource struct {
	URI  string  `json:"uri"`
	MIME string  `json:"mimeType,omitempty"`
	Text *string `json:"text,omitempty"`
	Blob []byte  `json:"blob,omitempty"`
}

func (Text) blockType() string             { return "text" }
func (Image) blockType() string            { return "image" }
func (Thinking) blockType() string         { return "thinking" }
func (RedactedThinking) blockType() string { return "redacted_thinking" }
func (ToolUse) blockType() string          { return "tool_use" }
func (ResourceLink) blockType() string     { return "resource_link" }
func (Resource) blockType() string         { return "resource" }

// Blocks is a list of blocks that can be stored as JSON. nil and empty both
// encode as [].
type Blocks []Block

// MarshalJSON encodes each block as an object with its "type".
func (bs Blocks) MarshalJSON() ([]byte, error) {
	out := make([]json.RawMessage, len(bs))
	for i, b := range bs {
		raw, err := Marshal(b)
		if err != nil {
			return nil, err
		}
		typed := `{"type":"` + b.blockType() + `"`
		if len(raw) > 2 {
			typed += "," + string(raw[1:])
		} else {
			typed += "}"
		}
		out[i] = json.RawMessage(typed)
	}
	return Marshal(out)
}

// UnmarshalJSON decodes a list of blocks. A block of unknown type is an error
// that names the type and its place.
func (bs *Blocks) UnmarshalJSON(data []byte) error {
	var raws []json.RawMessage
	if err := json.Unmarshal(data, &raws); err != nil {
		return err
	}
	out := make(Blocks, 0, len(raws))
	for i, raw := range raws {
		b, err := decodeBlock(raw)
		if err != nil {
			return fmt.Errorf("block %d: %w", i, err)
		}
		out = append(out, b)
	}
	*bs = out
	return nil
}

func decodeBlock(raw json.RawMessage) (Block, error) {
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return nil, err
	}
	switch head.Type {
	case "text":
		return decodeInto[Text](raw)
	case "image":
		return decodeInto[Image](raw)
	case "thinking":
		return decodeInto[Thinking](raw)
	case "redacted_thinking":
		return decodeInto[RedactedThinking](raw)
	case "tool_use":
		return decodeInto[ToolUse](raw)
	case "resource_link":
		return decodeInto[ResourceLink](raw)
	case "resource":
		return decodeInto[Resource](raw)
	default:
		return nil, fmt.Errorf("unknown block type %q", head.Type)
	}
}

func decodeInto[B Block](raw json.RawMessage) (Block, error) {
	var b B
	err := json.Unmarshal(raw, &b)
	return b, err
}

// PlainText joins the text blocks of bs with newlines and leaves out the rest.
func (bs Blocks) PlainText() string {
	var out string
	for _, b := range bs {
		t, ok := b.(Text)
		if !ok {
			continue
		}
		if out != "" {
			out += "\n"
		}
		out += t.Text
	}
	return out
}

// ToolUses returns the tool requests among bs, in order.
func (bs Blocks) ToolUses() []ToolUse {
	var out []ToolUse
	for _, b := range bs {
		if u, ok := b.(ToolUse); ok {
			out = append(out, u)
		}
	}
	return out
}
