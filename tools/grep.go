package tools

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"strings"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/msg"
	"dsh-acp/internal/search"
	"dsh-acp/presenter"
)

// grepTool finds lines by what is in them.
type grepTool struct{}

//go:embed grep.md
var grepText string

const grepSchema = `{
  "type": "object",
  "properties": {
    "pattern": {"type": "string", "description": "the regular expression"},
    "path": {"type": "string", "description": "the folder or file to search, absolute or relative to the working directory, which it is if left out"},
    "glob": {"type": "string", "description": "patterns of the names of files to search, such as *.go or *.{ts,tsx}"},
    "type": {"type": "string", "description": "a language or format whose files are searched, such as go, py, js or rust"},
    "output_mode": {"type": "string", "enum": ["content", "files_with_matches", "count"], "default": "files_with_matches", "description": "what is shown"},
    "-A": {"type": "integer", "minimum": 0, "description": "lines to show after each match, with content"},
    "-B": {"type": "integer", "minimum": 0, "description": "lines to show before each match, with content"},
    "-C": {"type": "integer", "minimum": 0, "description": "lines to show before and after each match, with content"},
    "-n": {"type": "boolean", "default": true, "description": "show line numbers, with content"},
    "-i": {"type": "boolean", "default": false, "description": "take upper and lower case as the same"},
    "head_limit": {"type": "integer", "minimum": 0, "default": 250, "description": "how many lines or files to show; 0 for as many as fit"},
    "offset": {"type": "integer", "minimum": 0, "default": 0, "description": "how many lines or files to skip first"},
    "multiline": {"type": "boolean", "default": false, "description": "let a match go over lines"}
  },
  "required": ["pattern"],
  "additionalProperties": false
}`

const (
	// maxKept bounds how far into a result one can go.
	maxKept = 20_000
	// maxContext bounds lines of context on one side.
	maxContext = 1000
)

func (grepTool) params() []param {
	return []param{
		{"pattern", stringParam, true}, {"path", stringParam, false}, {"glob", stringParam, false}, {"type", stringParam, false},
		{"output_mode", stringParam, false},
		{"-A", sizeParam, false}, {"-B", sizeParam, false}, {"-C", sizeParam, false},
		{"-n", boolParam, false}, {"-i", boolParam, false},
		{"head_limit", sizeParam, false}, {"offset", sizeParam, false}, {"multiline", boolParam, false},
	}
}

func (grepTool) spec(name string) msg.ToolSpec {
	return msg.ToolSpec{Name: name, Description: grepText, InputSchema: json.RawMessage(grepSchema)}
}

func (grepTool) cards() presenter.Tool { return grepCards{} }

func (grepTool) plan(ctx context.Context, e *env, name string, args arguments) (*Plan, error) {
	abs, info, err := e.folder(ctx, name, args)
	if err != nil {
		return nil, err
	}
	g := grepRun{env: e, abs: abs, args: args, offset: args.count("offset"), limit: maxFound, file: !info.Dir}
	if g.file && !info.Regular {
		return nil, failf(fsbackend.CodeNotRegular, "grep %s: it is no regular file: name a file or a folder", args.text("path"))
	}
	if err := g.query(name); err != nil {
		return nil, err
	}
	return e.look(name, abs, g.run), nil
}

// query reads what is asked for.
func (g *grepRun) query(name string) error {
	args := g.args
	p, err := search.Compile(args.text("pattern"), search.PatternOptions{FoldCase: args.flag("-i"), Multiline: args.flag("multiline")})
	switch {
	case errors.Is(err, search.ErrNewline):
		return failf(msg.CodeInvalidArgs, "%s: %v: set multiline to search over lines", name, err)
	case err != nil:
		return failf(msg.CodeInvalidArgs, "%s: pattern: %v", name, err)
	}
	g.q = search.Query{Pattern: p, Before: args.count("-C"), After: args.count("-C")}
	if args.has("-B") {
		g.q.Before = args.count("-B")
	}
	if args.has("-A") {
		g.q.After = args.count("-A")
	}
	if most := max(g.q.Before, g.q.After); most > maxContext {
		return failf(msg.CodeInvalidArgs, "%s: %d lines of context are asked for, at most %d are shown: use Read for a whole file", name, most, maxContext)
	}
	switch mode := args.text("output_mode"); mode {
	case "", "files_with_matches":
		g.q.Mode = search.Names
	case "content":
		g.q.Mode = search.Lines
	case "count":
		g.q.Mode = search.Counts
	default:
		return failf(msg.CodeInvalidArgs, "%s: output_mode is %q: it is content, files_with_matches or count", name, mode)
	}
	if args.has("head_limit") {
		g.limit = args.count("head_limit")
	}
	if g.limit == 0 {
		g.limit = maxKept
	}
	if g.offset >= maxKept {
		return failf(msg.CodeInvalidArgs, "%s: offset is %d, and results are shown up to %d: narrow the search by path, glob or type", name, g.offset, maxKept)
	}
	g.q.Keep = min(g.offset+g.limit, maxKept)
	return g.filter(name)
}

// filter reads which files are to be searched.
func (g *grepRun) filter(name string) error {
	if t := g.args.text("type"); t != "" {
		if err := g.q.Files.AddType(t); err != nil {
			return failf(msg.CodeInvalidArgs, "%s: %v; for others use glob", name, err)
		}
	}
	// A pattern with slashes may be meant from the searched folder or from
	// the session's.
	under := g.env.show(g.abs)
	if under == g.abs || under == "." {
		under = ""
	}
	for _, pattern := range splitGlobs(g.args.text("glob")) {
		if err := g.q.Files.Add(pattern, under); err != nil {
			return failf(msg.CodeInvalidArgs, "%s: glob: %v", name, err)
		}
	}
	return nil
}

// splitGlobs parts patterns at commas and blanks that are in no braces.
func splitGlobs(s string) []string {
	depth := 0
	return strings.FieldsFunc(s, func(r rune) bool {
		switch r {
		case '{':
			depth++
		case '}':
			depth--
		}
		return depth <= 0 && (r == ',' || r == ' ')
	})
}
