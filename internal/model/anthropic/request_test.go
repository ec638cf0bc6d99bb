package anthropic

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/model"
	"dsh-acp/internal/msg"
)

// sent streams req against a service and returns the body it got, decoded.
func sent(t *testing.T, req model.Request, edit ...func(*Config)) (map[string]any, string) {
	t.Helper()
	s := serve(t, hello())
	_, err := provider(s, edit...).Stream(t.Context(), req, func(msg.Delta) {})
	require.NoError(t, err)
	var body map[string]any
	require.NoError(t, json.Unmarshal([]byte(s.bodies[0]), &body))
	return body, s.bodies[0]
}

func user(s string) model.Message {
	return model.Message{Role: "user", Content: msg.Blocks{msg.Text{Text: s}}}
}

func TestRequestFrame(t *testing.T) {
	schema := `{"type":"object","properties":{"n":{"type":"integer","maximum":9007199254740993}},"required":["n"],"additionalProperties":false,"$defs":{"x":{"enum":["<&>"]}}}`
	body, _ := sent(t, model.Request{
		Model: "claude-sonnet-4-5", System: "be good", MaxTokens: 7, Effort: "high", Messages: []model.Message{user("hi")},
		Tools: []msg.ToolSpec{
			{Name: "Read", Description: "reads", InputSchema: json.RawMessage(`{"type":"object"}`)},
			{Name: "Edit", InputSchema: json.RawMessage(schema)}},
	})
	assert.Equal(t, "claude-sonnet-4-5", body["model"])
	assert.EqualValues(t, 7, body["max_tokens"])
	assert.Equal(t, true, body["stream"])
	assert.NotContains(t, body, "output_config")
	assert.NotContains(t, body, "thinking", "no room to think in")
	mark := map[string]any{"type": "ephemeral"}
	assert.Equal(t, []any{map[string]any{"type": "text", "text": "be good", "cache_control": mark}}, body["system"])
	tools := body["tools"].([]any)
	require.Len(t, tools, 2)
	assert.NotContains(t, tools[0], "cache_control")
	assert.Equal(t, mark, tools[1].(map[string]any)["cache_control"])
	got, err := json.Marshal(tools[1].(map[string]any)["input_schema"])
	require.NoError(t, err)
	assert.JSONEq(t, schema, string(got))
}

func TestRequestDefaults(t *testing.T) {
	body, _ := sent(t, model.Request{Messages: []model.Message{user("hi")}})
	assert.Equal(t, DefaultModel, body["model"])
	assert.EqualValues(t, DefaultMaxTokens, body["max_tokens"])
	for _, absent := range []string{"system", "tools", "output_config", "thinking", "temperature"} {
		assert.NotContains(t, body, absent)
	}
	body, _ = sent(t, model.Request{Messages: []model.Message{user("hi")}}, func(c *Config) { c.Model, c.MaxTokens = "mine", 99 })
	assert.Equal(t, "mine", body["model"])
	assert.EqualValues(t, 99, body["max_tokens"])
}

