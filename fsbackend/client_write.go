package fsbackend

import (
	"context"
	"errors"
	"fmt"
	"time"

	"dsh-acp/internal/text"
)

// Write replaces a file through the editor, or, where that cannot be, as
// Local does. It fails with CodeUnsaved for a file whose unsaved changes would
// be lost.
func (c *Client) Write(ctx context.Context, w Write) (Receipt, error) {
	p, err := c.local.locate(ctx, "write", w.Path)
	if err != nil {
		return Receipt{}, err
	}
	w.LateSync = false // nobody would sync it later
	if c.place(p.real) == "" || p.info != nil && !p.info.Mode().IsRegular() {
		return c.local.Write(ctx, w)
	}
	unlock, err := c.through(ctx, "write", w.Path, key(p.real))
	if err != nil {
		return Receipt{}, err
	}
	defer unlock()
	return tryWrite(w.Path, func() (Receipt, error) { return c.write(ctx, w) })
}

// write is one try.
func (c *Client) write(ctx context.Context, w Write) (Receipt, error) {
	s := &sending{c: c, writing: writing{l: c.local, w: w}}
	if err := s.find(ctx); err != nil {
		return Receipt{}, err
	}
	if err := admit(w, s.p.resolved); err != nil {
		return Receipt{}, err
	}
	if err := s.look(ctx); err != nil {
		return Receipt{}, err
	}
	if u, ok := w.Pre.(Unchanged); ok && s.v.file.Version != u.Version {
		return Receipt{}, changed("write", w.Path, s.v.file.Version)
	}
	why := s.v.why
	if s.v.editor {
		if why = s.unfit(); why != "" && s.v.unsaved {
			s.v.refusal = "the editor holds changes of this file that are not saved, and the new text cannot go through it: " + why
		}
	}
	switch {
	case s.v.refusal != "":
		return Receipt{}, fail("write", w.Path, CodeUnsaved, s.v.refusal+"; nothing was written", "ask the user to save or to reload the file in the editor, then read it and try again")
	case s.v.editor && why == "":
		return s.run(ctx)
	}
	return c.byDisk(ctx, &writing{l: c.local, w: w}, why)
}

// byDisk writes without the editor.
func (c *Client) byDisk(ctx context.Context, j *writing, why string) (Receipt, error) {
	if c.opt.Always {
		return Receipt{}, fail("write", j.w.Path, CodeEditorOnly, "files of this session are only changed through the editor, which cannot do it: "+why+"; nothing was written",
			"ask the user to change it, or to set editorFiles to auto")
	}
	rec, err := j.write(ctx, j.run)
	if why == "" {
		return rec, err
	}
	return withNote(rec, "written to the disk and not through the editor: "+why), err
}

// sending is one write through an editor under way.
type sending struct {
	writing
	c *Client
	v *view
	// unsure says that the editor may not have a place for the file that is to
	// be made; then the disk has, as long as the editor has written nothing.
	unsure error
}

// look gives the view of the read that came right before, or a new one.
func (s *sending) look(ctx context.Context) (err error) {
	k := s.rec.Key
	if s.p.info == nil {
		s.c.recall(k)
		return s.lookNew(ctx)
	}
	s.v = s.c.recall(k)
	if u, ok := s.w.Pre.(Unchanged); s.v == nil || ok && s.v.file.Version != u.Version {
		s.v, err = s.c.look(ctx, opChange, s.w.Path)
		s.c.recall(k)
	}
	return err
}

// lookNew asks the editor about a file that is not on disk: it may hold one
// that was never saved.
func (s *sending) lookNew(ctx context.Context) error {
	s.v = &view{where: s.c.place(s.p.real), editor: true}
	held, err := s.c.ask(ctx, s.v.where)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errSilent):
		s.v.editor, s.v.why = false, unasked(err)
	case err != nil:
		s.unsure = err // many editors have no text of a file that does not exist
	case held == "":
		s.c.setBase(s.rec.Key, VersionOf(nil))
	case s.c.knows(s.rec.Key, held):
		s.v.editor, s.v.why = false, "the editor still shows the text of a file that is gone"
	default:
		s.v.refusal = "there is no such file on disk, but the editor holds a text under this name that was never saved"
	}
	return nil
}

