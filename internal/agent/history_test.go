package agent

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/msg"
)

func events(t *testing.T, ps ...msg.Payload) []msg.Event {
	t.Helper()
	l := &memLog{}
	for _, p := range ps {
		_, err := l.Append(p)
		require.NoError(t, err)
	}
	return l.events
}

func userSays(s string) msg.UserMessage {
	return msg.UserMessage{ID: s, Role: "user", Source: msg.Source{Kind: "prompt"}, Content: msg.Blocks{msg.Text{Text: s}}}
}

func modelSays(stop string, bs ...msg.Block) msg.AssistantMessage {
	return msg.AssistantMessage{Message: msg.Assistant{Role: "assistant", Content: bs, StopReason: stop}}
}

func resultOf(id string) msg.ToolReturned {
	return msg.ToolReturned{Message: msg.ToolMessage{Role: "tool", CallID: id, Content: msg.Blocks{msg.Text{Text: "of " + id}}}}
}

func TestHistoryLeavesOut(t *testing.T) {
	got, err := History(events(t,
		msg.TurnStart{Turn: 1}, userSays("one"), modelSays("", msg.ToolUse{ID: "a"}, msg.ToolUse{ID: "b"}), resultOf("b"), resultOf("a"), msg.TurnEnd{Turn: 1, Reason: msg.EndReason{Kind: msg.EndCompleted}},
		msg.ModeSet{Mode: "plan"},
		msg.TurnStart{Turn: 2}, userSays("refused"), modelSays(msg.StopRefusal, msg.Text{Text: "no"}), msg.TurnEnd{Turn: 2, Reason: msg.EndReason{Kind: msg.EndBlocked}},
		msg.TurnStart{Turn: 3}, userSays("three"), modelSays(StopError, msg.Text{Text: "API Error: x"}), msg.TurnEnd{Turn: 3, Reason: msg.EndReason{Kind: msg.EndFailed}},
	))
	require.NoError(t, err)
	require.Len(t, got, 4)
	assert.Equal(t, "one", got[0].Content.PlainText())
	assert.Equal(t, "a", got[2].Results[0].CallID, "in the order of the calls")
	assert.Equal(t, "three", got[3].Content.PlainText())
}

func TestHistoryHonoursReplace(t *testing.T) {
	evs := events(t, msg.TurnStart{Turn: 1}, userSays("one"), modelSays("", msg.Text{Text: "two"}), userSays("sum of both"), userSays("three"))
	evs[3].SurfaceOp = json.RawMessage(`{"op":"replace","start":1,"end":2}`)
	got, err := History(evs)
	require.NoError(t, err)
	require.Len(t, got, 2)
	assert.Equal(t, "sum of both", got[0].Content.PlainText())
	assert.Equal(t, "three", got[1].Content.PlainText())
}

func TestUnknownEvents(t *testing.T) {
	news := msg.Event{Type: "vendor/news", Seq: 0, Data: json.RawMessage(`{}`), Ignorable: true}
	got, err := History([]msg.Event{news})
	require.NoError(t, err)
	assert.Empty(t, got)
	w := newWorld(t, `[]`)
	w.cfg.Past = []msg.Event{news}
	_, err = New(w.cfg)
	require.NoError(t, err)
	w.cfg.Past[0].Ignorable = false
	_, err = New(w.cfg)
	assert.ErrorContains(t, err, "vendor/news")
}
