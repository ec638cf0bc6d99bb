package fs

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/hashline"
	"dsh-acp/internal/msg"
	"dsh-acp/internal/text"
)

// A TargetFile is a whole file to write.
type TargetFile struct {
	Path string
	Text string
	// FileHash is the tag under which the file was seen; "" means that the
	// session must have seen it as it is.
	FileHash string
}

// UnmarshalJSON takes the text as "content" or "text".
func (t *TargetFile) UnmarshalJSON(raw []byte) error {
	var m struct {
		Path          string
		Content, Text *string
		FileHash      *string `json:"file_hash"`
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return err
	}
	if (m.Content == nil) == (m.Text == nil) {
		return fmt.Errorf("write %s: give the text as content, once", m.Path)
	}
	if esc := msg.LoneSurrogate(string(raw)); esc != "" {
		return fmt.Errorf("write %s: the text holds %s, one half of a surrogate pair, which is no character", m.Path, esc)
	}
	*t = TargetFile{Path: m.Path}
	for _, s := range []*string{m.Content, m.Text} {
		if s != nil {
			t.Text = *s
		}
	}
	if m.FileHash != nil {
		t.FileHash = *m.FileHash
	}
	return nil
}

// A WriteResult is a file that was written. Of one that was refused only Path
// and Warnings are set.
type WriteResult struct {
	Path     string  `json:"path"` // as asked
	FileHash string  `json:"file_hash"`
	Header   string  `json:"header"`
	Warnings *string `json:"warnings,omitempty"` // nil: none

	Change Change `json:"-"`
}

// A Change is what a call did to a file.
type Change struct {
	Before *text.Doc // nil: there was no file, or none that is text
	After  text.Doc
	// Created says that there was no file.
	Created bool
	// Same says that the file held these bytes already.
	Same bool
}

// Write writes files. Targets are independent: what is wrong with one is told
// in its result. It fails, and writes nothing, if a path is on two lists of
// the policy.
func (b *Box) Write(ctx context.Context, files []TargetFile) ([]WriteResult, error) {
	if g, ok := b.Files.(fsbackend.Guard); ok {
		for _, t := range files {
			abs, err := b.Abs(ctx, t.Path)
			if err != nil {
				continue // told by the target's result
			}
			if err := g.MayWrite(ctx, abs); fsbackend.CodeOf(err) == fsbackend.CodeGuardAmbiguous {
				return nil, err
			}
		}
	}
	out := make([]WriteResult, len(files))
	for i, t := range files {
		r, err := b.WriteOne(ctx, t)
		if err != nil {
			why := b.about(t.Path, err)
			r = WriteResult{Path: t.Path, Warnings: &why}
		}
		out[i] = r
	}
	return out, nil
}

// WriteOne writes one file, or says with an error why it was not written.
func (b *Box) WriteOne(ctx context.Context, t TargetFile) (WriteResult, error) {
	p, err := b.planWrite(ctx, t)
	if err != nil {
		return WriteResult{}, err
	}
	unlock, err := fsbackend.Lock(ctx, b.Files, p.abs)
	if err != nil {
		return WriteResult{}, err
	}
	defer unlock()
	if p, err = b.planWrite(ctx, t); err != nil {
		return WriteResult{}, err
	}
	r := WriteResult{Path: t.Path, Change: p.change()}
	notes, version, known := p.notes, p.version, allLines(p.after)
	if !p.same {
		if p.before != nil {
			b.store.record(p.key, *p.before, nil)
		}
		rec, err := b.Files.Write(ctx, fsbackend.Write{
			Path: p.abs, Data: fsbackend.BytesOf(p.after), Pre: p.pre, Executable: strings.HasPrefix(p.after.Raw(), "#!"),
		})
		if err != nil {
			return WriteResult{}, err
		}
		notes, version = append(notes, rec.Notes...), rec.Version
		if rec.After != nil {
			p.after, known = rec.Text(p.after), nil
			r.Change.After = p.after
		}
		if strings.HasPrefix(p.after.Raw(), "#!") {
			notes = append(notes, "the text starts with #!, so the file is executable for those who may read it")
		}
	}
	b.Seen.Note(p.key, version)
	tag := b.store.record(p.key, p.after, known)
	r.FileHash, r.Header = tag.String(), hashline.Header(b.Show(p.abs), tag)
	if len(notes) > 0 {
		w := strings.Join(notes, "; ")
		r.Warnings = &w
	}
	return r, nil
}

