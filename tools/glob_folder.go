package tools

import (
	"context"
	"path/filepath"
	"strings"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/msg"
	"dsh-acp/internal/search"
	"dsh-acp/presenter"
)

// maxFound is how many lines or files a search shows unless it is told
// otherwise, and maxFoundBytes how much text in any case.
const (
	maxFound      = 250
	maxFoundBytes = 50 << 10
)

// open opens a folder for a search, with what the ignore files above it say as
// far as they lie in the session's folders. The caller closes the folder.
func (e *env) open(ctx context.Context, abs string) (*fsbackend.Dir, search.Tree, error) {
	d, err := fsbackend.OpenDir(ctx, e.Files, abs)
	if err != nil {
		return nil, search.Tree{}, err
	}
	tree := search.Tree{Root: d.Root, Above: e.rulesAbove(ctx, abs)}
	if d.Readable != nil {
		tree.Allow = func(path string) bool { return d.Readable(filepath.Join(d.Real, filepath.FromSlash(path))) }
	}
	return d, tree, nil
}

// rulesAbove collects the ignore files of the folders above one that belong to
// the session.
func (e *env) rulesAbove(ctx context.Context, abs string) []search.Above {
	return search.AboveOf(abs,
		func(dir string) bool { return !e.outside(dir) },
		func(path string) bool { return e.exists(ctx, path) },
		func(path string) ([]byte, error) {
			f, err := e.Files.Read(ctx, path)
			return f.Data, err
		})
}

func (e *env) exists(ctx context.Context, path string) bool {
	info, err := e.Files.Stat(ctx, path)
	return err == nil && info.Exists
}

// show is a path as a result names it: relative to the session's folder if it
// lies in it, with slashes.
func (e *env) show(abs string) string {
	rel, err := filepath.Rel(e.Cwd, abs)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return abs
	}
	return filepath.ToSlash(rel)
}

// place names a folder in a sentence.
func (e *env) place(abs string) string {
	if s := e.show(abs); s != "." {
		return s
	}
	return abs
}

// folder resolves the argument path of a search, which may be left out for the
// session's folder, and looks what is there. What is missing is an error.
func (e *env) folder(ctx context.Context, tool string, args arguments) (abs string, info fsbackend.Info, err error) {
	abs = e.Cwd
	if args.text("path") != "" { // an empty one is often sent for none
		if abs, err = e.resolve(ctx, tool, "path", args.text("path")); err != nil {
			return "", info, err
		}
	}
	info, err = e.Files.Stat(ctx, abs)
	if err == nil && !info.Exists {
		err = e.missing(ctx, strings.ToLower(tool), args.text("path"), abs, "")
	}
	return abs, info, err
}

// look is the plan of a search in a folder or file.
func (e *env) look(name, abs string, run func(ctx context.Context) (string, error)) *Plan {
	return &Plan{
		Need: Need{Access: Look, Paths: []string{abs}, Outside: e.outside(abs)},
		run: func(ctx context.Context) msg.ToolResult {
			text, err := run(ctx)
			if err != nil {
				return failed(name, err)
			}
			return msg.ToolResult{Content: msg.Blocks{msg.Text{Text: text}}}
		},
	}
}

// leftNote tells what a search could not look at, "" if there was nothing.
func leftNote(l search.Left) string {
	var b strings.Builder
	if l.Unread > 0 {
		b.WriteString("\n\n(" + plural(l.Unread, "1 file or folder could not be read)", "%d files or folders could not be read)"))
	}
	if l.Large > 0 {
		b.WriteString("\n\n(" + plural(l.Large, "1 file was too large to be searched)", "%d files were too large to be searched)"))
	}
	return b.String()
}

// foundCard draws the result of a search: its text as it is. There are no
// locations: an editor that follows them would jump through all that was found.
func foundCard(r msg.ToolResult) presenter.Card {
	if r.IsError {
		return refusal()
	}
	return presenter.Search{}
}
