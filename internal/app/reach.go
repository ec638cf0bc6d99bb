package app

import (
	"os"
	"path/filepath"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/config"
	"dsh-acp/internal/guard"
)

// reach opens one file outside of the session's folders for a call that the
// user is asked about. A path that a list of the settings names is as open as
// the list says. Links stay closed, since they would show another path than the one that is opened.
func (w *work) reach(path string) fsbackend.Backend {
	if w.cfg.Guard.Outside != config.OutsideAsk || !plain(path) {
		return nil
	}
	c := w.disk.Policy().Config()
	for _, scope := range []guard.Scope{guard.Reading, guard.Writing} {
		if d, ok := w.disk.Policy().Decide(scope, path).(guard.Denied); !ok || d.Why != guard.Outside {
			return nil
		}
	}
	c.Allow = append(c.Allow, path)
	if c.ReadAllow != nil {
		c.ReadAllow = append(c.ReadAllow, path)
	}
	policy, err := guard.New(c)
	if err != nil {
		return nil // an entry that is no path
	}
	return w.kept.Over(fsbackend.Restrict(w.local, w.limits(policy)))
}

// plain reports whether path is a regular file, or a new one in a folder that
// is there, and no part of it is a link.
func plain(path string) bool {
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() {
		return false
	}
	at := path
	if err != nil {
		at = filepath.Dir(path)
	}
	real, err := filepath.EvalSymlinks(at)
	return err == nil && real == at
}
