package acp

import (
	"context"
	"errors"

	"github.com/sourcegraph/jsonrpc2"
)

// An Editor asks the client for the texts of files as its user sees them,
// unsaved ones included, on behalf of one session. It must not be used on the
// read loop, where its answers would wait behind it.
type Editor struct {
	srv     *Server
	session string
}

// editors gives the editors of sessions, nil if the client does not offer both
// to read and to write files.
func (s *Server) editors() func(session string) *Editor {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.client.files {
		return nil
	}
	return func(session string) *Editor { return &Editor{s, session} }
}

type readFileParams struct {
	SessionID string `json:"sessionId"`
	Path      string `json:"path"`
}

// ReadText gives the text of a file, whose path is absolute. An error is the
// client's answer or, if ctx ends first, that of ctx.
func (e *Editor) ReadText(ctx context.Context, path string) (string, error) {
	var res struct {
		Content *string `json:"content"`
	}
	if err := e.call(ctx, "fs/read_text_file", readFileParams{e.session, path}, &res); err != nil {
		return "", err
	}
	if res.Content == nil {
		return "", errors.New("the answer to fs/read_text_file has no content")
	}
	return *res.Content, nil
}

type writeFileParams struct {
	SessionID string `json:"sessionId"`
	Path      string `json:"path"`
	Content   string `json:"content"`
}

// WriteText makes content the text of a file and has the client save it.
// Errors are as those of ReadText; after one of ctx the file may still be
// written.
func (e *Editor) WriteText(ctx context.Context, path, content string) error {
	return e.call(ctx, "fs/write_text_file", writeFileParams{e.session, path, content}, nil)
}

// call leaves of an answer that is an error what a reader can use.
func (e *Editor) call(ctx context.Context, method string, params, result any) error {
	err := e.srv.call(ctx, method, params, result)
	var answer *jsonrpc2.Error
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &answer):
		return errors.New(answer.Message)
	}
	return err
}
