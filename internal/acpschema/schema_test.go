package acpschema_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/acpschema"
)

type line struct {
	From    string
	Message json.RawMessage
}

func readTrace(t testing.TB, path string) []line {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	var out []line
	sc := bufio.NewScanner(bytes.NewReader(b))
	sc.Buffer(nil, 1<<26)
	for sc.Scan() {
		var l line
		require.NoError(t, json.Unmarshal(sc.Bytes(), &l))
		out = append(out, l)
	}
	require.NoError(t, sc.Err())
	return out
}

// Names that the recorded agent sends beyond the stable schema.
var beyond = map[string]bool{
	"initialize result: agentCapabilities/providers":                        true,
	"initialize result: agentCapabilities/sessionCapabilities/systemPrompt": true,
	"session/load result: sessionId":                                        true,
	"session/resume result: sessionId":                                      true,
	"session/prompt result: usage":                                          true,
}

func TestRecordedMessagesValidate(t *testing.T) {
	paths, err := filepath.Glob("../../conformance/testdata/*/*/trace.jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	seen := map[string]bool{}
	for _, path := range paths {
		var c acpschema.Checker
		for i, l := range readTrace(t, path) {
			dir := acpschema.FromClient
			if l.From == "agent" {
				dir = acpschema.FromAgent
			}
			var m acpschema.Message
			require.NoError(t, json.Unmarshal(l.Message, &m))
			if m.Method == "initialize" {
				c = acpschema.Checker{} // a new process: ids start again
			}
			unknown, err := c.Check(dir, l.Message)
			require.NoError(t, err, "%s:%d: %s", path, i+1, l.Message)
			for _, u := range unknown {
				seen[u] = true
			}
		}
	}
	assert.Equal(t, beyond, seen)
}

func TestFaults(t *testing.T) {
	update := func(u string) string {
		return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":` + u + `}}`
	}
	for _, tt := range []struct{ name, message, want string }{
		{"no version", `{"method":"session/update","params":{}}`, `want "2.0"`},
		{"not JSON", `{`, "unexpected end"},
		{"unknown method", `{"jsonrpc":"2.0","method":"session/upd","params":{}}`, `"session/upd"`},
		{"client's method", `{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{}}`, `none of that name that the client receives`},
		{"no update", `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s"}}`, "update"},
		{"unknown update", update(`{"sessionUpdate":"tool_cal"}`), "update"},
		{"no title", update(`{"sessionUpdate":"tool_call","toolCallId":"1"}`), "title"},
		{"bad kind", update(`{"sessionUpdate":"tool_call","toolCallId":"1","title":"t","kind":"write"}`), "kind"},
		{"bad status", update(`{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"done"}`), "status"},
		{"bad line", update(`{"sessionUpdate":"tool_call_update","toolCallId":"1","locations":[{"path":"/p","line":-1}]}`), "locations/0/line"},
		{"number as id", update(`{"sessionUpdate":"tool_call_update","toolCallId":1}`), "toolCallId"},
		{"diff without new text", update(`{"sessionUpdate":"tool_call_update","toolCallId":"1","content":[{"type":"diff","path":"/p","oldText":null}]}`), "newText"},
		{"unknown content", update(`{"sessionUpdate":"tool_call_update","toolCallId":"1","content":[{"type":"text","text":"x"}]}`), "content/0"},
		{"options missing", `{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"1"}}}`, "options"},
		{"answer to nothing", `{"jsonrpc":"2.0","id":9,"result":{}}`, "id 9"},
		{"id in fractions", `{"jsonrpc":"2.0","id":1.5,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/p"}}`, "id"},
		{"result and error", `{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"m"}}`, "either"},
		{"bad stop reason", `{"jsonrpc":"2.0","id":2,"result":{"stopReason":"done"}}`, "stopReason"},
		{"error without code", `{"jsonrpc":"2.0","id":2,"error":{"message":"m"}}`, "code"},
		{"vendor's method", `{"jsonrpc":"2.0","method":"_x/y","params":{"a":1}}`, ""},
		{"plain update", update(`{"sessionUpdate":"tool_call_update","toolCallId":"1","content":[],"rawInput":{"any":1}}`), ""},
		{"cancel", `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":0}}`, ""},
		{"stop", `{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var c acpschema.Checker
			require.NoError(t, c.Validate(acpschema.FromClient,
				json.RawMessage(`{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}`)))
			err := c.Validate(acpschema.FromAgent, json.RawMessage(tt.message))
			if tt.want == "" {
				assert.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, tt.want)
		})
	}
}

func TestUnknown(t *testing.T) {
	for _, tt := range []struct {
		params string
		want   []string
	}{
		{`{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"1","title":"t","_meta":{"x":1},"rawInput":{"x":1}}}`, []string{}},
		{`{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"1","title":"t","statsu":"pending"}}`, []string{"update/statsu"}},
		{`{"sessionId":"s","sesion":1,"update":{"sessionUpdate":"tool_call_update","toolCallId":"1",
		   "content":[{"type":"diff","path":"/p","newText":"","oldtext":""},{"type":"content","content":{"type":"text","text":"","txt":1}}],
		   "locations":[{"path":"/p","lin":1}]}}`,
			[]string{"sesion", "update/content/*/content/txt", "update/content/*/oldtext", "update/locations/*/lin"}},
		{`{"sessionId":"s","update":{"sessionUpdate":"plan","entries":[{"content":"c","status":"pending","priority":"low","prio":1}]}}`, []string{"update/entries/*/prio"}},
	} {
		assert.Equal(t, tt.want, acpschema.UnknownParams(acpschema.FromAgent, "session/update", json.RawMessage(tt.params)), tt.params)
	}
	assert.Equal(t, []string{"stopreason"}, acpschema.UnknownResult(acpschema.FromAgent, "session/prompt", json.RawMessage(`{"stopReason":"end_turn","stopreason":"x"}`)))
}
