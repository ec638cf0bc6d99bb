package fs

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/astedit"
	"dsh-acp/internal/hashline"
	"dsh-acp/internal/search"
	"dsh-acp/internal/syntax"
)

// DefaultMaxFiles is how many files a rewrite looks at if max_files is not
// given.
const DefaultMaxFiles = 1000

// A candidate is a file that a rewrite looks at.
type candidate struct {
	abs   string
	lang  syntax.Lang
	named bool // by its own path: what is wrong with it is an error
}

// A selection is the files that the paths of a call stand for.
type selection struct {
	files []candidate // in the order of their paths, each once
	notes []string    // on what was named and is not among them
	code  hashline.Code
}

// wild are the characters that make an entry of paths a pattern.
const wild = "*?[{"

// choose finds the files of a call. An entry of paths is a file or folder if
// there is one of that name, else a pattern from the root on.
func (b *Box) choose(ctx context.Context, entries []string, most int) (selection, error) {
	var s selection
	unread := 0
	for _, entry := range entries {
		abs, err := b.Abs(ctx, entry)
		if err != nil {
			return s, err
		}
		info, err := b.Files.Stat(ctx, abs)
		if strings.ContainsAny(entry, wild) && (err != nil || !info.Exists) {
			n, err := b.glob(ctx, entry, &s)
			if err != nil {
				return s, err
			}
			unread += n
			continue
		}
		if err != nil {
			return s, err
		}
		switch lang := syntax.ByName(abs); {
		case info.Dir:
			paths, n, err := b.sources(ctx, abs, search.Filter{})
			if err != nil {
				return s, err
			}
			unread += n
			if s.add(paths) == 0 {
				s.leave(hashline.CodeNoMatch, "%s: no file below it has a known language", entry)
			}
		case !info.Exists:
			s.leave(fsbackend.CodeNotFound, "%s: no such file or folder", entry)
		case !info.Regular:
			s.leave(fsbackend.CodeNotRegular, "%s: not a regular file", entry)
		case lang == "":
			s.leave(CodeNoAST, "%s: no grammar for a file of this name; there are grammars for %s", entry, languages())
		default:
			s.files = append(s.files, candidate{abs: abs, lang: lang, named: true})
		}
	}
	s.sort()
	if n := len(s.files) - cmp.Or(most, DefaultMaxFiles); n > 0 {
		s.files = s.files[:len(s.files)-n]
		were := "were"
		if n == 1 {
			were = "was"
		}
		s.notes = append(s.notes, fmt.Sprintf("max_files is %d, and the last %s by name %s not looked at; name fewer paths, or set max_files higher",
			len(s.files), count(n, "file"), were))
	}
	if unread > 0 {
		s.notes = append(s.notes, count(unread, "file")+" or folders could not be looked at")
	}
	return s, nil
}

// glob adds what a pattern finds.
func (b *Box) glob(ctx context.Context, entry string, s *selection) (unread int, err error) {
	base, rest := search.SplitGlob(filepath.ToSlash(entry))
	var f search.Filter
	if err := f.Add("/" + rest); err != nil {
		return 0, &Error{Code: hashline.CodeArgs, Text: refused + "paths: " + entry + ": " + err.Error()}
	}
	abs, err := b.Abs(ctx, cmp.Or(filepath.FromSlash(base), "."))
	if err != nil {
		return 0, err
	}
	info, err := b.Files.Stat(ctx, abs)
	if err != nil {
		return 0, err
	}
	var paths []string
	if info.Dir {
		if paths, unread, err = b.sources(ctx, abs, f); err != nil {
			return 0, err
		}
	}
	if s.add(paths) == 0 {
		s.leave(hashline.CodeNoMatch, "%s: no file of a known language matches", entry)
	}
	return unread, nil
}

func (s *selection) add(paths []string) int {
	for _, p := range paths {
		s.files = append(s.files, candidate{abs: p, lang: syntax.ByName(p)})
	}
	return len(paths)
}

// leave notes why an entry gives no file.
func (s *selection) leave(code hashline.Code, format string, args ...any) {
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
	s.code = cmp.Or(s.code, code)
}

// sort puts the files in order, each once: named, if some entry names it.
func (s *selection) sort() {
	slices.SortFunc(s.files, func(x, y candidate) int {
		if c := strings.Compare(filepath.ToSlash(x.abs), filepath.ToSlash(y.abs)); c != 0 {
			return c
		}
		switch {
		case x.named == y.named:
			return 0
		case x.named:
			return -1
		}
		return 1
	})
	s.files = slices.CompactFunc(s.files, func(x, y candidate) bool { return x.abs == y.abs })
}

// compile makes the ops for each language of the files. Files of a language in
// which they are no code are left out with a note, as long as there are others.
func (s *selection) compile(p *astedit.Program) error {
	left := map[syntax.Lang]error{}
	files := map[syntax.Lang]int{}
	var langs []syntax.Lang
	for _, f := range s.files {
		if files[f.lang]++; files[f.lang] == 1 {
			langs = append(langs, f.lang)
		}
	}
	var first error
	for _, lang := range langs {
		_, err := p.For(lang)
		if err == nil {
			continue
		}
		if codeOf(err) == astedit.CodeUnbound {
			return rewriteError(err)
		}
		left[lang], first = err, cmp.Or(first, err)
	}
	if len(langs) > 0 && len(left) == len(langs) {
		return rewriteError(first)
	}
	for _, lang := range langs {
		if err := left[lang]; err != nil {
			s.notes = append(s.notes, fmt.Sprintf("%s of %s left out: %v", count(files[lang], "file"), lang, err))
		}
	}
	s.files = slices.DeleteFunc(s.files, func(f candidate) bool { return left[f.lang] != nil })
	return nil
}

func languages() string {
	var names []string
	for _, l := range syntax.Langs() {
		names = append(names, string(l))
	}
	return strings.Join(names, ", ")
}
