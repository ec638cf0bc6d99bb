package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/model"
	"dsh-acp/internal/model/transport"
	"dsh-acp/internal/msg"
)

const testKey = "sk-test-0123456789"

// service answers the n-th request with the n-th handler, and the last one
// from then on.
type service struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []string
	heads  []http.Header
}

func serve(t *testing.T, handlers ...http.HandlerFunc) *service {
	s := &service{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.bodies = append(s.bodies, string(body))
		s.heads = append(s.heads, r.Header.Clone())
		h := handlers[min(len(s.bodies), len(handlers))-1]
		s.mu.Unlock()
		assert.Equal(t, "/v1/chat/completions", r.URL.Path)
		h(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *service) requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.bodies)
}

func stream(chunks ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, c := range chunks {
			fmt.Fprintf(w, "data: %s\n\n", c)
			w.(http.Flusher).Flush()
		}
	}
}

func fail(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

func part(delta string) string {
	return `{"id":"c1","model":"m-1","choices":[{"index":0,"delta":` + delta + `,"finish_reason":null}],"usage":null}`
}

func text(s string) string { return part(fmt.Sprintf(`{"content":%q}`, s)) }

func call(index int, id, name, args string) string {
	b, _ := json.Marshal(args)
	return part(fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":%q,"type":"function","function":{"name":%q,"arguments":%s}}]}`, index, id, name, b))
}

func finish(reason string) string {
	return fmt.Sprintf(`{"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":%q}]}`, reason)
}

const (
	usage = `{"id":"c1","choices":[],"usage":{"prompt_tokens":100,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":60}}}`
	done  = `[DONE]`
)

func provider(s *service, edit ...func(*Config)) *Provider {
	cfg := Config{BaseURL: s.URL + "/v1", Key: testKey, Retry: transport.Policy{Backoff: time.Millisecond}}
	for _, e := range edit {
		e(&cfg)
	}
	return New(cfg)
}

func ask(p *Provider, ctx context.Context) ([]msg.Delta, model.Reply, error) {
	var ds []msg.Delta
	r, err := p.Stream(ctx, model.Request{Messages: []model.Message{user("hi")}}, func(d msg.Delta) { ds = append(ds, d) })
	return ds, r, err
}

func user(s string) model.Message {
	return model.Message{Role: "user", Content: msg.Blocks{msg.Text{Text: s}}}
}

func TestStreamsAnAnswer(t *testing.T) {
	s := serve(t, stream(part(`{"role":"assistant","content":null}`), part(`{"reasoning_content":"Hm."}`), text("I "), text("read."),
		call(0, "call_a", "Read", ""), call(0, "", "", `{"p":`), call(0, "", "", `1}`), call(1, "call_b", "List", ""),
		finish("tool_calls"), usage, done))
	ds, r, err := ask(provider(s), t.Context())
	require.NoError(t, err)
	u := msg.Usage{Input: 40, CachedRead: 60, Output: 7}
	read := msg.ToolUse{ID: "call_a", Name: "Read", Input: `{"p":1}`}
	list := msg.ToolUse{ID: "call_b", Name: "List", Input: `{}`}
	assert.Equal(t, []msg.Delta{
		msg.MessageStart{MessageID: "c1", Model: "m-1"},
		msg.ThoughtDelta{MessageID: "c1", Text: "Hm."},
		msg.TextDelta{MessageID: "c1", Text: "I "},
		msg.TextDelta{MessageID: "c1", Text: "read."},
		msg.ToolStart{CallID: "call_a", Name: "Read"},
		msg.ToolInput{CallID: "call_a", Fragment: `{"p":`},
		msg.ToolInput{CallID: "call_a", Fragment: `1}`},
		msg.ToolReady{Use: read},
		msg.ToolStart{CallID: "call_b", Name: "List"},
		msg.UsageDelta{Usage: u},
		msg.ToolReady{Use: list},
	}, ds)
	assert.Equal(t, model.Reply{Usage: u, Message: msg.Assistant{ID: "c1", Role: "assistant", Model: "m-1", StopReason: msg.StopToolUse,
		Content: msg.Blocks{msg.Thinking{Text: "Hm."}, msg.Text{Text: "I read."}, read, list}}}, r)
}

func TestStreamOddities(t *testing.T) {
	use := func(id, name, input string) msg.ToolUse { return msg.ToolUse{ID: id, Name: name, Input: input} }
	cut := func(u msg.ToolUse) msg.ToolUse { u.Cut = true; return u }
	tests := []struct {
		name   string
		chunks []string
		want   msg.Blocks
		stop   string
		kind   string // of the error
	}{
		{"no final mark", []string{text("x"), finish("stop")}, msg.Blocks{msg.Text{Text: "x"}}, msg.StopEndTurn, ""},
		{"no finish reason", []string{text("x"), done}, msg.Blocks{msg.Text{Text: "x"}}, "", ""},
		{"neither", []string{text("x")}, msg.Blocks{msg.Text{Text: "x"}}, "", model.KindStream},
		{"the limit", []string{text("x"), finish("length"), done}, msg.Blocks{msg.Text{Text: "x"}}, msg.StopMaxTokens, ""},
		{"a call cut by the limit", []string{call(0, "a", "Write", `{"x":`), finish("length"), done},
			msg.Blocks{cut(use("a", "Write", `{"x":`))}, msg.StopMaxTokens, ""},
		{"a whole call at the limit", []string{call(0, "a", "Write", `{}`), finish("length"), done},
			msg.Blocks{use("a", "Write", `{}`)}, msg.StopMaxTokens, ""},
		{"malformed arguments", []string{call(0, "a", "Write", `{x}`), finish("tool_calls"), done},
			msg.Blocks{use("a", "Write", `{x}`)}, msg.StopToolUse, ""},
		{"each call counted as 0", []string{call(0, "a", "Read", `{"p":1}`), call(0, "b", "Read", `{"p":2}`), finish("tool_calls"), done},
			msg.Blocks{use("a", "Read", `{"p":1}`), use("b", "Read", `{"p":2}`)}, msg.StopToolUse, ""},
		{"the id in each piece", []string{call(0, "a", "Read", `{"p":`), call(0, "a", "", `1}`), finish("stop"), done},
			msg.Blocks{use("a", "Read", `{"p":1}`)}, msg.StopEndTurn, ""},
		{"no id", []string{call(0, "", "Read", `{}`), finish("stop"), done},
			msg.Blocks{use("call_0", "Read", `{}`)}, msg.StopEndTurn, ""},
		{"the name comes late", []string{call(0, "a", "", `{"p":`), call(0, "", "Read", `1}`), finish("stop"), done},
			msg.Blocks{use("a", "Read", `{"p":1}`)}, msg.StopEndTurn, ""},
		{"calls that interleave", []string{call(0, "a", "Read", `{"p"`), call(1, "b", "Read", `{"q"`), call(0, "", "", `:1}`), call(1, "", "", `:2}`), finish("tool_calls"), done},
			msg.Blocks{use("a", "Read", `{"p":1}`), use("b", "Read", `{"q":2}`)}, msg.StopToolUse, ""},
		{"a filter", []string{text("x"), finish("content_filter"), done}, msg.Blocks{msg.Text{Text: "x"}}, msg.StopRefusal, ""},
		{"a refusal in words", []string{part(`{"refusal":"I will not."}`), finish("stop"), done}, msg.Blocks{msg.Text{Text: "I will not."}}, msg.StopRefusal, ""},
		{"another choice", []string{`{"id":"c1","choices":[{"index":1,"delta":{"content":"no"}}]}`, text("x"), finish("stop"), done}, msg.Blocks{msg.Text{Text: "x"}}, msg.StopEndTurn, ""},
		{"reasoning by its other name", []string{part(`{"reasoning":"Hm."}`), text("x"), finish("stop"), done}, msg.Blocks{msg.Thinking{Text: "Hm."}, msg.Text{Text: "x"}}, msg.StopEndTurn, ""},
		{"broken in a call", []string{call(0, "a", "Write", `{"x":`)}, msg.Blocks{cut(use("a", "Write", `{"x":`))}, "", model.KindStream},
		{"an error chunk", []string{text("x"), `{"error":{"message":"the engine died"}}`}, msg.Blocks{msg.Text{Text: "x"}}, "", model.KindServer},
		{"not JSON", []string{text("x"), `{"id":`}, msg.Blocks{msg.Text{Text: "x"}}, "", model.KindStream},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, stream(tt.chunks...))
			ds, r, err := ask(provider(s), t.Context())
			if tt.kind == "" {
				require.NoError(t, err)
			} else {
				var e *model.Error
				require.ErrorAs(t, err, &e)
				assert.Equal(t, tt.kind, e.Kind)
			}
			assert.Equal(t, 1, s.requests())
			assert.Equal(t, tt.want, r.Message.Content)
			assert.Equal(t, tt.stop, r.Message.StopReason)
			// What was passed on piece by piece is what the message holds.
			inputs, ready := map[string]string{}, map[string]msg.ToolUse{}
			for _, d := range ds {
				switch d := d.(type) {
				case msg.ToolInput:
					inputs[d.CallID] += d.Fragment
				case msg.ToolReady:
					ready[d.Use.ID] = d.Use
				}
			}
			for _, u := range r.Message.Content.ToolUses() {
				assert.Equal(t, u.Input, inputs[u.ID])
				if u.Cut {
					assert.NotContains(t, ready, u.ID)
				} else {
					assert.Equal(t, u, ready[u.ID])
				}
			}
		})
	}
}

