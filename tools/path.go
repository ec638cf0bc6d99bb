package tools

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/msg"
	"dsh-acp/tools/fs"
)

// resolve makes the absolute, clean form of a path as the model wrote it.
func (e *env) resolve(ctx context.Context, tool, name, path string) (string, error) {
	if fault := fs.PathFault(path); fault != "" {
		return "", failf(msg.CodeInvalidArgs, "%s: %s %s", tool, name, fault)
	}
	abs := path
	if !filepath.IsAbs(abs) {
		// Joined by hand: filepath.Join would fold the ".." that follows here.
		abs = e.Cwd + string(filepath.Separator) + abs
	}
	if !slices.Contains(strings.FieldsFunc(abs, isSeparator), "..") {
		return filepath.Clean(abs), nil
	}
	return e.climb(ctx, abs), nil
}

// climb resolves a path with "..", which leads to the parent of the real
// folder where the way goes through a link, as it does for every other
// program. Where the real folder cannot be told the path is folded as text;
// the backend then decides about it.
func (e *env) climb(ctx context.Context, abs string) string {
	vol := filepath.VolumeName(abs)
	cur := vol + string(filepath.Separator)
	for _, part := range strings.FieldsFunc(abs[len(vol):], isSeparator) {
		switch part {
		case ".":
		case "..":
			if info, err := e.Files.Stat(ctx, cur); err == nil && info.Exists && info.Real != "" {
				cur = info.Real
			}
			cur = filepath.Dir(cur)
		default:
			cur = filepath.Join(cur, part)
		}
	}
	return cur
}

func isSeparator(r rune) bool { return r == '/' || r == filepath.Separator }

// outside reports whether path lies in none of the session's folders.
func (e *env) outside(path string) bool {
	for _, root := range e.Roots {
		if within(root, path) {
			return false
		}
	}
	return true
}

// within reports whether path is root or lies below it.
func within(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// missing is the error of a file that is not there, with what is near its
// name. The remedy is appended; it may be empty.
func (e *env) missing(ctx context.Context, tool, path, abs, remedy string) error {
	if err := e.parent(ctx, tool, path, abs); err != nil {
		return err
	}
	text := fmt.Sprintf("%s %s: no such file; relative paths start at %s", tool, path, e.Cwd)
	if near := e.near(ctx, abs); near != "" {
		text += fmt.Sprintf("; did you mean %s?", near)
	}
	if remedy != "" {
		text += "; " + remedy
	}
	return failf(fsbackend.CodeNotFound, "%s", text)
}

// parent refuses a missing file below something that is no folder.
func (e *env) parent(ctx context.Context, tool, path, abs string) error {
	for dir := filepath.Dir(abs); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		info, err := e.Files.Stat(ctx, dir)
		if err != nil || info.Dir {
			return nil // what cannot be told here the file's own use will tell
		}
		if info.Exists {
			return failf(fsbackend.CodeNotDirectory, "%s %s: %s is a file, not a folder, so nothing can be below it: choose another path", tool, path, dir)
		}
	}
	return nil
}

// near finds a file beside abs whose name differs in case, in its extension
// or in a letter or two, but not in most of it.
func (e *env) near(ctx context.Context, abs string) string {
	if e.List == nil {
		return ""
	}
	entries, err := e.List(ctx, filepath.Dir(abs))
	if err != nil {
		return ""
	}
	want := filepath.Base(abs)
	best, bestCost := "", 3
	for _, name := range entries {
		cost := distance(strings.ToLower(want), strings.ToLower(name), bestCost)
		if stem(want) == stem(name) && len(stem(want)) > 1 {
			cost = min(cost, 1)
		}
		if cost < bestCost && cost*3 <= len(stem(want)) {
			best, bestCost = name, cost
		}
	}
	if best == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(abs), best)
}

func stem(name string) string {
	return strings.ToLower(strings.TrimSuffix(name, filepath.Ext(name)))
}

// distance is the edit distance of a and b, or limit if it is not below limit.
func distance(a, b string, limit int) int {
	s, t := []rune(a), []rune(b)
	if d := len(s) - len(t); d >= limit || -d >= limit {
		return limit
	}
	row := make([]int, len(t)+1)
	for j := range row {
		row[j] = j
	}
	for i := range s {
		diag := row[0]
		row[0] = i + 1
		for j := range t {
			cost := diag
			if s[i] != t[j] {
				cost++
			}
			diag = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return min(row[len(t)], limit)
}

func list(words []string) string { return strings.Join(words, ", ") }
