package openai

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/shared"

	"dsh-acp/internal/model"
	"dsh-acp/internal/msg"
)

func (p *Provider) params(req model.Request) sdk.ChatCompletionNewParams {
	id, _ := p.Model(req.Model)
	out := sdk.ChatCompletionNewParams{
		Model:         id,
		StreamOptions: sdk.ChatCompletionStreamOptionsParam{IncludeUsage: sdk.Bool(true)},
	}
	if strings.TrimSpace(req.System) != "" {
		out.Messages = append(out.Messages, sdk.SystemMessage(req.System))
	}
	out.Messages = append(out.Messages, messages(model.Clean(req.Messages))...)
	limit := req.MaxTokens
	if limit == 0 {
		limit = p.cfg.MaxTokens
	}
	switch {
	case limit <= 0:
	case p.ofOpenAI():
		out.MaxCompletionTokens = sdk.Int(limit) // its newer models refuse max_tokens
	default:
		out.MaxTokens = sdk.Int(limit) // the name that other servers know
	}
	if req.Effort != "" {
		out.ReasoningEffort = shared.ReasoningEffort(req.Effort)
	}
	for _, t := range req.Tools {
		f := shared.FunctionDefinitionParam{Name: t.Name}
		if t.Description != "" {
			f.Description = sdk.String(t.Description)
		}
		var schema map[string]json.RawMessage
		if json.Unmarshal(t.InputSchema, &schema) == nil {
			f.Parameters = shared.FunctionParameters{}
			for k, v := range schema {
				f.Parameters[k] = v
			}
		}
		out.Tools = append(out.Tools, sdk.ChatCompletionFunctionTool(f))
	}
	return out
}

func (p *Provider) ofOpenAI() bool {
	u, err := url.Parse(p.cfg.BaseURL)
	return err == nil && u.Hostname() == "api.openai.com"
}

func messages(history []model.Message) []sdk.ChatCompletionMessageParamUnion {
	// Servers whose models think aloud want the thoughts of the running turn
	// back with the calls that they led to, and no older ones.
	turn := 0
	for i, m := range history {
		if m.Role == "user" {
			turn = i
		}
	}
	var out []sdk.ChatCompletionMessageParamUnion
	for i, m := range history {
		switch m.Role {
		case "assistant":
			if a, ok := answer(m.Content, i > turn); ok {
				out = append(out, a)
			}
		case "tool":
			out = append(out, results(m.Results)...)
		default:
			if parts := parts(m.Content); len(parts) > 0 {
				out = append(out, userMessage(parts))
			}
		}
	}
	return out
}

// userMessage sends text alone as a plain string, which every server takes.
func userMessage(parts []sdk.ChatCompletionContentPartUnionParam) sdk.ChatCompletionMessageParamUnion {
	var texts []string
	for _, p := range parts {
		if p.OfText == nil {
			return sdk.UserMessage(parts)
		}
		texts = append(texts, p.OfText.Text)
	}
	return sdk.UserMessage(strings.Join(texts, "\n\n"))
}

func parts(bs msg.Blocks) []sdk.ChatCompletionContentPartUnionParam {
	var out []sdk.ChatCompletionContentPartUnionParam
	for _, b := range bs {
		if img, ok := b.(msg.Image); ok {
			out = append(out, picture(img))
		} else if s := model.Mention(b); s != "" {
			out = append(out, sdk.TextContentPart(s))
		}
	}
	return out
}

func picture(img msg.Image) sdk.ChatCompletionContentPartUnionParam {
	return sdk.ImageContentPart(sdk.ChatCompletionContentPartImageImageURLParam{
		URL: "data:" + img.MIME + ";base64," + base64.StdEncoding.EncodeToString(img.Data)})
}

func answer(bs msg.Blocks, thoughts bool) (sdk.ChatCompletionMessageParamUnion, bool) {
	var a sdk.ChatCompletionAssistantMessageParam
	var texts, reasoning []string
	for _, b := range bs {
		switch b := b.(type) {
		case msg.Thinking:
			if b.Signature == "" {
				reasoning = append(reasoning, b.Text)
			}
		case msg.ToolUse:
			a.ToolCalls = append(a.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{
				OfFunction: &sdk.ChatCompletionMessageFunctionToolCallParam{
					ID: model.CallID(b.ID),
					Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{
						Name: model.ToolName(b.Name, 64), Arguments: string(model.Input(b))}}})
		default:
			if s := model.Mention(b); s != "" {
				texts = append(texts, s)
			}
		}
	}
	if len(texts) > 0 {
		a.Content.OfString = sdk.String(strings.Join(texts, "\n\n"))
	}
	if thoughts && len(reasoning) > 0 {
		a.SetExtraFields(map[string]any{"reasoning_content": strings.Join(reasoning, "\n\n")})
	}
	return sdk.ChatCompletionMessageParamUnion{OfAssistant: &a}, len(texts) > 0 || len(a.ToolCalls) > 0
}

// results gives a message for each result. They hold text only, so pictures
// follow in a user's message.
func results(rs []msg.ToolMessage) []sdk.ChatCompletionMessageParamUnion {
	var out []sdk.ChatCompletionMessageParamUnion
	var pictures []sdk.ChatCompletionContentPartUnionParam
	for _, r := range rs {
		var texts []string
		for _, b := range r.Content {
			if img, ok := b.(msg.Image); ok {
				texts = append(texts, "(a picture, which follows)")
				pictures = append(pictures, picture(img))
			} else if s := model.Mention(b); strings.TrimSpace(s) != "" {
				texts = append(texts, s)
			}
		}
		if len(texts) == 0 {
			texts = []string{"(no output)"}
		}
		if r.IsError {
			texts[0] = "Error: " + texts[0]
		}
		out = append(out, sdk.ToolMessage(strings.Join(texts, "\n\n"), model.CallID(r.CallID)))
	}
	if len(pictures) > 0 {
		out = append(out, sdk.UserMessage(pictures))
	}
	return out
}
