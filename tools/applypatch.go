package tools

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"slices"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/msg"
	"dsh-acp/internal/patch"
	"dsh-acp/internal/text"
	"dsh-acp/presenter"
)

// applyPatch is the name under which the tool is offered, and to which others
// point.
const applyPatch = "apply_patch"

// A PatchConfig holds the choices of apply_patch. The zero value is the
// default.
type PatchConfig struct {
	Limits patch.Limits
	// AdjacentJSON lets JSON operations on neighbours go into one call, where
	// the bytes that they change are apart.
	AdjacentJSON bool
	// RemoveCreated removes the files that a call created when a later write
	// of it fails, if nobody has changed them since. Otherwise they stay.
	RemoveCreated bool
}

// applyPatchTool changes many places in many files in one call. It reads all,
// plans all, and writes only if everything fits.
type applyPatchTool struct{}

//go:embed applypatch.md
var applyPatchText string

// The schema is flat: not every service takes alternatives in one, and the
// decoder says better than a schema what an operation lacks.
const applyPatchSchema = `{
  "type": "object",
  "properties": {
    "operations": {
      "type": "array",
      "minItems": 1,
      "description": "the changes; all see the files as they are before the call",
      "items": {
        "type": "object",
        "properties": {
          "op": {"type": "string", "enum": ["replace_text", "replace_range", "set_json", "insert_json", "append_text", "create_file"]},
          "path": {"type": "string", "description": "the file, absolute or relative to the working directory"},
          "search": {"type": "string", "description": "replace_text: the text to replace; replace_range: a text that occurs once, from whose line offset counts"},
          "replace": {"type": "string", "description": "replace_text: the new text, written as given"},
          "expect": {"type": "integer", "minimum": 1, "description": "replace_text: how often search occurs; 1 if left out"},
          "fuzzy": {"type": "string", "enum": ["trim", "indent"], "description": "replace_text: the tolerance if search does not occur exactly"},
          "startLine": {"type": "integer", "minimum": 1, "description": "replace_range: the first line"},
          "endLine": {"type": "integer", "minimum": 1, "description": "replace_range: the last line, in the range"},
          "offset": {"type": "integer", "description": "replace_range with search: lines from the match to the first line of the range; 0 if left out"},
          "lines": {"type": "integer", "minimum": 1, "description": "replace_range with search: lines in the range; 1 if left out"},
          "oldText": {"type": "string", "description": "replace_range: what the lines hold now"},
          "text": {"type": "string", "description": "replace_range, append_text, create_file: the new text"},
          "pointer": {"type": "string", "description": "set_json, insert_json: a JSON pointer such as /server/port"},
          "value": {"description": "set_json, insert_json: any JSON value"},
          "index": {"type": "integer", "minimum": 0, "description": "insert_json: the element before which to insert"},
          "parents": {"type": "boolean", "description": "create_file: make missing directories"}
        },
        "required": ["op", "path"],
        "additionalProperties": false
      }
    },
    "dryRun": {"type": "boolean", "default": false, "description": "only tell what would be done"}
  },
  "required": ["operations"],
  "additionalProperties": false
}`

func (applyPatchTool) spec(name string) msg.ToolSpec {
	return msg.ToolSpec{Name: name, Description: applyPatchText, InputSchema: json.RawMessage(applyPatchSchema)}
}

func (applyPatchTool) cards() presenter.Tool { return applyPatchCards{} }

func (applyPatchTool) planRaw(ctx context.Context, e *env, _, raw string) (*Plan, error) {
	req, err := e.decodePatch(ctx, json.RawMessage(raw))
	if err != nil {
		return nil, err
	}
	view, err := e.observe(ctx, req.Operations)
	if err != nil {
		return nil, err
	}
	first, err := e.makePatch(req, view)
	if err != nil {
		return nil, err
	}
	need := Need{Access: Change}
	if req.DryRun {
		need.Access = Look
	}
	for _, t := range view.order {
		need.Paths = append(need.Paths, t.abs)
		need.Outside = need.Outside || e.outside(t.abs)
	}
	return &Plan{
		Need: need,
		run: func(ctx context.Context) msg.ToolResult {
			done, err := e.carryOut(ctx, req, first)
			if err != nil {
				return failed(applyPatch, err)
			}
			return done.result()
		},
		preview: func() []presenter.FileDiff { return first.outcome().diffs },
	}, nil
}

// A plannedPatch is a plan with what it was made from.
type plannedPatch struct {
	view *patchView
	plan *patch.Plan
}

