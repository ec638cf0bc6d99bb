package acp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/sourcegraph/jsonrpc2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// exchange feeds text to a stream whose requests are all answered with their
// method and parameters, and returns the lines that came back.
func exchange(t *testing.T, in io.Reader, limit int) []string {
	t.Helper()
	var out bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		box := newOutbox(&out, func(err error) { t.Errorf("write: %v", err) })
		s := newStream(in, box, func() {})
		s.limit = limit
		for {
			// jsonrpc2's own type of message is not exported; a request is
			// one for which UnmarshalJSON sees a method.
			var m struct {
				Method string      `json:"method"`
				ID     jsonrpc2.ID `json:"id"`
			}
			var raw json.RawMessage
			err := s.ReadObject(&raw)
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(raw, &m))
			if bytes.Contains(raw, []byte(`"id"`)) {
				s.reply(m.ID, map[string]any{"method": m.Method, "params": s.now.params}, nil)
			}
		}
		box.flush(t.Context())
		box.close()
		<-box.done
	})
	lines := strings.Split(out.String(), "\n")
	require.Equal(t, "", lines[len(lines)-1], "the last line ends with a line break")
	return lines[:len(lines)-1]
}

var streamCases = []struct {
	name, in string
	want     []string // parts of the lines that come back
}{
	{"request", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[1]}}` + "\n", []string{`{"jsonrpc":"2.0","id":1,"result":{"method":"m","params":{"a":[1]}}}`}},
	{"no final line break", `{"jsonrpc":"2.0","id":1,"method":"m"}`, []string{`"id":1,"result"`}},
	{"blank lines and CRLF", "\r\n \n\t\n" + `{"jsonrpc":"2.0","id":1,"method":"m"}` + "\r\n", []string{`"id":1,"result"`}},
	{"byte order mark", "\ufeff" + `{"jsonrpc":"2.0","id":1,"method":"m"}` + "\n", []string{`"id":1,"result"`}},
	{"notification", `{"jsonrpc":"2.0","method":"m"}` + "\n", nil},
	{"id last", `{"jsonrpc":"2.0","params":{"id":7},"method":"m","id":2}`, []string{`"id":2,"result"`}},
	{"id string", `{"jsonrpc":"2.0","id":"a-ž","method":"m"}`, []string{`"id":"a-ž","result"`}},
	{"id string with escapes", `{"jsonrpc":"2.0","id":"\u003c\"\\","method":"m"}`, []string{`"id":"\u003c\"\\","result"`}},
	{"id empty string", `{"jsonrpc":"2.0","id":"","method":"m"}`, []string{`"id":"","result"`}},
	{"id zero", `{"jsonrpc":"2.0","id":0,"method":"m"}`, []string{`"id":0,"result"`}},
	{"id negative", `{"jsonrpc":"2.0","id":-1,"method":"m"}`, []string{`"id":-1,"result"`}},
	{"id large", `{"jsonrpc":"2.0","id":9007199254740993,"method":"m"}`, []string{`"id":9007199254740993,"result"`}},
	{"id larger than 64 bits", `{"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"m"}`, []string{`"id":123456789012345678901234567890,"result"`}},
	{"id fraction", `{"jsonrpc":"2.0","id":1.50,"method":"m"}`, []string{`"id":1.50,"result"`}},
	{"id null", `{"jsonrpc":"2.0","id":null,"method":"m"}`, []string{`"id":null,"result"`}},
	{"id object", `{"jsonrpc":"2.0","id":{},"method":"m"}`, []string{`"id":null,"error":{"code":-32600`}},
	{"id true", `{"jsonrpc":"2.0","id":true,"method":"m"}`, []string{`"id":null,"error":{"code":-32600`}},
	{"name with escapes", `{"jsonrpc":"2.0","\u0069d":3,"method":"m"}`, []string{`"id":3,"result"`}},
	{"names are case sensitive", `{"jsonrpc":"2.0","id":3,"ID":4,"method":"m"}`, []string{`"id":3,"result"`}},
	{"not JSON, then a request", "{not json\n" + `{"jsonrpc":"2.0","id":1,"method":"m"}`, []string{`"id":null,"error":{"code":-32700`, `"id":1,"result"`}},
	{"junk", "Debugger attached.\n\x1b[0m\n" + `{"jsonrpc":"2.0","id":1,"method":"m"}`, []string{`-32700`, `-32700`, `"id":1,"result"`}},
	{"two values on a line", `{"jsonrpc":"2.0","id":1,"method":"m"}{"jsonrpc":"2.0","id":2,"method":"m"}`, []string{`-32700`}},
	{"scalars", "42\n\"x\"\nnull\n", []string{`"id":null,"error":{"code":-32600`, `-32600`, `-32600`}},
	{"batch", `[{"jsonrpc":"2.0","id":1,"method":"m"}]`, []string{`"id":null,"error":{"code":-32600`}},
	{"empty batch", `[]`, []string{`"id":null,"error":{"code":-32600`}},
	{"empty object", `{}`, []string{`"id":null,"error":{"code":-32600`}},
	{"neither method nor answer", `{"jsonrpc":"2.0","id":3}`, []string{`"id":3,"error":{"code":-32600`}},
	{"both", `{"jsonrpc":"2.0","id":3,"method":"m","result":1}`, []string{`"id":3,"error":{"code":-32600`}},
	{"version missing", `{"id":3,"method":"m"}`, []string{`"id":3,"error":{"code":-32600`}},
	{"version 1", `{"jsonrpc":"1.0","id":3,"method":"m"}`, []string{`"id":3,"error":{"code":-32600`}},
	{"method a number", `{"jsonrpc":"2.0","id":3,"method":5}`, []string{`"id":3,"error":{"code":-32600`}},
	{"params a text", `{"jsonrpc":"2.0","id":3,"method":"m","params":"p"}`, []string{`"id":3,"error":{"code":-32600`}},
	{"params null", `{"jsonrpc":"2.0","id":3,"method":"m","params":null}`, []string{`"id":3,"result":{"method":"m","params":null}`}},
	{"not UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"x\",\"params\":{\"s\":\"\xff\"}}\n", []string{`"id":4,"error":{"code":-32700`}},
	{"answers that nobody waits for", `{"jsonrpc":"2.0","id":0,"result":{}}` + "\n" + `{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"m"}}` + "\n" + `{"jsonrpc":"2.0","result":5}`, nil},
	{"deep", `{"jsonrpc":"2.0","id":5,"method":"m","params":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`, []string{`-32700`}},
}

