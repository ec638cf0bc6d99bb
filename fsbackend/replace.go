package fsbackend

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"time"
)

// publish waits until the new file is on the disk, checks the precondition once
// more, against the content, and puts the new file in place.
func (j *writing) publish(ctx context.Context) error {
	j.busy.Wait()
	if j.rec.Version = j.version; j.synced != nil {
		return j.synced
	}
	if err := j.hit(AtBeforeRename); err != nil {
		return err
	}
	exists, err := j.verify(ctx)
	if err != nil {
		return err
	}
	if err := j.hit(AtRename); err != nil {
		return err
	}
	if exists {
		err = j.dir.Rename(j.tmp, j.name)
	} else {
		err = publishNew(j.dir, j.tmp, j.name)
	}
	if errors.Is(err, fs.ErrExist) && !exists {
		if _, ok := j.w.Pre.(Absent); ok {
			return notObserved(j.w.Path)
		}
		return errMoved
	}
	if err != nil {
		return err
	}
	j.landed = true
	for _, m := range j.made {
		j.rec.MadeDirs = append(j.rec.MadeDirs, m.real)
	}
	j.syncFolders()
	return j.hit(AtAfterWrite)
}

// verify reads the file that is about to be replaced: whether there is one,
// whether it is the one demanded, and what it held.
func (j *writing) verify(ctx context.Context) (exists bool, err error) {
	fi, err := j.dir.Lstat(j.name)
	if errors.Is(err, fs.ErrNotExist) {
		j.p.info = nil
		j.rec.Created, j.rec.Before = true, nil
		return false, admit(j.w, j.p.resolved)
	}
	if err != nil {
		return false, err
	}
	if fi.Mode()&fs.ModeSymlink != 0 {
		return false, errMoved
	}
	staged := j.p.info // what the new file was made after
	j.p.info = fi
	if err := admit(j.w, j.p.resolved); err != nil {
		return false, err
	}
	if staged == nil {
		return false, errMoved // the new file has the mode of one that replaces none
	}
	s, err := j.old(ctx)
	pre, guarded := j.w.Pre.(Unchanged)
	switch {
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return false, err
	case err != nil && guarded:
		return false, fmt.Errorf("reading the old text: %w", err)
	case err != nil:
		// Nothing was demanded of the old text, so it need not be readable.
		j.note("the old text could not be read, so it was not kept")
		return true, ctx.Err()
	case guarded && s.version != pre.Version:
		return false, changed("write", j.w.Path, s.version)
	case fi.Mode() != staged.Mode():
		return false, errMoved // the new file has the old mode
	}
	j.rec.BeforeVersion, j.rec.BeforeSize, j.rec.BeforeMode = s.version, s.size, s.info.Mode()
	if s.data != nil {
		j.rec.Before = &s.data
	}
	if n := linksOf(s.info); n > 1 {
		j.note(partedNote(n))
	}
	return true, ctx.Err()
}

// old reads the present file; its bytes are kept within the bound.
func (j *writing) old(ctx context.Context) (snapshot, error) {
	f, err := openRegular(j.dir, j.name)
	if err != nil {
		return snapshot{}, err
	}
	defer f.Close()
	keep := max(j.l.opt.BeforeMax, 0)
	if j.w.NoBefore || int64(len(j.w.Data)) >= keep {
		keep = 0
	}
	return readWhole(ctx, f, math.MaxInt64, keep)
}

// hit passes a fault point under both names of the file.
func (j *writing) hit(at FaultPoint) error {
	return j.l.opt.Faults.hitAll(at, j.w.Path, j.p.real)
}

// unsynced is the note on a name that may be lost when the power fails.
const unsynced = "the text is in place, but the system could not sync its folder to the disk"

// syncFolders makes the new name, and the names of new folders, durable.
func (j *writing) syncFolders() {
	if j.w.LateSync && len(j.made) == 0 {
		return
	}
	err := j.sync(func() error { return syncDir(j.dir) })
	for _, m := range j.made {
		above, e := m.root.handle.OpenRoot(m.root.rel(filepath.Dir(m.real)))
		if e == nil {
			e = j.sync(func() error { return syncDir(above) })
			above.Close()
		}
		err = errors.Join(err, e)
	}
	if err != nil {
		j.note(unsynced)
	}
}

// sync runs one fsync and tells how long it took.
func (j *writing) sync(f func() error) error { return j.l.timed(f) }

func (l *Local) timed(sync func() error) error {
	start := time.Now()
	err := sync()
	if l.opt.OnSync != nil {
		l.opt.OnSync(time.Since(start))
	}
	return err
}
