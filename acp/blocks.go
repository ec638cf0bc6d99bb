package acp

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"dsh-acp/internal/eventlog"
	"dsh-acp/internal/msg"
)

// A promptBlock is one content block of a prompt. It is decoded by the type
// that the raw JSON names: the library turns unknown blocks into empty text.
type promptBlock struct{ block msg.Block }

// UnmarshalJSON fails for a type that does not reach the model.
func (b *promptBlock) UnmarshalJSON(data []byte) error {
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return err
	}
	var err error
	switch head.Type {
	case "text":
		var v struct {
			Text *string `json:"text"`
		}
		if err = json.Unmarshal(data, &v); err == nil && v.Text == nil {
			err = missing("text")
		}
		if err == nil {
			b.block = msg.Text{Text: *v.Text}
		}
	case "image":
		b.block, err = decodeImage(data)
	case "resource_link":
		b.block, err = decodeLink(data)
	case "resource":
		b.block, err = decodeResource(data)
	case "":
		return errors.New("a content block has no type")
	default:
		return fmt.Errorf("content type %.80q is not supported; text, image, resource_link and resource are", head.Type)
	}
	if err != nil {
		return fmt.Errorf("%s block: %w", head.Type, err)
	}
	return nil
}

func missing(name string) error { return fmt.Errorf("%s is missing", name) }

func decodeImage(data []byte) (msg.Block, error) {
	var v struct {
		Data string `json:"data"`
		MIME string `json:"mimeType"`
		URI  string `json:"uri"`
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return nil, err
	}
	if v.MIME == "" {
		return nil, missing("mimeType")
	}
	raw, err := base64.StdEncoding.DecodeString(v.Data)
	if err != nil {
		return nil, fmt.Errorf("data is not base64: %w", err)
	}
	if len(raw) == 0 {
		return nil, missing("data")
	}
	return msg.Image{MIME: v.MIME, Data: raw, URI: v.URI}, nil
}

func decodeLink(data []byte) (msg.Block, error) {
	var v struct {
		URI         string `json:"uri"`
		Name        string `json:"name"`
		MIME        string `json:"mimeType"`
		Title       string `json:"title"`
		Description string `json:"description"`
		Size        *int64 `json:"size"`
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return nil, err
	}
	if v.URI == "" {
		return nil, missing("uri")
	}
	return msg.ResourceLink{URI: v.URI, Name: v.Name, MIME: v.MIME, Title: v.Title, Description: v.Description, Size: v.Size}, nil
}

func decodeResource(data []byte) (msg.Block, error) {
	var v struct {
		Resource *struct {
			URI  string  `json:"uri"`
			MIME string  `json:"mimeType"`
			Text *string `json:"text"`
			Blob *string `json:"blob"`
		} `json:"resource"`
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return nil, err
	}
	r := v.Resource
	switch {
	case r == nil:
		return nil, missing("resource")
	case r.URI == "":
		return nil, missing("resource.uri")
	case r.Text != nil:
		return msg.Resource{URI: r.URI, MIME: r.MIME, Text: r.Text}, nil
	case r.Blob == nil:
		return nil, missing("resource.text or resource.blob")
	}
	blob, err := base64.StdEncoding.DecodeString(*r.Blob)
	if err != nil {
		return nil, fmt.Errorf("resource.blob is not base64: %w", err)
	}
	return msg.Resource{URI: r.URI, MIME: r.MIME, Blob: blob}, nil
}

// decodePrompt reads the parameters of session/prompt. Empty texts are left
// out, since no model takes them; a prompt of nothing else is refused.
func decodePrompt(raw json.RawMessage) (id string, prompt msg.Blocks, err error) {
	var p struct {
		SessionID *string       `json:"sessionId"`
		Prompt    []promptBlock `json:"prompt"`
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return "", nil, badParams("session/prompt", raw, err)
	}
	if p.SessionID == nil {
		return "", nil, invalidParams("sessionId is missing")
	}
	if err := eventlog.ValidID(*p.SessionID); err != nil {
		return "", nil, sessionError(*p.SessionID, err)
	}
	for _, b := range p.Prompt {
		if t, ok := b.block.(msg.Text); ok && t.Text == "" {
			continue
		}
		prompt = append(prompt, b.block)
	}
	if len(prompt) == 0 {
		return "", nil, invalidParams("prompt: want at least one block that is not empty")
	}
	return *p.SessionID, prompt, nil
}
