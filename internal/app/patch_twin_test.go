package app

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/acptest"
	"dsh-acp/internal/modelserver"
)

// A chat is a service in the style of OpenAI that makes the listed calls of
// apply_patch, one an answer, and then says that it is done.
type chat struct {
	mu     sync.Mutex
	inputs []string
	bodies []string // guarded by mu: what was sent with tools
}

func (s *chat) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(err)
	}
	delta := any(map[string]any{"content": "done"})
	reason := "stop"
	s.mu.Lock()
	if strings.Contains(string(body), `"tools"`) {
		if n := len(s.bodies); n < len(s.inputs) {
			delta = map[string]any{"tool_calls": []any{map[string]any{"index": 0, "id": fmt.Sprintf("t%d", n+1), "type": "function",
				"function": map[string]any{"name": "apply_patch", "arguments": s.inputs[n]}}}}
			reason = "tool_calls"
		}
		s.bodies = append(s.bodies, string(body))
	}
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	for _, c := range []map[string]any{
		{"index": 0, "delta": delta, "finish_reason": nil}, {"index": 0, "delta": map[string]any{}, "finish_reason": reason},
	} {
		raw, err := json.Marshal(map[string]any{"id": "c1", "model": "m", "choices": []any{c}})
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(w, "data: %s\n\n", raw)
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// TestPatchTextsThroughBothProviders: however a model writes the patch of
// another tool, and whichever service it comes through, the answer shows the
// operations, and the call that is made of them is carried out.
func TestPatchTextsThroughBothProviders(t *testing.T) {
	const codex = "*** Begin Patch\n*** Update File: a.txt\n@@\n-a\n+b\n*** End Patch"
	const unified = "--- a/a.txt\n+++ b/a.txt\n@@ -4 +4 @@\n-a\n+b\n"
	const right = `{"operations":[{"op":"replace_range","path":"a.txt","startLine":4,"endLine":4,"oldText":"a","text":"b"}]}`
	quoted := func(s string) string {
		raw, err := json.Marshal(s)
		require.NoError(t, err)
		return string(raw)
	}
	for name, input := range map[string]string{
		"one argument":            `{"patch":` + quoted(codex) + `}`,
		"a diff in one argument":  `{"input":` + quoted(unified) + `}`,
		"a string of operations":  `{"operations":` + quoted(codex) + `}`,
		"a command":               `{"command":["apply_patch",` + quoted(codex) + `]}`,
		"no object but a string":  quoted(codex),
		"no JSON but the patch":   codex,
		"no JSON but a diff":      unified,
		"operations as their own": quoted(right),
	} {
		for _, provider := range []string{"anthropic", "openai"} {
			t.Run(provider+", "+name, func(t *testing.T) {
				p := newPlace(t)
				p.env["DSH_TOOLSET"] = "patch"
				p.write("a.txt", lines)
				service := &chat{inputs: []string{input, right}}
				if provider == "openai" {
					server := httptest.NewServer(service)
					t.Cleanup(server.Close)
					p.env["DSH_PROVIDER"], p.env["DSH_MODEL"] = "openai", "m"
					p.env["OPENAI_BASE_URL"], p.env["OPENAI_API_KEY"] = server.URL, "sk-test-secret"
				} else {
					call := func(id, input string) modelserver.Answer {
						return modelserver.Message{Blocks: []modelserver.Block{modelserver.ToolUse{ID: id, Name: "apply_patch", Input: input}}}
					}
					p.plays(call("t1", input), call("t2", right), say("done"))
				}
				c, _ := p.agent()
				c.OnQuestion(func(q acptest.Question) any { return q.Pick("allow_once") })
				id := p.newSession(c)
				assert.Equal(t, "end_turn", p.prompt(c, id, "change it"))
				assert.Equal(t, strings.Replace(lines, "a", "b", 1), p.read("a.txt"))

				first, err := json.Marshal(p.fold(c, id).Call("t1"))
				require.NoError(t, err)
				assert.Contains(t, string(first), `"failed"`)
				sent := ""
				if provider == "openai" {
					require.Len(t, service.bodies, 3)
					sent = service.bodies[1]
				} else {
					requests := p.model.Conversation()
					require.Len(t, requests, 3)
					sent = string(requests[1].Body)
				}
				if name == "operations as their own" {
					assert.True(t, strings.Contains(sent, "send the object itself, not its text"), "the request is %d bytes", len(sent))
					return
				}
				var plain any // without the escapes of a string in JSON
				require.NoError(t, json.Unmarshal([]byte(sent), &plain))
				shown := fmt.Sprint(plain)
				for _, want := range []string{"The same change as operations", strings.TrimSuffix(strings.TrimPrefix(right, `{"operations":[`), "]}")} {
					assert.True(t, strings.Contains(shown, want), "%s is not in the request of %d bytes", want, len(sent))
				}
			})
		}
	}
}
