package presenter

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"dsh-acp/internal/acpschema"
)

// checkSchema holds an update, or a permission request's call, to the
// protocol's schema, and to its names.
func checkSchema(t *testing.T, line string) {
	t.Helper()
	method, params := "session/update", `{"sessionId":"s","update":`+line+`}`
	if !strings.Contains(line, `"sessionUpdate"`) {
		method = "session/request_permission"
		params = `{"sessionId":"s","options":[],"toolCall":` + line + `}`
	}
	assert.NoError(t, acpschema.ValidateParams(acpschema.FromAgent, method, json.RawMessage(params)), line)
	assert.Empty(t, acpschema.UnknownParams(acpschema.FromAgent, method, json.RawMessage(params)), line)
}

func TestUpdatesFitTheSchema(t *testing.T) {
	for _, s := range scenarios(t) {
		for _, text := range []string{s.live(t, s.config), s.replay(t, s.config)} {
			for line := range strings.Lines(text) {
				if line[0] == '{' {
					checkSchema(t, strings.TrimSuffix(line, "\n"))
				}
			}
		}
	}
	for _, c := range updateCases {
		if start, ok := c.update.(ToolCallStart); ok && start.Title == "" {
			continue // no call without a title is ever sent
		}
		checkSchema(t, c.want)
	}
}
