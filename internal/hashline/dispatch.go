package hashline

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"dsh-acp/internal/msg"
)

// A Call is decoded arguments: [ReplaceCall], [ContentCall] or [ASTCall].
type Call interface{ call() }

// A ReplaceCall is edits by numbered lines, in order.
type ReplaceCall struct {
	Targets []Target // at least one
	DryRun  bool
}

// A Target is ops for one file.
type Target struct {
	Path   string
	Tag    string // as given, not checked yet
	Script Script
}

// A ContentCall is replacements of exact text, in order.
type ContentCall struct {
	Edits  []ContentEdit // at least one
	DryRun bool
}

// A ContentEdit is a replacement in one file.
type ContentEdit struct {
	Path         string
	Tag          string // "" if none was given
	Substitution Substitution
}

// An ASTCall is rewrites by syntax patterns.
type ASTCall struct {
	Ops      []ASTOp
	Paths    []string
	MaxFiles int // 0: not given
	// Force has a rewrite written after which a file does not parse.
	Force  bool
	DryRun bool
}

// An ASTOp rewrites what matches Pat to Out.
type ASTOp struct {
	Pat string `json:"pat"`
	Out string `json:"out"`
}

func (ReplaceCall) call() {}
func (ContentCall) call() {}
func (ASTCall) call()     {}

// Decode reads the arguments of an edit call. With a forced engine only its
// own arguments are right, and errors speak of no other. It fails with a
// CodeArgs that shows what would work.
func Decode(raw json.RawMessage, engine Engine) (Call, error) {
	call, err := decode(raw, engine)
	if err != nil {
		return nil, err
	}
	return call, nil
}

func decode(raw json.RawMessage, engine Engine) (Call, error) {
	args, ok := object(raw)
	if !ok {
		return nil, correct("the arguments are not a JSON object", shapesOf(engine)...)
	}
	if key := twice(raw); key != "" {
		return nil, correct(fmt.Sprintf("%q is given twice: give it once", key), shapesOf(engine)...)
	}
	if !utf8.Valid(raw) {
		return nil, correct("the arguments are not UTF-8", shapesOf(engine)...)
	}
	if esc := msg.LoneSurrogate(string(raw)); esc != "" {
		return nil, correct(fmt.Sprintf("the arguments hold %s, one half of a surrogate pair, which is no character: write the character itself or both halves", esc), shapesOf(engine)...)
	}
	switch engine {
	case ReplaceEngine:
		if has(args, "targets") {
			return decodeTargets(args, engine)
		}
		if !isString(args["ops"]) {
			return nil, correct("path, file_hash and ops (a text) are wanted", ShapeReplace)
		}
		return decodeFlat(args, engine)
	case ASTEngine:
		if has(args, "ast") {
			return decodeAST(args, engine)
		}
		if !isList(args["ops"]) {
			return nil, correct("path and ops (a list of pat and out) are wanted", ShapeAST)
		}
		return decodeFlatAST(args, engine)
	case Auto:
		return decodeAuto(args)
	}
	panic(fmt.Sprintf("hashline: no engine %d", engine))
}

func decodeAuto(args map[string]json.RawMessage) (Call, error) {
	var batch, flat []string
	for _, k := range []string{"targets", "ast", "edits"} {
		if has(args, k) {
			batch = append(batch, k)
		}
	}
	for _, k := range []string{"ops", "old_string", "new_string"} {
		if has(args, k) {
			flat = append(flat, k)
		}
	}
	switch {
	case len(batch) > 1:
		return nil, correct("give one of "+strings.Join(batch, " and ")+", not both", shapesOf(Auto)...)
	case len(batch) == 1 && len(flat) > 0:
		return nil, correct(fmt.Sprintf("give either %s or %s, not both", batch[0], flat[0]), shapesOf(Auto)...)
	case len(flat) > 1 && flat[0] == "ops":
		return nil, correct("give either ops or old_string with new_string, not both", shapesOf(Auto)...)
	case has(args, "targets"):
		return decodeTargets(args, Auto)
	case has(args, "ast"):
		return decodeAST(args, Auto)
	case has(args, "edits"):
		return decodeEdits(args)
	case isString(args["ops"]):
		if reason := misread(textOf(args["ops"])); reason != "" {
			return nil, correct(reason, ShapeAST)
		}
		return decodeFlat(args, Auto)
	case isList(args["ops"]):
		return decodeFlatAST(args, Auto)
	case has(args, "ops"):
		return nil, correct("ops is a text for numbered lines, or a list for syntax patterns", ShapeReplace, ShapeAST)
	case has(args, "old_string"):
		e, err := contentEdit(args, ShapeContent, "dry_run")
		if err != nil {
			return nil, err
		}
		dry, err := boolean(args, "dry_run", ShapeContent)
		return ContentCall{[]ContentEdit{e}, dry}, err
	case has(args, "new_string"):
		return nil, correct("old_string is missing: give the text that is to be replaced", ShapeContent)
	case has(args, "pat") || has(args, "out"):
		return nil, correct("pat and out belong into a list named ops", ShapeAST)
	}
	return nil, correct("no edit is given", shapesOf(Auto)...)
}

