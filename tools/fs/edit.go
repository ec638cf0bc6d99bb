package fs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/hashline"
	"dsh-acp/internal/text"
)

// An EditResult is a file that was edited, or, from a dry run, would be.
type EditResult struct {
	Path     string `json:"path"` // as asked
	FileHash string `json:"file_hash"`
	Header   string `json:"header"` // for the next edit; reading again is not needed
	// FirstChangedLine is the first line of the new text that differs; nil if
	// none does.
	FirstChangedLine *int            `json:"first_changed_line,omitempty"`
	Moves            []hashline.Move `json:"moves,omitempty"` // where later lines stand now
	Warnings         []string        `json:"warnings,omitempty"`
	Diff             *string         `json:"diff,omitempty"`    // unified, 3 lines of context; nil: nothing changed
	DryRun           *bool           `json:"dry_run,omitempty"` // true, or nil
	// Summary and Notes are about all files of a rewrite by patterns, and stand
	// in the last result.
	Summary string   `json:"summary,omitempty"`
	Notes   []string `json:"notes,omitempty"`

	Change Change `json:"-"`
}

// An EditBatchError says how far a call with several targets came.
type EditBatchError struct {
	*hashline.BatchError
	Results []EditResult // of the targets that were written
}

// Unwrap is the batch.
func (e *EditBatchError) Unwrap() error { return e.BatchError }

// Details is the error in structured form.
func (e *EditBatchError) Details() json.RawMessage {
	d := struct {
		FailedPath string             `json:"failed_path"`
		Code       string             `json:"code,omitempty"`
		Applied    []hashline.Applied `json:"applied"`
		Skipped    []string           `json:"skipped"`
	}{e.FailedPath, CodeOf(e.Cause), append([]hashline.Applied{}, e.Applied...), append([]string{}, e.Skipped...)}
	return mustJSON(d)
}

func mustJSON(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic("fs: " + err.Error()) // numbers and valid text
	}
	return raw
}

// Edit carries out a call whose arguments are JSON: see [Describe] for their
// shapes. Targets are taken in order. If one fails those before it stay
// written and those behind it are not tried; with several targets the error
// is then a *[EditBatchError], and with one that target's own.
func (b *Box) Edit(ctx context.Context, raw json.RawMessage) ([]EditResult, error) {
	call, err := hashline.Decode(raw, b.Engine)
	if err != nil {
		return nil, err
	}
	return b.EditCall(ctx, call)
}

// A change is one target of a call, whatever its form.
type change struct {
	path, tag string
	what      hashline.Change
}

// EditCall is Edit with decoded arguments.
func (b *Box) EditCall(ctx context.Context, call hashline.Call) ([]EditResult, error) {
	switch c := call.(type) {
	case hashline.ReplaceCall:
		return b.editAll(ctx, changesOf(c), c.DryRun)
	case hashline.ContentCall:
		return b.editAll(ctx, changesOf(c), c.DryRun)
	case hashline.ASTCall:
		r, err := b.PlanRewrite(ctx, c)
		if err != nil {
			return nil, err
		}
		if c.DryRun {
			return r.Preview(), nil
		}
		return r.Write(ctx)
	default:
		panic(fmt.Sprintf("fs: no way to edit by %T", c))
	}
}

func changesOf(call hashline.Call) []change {
	var out []change
	switch c := call.(type) {
	case hashline.ReplaceCall:
		for _, t := range c.Targets {
			out = append(out, change{t.Path, t.Tag, t.Script})
		}
	case hashline.ContentCall:
		for _, e := range c.Edits {
			out = append(out, change{e.Path, e.Tag, e.Substitution})
		}
	}
	return out
}

// EditPaths are the files that a call names, in order, as they are written in
// it, and whether it only asks what would be done.
func EditPaths(call hashline.Call) (paths []string, dryRun bool) {
	switch c := call.(type) {
	case hashline.ReplaceCall:
		dryRun = c.DryRun
	case hashline.ContentCall:
		dryRun = c.DryRun
	case hashline.ASTCall:
		return c.Paths, c.DryRun
	}
	for _, ch := range changesOf(call) {
		paths = append(paths, ch.path)
	}
	return paths, dryRun
}

func (b *Box) editAll(ctx context.Context, list []change, dryRun bool) ([]EditResult, error) {
	var done []EditResult
	ahead := map[fsbackend.Key]versions{} // what a dry run would have written, newest first
	for i, c := range list {
		var r EditResult
		var err error
		if dryRun {
			r, err = b.preview(ctx, c, ahead)
		} else {
			r, err = b.editOne(ctx, c)
		}
		if err != nil {
			if len(list) == 1 {
				return nil, err
			}
			return done, batchError(list, i, done, err, dryRun)
		}
		done = append(done, r)
	}
	return done, nil
}

func batchError(list []change, at int, done []EditResult, cause error, dryRun bool) error {
	e := &EditBatchError{BatchError: &hashline.BatchError{FailedPath: list[at].path, Cause: cause}}
	for _, c := range list[at+1:] {
		e.Skipped = append(e.Skipped, c.path)
	}
	if dryRun {
		return e // nothing was written
	}
	for _, r := range done {
		e.Applied = append(e.Applied, hashline.Applied{Path: r.Path, Tag: r.FileHash, Header: r.Header})
	}
	e.Results = done
	return e
}

