package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"dsh-acp/acp"
	"dsh-acp/internal/eventlog"
	"dsh-acp/internal/msg"
)

// Fork copies a session's log and its earlier versions of files. Permissions
// were given for the other session, so they are not taken along.
func (s sessions) Fork(_ context.Context, id string, setup acp.Setup) (*acp.Opened, error) {
	cfg, err := s.app.configFor(setup)
	if err != nil {
		return nil, err
	}
	if err := checkFolders(setup); err != nil {
		return nil, err
	}
	log, stored, err := eventlog.Fork(logDir(cfg), id, eventlog.Header{Cwd: setup.Cwd}, s.logOptions())
	if err != nil {
		return nil, err
	}
	undo := func(err error) error {
		fork := log.Header().ID
		return errors.Join(err, log.Close(), eventlog.Delete(logDir(cfg), fork), os.RemoveAll(versionDir(cfg, fork)))
	}
	if err := revokeAll(log, &stored); err != nil {
		return nil, undo(err)
	}
	if err := copyTree(versionDir(cfg, id), versionDir(cfg, log.Header().ID)); err != nil {
		return nil, undo(fmt.Errorf("earlier versions of files: %w", err))
	}
	return s.resume(cfg, log, setup, stored)
}

// revokeAll takes all permissions that were given in a session back.
func revokeAll(log *eventlog.Log, s *eventlog.Session) error {
	given := map[string]bool{}
	for _, p := range s.Payloads {
		switch p := p.(type) {
		case msg.Granted:
			given[p.Scope] = true
		case msg.Revoked:
			delete(given, p.Scope)
		}
	}
	for scope := range given {
		p := msg.Revoked{Scope: scope}
		e, err := log.Append(p)
		if err != nil {
			return err
		}
		s.Events, s.Payloads = append(s.Events, e), append(s.Payloads, p)
	}
	return nil
}

// copyTree copies a folder that another session may be writing to: what goes
// away meanwhile is left out. A folder that is not there has nothing.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch target := filepath.Join(to, rel); {
		case entry.IsDir():
			return os.MkdirAll(target, 0o700)
		case entry.Type().IsRegular():
			return copyFile(path, target)
		}
		return nil
	})
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
