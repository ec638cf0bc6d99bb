package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	acpsdk "github.com/coder/acp-go-sdk"

	"dsh-acp/internal/eventlog"
	"dsh-acp/internal/msg"
	"dsh-acp/presenter"
)

// setupResult answers session/new, and without the id load and resume.
type setupResult struct {
	SessionID     string         `json:"sessionId,omitempty"`
	Modes         modesResult    `json:"modes"`
	ConfigOptions []configOption `json:"configOptions"`
}

// setupParams is what new, load and resume have in common.
type setupParams struct {
	id      string // "" for new
	setup   Setup
	servers []string // names of the MCP servers
}

func (s *Server) newSession(r *request) {
	p, err := s.setupOf(r.params)
	if err != nil {
		s.fail(r, err)
		return
	}
	s.run(r, "", func(ctx context.Context) (any, func(), error) {
		if err := s.cfg.Account.Check(ctx); err != nil {
			return nil, nil, err
		}
		opened, err := s.cfg.Sessions.Create(ctx, p.setup)
		if err != nil {
			return nil, nil, err
		}
		sess := s.adopt(opened, p.setup)
		res := sess.setupResult()
		res.SessionID = opened.ID
		return res, func() { sess.begin(p) }, nil
	})
}

// setupOfKnown reads the setup of a request that names a session. It has
// answered the request if it reports false.
func (s *Server) setupOfKnown(r *request) (setupParams, bool) {
	p, err := s.setupOf(r.params)
	if err == nil {
		err = sessionError(p.id, eventlog.ValidID(p.id))
	}
	if err != nil {
		s.fail(r, err)
	}
	return p, err == nil
}

func (s *Server) loadSession(r *request)   { s.reopen(r, true) }
func (s *Server) resumeSession(r *request) { s.reopen(r, false) }

// reopen continues a session. One that is open in this process is closed
// first: the request may bring another folder, and one path serves both.
func (s *Server) reopen(r *request, replay bool) {
	p, ok := s.setupOfKnown(r)
	if !ok {
		return
	}
	s.run(r, p.id, func(ctx context.Context) (any, func(), error) {
		if err := s.cfg.Account.Check(ctx); err != nil {
			return nil, nil, err
		}
		if err := s.shut(ctx, p.id); err != nil {
			return nil, nil, err
		}
		opened, err := s.cfg.Sessions.Open(ctx, p.id, p.setup)
		if err != nil {
			return nil, nil, sessionError(p.id, err)
		}
		sess := s.adopt(opened, p.setup)
		sess.replay(ctx, replay)
		// The client knows the id, and takes what comes after the answer for
		// the next turn's.
		sess.begin(p)
		return sess.setupResult(), nil, nil
	})
}

// forkSession makes a session of another one's past. The client shows that
// past already, so nothing is replayed.
func (s *Server) forkSession(r *request) {
	p, ok := s.setupOfKnown(r)
	if !ok {
		return
	}
	s.run(r, p.id, func(ctx context.Context) (any, func(), error) {
		if err := s.cfg.Account.Check(ctx); err != nil {
			return nil, nil, err
		}
		opened, err := s.cfg.Sessions.Fork(ctx, p.id, p.setup)
		if err != nil {
			return nil, nil, sessionError(p.id, err)
		}
		sess := s.adopt(opened, p.setup)
		sess.replay(ctx, false)
		res := sess.setupResult()
		res.SessionID = opened.ID
		return res, func() { sess.begin(p) }, nil
	})
}

// begin sends what stands before the first turn. A client that does not know
// the session's id yet must have the answer first.
func (sess *session) begin(p setupParams) {
	sess.announce()
	sess.noteServers(p.servers)
}

// shut cancels a session's turns, waits for them, and closes it. It is called
// from a task of the session, so no turn is added meanwhile. A session that
// is not open is none of its business.
func (s *Server) shut(ctx context.Context, id string) error {
	s.mu.Lock()
	sess := s.sessions[id]
	s.mu.Unlock()
	if sess == nil {
		return nil
	}
	s.cancelStarted(sess)
	sess.end()
	s.work.settle(ctx, id)
	s.work.settle(ctx, "title of "+id)
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	delete(s.sessions, id)
	s.mu.Unlock()
	return sess.opened.Work.Close()
}

func (s *Server) closeSession(r *request) {
	s.onSession(r, func(ctx context.Context, id string) (any, func(), error) {
		if s.lookup(id) == nil {
			return nil, nil, unknownSession(id)
		}
		return empty{}, nil, s.shut(ctx, id)
	})
}

func (s *Server) deleteSession(r *request) {
	s.onSession(r, func(ctx context.Context, id string) (any, func(), error) {
		if err := s.shut(ctx, id); err != nil {
			return nil, nil, err
		}
		return empty{}, nil, sessionError(id, s.cfg.Sessions.Delete(ctx, id))
	})
}

