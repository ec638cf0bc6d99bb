package fsbackend

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"dsh-acp/internal/text"
)

// fresh is how long a read counts as the one right before a write, so that
// the editor is not asked once more for the same change. It has to cover what
// lies between the plan of a change and its write: the call is recorded and
// synced. What the user types in this time an editor merges, since it compares
// with what it gave last.
const fresh = 3 * time.Second

// silence is how long an editor that did not answer is not asked again.
const silence = 30 * time.Second

// patience are the waits for an editor to notice that a file has changed.
var patience = []time.Duration{50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond}

// A view is what disk and editor hold of a file, and what follows from it.
type view struct {
	at    time.Time
	where string  // the editor's name of the file, "" if it has none
	disk  Version // of the bytes on disk
	file  File    // as a reader gets it; Data is shared
	doc   text.Doc
	// editor says that the editor writes; why, if it does not, goes into a
	// note, unless it is empty.
	editor  bool
	why     string
	unsaved bool   // the editor holds another text than the disk
	refusal string // why nothing may be written; empty: it may
	crlf    bool   // the file ends lines with CRLF where the editor has LF
	again   bool   // it is worth to look again a little later
}

// look finds out what a file holds. The caller has the turn to talk with the
// editor about it. A look for a change takes over a fresh one.
func (c *Client) look(ctx context.Context, op, path string) (*view, error) {
	for try := 0; ; try++ {
		disk, err := c.local.readAs(ctx, op, path)
		if err != nil {
			return nil, err
		}
		if v := c.recent(disk.Key); try == 0 && op == opChange && v != nil && v.disk == disk.Version {
			return v, nil
		}
		v, err := c.judge(ctx, disk, try == len(patience))
		if err != nil {
			return nil, aborted(op, path, err)
		}
		if !v.again || try == len(patience) {
			c.remember(disk.Key, v)
			return v, nil
		}
		select {
		case <-time.After(patience[try]):
		case <-ctx.Done():
			return nil, aborted(op, path, ctx.Err())
		}
	}
}

// judge asks the editor and compares. The error is that of ctx. last says that
// there will be no other look.
func (c *Client) judge(ctx context.Context, disk File, last bool) (*view, error) {
	v := &view{at: time.Now(), where: c.place(disk.Real), disk: disk.Version, file: disk}
	if v.where == "" {
		return v, nil
	}
	if disk.Size > c.opt.MaxBytes {
		v.why = tooLargeFor(disk.Size, c.opt.MaxBytes)
		return v, nil
	}
	var err error
	if v.doc, err = text.ParseOwned(disk.Data); err != nil {
		v.why = "the file is not UTF-8 text"
		return v, nil
	}
	held, err := c.ask(ctx, v.where)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		v.why = unasked(err)
		if errors.Is(err, errSilent) {
			v.file.Notes = []string{"this is the text on disk, since " + v.why}
		}
		return v, nil
	}
	v.why = uncarried(v.doc)
	if v.why != "" || disk.Links > 1 {
		// The editor's text cannot become the file's bytes again.
		if held = strings.TrimPrefix(held, "\uFEFF"); plain(held) != plain(v.doc.Text()) {
			v.unsaved, v.again = true, !disk.modified.Before(c.state.start)
			v.refusal = "the editor holds another text of this file, which is not saved, and cannot be changed through it"
			if v.why != "" {
				v.refusal += ": " + v.why
			}
			v.file.Notes = []string{"the editor holds changes of this file that are not saved and not shown here"}
		}
		return v, nil
	}
	c.compare(v, disk, held, last)
	return v, nil
}

// compare decides between the texts of the disk and of the editor. The base is
// the version on disk of which the editor's text is known to be made: with it
// a text that the user has changed and one that is only old are two things.
func (c *Client) compare(v *view, disk File, held string, last bool) {
	v.crlf = v.doc.Shape().CRLF > 0 && !strings.Contains(held, "\r")
	data := []byte(held)
	if v.crlf {
		data = []byte(text.WithEnding(held, text.CRLF))
	}
	version := VersionOf(data)
	base, known := c.base(disk.Key)
	dirty := func() {
		c.setBase(disk.Key, disk.Version)
		v.editor, v.unsaved = true, true
		v.file.Notes = []string{"this is the text in the editor, with changes that are not saved"}
	}
	switch {
	case version == disk.Version:
		c.setBase(disk.Key, disk.Version)
		v.editor = true
		return
	case known && disk.Version == base:
		dirty()
	case known && version == base:
		v.again = true
		v.why = "the editor does not show yet what the file holds since another program changed it"
		return // as it is on disk
	case known:
		v.again = true
		v.unsaved = true
		v.refusal = "the file has changed on disk, and has other changes in the editor that are not saved"
		v.file.Notes = []string{"this is the text in the editor, with changes that are not saved; the file on disk has changed too, and one of the two will be lost unless the user saves or reloads the file"}
	case disk.modified.Before(c.state.start) || last:
		dirty()
	default:
		v.again = true
	}
	v.file.Data, v.file.Version, v.file.Size = data, version, int64(len(data))
	v.doc, _ = text.ParseOwned(data) // an editor's text came as JSON, so it is UTF-8; a NUL is told by who parses it
}

