package fs

import (
	"context"
	"strings"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/hashline"
	"dsh-acp/internal/text"
)

// A RollbackResult is a file that was put back to an earlier version.
type RollbackResult struct {
	Path     string `json:"path"` // as asked
	FileHash string `json:"file_hash"`
	Header   string `json:"header"`
	// ReplacedHash names what the file held before: given to Rollback it
	// takes this one back. "" if there was no file.
	ReplacedHash string  `json:"replaced_hash"`
	Warning      *string `json:"warning,omitempty"` // nil: none
	// Diff is unified, with 3 lines of context; nil if nothing differs or one
	// side is not text.
	Diff   *string `json:"diff,omitempty"`
	DryRun *bool   `json:"dry_run,omitempty"` // true, or nil

	Change Change `json:"-"`
}

// TagOf is the tag of a file's bytes, "" for what is not text: what
// fsbackend.JournalOptions.Tag wants.
func TagOf(data []byte) string {
	d, err := text.ParseOwned(data) // nobody writes to data while this runs
	if err != nil {
		return ""
	}
	return hashline.Name(d).String()
}

// Rollback puts a file back to the version that hash names, or, if it is
// empty, to the one before the present one, with its bytes and its mode. It
// fails, and writes nothing, as fsbackend's Journaled.Restore does, and with
// CodeNoHistory if nothing keeps versions here.
func (b *Box) Rollback(ctx context.Context, path, hash string) (RollbackResult, error) {
	return b.rollback(ctx, path, hash, false)
}

// CheckRollback is Rollback without the writing: a dry run, whose result says
// what would be.
func (b *Box) CheckRollback(ctx context.Context, path, hash string) (RollbackResult, error) {
	return b.rollback(ctx, path, hash, true)
}

func (b *Box) rollback(ctx context.Context, path, hash string, dryRun bool) (RollbackResult, error) {
	kept, ok := b.Files.(*fsbackend.Journaled)
	if !ok {
		return RollbackResult{}, &Error{Code: fsbackend.CodeNoHistory, Text: "rollback " + path + ": no earlier versions are kept here"}
	}
	abs, err := b.Abs(ctx, path)
	if err != nil {
		return RollbackResult{}, err
	}
	if err := kept.MayWrite(ctx, abs); err != nil {
		return RollbackResult{}, err
	}
	info, err := b.Files.Stat(ctx, abs)
	if err != nil {
		return RollbackResult{}, err
	}
	run := kept.Restore
	if dryRun {
		run = kept.PlanRestore
	}
	back, err := run(ctx, abs, b.which(info.Key, hash))
	if err != nil {
		return RollbackResult{}, err
	}
	r := RollbackResult{Path: path, FileHash: back.Version.Name()}
	if back.Warning != "" {
		r.Warning = &back.Warning
	}
	if back.Replaced != nil {
		r.ReplacedHash = back.Replaced.Name()
		if back.Replaced.Tag == back.Version.Tag {
			// One tag for two texts that differ in blanks: the digest tells.
			r.ReplacedHash = back.Replaced.Digest.String()[:16]
		}
		if d, err := text.Parse(back.ReplacedData); err == nil {
			r.Change.Before = &d
		}
	}
	r.Change.Created = back.Replaced == nil
	d, err := text.Parse(back.Data)
	if err == nil {
		r.Change.After = d
		tag := hashline.NameFor(hashline.Identify(d), b.store.of(info.Key))
		if !dryRun {
			tag = b.store.record(info.Key, d, nil)
		}
		r.FileHash = tag.String()
		r.Header = hashline.Header(b.Show(abs), tag)
		r.Diff = b.rollbackDiff(abs, r.Change)
	}
	if dryRun {
		yes := true
		r.DryRun = &yes
		return r, nil
	}
	b.Seen.Note(info.Key, back.Receipt.Version)
	return r, nil
}

// rollbackDiff is nil if what is replaced is not text, or is the same.
func (b *Box) rollbackDiff(abs string, c Change) *string {
	before := ""
	switch {
	case c.Before != nil:
		before = c.Before.LF()
	case !c.Created:
		return nil
	}
	if before == c.After.LF() {
		return nil // other line ends, or another mode
	}
	diff := unified(b.Show(abs), before, c.After.LF())
	return &diff
}

// which makes the name of a version in the journal of the tag that a caller
// has: a long tag, and a whole header, are known to the toolbox alone.
func (b *Box) which(key fsbackend.Key, hash string) string {
	hash = strings.TrimSpace(hash)
	if hash == "" {
		return ""
	}
	tag, err := hashline.ParseTag(hash)
	if err != nil {
		return hash // digits of a digest, or what the journal refuses
	}
	if len(tag.String()) == 4 {
		return tag.String()
	}
	for _, v := range b.store.of(key).Named(tag) {
		return fsbackend.VersionOf(fsbackend.BytesOf(v.Text)).String()
	}
	return hash
}