func TestFailures(t *testing.T) {
	hello := stream(text("Hello"), finish("stop"), done)
	tests := []struct {
		name     string
		handlers []http.HandlerFunc
		requests int
		kind     string
		text     string
	}{
		{"500, then an answer", []http.HandlerFunc{fail(500, `{"error":{"message":"x"}}`), hello}, 2, "", ""},
		{"nothing, then an answer", []http.HandlerFunc{stream(), hello}, 2, "", ""},
		{"401", []http.HandlerFunc{fail(401, `{"error":{"message":"Incorrect API key provided: `+testKey+`","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`)}, 1, model.KindAuth, "[redacted]"},
		{"an error that is a string", []http.HandlerFunc{fail(404, `{"error":"model \"m\" not found"}`)}, 1, model.KindInvalid, `model "m" not found`},
		{"an error that is a page", []http.HandlerFunc{fail(400, `<html>no</html>`)}, 1, model.KindInvalid, "<html>no</html>"},
		{"too long", []http.HandlerFunc{fail(400, `{"error":{"message":"This model's maximum context length is 8192 tokens.","code":"context_length_exceeded"}}`)}, 1, model.KindContextFull, "start a new session"},
		{"no stream", []http.HandlerFunc{fail(200, `{"choices":[]}`)}, 5, model.KindStream, "application/json"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, tt.handlers...)
			_, r, err := ask(provider(s), t.Context())
			assert.Equal(t, tt.requests, s.requests())
			if tt.kind == "" {
				require.NoError(t, err)
				assert.Equal(t, "Hello", r.Message.Content.PlainText())
				return
			}
			var e *model.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, tt.kind, e.Kind)
			assert.Contains(t, err.Error(), tt.text)
			assert.NotContains(t, err.Error(), testKey)
		})
	}
}