var errSilent = errors.New("no answer")

// ask reads a file from the editor.
func (c *Client) ask(ctx context.Context, where string) (string, error) {
	c.state.mu.Lock()
	silent := time.Now().Before(c.state.silent)
	c.state.mu.Unlock()
	if silent {
		return "", errSilent
	}
	limited, cancel := context.WithTimeout(ctx, c.opt.ReadTimeout)
	defer cancel()
	s, err := c.editor.ReadText(limited, where)
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		c.state.mu.Lock()
		c.state.silent = time.Now().Add(silence)
		c.state.mu.Unlock()
		return "", errSilent
	}
	return s, err
}

// unasked is why an editor did not give a file.
func unasked(err error) string {
	if errors.Is(err, errSilent) {
		return "the editor did not answer in time"
	}
	return "the editor does not give this file (" + err.Error() + ")"
}

func tooLargeFor(size, limit int64) string {
	return fmt.Sprintf("the text has %d bytes, more than the %d that go through the editor", size, limit)
}

// uncarried is what of a text an editor does not keep, "" if it keeps all.
func uncarried(d text.Doc) string {
	s := d.Shape()
	switch {
	case d.BOM():
		return "an editor may not keep its byte order mark"
	case s.Mixed():
		return "it has both kinds of line ends, of which an editor keeps one"
	case strings.Count(d.Raw(), "\r") != s.CRLF:
		return "it has carriage returns without line feeds, which an editor may turn into line ends"
	}
	return ""
}

// plain is a text without what editors do with line ends.
func plain(s string) string { return strings.ReplaceAll(text.Fold(s), "\r", "\n") }

func (c *Client) base(k Key) (Version, bool) {
	c.state.mu.Lock()
	defer c.state.mu.Unlock()
	v, ok := c.state.bases[k]
	return v, ok
}

// knows reports whether a text of the editor is the one that the file had on
// disk when they were compared last.
func (c *Client) knows(k Key, held string) bool {
	base, known := c.base(k)
	return known && (base == VersionOf([]byte(held)) || base == VersionOf([]byte(text.WithEnding(held, text.CRLF))))
}

func (c *Client) setBase(k Key, v Version) {
	c.state.mu.Lock()
	defer c.state.mu.Unlock()
	c.state.bases[k] = v
}

// keeps reports whether a view is remembered. Those of large files are not:
// the editor is not asked about them anyway.
func (c *Client) keeps(v *view) bool { return v.file.Size <= c.opt.MaxBytes }

// remember keeps a view while it is fresh.
func (c *Client) remember(k Key, v *view) {
	if !c.keeps(v) {
		return
	}
	c.state.mu.Lock()
	defer c.state.mu.Unlock()
	for key, old := range c.state.recent {
		if time.Since(old.at) > fresh {
			delete(c.state.recent, key)
		}
	}
	c.state.recent[k] = v
}

// recent is a view that is fresh, or nil.
func (c *Client) recent(k Key) *view {
	c.state.mu.Lock()
	defer c.state.mu.Unlock()
	v := c.state.recent[k]
	if v == nil || time.Since(v.at) > fresh {
		return nil
	}
	return v
}

// recall takes the view of the read that came right before, nil if there was
// none. It serves one write.
func (c *Client) recall(k Key) *view {
	v := c.recent(k)
	c.state.mu.Lock()
	defer c.state.mu.Unlock()
	delete(c.state.recent, k)
	return v
}

// LookAgain makes the next change of every file read it anew. It is for when
// another change begins, and for when the editor may have taken other looks at
// its files than by our reads, such as to ask its user about a change: it
// compares a write with its last look.
func (c *Client) LookAgain() {
	c.state.mu.Lock()
	defer c.state.mu.Unlock()
	clear(c.state.recent)
}