// unfit is why the new text cannot go through the editor, "" if it can.
func (s *sending) unfit() string {
	if n := int64(len(s.w.Data)); n > s.c.opt.MaxBytes {
		return tooLargeFor(n, s.c.opt.MaxBytes)
	}
	d, err := text.ParseOwned(s.w.Data)
	if err != nil {
		return "the new text is not UTF-8 text"
	}
	if why := uncarried(d); why != "" {
		return why
	}
	old, now := s.v.doc.Shape(), d.Shape()
	switch {
	case s.v.crlf && now.LF > 0:
		return "its lines would end with LF, those of the file end with CRLF"
	case old.CRLF == 0 && now.CRLF > 0:
		return "its lines would end with CRLF, and the editor chooses LF"
	}
	return ""
}

// run writes. Whatever fails before the editor is told leaves all as it was.
func (s *sending) run(ctx context.Context) (Receipt, error) {
	unlock, err := s.l.locks.Lock(ctx, publishing(s.p.real))
	if err != nil {
		return Receipt{}, err
	}
	err = s.ready(ctx)
	if err == nil {
		err = s.tell(ctx)
	}
	if s.rec.Version == (Version{}) {
		s.removeMade()
	}
	unlock()
	if errors.Is(err, errUntold) {
		return s.c.byDisk(ctx, &writing{l: s.l, w: s.w, begun: true}, unasked(s.unsure))
	}
	return s.rec, err
}

