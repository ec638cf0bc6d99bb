package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
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

// service is a Messages API that answers the n-th request with the n-th
// handler, and the last one from then on.
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
		assert.Equal(t, "/v1/messages", r.URL.Path)
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

// stream answers with events, each written and flushed on its own.
func stream(events ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		for _, e := range events {
			var head struct {
				Type string `json:"type"`
			}
			_ = json.Unmarshal([]byte(e), &head)
			fmt.Fprintf(w, "event: %s\ndata: %s\n\n", head.Type, e)
			w.(http.Flusher).Flush()
		}
	}
}

// hang goes on with h and then keeps the connection open and silent.
func hang(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h(w, r)
		<-r.Context().Done()
	}
}

func fail(status int, header map[string]string, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for k, v := range header {
			w.Header().Set(k, v)
		}
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

func apiError(kind, text string) string {
	return fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%q}}`, kind, text)
}

const (
	start    = `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-5-5","content":[],"stop_reason":null,"usage":{"input_tokens":1200,"output_tokens":1,"cache_read_input_tokens":7,"cache_creation_input_tokens":9}}}`
	ping     = `{"type":"ping"}`
	stopText = `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":40}}`
	stopTool = `{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":40}}`
	stopMax  = `{"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":40}}`
	stop     = `{"type":"message_stop"}`
)

func begin(i int, block string) string {
	return fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, i, block)
}
func delta(i int, d string) string {
	return fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":%s}`, i, d)
}
func text(i int, s string) string {
	return delta(i, fmt.Sprintf(`{"type":"text_delta","text":%q}`, s))
}
func input(i int, s string) string {
	b, _ := json.Marshal(s)
	return delta(i, fmt.Sprintf(`{"type":"input_json_delta","partial_json":%s}`, b))
}
func end(i int) string { return fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, i) }

const textBlock = `{"type":"text","text":""}`

