package msg

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// blockCases has every member of Block, with and without what may be missing.
var blockCases = []struct {
	block Block
	want  string
}{
	{Text{Text: "a <b> & \u2028"}, `{"type":"text","text":"a <b> & \u2028"}`},
	{Text{}, `{"type":"text","text":""}`},
	{Image{MIME: "image/png", Data: []byte{0, 1, 255}}, `{"type":"image","data":"AAH/","mimeType":"image/png"}`},
	{Image{MIME: "image/png", Data: []byte{}, URI: "file:///a"}, `{"type":"image","data":"","uri":"file:///a","mimeType":"image/png"}`},
	{Thinking{Text: "hm", Signature: "sig"}, `{"type":"thinking","thinking":"hm","signature":"sig"}`},
	{RedactedThinking{Data: "xyz"}, `{"type":"redacted_thinking","data":"xyz"}`},
	{ToolUse{ID: "c1", Name: "Edit", Input: `{"a": 1`, Cut: true}, `{"type":"tool_use","id":"c1","name":"Edit","input":"{\"a\": 1","cut":true}`},
	{ResourceLink{URI: "u", Name: "n"}, `{"type":"resource_link","uri":"u","name":"n"}`},
	{ResourceLink{URI: "u", Name: "n", MIME: "m", Title: "t", Description: "d", Size: new(int64(3))}, `{"type":"resource_link","uri":"u","name":"n","mimeType":"m","title":"t","description":"d","size":3}`},
	{Resource{URI: "u", Text: new("")}, `{"type":"resource","text":"","uri":"u"}`},
	{Resource{URI: "u", MIME: "m", Blob: []byte{1}}, `{"type":"resource","uri":"u","mimeType":"m","blob":"AQ=="}`},
}

func TestBlocksJSON(t *testing.T) {
	for _, c := range blockCases {
		raw, err := Marshal(Blocks{c.block})
		require.NoError(t, err)
		assert.Equal(t, "["+c.want+"]", string(raw))
		var back Blocks
		require.NoError(t, json.Unmarshal(raw, &back))
		assert.Equal(t, Blocks{c.block}, back)
	}
	raw, err := Marshal(Blocks(nil))
	require.NoError(t, err)
	assert.Equal(t, "[]", string(raw))
}

func TestBlocksRefuse(t *testing.T) {
	for in, want := range map[string]string{
		`[{"type":"text","text":"a"},{"type":"video"}]`: `block 1: unknown block type "video"`,
		`[{"type":"image","data":"%"}]`:                 "block 0: image data",
		`{"type":"text"}`:                               "cannot unmarshal object",
	} {
		var bs Blocks
		assert.ErrorContains(t, json.Unmarshal([]byte(in), &bs), want)
	}
}

func TestBlocksParts(t *testing.T) {
	bs := Blocks{Text{Text: "a"}, ToolUse{ID: "1"}, Text{Text: "b"}, ToolUse{ID: "2"}}
	assert.Equal(t, "a\nb", bs.PlainText())
	assert.Equal(t, []ToolUse{{ID: "1"}, {ID: "2"}}, bs.ToolUses())
	assert.Empty(t, Blocks(nil).PlainText())
}
