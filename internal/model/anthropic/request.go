package anthropic

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"

	"dsh-acp/internal/model"
	"dsh-acp/internal/msg"
)

// params builds the request. It marks four places for the service's prompt
// cache: the last tool, the system prompt, and the last two user messages, so
// that each step of a turn reads what the step before has written.
func (p *Provider) params(req model.Request) sdk.MessageNewParams {
	id, facts := p.Model(req.Model)
	out := sdk.MessageNewParams{
		Model:     id,
		MaxTokens: p.maxTokens(req.MaxTokens, facts),
		Messages:  messages(model.Clean(req.Messages)),
	}
	if strings.TrimSpace(req.System) != "" {
		out.System = []sdk.TextBlockParam{{Text: req.System, CacheControl: sdk.NewCacheControlEphemeralParam()}}
	}
	for _, t := range req.Tools {
		tool := sdk.ToolParam{Name: t.Name, InputSchema: schema(t.InputSchema)}
		if t.Description != "" {
			tool.Description = sdk.String(t.Description)
		}
		out.Tools = append(out.Tools, sdk.ToolUnionParam{OfTool: &tool})
	}
	if n := len(out.Tools); n > 0 {
		out.Tools[n-1].OfTool.CacheControl = sdk.NewCacheControlEphemeralParam()
	}
	think(&out, req.Effort, facts.Thinking)
	markCache(out.Messages)
	return out
}

func (p *Provider) maxTokens(asked int64, facts model.Facts) int64 {
	if asked > 0 {
		return asked
	}
	if p.cfg.MaxTokens > 0 {
		return p.cfg.MaxTokens
	}
	if facts.MaxOutput > 0 {
		return min(DefaultMaxTokens, facts.MaxOutput)
	}
	return DefaultMaxTokens
}

// schema passes a JSON Schema on with all its keywords.
func schema(raw json.RawMessage) sdk.ToolInputSchemaParam {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return sdk.ToolInputSchemaParam{}
	}
	s := sdk.ToolInputSchemaParam{ExtraFields: map[string]any{}}
	for k, v := range fields {
		switch k {
		case "type": // always "object"
		case "properties":
			s.Properties = v
		case "required":
			if json.Unmarshal(v, &s.Required) != nil {
				s.ExtraFields[k] = v
			}
		default:
			s.ExtraFields[k] = v
		}
	}
	return s
}

// messages joins neighbours of one role: results and what the user says after
// them are one message to the service.
func messages(history []model.Message) []sdk.MessageParam {
	var out []sdk.MessageParam
	add := func(assistant bool, blocks []sdk.ContentBlockParamUnion) {
		if len(blocks) == 0 {
			return
		}
		if n := len(out); n > 0 {
			last := out[n-1]
			if assistant && last.OfAssistant != nil {
				last.OfAssistant.Content = append(last.OfAssistant.Content, blocks...)
				return
			}
			if !assistant && last.OfUser != nil {
				last.OfUser.Content = append(last.OfUser.Content, blocks...)
				return
			}
		}
		if assistant {
			out = append(out, sdk.NewAssistantMessage(blocks...))
		} else {
			out = append(out, sdk.NewUserMessage(blocks...))
		}
	}
	for _, m := range history {
		switch m.Role {
		case "assistant":
			add(true, answerBlocks(m.Content))
		case "tool":
			var blocks []sdk.ContentBlockParamUnion
			for _, r := range m.Results {
				blocks = append(blocks, result(r))
			}
			add(false, blocks)
		default:
			var blocks []sdk.ContentBlockParamUnion
			for _, b := range m.Content {
				if img, ok := b.(msg.Image); ok && pictures[img.MIME] {
					blocks = append(blocks, sdk.NewImageBlockBase64(img.MIME, base64.StdEncoding.EncodeToString(img.Data)))
				} else if s := model.Mention(b); s != "" {
					blocks = append(blocks, sdk.NewTextBlock(s))
				}
			}
			add(false, blocks)
		}
	}
	return out
}

// pictures are the types that the service looks at.
var pictures = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true}

func answerBlocks(bs msg.Blocks) []sdk.ContentBlockParamUnion {
	var out []sdk.ContentBlockParamUnion
	for _, b := range bs {
		switch b := b.(type) {
		case msg.Thinking:
			// Without its signature (another provider's, or cut off) the service refuses it.
			if b.Signature != "" {
				out = append(out, sdk.NewThinkingBlock(b.Signature, b.Text))
			}
		case msg.RedactedThinking:
			out = append(out, sdk.NewRedactedThinkingBlock(b.Data))
		case msg.ToolUse:
			out = append(out, sdk.NewToolUseBlock(model.CallID(b.ID), model.Input(b), model.ToolName(b.Name, 128)))
		default:
			if s := model.Mention(b); s != "" {
				out = append(out, sdk.NewTextBlock(s))
			}
		}
	}
	return out
}

func result(r msg.ToolMessage) sdk.ContentBlockParamUnion {
	out := sdk.ToolResultBlockParam{ToolUseID: model.CallID(r.CallID)}
	if r.IsError {
		out.IsError = sdk.Bool(true)
	}
	for _, b := range r.Content {
		var c sdk.ToolResultBlockParamContentUnion
		if img, ok := b.(msg.Image); ok && pictures[img.MIME] && !r.IsError {
			c.OfImage = sdk.NewImageBlockBase64(img.MIME, base64.StdEncoding.EncodeToString(img.Data)).OfImage
		} else if s := model.Mention(b); strings.TrimSpace(s) != "" {
			c.OfText = &sdk.TextBlockParam{Text: s}
		} else {
			continue
		}
		out.Content = append(out.Content, c)
	}
	if len(out.Content) == 0 {
		out.Content = []sdk.ToolResultBlockParamContentUnion{{OfText: &sdk.TextBlockParam{Text: "(no output)"}}}
	}
	return sdk.ContentBlockParamUnion{OfToolResult: &out}
}

// markCache puts a cache mark on the last block of the last two user messages.
func markCache(ms []sdk.MessageParam) {
	marks := 2
	for i := len(ms) - 1; i >= 0 && marks > 0; i-- {
		if ms[i].OfUser == nil {
			continue
		}
		blocks := ms[i].OfUser.Content
		if c := blocks[len(blocks)-1].GetCacheControl(); c != nil {
			*c = sdk.NewCacheControlEphemeralParam()
			marks--
		}
	}
}
