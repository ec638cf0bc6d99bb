package acp

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestUndecodableParams(t *testing.T) {
	for _, c := range []struct{ raw, want string }{
		{``, "session/prompt: params is missing"},
		{`[]`, "session/prompt: params: want an object, found array"},
		{`7`, "session/prompt: params: want an object, found number"},
		{`{"sessionId":7}`, "session/prompt: sessionId: found number, which does not fit there"},
		{`{"sessionId":"a","prompt":"b"}`, "session/prompt: prompt: found string, which does not fit there"},
		{`{"sessionId":"a","prompt":[{"type":"video"}]}`, "video"},
		{`{"sessionId":"a","prompt":[null]}`, "session/prompt: a content block has no type"},
	} {
		_, _, err := decodePrompt(json.RawMessage(c.raw))
		require.Error(t, err, c.raw)
		assert.ErrorContains(t, err, c.want)
		assert.NotContains(t, err.Error(), "Go value", c.raw)
	}
}
