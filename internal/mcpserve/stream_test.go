package mcpserve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReadLine(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []string // "!" is a line that is too long
	}{
		{"none", "", nil},
		{"two", "a\nb\n", []string{"a", "b"}},
		{"without the last end", "a\nb", []string{"a", "b"}},
		{"carriage returns", "a\r\nb\r\n", []string{"a", "b"}},
		{"empty lines", "\n\na\n", []string{"", "", "a"}},
		{"at the limit", strings.Repeat("x", 39) + "\nb\n", []string{strings.Repeat("x", 39), "b"}},
		{"over the limit", strings.Repeat("x", 40) + "\nb\n", []string{"!", "b"}},
		{"far over the limit", strings.Repeat("x", 400) + "\nb\n", []string{"!", "b"}},
		{"over the limit at the end", strings.Repeat("x", 400), []string{"!"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := bufio.NewReaderSize(strings.NewReader(c.in), 16)
			var got []string
			for {
				l := readLine(r, 40)
				if l.err != nil {
					assert.Equal(t, io.EOF, l.err)
					break
				}
				if l.tooLong {
					assert.Empty(t, l.text)
					got = append(got, "!")
					continue
				}
				got = append(got, string(l.text))
			}
			assert.Equal(t, c.want, got)
		})
	}
}

func TestBadLinesAreAnswered(t *testing.T) {
	var out bytes.Buffer
	s := newStream(strings.NewReader("nonsense\n\n[1]\n{\"id\":1}\n{\"jsonrpc\":\"2.0\",\"method\":\"m\"}\n"), &out)
	_, err := s.Connect(context.Background())
	require.NoError(t, err)
	m, err := s.Read(context.Background())
	require.NoError(t, err)
	assert.Equal(t, "m", m.(*jsonrpc.Request).Method)
	var codes []int
	for line := range strings.Lines(out.String()) {
		var answer struct {
			Error struct{ Code int }
			ID    any
		}
		require.NoError(t, json.Unmarshal([]byte(line), &answer))
		assert.Nil(t, answer.ID)
		codes = append(codes, answer.Error.Code)
	}
	assert.Equal(t, []int{-32700, -32600, -32600}, codes)
	_, err = s.Read(context.Background())
	assert.Equal(t, io.EOF, err)
}

func TestTheEndWaitsForAnswers(t *testing.T) {
	s := newStream(strings.NewReader(`{"jsonrpc":"2.0","id":7,"method":"tools/call"}`+"\n"+
		`{"jsonrpc":"2.0","id":8,"method":"`+listenMethod+`"}`), io.Discard)
	_, err := s.Connect(context.Background())
	require.NoError(t, err)
	m, err := s.Read(context.Background())
	require.NoError(t, err)
	_, err = s.Read(context.Background())
	require.NoError(t, err)
	end := make(chan error, 1)
	go func() {
		_, err := s.Read(context.Background())
		end <- err
	}()
	<-s.ended
	select {
	case err := <-end:
		t.Fatalf("the end came before the answer: %v", err)
	default:
	}
	require.NoError(t, s.Write(context.Background(), &jsonrpc.Response{ID: m.(*jsonrpc.Request).ID, Result: json.RawMessage("1")}))
	assert.Equal(t, io.EOF, <-end)
}

func TestClosedStream(t *testing.T) {
	in, w := io.Pipe()
	defer w.Close()
	s := newStream(in, io.Discard)
	_, err := s.Connect(context.Background())
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	_, err = s.Read(context.Background())
	assert.Equal(t, io.EOF, err)
}

func FuzzMessage(f *testing.F) {
	for _, s := range []string{"", "nonsense", "[1]", `{"id":1}`, `{"jsonrpc":"2.0","method":"m"}`, `{"jsonrpc":"2.0","id":1.5,"method":"m"}`, `{"jsonrpc":"2.0","id":{},"result":1}`, "null"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		b = bytes.TrimSpace(b)
		m, refusal := message(line{text: b})
		if m != nil && refusal != nil || len(b) > 0 && m == nil && refusal == nil {
			t.Fatalf("%q: message %v, refusal %q", b, m, refusal)
		}
		if refusal != nil && !json.Valid(refusal) {
			t.Fatalf("%q: the refusal %q is not JSON", b, refusal)
		}
	})
}
