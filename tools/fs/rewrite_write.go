package fs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/hashline"
	"dsh-acp/internal/text"
)

// A RewriteError is a rewrite that failed while it was written. What had been
// written was put back as far as that could be done.
type RewriteError struct {
	Path     string // the file that could not be written; "" if it was none
	Cause    error
	Recovery fsbackend.Recovery // with paths as results name them
}

// Error is the cause, and what became of the other files.
func (e *RewriteError) Error() string { return e.Cause.Error() }

// Unwrap is the cause.
func (e *RewriteError) Unwrap() error { return e.Cause }

// Details is the error in structured form. "rewritten" lists the files that
// keep the new text.
func (e *RewriteError) Details() json.RawMessage {
	rewritten := []string{}
	for _, r := range e.Recovery.Remaining {
		rewritten = append(rewritten, r.Path)
	}
	return mustJSON(struct {
		FailedPath string   `json:"failed_path,omitempty"`
		Code       string   `json:"code,omitempty"`
		Rewritten  []string `json:"rewritten"`
		fsbackend.Recovery
	}{e.Path, CodeOf(e.Cause), rewritten, e.Recovery})
}

// Preview tells what [Rewriting.Write] would do.
func (r *Rewriting) Preview() []EditResult {
	out := make([]EditResult, len(r.files))
	yes := true
	for i, f := range r.files {
		tag := hashline.NameFor(hashline.Identify(f.after.Doc), r.box.store.of(f.file.Key))
		out[i] = r.result(f, tag, f.after.Warnings)
		out[i].DryRun = &yes
	}
	return r.sumUp(out, "dry run: nothing was written, and the tags shown cannot be used")
}

// Write writes all files, or none: when one fails, those before it are put
// back, and the error is a *[RewriteError]. A file that changed since the plan
// is worked out again.
func (r *Rewriting) Write(ctx context.Context) ([]EditResult, error) {
	b := r.box
	if paths := r.Paths(); len(paths) > 0 {
		unlock, err := fsbackend.Lock(ctx, b.Files, paths...)
		if err != nil {
			return nil, err
		}
		defer unlock()
	}
	if err := r.refresh(ctx); err != nil {
		return nil, err
	}
	var c fsbackend.Commit
	var steps []*rewritten
	for _, f := range r.files {
		if !f.after.Changed {
			continue
		}
		c.Steps = append(c.Steps, fsbackend.Step{
			Write: fsbackend.Write{
				Path: f.abs, Data: fsbackend.BytesOf(f.after.Doc), Pre: fsbackend.Unchanged{Version: f.file.Version}, NoParents: true, NoBefore: true,
			},
			Before: f.file.Data,
		})
		steps = append(steps, f)
		b.store.record(f.file.Key, f.before, nil)
	}
	done, err := c.Run(ctx, b.Files)
	if err != nil {
		return nil, r.broken(steps, err)
	}
	for i, receipt := range done.Receipts {
		f := steps[i]
		if seen, ok := b.Seen.Version(f.file.Key); ok && seen != f.file.Version && seen != (fsbackend.Version{}) {
			f.after.Warnings = append(f.after.Warnings, "the file had changed since this session saw it last; other parts may differ from what you know")
		}
		f.after.Warnings = append(f.after.Warnings, receipt.Notes...)
		f.after.Doc = receipt.Text(f.after.Doc)
		b.Seen.Note(receipt.Key, receipt.Version)
	}
	out := make([]EditResult, len(r.files))
	for i, f := range r.files {
		out[i] = r.result(f, b.store.record(f.file.Key, f.after.Doc, nil), f.after.Warnings)
	}
	return r.sumUp(out, ""), nil
}

// refresh works out again what was changed since the plan. It fails if nothing
// is left to be told or written.
func (r *Rewriting) refresh(ctx context.Context) error {
	old := r.files
	r.files, r.matches, r.nested = nil, 0, 0
	for i, f := range old {
		if !f.after.Changed {
			r.files = append(r.files, f)
			r.matches, r.nested = r.matches+f.after.Matches, r.nested+f.after.Nested
			continue
		}
		now, err := r.box.open(ctx, f.abs)
		if err != nil {
			return err
		}
		if !now.Exists {
			return r.gone(f.abs)
		}
		if now.Version != f.file.Version {
			if f, err = r.one(ctx, f.candidate); err != nil {
				return rewriteError(err)
			}
			if f == nil {
				return r.gone(old[i].abs)
			}
			if sum(f.after.Found) == 0 {
				r.notes = append(r.notes, r.box.Show(f.abs)+" changed since the rewrite was worked out, and nothing in it matches any more")
			}
		}
		r.take(f)
	}
	if len(r.files) == 0 {
		return &Error{Code: hashline.CodeNoMatch, Text: refused + strings.Join(r.notes, "; ")}
	}
	return nil
}

func (r *Rewriting) gone(abs string) error {
	return &Error{Code: fsbackend.CodeNotFound, Text: fmt.Sprintf("%s%s: the file is gone since the rewrite was worked out; repeat it", refused, r.box.Show(abs))}
}

// broken tells of a commit that failed.
func (r *Rewriting) broken(steps []*rewritten, err error) error {
	var c *fsbackend.CommitError
	if !errors.As(err, &c) {
		return err
	}
	e := &RewriteError{Cause: err, Recovery: c.Recovery}
	if c.Step >= 0 {
		e.Path = r.box.Show(steps[c.Step].abs)
	}
	show := func(list []string) []string {
		out := slices.Clone(list)
		for i := range out {
			out[i] = r.box.Show(out[i])
		}
		return out
	}
	e.Recovery.Restored, e.Recovery.Uncertain = show(c.Recovery.Restored), show(c.Recovery.Uncertain)
	e.Recovery.Remaining = slices.Clone(c.Recovery.Remaining)
	for i := range e.Recovery.Remaining {
		e.Recovery.Remaining[i].Path = r.box.Show(e.Recovery.Remaining[i].Path)
	}
	return e
}

func (r *Rewriting) result(f *rewritten, tag hashline.Tag, warnings []string) EditResult {
	show := r.box.Show(f.abs)
	out := EditResult{
		Path: show, FileHash: tag.String(), Header: hashline.Header(show, tag), Warnings: slices.Clone(warnings),
		Change: Change{Before: &f.before, After: f.after.Doc, Same: !f.after.Changed},
	}
	if !f.after.Changed {
		return out
	}
	first := firstChanged(f.before, f.after.Doc)
	diff := unified(show, f.before.LF(), f.after.Doc.LF())
	out.FirstChangedLine, out.Diff = &first, &diff
	return out
}

// firstChanged is the first line that differs; 1 if only line ends do.
func firstChanged(before, after text.Doc) int {
	if d := text.CompareLines(before.LF(), after.LF()); len(d.Changes) > 0 {
		return d.Changes[0].Old
	}
	return 1
}

// sumUp puts what holds for all files together into the last result.
func (r *Rewriting) sumUp(out []EditResult, note string) []EditResult {
	warnings := 0
	for _, f := range out {
		warnings += len(f.Warnings)
	}
	if len(out) == 0 {
		return out
	}
	last := &out[len(out)-1]
	last.Summary = fmt.Sprintf("%s in %s, %d nested left, %s", matches(r.matches), count(len(r.Paths()), "file"), r.nested, count(warnings, "warning"))
	last.Notes = slices.Clone(r.notes)
	if note != "" {
		last.Notes = append(last.Notes, note)
	}
	return out
}