// onSession runs a task for the session that the parameters name.
func (s *Server) onSession(r *request, do func(ctx context.Context, id string) (any, func(), error)) {
	id, err := sessionID(r.params)
	if err != nil {
		s.fail(r, err)
		return
	}
	s.run(r, id, func(ctx context.Context) (any, func(), error) { return do(ctx, id) })
}

type listResult struct {
	Sessions []listEntry `json:"sessions"`
}

type listEntry struct {
	SessionID string   `json:"sessionId"`
	Cwd       string   `json:"cwd"`
	More      []string `json:"additionalDirectories,omitempty"`
	Title     string   `json:"title,omitempty"`
	UpdatedAt string   `json:"updatedAt,omitempty"`
}

// listSessions gives all sessions in one answer, so no cursor of ours exists.
func (s *Server) listSessions(r *request) {
	var p acpsdk.ListSessionsRequest
	if r.params != nil {
		if err := json.Unmarshal(r.params, &p); err != nil {
			s.fail(r, badParams("session/list", r.params, err))
			return
		}
	}
	switch {
	case p.Cursor != nil:
		s.fail(r, invalidParams("cursor: %.80q is not known; the whole list comes in one answer", *p.Cursor))
		return
	case p.Cwd != nil && !filepath.IsAbs(*p.Cwd):
		s.fail(r, invalidParams("cwd: %.200q is not an absolute path", *p.Cwd))
		return
	}
	s.run(r, "", func(ctx context.Context) (any, func(), error) {
		infos, err := s.cfg.Sessions.List(ctx)
		if err != nil {
			return nil, nil, err
		}
		res := listResult{Sessions: []listEntry{}}
		for _, i := range infos {
			if p.Cwd != nil && filepath.Clean(*p.Cwd) != i.Cwd {
				continue
			}
			res.Sessions = append(res.Sessions, listEntry{
				SessionID: i.ID, Cwd: i.Cwd, More: i.More, Title: i.Title, UpdatedAt: timestamp(i.UpdatedAt),
			})
		}
		return res, nil, nil
	})
}

func timestamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z07:00")
}

func sessionID(params json.RawMessage) (string, error) {
	var p struct {
		SessionID *string `json:"sessionId"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return "", badParams("params", params, err)
	}
	if p.SessionID == nil {
		return "", invalidParams("sessionId is missing")
	}
	return *p.SessionID, sessionError(*p.SessionID, eventlog.ValidID(*p.SessionID))
}

// setupOf is decodeSetup with what the client offers.
func (s *Server) setupOf(raw json.RawMessage) (setupParams, error) {
	p, err := decodeSetup(raw)
	p.setup.Editor = s.editors()
	return p, err
}

// decodeSetup reads the parameters of new, load and resume. The MCP servers
// are looked at raw: the library takes an unknown type for another.
func decodeSetup(raw json.RawMessage) (setupParams, error) {
	var p struct {
		acpsdk.LoadSessionRequest
		McpServers []mcpServer `json:"mcpServers"`
		Meta       setupMeta   `json:"_meta"`
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return setupParams{}, badParams("session", raw, err)
	}
	out := setupParams{id: string(p.SessionId)}
	out.setup.Settings = p.Meta.Dsh.Settings
	cwd, err := folder("cwd", p.Cwd)
	if err != nil {
		return setupParams{}, err
	}
	out.setup.Cwd = cwd
	for i, dir := range p.AdditionalDirectories {
		dir, err := folder(fmt.Sprintf("additionalDirectories[%d]", i), dir)
		if err != nil {
			return setupParams{}, err
		}
		out.setup.More = append(out.setup.More, dir)
	}
	for i, m := range p.McpServers {
		switch m.Type {
		case "", "stdio", "http", "sse":
		default:
			return setupParams{}, invalidParams("mcpServers[%d]: unknown type %.80q; stdio, http and sse are known", i, m.Type)
		}
		out.servers = append(out.servers, m.Name)
	}
	return out, nil
}

// setupMeta holds our own key.
type setupMeta struct {
	Dsh struct {
		Settings json.RawMessage `json:"settings"`
	} `json:"dsh"`
}

type mcpServer struct {
	Type string `json:"type"`
	Name string `json:"name"`
}

func folder(name, path string) (string, error) {
	switch {
	case path == "":
		return "", invalidParams("%s is missing", name)
	case !filepath.IsAbs(path):
		return "", invalidParams("%s: %.200q is not an absolute path", name, path)
	case strings.ContainsRune(path, 0):
		return "", invalidParams("%s: a path has no NUL byte", name)
	}
	return filepath.Clean(path), nil
}

// noteServers tells the user that MCP servers are not used, rather than
// letting tools be missed in silence.
func (sess *session) noteServers(names []string) {
	if len(names) == 0 {
		return
	}
	for i, n := range names {
		if n == "" {
			names[i] = "(unnamed)"
		}
	}
	sess.send(sess.srv.ctx, presenter.AgentMessageChunk{Content: presenter.ContentBlock{Block: msg.Text{
		Text: "Note: dsh-acp does not use MCP servers yet; not connected: " + strings.Join(names, ", ") + ".\n",
	}}})
}
