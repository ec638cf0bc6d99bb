package acp

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/acptest"
	"dsh-acp/internal/agent"
)

func setupOf(session, cwd string) map[string]any {
	return map[string]any{"sessionId": session, "cwd": cwd, "mcpServers": []any{}}
}

func TestLoadReplaysBeforeItsAnswerAndResumeDoesNot(t *testing.T) {
	withServer(t, newFakeHost(say("hello")), func(t *testing.T, c *acptest.Client) {
		id := newSession(t, c)
		require.NoError(t, c.Call("session/prompt", promptOf(id, "first question"), nil))
		synctest.Wait()
		before := len(c.Messages())
		require.NoError(t, c.Call("session/load", setupOf(id, "/w"), nil))
		synctest.Wait()
		all := c.Messages()[before:]
		require.Len(t, all, 3)
		for _, m := range all[:2] {
			assert.Equal(t, "session/update", m.Method)
		}
		assert.Equal(t, "", all[2].Method, "the answer comes last")
		assert.Contains(t, string(all[0].Params), "first question")
		assert.Contains(t, string(all[1].Params), "hello")

		before = len(c.Messages())
		require.NoError(t, c.Call("session/resume", setupOf(id, "/w"), nil))
		synctest.Wait()
		assert.Len(t, c.Messages()[before:], 1, "resume sends its answer alone")
	})
}

func TestLoadHonoursTheNewFolder(t *testing.T) {
	host := newFakeHost(say("x"))
	withServer(t, host, func(t *testing.T, c *acptest.Client) {
		id := newSession(t, c)
		p := setupOf(id, "/other/./place")
		p["additionalDirectories"] = []string{"/more"}
		require.NoError(t, c.Call("session/load", p, nil))
		assert.Equal(t, []Setup{{Cwd: "/w"}, {Cwd: "/other/place", More: []string{"/more"}}}, host.setups)
	})
}

func TestLoadOfABusySessionEndsItsTurnFirst(t *testing.T) {
	host := newFakeHost(hang)
	withServer(t, host, func(t *testing.T, c *acptest.Client) {
		id := newSession(t, c)
		first := c.Request("session/prompt", promptOf(id, "x"))
		synctest.Wait()
		load := c.Request("session/load", setupOf(id, "/w"))
		after := c.Request("session/prompt", promptOf(id, "after"))
		var res stopReason
		require.NoError(t, c.Answer(first, &res))
		assert.Equal(t, StopCancelled, res.StopReason)
		require.NoError(t, c.Answer(load, nil))
		synctest.Wait()
		assert.Equal(t, 1, host.openings)
		c.Notify("session/cancel", map[string]any{"sessionId": id})
		require.NoError(t, c.Answer(after, &res), "a prompt that was read after the load runs in the loaded session")
	})
}

func TestRequestsOfASessionKeepTheirOrder(t *testing.T) {
	host := newFakeHost(say("x"))
	withServer(t, host, func(t *testing.T, c *acptest.Client) {
		id := newSession(t, c)
		require.NoError(t, c.Call("session/close", map[string]any{"sessionId": id}, nil))
		host.opening = make(chan struct{})
		load := c.Request("session/load", setupOf(id, "/w"))
		var modes []int
		for i := range 50 {
			modes = append(modes, c.Request("session/set_mode", map[string]any{"sessionId": id, "modeId": modeInfos[i%len(modeInfos)].ID}))
		}
		prompt := c.Request("session/prompt", promptOf(id, "x"))
		// Another session is served meanwhile.
		newSession(t, c)
		close(host.opening)
		require.NoError(t, c.Answer(load, nil))
		for _, m := range modes {
			require.NoError(t, c.Answer(m, nil))
		}
		require.NoError(t, c.Answer(prompt, nil))
		var order []string
		for _, m := range c.Messages() {
			if m.Method == "" {
				order = append(order, string(m.ID))
			}
		}
		at := func(id int) int {
			for i, s := range order {
				if s == fmt.Sprint(id) {
					return i
				}
			}
			return -1
		}
		assert.Less(t, at(load), at(modes[0]))
		for i := range modes[1:] {
			assert.Less(t, at(modes[i]), at(modes[i+1]))
		}
		assert.Less(t, at(modes[len(modes)-1]), at(prompt))
	})
}

func TestLoadCanBeWithdrawn(t *testing.T) {
	host := newFakeHost(say("x"))
	withServer(t, host, func(t *testing.T, c *acptest.Client) {
		host.opening = make(chan struct{})
		load := c.Request("session/load", setupOf("s1", "/w"))
		synctest.Wait()
		c.Notify("$/cancel_request", map[string]any{"requestId": load})
		assert.Equal(t, codeRequestCancelled, code(t, c.Answer(load, nil)))
	})
}

func TestCloseAndDelete(t *testing.T) {
	host := newFakeHost(hang)
	withServer(t, host, func(t *testing.T, c *acptest.Client) {
		id := newSession(t, c)
		busy := c.Request("session/prompt", promptOf(id, "x"))
		synctest.Wait()
		require.NoError(t, c.Call("session/close", map[string]any{"sessionId": id}, nil))
		var res stopReason
		require.NoError(t, c.Answer(busy, &res))
		assert.Equal(t, StopCancelled, res.StopReason)
		assert.Equal(t, codeNotFound, code(t, c.Call("session/prompt", promptOf(id, "x"), nil)))
		require.NoError(t, c.Call("session/load", setupOf(id, "/w"), nil), "it can be opened again")
		require.NoError(t, c.Call("session/delete", map[string]any{"sessionId": id}, nil))
		assert.Equal(t, codeNotFound, code(t, c.Call("session/load", setupOf(id, "/w"), nil)))
	})
}