func call(id, name string) string {
	return fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q,"input":{}}`, id, name)
}

// hello is a whole answer of one text.
func hello() http.HandlerFunc {
	return stream(start, ping, begin(0, textBlock), text(0, "Hel"), text(0, "lo"), end(0), stopText, stop)
}

func provider(s *service, edit ...func(*Config)) *Provider {
	cfg := Config{BaseURL: s.URL, Key: testKey, Retry: transport.Policy{Backoff: time.Millisecond, RetryAfterCap: 5 * time.Millisecond}}
	for _, e := range edit {
		e(&cfg)
	}
	return New(cfg)
}

func ask(p *Provider, ctx context.Context) ([]msg.Delta, model.Reply, error) {
	var ds []msg.Delta
	r, err := p.Stream(ctx, model.Request{Messages: []model.Message{
		{Role: "user", Content: msg.Blocks{msg.Text{Text: "hi"}}}}}, func(d msg.Delta) { ds = append(ds, d) })
	return ds, r, err
}

func TestStreamsAnAnswer(t *testing.T) {
	s := serve(t, stream(start, ping,
		begin(0, `{"type":"thinking","thinking":"","signature":""}`),
		delta(0, `{"type":"thinking_delta","thinking":"Hm."}`),
		delta(0, `{"type":"signature_delta","signature":"c2ln"}`), end(0),
		begin(1, `{"type":"redacted_thinking","data":"b3Bh"}`), end(1),
		begin(2, textBlock), text(2, "I "), text(2, "read."), end(2),
		begin(3, call("toolu_1", "Read")), input(3, ""), input(3, `{"file_path":`), input(3, `"/a"}`), end(3),
		begin(4, call("toolu_2", "List")), end(4),
		stopTool, stop))
	ds, r, err := ask(provider(s), t.Context())
	require.NoError(t, err)
	first := msg.Usage{Input: 1200, Output: 1, CachedRead: 7, CachedWrite: 9}
	last := msg.Usage{Input: 1200, Output: 40, CachedRead: 7, CachedWrite: 9}
	first, last = model.Cost("claude-opus-5-5", first), model.Cost("claude-opus-5-5", last)
	assert.Positive(t, last.CostUSD)
	read := msg.ToolUse{ID: "toolu_1", Name: "Read", Input: `{"file_path":"/a"}`}
	list := msg.ToolUse{ID: "toolu_2", Name: "List", Input: `{}`}
	assert.Equal(t, []msg.Delta{
		msg.MessageStart{MessageID: "msg_1", Model: "claude-opus-5-5"},
		msg.UsageDelta{Usage: first},
		msg.ThoughtDelta{MessageID: "msg_1", Text: "Hm."},
		msg.TextDelta{MessageID: "msg_1", Text: "I "},
		msg.TextDelta{MessageID: "msg_1", Text: "read."},
		msg.ToolStart{CallID: "toolu_1", Name: "Read"},
		msg.ToolInput{CallID: "toolu_1", Fragment: `{"file_path":`},
		msg.ToolInput{CallID: "toolu_1", Fragment: `"/a"}`},
		msg.ToolReady{Use: read},
		msg.ToolStart{CallID: "toolu_2", Name: "List"},
		msg.ToolReady{Use: list},
		msg.UsageDelta{Usage: last},
	}, ds)
	assert.Equal(t, model.Reply{Usage: last, Message: msg.Assistant{
		ID: "msg_1", Role: "assistant", Model: "claude-opus-5-5", StopReason: msg.StopToolUse,
		Content: msg.Blocks{msg.Thinking{Text: "Hm.", Signature: "c2ln"}, msg.RedactedThinking{Data: "b3Bh"}, msg.Text{Text: "I read."}, read, list},
	}}, r)
}

func TestStreamOddities(t *testing.T) {
	tests := []struct {
		name   string
		events []string
		want   msg.Blocks
		ready  int // ToolReady deltas
		stop   string
		kind   string // of the error
	}{
		{"a call cut by the limit",
			[]string{start, begin(0, call("a", "Write")), input(0, `{"x":"un`), end(0), stopMax, stop},
			msg.Blocks{msg.ToolUse{ID: "a", Name: "Write", Input: `{"x":"un`, Cut: true}}, 0, msg.StopMaxTokens, ""},
		{"a call cut before its input",
			[]string{start, begin(0, call("a", "Write")), end(0), stopMax, stop},
			msg.Blocks{msg.ToolUse{ID: "a", Name: "Write", Input: `{}`, Cut: true}}, 0, msg.StopMaxTokens, ""},
		{"a whole call before the cut one",
			[]string{start, begin(0, call("a", "Read")), input(0, `{}`), end(0), begin(1, call("b", "Write")), input(1, `{"`), end(1), stopMax, stop},
			msg.Blocks{msg.ToolUse{ID: "a", Name: "Read", Input: `{}`}, msg.ToolUse{ID: "b", Name: "Write", Input: `{"`, Cut: true}}, 1, msg.StopMaxTokens, ""},
		{"malformed but complete",
			[]string{start, begin(0, call("a", "Write")), input(0, `{"x": nope}`), end(0), stopTool, stop},
			msg.Blocks{msg.ToolUse{ID: "a", Name: "Write", Input: `{"x": nope}`}}, 1, msg.StopToolUse, ""},
		{"input with the start of the block",
			[]string{start, begin(0, `{"type":"tool_use","id":"a","name":"Read","input":{"p": 1}}`), end(0), stopTool, stop},
			msg.Blocks{msg.ToolUse{ID: "a", Name: "Read", Input: `{"p": 1}`}}, 1, msg.StopToolUse, ""},
		{"blocks without an end",
			[]string{start, begin(0, textBlock), text(0, "x"), begin(1, call("a", "Read")), input(1, `{}`), stopTool, stop},
			msg.Blocks{msg.Text{Text: "x"}, msg.ToolUse{ID: "a", Name: "Read", Input: `{}`}}, 1, msg.StopToolUse, ""},
		{"blocks that interleave",
			[]string{start, begin(0, textBlock), begin(1, textBlock), text(0, "a"), text(1, "b"), text(0, "c"), end(0), end(1), stopText, stop},
			msg.Blocks{msg.Text{Text: "ac"}, msg.Text{Text: "b"}}, 0, msg.StopEndTurn, ""},
		{"unknown events and blocks",
			[]string{start, `{"type":"news","x":1}`, begin(0, `{"type":"server_tool_use","id":"s"}`), input(0, "{}"), end(0), begin(1, textBlock), text(1, "x"), end(1), stopText, stop},
			msg.Blocks{msg.Text{Text: "x"}}, 0, msg.StopEndTurn, ""},
		{"context window full",
			[]string{start, begin(0, textBlock), text(0, "x"), end(0), `{"type":"message_delta","delta":{"stop_reason":"model_context_window_exceeded"},"usage":{}}`, stop},
			msg.Blocks{msg.Text{Text: "x"}}, 0, msg.StopContext, ""},
		{"refusal",
			[]string{start, `{"type":"message_delta","delta":{"stop_reason":"refusal"},"usage":{}}`, stop},
			nil, 0, msg.StopRefusal, ""},
		{"cut off in the text",
			[]string{start, begin(0, textBlock), text(0, "half")},
			msg.Blocks{msg.Text{Text: "half"}}, 0, "", model.KindStream},
		{"cut off after the last block",
			[]string{start, begin(0, textBlock), text(0, "half"), end(0)},
			msg.Blocks{msg.Text{Text: "half"}}, 0, "", model.KindStream},
		{"cut off in a call",
			[]string{start, begin(0, call("a", "Read")), input(0, `{}`), end(0), begin(1, call("b", "Write")), input(1, `{"f`)},
			msg.Blocks{msg.ToolUse{ID: "a", Name: "Read", Input: `{}`}, msg.ToolUse{ID: "b", Name: "Write", Input: `{"f`, Cut: true}}, 1, "", model.KindStream},
		{"an error event",
			[]string{start, begin(0, textBlock), text(0, "half"), apiError("overloaded_error", "Overloaded")},
			msg.Blocks{msg.Text{Text: "half"}}, 0, "", model.KindOverloaded},
		{"not JSON",
			[]string{start, begin(0, textBlock), text(0, "half"), `{"type":`},
			msg.Blocks{msg.Text{Text: "half"}}, 0, "", model.KindStream},
		{"a delta without its block",
			[]string{start, begin(0, textBlock), text(0, "half"), text(3, "x")},
			msg.Blocks{msg.Text{Text: "half"}}, 0, "", model.KindStream},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, stream(tt.events...))
			ds, r, err := ask(provider(s), t.Context())
			if tt.kind == "" {
				require.NoError(t, err)
			} else {
				var e *model.Error
				require.ErrorAs(t, err, &e)
				assert.Equal(t, tt.kind, e.Kind, e.Text)
				assert.Equal(t, 1, s.requests(), "nothing that was shown is asked for again")
			}
			assert.Equal(t, tt.want, r.Message.Content)
			assert.Equal(t, tt.stop, r.Message.StopReason)
			ready := 0
			for _, d := range ds {
				if _, ok := d.(msg.ToolReady); ok {
					ready++
				}
			}
			assert.Equal(t, tt.ready, ready)
		})
	}
}