func TestMessagesAsSent(t *testing.T) {
	raw := `{"big": 12345678901234567890, "s": "<a & b> \u00e9", "z": 1, "a": 2}`
	doc := "package x"
	history := []model.Message{
		{Role: "user", Content: msg.Blocks{
			msg.Text{Text: "look"}, msg.Text{Text: " \n"},
			msg.Image{MIME: "image/png", Data: []byte("png")}, msg.Image{MIME: "image/tiff", Data: []byte("tiff")},
			msg.ResourceLink{URI: "file:///w/a.go", Name: "a.go"}, msg.Resource{URI: "file:///w/b.go", Text: &doc}}},
		{Role: "assistant", Content: msg.Blocks{
			msg.Thinking{Text: "hm", Signature: "sig"}, msg.Thinking{Text: "unsigned"}, msg.RedactedThinking{Data: "opaque"},
			msg.ToolUse{ID: "toolu_1", Name: "Read", Input: raw},
			msg.ToolUse{ID: "functions.read:0", Name: "no such tool!", Input: `{"broken":`},
			msg.ToolUse{ID: "toolu_cut", Name: "Write", Input: `{"half`, Cut: true}}},
		{Role: "tool", Results: []msg.ToolMessage{
			{CallID: "toolu_1", Content: msg.Blocks{msg.Image{MIME: "image/png", Data: []byte("png")}}},
			{CallID: "functions.read:0", IsError: true, Content: msg.Blocks{msg.Text{Text: "not JSON"}}},
			{CallID: "toolu_cut", IsError: true, Content: msg.Blocks{msg.Text{Text: "was cut"}}}}},
		user("go on"),
		{Role: "assistant", Content: msg.Blocks{msg.Text{Text: "ok"}}},
		user("last"),
	}
	body, text := sent(t, model.Request{Messages: history})
	ms := body["messages"].([]any)
	var roles []string
	for _, m := range ms {
		roles = append(roles, m.(map[string]any)["role"].(string))
	}
	assert.Equal(t, []string{"user", "assistant", "user", "assistant", "user"}, roles)
	content := func(i int) []any { return ms[i].(map[string]any)["content"].([]any) }
	block := func(i, j int) map[string]any { return content(i)[j].(map[string]any) }

	require.Len(t, content(0), 5)
	assert.Equal(t, map[string]any{"type": "base64", "media_type": "image/png", "data": "cG5n"}, block(0, 1)["source"])
	assert.Contains(t, block(0, 2)["text"], "image/tiff")
	assert.Equal(t, "[a.go](file:///w/a.go)", block(0, 3)["text"])
	assert.Contains(t, block(0, 4)["text"], doc)

	require.Len(t, content(1), 4)
	assert.Equal(t, map[string]any{"type": "thinking", "thinking": "hm", "signature": "sig"}, block(1, 0))
	assert.Equal(t, map[string]any{"type": "redacted_thinking", "data": "opaque"}, block(1, 1))
	assert.Contains(t, text, `12345678901234567890`, "numbers keep their digits")
	assert.Equal(t, "<a & b> é", block(1, 2)["input"].(map[string]any)["s"])
	assert.Equal(t, map[string]any{}, block(1, 3)["input"])
	assert.Equal(t, "no_such_tool_", block(1, 3)["name"])
	hashed := block(1, 3)["id"].(string)
	assert.Regexp(t, `^[a-zA-Z0-9_-]+$`, hashed)

	require.Len(t, content(2), 4)
	assert.Equal(t, "toolu_1", block(2, 0)["tool_use_id"])
	assert.NotContains(t, block(2, 0), "is_error")
	assert.Equal(t, hashed, block(2, 1)["tool_use_id"])
	assert.Equal(t, true, block(2, 1)["is_error"])
	assert.Contains(t, block(2, 2)["text"], "was cut")
	assert.NotContains(t, text, `half`)

	mark := map[string]any{"type": "ephemeral"}
	assert.Equal(t, mark, block(4, 0)["cache_control"])
	assert.Equal(t, mark, block(2, 3)["cache_control"])
	assert.Equal(t, 2, strings.Count(text, "cache_control"))
}

func TestResultNeverEmpty(t *testing.T) {
	body, _ := sent(t, model.Request{Messages: []model.Message{
		user("x"),
		{Role: "assistant", Content: msg.Blocks{msg.ToolUse{ID: "a", Name: "Read", Input: "{}"}}},
		{Role: "tool", Results: []msg.ToolMessage{{CallID: "a"}}}}})
	last := body["messages"].([]any)[2].(map[string]any)["content"].([]any)[0].(map[string]any)
	assert.Equal(t, "(no output)", last["content"].([]any)[0].(map[string]any)["text"])
}

func TestThoughtLevels(t *testing.T) {
	for _, c := range []struct {
		model, level string
		max          int64
		thinking     any
		effort       any
	}{
		{"claude-sonnet-4-5", "high", 100_000, map[string]any{"type": "enabled", "budget_tokens": 24_000.0}, nil},
		{"claude-sonnet-4-5", "high", 10_000, map[string]any{"type": "enabled", "budget_tokens": 7_500.0}, nil},
		{"claude-sonnet-4-5", "xhigh", 10_000, nil, nil},
		{"claude-sonnet-4-5", "", 10_000, nil, nil},
		{"claude-opus-4-5", "low", 10_000, nil, "low"},
		{"claude-opus-5", "max", 10_000, map[string]any{"type": "adaptive", "display": "summarized"}, "max"},
		{"unknown", "odd", 10_000, nil, "odd"},
	} {
		body, _ := sent(t, model.Request{Model: c.model, Effort: c.level, MaxTokens: c.max, Messages: []model.Message{user("hi")}})
		assert.Equal(t, c.thinking, body["thinking"], "%+v", c)
		config, _ := body["output_config"].(map[string]any)
		assert.Equal(t, c.effort, config["effort"], "%+v", c)
	}
}
