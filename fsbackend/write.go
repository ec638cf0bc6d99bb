package fsbackend

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"
)

// errMoved says that the path led elsewhere by the time of the write, so that
// all of it must be done again.
var errMoved = errors.New("the path keeps changing while it is written")

// Write replaces a file in these steps: the text goes to a new file of a
// hidden name in the same folder, which gets the old one's owner, extended
// attributes and mode and is synced; then the precondition is checked by the
// content as it is now, and the new file is renamed over the old one, or
// published so that it never replaces another where there was none; then the
// folder is synced. Whatever fails before that takes the new file and new
// folders away again. A failure to tidy up or sync after the publication is a
// note, not an error.
func (l *Local) Write(ctx context.Context, w Write) (Receipt, error) {
	j := &writing{l: l, w: w}
	for _, at := range []FaultPoint{AtWrite, AtBeforeWrite} {
		if err := l.opt.Faults.Hit(at, w.Path); err != nil {
			return Receipt{}, failWith("write", w.Path, "writing", err)
		}
	}
	var err error
	for range tries {
		err = j.run(ctx)
		if err == nil || j.landed || !errors.Is(err, errMoved) && !l.moved(w.Path, j.p.real) {
			break
		}
	}
	if err != nil && !j.landed {
		j.removeMade()
		return Receipt{}, failWith("write", w.Path, "writing, nothing was changed", err)
	}
	if err != nil {
		return j.rec, failWith("write", w.Path, "after the new text was in place", err)
	}
	return j.rec, nil
}

// writing is one write under way.
type writing struct {
	l      *Local
	w      Write
	p      place
	dir    *os.Root // the file's folder
	name   string   // its name there
	tmp    string   // the new file's, while it is there
	made   []made   // folders made by this write, outermost first
	landed bool     // the new file is in place
	rec    Receipt
}

// made is a folder that a write made.
type made struct {
	root root
	real string
}

// run is one try.
func (j *writing) run(ctx context.Context) error {
	var err error
	if j.p, err = j.l.locate(ctx, "write", j.w.Path); err != nil {
		return err
	}
	// A turn of its own, inside of those that tools take by Lock: between
	// the last check and the rename no other write of this process may come,
	// also if its caller took no turn.
	unlock, err := j.l.locks.Lock(ctx, publishing(j.p.real))
	if err != nil {
		return err
	}
	defer unlock()
	j.rec = Receipt{Path: j.w.Path, Real: j.p.real, Key: key(j.p.real)}
	if err := admit(j.w, j.p.resolved); err != nil {
		return err
	}
	if err := j.makeFolders(); err != nil {
		return err
	}
	if j.dir, j.name, err = j.p.root.dir(j.p.real); err != nil {
		return j.gone(err)
	}
	defer j.dir.Close()
	defer j.removeTemp()
	// The bytes are hashed while they are written; both are waited for, since
	// they are the caller's after the call.
	hashed := make(chan Version, 1)
	go func() { hashed <- VersionOf(j.w.Data) }()
	err = j.stage(ctx)
	j.rec.Version = <-hashed
	if err != nil {
		return err
	}
	return j.publish(ctx)
}

// gone turns a folder that has vanished meanwhile into another try.
func (j *writing) gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return errMoved
	}
	return err
}

// makeFolders makes what is missing above the file.
func (j *writing) makeFolders() error {
	for _, dir := range j.p.missing {
		if err := j.l.opt.Faults.Hit(AtMkdir, dir); err != nil {
			return fmt.Errorf("making the folder %s: %w", dir, err)
		}
		err := j.p.root.mkdir(dir)
		if errors.Is(err, fs.ErrExist) {
			continue // somebody else was faster
		}
		if err != nil {
			return j.gone(err)
		}
		j.made = append(j.made, made{root: j.p.root, real: dir})
	}
	return nil
}

// removeMade takes the folders away that this write made, if they are empty.
func (j *writing) removeMade() {
	for i := len(j.made) - 1; i >= 0; i-- {
		m := j.made[i]
		if m.root.remove(m.real) != nil {
			return
		}
	}
}

// removeTemp takes the new file away if it was not published.
func (j *writing) removeTemp() {
	if j.tmp == "" {
		return
	}
	if err := j.dir.Remove(j.tmp); err != nil && !errors.Is(err, fs.ErrNotExist) && j.landed {
		j.note("the temporary file " + j.tmp + " could not be removed from its folder")
	}
	j.tmp = ""
}

func (j *writing) note(s string) { j.rec.Notes = append(j.rec.Notes, s) }

// publish checks the precondition once more, against the content, and puts
// the new file in place.
func (j *writing) publish(ctx context.Context) error {
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
	isNew := j.p.info == nil
	j.p.info = fi
	if err := admit(j.w, j.p.resolved); err != nil {
		return false, err
	}
	if isNew {
		return false, errMoved // the staged file has the mode of a new one
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
