package acp

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/acptest"
	"dsh-acp/internal/msg"
)

// titles are those that the client was told, in order.
func titles(c *acptest.Client, id string) []string {
	var out []string
	for _, u := range c.Updates(id) {
		if u.Update.Kind == "session_info_update" {
			out = append(out, u.Update.Title)
		}
	}
	return out
}

func TestATitleAtOnceAndABetterOneLater(t *testing.T) {
	found := make(chan string)
	host := newFakeHost(say("x"))
	host.adorn = func(o *Opened) {
		o.Title = func(ctx context.Context, prompt msg.Blocks) (string, error) {
			select {
			case title := <-found:
				return title, nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}
	}
	withServer(t, host, func(t *testing.T, c *acptest.Client) {
		id := newSession(t, c)
		picture := map[string]any{"type": "image", "mimeType": "image/png", "data": "AAAA"}
		require.NoError(t, c.Call("session/prompt", map[string]any{"sessionId": id, "prompt": []any{picture}}, nil))
		assert.Empty(t, titles(c, id), "a picture has no words")
		require.NoError(t, c.Call("session/prompt", promptOf(id, "\n  fix the\tbuild  \nplease"), nil))
		assert.Equal(t, []string{"fix the build"}, titles(c, id))
		require.NoError(t, c.Call("session/prompt", promptOf(id, "and another thing"), nil), "the search for a better one holds nothing up")
		found <- "  A build that works  \n"
		synctest.Wait()
		assert.Equal(t, []string{"fix the build", "A build that works"}, titles(c, id))
		require.NoError(t, c.Call("session/load", setupOf(id, "/w"), nil))
		require.NoError(t, c.Call("session/prompt", promptOf(id, "later"), nil))
		assert.Len(t, titles(c, id), 2, "it has its title")
	})
}

func TestNoBetterTitle(t *testing.T) {
	for name, find := range map[string]func(context.Context) (string, error){
		"none": func(context.Context) (string, error) { return " \n", nil },
		"fails": func(context.Context) (string, error) {
			return "half", errors.New("the service is away")
		},
		"panics": func(context.Context) (string, error) { panic("title") },
		"too late": func(ctx context.Context) (string, error) {
			<-ctx.Done()
			return "too late", nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			host := newFakeHost(say("x"))
			host.adorn = func(o *Opened) {
				o.Title = func(ctx context.Context, _ msg.Blocks) (string, error) { return find(ctx) }
			}
			withServer(t, host, func(t *testing.T, c *acptest.Client) {
				id := newSession(t, c)
				require.NoError(t, c.Call("session/prompt", promptOf(id, "the first prompt"), nil))
				require.NoError(t, c.Call("session/close", map[string]any{"sessionId": id}, nil), "closing does not wait for a title")
				assert.Equal(t, []string{"the first prompt"}, titles(c, id))
			})
		})
	}
}

func TestNoTitleIsAskedForATurnThatFailed(t *testing.T) {
	asked := 0
	host := newFakeHost(hang)
	host.adorn = func(o *Opened) {
		o.Title = func(context.Context, msg.Blocks) (string, error) { asked++; return "t", nil }
	}
	withServer(t, host, func(t *testing.T, c *acptest.Client) {
		id := newSession(t, c)
		turn := c.Request("session/prompt", promptOf(id, "a prompt"))
		synctest.Wait()
		c.Notify("session/cancel", map[string]any{"sessionId": id})
		require.NoError(t, c.Answer(turn, nil))
		synctest.Wait()
		assert.Zero(t, asked)
		assert.Equal(t, []string{"a prompt"}, titles(c, id))
	})
}

func TestCutTitle(t *testing.T) {
	long := strings.Repeat("word ", 40)
	for text, want := range map[string]string{
		"":                              "",
		" \n\t\n":                       "",
		"one\ntwo":                      "one",
		" a  b\tc ":                     "a b c",
		long:                            strings.TrimSpace(strings.Repeat("word ", 15)) + "…",
		strings.Repeat("é", maxTitle):   strings.Repeat("é", maxTitle),
		strings.Repeat("é", maxTitle+1): strings.Repeat("é", maxTitle-1) + "…",
	} {
		assert.Equal(t, want, cutTitle(text))
	}
}