func TestStream(t *testing.T) {
	for _, c := range streamCases {
		t.Run(c.name, func(t *testing.T) {
			for _, in := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in))} {
				got := exchange(t, in, maxLine)
				require.Len(t, got, len(c.want), "%q", got)
				for i := range got {
					assert.Contains(t, got[i], c.want[i])
					assert.True(t, json.Valid([]byte(got[i])), got[i])
				}
			}
		})
	}
}

func TestStreamLineOverTheLimit(t *testing.T) {
	const limit = 300 << 10
	pad := strings.Repeat(`x\"{`, limit/4)
	next := `{"jsonrpc":"2.0","id":2,"method":"next"}` + "\n"
	for _, c := range []struct{ name, line, want string }{
		{"id first", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"t":"` + pad + `"}}`, `"id":1,`},
		{"id last", `{"jsonrpc":"2.0","method":"m","params":{"id":9,"t":"` + pad + `"},"id":"last"}`, `"id":"last",`},
		{"id inside only", `{"jsonrpc":"2.0","method":"m","params":{"id":9,"t":"` + pad + `"}}`, `"id":null,`},
		{"no JSON", strings.Repeat("z", limit+5), `"id":null,`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := exchange(t, strings.NewReader(c.line+"\n"+next), limit)
			require.Len(t, got, 2)
			assert.Contains(t, got[0], c.want)
			assert.Contains(t, got[0], "-32600")
			assert.Contains(t, got[1], `"id":2,"result"`)
			got = exchange(t, strings.NewReader(c.line), limit)
			require.Len(t, got, 1, "also when the input ends in it")
		})
	}
	t.Run("just at the limit", func(t *testing.T) {
		head, tail := `{"jsonrpc":"2.0","id":1,"method":"m","params":{"t":"`, `"}}`
		line := head + strings.Repeat("x", limit-len(head)-len(tail)) + tail
		require.Len(t, line, limit)
		got := exchange(t, strings.NewReader(line+"\n"), limit)
		require.Len(t, got, 1)
		assert.Contains(t, got[0], `"id":1,"result"`)
	})
}

func TestUnescapeHTML(t *testing.T) {
	for _, text := range []string{
		"", "plain", "<b>&amp;</b>", `\u003c`, `\\u003c`, `a\`, "\u2028\u2029", `<\u003c\\<`, "ž<é", "\x00<", `\u00e9`,
	} {
		raw, err := json.Marshal(map[string]string{"t": text})
		require.NoError(t, err)
		var back map[string]string
		got := unescapeHTML(raw)
		require.NoError(t, json.Unmarshal(got, &back), "%s", got)
		assert.Equal(t, text, back["t"])
		assert.NotContains(t, strings.ReplaceAll(string(got), `\\`, ""), `\u003c`)
	}
}

func FuzzStream(f *testing.F) {
	for _, c := range streamCases {
		f.Add([]byte(c.in))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		marker := fmt.Sprintf("\n{\"jsonrpc\":\"2.0\",\"id\":%q,\"method\":\"m\"}\n", "marker")
		got := exchange(t, strings.NewReader(string(b)+marker), maxLine)
		// Whatever came before, the next line is served.
		if len(got) == 0 || !strings.Contains(got[len(got)-1], `"id":"marker","result"`) {
			t.Fatalf("%q: the line after it got no answer: %q", b, got)
		}
		for _, line := range got {
			if !json.Valid([]byte(line)) {
				t.Fatalf("%q: answered with a line that is not JSON: %q", b, line)
			}
		}
	})
}