// CheckWrite says whether WriteOne would go through, as far as can be told
// without writing, and what it would change.
func (b *Box) CheckWrite(ctx context.Context, t TargetFile) (Change, error) {
	p, err := b.planWrite(ctx, t)
	return p.change(), err
}

// plannedWrite is a write that may be made.
type plannedWrite struct {
	abs     string
	key     fsbackend.Key
	exists  bool
	same    bool
	version fsbackend.Version
	before  *text.Doc
	after   text.Doc
	pre     fsbackend.Precondition
	notes   []string
}

func (p plannedWrite) change() Change {
	return Change{Before: p.before, After: p.after, Created: !p.exists, Same: p.same}
}

func (b *Box) planWrite(ctx context.Context, t TargetFile) (plannedWrite, error) {
	p := plannedWrite{pre: fsbackend.Absent{}}
	var err error
	if p.abs, err = b.Abs(ctx, t.Path); err != nil {
		return p, err
	}
	content := t.Text
	if plain, note, ok := hashline.Unwrap(content); ok {
		content, p.notes = plain, append(p.notes, note)
	}
	if p.after, err = text.ParseString(content); err != nil {
		return p, &Error{Code: hashline.CodeArgs, Text: fmt.Sprintf("write %s: the content is not text: %v; nothing was written", t.Path, err)}
	}
	f, err := b.open(ctx, p.abs)
	if err != nil {
		return p, err
	}
	p.key, p.exists, p.version = f.Key, f.Exists, f.Version
	if !p.exists {
		if t.FileHash != "" {
			return p, &Error{Code: fsbackend.CodeNotFound, Text: fmt.Sprintf("write %s: file_hash %s names a text of this file, but there is no such file: leave file_hash out to create it; nothing was written", t.Path, t.FileHash)}
		}
		return p, nil
	}
	p.pre = fsbackend.Unchanged{Version: f.Version}
	if d, err := f.Doc(); err == nil {
		p.before = &d
		var folded bool
		if p.after, folded, err = d.Rewrite(content); err != nil {
			return p, err // the content was parsed before
		}
		if folded {
			p.notes = append(p.notes, FoldedNote(d))
		}
		p.same = d.Raw() == p.after.Raw()
	}
	return p, b.mayReplace(t, p)
}

// FoldedNote tells why the line breaks of a text were not written as they were
// given, over a file that held before; see [text.Doc.Rewrite].
func FoldedNote(before text.Doc) string {
	if before.Shape().Mixed() {
		return "the file has both kinds of line breaks: lines that stay keep theirs, and new ones got " + before.Ending().String()
	}
	return "the file's line breaks are CRLF, so those of the new text were written as CRLF"
}

// mayReplace is the guard of texts that nobody has seen.
func (b *Box) mayReplace(t TargetFile, p plannedWrite) error {
	live := "not text"
	if p.before != nil {
		live = hashline.NameFor(hashline.Identify(*p.before), b.store.of(p.key)).String()
	}
	if t.FileHash != "" {
		tag, err := hashline.ParseTag(t.FileHash)
		if err != nil {
			return &Error{Code: hashline.CodeNoTag, Text: fmt.Sprintf("write %s: file_hash %q is not a tag of 4 to 8 hex digits: copy the tag behind the # of the header; nothing was written", t.Path, t.FileHash)}
		}
		if p.before != nil && b.store.of(p.key).matches(tag, hashline.Identify(*p.before)) {
			return nil
		}
		return &Error{Code: fsbackend.CodeStaleVersion, Text: fmt.Sprintf("write %s: the file changed since it was read: file_hash is %s, the file is %s now: read it again, then write; nothing was written", t.Path, tag, live)}
	}
	seen, was := b.Seen.Version(p.key)
	switch {
	case p.same, was && seen == p.version:
		return nil
	case was && seen != fsbackend.Version{}:
		return &Error{Code: fsbackend.CodeStaleVersion, Text: fmt.Sprintf("write %s: the file changed since this session last saw it, and is %s now: read it again, then write; nothing was written", t.Path, live)}
	case b.OverwriteUnread:
		return nil
	}
	return &Error{Code: fsbackend.CodeNotObserved, Text: fmt.Sprintf("write %s: the file exists and this session has not read it: read it first, so that nothing is lost; nothing was written", t.Path)}
}

func allLines(d text.Doc) hashline.Ranges {
	return hashline.Ranges{}.Add(1, d.Lines())
}
