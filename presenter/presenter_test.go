package presenter

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/msg"
)

func event(p msg.Payload) msg.Event {
	return msg.Event{Type: p.EventType(), Data: mustMarshal(p)}
}

func result(id, text string) msg.Event {
	return event(msg.ToolReturned{Message: msg.ToolMessage{Role: "tool", CallID: id, Content: msg.Blocks{msg.Text{Text: text}}}})
}

const editInput = `{"file_path":"/w/a.txt","old_string":"a","new_string":"b"}`

func TestPermissionCall(t *testing.T) {
	p := New(Config{Cwd: "/w", Tools: testTools()})
	_, ok := p.PermissionCall("c", Question{})
	assert.False(t, ok, "no such call")
	p.Event(assistant("m", msg.ToolUse{ID: "c", Name: "Edit", Input: editInput}, msg.ToolUse{ID: "t", Name: "TodoWrite", Input: `{"todos":[]}`}))
	_, ok = p.PermissionCall("t", Question{})
	assert.False(t, ok, "a plan is no call")

	call, ok := p.PermissionCall("c", Question{Paths: []string{"elsewhere"}})
	require.True(t, ok)
	assert.Equal(t, []Location{{Path: "/w/a.txt"}}, call.Locations, "the call names its files itself")
	// What the caller does to its copy changes nothing.
	call.Content[0], call.Locations[0], call.RawInput[0] = TerminalItem{}, Location{}, 'x'
	again, _ := p.PermissionCall("c", Question{})
	assert.Equal(t, DiffItem{Path: "/w/a.txt", OldText: ptr("a"), NewText: "b"}, again.Content[0])
	assert.Equal(t, "/w/a.txt", again.Locations[0].Path)
	assert.True(t, json.Valid(again.RawInput))

	p.Event(result("c", "done"))
	_, ok = p.PermissionCall("c", Question{})
	assert.False(t, ok, "closed")
}

func TestTurnEndClosesCalls(t *testing.T) {
	p, c := New(Config{Cwd: "/w", Tools: testTools()}), &Client{}
	var uses []msg.Block
	for i := range 20 {
		uses = append(uses, msg.ToolUse{ID: fmt.Sprint("c", i), Name: "Read", Input: `{}`})
	}
	fold(t, c, p.Event(assistant("m", uses...)))
	fold(t, c, p.Event(result("c3", "done")))
	end := event(msg.TurnEnd{Reason: msg.EndReason{Kind: msg.EndAborted}})
	us := p.Event(end)
	require.Len(t, us, 19)
	for i, u := range us {
		n := i
		if i >= 3 {
			n++
		}
		assert.Equal(t, fmt.Sprint("c", n), u.(ToolCallUpdate).ToolCallID, "in the order of their start")
	}
	fold(t, c, us)
	assert.Equal(t, StatusCompleted, c.Call("c3").Status)
	assert.Equal(t, StatusFailed, c.Call("c19").Status)
	assert.Equal(t, `"The turn ended before this call did."`, string(c.Call("c19").RawOutput))
	assert.Empty(t, p.Event(end))
}

// A session that goes on after a replay counts on, and tells what the client
// was not told.
func TestUsageAfterReplay(t *testing.T) {
	usage := &msg.Usage{Input: 10, Output: 5, CostUSD: 0.1}
	answer := event(msg.AssistantMessage{Message: msg.Assistant{ID: "m"}, Usage: usage})
	end := event(msg.TurnEnd{Reason: msg.EndReason{Kind: msg.EndCompleted}})
	p := New(Config{})
	assert.Empty(t, p.Replay(event(msg.RequestContext{ContextWindow: 100})))
	assert.Empty(t, p.Replay(answer))
	assert.Empty(t, p.Replay(end))

	assert.Equal(t, []Update{UsageUpdate{Used: 15, Size: 100}}, p.Event(answer))
	assert.Equal(t, []Update{UsageUpdate{Used: 15, Size: 100, Cost: &Cost{Amount: 0.2, Currency: "USD"}}}, p.Event(end))
	assert.Empty(t, p.Event(end), "nothing changed")

	// Another model, of which the window is not known.
	p.Event(event(msg.RequestContext{}))
	assert.Empty(t, p.Delta(msg.UsageDelta{Usage: msg.Usage{Input: 7}}))
}

// A client cannot take text back: what was committed differently is not sent
// on top of what was shown.
func TestCommittedTextThatDiffers(t *testing.T) {
	p := New(Config{})
	p.Delta(msg.TextDelta{MessageID: "m", Text: "Hullo"})
	assert.Empty(t, p.Event(assistant("m", msg.Text{Text: "Hello there"})))
	assert.Len(t, p.Event(assistant("m", msg.Text{Text: "Hello"})), 1, "that message was over")
}

