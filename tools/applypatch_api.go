package tools

import (
	"context"
	"encoding/json"
	"path/filepath"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/patch"
)

// PatchOptions say for whom [ApplyPatch] works.
type PatchOptions struct {
	// Cwd is where relative paths start, absolute and clean. Required.
	Cwd string
	// Seen is told of the files that are written; nil keeps no account.
	Seen *fsbackend.Seen
	PatchConfig
}

// A PatchReport tells what a call did, or would do. See [patch.Report].
type PatchReport = patch.Report

// ApplyPatch carries out the arguments of one call of the tool apply_patch on
// files. If files is an fsbackend.Locker it holds the turn on all of them
// meanwhile, so the caller must not hold any. An error is a *[PatchError];
// unless its report has a recovery, nothing was written.
func ApplyPatch(ctx context.Context, files fsbackend.Backend, raw json.RawMessage, o PatchOptions) (PatchReport, error) {
	if files == nil || !filepath.IsAbs(o.Cwd) {
		return PatchReport{}, refusePatch(patch.Errors{patch.NewError(patch.CodeInvalidArguments,
			"options: there must be a store of files and an absolute working directory, got %q", o.Cwd)})
	}
	if o.Seen == nil {
		o.Seen = &fsbackend.Seen{}
	}
	e := &env{Config: Config{Cwd: filepath.Clean(o.Cwd), Files: files, Seen: o.Seen, Patch: o.PatchConfig}}
	req, err := e.decodePatch(ctx, raw)
	if err != nil {
		return PatchReport{}, err
	}
	done, err := e.carryOut(ctx, req, nil)
	if err != nil {
		return PatchReport{}, err
	}
	return done.report, nil
}
