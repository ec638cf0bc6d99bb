package acp

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/acptest"
	"dsh-acp/internal/agent"
	"dsh-acp/internal/msg"
)

func TestLeavingPlanMode(t *testing.T) {
	for _, c := range []struct{ pick, want, mode string }{
		{"allow_once", "allowed", ModeDefault},
		{"allow_always", "allowed", ModeAcceptEdits},
		{"reject_once", msg.CodeRejected, ModePlan},
	} {
		t.Run(c.pick, func(t *testing.T) {
			withServer(t, newFakeHost(ask(agent.Need{Access: agent.Ask})), func(t *testing.T, cl *acptest.Client) {
				questions := 0
				cl.OnQuestion(func(q acptest.Question) any {
					questions++
					return q.Pick(c.pick)
				})
				id := newSession(t, cl)
				require.NoError(t, cl.Call("session/prompt", promptOf(id, "x"), nil))
				synctest.Wait()
				last := cl.Updates(id)
				assert.Contains(t, last[len(last)-1].Text(), msg.CodeModeRefused, "there is no plan mode to leave")
				assert.Zero(t, questions)

				require.NoError(t, cl.Call("session/set_mode", map[string]any{"sessionId": id, "modeId": ModePlan}, nil))
				before := len(cl.Updates(id))
				require.NoError(t, cl.Call("session/prompt", promptOf(id, "x"), nil))
				synctest.Wait()
				assert.Equal(t, 1, questions)
				updates := cl.Updates(id)[before:]
				assert.Contains(t, updates[len(updates)-1].Text(), c.want)
				var told []string
				for _, u := range updates {
					if u.Update.Kind == "current_mode_update" || u.Update.Kind == "config_option_update" {
						told = append(told, u.Update.Kind)
					}
				}
				if c.mode == ModePlan {
					assert.Empty(t, told)
				} else {
					assert.Equal(t, []string{"current_mode_update", "config_option_update"}, told)
				}
				var loaded struct {
					Modes modesResult `json:"modes"`
				}
				require.NoError(t, cl.Call("session/load", map[string]any{"sessionId": id, "cwd": "/w", "mcpServers": []any{}}, &loaded))
				assert.Equal(t, c.mode, loaded.Modes.Current)
			})
		})
	}
}

func TestCommandScopes(t *testing.T) {
	for _, c := range []struct {
		need  agent.Need
		names []string
	}{
		{agent.Need{Access: agent.Execute, Command: "for x"}, []string{"Yes", "No"}},
		{agent.Need{Access: agent.Execute, Command: "go test ./x", Rule: "go test"}, []string{"Yes", "Yes, and don't ask again for go test commands during this session", "No"}},
		{agent.Need{Access: agent.Execute, Command: "./x", Rule: "./x", RuleExact: true}, []string{"Yes", "Yes, and don't ask again for exactly ./x during this session", "No"}},
	} {
		var names []string
		for _, o := range permissionOptions(scopeOf(c.need)) {
			names = append(names, o.Name)
		}
		assert.Equal(t, c.names, names)
	}
	granted := func(n agent.Need) bool { return scopeOf(n).key == "execute:go test" }
	assert.Equal(t, rulingAllow, rule(ModeDefault, agent.Need{Access: agent.Execute, Rule: "go test"}, granted))
	assert.Equal(t, rulingAsk, rule(ModeDefault, agent.Need{Access: agent.Execute, Rule: "go test", RuleExact: true}, granted),
		"a command that is named as a whole is no kind of command")
	all := func(agent.Need) bool { return true }
	assert.Equal(t, rulingRefuse, rule(ModePlan, agent.Need{Access: agent.Execute, Rule: "go test"}, all))
	assert.Equal(t, rulingAllow, rule(ModePlan, agent.Need{Access: agent.Look}, func(agent.Need) bool { return false }), "one that reads only")
}

// A lasting permission for a folder outside is offered where all files of the
// call lie in it, since it must not open others.
func TestFolderScopes(t *testing.T) {
	for _, c := range []struct {
		need agent.Need
		key  string
	}{
		{agent.Need{Access: agent.Edit, Paths: []string{"/w/a", "/w/sub/b"}}, "edit"},
		{agent.Need{Access: agent.Edit, Outside: true, Paths: []string{"/out/a", "/out/b"}}, "edit:/out"},
		{agent.Need{Access: agent.Edit, Outside: true, Paths: []string{"/w/a", "/out/b"}}, ""},
		{agent.Need{Access: agent.Edit, Outside: true, Paths: []string{"/out/a", "/out/sub/b"}}, ""},
		{agent.Need{Access: agent.Edit, Outside: true}, ""},
		{agent.Need{Access: agent.Look, Outside: true, Paths: []string{"/out/a"}}, "read:/out"},
		{agent.Need{Access: agent.Look, Outside: true, Paths: []string{"/out/a", "/etc/b"}}, ""},
	} {
		assert.Equal(t, c.key, scopeOf(c.need).key, "%v", c.need)
	}
}