func decodeTargets(args map[string]json.RawMessage, engine Engine) (Call, error) {
	var list []json.RawMessage
	if json.Unmarshal(args["targets"], &list) != nil {
		return nil, correct("targets is not a list", ShapeTargets)
	}
	if len(list) == 0 {
		return nil, correct("targets is empty", shapesOf(engine)...)
	}
	if err := only(args, "the arguments", ShapeTargets, "targets", "dry_run"); err != nil {
		return nil, err
	}
	var call ReplaceCall
	for i, raw := range list {
		where := fmt.Sprintf("targets[%d]", i)
		t, ok := object(raw)
		if !ok {
			return nil, correct(where+" is not an object", ShapeTargets)
		}
		if engine == Auto {
			if err := misuseOfTarget(t, where); err != nil {
				return nil, err
			}
		}
		got, err := target(t, where+": ", ShapeTargets)
		if err != nil {
			return nil, err
		}
		call.Targets = append(call.Targets, got...)
	}
	var err error
	call.DryRun, err = boolean(args, "dry_run", ShapeTargets)
	return call, err
}

func decodeFlat(args map[string]json.RawMessage, engine Engine) (Call, error) {
	if engine == Auto && (has(args, "pat") || has(args, "out") || has(args, "paths")) {
		return nil, correct("pat, out and paths go with ops as a list", ShapeAST)
	}
	dry, err := boolean(args, "dry_run", ShapeReplace)
	if err != nil {
		return nil, err
	}
	t := make(map[string]json.RawMessage, len(args))
	for k, v := range args {
		if k != "dry_run" {
			t[k] = v
		}
	}
	targets, err := target(t, "", ShapeReplace)
	return ReplaceCall{targets, dry}, err
}

// target decodes one target, which is several if its ops are a pasted patch.
func target(t map[string]json.RawMessage, where string, shape Shape) ([]Target, error) {
	if err := only(t, strings.TrimSuffix(where, ": "), shape, "path", "file_hash", "ops"); err != nil {
		return nil, err
	}
	ops, ok := str(t, "ops")
	if !ok || !has(t, "ops") {
		return nil, correct(where+"ops is missing, or is no text", shape)
	}
	path, ok := str(t, "path")
	tag, ok2 := str(t, "file_hash")
	if !ok || !ok2 {
		return nil, correct(where+"path and file_hash are texts", shape)
	}
	if path != "" && where != "" {
		where = strings.TrimSuffix(where, ": ") + " (" + path + "): "
	} else if path != "" {
		where = path + ": "
	}
	sections := Sections(ops)
	if path == "" && sections == nil {
		return nil, correct(where+"path is missing", shape)
	}
	if sections == nil {
		return []Target{{path, tag, Script{ops, 0}}}, nil
	}
	var out []Target
	for _, s := range sections {
		if path != "" && s.Path != path {
			return nil, correct(fmt.Sprintf("%sline %d of ops is a header for %q: give each file a target of its own", where, s.Line-1, s.Path), ShapeTargets)
		}
		if tag != "" && !strings.EqualFold(strings.TrimPrefix(tag, "#"), s.Tag) {
			return nil, correct(fmt.Sprintf("%sfile_hash is %q, and line %d of ops names #%s: give one of them", where, tag, s.Line-1, s.Tag), shape)
		}
		out = append(out, Target{s.Path, s.Tag, Script{s.Ops, s.Line}})
	}
	return out, nil
}

func decodeEdits(args map[string]json.RawMessage) (Call, error) {
	var list []json.RawMessage
	if json.Unmarshal(args["edits"], &list) != nil || len(list) == 0 {
		return nil, correct("edits is empty, or is not a list", ShapeEdits)
	}
	if err := only(args, "the arguments", ShapeEdits, "edits", "dry_run"); err != nil {
		return nil, err
	}
	var call ContentCall
	for i, raw := range list {
		where := fmt.Sprintf("edits[%d]", i)
		t, ok := object(raw)
		if !ok {
			return nil, correct(where+" is not an object", ShapeEdits)
		}
		if has(t, "ops") {
			return nil, correct(where+" has ops, which belong into targets", ShapeTargets)
		}
		e, err := contentEdit(t, ShapeEdits)
		if err != nil {
			return nil, err
		}
		call.Edits = append(call.Edits, e)
	}
	var err error
	call.DryRun, err = boolean(args, "dry_run", ShapeEdits)
	return call, err
}