// decodePatch reads the arguments of a call. Its errors are *[PatchError], as
// are those of all that follows.
func (e *env) decodePatch(ctx context.Context, raw json.RawMessage) (patch.Request, error) {
	req, errs := patch.Decode(raw, e.Patch.Limits)
	if errs != nil || req.Undecoded() {
		if foreign, ok := patch.Foreign(raw); ok {
			return req, e.foreignPatch(ctx, foreign)
		}
	}
	if errs != nil {
		return req, refusePatch(errs)
	}
	return req, nil
}

func (e *env) makePatch(req patch.Request, view *patchView) (*plannedPatch, error) {
	plan, errs := patch.Make(req, view.files, patch.Options{Limits: e.Patch.Limits, AdjacentJSON: e.Patch.AdjacentJSON})
	if errs != nil {
		return nil, refusePatch(errs)
	}
	return &plannedPatch{view, plan}, nil
}

// foreignPatch answers a call with the patch text of another tool: the same
// change, written so that the next call is right.
func (e *env) foreignPatch(ctx context.Context, s string) error {
	c := patch.Convert(s, func(path string) (doc text.Doc, ok bool) {
		abs, err := e.resolve(ctx, applyPatch, "path", path)
		if err != nil {
			return doc, false
		}
		file, err := fsbackend.ReadForChange(ctx, e.Files, abs)
		if err != nil {
			return doc, false
		}
		doc, err = file.Doc()
		return doc, err == nil
	})
	return &PatchError{Report: patch.ErrorReport{Code: patch.CodeInvalidArguments, Message: c.Message()}}
}

// carryOut takes the turn on all files, looks at them and writes. first is an
// earlier plan, which holds if the files are still what it was made from; nil
// is none.
func (e *env) carryOut(ctx context.Context, req patch.Request, first *plannedPatch) (*appliedPatch, error) {
	var locking error
	if !req.DryRun {
		var unlock func()
		if unlock, locking = fsbackend.Lock(ctx, e.Files, e.patchPaths(ctx, req)...); locking == nil {
			defer unlock()
		}
	}
	view, err := e.observe(ctx, req.Operations)
	if err != nil {
		return nil, err
	}
	p := first
	if p == nil || !view.same(p.view) {
		if p, err = e.makePatch(req, view); err != nil {
			return nil, err
		}
	}
	switch {
	case req.DryRun:
		return p.outcome(), nil
	case isCancel(locking):
		return nil, cancelledPatch(locking)
	case locking != nil:
		// A path that cannot be looked at was told by the plan, unless it has
		// come back since.
		return nil, &PatchError{Report: patch.Errors{faultOf(locking)}.Report(nil), Err: locking}
	}
	return e.commitPatch(ctx, p)
}

// patchPaths are the files of a call, absolute. Names that stand for no file
// are left to the plan.
func (e *env) patchPaths(ctx context.Context, req patch.Request) []string {
	var out []string
	seen := map[string]bool{}
	for _, o := range req.Operations {
		if o == nil || seen[o.Target()] {
			continue
		}
		seen[o.Target()] = true
		if abs, err := e.resolve(ctx, applyPatch, "path", o.Target()); err == nil {
			out = append(out, abs)
		}
	}
	return out
}

// A PatchError says why a call of apply_patch came to nothing, and what is
// left of it if it failed while it wrote.
type PatchError struct {
	Report patch.ErrorReport
	Err    error // the failure of storage, or of the context; nil if there is none
}

// Error is the text for the model.
func (e *PatchError) Error() string { return e.Report.Message }

// Unwrap is the cause, or nil.
func (e *PatchError) Unwrap() error { return e.Err }

// refusePatch is the error of a call that wrote nothing.
func refusePatch(errs patch.Errors) error { return &PatchError{Report: errs.Report(nil)} }

// details is the part of a report that code and text do not tell.
func (e *PatchError) details() json.RawMessage {
	raw, err := msg.Marshal(e.Report.Details)
	if err != nil {
		panic("tools: " + err.Error()) // numbers and valid text
	}
	if string(raw) == "{}" {
		return nil
	}
	return raw
}

// cancelledPatch is the error of a call that was cancelled before it wrote.
func cancelledPatch(err error) error {
	report := patch.Errors{patch.NewError(patch.CodeAborted, "cancelled before anything was written")}.Report(nil)
	return &PatchError{Report: report, Err: err}
}

func isCancel(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// same reports whether two looks at the files of one call saw the same.
func (v *patchView) same(w *patchView) bool {
	return slices.EqualFunc(v.order, w.order, func(a, b *patchTarget) bool {
		return a.key == b.key && a.version == b.version && a.file.State == b.file.State &&
			a.file.Fault == nil && b.file.Fault == nil && slices.Equal(a.file.NoParents, b.file.NoParents)
	})
}
