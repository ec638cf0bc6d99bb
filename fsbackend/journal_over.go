package fsbackend

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
)

// Journaled is a backend whose files a journal keeps: what is read, as long as
// it is small, and what is replaced or removed, before it is. It has what the
// backend below has: turns, folders, streams and leave; where that has none it
// does as [Restricted] does.
//
// A policy belongs below it, so that nothing is kept of a file that may not be
// read, and so that rollback passes the policy as every write does.
type Journaled struct {
	j *Journal
	b Backend
}

// Over puts a journal over a backend.
func (j *Journal) Over(b Backend) *Journaled { return &Journaled{j: j, b: b} }

// Journal is the journal.
func (jd *Journaled) Journal() *Journal { return jd.j }

// Stat is of [Backend].
func (jd *Journaled) Stat(ctx context.Context, path string) (Info, error) {
	return jd.b.Stat(ctx, path)
}

// Read is of [Backend].
func (jd *Journaled) Read(ctx context.Context, path string) (File, error) {
	f, err := jd.b.Read(ctx, path)
	if err == nil {
		jd.seen(path, f)
	}
	return f, err
}

// seen keeps what was read. That it could not be is told by Notes alone: it is
// no fault of the read.
func (jd *Journaled) seen(path string, f File) {
	if int64(len(f.Data)) > jd.j.opt.SeenMax {
		return
	}
	if err := jd.j.keep(f.Key, path, f.Data, f.Version, f.Mode, false); err != nil {
		jd.j.mu.Lock()
		defer jd.j.mu.Unlock()
		jd.j.note("what was read is not kept: " + bare(err).Error())
	}
}

// Open streams a file; see [Local.Open]. It is kept if it is read to its end.
func (jd *Journaled) Open(ctx context.Context, path string) (io.ReadCloser, Info, error) {
	f, info, err := openOrRead(ctx, jd.b, path)
	if err != nil || info.Size > jd.j.opt.SeenMax {
		return f, info, err
	}
	return &watched{ReadCloser: f, jd: jd, path: path, info: info}, info, nil
}

// watched keeps what passes through.
type watched struct {
	io.ReadCloser
	jd   *Journaled
	path string
	info Info
	data bytes.Buffer
	over bool // too large, or kept already
}

// Read is of io.Reader.
func (w *watched) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	switch {
	case w.over:
	case int64(w.data.Len()+n) > w.jd.j.opt.SeenMax:
		w.over, w.data = true, bytes.Buffer{}
	default:
		w.data.Write(p[:n])
		if err == io.EOF {
			w.over = true
			data := w.data.Bytes()
			w.jd.seen(w.path, File{Info: w.info, Data: data, Version: VersionOf(data)})
		}
	}
	return n, err
}

// Write is of [Backend]. The old bytes are kept before the new ones are
// written. If they cannot be, the write goes on, and a note of the receipt
// tells that it cannot be taken back.
func (jd *Journaled) Write(ctx context.Context, w Write) (Receipt, error) {
	k := jd.keeping(ctx, w)
	rec, err := jd.b.Write(ctx, w)
	return k.wrote(ctx, rec), err
}

// keeping is the journal's part of one write.
type keeping struct {
	jd      *Journaled
	w       Write
	problem error // why the old bytes were not kept
	end     func(record func() error) error
}

func (jd *Journaled) keeping(ctx context.Context, w Write) *keeping {
	return &keeping{jd: jd, w: w, problem: jd.keepOld(ctx, w), end: jd.j.stage(w.Data)}
}

// drop ends it for a write of which nothing came.
func (k *keeping) drop() { _ = k.end(nil) } // there is nothing to record

// wrote ends it with what the write did.
func (k *keeping) wrote(ctx context.Context, rec Receipt) Receipt {
	if rec.Version == (Version{}) {
		k.drop()
		return rec
	}
	problem := k.end(func() error { return k.jd.record(ctx, k.w, rec) })
	if k.problem != nil {
		problem = k.problem
	}
	if problem != nil {
		rec.Notes = append(rec.Notes, "this change cannot be rolled back, since it could not be recorded: "+bare(problem).Error())
	}
	return rec
}

// keepOld keeps what a write is about to replace.
func (jd *Journaled) keepOld(ctx context.Context, w Write) error {
	if _, ok := w.Pre.(Absent); ok {
		return nil
	}
	info, err := jd.b.Stat(ctx, w.Path)
	if err != nil || !info.Exists {
		return nil // the write finds out why, or there is nothing to keep
	}
	if u, ok := w.Pre.(Unchanged); ok && jd.j.has(info.Key, u.Version) {
		return nil
	}
	if err := jd.j.fits(info.Size); info.Regular && err != nil {
		return err // without reading so much for nothing
	}
	f, err := ReadForChange(ctx, jd.b, w.Path)
	if err != nil {
		return nil // the write finds out why, or there is nothing to keep
	}
	return jd.j.keep(f.Key, w.Path, f.Data, f.Version, f.Mode, false)
}

