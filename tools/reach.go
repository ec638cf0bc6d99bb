package tools

import (
	"context"
	"errors"
	"io/fs"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/msg"
)

// Reach gives the files with one more path in them, or nil if the path stays
// closed. The path is absolute and clean, and what is given opens that one
// file and nothing else.
type Reach func(path string) fsbackend.Backend

// planBeyond plans a call that was refused for a path outside of the session's
// folders as one that the user is asked about: its Need says Outside. Nothing
// of the file is told before the answer, so that a change is only planned for
// a file that the session has read, which was asked about too, or a new one.
// Without another plan the refusal stays.
func (s *Set) planBeyond(ctx context.Context, t plainTool, name string, args arguments, refusal error) (*Plan, error) {
	path, ok := deniedPath(refusal)
	if !ok || s.env.Reach == nil || !s.env.outside(path) {
		return nil, refusal
	}
	files := s.env.Reach(path)
	if files == nil {
		return nil, refusal
	}
	e := s.env
	e.Files, e.List = files, nil
	info, err := files.Stat(ctx, path)
	if err != nil {
		return nil, err
	}
	if traits[name].Access == Change && info.Exists {
		if _, seen := e.Seen.Version(info.Key); !seen {
			return nil, failf(fsbackend.CodeNotObserved, "%s %s: it lies outside of the session's folders and was not read yet: read it first, then make the call again", name, path)
		}
	}
	p, err := t.plan(ctx, &e, name, args)
	if err != nil {
		return nil, err
	}
	p.Need.Reached = true
	return p, nil
}

// deniedPath is the path that an operation was refused for.
func deniedPath(err error) (string, bool) {
	var p *fs.PathError
	if fsbackend.CodeOf(err) != fsbackend.CodeDenied || !errors.As(err, &p) {
		return "", false
	}
	return p.Path, true
}

// planPlain plans a call of a tool with plain arguments.
func (s *Set) planPlain(ctx context.Context, t plainTool, use msg.ToolUse) (*Plan, error) {
	args, err := decode(use.Name, use.Input, t.params())
	if err != nil {
		return nil, err
	}
	p, err := t.plan(ctx, &s.env, use.Name, args)
	if err != nil {
		return s.planBeyond(ctx, t, use.Name, args, err)
	}
	return p, nil
}
