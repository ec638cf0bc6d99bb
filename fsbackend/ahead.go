package fsbackend

import "context"

// A Stager is a backend whose writes can be begun before their turn: the new
// bytes go to the disk while other files are written. One that stands over
// another is a Stager too, by [stageOf].
type Stager interface {
	// Stage begins a write. The file that is to be replaced is not touched.
	// Every Staged is ended by exactly one of its methods; w.Data is the
	// caller's again after that. With an error there is nothing to end.
	Stage(ctx context.Context, w Write) (Staged, error)
}

// Staged is a write that has begun.
type Staged interface {
	// Publish does the rest of what Write does, and all of it again if the
	// path leads elsewhere by now.
	Publish(ctx context.Context) (Receipt, error)
	// Drop takes back what was begun.
	Drop()
}

// Stage is of [Stager]. A write that has to make folders is not begun: who
// drops it could not tell which of them others use by then. While several
// writes are staged the fault points AtTempWrite and AtSync of one come before
// those of the publication of another.
func (l *Local) Stage(ctx context.Context, w Write) (Staged, error) {
	j := &writing{l: l, w: w}
	if err := j.find(ctx); err != nil || len(j.p.missing) > 0 {
		return later{l, w}, nil // the write itself says what is wrong
	}
	if err := j.prepare(ctx); err != nil {
		j.clear()
		return nil, failWith("write", w.Path, "writing, nothing was changed", err)
	}
	return j, nil
}

// Publish is of [Staged].
func (j *writing) Publish(ctx context.Context) (Receipt, error) { return j.write(ctx, j.runStaged) }

// Drop is of [Staged].
func (j *writing) Drop() { j.clear() }

// runStaged is a first try for which all is prepared.
func (j *writing) runStaged(ctx context.Context) error {
	defer j.clear()
	if err := ctx.Err(); err != nil {
		return err
	}
	unlock, err := j.l.locks.Lock(ctx, publishing(j.p.real))
	if err != nil {
		return err
	}
	defer unlock()
	if j.l.moved(j.w.Path, j.p.real) {
		return errMoved
	}
	return j.publish(ctx)
}

// later is a write of which nothing has begun.
type later struct {
	b Backend
	w Write
}

// Publish is of [Staged].
func (s later) Publish(ctx context.Context) (Receipt, error) { return s.b.Write(ctx, s.w) }

// Drop is of [Staged].
func (s later) Drop() {}

// stageOf is Stage of a backend that need not be a [Stager].
func stageOf(ctx context.Context, b Backend, w Write) (Staged, error) {
	if s, ok := b.(Stager); ok {
		return s.Stage(ctx, w)
	}
	return later{b, w}, nil
}

// Stage is of [Stager].
func (r *Restricted) Stage(ctx context.Context, w Write) (Staged, error) {
	note, err := r.admit(ctx, w)
	if err != nil {
		return nil, err
	}
	s, err := stageOf(ctx, r.b, w)
	if err != nil {
		return nil, err
	}
	return noted{s, note}, nil
}

// noted is a write whose receipt gets a note.
type noted struct {
	Staged
	note string
}

// Publish is of [Staged].
func (s noted) Publish(ctx context.Context) (Receipt, error) {
	rec, err := s.Staged.Publish(ctx)
	return withNote(rec, s.note), err
}

// Stage is of [Stager]. What is replaced, and what replaces it, goes into the
// journal meanwhile.
func (jd *Journaled) Stage(ctx context.Context, w Write) (Staged, error) {
	k := jd.keeping(ctx, w)
	s, err := stageOf(ctx, jd.b, w)
	if err != nil {
		k.drop()
		return nil, err
	}
	return journaled{s, k}, nil
}

// journaled is a write that a journal keeps.
type journaled struct {
	Staged
	k *keeping
}

// Publish is of [Staged].
func (s journaled) Publish(ctx context.Context) (Receipt, error) {
	rec, err := s.Staged.Publish(ctx)
	return s.k.wrote(ctx, rec), err
}

// Drop is of [Staged].
func (s journaled) Drop() {
	s.Staged.Drop()
	s.k.drop()
}

var (
	_ Stager = (*Local)(nil)
	_ Stager = (*Restricted)(nil)
	_ Stager = (*Journaled)(nil)
)