// editOne edits a file on disk.
func (b *Box) editOne(ctx context.Context, c change) (EditResult, error) {
	abs, err := b.Abs(ctx, c.path)
	if err != nil {
		return EditResult{}, err
	}
	unlock, err := fsbackend.Lock(ctx, b.Files, abs)
	if err != nil {
		return EditResult{}, err
	}
	defer unlock()
	f, d, err := b.openText(ctx, c, abs)
	if err != nil {
		return EditResult{}, err
	}
	res, err := b.apply(abs, c, f.Key, d, nil)
	if err != nil {
		return EditResult{}, err
	}
	after, version := res.Doc, f.Version
	if res.Changed {
		b.store.record(f.Key, d, nil)
		rec, err := b.Files.Write(ctx, fsbackend.Write{
			Path: abs, Data: fsbackend.BytesOf(after), Pre: fsbackend.Unchanged{Version: f.Version}, NoParents: true,
		})
		if err != nil {
			return EditResult{}, err
		}
		res.Warnings, version = append(res.Warnings, rec.Notes...), rec.Version
		if rec.After != nil {
			// An editor made something else of it: nobody was shown these lines.
			after = rec.Text(after)
			res.Doc, res.Seen, res.Moves, res.FirstChangedLine = after, nil, nil, firstChanged(d, after)
		}
	}
	b.Seen.Note(f.Key, version)
	tag := b.store.record(f.Key, after, res.Seen)
	return b.editResult(c, abs, d, res, tag), nil
}

// preview works out an edit and keeps the new text for the targets behind it,
// which then go as they would if it had been written.
func (b *Box) preview(ctx context.Context, c change, ahead map[fsbackend.Key]versions) (EditResult, error) {
	abs, err := b.Abs(ctx, c.path)
	if err != nil {
		return EditResult{}, err
	}
	f, d, err := b.openText(ctx, c, abs)
	if err != nil {
		return EditResult{}, err
	}
	later := ahead[f.Key]
	if len(later) > 0 {
		// The tagged text of a second target may be the file as it is.
		b.store.record(f.Key, d, nil)
		d = later[0].Text
	}
	res, err := b.apply(abs, c, f.Key, d, later)
	if err != nil {
		return EditResult{}, err
	}
	ahead[f.Key] = append(versions{{ID: res.ID, Text: res.Doc, Shown: res.Tag, Seen: res.Seen}}, later...)
	r := b.editResult(c, abs, d, res, res.Tag)
	yes := true
	r.DryRun = &yes
	r.Warnings = append(r.Warnings, "dry run: nothing was written, and the tag shown cannot be used")
	return r, nil
}

// openText reads the file of a target.
func (b *Box) openText(ctx context.Context, c change, abs string) (fsbackend.File, text.Doc, error) {
	f, err := b.open(ctx, abs)
	if err != nil {
		return f, text.Doc{}, err
	}
	if !f.Exists {
		return f, text.Doc{}, &Error{Code: fsbackend.CodeNotFound, Text: fmt.Sprintf("edit rejected, nothing written: %s: no such file: use the write tool to create it", c.path)}
	}
	d, err := f.Doc()
	return f, d, err
}

// apply asks the engine, and notes what its refusal shows of the file. ahead
// are texts of the file that a dry run would have written before.
func (b *Box) apply(abs string, c change, key fsbackend.Key, d text.Doc, ahead versions) (hashline.Result, error) {
	req := hashline.Request{
		Path: b.Show(abs), Live: d, Versions: slices.Concat(ahead, b.store.of(key)), Tag: c.tag, Change: c.what, Seen: b.SeenLines, NoRepair: b.NoRepair,
	}
	if g := b.grammar(abs); g != nil {
		req.Blocks, req.Syntax = g, g
	}
	res, err := hashline.Apply(req)
	var refused *hashline.Error
	if errors.As(err, &refused) {
		if refused.Details.LiveTag != "" && len(ahead) == 0 {
			b.store.record(key, d, append(hashline.Ranges{}, refused.Details.ShownLive...))
		}
		if len(refused.Details.ShownTagged) > 0 {
			if tag, err := hashline.ParseTag(c.tag); err == nil {
				b.store.note(key, tag, refused.Details.ShownTagged)
			}
		}
	}
	return res, err
}

func (b *Box) editResult(c change, abs string, before text.Doc, res hashline.Result, tag hashline.Tag) EditResult {
	r := EditResult{
		Path: c.path, FileHash: tag.String(), Header: hashline.Header(b.Show(abs), tag),
		Moves: res.Moves, Warnings: res.Warnings,
		Change: Change{Before: &before, After: res.Doc, Same: !res.Changed},
	}
	if res.FirstChangedLine > 0 {
		r.FirstChangedLine = &res.FirstChangedLine
	}
	if res.Changed {
		diff := unified(b.Show(abs), before.LF(), res.Doc.LF())
		r.Diff = &diff
	}
	return r
}
