package presenter

import (
	"encoding/json"
	"fmt"

	"dsh-acp/internal/msg"
)

// A ContentBlock is content in the form of the protocol: text, an image, a
// link or an embedded resource.
type ContentBlock struct {
	// Block is one of msg.Text, msg.Image, msg.ResourceLink and
	// msg.Resource; the other blocks are never shown as they are.
	Block msg.Block
}

// MarshalJSON encodes the block as an object whose "type" names it.
func (b ContentBlock) MarshalJSON() ([]byte, error) {
	switch c := b.Block.(type) {
	case msg.Text:
		return msg.Marshal(struct {
			Type string `json:"type"`
			msg.Text
		}{"text", c})
	case msg.Image:
		return msg.Marshal(struct {
			Type string `json:"type"`
			msg.Image
		}{"image", c})
	case msg.ResourceLink:
		return msg.Marshal(struct {
			Type string `json:"type"`
			msg.ResourceLink
		}{"resource_link", c})
	case msg.Resource:
		return msg.Marshal(resourceBlock(c))
	default:
		panic(fmt.Sprintf("presenter: no content block for %T", b.Block))
	}
}

// resourceBlock nests a resource as the protocol does. A resource has text or
// a blob; one with neither is an empty text.
func resourceBlock(r msg.Resource) any {
	type body struct {
		URI  string  `json:"uri"`
		MIME string  `json:"mimeType,omitempty"`
		Text *string `json:"text,omitempty"`
		Blob []byte  `json:"blob,omitempty"`
	}
	b := body{URI: r.URI, MIME: r.MIME, Text: r.Text, Blob: r.Blob}
	if b.Text == nil && len(b.Blob) == 0 {
		b.Text = new(string)
	}
	return struct {
		Type     string `json:"type"`
		Resource body   `json:"resource"`
	}{"resource", b}
}

// visible returns the blocks of bs that a client can be shown.
func visible(bs msg.Blocks) []ContentBlock {
	var out []ContentBlock
	for _, b := range bs {
		switch b.(type) {
		case msg.Text, msg.Image, msg.ResourceLink, msg.Resource:
			out = append(out, ContentBlock{Block: b})
		case msg.Thinking, msg.RedactedThinking, msg.ToolUse:
			// belong to a model's message, not to what a tool or user says
		default:
			panic(fmt.Sprintf("presenter: no rule for block %T", b))
		}
	}
	return out
}

// A ToolContent is one piece of a tool call's content. It is one of
// [ContentItem], [DiffItem] and [TerminalItem].
type ToolContent interface{ toolContent() }

// A ContentItem is a plain content block.
type ContentItem struct{ Content ContentBlock }

// A DiffItem is a changed region of a file. Path is absolute.
type DiffItem struct {
	Path    string
	OldText *string // null on the wire: there was nothing before
	NewText string
}

// A TerminalItem shows a terminal that the client was told of before.
type TerminalItem struct{ TerminalID string }

func (ContentItem) toolContent()  {}
func (DiffItem) toolContent()     {}
func (TerminalItem) toolContent() {}

// MarshalJSON encodes the item with its "type".
func (c ContentItem) MarshalJSON() ([]byte, error) {
	return msg.Marshal(struct {
		Type    string       `json:"type"`
		Content ContentBlock `json:"content"`
	}{"content", c.Content})
}

// MarshalJSON encodes the item with its "type"; oldText is always there.
func (d DiffItem) MarshalJSON() ([]byte, error) {
	return msg.Marshal(struct {
		Type    string  `json:"type"`
		Path    string  `json:"path"`
		OldText *string `json:"oldText"`
		NewText string  `json:"newText"`
	}{"diff", d.Path, d.OldText, d.NewText})
}

// MarshalJSON encodes the item with its "type".
func (t TerminalItem) MarshalJSON() ([]byte, error) {
	return msg.Marshal(struct {
		Type string `json:"type"`
		ID   string `json:"terminalId"`
	}{"terminal", t.TerminalID})
}

// textItem is a content item of text.
func textItem(s string) ToolContent {
	return ContentItem{Content: ContentBlock{Block: msg.Text{Text: s}}}
}

// items wraps content blocks, one item each. It never returns nil.
func items(bs []ContentBlock) []ToolContent {
	out := make([]ToolContent, 0, len(bs))
	for _, b := range bs {
		out = append(out, ContentItem{Content: b})
	}
	return out
}

// rawOutput is a result as the model gets it: the text where it is one text
// and no list is asked for, otherwise the list of its blocks, pictures in the form of the Messages API
// as with other agents.
func rawOutput(bs msg.Blocks, list bool) json.RawMessage {
	blocks := visible(bs)
	if len(blocks) == 0 {
		return mustMarshal("")
	}
	if t, ok := blocks[0].Block.(msg.Text); ok && len(blocks) == 1 && !list {
		return mustMarshal(t.Text)
	}
	out := make([]any, len(blocks))
	for i, b := range blocks {
		out[i] = b
		if p, ok := b.Block.(msg.Image); ok {
			out[i] = newModelImage(p)
		}
	}
	return mustMarshal(out)
}

// A modelImage is a picture in a model's message.
type modelImage struct {
	Type   string           `json:"type"`
	Source modelImageSource `json:"source"`
}

type modelImageSource struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      []byte `json:"data"`
}

func newModelImage(p msg.Image) modelImage {
	return modelImage{Type: "image", Source: modelImageSource{Type: "base64", MediaType: p.MIME, Data: p.Data}}
}