func TestRetries(t *testing.T) {
	overloaded := fail(529, nil, apiError("overloaded_error", "Overloaded"))
	tests := []struct {
		name     string
		handlers []http.HandlerFunc
		edit     func(*Config)
		requests int
		kind     string
		text     string // part of the error
	}{
		{"529 twice, then an answer", []http.HandlerFunc{overloaded, overloaded, hello()}, nil, 3, "", ""},
		{"500, then an answer", []http.HandlerFunc{fail(500, nil, apiError("api_error", "x")), hello()}, nil, 2, "", ""},
		{"429 obeys Retry-After up to the cap", []http.HandlerFunc{fail(429, map[string]string{"Retry-After": "86400"}, ""), hello()}, nil, 2, "", ""},
		{"the service forbids it", []http.HandlerFunc{fail(429, map[string]string{"X-Should-Retry": "false"}, apiError("rate_limit_error", "spent"))}, nil, 1, model.KindRate, "429 spent"},
		{"used up", []http.HandlerFunc{fail(500, nil, apiError("api_error", "Internal server error"))},
			func(c *Config) { c.Retry.Retries = 1 }, 2, model.KindServer, "API Error: 500 Internal server error"},
		{"none wanted", []http.HandlerFunc{overloaded}, func(c *Config) { c.Retry.Retries = -1 }, 1, model.KindOverloaded, "529 Overloaded"},
		{"400 is not", []http.HandlerFunc{fail(400, nil, apiError("invalid_request_error", "scripted refusal"))}, nil, 1, model.KindInvalid, "API Error: 400 scripted refusal"},
		{"401 is not", []http.HandlerFunc{fail(401, nil, apiError("authentication_error", "invalid x-api-key "+testKey))}, nil, 1, model.KindAuth, "invalid x-api-key [redacted]"},
		{"too long", []http.HandlerFunc{fail(400, nil, apiError("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"))}, nil, 1, model.KindContextFull, "start a new session"},
		{"a page of a proxy", []http.HandlerFunc{fail(502, nil, "<html>bad gateway</html>")}, func(c *Config) { c.Retry.Retries = -1 }, 1, model.KindServer, "bad gateway"},
		{"broken before anything was shown", []http.HandlerFunc{stream(start, ping), hello()}, nil, 2, "", ""},
		{"an error event before anything was shown", []http.HandlerFunc{stream(start, apiError("overloaded_error", "Overloaded")), hello()}, nil, 2, "", ""},
		{"no event stream", []http.HandlerFunc{fail(200, nil, `{"hello":1}`)}, func(c *Config) { c.Retry.Retries = -1 }, 1, model.KindStream, "application/json"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, tt.handlers...)
			var edits []func(*Config)
			if tt.edit != nil {
				edits = append(edits, tt.edit)
			}
			_, r, err := ask(provider(s, edits...), t.Context())
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

func TestNoConnection(t *testing.T) {
	s := serve(t, hello())
	p := provider(s, func(c *Config) {
		c.BaseURL = strings.Replace(s.URL, "http://", "http://user:secretword@", 1)
		c.Retry.Retries = 1
	})
	s.Close()
	_, _, err := ask(p, t.Context())
	var e *model.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, model.KindNetwork, e.Kind)
	assert.Contains(t, e.Text, "cannot connect to 127.0.0.1:")
	assert.NotContains(t, err.Error(), "secretword")
}

func TestSilenceIsGivenUp(t *testing.T) {
	tests := map[string]http.HandlerFunc{
		"before the answer":  hang(func(http.ResponseWriter, *http.Request) {}),
		"after some text":    hang(stream(start, begin(0, textBlock), text(0, "half"))),
		"after the headers":  hang(stream()),
		"after the last one": hang(stream(start, begin(0, textBlock), text(0, "half"), end(0), stopText)),
	}
	for name, h := range tests {
		t.Run(name, func(t *testing.T) {
			s := serve(t, h)
			_, _, err := ask(provider(s, func(c *Config) { c.Limits.Idle = 300 * time.Millisecond }), t.Context())
			var e *model.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, model.KindStream, e.Kind)
			assert.Contains(t, e.Text, "sent nothing for 300ms")
			assert.Equal(t, 1, s.requests())
		})
	}
}