// ready passes the fault points, makes folders, and looks a last time whether
// the disk is as the view has it.
func (s *sending) ready(ctx context.Context) error {
	for _, at := range s.opening() {
		if err := s.l.opt.Faults.Hit(at, s.w.Path); err != nil {
			return err
		}
	}
	if err := s.makeFolders(); err != nil {
		return err
	}
	for _, at := range []FaultPoint{AtTempWrite, AtSync, AtBeforeRename, AtRename} {
		if err := s.hit(at); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	now, err := s.l.locate(ctx, "write", s.w.Path)
	if err != nil {
		return err
	}
	if err := admit(s.w, now.resolved); err != nil {
		return err
	}
	if now.real != s.p.real || (now.info == nil) != (s.p.info == nil) {
		return errMoved
	}
	s.p.info = now.info
	if now.info == nil {
		return nil
	}
	disk, err := s.l.readAs(ctx, opChange, s.w.Path)
	if err != nil {
		return err
	}
	if disk.Version == s.v.disk {
		return nil
	}
	if _, ok := s.w.Pre.(Unchanged); ok {
		return changed("write", s.w.Path, disk.Version)
	}
	return errMoved
}

// errUntold says that the editor refused and has written nothing.
var errUntold = errors.New("the editor has no place for the file")

// tell has the editor write, and finds out what came of it.
func (s *sending) tell(ctx context.Context) error {
	content := string(s.w.Data)
	if s.v.crlf {
		content = text.Fold(content)
	}
	limited, cancel := context.WithTimeout(ctx, s.c.opt.WriteTimeout)
	told := s.c.editor.WriteText(limited, s.v.where, content)
	if told != nil && ctx.Err() == nil && limited.Err() != nil {
		told = fmt.Errorf("the editor did not answer within %s", s.c.opt.WriteTimeout)
	}
	cancel()
	after := context.WithoutCancel(ctx)
	if ctx.Err() != nil {
		var end context.CancelFunc
		after, end = context.WithTimeout(after, time.Second) // who cancelled waits
		defer end()
	}
	err := s.settle(after, told)
	if s.rec.Version == (Version{}) {
		return err
	}
	s.finish()
	if err == nil {
		err = ctx.Err()
	}
	return errors.Join(err, s.hit(AtAfterWrite))
}

// settle looks what is there now that the editor was told, and fills in the
// receipt. told is the error that the editor answered with, or nil. The disk
// is looked at first: what is saved is the truth, and costs no request.
func (s *sending) settle(ctx context.Context, told error) error {
	sent, old := VersionOf(s.w.Data), s.v.disk
	disk, err := s.l.readAs(ctx, opChange, s.w.Path)
	switch {
	case err != nil && CodeOf(err) != CodeNotFound:
		return s.uncertain(told, err)
	case err == nil && disk.Version == sent:
		s.rec.Version = sent
	case err == nil && disk.Version != old:
		s.rec.Version, s.rec.After = disk.Version, disk.Data
		s.note("the editor saved something else than it was given: it formatted the text, or the user typed meanwhile; this is the file as it is now")
	default:
		return s.unsaved(ctx, told)
	}
	s.c.setBase(s.rec.Key, s.rec.Version)
	if s.v.unsaved {
		s.note("the file had changes in the editor that were not saved; it is saved now")
	}
	if told != nil && s.rec.After != nil {
		return told
	}
	if told != nil {
		s.note("the editor did not confirm the change (" + told.Error() + "), but the file holds it")
	}
	return nil
}

// unsaved looks at the editor's own text, since the file on disk has not
// changed.
func (s *sending) unsaved(ctx context.Context, told error) error {
	held, err := s.c.ask(ctx, s.v.where)
	switch {
	case err != nil && told != nil && s.unsure != nil:
		return errUntold
	case err != nil:
		return s.uncertain(told, err)
	}
	if s.v.crlf {
		held = text.WithEnding(held, text.CRLF)
	}
	version := VersionOf([]byte(held))
	switch {
	case version == VersionOf(s.w.Data):
	case s.p.info == nil && held == "", s.p.info != nil && version == s.v.file.Version:
		return s.undone(told)
	default:
		s.rec.After = []byte(held)
	}
	s.rec.Version = version
	s.c.setBase(s.rec.Key, s.v.disk)
	s.note("the new text is in the editor, but not saved: the file on disk is as it was")
	return told
}

// undone is the error of a write that changed nothing.
func (s *sending) undone(told error) error {
	switch {
	case told == nil:
		told = errors.New("it reports success, and yet neither its text nor the file has changed")
	case errors.Is(told, context.Canceled) || errors.Is(told, context.DeadlineExceeded):
		return aborted("write", s.w.Path, told)
	case s.unsure != nil:
		return errUntold
	}
	return fail("write", s.w.Path, CodeIO, "the editor did not write the file: "+told.Error()+"; nothing was written",
		"ask the user to look at the file in the editor, or to set editorFiles to never")
}

// uncertain is the error of a write of which nobody can say what it did.
func (s *sending) uncertain(told, err error) error {
	why := "the editor was told to write the file, and what came of it cannot be seen: " + bare(err).Error()
	if told != nil {
		why = "the editor was told to write the file: " + told.Error() + "; what came of it cannot be seen: " + bare(err).Error()
	}
	return fail("write", s.w.Path, CodeIO, why, "read the file before anything else")
}

// finish completes the receipt and gives the file its mode.
func (s *sending) finish() {
	r := &s.rec
	for _, m := range s.made {
		r.MadeDirs = append(r.MadeDirs, m.real)
	}
	r.Created = s.p.info == nil
	if !r.Created {
		before := s.v.file
		r.BeforeVersion, r.BeforeSize, r.BeforeMode = before.Version, before.Size, s.p.info.Mode()
		if most := s.l.opt.BeforeMax; !s.w.NoBefore && before.Size < most && int64(len(s.w.Data)) < most {
			data := append(make([]byte, 0, len(before.Data)), before.Data...)
			r.Before = &data
		}
	}
	if err := s.chmod(); err != nil {
		s.note("the file's mode could not be set: " + bare(err).Error())
	}
}

// chmod gives the file the mode that it is to have, which no editor knows of.
func (s *sending) chmod() error {
	dir, name, err := s.p.root.dir(s.p.real)
	if err != nil {
		return err
	}
	defer dir.Close()
	now, err := dir.Lstat(name)
	if err != nil || !now.Mode().IsRegular() {
		return nil // not saved yet
	}
	mode := now.Mode() & modeBits
	if s.p.info != nil {
		mode = s.p.info.Mode() & modeBits
	}
	if s.w.Mode != 0 {
		mode = s.w.Mode & modeBits
	}
	if s.w.Executable {
		mode |= mode & 0o444 >> 2
	}
	if mode == now.Mode()&modeBits {
		return nil
	}
	return dir.Chmod(name, mode)
}