func TestSilenceAndCancel(t *testing.T) {
	arrived := make(chan struct{}, 1)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		stream(text("half"))(w, r)
		arrived <- struct{}{}
		<-r.Context().Done()
	})
	_, r, err := ask(provider(s, func(c *Config) { c.Limits.Idle = 300 * time.Millisecond }), t.Context())
	var e *model.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, model.KindStream, e.Kind)
	assert.Equal(t, "half", r.Message.Content.PlainText())
	<-arrived

	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-arrived; cancel() }()
	_, _, err = ask(provider(s), ctx)
	assert.ErrorIs(t, err, context.Canceled)
}

func TestKeyHeaders(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "from-the-environment")
	t.Setenv("OPENAI_ORG_ID", "from-the-environment")
	t.Setenv("OPENAI_CUSTOM_HEADERS", "X-From: the-environment")
	tests := []struct {
		name, key, header string
		bearer, own       string
	}{
		{"bearer", testKey, "", "Bearer " + testKey, ""},
		{"a header of its own", testKey, "Api-Key", "", testKey},
		{"none", "", "", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, stream(finish("stop"), done))
			_, _, err := ask(provider(s, func(c *Config) { c.Key, c.KeyHeader = tt.key, tt.header }), t.Context())
			require.NoError(t, err)
			assert.Equal(t, tt.bearer, s.heads[0].Get("Authorization"))
			assert.Equal(t, tt.own, s.heads[0].Get("Api-Key"))
			assert.Empty(t, s.heads[0].Get("X-From"))
			assert.Empty(t, s.heads[0].Get("Openai-Organization"))
		})
	}
}

