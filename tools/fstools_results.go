package tools

import (
	"context"
	"errors"
	"strings"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/hashline"
	"dsh-acp/internal/msg"
	"dsh-acp/presenter"
	"dsh-acp/tools/fs"
)

func fsResult(ctx context.Context, name string, run func(context.Context) (msg.ToolResult, error)) msg.ToolResult {
	r, err := run(ctx)
	if err != nil {
		return failed(name, err)
	}
	return r
}

// fsFailed is the result of an error of the toolbox, if it is one.
func fsFailed(err error) (msg.ToolResult, bool) {
	var batch *fs.EditBatchError
	var engine *hashline.Error
	var own *fs.Error
	var rewrite *fs.RewriteError
	switch {
	case errors.As(err, &rewrite):
		r := msg.Failed(fs.CodeOf(err), rewrite.Error())
		r.Error.Details = rewrite.Details()
		return r, true
	case errors.As(err, &batch):
		r := msg.Failed(fs.CodeOf(err), batch.Error())
		r.Error.Details = batch.Details()
		return r, true
	case errors.As(err, &engine):
		r := msg.Failed(string(engine.Code), engine.Error())
		if raw, err := msg.Marshal(engine.Details); err == nil && string(raw) != "{}" {
			r.Error.Details = raw
		}
		return r, true
	case errors.As(err, &own):
		code := string(own.Code)
		if own.Code == hashline.CodeArgs {
			code = msg.CodeInvalidArgs
		}
		return msg.Failed(code, own.Text), true
	}
	return msg.ToolResult{}, false
}

func (e *env) fsRead(ctx context.Context, t fs.Target) (msg.ToolResult, error) {
	list, err := e.box.ReadAll(ctx, t)
	if fsbackend.CodeOf(err) == fsbackend.CodeGuardAmbiguous {
		// A fault of the settings and not of the call: the model goes on.
		return msg.ToolResult{Content: msg.Blocks{msg.Text{Text: "[" + err.Error() + "]"}}}, nil
	}
	if err != nil {
		return msg.ToolResult{}, err
	}
	var parts []string
	for _, r := range list {
		if r.Content != "" {
			parts = append(parts, r.Content)
		}
		if r.Warnings != nil {
			parts = append(parts, "[warning: "+*r.Warnings+"]")
		}
	}
	out, r := strings.Join(parts, "\n"), list[0]
	res := msg.ToolResult{Content: msg.Blocks{msg.Text{Text: out}}}
	if r.Shown != nil && len(list) == 1 {
		res.Meta, err = msg.Marshal(struct {
			Read readMeta `json:"read"`
		}{readMeta{Offset: r.First, Lines: len(r.Shown), Total: r.Total}})
	}
	return res, err
}

func (e *env) fsWrite(ctx context.Context, t fs.TargetFile) (msg.ToolResult, error) {
	r, err := e.box.WriteOne(ctx, t)
	if err != nil {
		return msg.ToolResult{}, err
	}
	verb := "replaced "
	switch {
	case r.Change.Created:
		verb = "created "
	case r.Change.Same:
		verb = "already holds exactly this text, and was not changed: "
	}
	say := r.Header + "\n" + verb + t.Path + " (" + plural(r.Change.After.Lines(), "1 line", "%d lines") + ")"
	if r.Warnings != nil {
		say += "\n[" + *r.Warnings + "]"
	}
	meta, err := msg.Marshal(writeMeta{DiffMeta: presenter.NewDiffMeta(changeHunks(t.Path, r.Change)), Unchanged: r.Change.Same})
	return msg.ToolResult{Content: msg.Blocks{msg.Text{Text: say}}, Meta: meta}, err
}

// changeHunks are the hunks of a change; nil where there is no text to compare
// with.
func changeHunks(path string, c fs.Change) []presenter.FileDiff {
	if c.Before == nil || c.Same {
		return nil
	}
	return presenter.Hunks(path, c.Before.LF(), c.After.LF())
}

