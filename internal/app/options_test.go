package app

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/acptest"
)

type option struct {
	ID, Type     string
	CurrentValue any
	Options      []struct{ Value string }
}

// choose sets an option and returns all of them.
func (p *place) choose(c *acptest.Client, id, option string, value any) []option {
	p.t.Helper()
	params := map[string]any{"sessionId": id, "configId": option, "value": value}
	if _, ok := value.(bool); ok {
		params["type"] = "boolean"
	}
	return p.chosen(c, "session/set_config_option", params)
}

func (p *place) chosen(c *acptest.Client, method string, params map[string]any) []option {
	p.t.Helper()
	var res struct{ ConfigOptions []option }
	require.NoError(p.t, c.Call(method, params, &res))
	return res.ConfigOptions
}

func current(options []option) map[string]any {
	out := map[string]any{}
	for _, o := range options {
		out[o.ID] = o.CurrentValue
	}
	return out
}

// asked is what of the last request to the model follows from options.
func (p *place) asked() (model string, tools []string, body string) {
	p.t.Helper()
	var req struct {
		Model string
		Tools []struct{ Name string }
	}
	body = p.told()
	require.NoError(p.t, json.Unmarshal([]byte(body), &req))
	for _, tool := range req.Tools {
		tools = append(tools, tool.Name)
	}
	return req.Model, tools, body
}

func TestOptionsHoldFromTheNextRequestOn(t *testing.T) {
	p := newPlace(t, say("one"), say("two"), say("three"), say("four"))
	c, stop := p.agent()
	require.NoError(t, c.Call("initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": map[string]any{
		"session": map[string]any{"configOptions": map[string]any{"boolean": map[string]any{}}},
	}}, nil))
	id := p.newSession(c)
	p.prompt(c, id, "as it is")
	model, tools, body := p.asked()
	assert.Contains(t, tools, "Edit")
	assert.NotContains(t, body, `"effort"`)

	p.choose(c, id, "model", "claude-haiku-4-5")
	p.choose(c, id, "effort", "high")
	p.choose(c, id, "toolset", "hashline")
	options := p.choose(c, id, "autoCompact", false)
	want := map[string]any{"mode": "default", "model": "claude-haiku-4-5", "effort": "high", "toolset": "hashline", "autoCompact": false}
	assert.Equal(t, want, current(options))
	p.prompt(c, id, "otherwise")
	other, tools, body := p.asked()
	assert.NotEqual(t, model, other)
	assert.Equal(t, "claude-haiku-4-5", other)
	assert.Contains(t, tools, "fs_edit")
	assert.NotContains(t, tools, "Edit")
	assert.Contains(t, body, `"thinking":{"budget_tokens":`, "this model thinks by a number of tokens")
	stop()

	c, _ = p.agent()
	options = p.chosen(c, "session/load", p.setup(id))
	want["autoCompact"] = "false" // this client does not take options that are on or off
	assert.Equal(t, want, current(options))
	p.prompt(c, id, "still")
	other, tools, _ = p.asked()
	assert.Equal(t, "claude-haiku-4-5", other)
	assert.Contains(t, tools, "fs_edit")

	fresh := p.newSession(c)
	p.prompt(c, fresh, "another session")
	other, tools, _ = p.asked()
	assert.Equal(t, model, other, "options are a session's own")
	assert.Contains(t, tools, "Edit")
}

func TestOptionsStartAsTheSettingsSay(t *testing.T) {
	p := newPlace(t, say("one"))
	p.settings(`{"toolset": ["Read", "Edit"], "model": "claude-opus-4-8", "effort": "max", "autoCompact": false, "mode": "plan"}`)
	c, _ := p.agent()
	options := p.chosen(c, "session/new", map[string]any{"cwd": p.root, "mcpServers": []any{}})
	assert.Equal(t, map[string]any{"mode": "plan", "model": "claude-opus-4-8", "effort": "max", "toolset": "settings", "autoCompact": "false"}, current(options))
	at := slices.IndexFunc(options, func(o option) bool { return o.ID == "toolset" })
	var values []string
	for _, v := range options[at].Options {
		values = append(values, v.Value)
	}
	assert.Equal(t, []string{"claude", "patch", "hashline", "settings"}, values)
}
