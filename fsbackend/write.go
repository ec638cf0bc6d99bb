package fsbackend

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
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
	return j.write(ctx, j.run)
}

// write does the whole; try is the first try of it.
func (j *writing) write(ctx context.Context, try func(context.Context) error) (Receipt, error) {
	l, w := j.l, j.w
	for _, at := range j.opening() {
		if err := l.opt.Faults.Hit(at, w.Path); err != nil {
			j.clear()
			return Receipt{}, failWith("write", w.Path, "writing", err)
		}
	}
	var err error
	for range tries {
		err = try(ctx)
		if err == nil || j.landed || !errors.Is(err, errMoved) && !l.moved(w.Path, j.p.real) {
			break
		}
		try = j.run
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

// opening are the fault points at which a write begins.
func (j *writing) opening() []FaultPoint {
	if j.begun {
		return nil
	}
	return []FaultPoint{AtWrite, AtBeforeWrite}
}

// writing is one write under way.
type writing struct {
	l      *Local
	w      Write
	p      place
	dir    *os.Root // the file's folder; nil: not open
	name   string   // its name there
	tmp    string   // the new file's, while it is there
	made   []made   // folders made by this write, outermost first
	landed bool     // the new file is in place
	rec    Receipt
	begun  bool // it has begun elsewhere: its first fault points are passed

	busy    sync.WaitGroup // for what prepare started
	version Version        // of the new bytes, once busy is done
	synced  error          // of syncing the new file, once busy is done
}

// made is a folder that a write made.
type made struct {
	root root
	real string
}

// run is one try.
func (j *writing) run(ctx context.Context) error {
	if err := j.find(ctx); err != nil {
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
	defer j.clear()
	if err := j.prepare(ctx); err != nil {
		return err
	}
	return j.publish(ctx)
}

// find looks where the path leads.
func (j *writing) find(ctx context.Context) (err error) {
	if j.p, err = j.l.locate(ctx, "write", j.w.Path); err != nil {
		return err
	}
	j.rec = Receipt{Path: j.w.Path, Real: j.p.real, Key: key(j.p.real)}
	return nil
}

// prepare writes the new file and begins to sync it. Whatever it returns,
// clear comes after it.
func (j *writing) prepare(ctx context.Context) error {
	if err := admit(j.w, j.p.resolved); err != nil {
		return err
	}
	err := j.makeFolders()
	if err != nil {
		return err
	}
	if j.dir, j.name, err = j.p.root.dir(j.p.real); err != nil {
		return j.gone(err)
	}
	j.synced = nil
	// The bytes are hashed while they are written.
	j.busy.Go(func() { j.version = VersionOf(j.w.Data) })
	f, err := j.stage(ctx)
	if f == nil {
		return err
	}
	j.busy.Go(func() {
		if err == nil {
			j.synced = j.sync(f.Sync)
		}
		if e := f.Close(); j.synced == nil {
			j.synced = e
		}
	})
	return err
}

// clear waits for what prepare started, since the bytes are the caller's after
// it, and takes the new file away if it was not published.
func (j *writing) clear() {
	j.busy.Wait()
	if j.dir != nil {
		j.removeTemp()
		j.dir.Close()
		j.dir = nil
	}
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
