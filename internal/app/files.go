package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/config"
	"dsh-acp/internal/guard"
	"dsh-acp/tools/fs"
)

// widen is what a model is told of how another folder is opened.
const widen = "use a path in it, or ask the user to add the other folder to the session"

// versionDir is the folder of a session's earlier versions of files.
func versionDir(cfg config.Config, session string) string {
	return filepath.Join(cfg.StateDir, "versions", session)
}

// openFiles opens the session's folders: the machine's files, as the editor
// holds them where it offers that, under the policy of the settings, with what
// is replaced kept beside the log.
func (w *work) openFiles(roots []string) error {
	policy, err := guardPolicy(w.cfg, roots)
	if err != nil {
		return err
	}
	w.local, err = fsbackend.NewLocal(fsbackend.Options{
		Roots: roots, Locks: &w.app.locks, BeforeMax: w.cfg.Diff.BasisMaxBytes, OnSync: w.app.synced("file"), Widen: widen,
	})
	if err != nil {
		return err
	}
	limits := w.limits(policy)
	w.disk = fsbackend.Restrict(w.local, limits)
	if w.files, err = w.throughEditor(roots, limits); err != nil {
		return errors.Join(err, w.local.Close())
	}
	w.kept, err = fsbackend.OpenJournal(fsbackend.JournalOptions{Dir: versionDir(w.cfg, w.log.Header().ID), Tag: fs.TagOf, Now: w.app.opts.Now})
	if err != nil {
		return errors.Join(fmt.Errorf("earlier versions of files: %w", err), w.local.Close())
	}
	for _, note := range w.kept.Notes() {
		w.diag.Warn().Str("what", note).Msg("earlier versions of files")
	}
	return nil
}

// limits are those of the settings, for a policy.
func (w *work) limits(policy guard.Policy) fsbackend.Limits {
	return fsbackend.Limits{Policy: policy, Generated: generated[w.cfg.Guard.Generated], Widen: widen}
}

func (w *work) closeFiles() error { return errors.Join(w.kept.Close(), w.local.Close()) }

// list names the entries of a folder for a hint: only those that may be read.
func (w *work) list(ctx context.Context, dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if w.guarded() && w.files.MayRead(ctx, filepath.Join(dir, e.Name())) != nil {
			continue
		}
		names = append(names, e.Name())
	}
	return names, nil
}

// guarded reports whether a list of the settings closes anything in a folder
// of the session.
func (w *work) guarded() bool {
	g := w.cfg.Guard
	return len(g.Block) > 0 || len(g.ReadBlock) > 0
}