// hidesOld reports whether a change replaces something that hunks do not show.
func hidesOld(c fs.Change) bool { return c.Before == nil && !c.Created && !c.Same }

// maxDiffText bounds the diffs that a model is shown of one call. Each file has
// its header all the same.
const maxDiffText = 50 << 10

func fsEdited(done []fs.EditResult) msg.ToolResult {
	var say []string
	size := 0
	for _, r := range done {
		say = append(say, r.Header)
		for _, m := range r.Moves {
			say = append(say, "["+m.String()+"]")
		}
		for _, w := range r.Warnings {
			say = append(say, "["+w+"]")
		}
		if r.Diff != nil {
			if size += len(*r.Diff); size <= maxDiffText || len(done) == 1 {
				say = append(say, strings.TrimSuffix(*r.Diff, "\n"))
			} else {
				say = append(say, "[changed; the diff is left out, since there are many]")
			}
		}
		for _, n := range r.Notes {
			say = append(say, "["+n+"]")
		}
		if r.Summary != "" {
			say = append(say, r.Summary)
		}
	}
	return msg.ToolResult{
		Content: msg.Blocks{msg.Text{Text: strings.Join(say, "\n")}},
		Meta:    presenter.NewDiffMeta(editHunks(done)).JSON(),
	}
}

// editHunks are the hunks of all files, in order.
func editHunks(done []fs.EditResult) []presenter.FileDiff {
	var out []presenter.FileDiff
	for _, r := range done {
		out = append(out, changeHunks(r.Path, r.Change)...)
	}
	return out
}

// rollbackHunks are those of a file that is put back, or made again; nil if
// the version that is put back is no text.
func rollbackHunks(r fs.RollbackResult) []presenter.FileDiff {
	switch {
	case r.Header == "":
		return nil
	case r.Change.Created:
		return presenter.Hunks(r.Path, "", r.Change.After.LF())
	}
	return changeHunks(r.Path, r.Change)
}

// rollbackMeta is what a rollback keeps beside its text.
type rollbackMeta struct {
	presenter.DiffMeta
	FileHash     string `json:"fileHash"`
	ReplacedHash string `json:"replacedHash"`
}

func (e *env) fsRollback(ctx context.Context, path, hash string) (msg.ToolResult, error) {
	r, err := e.box.Rollback(ctx, path, hash)
	if err != nil {
		return msg.ToolResult{}, err
	}
	return fsRolledBack(r)
}

// fsRolledBack tells of a rollback, or of what one would do.
func fsRolledBack(r fs.RollbackResult) (msg.ToolResult, error) {
	path, say := r.Path, r.Header
	switch {
	case say != "":
	case r.DryRun != nil:
		say = path + " would be at version " + r.FileHash + ", which is not text"
	default:
		say = path + " is at version " + r.FileHash + ", which is not text"
	}
	switch {
	case r.DryRun != nil && r.ReplacedHash != "":
		say += "\n[dry run: nothing was written; the file is at " + r.ReplacedHash + "]"
	case r.DryRun != nil:
		say += "\n[dry run: nothing was written; there is no such file now]"
	case r.ReplacedHash != "":
		say += "\nput back; it was at " + r.ReplacedHash + " before: that hash takes this rollback back"
	default:
		say += "\nmade again; there was no such file"
	}
	if r.DryRun != nil && r.Diff != nil {
		say += "\n" + strings.TrimSuffix(*r.Diff, "\n")
	}
	if r.Warning != nil {
		say += "\n[" + *r.Warning + "]"
	}
	meta, err := msg.Marshal(rollbackMeta{presenter.NewDiffMeta(rollbackHunks(r)), r.FileHash, r.ReplacedHash})
	return msg.ToolResult{Content: msg.Blocks{msg.Text{Text: say}}, Meta: meta}, err
}
