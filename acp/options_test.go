package acp

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/acptest"
)

// thoughtful has what a host can offer.
func thoughtful(o *Opened) {
	o.Models[1].Efforts = []string{"low", "high"}
	o.Options = []Option{
		{ID: "tools", Name: "Tools", Choices: []Choice{{Value: "a", Name: "A"}, {Value: "b", Name: "B"}}, Value: "a"},
		{ID: "compact", Name: "Compact", Value: "true"},
	}
}

// initialize speaks as a client that takes options that are on or off, or not.
func initialize(t *testing.T, c *acptest.Client, booleans bool) {
	t.Helper()
	session := map[string]any{}
	if booleans {
		session["configOptions"] = map[string]any{"boolean": map[string]any{}}
	}
	require.NoError(t, c.Call("initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": map[string]any{"session": session}}, nil))
}

func newSetup(t *testing.T, c *acptest.Client) setupResult {
	t.Helper()
	var res setupResult
	require.NoError(t, c.Call("session/new", map[string]any{"cwd": "/w", "mcpServers": []any{}}, &res))
	return res
}

// values are the current values by id.
func values(options []configOption) map[string]any {
	out := map[string]any{}
	for _, o := range options {
		out[o.ID] = o.CurrentValue
	}
	return out
}

// TestDefaultsOfAnEditor sets options as Zed sets its default_config_options:
// one after another, each by the list that the last answer gave, until none
// differs; one that only another brings forth is found in the next list.
func TestDefaultsOfAnEditor(t *testing.T) {
	var seen Choices
	host := newFakeHost(func(ctx context.Context, w *fakeWork, turn Turn) (Outcome, error) {
		seen = turn.Choices()
		return say("x")(ctx, w, turn)
	})
	host.adorn = thoughtful
	withServer(t, host, func(t *testing.T, c *acptest.Client) {
		initialize(t, c, true)
		res := newSetup(t, c)
		wanted := map[string]any{"mode": ModeAcceptEdits, "model": "large", "effort": "high", "tools": "b", "compact": false, "of another agent": "x"}
		options, requests := res.ConfigOptions, 0
		for next := 0; next < len(options); next++ {
			o := options[next]
			want, ok := wanted[o.ID]
			if !ok || want == o.CurrentValue {
				continue
			}
			params := map[string]any{"sessionId": res.SessionID, "configId": o.ID, "value": want}
			if o.Type == "boolean" {
				params["type"] = "boolean"
			}
			var answer optionsResult
			require.NoError(t, c.Call("session/set_config_option", params, &answer))
			options, next = answer.ConfigOptions, -1
			requests++
		}
		assert.Equal(t, 5, requests)
		want := map[string]any{"mode": ModeAcceptEdits, "model": "large", "effort": "high", "tools": "b", "compact": false}
		assert.Equal(t, want, values(options))
		require.NoError(t, c.Call("session/prompt", promptOf(res.SessionID, "hi"), nil))
		assert.Equal(t, Choices{Model: "large", Effort: "high", Options: map[string]string{"tools": "b", "compact": "false"}}, seen)

		var loaded setupResult
		require.NoError(t, c.Call("session/load", setupOf(res.SessionID, "/w"), &loaded))
		assert.Equal(t, want, values(loaded.ConfigOptions), "they are remembered")
		var forked setupResult
		require.NoError(t, c.Call("session/fork", setupOf(res.SessionID, "/w"), &forked))
		assert.Equal(t, want, values(forked.ConfigOptions))
	})
}

func TestAnOptionThatIsOnOrOff(t *testing.T) {
	host := newFakeHost(say("x"))
	host.adorn = thoughtful
	for _, booleans := range []bool{true, false} {
		withServer(t, host, func(t *testing.T, c *acptest.Client) {
			initialize(t, c, booleans)
			res := newSetup(t, c)
			o := res.ConfigOptions[len(res.ConfigOptions)-1]
			set := map[string]any{"sessionId": res.SessionID, "configId": "compact"}
			var answer optionsResult
			if booleans {
				assert.Equal(t, "boolean", o.Type)
				assert.Equal(t, true, o.CurrentValue)
				assert.Nil(t, o.Options)
				set["type"], set["value"] = "boolean", false
			} else {
				assert.Equal(t, "select", o.Type, "a client that does not know the kind can choose all the same")
				assert.Equal(t, "true", o.CurrentValue)
				assert.Equal(t, []optionChoice{{Value: "true", Name: "On"}, {Value: "false", Name: "Off"}}, o.Options)
				set["value"] = "false"
			}
			require.NoError(t, c.Call("session/set_config_option", set, &answer))
			o = answer.ConfigOptions[len(answer.ConfigOptions)-1]
			assert.Equal(t, set["value"], o.CurrentValue)
			delete(set, "type")
			for _, bad := range []any{"maybe", 1, nil, []string{"true"}} {
				set["value"] = bad
				assert.Equal(t, codeInvalidParams, code(t, c.Call("session/set_config_option", set, nil)), "%v", bad)
			}
		})
	}
}

func TestThoughtLevelsFollowTheModel(t *testing.T) {
	host := newFakeHost(say("x"))
	host.adorn = thoughtful
	withServer(t, host, func(t *testing.T, c *acptest.Client) {
		initialize(t, c, false)
		res := newSetup(t, c)
		assert.NotContains(t, values(res.ConfigOptions), "effort", "the model has none")
		set := func(id, value string) (map[string]any, error) {
			var answer optionsResult
			err := c.Call("session/set_config_option", map[string]any{"sessionId": res.SessionID, "configId": id, "value": value}, &answer)
			return values(answer.ConfigOptions), err
		}
		_, err := set("effort", "high")
		assert.ErrorContains(t, err, "the options are mode, model, tools, compact")
		got, err := set("model", "large")
		require.NoError(t, err)
		assert.Equal(t, effortDefault, got["effort"])
		_, err = set("effort", "extreme")
		assert.ErrorContains(t, err, "the values are default, low, high")
		got, err = set("effort", "high")
		require.NoError(t, err)
		assert.Equal(t, "high", got["effort"])
		got, err = set("model", "small")
		require.NoError(t, err)
		assert.NotContains(t, got, "effort")
		got, err = set("model", "large")
		require.NoError(t, err)
		assert.Equal(t, "high", got["effort"], "what was chosen for the model holds again")
	})
}

func TestAValueThatIsOfferedNoMore(t *testing.T) {
	host := newFakeHost(say("x"))
	host.adorn = thoughtful
	withServer(t, host, func(t *testing.T, c *acptest.Client) {
		initialize(t, c, false)
		id := newSetup(t, c).SessionID
		for option, value := range map[string]string{"model": "large", "tools": "b"} {
			require.NoError(t, c.Call("session/set_config_option", map[string]any{"sessionId": id, "configId": option, "value": value}, nil))
		}
		host.adorn = func(o *Opened) {
			thoughtful(o)
			o.Models = o.Models[:1]
			o.Options[0].Choices = o.Options[0].Choices[:1]
		}
		var loaded setupResult
		require.NoError(t, c.Call("session/load", setupOf(id, "/w"), &loaded))
		assert.Equal(t, map[string]any{"mode": ModeDefault, "model": "small", "tools": "a", "compact": "true"}, values(loaded.ConfigOptions))
	})
}
