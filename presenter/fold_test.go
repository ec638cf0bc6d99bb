package presenter

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func raws(s ...string) []json.RawMessage {
	out := []json.RawMessage{}
	for _, r := range s {
		out = append(out, json.RawMessage(r))
	}
	return out
}

func TestClientFolds(t *testing.T) {
	var c Client
	for _, u := range []string{
		`{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"Do"}}`,
		`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a"},"messageId":"m"}`,
		`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"b"},"messageId":"m"}`,
		`{"sessionUpdate":"agent_message_chunk","content":{"type":"image","mimeType":"x","data":""},"messageId":"m"}`,
		`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"c"},"messageId":"n"}`,
		`{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"d"},"messageId":"n"}`,
		`{"sessionUpdate":"tool_call","toolCallId":"1","name":"Edit","title":"t","kind":"edit","status":"pending","rawInput":{"b":1.50,"a":2},"content":[],"locations":[]}`,
		`{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"e"},"messageId":"n"}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"1","content":[{"type":"diff","path":"/a","oldText":null,"newText":"<"}],"locations":[{"path":"/a"}]}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"1","title":null,"content":null,"status":"completed","rawOutput":["x"]}`,
		`{"sessionUpdate":"tool_call","toolCallId":"1","title":"u"}`,
		`{"sessionUpdate":"plan","entries":[{"content":"c","status":"pending","priority":"low"}]}`,
		`{"sessionUpdate":"current_mode_update","currentModeId":"plan"}`,
		`{"sessionUpdate":"session_info_update","title":"T"}`,
		`{"sessionUpdate":"session_info_update","updatedAt":"now"}`,
		`{"sessionUpdate":"usage_update","used":1,"size":2}`,
		`{"sessionUpdate":"some_other","x":1}`,
	} {
		require.NoError(t, c.Apply(json.RawMessage(u)), u)
	}
	require.Len(t, c.Entries, 6)
	assert.Equal(t, "Do", c.Entries[0].Message.Text())
	assert.Equal(t, "ab", c.Entries[1].Message.Text())
	assert.Len(t, c.Entries[1].Message.Blocks, 1)
	assert.Equal(t, "c", c.Entries[2].Message.Text())
	assert.Equal(t, "d", c.Entries[3].Message.Text())
	assert.Same(t, c.Call("1"), c.Entries[4].Call)
	assert.Equal(t, "e", c.Entries[5].Message.Text(), "a call parts two thoughts")
	assert.Equal(t, &Call{
		ID: "1", Name: "Edit", Title: "u", Kind: "edit", Status: "completed",
		Content:   raws(`{"newText":"<","oldText":null,"path":"/a","type":"diff"}`),
		Locations: raws(`{"path":"/a"}`),
		RawInput:  json.RawMessage(`{"a":2,"b":1.50}`), RawOutput: json.RawMessage(`["x"]`),
	}, c.Call("1"))
	assert.Equal(t, `[{"content":"c","priority":"low","status":"pending"}]`, string(c.Plan))
	assert.Equal(t, "plan", c.Mode)
	assert.Equal(t, "T", c.Title)
	assert.Equal(t, `{"sessionUpdate":"usage_update","size":2,"used":1}`, string(c.Usage))
	assert.Contains(t, c.Other, "some_other")

	require.NoError(t, c.Upsert(json.RawMessage(`{"toolCallId":"1","content":[]}`)))
	assert.Equal(t, raws(), c.Call("1").Content, "empty clears")
	assert.Nil(t, c.Call("2"))
}

func TestClientRefuses(t *testing.T) {
	for _, u := range []string{
		``, `[]`, `{}`, `{"sessionUpdate":7}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"9","status":"failed"}`,
		`{"sessionUpdate":"tool_call","title":"t"}`,
		`{"sessionUpdate":"tool_call","toolCallId":"9","content":{}}`,
		`{"sessionUpdate":"tool_call","toolCallId":"9","locations":"a"}`,
		`{"sessionUpdate":"tool_call","toolCallId":"9","title":[]}`,
		`{"sessionUpdate":"agent_message_chunk"}`,
		`{"sessionUpdate":"agent_message_chunk","content":{"type":"text"}}`,
		`{"sessionUpdate":"plan"}`,
		`{"sessionUpdate":"plan","entries":null}`,
	} {
		var c Client
		assert.Error(t, c.Apply(json.RawMessage(u)), u)
		assert.Equal(t, Client{}, c, "%s changed the client", u)
	}
}

func FuzzClient(f *testing.F) {
	for _, c := range updateCases {
		f.Add([]byte(c.want))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var c Client
		if c.Apply(raw) != nil {
			assert.Equal(t, Client{}, c)
		}
	})
}
