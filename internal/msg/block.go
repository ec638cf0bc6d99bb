// Package msg holds the words that all other packages share: content blocks,
// messages, tool requests and results, streamed deltas, and the payloads of
// session events. It is data only: it does no I/O, reads no clock and takes
// no context.
package msg

import (
	"encoding/base64"
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

// wireBlock is any block in JSON: the fields of all members, of which each uses
// its own. One value for all means that a list is read and written in one pass,
// however large its texts are.
type wireBlock struct {
	Type        string  `json:"type"`
	Text        *string `json:"text,omitempty"`
	Thinking    *string `json:"thinking,omitempty"`
	Signature   string  `json:"signature,omitempty"`
	Data        *string `json:"data,omitempty"`
	URI         *string `json:"uri,omitempty"`
	ID          *string `json:"id,omitempty"`
	Name        *string `json:"name,omitempty"`
	Input       *string `json:"input,omitempty"`
	Cut         bool    `json:"cut,omitempty"`
	MIME        *string `json:"mimeType,omitempty"`
	Title       string  `json:"title,omitempty"`
	Description string  `json:"description,omitempty"`
	Size        *int64  `json:"size,omitempty"`
	Blob        []byte  `json:"blob,omitempty"`
}

// MarshalJSON encodes each block as an object with its "type".
func (bs Blocks) MarshalJSON() ([]byte, error) {
	out := make([]wireBlock, len(bs))
	for i, b := range bs {
		w := wireBlock{Type: b.blockType()}
		switch b := b.(type) {
		case Text:
			w.Text = &b.Text
		case Image:
			data := base64.StdEncoding.EncodeToString(b.Data)
			w.MIME, w.Data, w.URI = &b.MIME, &data, optional(b.URI)
		case Thinking:
			w.Thinking, w.Signature = &b.Text, b.Signature
		case RedactedThinking:
			w.Data = &b.Data
		case ToolUse:
			w.ID, w.Name, w.Input, w.Cut = &b.ID, &b.Name, &b.Input, b.Cut
		case ResourceLink:
			w.URI, w.Name, w.MIME = &b.URI, &b.Name, optional(b.MIME)
			w.Title, w.Description, w.Size = b.Title, b.Description, b.Size
		case Resource:
			w.URI, w.MIME, w.Text, w.Blob = &b.URI, optional(b.MIME), b.Text, b.Blob
		default:
			panic(fmt.Sprintf("msg: no JSON form for block %T", b))
		}
		out[i] = w
	}
	return Marshal(out)
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// UnmarshalJSON decodes a list of blocks. A block of unknown type is an error
// that names the type and its place.
func (bs *Blocks) UnmarshalJSON(data []byte) error {
	var wire []wireBlock
	if err := json.Unmarshal(data, &wire); err != nil {
		return err
	}
	out := make(Blocks, len(wire))
	for i, w := range wire {
		b, err := w.block()
		if err != nil {
			return fmt.Errorf("block %d: %w", i, err)
		}
		out[i] = b
	}
	*bs = out
	return nil
}

func (w wireBlock) block() (Block, error) {
	text := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	switch w.Type {
	case "text":
		return Text{Text: text(w.Text)}, nil
	case "image":
		data, err := base64.StdEncoding.DecodeString(text(w.Data))
		if err != nil {
			return nil, fmt.Errorf("image data: %w", err)
		}
		return Image{MIME: text(w.MIME), Data: data, URI: text(w.URI)}, nil
	case "thinking":
		return Thinking{Text: text(w.Thinking), Signature: w.Signature}, nil
	case "redacted_thinking":
		return RedactedThinking{Data: text(w.Data)}, nil
	case "tool_use":
		return ToolUse{ID: text(w.ID), Name: text(w.Name), Input: text(w.Input), Cut: w.Cut}, nil
	case "resource_link":
		return ResourceLink{URI: text(w.URI), Name: text(w.Name), MIME: text(w.MIME),
			Title: w.Title, Description: w.Description, Size: w.Size}, nil
	case "resource":
		return Resource{URI: text(w.URI), MIME: text(w.MIME), Text: w.Text, Blob: w.Blob}, nil
	default:
		return nil, fmt.Errorf("unknown block type %q", w.Type)
	}
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
