package fsbackend

import (
	"context"
	"errors"
	"path/filepath"
)

// A FolderSyncer is a backend that can make the names of many files durable
// at once; see [Write.LateSync]. One that stands over another and is none must
// not pass LateSync on.
type FolderSyncer interface {
	// SyncFolders syncs the folders of these files, each once.
	SyncFolders(ctx context.Context, files []string) error
}

// SyncFolders is of [FolderSyncer].
func (l *Local) SyncFolders(ctx context.Context, files []string) error {
	var problems error
	synced := map[string]bool{}
	for _, file := range files {
		p, err := l.locate(ctx, "sync", file)
		if err == nil && synced[filepath.Dir(p.real)] {
			continue
		}
		if err == nil {
			synced[filepath.Dir(p.real)] = true
			err = l.syncFolderOf(p)
		}
		problems = errors.Join(problems, err)
	}
	return problems
}

func (l *Local) syncFolderOf(p place) error {
	dir, _, err := p.root.dir(p.real)
	if err != nil {
		return err
	}
	defer dir.Close()
	return l.timed(func() error { return syncDir(dir) })
}

// SyncFolders is of [FolderSyncer]; it does nothing if the backend is none,
// since that takes no note of LateSync either.
func (r *Restricted) SyncFolders(ctx context.Context, files []string) error {
	return syncFoldersOf(ctx, r.b, files)
}

// SyncFolders is of [FolderSyncer], as that of [Restricted].
func (jd *Journaled) SyncFolders(ctx context.Context, files []string) error {
	return syncFoldersOf(ctx, jd.b, files)
}

func syncFoldersOf(ctx context.Context, b Backend, files []string) error {
	if s, ok := b.(FolderSyncer); ok {
		return s.SyncFolders(ctx, files)
	}
	return nil
}

var (
	_ FolderSyncer = (*Local)(nil)
	_ FolderSyncer = (*Restricted)(nil)
	_ FolderSyncer = (*Journaled)(nil)
)
