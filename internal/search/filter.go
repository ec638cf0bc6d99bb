package search

import (
	"fmt"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// A Filter picks files by their names. The zero Filter takes all.
type Filter struct {
	some  []glob // one of them must match, if there are any
	never []glob
	types []string // likewise, of last names
	dots  []string // parts of patterns that begin with a dot
}

// A glob is one pattern. Without a slash it is for the last name, at any
// depth.
type glob struct {
	text  string
	base  bool
	under string // the path is first put below this, for a pattern of another folder
}

// Add adds a pattern of doublestar; one that begins with "!" takes files out.
// The pattern is relative to the searched folder, or to one above it from
// which under leads there, with slashes.
func (f *Filter) Add(pattern string, under ...string) error {
	text, not := strings.CutPrefix(pattern, "!")
	text = strings.TrimPrefix(text, "./")
	if !doublestar.ValidatePattern(text) {
		return fmt.Errorf("%q is not a pattern: close each of [ ] { }, or put a backslash before one that is a plain character", pattern)
	}
	text, anchored := strings.CutPrefix(text, "/")
	globs := []glob{{text: text, base: !anchored && !strings.Contains(text, "/")}}
	for _, dir := range under {
		if !globs[0].base && dir != "" {
			globs = append(globs, glob{text: text, under: dir + "/"})
		}
	}
	if not {
		f.never = append(f.never, globs...)
		return nil
	}
	f.some = append(f.some, globs...)
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("/{},", r) }) {
		if strings.HasPrefix(part, ".") {
			f.dots = append(f.dots, part)
		}
	}
	return nil
}

// AddType adds the files of a language or format by the name that ripgrep has
// for it. The error names those that there are.
func (f *Filter) AddType(name string) error {
	globs, ok := fileTypes[name]
	if !ok {
		return fmt.Errorf("there is no file type %q; the types are %s", name, typeNames())
	}
	f.types = append(f.types, strings.Fields(globs)...)
	return nil
}

// Match reports whether the filter takes a file. name is the last of path.
func (f *Filter) Match(path, name string) bool {
	return (len(f.types) == 0 || anyName(f.types, name)) &&
		(len(f.some) == 0 || anyGlob(f.some, path, name)) &&
		!anyGlob(f.never, path, name)
}

// Hidden reports whether a name is not hidden, or is hidden and named by some
// part of a pattern that begins with a dot itself, as in a shell.
func (f *Filter) Hidden(name string) bool {
	return !strings.HasPrefix(name, ".") || anyName(f.dots, name)
}

func anyName(globs []string, name string) bool {
	for _, g := range globs {
		if rest, ok := strings.CutPrefix(g, "*"); ok && !strings.ContainsAny(rest, `*?[\{`) {
			if strings.HasSuffix(name, rest) {
				return true
			}
			continue
		}
		if g == name || doublestar.MatchUnvalidated(g, name) {
			return true
		}
	}
	return false
}

func anyGlob(globs []glob, path, name string) bool {
	for _, g := range globs {
		switch {
		case g.base:
			if doublestar.MatchUnvalidated(g.text, name) {
				return true
			}
		case doublestar.MatchUnvalidated(g.text, g.under+path):
			return true
		}
	}
	return false
}