func TestList(t *testing.T) {
	withServer(t, newFakeHost(nil), func(t *testing.T, c *acptest.Client) {
		id := newSession(t, c)
		var res listResult
		require.NoError(t, c.Call("session/list", nil, &res))
		assert.Equal(t, []listEntry{{SessionID: id, Cwd: "/w", Title: "T", UpdatedAt: "1970-01-01T00:00:00.001Z"}}, res.Sessions)
		require.NoError(t, c.Call("session/list", map[string]any{"cwd": "/elsewhere"}, &res))
		assert.Empty(t, res.Sessions)
		assert.NotNil(t, res.Sessions)
	})
}

func TestModesAndOptions(t *testing.T) {
	host := newFakeHost(ask(agent.Need{Access: agent.Edit}))
	withServer(t, host, func(t *testing.T, c *acptest.Client) {
		id := newSession(t, c)
		require.NoError(t, c.Call("session/set_mode", map[string]any{"sessionId": id, "modeId": ModePlan}, nil))
		updates := c.Updates(id)
		require.Len(t, updates, 1)
		assert.Equal(t, "config_option_update", updates[0].Update.Kind)
		var offered []string
		c.OnQuestion(func(q acptest.Question) any {
			for _, o := range q.Options {
				offered = append(offered, o.Kind)
			}
			return q.Pick("reject_once")
		})
		require.NoError(t, c.Call("session/prompt", promptOf(id, "x"), nil))
		updates = c.Updates(id)
		assert.Contains(t, updates[len(updates)-1].Text(), "REJECTED")
		assert.Equal(t, []string{"allow_once", "reject_once"}, offered, "what is allowed while planning does not last")

		var res optionsResult
		require.NoError(t, c.Call("session/set_config_option", map[string]any{"sessionId": id, "configId": "mode", "value": ModeAcceptEdits}, &res))
		assert.Equal(t, ModeAcceptEdits, res.ConfigOptions[0].CurrentValue)
		require.NoError(t, c.Call("session/set_config_option", map[string]any{"sessionId": id, "configId": "model", "value": "large"}, &res))
		assert.Equal(t, "large", res.ConfigOptions[1].CurrentValue)
		require.NoError(t, c.Call("session/prompt", promptOf(id, "x"), nil))
		updates = c.Updates(id)
		assert.Equal(t, "allowed", updates[len(updates)-1].Text())

		var loaded setupResult
		require.NoError(t, c.Call("session/load", setupOf(id, "/w"), &loaded))
		assert.Equal(t, ModeAcceptEdits, loaded.Modes.Current, "settings are remembered")
		assert.Equal(t, "large", loaded.ConfigOptions[1].CurrentValue)
	})
}

func TestRule(t *testing.T) {
	none := func(agent.Need) bool { return false }
	edits := func(n agent.Need) bool { return scopeOf(n).key == scopeEdit }
	look, edit, run := agent.Need{Access: agent.Look}, agent.Need{Access: agent.Edit}, agent.Need{Access: agent.Execute, Command: "ls"}
	lookOut := agent.Need{Access: agent.Look, Outside: true, Paths: []string{"/out/a"}}
	editOut := agent.Need{Access: agent.Edit, Outside: true, Paths: []string{"/out/a"}}
	reached := agent.Need{Access: agent.Edit, Outside: true, Reached: true, Paths: []string{"/out/a"}}
	asks := agent.Need{Access: agent.Ask}
	for _, c := range []struct {
		mode    string
		need    agent.Need
		granted func(agent.Need) bool
		want    ruling
	}{
		{ModeDefault, look, none, rulingAllow}, {ModeDefault, edit, none, rulingAsk}, {ModeDefault, run, none, rulingAsk},
		{ModeDefault, edit, edits, rulingAllow}, {ModeDefault, editOut, edits, rulingAsk}, {ModeDefault, run, edits, rulingAsk},
		{ModeDefault, lookOut, none, rulingAsk}, {ModeDefault, asks, none, rulingRefuse},
		{ModeAcceptEdits, edit, none, rulingAllow}, {ModeAcceptEdits, editOut, none, rulingAsk}, {ModeAcceptEdits, run, none, rulingAsk},
		{ModePlan, look, none, rulingAllow}, {ModePlan, edit, edits, rulingAsk}, {ModePlan, run, none, rulingRefuse}, {ModePlan, asks, none, rulingAsk},
		{ModeBypass, edit, none, rulingAllow}, {ModeBypass, editOut, none, rulingAllow}, {ModeBypass, run, none, rulingAllow},
		{ModeBypass, reached, none, rulingAsk}, {ModeAcceptEdits, reached, none, rulingAsk}, {ModePlan, lookOut, none, rulingAsk},
	} {
		assert.Equal(t, c.want, rule(c.mode, c.need, c.granted), "%s %+v", c.mode, c.need)
	}
}
