package presenter

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/msg"
)

func typeName(v any) string { return fmt.Sprintf("%T", v) }

func assistant(id string, blocks ...msg.Block) msg.Event {
	return msg.Event{Type: "assistant/message", Data: mustMarshal(msg.AssistantMessage{
		Message: msg.Assistant{ID: id, Role: "assistant", Content: blocks}})}
}

func chunkText(s string) ContentBlock { return ContentBlock{Block: msg.Text{Text: s}} }

var updateCases = []struct {
	update Update
	want   string
}{
	{UserMessageChunk{Content: chunkText("<a&b>")}, `{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"<a&b>"}}`},
	{AgentMessageChunk{Content: chunkText(""), MessageID: "m"}, `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":""},"messageId":"m"}`},
	{AgentThoughtChunk{Content: chunkText("t")}, `{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"t"}}`},
	{ToolCallStart{ToolCallID: "c", Name: "n", ToolCallFields: ToolCallFields{Status: "pending", Title: "t", Kind: "edit", RawInput: json.RawMessage(`{}`), Content: []ToolContent{}, Locations: []Location{}}},
		`{"sessionUpdate":"tool_call","toolCallId":"c","name":"n","status":"pending","title":"t","kind":"edit","rawInput":{},"content":[],"locations":[]}`},
	{ToolCallStart{ToolCallID: "c"}, `{"sessionUpdate":"tool_call","toolCallId":"c"}`},
	{ToolCallUpdate{ToolCallID: "c", ToolCallFields: ToolCallFields{Content: []ToolContent{DiffItem{Path: "/a"}, DiffItem{Path: "/a", OldText: new(string)}, TerminalItem{TerminalID: "c"}}}},
		`{"sessionUpdate":"tool_call_update","toolCallId":"c","content":[{"type":"diff","path":"/a","oldText":null,"newText":""},{"type":"diff","path":"/a","oldText":"","newText":""},{"type":"terminal","terminalId":"c"}]}`},
	{ToolCallUpdate{ToolCallID: "c", Meta: &Meta{TerminalExit: &TerminalExit{TerminalID: "c"}}}, `{"sessionUpdate":"tool_call_update","toolCallId":"c","_meta":{"terminal_exit":{"terminal_id":"c","exit_code":null,"signal":null}}}`},
	{PlanUpdate{}, `{"sessionUpdate":"plan","entries":[]}`},
	{AvailableCommands{}, `{"sessionUpdate":"available_commands_update","availableCommands":[]}`},
	{AvailableCommands{Commands: []Command{{Name: "n", Description: "d", Input: &CommandInput{Hint: "h"}}}}, `{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"n","description":"d","input":{"hint":"h"}}]}`},
	{CurrentMode{ModeID: "plan"}, `{"sessionUpdate":"current_mode_update","currentModeId":"plan"}`},
	{ConfigOptions{}, `{"sessionUpdate":"config_option_update","configOptions":[]}`},
	{SessionInfo{}, `{"sessionUpdate":"session_info_update"}`},
	{SessionInfo{Title: "t"}, `{"sessionUpdate":"session_info_update","title":"t"}`},
	{CompactionUpdate{ID: "c", Status: CompactionRunning}, `{"sessionUpdate":"compaction_update","compactionId":"c","status":"in_progress"}`},
	{CompactionUpdate{ID: "c", Status: CompactionFailed, Error: "e"}, `{"sessionUpdate":"compaction_update","compactionId":"c","status":"failed","error":"e"}`},
	{CompactionUpdate{ID: "c", Status: CompactionCompleted, Summary: []ContentBlock{chunkText("s")}},
		`{"sessionUpdate":"compaction_update","compactionId":"c","status":"completed","summary":[{"type":"text","text":"s"}]}`},
	{UsageUpdate{}, `{"sessionUpdate":"usage_update","used":0,"size":0}`},
	{UsageUpdate{Used: 1, Size: 2, Cost: &Cost{Amount: 0.5, Currency: "USD"}}, `{"sessionUpdate":"usage_update","used":1,"size":2,"cost":{"amount":0.5,"currency":"USD"}}`},
}

func TestUpdateJSON(t *testing.T) {
	seen := map[string]Update{}
	for _, c := range updateCases {
		got := encode(t, c.update)
		assert.Equal(t, c.want, got)
		var head struct{ SessionUpdate string }
		require.NoError(t, json.Unmarshal([]byte(got), &head))
		assert.Equal(t, c.update.sessionUpdate(), head.SessionUpdate)
		seen[typeName(c.update)] = c.update
		// Within params, as they are sent.
		assert.Equal(t, `{"update":`+c.want+`}`, encode(t, map[string]Update{"update": c.update}))
	}
	var all []Update
	for _, u := range seen {
		all = append(all, u)
	}
	assert.Equal(t, implementers(t, "sessionUpdate"), typeNames(all), "the table must hold each update")
}

func TestContentBlocks(t *testing.T) {
	size := int64(3)
	for _, c := range []struct {
		block msg.Block
		want  string
	}{
		{msg.Text{Text: "<"}, `{"type":"text","text":"<"}`},
		{msg.Image{MIME: "image/png", Data: []byte{1}, URI: "u"}, `{"type":"image","mimeType":"image/png","data":"AQ==","uri":"u"}`},
		{msg.ResourceLink{URI: "u", Name: "n", Size: &size}, `{"type":"resource_link","uri":"u","name":"n","size":3}`},
		{msg.Resource{URI: "u", Text: ptr("")}, `{"type":"resource","resource":{"uri":"u","text":""}}`},
		{msg.Resource{URI: "u", Blob: []byte{1}}, `{"type":"resource","resource":{"uri":"u","blob":"AQ=="}}`},
		{msg.Resource{URI: "u"}, `{"type":"resource","resource":{"uri":"u","text":""}}`},
	} {
		assert.Equal(t, c.want, encode(t, ContentBlock{Block: c.block}))
		assert.Len(t, visible(msg.Blocks{c.block}), 1)
	}
	for _, b := range []msg.Block{msg.Thinking{}, msg.RedactedThinking{}, msg.ToolUse{}} {
		assert.Empty(t, visible(msg.Blocks{b}))
		assert.Panics(t, func() { _, _ = msg.Marshal(ContentBlock{Block: b}) })
	}
}
