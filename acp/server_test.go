package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/acptest"
	"dsh-acp/internal/model"
	"dsh-acp/internal/msg"
)

func code(t *testing.T, err error) int {
	t.Helper()
	var e *acptest.Error
	require.ErrorAs(t, err, &e)
	return e.Code
}

func TestInitialize(t *testing.T) {
	type capabilities = map[string]any
	for _, c := range []struct {
		name    string
		version any
		caps    capabilities
		auth    string // of the one method
	}{
		{"plain", 1, nil, `{"id":"login","name":"API key"}`},
		{"version 2", 2, nil, `{"id":"login"}`},
		{"version 0", 0, nil, `{"id":"login"}`},
		{"terminal", 1, capabilities{"auth": capabilities{"terminal": true}}, `{"type":"terminal","args":["login"]}`},
		{"meta", 1, capabilities{"_meta": capabilities{"terminal-auth": true}},
			`{"type":"terminal","args":["login"],"_meta":{"terminal-auth":{"command":"/bin/agent","args":["login"],"label":"dsh-acp login"}}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			withServer(t, newFakeHost(nil), func(t *testing.T, cl *acptest.Client) {
				var res struct {
					ProtocolVersion int              `json:"protocolVersion"`
					AuthMethods     []map[string]any `json:"authMethods"`
				}
				params := map[string]any{"protocolVersion": c.version}
				if c.caps != nil {
					params["clientCapabilities"] = c.caps
				}
				require.NoError(t, cl.Call("initialize", params, &res))
				assert.Equal(t, 1, res.ProtocolVersion)
				require.Len(t, res.AuthMethods, 1)
				var want map[string]any
				require.NoError(t, json.Unmarshal([]byte(c.auth), &want))
				for k, v := range want {
					assert.Equal(t, v, res.AuthMethods[0][k], k)
				}
				if _, terminal := want["type"]; !terminal {
					assert.NotContains(t, res.AuthMethods[0], "type")
				}
			})
		})
	}
}

func TestUnknownMethods(t *testing.T) {
	withServer(t, newFakeHost(nil), func(t *testing.T, c *acptest.Client) {
		for _, m := range []string{"no/such", "_vendor/x", "session/archive"} {
			assert.Equal(t, codeMethodNotFound, code(t, c.Call(m, map[string]any{}, nil)), m)
		}
		before := len(c.Messages())
		c.Notify("no/such", map[string]any{})
		c.Notify("_vendor/changed", map[string]any{})
		c.Notify("session/cancel", map[string]any{"sessionId": 5})
		c.Notify("$/cancel_request", nil)
		synctest.Wait()
		assert.Len(t, c.Messages(), before, "notifications are passed over in silence")
	})
}

func TestBadParams(t *testing.T) {
	for _, c := range []struct {
		name, method, params string
		code                 int
		says                 string
	}{
		{"relative cwd", "session/new", `{"cwd":"w","mcpServers":[]}`, codeInvalidParams, "absolute"},
		{"no cwd", "session/new", `{"mcpServers":[]}`, codeInvalidParams, "cwd"},
		{"relative folder", "session/new", `{"cwd":"/w","mcpServers":[],"additionalDirectories":["/x","y"]}`, codeInvalidParams, "additionalDirectories[1]"},
		{"unknown MCP type", "session/new", `{"cwd":"/w","mcpServers":[{"type":"carrier","name":"m"}]}`, codeInvalidParams, "carrier"},
		{"array", "session/new", `[]`, codeInvalidParams, ""},
		{"absent", "session/new", ``, codeInvalidParams, ""},
		{"path as id", "session/load", `{"sessionId":"../../x","cwd":"/w","mcpServers":[]}`, codeInvalidParams, "sessionId"},
		{"absolute path as id", "session/resume", `{"sessionId":"/etc/passwd","cwd":"/w"}`, codeInvalidParams, "sessionId"},
		{"NUL in id", "session/load", `{"sessionId":"x\u0000y","cwd":"/w","mcpServers":[]}`, codeInvalidParams, "sessionId"},
		{"empty id", "session/load", `{"sessionId":"","cwd":"/w","mcpServers":[]}`, codeInvalidParams, "sessionId"},
		{"unknown session", "session/load", `{"sessionId":"nobody","cwd":"/w","mcpServers":[]}`, codeNotFound, ""},
		{"prompt for unknown session", "session/prompt", `{"sessionId":"nobody","prompt":[{"type":"text","text":"x"}]}`, codeNotFound, ""},
		{"prompt with bad id", "session/prompt", `{"sessionId":"a/b","prompt":[{"type":"text","text":"x"}]}`, codeInvalidParams, "sessionId"},
		{"close unknown", "session/close", `{"sessionId":"nobody"}`, codeNotFound, ""},
		{"delete unknown", "session/delete", `{"sessionId":"nobody"}`, codeNotFound, ""},
		{"mode of unknown", "session/set_mode", `{"sessionId":"nobody","modeId":"plan"}`, codeNotFound, ""},
		{"unknown mode", "session/set_mode", `{"sessionId":"s1","modeId":"auto"}`, codeInvalidParams, "auto"},
		{"unknown option", "session/set_config_option", `{"sessionId":"s1","configId":"effort","value":"low"}`, codeInvalidParams, "effort"},
		{"unknown value", "session/set_config_option", `{"sessionId":"s1","configId":"model","value":"huge"}`, codeInvalidParams, "huge"},
		{"boolean value", "session/set_config_option", `{"sessionId":"s1","configId":"model","value":true}`, codeInvalidParams, "true"},
		{"audio", "session/prompt", `{"sessionId":"s1","prompt":[{"type":"audio","data":"","mimeType":"audio/wav"}]}`, codeInvalidParams, "audio"},
		{"unknown block", "session/prompt", `{"sessionId":"s1","prompt":[{"type":"hologram","text":{}}]}`, codeInvalidParams, "hologram"},
		{"block without type", "session/prompt", `{"sessionId":"s1","prompt":[{"text":"x"}]}`, codeInvalidParams, "type"},
		{"image not base64", "session/prompt", `{"sessionId":"s1","prompt":[{"type":"image","data":"!","mimeType":"image/png"}]}`, codeInvalidParams, "base64"},
		{"link without uri", "session/prompt", `{"sessionId":"s1","prompt":[{"type":"resource_link","name":"n"}]}`, codeInvalidParams, "uri"},
		{"resource of nothing", "session/prompt", `{"sessionId":"s1","prompt":[{"type":"resource","resource":{"uri":"file:///x"}}]}`, codeInvalidParams, "text"},
		{"empty prompt", "session/prompt", `{"sessionId":"s1","prompt":[]}`, codeInvalidParams, "block"},
		{"cursor", "session/list", `{"cursor":"c"}`, codeInvalidParams, "cursor"},
		{"unknown auth method", "authenticate", `{"methodId":"magic"}`, codeInvalidParams, "magic"},
		{"version as text", "initialize", `{"protocolVersion":"1"}`, codeInvalidParams, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			withServer(t, newFakeHost(say("x")), func(t *testing.T, cl *acptest.Client) {
				newSession(t, cl)
				var params any
				if c.params != "" {
					params = json.RawMessage(c.params)
				}
				err := cl.Call(c.method, params, nil)
				require.Equal(t, c.code, code(t, err), "%v", err)
				assert.Contains(t, err.Error(), c.says)
			})
		})
	}
}

func TestUnknownSessionTellsTheID(t *testing.T) {
	withServer(t, newFakeHost(nil), func(t *testing.T, c *acptest.Client) {
		err := c.Call("session/load", map[string]any{"sessionId": "0123456789abcdef", "cwd": "/w", "mcpServers": []any{}}, nil)
		var e *acptest.Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, codeNotFound, e.Code)
		assert.JSONEq(t, `{"sessionId":"0123456789abcdef"}`, string(e.Data))
	})
}

func TestNothingIsSentForASessionBeforeItsID(t *testing.T) {
	withServer(t, newFakeHost(say("x")), func(t *testing.T, c *acptest.Client) {
		servers := []any{map[string]any{"name": "files", "command": "/bin/x", "args": []any{}, "env": []any{}}, map[string]any{"type": "http", "name": "web", "url": "http://x", "headers": []any{}}}
		var res struct {
			SessionID     string           `json:"sessionId"`
			ConfigOptions []map[string]any `json:"configOptions"`
		}
		require.NoError(t, c.Call("session/new", map[string]any{"cwd": "/w", "mcpServers": servers}, &res))
		synctest.Wait()
		all := c.Messages()
		require.Len(t, all, 2)
		assert.Equal(t, "", all[0].Method, "the answer comes first")
		notes := c.Updates(res.SessionID)
		require.Len(t, notes, 1)
		assert.Contains(t, notes[0].Text(), "files, web")
		require.Len(t, res.ConfigOptions, 2)
		assert.Equal(t, "mode", res.ConfigOptions[0]["id"])
		assert.Equal(t, "model", res.ConfigOptions[1]["id"])
		assert.Equal(t, "small", res.ConfigOptions[1]["currentValue"])
	})
}

func TestPromptBlocksReachTheTurn(t *testing.T) {
	var got msg.Blocks
	host := newFakeHost(func(ctx context.Context, w *fakeWork, turn Turn) (Outcome, error) {
		got = turn.Prompt
		return Outcome{Stop: StopEndTurn, Usage: msg.Usage{Input: 3, Output: 2, CachedRead: 1}}, nil
	})
	withServer(t, host, func(t *testing.T, c *acptest.Client) {
		id := newSession(t, c)
		var res promptResult
		require.NoError(t, c.Call("session/prompt", map[string]any{"sessionId": id, "prompt": []any{
			map[string]any{"type": "text", "text": "look <at> this\u2028"},
			map[string]any{"type": "text", "text": ""},
			map[string]any{"type": "image", "data": "AAEC", "mimeType": "image/png", "uri": "file:///p.png"},
			map[string]any{"type": "resource_link", "uri": "file:///a.go", "name": "a.go", "size": 5},
			map[string]any{"type": "resource", "resource": map[string]any{"uri": "file:///b.go", "text": "package b"}},
			map[string]any{"type": "resource", "resource": map[string]any{"uri": "file:///c", "blob": "AAEC"}},
		}}, &res))
		size, b := int64(5), "package b"
		assert.Equal(t, msg.Blocks{
			msg.Text{Text: "look <at> this\u2028"},
			msg.Image{MIME: "image/png", Data: []byte{0, 1, 2}, URI: "file:///p.png"},
			msg.ResourceLink{URI: "file:///a.go", Name: "a.go", Size: &size},
			msg.Resource{URI: "file:///b.go", Text: &b},
			msg.Resource{URI: "file:///c", Blob: []byte{0, 1, 2}},
		}, got)
		assert.Equal(t, promptUsage{Input: 3, Output: 2, CachedRead: 1, Total: 6}, res.Meta.Dsh.Usage)
	})
}

func TestTitle(t *testing.T) {
	for _, c := range []struct{ prompt, want string }{
		{"Fix it", "Fix it"},
		{"\n\n  Fix \t it \nand more", "Fix it"},
		{strings.Repeat("word ", 40), strings.TrimSpace(strings.Repeat("word ", 15)) + "…"},
		{strings.Repeat("é", 81), strings.Repeat("é", 79) + "…"},
		{strings.Repeat("é", 80), strings.Repeat("é", 80)},
	} {
		assert.Equal(t, c.want, titleOf(msg.Blocks{msg.Text{Text: c.prompt}}))
	}
	assert.Equal(t, "", titleOf(msg.Blocks{msg.Image{}}))
	host := newFakeHost(say("x"))
	withServer(t, host, func(t *testing.T, c *acptest.Client) {
		id := newSession(t, c)
		require.NoError(t, c.Call("session/prompt", promptOf(id, "First one"), nil))
		require.NoError(t, c.Call("session/prompt", promptOf(id, "Second one"), nil))
		var titles []string
		for _, u := range c.Updates(id) {
			if u.Update.Kind == "session_info_update" {
				titles = append(titles, u.Update.Title)
			}
		}
		assert.Equal(t, []string{"First one"}, titles)
	})
}

func TestAuth(t *testing.T) {
	host := newFakeHost(nil)
	host.account = fmt.Errorf("%w: no key", ErrAuthRequired)
	withServer(t, host, func(t *testing.T, c *acptest.Client) {
		setup := map[string]any{"cwd": "/w", "mcpServers": []any{}}
		assert.Equal(t, codeAuthRequired, code(t, c.Call("session/new", setup, nil)))
		assert.Equal(t, codeAuthRequired, code(t, c.Call("authenticate", map[string]any{"methodId": "login"}, nil)))
		host.account = nil
		require.NoError(t, c.Call("authenticate", map[string]any{"methodId": "login"}, nil))
		require.NoError(t, c.Call("session/new", setup, nil))
		require.NoError(t, c.Call("logout", map[string]any{}, nil))
		assert.Equal(t, codeAuthRequired, code(t, c.Call("session/new", setup, nil)))
	})
}

func TestTurnErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		want string // the error object
	}{
		{"server", &model.Error{Kind: model.KindServer, Status: 500, Text: "broken"},
			`{"code":-32603,"message":"Internal error: API Error: 500 broken","data":{"errorKind":"server_error"}}`},
		{"invalid", &model.Error{Kind: model.KindInvalid, Status: 400, Text: "no"},
			`{"code":-32603,"message":"Internal error: API Error: 400 no","data":{"errorKind":"unknown"}}`},
		{"wrapped auth", fmt.Errorf("turn: %w", &model.Error{Kind: model.KindAuth, Status: 401, Text: "key"}),
			`{"code":-32000,"message":"Authentication required"}`},
		{"other", errors.New("the disk is full"), `{"code":-32603,"message":"Internal error: the disk is full"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			fail := true
			host := newFakeHost(func(ctx context.Context, w *fakeWork, turn Turn) (Outcome, error) {
				if fail {
					return Outcome{}, c.err
				}
				return say("ok")(ctx, w, turn)
			})
			withServer(t, host, func(t *testing.T, cl *acptest.Client) {
				id := newSession(t, cl)
				req := cl.Request("session/prompt", promptOf(id, "x"))
				require.Error(t, cl.Answer(req, nil))
				m, err := cl.Wait(func(m acptest.Message) bool { return m.Error != nil })
				require.NoError(t, err)
				var raw struct {
					Error json.RawMessage `json:"error"`
				}
				require.NoError(t, json.Unmarshal(m.Raw, &raw))
				assert.JSONEq(t, c.want, string(raw.Error))
				fail = false
				require.NoError(t, cl.Call("session/prompt", promptOf(id, "again"), nil), "the session lives on")
			})
		})
	}
}

func TestPanicIsAnAnswer(t *testing.T) {
	panics := true
	host := newFakeHost(func(ctx context.Context, w *fakeWork, turn Turn) (Outcome, error) {
		if panics {
			panic("impossible state")
		}
		return say("ok")(ctx, w, turn)
	})
	withServer(t, host, func(t *testing.T, c *acptest.Client) {
		id := newSession(t, c)
		err := c.Call("session/prompt", promptOf(id, "x"), nil)
		assert.Equal(t, codeInternal, code(t, err))
		assert.Contains(t, err.Error(), "impossible state")
		panics = false
		require.NoError(t, c.Call("session/prompt", promptOf(id, "x"), nil))
	})
}