// record keeps what a write did.
func (jd *Journaled) record(ctx context.Context, w Write, rec Receipt) error {
	if !rec.Created && rec.BeforeVersion != (Version{}) {
		switch {
		case jd.j.has(rec.Key, rec.BeforeVersion):
			// To the front, so that it is the one before: it may have been an
			// older one, to which a rollback led.
			if err := jd.j.promote(rec.Key, rec.BeforeVersion, rec.BeforeMode); err != nil {
				return err
			}
		case rec.Before == nil:
			return errors.New("the old bytes were not kept")
		default:
			if err := jd.j.keep(rec.Key, w.Path, *rec.Before, rec.BeforeVersion, rec.BeforeMode, true); err != nil {
				return err
			}
		}
	}
	data := w.Data
	if rec.After != nil {
		data = rec.After
	}
	if err := jd.j.keep(rec.Key, w.Path, data, rec.Version, jd.modeOf(ctx, w, rec), true); err != nil {
		return err
	}
	return jd.j.changed(groupOf(ctx), rec.Key, w.Path, rec.BeforeVersion, rec.Version, rec.BeforeMode)
}

// modeOf is the mode that a written file has.
func (jd *Journaled) modeOf(ctx context.Context, w Write, rec Receipt) fs.FileMode {
	if info, err := jd.b.Stat(context.WithoutCancel(ctx), w.Path); err == nil && info.Exists {
		return info.Mode
	}
	return rec.BeforeMode
}

// Lock takes turns of the backend, if it has any; see [Locks.Lock].
func (jd *Journaled) Lock(ctx context.Context, keys ...Key) (unlock func(), err error) {
	return lockOf(ctx, jd.b, keys)
}

// MayRead is of [Guard]; a backend that has none lets all through.
func (jd *Journaled) MayRead(ctx context.Context, path string) error {
	if g, ok := jd.b.(Guard); ok {
		return g.MayRead(ctx, path)
	}
	return nil
}

// MayWrite is of [Guard]; a backend that has none lets all through.
func (jd *Journaled) MayWrite(ctx context.Context, path string) error {
	if g, ok := jd.b.(Guard); ok {
		return g.MayWrite(ctx, path)
	}
	return nil
}

// MakeDirs is of [Folders]; it fails with CodeIO if the backend cannot.
func (jd *Journaled) MakeDirs(ctx context.Context, path string) ([]string, error) {
	if f, ok := jd.b.(Folders); ok {
		return f.MakeDirs(ctx, path)
	}
	return nil, errNoFolders("mkdir", path)
}

// RemoveDir is of [Folders]; it fails with CodeIO if the backend cannot.
func (jd *Journaled) RemoveDir(ctx context.Context, path string) error {
	if f, ok := jd.b.(Folders); ok {
		return f.RemoveDir(ctx, path)
	}
	return errNoFolders("rmdir", path)
}

// Remove is of [Folders]. A file whose bytes cannot be kept is not removed;
// there is no receipt that could tell.
func (jd *Journaled) Remove(ctx context.Context, path string, v Version) error {
	const op = "remove"
	f, ok := jd.b.(Folders)
	if !ok {
		return errNoFolders(op, path)
	}
	if err := jd.MayWrite(ctx, path); err != nil {
		return err
	}
	info, err := jd.b.Stat(ctx, path)
	if err != nil {
		return err
	}
	if info.Regular && !jd.j.has(info.Key, v) {
		old, err := ReadForChange(ctx, jd.b, path)
		if err == nil && old.Version == v {
			err = jd.j.keep(old.Key, path, old.Data, old.Version, old.Mode, false)
		}
		if err != nil {
			return failWith(op, path, "keeping it for a rollback; nothing was removed", err)
		}
	}
	if err := f.Remove(ctx, path, v); err != nil {
		return err
	}
	err = jd.j.stand(info.Key, path, Version{})
	if err == nil {
		err = jd.j.changed(groupOf(ctx), info.Key, path, v, Version{}, info.Mode)
	}
	if err != nil {
		return failWith(op, path, "it is removed, but that could not be recorded", err)
	}
	return nil
}

var (
	_ Backend = (*Journaled)(nil)
	_ Folders = (*Journaled)(nil)
	_ Locker  = (*Journaled)(nil)
	_ Guard   = (*Journaled)(nil)
)
