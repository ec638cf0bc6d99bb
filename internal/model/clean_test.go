package model

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/msg"
)

func say(s string) Message { return Message{Role: "user", Content: msg.Blocks{msg.Text{Text: s}}} }

func answer(bs ...msg.Block) Message { return Message{Role: "assistant", Content: bs} }

func results(ids ...string) Message {
	m := Message{Role: "tool"}
	for _, id := range ids {
		m.Results = append(m.Results, msg.ToolMessage{Role: "tool", CallID: id, Content: msg.Blocks{msg.Text{Text: "of " + id}}})
	}
	return m
}

func use(id string) msg.ToolUse { return msg.ToolUse{ID: id, Name: "Read", Input: "{}"} }

func cut(id string) msg.ToolUse { return msg.ToolUse{ID: id, Name: "Write", Input: `{"x`, Cut: true} }

// shape writes a history in one line: u(text), a(blocks), t(ids of results, with ? for one made up).
func shape(ms []Message) string {
	var out string
	for _, m := range ms {
		if out != "" {
			out += " "
		}
		switch m.Role {
		case "assistant":
			out += "a("
			for i, b := range m.Content {
				if i > 0 {
					out += ","
				}
				switch b := b.(type) {
				case msg.ToolUse:
					out += b.ID
				case msg.Text:
					out += fmt.Sprintf("%q", b.Text)
				case msg.Thinking:
					out += "think"
				default:
					out += fmt.Sprintf("%T", b)
				}
			}
			out += ")"
		case "tool":
			out += "t("
			for i, r := range m.Results {
				if i > 0 {
					out += ","
				}
				out += r.CallID
				if r.Content.PlainText() != "of "+r.CallID {
					out += "?"
				}
			}
			out += ")"
		default:
			out += "u(" + m.Content.PlainText() + ")"
		}
	}
	return out
}

var cleanCases = []struct {
	name string
	in   []Message
	want string
}{
	{"nothing", nil, ""},
	{"plain", []Message{say("hi"), answer(msg.Text{Text: "ho"})}, `u(hi) a("ho")`},
	{"blank is left out", []Message{say(" \n"), answer(msg.Text{}), say("x")}, `u(x)`},
	{"a call and its result", []Message{say("x"), answer(use("a")), results("a")}, `u(x) a(a) t(a)`},
	{"results in the order of calls", []Message{answer(use("a"), use("b")), results("b", "a")}, `a(a,b) t(a,b)`},
	{"results in two messages", []Message{answer(use("a"), use("b")), results("b"), results("a")}, `a(a,b) t(a,b)`},
	{"a missing result", []Message{answer(use("a"), use("b")), results("b"), say("x")}, `a(a,b) t(a?,b) u(x)`},
	{"no result at all", []Message{answer(use("a"))}, `a(a) t(a?)`},
	{"a result that nobody asked for", []Message{say("x"), results("z"), answer(use("a")), results("a", "q", "a")}, `u(x) a(a) t(a)`},
	{"a cut call alone", []Message{answer(cut("c")), results("c"), say("x")}, `u([about your call of Write: of c]) u(x)`},
	{"a cut call beside another", []Message{answer(msg.Text{Text: "so"}, use("a"), cut("c")), results("c", "a")}, `a("so",a) t(a) u([about your call of Write: of c])`},
	{"a cut call without a result", []Message{answer(cut("c"))}, `u([about your call of Write: Its input never became complete, so it did not run.])`},
	{"thinking that leads to nothing", []Message{say("x"), answer(msg.Thinking{Text: "hm", Signature: "s"}), say("y")}, `u(x) u(y)`},
	{"thinking before a call stays", []Message{answer(msg.Thinking{Text: "hm", Signature: "s"}, use("a")), results("a")}, `a(think,a) t(a)`},
	{"thinking before a cut call goes", []Message{answer(msg.Thinking{Text: "hm"}, cut("c")), results("c")}, `u([about your call of Write: of c])`},
}

func TestClean(t *testing.T) {
	for _, tt := range cleanCases {
		t.Run(tt.name, func(t *testing.T) {
			before, err := json.Marshal(tt.in)
			require.NoError(t, err)
			got := Clean(tt.in)
			assert.Equal(t, tt.want, shape(got))
			after, err := json.Marshal(tt.in)
			require.NoError(t, err)
			assert.Equal(t, string(before), string(after), "the input is left alone")
			assert.Equal(t, shape(got), shape(Clean(got)), "cleaning twice changes nothing")
		})
	}
}