func TestPingsAreLife(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		stream(start)(w, r)
		for range 14 {
			<-tick.C
			stream(ping)(w, r)
		}
		stream(begin(0, textBlock), text(0, "Hello"), end(0), stopText, stop)(w, r)
	})
	_, r, err := ask(provider(s, func(c *Config) { c.Limits.Idle = 500 * time.Millisecond }), t.Context())
	require.NoError(t, err)
	assert.Equal(t, "Hello", r.Message.Content.PlainText())
}

func TestCancelEndsAtOnce(t *testing.T) {
	tests := map[string]http.HandlerFunc{
		"connecting": hang(func(http.ResponseWriter, *http.Request) {}),
		"in text":    hang(stream(start, begin(0, textBlock), text(0, "half"))),
		"waiting for a retry": fail(529, map[string]string{"Retry-After": "60"},
			apiError("overloaded_error", "Overloaded")),
	}
	for name, h := range tests {
		t.Run(name, func(t *testing.T) {
			arrived := make(chan struct{}, 1)
			s := serve(t, func(w http.ResponseWriter, r *http.Request) { arrived <- struct{}{}; h(w, r) })
			p := provider(s, func(c *Config) { c.Retry.RetryAfterCap = time.Minute })
			ctx, cancel := context.WithCancel(t.Context())
			go func() { <-arrived; cancel() }()
			_, _, err := ask(p, ctx)
			assert.True(t, errors.Is(err, context.Canceled), "%v", err)
		})
	}
}

func TestKeyHeaders(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "from-the-environment")
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "from-the-environment")
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
	t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "X-From: the-environment")
	tests := []struct {
		name, key, auth string
		xkey, bearer    string
	}{
		{"the service's own", testKey, "", testKey, ""},
		{"bearer", testKey, AuthBearer, "", "Bearer " + testKey},
		{"none", "", "", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, hello())
			_, _, err := ask(provider(s, func(c *Config) { c.Key, c.Auth = tt.key, tt.auth; c.BaseURL += "/v1/" }), t.Context())
			require.NoError(t, err)
			assert.Equal(t, tt.xkey, s.heads[0].Get("X-Api-Key"))
			assert.Equal(t, tt.bearer, s.heads[0].Get("Authorization"))
			assert.Empty(t, s.heads[0].Get("X-From"))
			assert.NotEmpty(t, s.heads[0].Get("Anthropic-Version"))
		})
	}
}
