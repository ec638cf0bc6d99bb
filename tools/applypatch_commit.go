package tools

import (
	"context"
	"errors"
	"strings"
	"unsafe"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/msg"
	"dsh-acp/internal/patch"
	"dsh-acp/internal/text"
	"dsh-acp/presenter"
)

// An appliedPatch is a call that was carried out, or previewed.
type appliedPatch struct {
	report patch.Report
	diffs  []presenter.FileDiff
}

// patchMeta is what a call keeps beside its text: the hunks of all files, and
// the result in structured form.
type patchMeta struct {
	presenter.DiffMeta
	Report patch.Report `json:"report"`
}

func (a *appliedPatch) result() msg.ToolResult {
	meta, err := msg.Marshal(patchMeta{presenter.NewDiffMeta(a.diffs), a.report})
	if err != nil {
		panic("tools: " + err.Error()) // numbers and valid text
	}
	return msg.ToolResult{
		Content: msg.Blocks{msg.Text{Text: strings.TrimSuffix(a.report.Text(), "\n")}},
		Meta:    meta,
	}
}

// outcome tells of the plan as done. Versions are those of the new texts for a
// preview, else those that the files have before they are written.
func (p *plannedPatch) outcome() *appliedPatch {
	a := &appliedPatch{report: p.plan.Report()}
	for i, c := range p.plan.Files {
		if a.report.DryRun {
			a.report.Files[i].Version = fsbackend.VersionOf(rawBytes(c.After)).String()
		} else {
			a.report.Files[i].Version = p.target(c).version.String() // unless it is written
		}
		diffs := presenter.Hunks(c.File.Path, c.File.Doc.LF(), c.After.LF())
		if c.Created && len(diffs) == 0 {
			// A file without a line has no hunk, and yet there is a new file.
			diffs = []presenter.FileDiff{{Path: c.File.Path, NewStart: 1}}
		}
		a.diffs = append(a.diffs, diffs...)
	}
	return a
}

// rawBytes are the bytes of a text without a copy. They must only be read.
func rawBytes(d text.Doc) []byte {
	s := d.Raw()
	return unsafe.Slice(unsafe.StringData(s), len(s))
}

// target is the file that a change of the plan is about.
func (p *plannedPatch) target(c patch.FileChange) *patchTarget {
	for _, t := range p.view.order {
		if t.file == c.File {
			return t
		}
	}
	panic("tools: a plan for a file that nobody named")
}

// commitPatch writes the plan. The caller holds the turn on all files, and
// has just read them.
func (e *env) commitPatch(ctx context.Context, p *plannedPatch) (*appliedPatch, error) {
	c := fsbackend.Commit{RemoveCreated: e.Patch.RemoveCreated}
	for _, dir := range p.plan.Dirs {
		c.Dirs = append(c.Dirs, p.view.dirs[dir])
	}
	var written []int // for each step, the index in the plan
	for i, f := range p.plan.Files {
		if !f.Changed() {
			continue
		}
		t := p.target(f)
		step := fsbackend.Step{
			Write:  fsbackend.Write{Path: t.abs, Data: rawBytes(f.After), Pre: fsbackend.Unchanged{Version: t.version}, NoParents: true},
			Before: t.data,
		}
		if f.Created {
			step.Write.Pre, step.Before = fsbackend.Absent{}, nil
		}
		c.Steps = append(c.Steps, step)
		written = append(written, i)
	}
	done, err := c.Run(ctx, e.Files)
	if err != nil {
		return nil, e.brokenPatch(p, c, written, err)
	}
	for step, receipt := range done.Receipts {
		f := &p.plan.Files[written[step]]
		f.After = receipt.Text(f.After)
	}
	a := p.outcome()
	a.report.CreatedDirs = []string{}
	for _, dir := range done.Dirs {
		a.report.CreatedDirs = append(a.report.CreatedDirs, p.dirName(e, dir))
	}
	for step, receipt := range done.Receipts {
		f, t := &a.report.Files[written[step]], p.target(p.plan.Files[written[step]])
		if seen, ok := e.Seen.Version(t.key); ok && t.info.Exists && seen != t.version && seen != (fsbackend.Version{}) {
			f.Notes = append(f.Notes, "the file had changed since this session last saw it; other parts may differ from what you know")
		}
		f.Notes = append(f.Notes, receipt.Notes...)
		f.Version = receipt.Version.String()
		e.Seen.Note(receipt.Key, receipt.Version)
	}
	return a, nil
}

// dirName is how results name a folder that was made.
func (p *plannedPatch) dirName(e *env, real string) string {
	if name, ok := p.view.names[real]; ok {
		return name
	}
	return e.shortPath(real, real) + "/"
}

// brokenPatch tells of a commit that failed, and of what it left.
func (e *env) brokenPatch(p *plannedPatch, c fsbackend.Commit, written []int, err error) error {
	var broken *fsbackend.CommitError
	if !errors.As(err, &broken) {
		panic("tools: a commit failed without a recovery: " + err.Error())
	}
	files := map[string]patch.FileChange{}
	for step, s := range c.Steps {
		files[s.Write.Path] = p.plan.Files[written[step]]
	}
	var rec patch.Recovery
	for _, path := range broken.Recovery.Restored {
		rec.Restored = append(rec.Restored, files[path].File.Path)
	}
	for _, r := range broken.Recovery.Remaining {
		f := files[r.Path]
		rec.Remaining = append(rec.Remaining, patch.Remaining{Path: f.File.Path, Reason: r.Reason})
		if r.Reason == fsbackend.RemainsCreated {
			e.Seen.Note(p.target(f).key, fsbackend.VersionOf(rawBytes(f.After))) // its text is known
		}
	}
	for _, path := range broken.Recovery.Uncertain {
		rec.Uncertain = append(rec.Uncertain, files[path].File.Path)
	}
	for _, dir := range broken.Recovery.CreatedDirs {
		rec.CreatedDirs = append(rec.CreatedDirs, p.dirName(e, dir))
	}
	what := writeFault(broken)
	if broken.Step >= 0 {
		f := p.plan.Files[written[broken.Step]]
		what.Operation, what.Path = f.Operations[0], f.File.Path
	}
	return &PatchError{Report: patch.Errors{what}.Report(&rec), Err: broken.Err}
}

// writeFault is the error of the step that failed.
func writeFault(broken *fsbackend.CommitError) *patch.Error {
	f := faultOf(broken.Err)
	switch f.Code {
	case patch.CodeStaleVersion:
		f.Why = "the file changed between being read and being written; read it again and repeat what is not done"
	case patch.CodeAborted:
		f.Why = "cancelled before this file was written"
	case patch.CodePathDenied, fsbackend.CodeGuardAmbiguous, fsbackend.CodeGenerated, fsbackend.CodeUnsaved, fsbackend.CodeEditorOnly:
		// the reason is the whole answer
	default:
		f.Code = patch.CodeWriteFailed
		if broken.Step < 0 {
			f.Code = patch.CodeMkdirFailed
		}
	}
	return f
}