// FuzzClean makes histories from bytes and holds what a service demands.
func FuzzClean(f *testing.F) {
	for _, seed := range []string{"", "u", "uab1", "uab21", "uc1x", "uab2ab1c", "tttt", "a1b2c3x", "uhhha"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var in []Message
		id := func(c byte) string { return string(rune('a' + c%5)) }
		for i := 0; i < len(b); i++ {
			c := b[i]
			last := func(role string) *Message {
				if n := len(in); n > 0 && in[n-1].Role == role {
					return &in[n-1]
				}
				in = append(in, Message{Role: role})
				return &in[len(in)-1]
			}
			switch c % 6 {
			case 0:
				in = append(in, say(string(c)))
			case 1:
				m := last("assistant")
				m.Content = append(m.Content, use(id(c)+fmt.Sprint(i)))
			case 2:
				m := last("assistant")
				m.Content = append(m.Content, cut(id(c)+fmt.Sprint(i)))
			case 3:
				m := last("tool")
				m.Results = append(m.Results, results(id(c)+fmt.Sprint(i-1)).Results...)
			case 4:
				m := last("assistant")
				m.Content = append(m.Content, msg.Thinking{Text: "hm", Signature: "s"})
			case 5:
				in = append(in, answer(msg.Text{Text: "x"}))
			}
		}
		out := Clean(in)
		for i, m := range out {
			calls := m.Content.ToolUses()
			for _, u := range calls {
				require.False(t, u.Cut)
			}
			if len(calls) > 0 {
				require.Less(t, i+1, len(out), "calls without results")
				require.Len(t, out[i+1].Results, len(calls))
				for j, u := range calls {
					require.Equal(t, u.ID, out[i+1].Results[j].CallID)
				}
			}
			if m.Role == "tool" {
				require.Positive(t, i)
				require.Len(t, out[i-1].Content.ToolUses(), len(m.Results))
			} else {
				require.NotEmpty(t, m.Content)
			}
		}
		require.Equal(t, shape(out), shape(Clean(out)))
	})
}

func TestInput(t *testing.T) {
	tests := []struct{ in, want string }{
		{`{"a": 1e400}`, `{"a": 1e400}`},
		{" {}\n", "{}"},
		{"", "{}"},
		{"null", "{}"},
		{"[1]", "{}"},
		{`{"a":`, "{}"},
		{`{} {}`, "{}"},
	}
	for _, tt := range tests {
		assert.Equal(t, tt.want, string(Input(msg.ToolUse{Input: tt.in})), tt.in)
	}
}

func TestMentionKnowsEachBlock(t *testing.T) {
	text := "body"
	tests := []struct {
		in   msg.Block
		want string
	}{
		{msg.Text{Text: "x"}, "x"},
		{msg.ResourceLink{URI: "file:///a", Name: "a"}, "[a](file:///a)"},
		{msg.ResourceLink{URI: "file:///a", Name: "a", Title: "T", Description: "d"}, "[T](file:///a): d"},
		{msg.Resource{URI: "file:///a", Text: &text}, "<resource uri=\"file:///a\">\nbody\n</resource>"},
		{msg.Resource{URI: "file:///a", Blob: []byte{1, 2}}, "[file:///a: 2 bytes of binary content, not shown]"},
		{msg.Image{MIME: "image/png"}, "[a picture of type image/png, not shown]"},
		{msg.Thinking{Text: "x"}, ""}, {msg.RedactedThinking{}, ""}, {msg.ToolUse{}, ""},
	}
	for _, tt := range tests {
		assert.Equal(t, tt.want, Mention(tt.in))
	}
	assert.Panics(t, func() { Mention(nil) })
}

func TestLookup(t *testing.T) {
	assert.EqualValues(t, 1_000_000, Lookup("claude-opus-5-5-20261001").Window)
	assert.Equal(t, Lookup("claude-opus-5-5"), Lookup("anthropic/claude-opus-5-5"))
	assert.NotEqual(t, Lookup("claude-opus-5-5").Price, Lookup("claude-opus-5").Price, "the longest name wins")
	assert.EqualValues(t, 200_000, Lookup("claude-of-tomorrow").Window)
	assert.Zero(t, Lookup("mystery"))
	u := Cost("claude-opus-5-5", msg.Usage{Input: 1200, Output: 40})
	assert.InDelta(t, 0.0056, u.CostUSD, 1e-9)
	assert.Zero(t, Cost("mystery", msg.Usage{Input: 1200, Output: 40}).CostUSD)
}
