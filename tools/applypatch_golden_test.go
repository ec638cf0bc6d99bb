package tools

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"dsh-acp/internal/msg"
	"dsh-acp/presenter"
)

// A shownSession is what a client is sent of calls, as they are made and when
// the session is loaded again, with the folder written as /w.
type shownSession struct {
	t            *testing.T
	dir          string
	presenter    *presenter.Presenter
	live         strings.Builder
	liveClient   presenter.Client
	events       []msg.Event
	eventsAsText strings.Builder
}

func (s *shownSession) config() presenter.Config {
	return presenter.Config{Cwd: s.dir, Tools: Presenters()}
}

func (s *shownSession) updates(b *strings.Builder, c *presenter.Client, us []presenter.Update) {
	for _, u := range us {
		raw, err := msg.Marshal(u)
		require.NoError(s.t, err)
		require.NoError(s.t, c.Apply(raw))
		b.WriteString(strings.ReplaceAll(string(raw), s.dir, "/w") + "\n")
	}
}

func (s *shownSession) delta(d msg.Delta) {
	s.updates(&s.live, &s.liveClient, s.presenter.Delta(d))
}

// event commits an event, and holds that a client that loads the session now
// has the same calls as the one that saw it all.
func (s *shownSession) event(p msg.Payload) {
	data, err := msg.Marshal(p)
	require.NoError(s.t, err)
	e := msg.Event{Type: p.EventType(), Seq: int64(len(s.events)), Data: data}
	s.events = append(s.events, e)
	s.eventsAsText.WriteString(e.Type + " " + strings.ReplaceAll(string(data), s.dir, "/w") + "\n")
	s.updates(&s.live, &s.liveClient, s.presenter.Event(e))
	_, client := s.replay()
	want, err := msg.Marshal(client.Entries)
	require.NoError(s.t, err)
	got, err := msg.Marshal(s.liveClient.Entries)
	require.NoError(s.t, err)
	require.JSONEq(s.t, string(want), string(got), "live and replay differ after %s", e.Type)
}

func (s *shownSession) replay() (string, *presenter.Client) {
	p := presenter.New(s.config())
	var b strings.Builder
	var client presenter.Client
	for _, e := range s.events {
		s.updates(&b, &client, p.Replay(e))
	}
	return b.String(), &client
}

// TestPatchSession records what a client sees of a session with apply_patch:
// files before, the calls, then events, live updates and those of a replay.
func TestPatchSession(t *testing.T) {
	const file = "testdata/patch-session.txtar"
	ar, err := txtar.ParseFile(file)
	require.NoError(t, err)
	dir, set := patchSet(t, nil)
	s := &shownSession{t: t, dir: filepath.ToSlash(dir)}
	s.presenter = presenter.New(s.config())
	out := &txtar.Archive{Comment: ar.Comment}
	for _, f := range ar.Files {
		if name, ok := strings.CutPrefix(f.Name, "before/"); ok {
			writeFile(t, dir, name, f.Data)
			out.Files = append(out.Files, f)
		}
		if id, ok := strings.CutPrefix(f.Name, "call "); ok {
			args := strings.ReplaceAll(strings.TrimSpace(string(f.Data)), "/w/", s.dir+"/")
			s.call(set, applyPatch, id, args)
			out.Files = append(out.Files, f)
		}
	}
	replayed, _ := s.replay()
	out.Files = append(out.Files,
		txtar.File{Name: "events", Data: []byte(s.eventsAsText.String())},
		txtar.File{Name: "live", Data: []byte(s.live.String())},
		txtar.File{Name: "replay", Data: []byte(replayed)})
	if *update {
		require.NoError(t, os.WriteFile(file, txtar.Format(out), 0o644))
		return
	}
	assert.Equal(t, string(txtar.Format(ar)), string(txtar.Format(out)))
}

// call plays one call of the model: its input comes in pieces, the user is
// asked, and the tool runs.
func (s *shownSession) call(set *Set, name, id, args string) {
	use := msg.ToolUse{ID: id, Name: name, Input: args}
	s.delta(msg.MessageStart{MessageID: "m-" + id})
	s.delta(msg.ToolStart{CallID: id, Name: name})
	half := len(args) / 2
	for _, piece := range []string{args[:half], args[half:]} {
		s.delta(msg.ToolInput{CallID: id, Fragment: piece})
	}
	s.delta(msg.ToolReady{Use: use})
	s.event(msg.AssistantMessage{Message: msg.Assistant{ID: "m-" + id, Role: "assistant", Content: msg.Blocks{use}}})
	plan, refused := set.Plan(s.t.Context(), use)
	var r msg.ToolResult
	if refused != nil {
		r = *refused
	} else {
		asked, ok := s.presenter.PermissionCall(id, presenter.Question{Preview: plan.Preview(), Paths: plan.Need.Paths})
		require.True(s.t, ok)
		raw, err := json.Marshal(asked)
		require.NoError(s.t, err)
		s.live.WriteString("question " + strings.ReplaceAll(string(raw), s.dir, "/w") + "\n")
		s.event(msg.ToolCall{CallID: id, Name: name, Arguments: args})
		r = plan.Run(s.t.Context())
	}
	s.event(msg.ToolReturned{Error: r.Error, Meta: r.Meta,
		Message: msg.ToolMessage{Role: "tool", CallID: id, Content: r.Content, IsError: r.IsError}})
}
