package tools

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/msg"
	"dsh-acp/internal/search"
	"dsh-acp/presenter"
)

// globTool finds files by name.
type globTool struct{}

//go:embed glob.md
var globText string

const globSchema = `{
  "type": "object",
  "properties": {
    "pattern": {"type": "string", "description": "the pattern, such as **/*.go or src/**/*.{ts,tsx}"},
    "path": {"type": "string", "description": "the folder to search, absolute or relative to the working directory, which it is if left out"}
  },
  "required": ["pattern"],
  "additionalProperties": false
}`

func (globTool) params() []param {
	return []param{{"pattern", stringParam, true}, {"path", stringParam, false}}
}

func (globTool) spec(name string) msg.ToolSpec {
	return msg.ToolSpec{Name: name, Description: globText, InputSchema: json.RawMessage(globSchema)}
}

func (globTool) cards() presenter.Tool { return globCards{} }

func (globTool) plan(ctx context.Context, e *env, name string, args arguments) (*Plan, error) {
	pattern := args.text("pattern")
	if strings.TrimSpace(pattern) == "" {
		return nil, failf(msg.CodeInvalidArgs, "%s: pattern is empty: give one such as **/*.go", name)
	}
	abs, info, err := e.folder(ctx, name, args)
	if err != nil {
		return nil, err
	}
	if !info.Dir {
		return nil, failf(fsbackend.CodeNotDirectory, "glob %s: it is a file, not a folder: leave path out, or name a folder to search", args.text("path"))
	}
	base, rest := splitPattern(filepath.ToSlash(pattern))
	var filter search.Filter
	if strings.HasPrefix(rest, "!") {
		rest = `\` + rest // a pattern that takes files out finds none
	}
	if err := filter.Add(rest); err != nil {
		return nil, failf(msg.CodeInvalidArgs, "%s: pattern %v", name, err)
	}
	if base != "" {
		from := filepath.FromSlash(base)
		if !filepath.IsAbs(from) {
			from = abs + string(filepath.Separator) + from
		}
		if abs, err = e.resolve(ctx, name, "pattern", from); err != nil {
			return nil, err
		}
	}
	g := globRun{env: e, pattern: pattern, abs: abs, filter: filter}
	return e.look(name, abs, g.run), nil
}

// splitPattern takes off the plain folders at the head of a pattern. The rest
// of a pattern with slashes is bound to its folder by a slash.
func splitPattern(pattern string) (base, rest string) {
	if base, rest = search.SplitGlob(pattern); strings.Contains(strings.TrimPrefix(pattern, "./"), "/") {
		rest = "/" + rest
	}
	return base, rest
}

type globRun struct {
	env     *env
	pattern string
	abs     string
	filter  search.Filter
}

func (g globRun) run(ctx context.Context) (string, error) {
	info, err := g.env.Files.Stat(ctx, g.abs)
	if err != nil {
		return "", err
	}
	if !info.Dir {
		return fmt.Sprintf("no file matches %s: there is no folder %s", g.pattern, g.env.place(g.abs)), nil
	}
	dir, tree, err := g.env.open(ctx, g.abs)
	if err != nil {
		return "", err
	}
	defer dir.Close()
	found, err := search.Glob(ctx, tree, g.filter, maxFound)
	if err != nil {
		return "", err
	}
	if found.Total == 0 {
		return noFiles + leftNote(found.Left), nil
	}
	lines := make([]string, 0, len(found.Files))
	size := 0
	for i := len(found.Files) - 1; i >= 0; i-- { // the newest first, so that it stays
		line := g.env.show(filepath.Join(g.abs, filepath.FromSlash(found.Files[i].Path)))
		if size += len(line) + 1; size > maxFoundBytes {
			break
		}
		lines = append(lines, line)
	}
	var b strings.Builder
	for i := len(lines) - 1; i >= 0; i-- {
		b.WriteString(lines[i])
		if i > 0 {
			b.WriteByte('\n')
		}
	}
	if len(lines) < found.Total {
		fmt.Fprintf(&b, "\n\n(%d of %d files, those that were changed last; narrow the pattern or the path for others)", len(lines), found.Total)
	}
	return b.String() + leftNote(found.Left), nil
}

// noFiles is the result of a search for files that finds none.
const noFiles = "No files found"

type globCards struct{}

func (globCards) Call(args json.RawMessage, _ bool) presenter.Card {
	d := loosely(args)
	title := "Find"
	path, _ := d.text("path")
	pattern, _ := d.text("pattern")
	for _, s := range []string{path, pattern} {
		if s != "" {
			title += " `" + s + "`"
		}
	}
	return presenter.Generic{Title: title, Verbatim: true, Kind: presenter.KindSearch, Locations: locations(path, 0)}
}

func (globCards) Result(_ json.RawMessage, r msg.ToolResult) presenter.Card { return foundCard(r) }

func (globCards) Input(args json.RawMessage) json.RawMessage { return args }