func TestEventsThatShowNothing(t *testing.T) {
	p := New(Config{})
	for _, e := range []msg.Event{
		{}, {Type: "no/such"}, {Type: "tool/result", Data: json.RawMessage(`[`)}, {Type: "assistant/chunk"},
		event(msg.TurnStart{}), event(msg.StepStart{}), event(msg.StepEnd{}), event(msg.RequestHeader{}),
		event(msg.EndSeed{}), event(msg.ModeSet{}), event(msg.Granted{}), event(msg.Titled{Title: "t"}), event(msg.OptionSet{}), event(msg.Folders{}),
	} {
		assert.Empty(t, p.Event(e), e.Type)
		assert.Empty(t, p.Replay(e), e.Type)
	}
	assert.Empty(t, p.Delta(msg.ToolInput{CallID: "c", Fragment: `{"a":1,`}), "a call that never started")
	assert.Panics(t, func() { p.Delta(nil) })
}

// Every delta has its rule.
func TestEveryDelta(t *testing.T) {
	p := New(Config{})
	for _, d := range []msg.Delta{
		msg.MessageStart{}, msg.TextDelta{}, msg.ThoughtDelta{}, msg.ToolStart{}, msg.ToolInput{}, msg.ToolReady{}, msg.UsageDelta{},
	} {
		assert.NotPanics(t, func() { p.Delta(d) }, "%T", d)
	}
}

// A log may hold a call without the message that asked for it.
func TestCallWithoutItsMessage(t *testing.T) {
	p, c := New(Config{Cwd: "/w", Tools: testTools()}), &Client{}
	fold(t, c, p.Replay(event(msg.ToolCall{CallID: "c", Name: "Edit", Arguments: editInput})))
	assert.Equal(t, "Edit a.txt", c.Call("c").Title)
	assert.Empty(t, p.Replay(event(msg.ToolCall{CallID: "c", Name: "Edit", Arguments: editInput})))
	fold(t, c, p.Replay(result("c", "done")))
	assert.Equal(t, StatusCompleted, c.Call("c").Status)
}

func TestCallWithoutAName(t *testing.T) {
	us := New(Config{}).Delta(msg.ToolStart{CallID: "c"})
	require.Len(t, us, 1)
	checkSchema(t, encode(t, us[0]))
}

// The same call again says nothing again.
func TestUnchangedFieldsAreDropped(t *testing.T) {
	p := New(Config{Cwd: "/w", Tools: testTools()})
	use := msg.ToolUse{ID: "c", Name: "Edit", Input: editInput}
	require.Len(t, p.Delta(msg.ToolStart{CallID: "c", Name: "Edit"}), 1)
	assert.Empty(t, p.Delta(msg.ToolStart{CallID: "c", Name: "Edit"}))
	require.Len(t, p.Delta(msg.ToolReady{Use: use}), 1)
	assert.Empty(t, p.Delta(msg.ToolReady{Use: use}))
	assert.Empty(t, p.Delta(msg.ToolInput{CallID: "c", Fragment: `{"late":1,`}))
	assert.Empty(t, p.Event(assistant("m", use)))
}

// benchmarkCall plays one call in a session that has seen before of them: the
// cost of an update must not grow with the session.
func benchmarkCall(b *testing.B, before int) {
	p := New(Config{Cwd: "/w", Tools: testTools()})
	play := func(id string) {
		p.Delta(msg.ToolStart{CallID: id, Name: "Edit"})
		p.Delta(msg.ToolInput{CallID: id, Fragment: editInput[:30]})
		p.Event(assistant("m", msg.ToolUse{ID: id, Name: "Edit", Input: editInput}))
		p.Event(result(id, "done"))
	}
	for i := range before {
		play(fmt.Sprint("old", i))
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		play(fmt.Sprint("c", i))
	}
}

func BenchmarkCall1(b *testing.B)     { benchmarkCall(b, 1) }
func BenchmarkCall10000(b *testing.B) { benchmarkCall(b, 10_000) }

func BenchmarkTextDeltas20000(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		p := New(Config{})
		for range 20_000 {
			for _, u := range p.Delta(msg.TextDelta{MessageID: "m", Text: "twenty-four characters.."}) {
				if _, err := msg.Marshal(u); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
}

// BenchmarkInput10MiB streams the input of one large Write.
func BenchmarkInput10MiB(b *testing.B) {
	fragment := "0123456789abcdef0123456789abcde,"
	b.ReportAllocs()
	for b.Loop() {
		p := New(Config{Cwd: "/w", Tools: testTools()})
		p.Delta(msg.ToolStart{CallID: "c", Name: "Write"})
		p.Delta(msg.ToolInput{CallID: "c", Fragment: `{"file_path":"a","content":"`})
		for range 10 << 20 / len(fragment) {
			p.Delta(msg.ToolInput{CallID: "c", Fragment: fragment})
		}
		p.Delta(msg.ToolInput{CallID: "c", Fragment: `"}`})
	}
}
