package config

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestForSession(t *testing.T) {
	src := withFile(t, env(t, map[string]string{"DSH_GUARD_READ_BLOCK": "/r"}), `{"guard": {"block": ["/b"], "allow": ["/a"]}, "hashline": {"noRepair": true}}`)
	base, err := Load(src)
	require.NoError(t, err)

	c, err := base.ForSession(src, []byte(`{"guard": {"block": ["~/s", "rel"], "readBlock": [], "allow": null}, "hashline": {"engine": "replace"}, "toolset": ["fs_read"]}`))
	require.NoError(t, err)
	assert.Equal(t, List{filepath.Join(src.env("HOME"), "s"), "rel"}, c.Guard.Block, "a list takes the other's place")
	assert.Equal(t, List{}, c.Guard.ReadBlock, "empty is set")
	assert.Nil(t, c.Guard.Allow, "null is not set")
	assert.Equal(t, EngineReplace, c.Hashline.Engine)
	assert.True(t, c.Hashline.NoRepair, "what the session does not name stays")
	assert.Equal(t, []string{"fs_read"}, c.Toolset.Tools)
	assert.Equal(t, "session", c.Origin("guard.block").String())
	assert.Equal(t, FromEnv, base.Origin("guard.readBlock").Kind, "the program's own stay as they are")
	assert.Equal(t, List{"/b"}, base.Guard.Block)

	for _, none := range []string{"", "null", "{}"} {
		c, err := base.ForSession(src, []byte(none))
		require.NoError(t, err)
		assert.Equal(t, base.Guard, c.Guard)
	}
}

func TestForSessionFaults(t *testing.T) {
	src := env(t, nil)
	base, err := Load(src)
	require.NoError(t, err)
	for object, want := range map[string]string{
		`[]`:                                    "settings of the session: found a list",
		`{`:                                     "settings of the session: not JSON",
		"{\"guard\": {\"allow\": [\"\xff\"]}}":  "not UTF-8",
		`{"guard": []}`:                         "guard: found a list, want an object",
		`{"guard": {"block": "x"}}`:             "guard.block: found a text, want a list",
		`{"guard": {"blok": []}}`:               `did you mean "guard.block"?`,
		`{"guard": {"generated": "maybe"}}`:     "guard.generated: found \"maybe\", want one of off, warn, refuse",
		`{"guard": {"block": [], "block": []}}`: "guard.block: it is set twice",
		`{"apiKey": "sk-x"}`:                    "keys are not kept",
		`{"stateDir": "/tmp"}`:                  "stateDir: it holds for the whole program; for one session these can be set: toolset, overwriteUnread, guard.allow",
	} {
		c, err := base.ForSession(src, []byte(object))
		var fault *SessionError
		require.ErrorAs(t, err, &fault, object)
		assert.ErrorContains(t, err, want)
		assert.NotContains(t, err.Error(), "sk-x")
		assert.Equal(t, base, c, "nothing is taken of what is bad")
	}
	_, err = base.ForSession(src, []byte(`{"guard": {"blok": [], "generated": 1}}`))
	assert.ErrorContains(t, err, "blok")
	assert.ErrorContains(t, err, "generated", "all faults are told")
}