func contentEdit(t map[string]json.RawMessage, shape Shape, more ...string) (ContentEdit, error) {
	if err := only(t, "an edit", shape, append(more, "path", "file_hash", "old_string", "new_string", "replace_all")...); err != nil {
		return ContentEdit{}, err
	}
	var e ContentEdit
	for _, f := range []struct {
		key  string
		to   *string
		must bool
	}{
		{"path", &e.Path, true}, {"file_hash", &e.Tag, false},
		{"old_string", &e.Substitution.Old, true}, {"new_string", &e.Substitution.New, true},
	} {
		var ok bool
		if *f.to, ok = str(t, f.key); !ok || f.must && !has(t, f.key) {
			return e, correct(f.key+" is missing, or is no text", shape)
		}
	}
	if e.Path == "" {
		return e, correct("path is empty", shape)
	}
	var err error
	e.Substitution.All, err = boolean(t, "replace_all", shape)
	return e, err
}

func decodeAST(args map[string]json.RawMessage, engine Engine) (Call, error) {
	t, ok := object(args["ast"])
	if !ok {
		return nil, correct("ast is not an object", ShapeASTMany)
	}
	if engine == Auto && (has(t, "targets") || has(t, "file_hash")) {
		return nil, correct("targets and file_hash do not go with ast: they are for numbered lines", ShapeTargets)
	}
	if err := only(args, "the arguments", ShapeASTMany, "ast", "dry_run"); err != nil {
		return nil, err
	}
	if err := only(t, "ast", ShapeASTMany, "ops", "paths", "max_files", "force", "dry_run"); err != nil {
		return nil, err
	}
	return astCall(t, args, engine, ShapeASTMany)
}

func decodeFlatAST(args map[string]json.RawMessage, engine Engine) (Call, error) {
	if engine == Auto && has(args, "file_hash") {
		return nil, correct("file_hash goes with ops as a text of numbered lines, not with a list", ShapeReplace, ShapeAST)
	}
	if err := only(args, "the arguments", ShapeAST, "path", "paths", "ops", "max_files", "force", "dry_run"); err != nil {
		return nil, err
	}
	return astCall(args, args, engine, ShapeAST)
}

func astCall(t, top map[string]json.RawMessage, engine Engine, shape Shape) (Call, error) {
	var call ASTCall
	var list []json.RawMessage
	if json.Unmarshal(t["ops"], &list) != nil || len(list) == 0 {
		return nil, correct("ops is empty, or is not a list", shape)
	}
	for i, raw := range list {
		where := fmt.Sprintf("ops[%d]", i)
		o, ok := object(raw)
		if !ok {
			return nil, correct(where+" is not an object with pat and out", shape)
		}
		if engine == Auto && (has(o, "file_hash") || has(o, "ops")) {
			return nil, correct(where+" has arguments for numbered lines, which belong into targets", ShapeTargets)
		}
		if err := only(o, where, shape, "pat", "out"); err != nil {
			return nil, err
		}
		pat, ok1 := str(o, "pat")
		out, ok2 := str(o, "out")
		if !ok1 || !ok2 || !has(o, "pat") || !has(o, "out") {
			return nil, correct(where+" needs pat and out, both texts", shape)
		}
		call.Ops = append(call.Ops, ASTOp{pat, out})
	}
	if has(t, "paths") && json.Unmarshal(t["paths"], &call.Paths) != nil {
		return nil, correct("paths is not a list of texts", shape)
	}
	if path, ok := str(t, "path"); !ok {
		return nil, correct("path is not a text", shape)
	} else if path != "" {
		call.Paths = append([]string{path}, call.Paths...)
	}
	if len(call.Paths) == 0 {
		return nil, correct("no path is given", shape)
	}
	if has(t, "max_files") && (json.Unmarshal(t["max_files"], &call.MaxFiles) != nil || call.MaxFiles < 1) {
		return nil, correct("max_files is not a number from 1", shape)
	}
	var err error
	if call.Force, err = boolean(t, "force", shape); err != nil {
		return nil, err
	}
	if call.DryRun, err = boolean(top, "dry_run", shape); err != nil || call.DryRun {
		return call, err
	}
	call.DryRun, err = boolean(t, "dry_run", shape) // models put it there too
	return call, err
}
