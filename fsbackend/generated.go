package fsbackend

import (
	"context"
	"errors"
	"fmt"
	"io"

	"dsh-acp/internal/guard"
)

// A Reviewer is a backend that refuses some writes for what the file holds.
type Reviewer interface {
	// MayReplace tells ahead whether a file of this content may be replaced;
	// its error is that of the write. The beginning of the content is enough.
	MayReplace(path string, content []byte) error
}

// MayReplace asks a backend that need not be a [Reviewer]; that lets all
// through.
func MayReplace(b Backend, path string, content []byte) error {
	if r, ok := b.(Reviewer); ok {
		return r.MayReplace(path, content)
	}
	return nil
}

// MayReplace is of [Reviewer].
func (r *Restricted) MayReplace(path string, content []byte) error {
	_, err := r.review(path, content)
	return err
}

// MayReplace is of [Reviewer].
func (jd *Journaled) MayReplace(path string, content []byte) error {
	return MayReplace(jd.b, path, content)
}

// generated looks whether a write replaces a file that was generated. What
// cannot be read passes: the write itself has better words for why.
func (r *Restricted) generated(ctx context.Context, w Write) (note string, err error) {
	if r.lim.Generated == GeneratedOff || w.Undo {
		return "", nil
	}
	if err := checkPath("write", w.Path); err != nil {
		return "", nil
	}
	f, _, err := openOrRead(ctx, r.b, w.Path)
	if err != nil {
		return "", nil
	}
	defer f.Close()
	head := make([]byte, guard.GeneratedHead)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", nil
	}
	return r.review(w.Path, head[:n])
}

// review decides by the head of a file.
func (r *Restricted) review(path string, head []byte) (note string, err error) {
	if r.lim.Generated == GeneratedOff {
		return "", nil
	}
	m, ok := guard.Generated(path, head[:min(len(head), guard.GeneratedHead)])
	if !ok {
		return "", nil
	}
	found := fmt.Sprintf("the file is generated: line %d says %q", m.Line, m.Text)
	if r.lim.Generated == GeneratedWarn {
		return found + "; the next run of its generator undoes this change", nil
	}
	return "", fail("write", path, CodeGenerated, found+"; nothing was written",
		"change what it is generated from and generate it again, or ask the user to let generated files be changed")
}

var (
	_ Reviewer = (*Restricted)(nil)
	_ Reviewer = (*Journaled)(nil)
)
