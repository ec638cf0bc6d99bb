package scripted

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/model"
	"dsh-acp/internal/msg"
)

func play(t *testing.T, p *Provider) ([]msg.Delta, model.Reply, error) {
	t.Helper()
	var ds []msg.Delta
	r, err := p.Stream(t.Context(), model.Request{}, func(d msg.Delta) { ds = append(ds, d) })
	return ds, r, err
}

func TestPlays(t *testing.T) {
	p, err := New([]byte(`{"name":"a scenario","assistant":[
		[{"type":"thinking","thinking":"hm","signature":"s"},
		 {"type":"text","text":"This text is longer than one piece: äöü"},
		 {"type":"tool_use","id":"a","name":"Read","input":{"b": "${WORKSPACE}/x", "a": 1}}],
		[{"type":"text","text":"end"},{"type":"_stop","stop_reason":"max_tokens"}]]}`),
		Options{Replace: map[string]string{"${WORKSPACE}": "/w"}})
	require.NoError(t, err)
	ds, r, err := play(t, p)
	require.NoError(t, err)
	use := msg.ToolUse{ID: "a", Name: "Read", Input: `{"b":"/w/x","a":1}`}
	assert.Equal(t, []msg.Delta{
		msg.MessageStart{MessageID: "msg_script01", Model: ModelName},
		msg.UsageDelta{Usage: msg.Usage{Input: 1200}},
		msg.ThoughtDelta{MessageID: "msg_script01", Text: "hm"},
		msg.TextDelta{MessageID: "msg_script01", Text: "This text is longer than"},
		msg.TextDelta{MessageID: "msg_script01", Text: " one piece: äöü"},
		msg.ToolStart{CallID: "a", Name: "Read"},
		msg.ToolInput{CallID: "a", Fragment: `{"b":"/w/x","a":1}`},
		msg.ToolReady{Use: use},
		msg.UsageDelta{Usage: msg.Usage{Input: 1200, Output: 40}},
	}, ds)
	assert.Equal(t, msg.Blocks{msg.Thinking{Text: "hm", Signature: "s"}, msg.Text{Text: "This text is longer than one piece: äöü"}, use}, r.Message.Content)
	assert.Equal(t, msg.StopToolUse, r.Message.StopReason)
	_, r, err = play(t, p)
	require.NoError(t, err)
	assert.Equal(t, msg.StopMaxTokens, r.Message.StopReason)
	_, _, err = play(t, p)
	assert.ErrorContains(t, err, "the script has 2 answers, and this is request 3")
	assert.Len(t, p.Requests(), 3)
}

func TestFailsAndGoesOn(t *testing.T) {
	p, err := New([]byte(`[[{"type":"_http_error","status":529,"repeat":2,"message":"busy"}],
		[{"type":"_http_error","status":500},{"type":"text","text":"after"}],
		[{"type":"text","text":"half"},{"type":"_break"}],
		[{"type":"tool_use","id":"a","name":"Edit","input":{},"_raw":"{nope"}]]`), Options{})
	require.NoError(t, err)
	want := []string{"API Error: 529 busy", "API Error: 529 busy", "API Error: 500 Internal Server Error", "", "API Error: the model's answer broke off before its end", ""}
	var last model.Reply
	for i, text := range want {
		_, r, err := play(t, p)
		if text == "" {
			require.NoError(t, err, "request %d", i)
		} else {
			require.EqualError(t, err, text, "request %d", i)
		}
		last = r
	}
	assert.Equal(t, "{nope", last.Message.Content.ToolUses()[0].Input)
}

func TestHangsUntilCancelled(t *testing.T) {
	for name, block := range map[string]string{
		"in text":  `{"type":"text","text":"I hang"},{"type":"_hang","ms":20000}`,
		"in input": `{"type":"tool_use","id":"a","name":"Edit","input":{"x":"äää"},"_cut":7}`,
	} {
		t.Run(name, func(t *testing.T) {
			p, err := New([]byte(`[[`+block+`]]`), Options{})
			require.NoError(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			r, err := p.Stream(ctx, model.Request{}, func(d msg.Delta) {
				switch d.(type) {
				case msg.TextDelta, msg.ToolInput:
					cancel()
				}
			})
			assert.True(t, errors.Is(err, context.Canceled))
			require.Len(t, r.Message.Content, 1)
			if u := r.Message.Content.ToolUses(); len(u) > 0 {
				assert.Equal(t, msg.ToolUse{ID: "a", Name: "Edit", Input: `{"x":"`, Cut: true}, u[0], "cut between characters")
			}
		})
	}
}

func TestRefusesScripts(t *testing.T) {
	tests := []struct{ script, want string }{
		{``, "unexpected end of JSON"},
		{`{}`, `no "assistant"`},
		{`[{"type":"text"}]`, "want an array of answers"},
		{`[[],[{"type":"text","text":"ok"},{"type":"text"}]]`, `answer 1, block 1: text: no "text"`},
		{`[[{"type":"text","text":"x","colour":"red"}]]`, `unknown field "colour"`},
		{`[[{"type":"speech"}]]`, `unknown block type "speech"`},
		{`[[{"type":"tool_use","id":"a"}]]`, `want both "id" and "name"`},
		{`[[{"type":"_stop"}]]`, `no "stop_reason"`},
		{`[[{"type":"_http_error","status":200}]]`, "status 200 is not one of an error"},
		{`[[{"type":"thinking"}]]`, `no "thinking"`},
		{`[[{"type":"redacted_thinking"}]]`, `no "data"`},
	}
	for _, tt := range tests {
		_, err := New([]byte(tt.script), Options{})
		assert.ErrorContains(t, err, tt.want, tt.script)
	}
}

func TestPieces(t *testing.T) {
	for _, s := range []string{"", "a", "abc", "äöüß", strings.Repeat("日本", 20), "a\xff\xfeb"} {
		for n := 1; n < 6; n++ {
			got := pieces(s, n)
			assert.Equal(t, s, strings.Join(got, ""))
			for _, p := range got {
				assert.NotEmpty(t, p)
			}
		}
	}
}

func TestLoop(t *testing.T) {
	p, err := New([]byte(`[[{"type":"text","text":"x"}]]`), Options{Loop: true, Piece: -1})
	require.NoError(t, err)
	ids := map[string]bool{}
	for range 3 {
		_, r, err := play(t, p)
		require.NoError(t, err)
		ids[r.Message.ID] = true
	}
	assert.Len(t, ids, 3)
}
