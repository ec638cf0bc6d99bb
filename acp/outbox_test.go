package acp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// writes records each write by itself.
type writes struct {
	mu   sync.Mutex
	got  []string
	gate chan struct{} // if not nil, each write waits for it
	err  error
}

func (w *writes) Write(p []byte) (int, error) {
	if w.gate != nil {
		<-w.gate
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return 0, w.err
	}
	w.got = append(w.got, string(p))
	return len(p), nil
}

func TestOutboxWritesEachMessageOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &writes{}
		o := newOutbox(w, func(error) {})
		o.put([]byte("a\n"))
		o.putText(t.Context(), textChunk{session: "s", kind: "agent_message_chunk", message: "m", text: []byte(`<"é`)})
		o.putWait(t.Context(), []byte("b\n"))
		o.close()
		<-o.done
		assert.Equal(t, []string{"a\n",
			`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"<\"é"},"messageId":"m"}}}` + "\n",
			"b\n"}, w.got)
		o.put([]byte("late\n"))
		assert.Len(t, w.got, 3, "what comes after the end is dropped")
	})
}

func TestOutboxMakesTurnsWaitForASlowClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &writes{gate: make(chan struct{})}
		o := newOutbox(w, func(error) {})
		big := []byte(strings.Repeat("x", roomBytes) + "\n")
		o.put(big)
		o.put([]byte("the read loop never waits\n"))
		ctx, cancel := context.WithCancel(t.Context())
		state := "waiting"
		go func() {
			o.putWait(ctx, []byte("update\n"))
			state = "sent"
		}()
		synctest.Wait()
		assert.Equal(t, "waiting", state)
		cancel() // the turn was cancelled: its last messages go in
		synctest.Wait()
		assert.Equal(t, "sent", state)

		state = "waiting"
		go func() {
			o.putWait(t.Context(), []byte("next\n"))
			state = "sent"
		}()
		synctest.Wait()
		assert.Equal(t, "waiting", state)
		close(w.gate) // the client reads again
		synctest.Wait()
		assert.Equal(t, "sent", state)
		o.close()
		<-o.done
		assert.Equal(t, []string{"the read loop never waits\n", "update\n", "next\n"}, w.got[1:])
	})
}

func TestOutboxMergesOnlyTextOfOneMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &writes{gate: make(chan struct{})}
		o := newOutbox(w, func(error) {})
		for range mergeFrom + 1 { // one is in the hands of the writer
			o.put([]byte("{}\n"))
		}
		synctest.Wait()
		piece := func(session, kind, message, text string) {
			o.putText(t.Context(), textChunk{session: session, kind: kind, message: message, text: []byte(text)})
		}
		piece("s", "agent_message_chunk", "m", "one ")
		piece("s", "agent_message_chunk", "m", "two")
		piece("s", "agent_thought_chunk", "m", "thought")
		piece("s", "agent_message_chunk", "n", "other message")
		piece("r", "agent_message_chunk", "n", "other session")
		o.put([]byte("{}\n"))
		piece("r", "agent_message_chunk", "n", "behind a line")
		close(w.gate)
		o.close()
		<-o.done
		var texts []string
		for _, line := range w.got[mergeFrom+1:] {
			_, text, _ := strings.Cut(line, `"text":"`)
			text, _, _ = strings.Cut(text, `"`)
			texts = append(texts, text)
		}
		assert.Equal(t, []string{"one two", "thought", "other message", "other session", "", "behind a line"}, texts)
	})
}

func TestALostClientEndsTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, toAgent := io.Pipe()
		defer toAgent.Close()
		lost := errors.New("broken pipe")
		done := make(chan error, 1)
		host := newFakeHost(hang)
		go func() {
			done <- Serve(t.Context(), Config{Name: "a", Sessions: host, Account: host}, in, &writes{err: lost})
		}()
		_, err := io.WriteString(toAgent, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`+"\n")
		require.NoError(t, err)
		require.ErrorIs(t, <-done, lost)
	})
}

func TestAHugeLineInAndOut(t *testing.T) {
	if testing.Short() {
		t.Skip("60 MiB in both directions")
	}
	text := strings.Repeat("x\\n <&> é\\\"", 60<<20/12)
	line := `{"jsonrpc":"2.0","id":1,"method":"m","params":{"t":"` + text + `"}}`
	got := exchange(t, strings.NewReader(line+"\n"+`{"jsonrpc":"2.0","id":2,"method":"m"}`+"\n"), maxLine)
	require.Len(t, got, 2)
	assert.True(t, bytes.Contains([]byte(got[0]), []byte(text)), "it comes back as it was")
	assert.Contains(t, got[1], `"id":2,"result"`)
}