func TestRequestAsSent(t *testing.T) {
	history := []model.Message{
		{Role: "user", Content: msg.Blocks{msg.Text{Text: "look"}, msg.ResourceLink{URI: "file:///a", Name: "a"}}},
		{Role: "assistant", Content: msg.Blocks{msg.Thinking{Text: "old"}, msg.ToolUse{ID: "a", Name: "Read", Input: `{"n": 12345678901234567890}`}}},
		{Role: "tool", Results: []msg.ToolMessage{{CallID: "a", Content: msg.Blocks{msg.Image{MIME: "image/png", Data: []byte("png")}}}}},
		{Role: "user", Content: msg.Blocks{msg.Text{Text: "see"}, msg.Image{MIME: "image/png", Data: []byte("png")}}},
		{Role: "assistant", Content: msg.Blocks{msg.Thinking{Text: "new"}, msg.Thinking{Text: "theirs", Signature: "s"}, msg.Text{Text: "so"},
			msg.ToolUse{ID: "b", Name: "Edit", Input: `{"bro`}, msg.ToolUse{ID: "c", Name: "Edit", Input: `{"h`, Cut: true}}},
		{Role: "tool", Results: []msg.ToolMessage{{CallID: "b", IsError: true, Content: msg.Blocks{msg.Text{Text: "not JSON"}}}, {CallID: "c", Content: msg.Blocks{msg.Text{Text: "cut"}}}}},
	}
	s := serve(t, stream(finish("stop"), done))
	_, err := provider(s).Stream(t.Context(), model.Request{Model: "m", System: "sys", MaxTokens: 9, Effort: "low", Messages: history,
		Tools: []msg.ToolSpec{{Name: "Read", Description: "reads", InputSchema: json.RawMessage(`{"type":"object","additionalProperties":false}`)}}}, func(msg.Delta) {})
	require.NoError(t, err)
	const png = `{"type":"image_url","image_url":{"url":"data:image/png;base64,cG5n"}}`
	assert.JSONEq(t, `{"model":"m","stream":true,"stream_options":{"include_usage":true},"max_tokens":9,"reasoning_effort":"low",
		"tools":[{"type":"function","function":{"name":"Read","description":"reads","parameters":{"type":"object","additionalProperties":false}}}],
		"messages":[
			{"role":"system","content":"sys"},
			{"role":"user","content":"look\n\n[a](file:///a)"},
			{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"Read","arguments":"{\"n\": 12345678901234567890}"}}]},
			{"role":"tool","tool_call_id":"a","content":"(a picture, which follows)"},
			{"role":"user","content":[`+png+`]},
			{"role":"user","content":[{"type":"text","text":"see"},`+png+`]},
			{"role":"assistant","content":"so","tool_calls":[{"id":"b","type":"function","function":{"name":"Edit","arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"b","content":"Error: not JSON"},
			{"role":"user","content":"[about your call of Edit: cut]"}]}`, s.bodies[0])
}

func TestThoughtsOfTheRunningTurnGoBack(t *testing.T) {
	s := serve(t, stream(finish("stop"), done))
	_, err := provider(s).Stream(t.Context(), model.Request{Messages: []model.Message{user("x"),
		{Role: "assistant", Content: msg.Blocks{msg.Thinking{Text: "hm"}, msg.ToolUse{ID: "a", Name: "Read", Input: "{}"}}},
		{Role: "tool", Results: []msg.ToolMessage{{CallID: "a", Content: msg.Blocks{msg.Text{Text: "ok"}}}}}}}, func(msg.Delta) {})
	require.NoError(t, err)
	var body struct {
		Model     string
		MaxTokens *int `json:"max_tokens"`
		Messages  []map[string]any
	}
	require.NoError(t, json.Unmarshal([]byte(s.bodies[0]), &body))
	assert.Equal(t, DefaultModel, body.Model)
	assert.Nil(t, body.MaxTokens)
	assert.Equal(t, "hm", body.Messages[1]["reasoning_content"])
}

func TestLimitByItsNameAtOpenAI(t *testing.T) {
	p := New(Config{MaxTokens: 5})
	params := p.params(model.Request{})
	assert.EqualValues(t, 5, params.MaxCompletionTokens.Value)
	assert.False(t, params.MaxTokens.Valid())
}
