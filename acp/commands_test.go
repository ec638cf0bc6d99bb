package acp

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/acptest"
	"dsh-acp/internal/msg"
)

func TestCommandOf(t *testing.T) {
	commands := []Command{{Name: "undo"}, {Name: "help"}}
	said := func(s string) msg.Blocks { return msg.Blocks{msg.Text{Text: s}} }
	for _, c := range []struct {
		prompt msg.Blocks
		want   *Call
	}{
		{said("/undo"), &Call{Name: "undo"}},
		{said(" /undo  turn 3 \n"), &Call{Name: "undo", Args: "turn 3"}},
		{said("/undo\tturn\n3"), &Call{Name: "undo", Args: "turn\n3"}},
		{said("/undo\nand then"), &Call{Name: "undo", Args: "and then"}},
		{append(said("/help"), msg.ResourceLink{URI: "file:///a", Name: "a"}), &Call{Name: "help"}},
		{said("/undoing"), nil},
		{said("/usr/bin/undo"), nil},
		{said("/"), nil},
		{said("undo"), nil},
		{said("say /undo"), nil},
		{said("//undo"), nil},
		{said(""), nil},
		{msg.Blocks{msg.ResourceLink{URI: "file:///a", Name: "a"}, msg.Text{Text: "/undo"}}, nil},
		{nil, nil},
	} {
		assert.Equal(t, c.want, commandOf(c.prompt, commands), "%v", c.prompt)
	}
}

// TestWhenCommandsAreTold holds the place among the other messages: an update
// of a session that a client does not know yet is lost, and one that follows
// the answer to a load is late.
func TestWhenCommandsAreTold(t *testing.T) {
	host := newFakeHost(say("x"))
	host.adorn = func(o *Opened) {
		o.Commands = []Command{{Name: "undo", Description: "Take back", Hint: "turn"}, {Name: "help", Description: "Help"}}
	}
	withServer(t, host, func(t *testing.T, c *acptest.Client) {
		kinds := func(method string, params map[string]any) []string {
			before := len(c.Messages())
			require.NoError(t, c.Call(method, params, nil))
			synctest.Wait()
			var out []string
			for _, m := range c.Messages()[before:] {
				var u acptest.Update
				if m.Method == "" {
					out = append(out, "answer")
				} else if json.Unmarshal(m.Params, &u) == nil {
					out = append(out, u.Update.Kind)
				}
			}
			return out
		}
		id := newSession(t, c)
		synctest.Wait()
		last := c.Messages()[len(c.Messages())-1]
		assert.Contains(t, string(last.Params), `"availableCommands":[{"name":"undo","description":"Take back","input":{"hint":"turn"}},{"name":"help","description":"Help"}]`)
		require.NoError(t, c.Call("session/prompt", promptOf(id, "hi"), nil))
		assert.Equal(t, []string{"user_message_chunk", "agent_message_chunk", "available_commands_update", "answer"}, kinds("session/load", setupOf(id, "/w")))
		assert.Equal(t, []string{"available_commands_update", "answer"}, kinds("session/resume", setupOf(id, "/w")))
		assert.Equal(t, []string{"answer", "available_commands_update"}, kinds("session/fork", setupOf(id, "/w")))
		assert.Equal(t, []string{"answer", "available_commands_update"}, kinds("session/new", map[string]any{"cwd": "/w", "mcpServers": []any{}}))
	})
}

func TestACommandReachesTheHostWithItsWords(t *testing.T) {
	var got []*Call
	host := newFakeHost(func(ctx context.Context, w *fakeWork, turn Turn) (Outcome, error) {
		got = append(got, turn.Command)
		return say("x")(ctx, w, turn)
	})
	host.adorn = func(o *Opened) { o.Commands = []Command{{Name: "undo", Description: "Take back"}} }
	withServer(t, host, func(t *testing.T, c *acptest.Client) {
		id := newSession(t, c)
		require.NoError(t, c.Call("session/prompt", promptOf(id, "/undo turn 3"), nil))
		require.NoError(t, c.Call("session/prompt", promptOf(id, "/nothing of the kind"), nil))
		assert.Equal(t, []*Call{{Name: "undo", Args: "turn 3"}, nil}, got)
		titles := slices.DeleteFunc(c.Updates(id), func(u acptest.Update) bool { return u.Update.Kind != "session_info_update" })
		require.Len(t, titles, 1, "a command is no title")
		assert.Equal(t, "/nothing of the kind", titles[0].Update.Title)
	})
}
