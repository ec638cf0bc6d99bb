package modelserver_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/modelserver"
)

const conversation = `{"model":"m","stream":true,"tools":[{"name":"Read"}],"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}`

func start(t *testing.T, answers ...modelserver.Answer) *modelserver.Server {
	t.Helper()
	s, err := modelserver.Start(modelserver.NewScript(answers...).Next)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func post(t *testing.T, s *modelserver.Server, path, body string) *http.Response {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL()+path, strings.NewReader(body))
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// events writes a stream as one short line an event.
func events(t *testing.T, r io.Reader) []string {
	t.Helper()
	var out []string
	sc := bufio.NewScanner(r)
	name := ""
	for sc.Scan() {
		line := sc.Text()
		if n, ok := strings.CutPrefix(line, "event: "); ok {
			name = n
		}
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		var e struct {
			Type         string
			Index        int
			Message      struct{ ID string }
			ContentBlock struct{ Type, Name string } `json:"content_block"`
			Delta        struct {
				Type, Text, Thinking, Signature string
				PartialJSON                     string `json:"partial_json"`
				StopReason                      string `json:"stop_reason"`
			}
			Usage struct {
				Output int `json:"output_tokens"`
			}
		}
		require.NoError(t, json.Unmarshal([]byte(data), &e))
		require.Equal(t, name, e.Type)
		d := e.Delta
		switch e.Type {
		case "message_start":
			out = append(out, "start "+e.Message.ID)
		case "content_block_start":
			out = append(out, strings.TrimSpace("block "+e.ContentBlock.Type+" "+e.ContentBlock.Name))
		case "content_block_delta":
			out = append(out, d.Type+" "+d.Text+d.Thinking+d.Signature+d.PartialJSON)
		case "message_delta":
			out = append(out, "stop "+d.StopReason)
		default:
			out = append(out, e.Type)
		}
	}
	return out
}

func TestStream(t *testing.T) {
	s := start(t, modelserver.Message{Blocks: []modelserver.Block{
		modelserver.Thinking{Text: "Hm.", Signature: "sig"},
		modelserver.Text{Text: "I'll look at the file first."},
		modelserver.ToolUse{ID: "toolu_1", Name: "Read", Input: `{"file_path":"/w/é/poem.txt"}`},
	}})
	resp := post(t, s, "/v1/messages?beta=true", conversation)
	require.Equal(t, 200, resp.StatusCode)
	assert.Equal(t, []string{
		"start msg_main01", "ping",
		"block thinking", "thinking_delta Hm.", "signature_delta sig", "content_block_stop",
		"block text", "text_delta I'll look at the file fi", "text_delta rst.", "content_block_stop",
		"block tool_use Read", "input_json_delta ", `input_json_delta {"file_path":"/w/é/poem.`, `input_json_delta txt"}`, "content_block_stop",
		"stop tool_use", "message_stop",
	}, events(t, resp.Body))
	require.Len(t, s.Conversation(), 1)
	r := s.Conversation()[0]
	assert.Equal(t, "hi", r.LastUser)
	assert.Equal(t, []string{"Read"}, r.Tools)
	assert.JSONEq(t, conversation, string(r.Body))
}

func TestScript(t *testing.T) {
	script := modelserver.NewScript(
		modelserver.Failure{Status: 529},
		modelserver.Failure{Status: 500, Repeat: 5, Text: "broken"},
		modelserver.Message{Stop: "max_tokens", Blocks: []modelserver.Block{modelserver.Text{Text: "a"}}},
	)
	s, err := modelserver.Start(script.Next)
	require.NoError(t, err)
	defer s.Close()
	status := func() (int, string) {
		resp := post(t, s, "/v1/messages", conversation)
		b, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, string(b)
	}
	script.NewPrompt() // nothing was given: nothing is dropped
	code, body := status()
	assert.Equal(t, 529, code)
	assert.Contains(t, body, "overloaded_error")
	code, body = status()
	assert.Equal(t, 500, code)
	assert.Contains(t, body, `"message":"broken"`)
	code, _ = status()
	assert.Equal(t, 500, code)
	script.NewPrompt()
	assert.Equal(t, 1, script.Left())
	_, body = status()
	assert.Contains(t, body, `"stop_reason":"max_tokens"`)
	_, body = status()
	assert.Contains(t, body, modelserver.EndText[:modelserver.DefaultPiece])
	assert.Equal(t, 3, script.Used())
}

func TestBesideTheConversation(t *testing.T) {
	s := start(t)
	for _, tt := range []struct{ name, path, body, want string }{
		{"title", "/v1/messages", `{"messages":[],"output_config":{"format":{"type":"json_schema","schema":{"properties":{"title":{}}}}}}`, modelserver.DefaultTitle},
		{"format", "/v1/messages", `{"messages":[],"output_config":{"format":{"type":"json_schema"}}}`, `"{}"`},
		{"no tools", "/v1/messages", `{"messages":[],"stream":true}`, `"ok"`},
		{"suggestion", "/v1/messages", `{"stream":true,"tools":[{"name":"Read"}],"messages":[{"role":"user","content":"[SUGGESTION MODE: x]"}]}`, `"ok"`},
		{"count", "/v1/messages/count_tokens", `{}`, `"input_tokens":1200`},
		{"models", "/v1/models", ``, `"data":[]`},
		{"unknown", "/nowhere", ``, `not_found_error`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, err := io.ReadAll(post(t, s, tt.path, tt.body).Body)
			require.NoError(t, err)
			assert.Contains(t, strings.ReplaceAll(string(b), `\"`, `"`), tt.want)
		})
	}
	assert.Empty(t, s.Conversation())
	assert.Len(t, s.Requests(), 7)
}

func TestHangAndGate(t *testing.T) {
	three := 3
	reached, open := make(chan struct{}), make(chan struct{})
	s := start(t,
		modelserver.Message{Blocks: []modelserver.Block{
			modelserver.Text{Text: "before"},
			modelserver.Gate{Reached: reached, Open: open},
			modelserver.ToolUse{ID: "t", Name: "Read", Input: `{"a":1}`, Cut: &three},
			modelserver.Text{Text: "never"},
		}})
	resp := post(t, s, "/v1/messages", conversation)
	<-reached
	br := bufio.NewReader(resp.Body)
	var got bytes.Buffer
	read := func(until string) {
		for !strings.Contains(got.String(), until) {
			line, err := br.ReadString('\n')
			require.NoError(t, err)
			got.WriteString(line)
		}
	}
	read("content_block_stop")
	assert.NotContains(t, got.String(), "tool_use")
	close(open)
	read(`"partial_json":"{\"a"`)
	require.NoError(t, s.Wait(t.Context(), 1))
	require.NoError(t, s.Close()) // ends what hangs
	rest, err := io.ReadAll(br)
	assert.Error(t, err)
	assert.Empty(t, strings.TrimSpace(string(rest)))
}

func TestPieces(t *testing.T) {
	for _, tt := range []struct {
		in   string
		n    int
		want string
	}{
		{"", 3, ""},
		{"abc", 3, "abc"},
		{"abcd", 3, "abc|d"},
		{"äöüß", 3, "äöü|ß"},
		{"😀😀", 1, "😀|😀"},
		{strings.Repeat("x", 25), 0, strings.Repeat("x", 24) + "|x"},
	} {
		assert.Equal(t, tt.want, strings.Join(modelserver.Pieces(tt.in, tt.n), "|"))
	}
}
