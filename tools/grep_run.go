package tools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"dsh-acp/internal/search"
)

// grepRun is one search, checked.
type grepRun struct {
	env           *env
	abs           string
	file          bool // abs is a file
	args          arguments
	q             search.Query
	offset, limit int
}

// noMatch is the result of a search that finds nothing.
var noMatch = map[search.Mode]string{
	search.Names:  noFiles,
	search.Lines:  "No matches found",
	search.Counts: "No matches found\n\nFound 0 total occurrences across 0 files.",
}

func (g grepRun) run(ctx context.Context) (string, error) {
	find := g.inFolder
	if g.file {
		find = g.inFile
	}
	found, err := find(ctx)
	if err != nil {
		return "", err
	}
	if found.Files == 0 {
		return noMatch[g.q.Mode] + leftNote(found.Left), nil
	}
	what, total := "file", found.Files
	if g.q.Mode == search.Lines {
		what, total = "line", found.Total
	}
	if g.offset >= total {
		// No failure: that there is nothing more is what the model wanted to know.
		return fmt.Sprintf("(offset %d is behind the end: there %s)", g.offset, plural(total, "is 1 "+what, "are %d "+what+"s")), nil
	}
	var b strings.Builder
	if g.q.Mode == search.Names {
		b.WriteString(plural(found.Files, "Found 1 file\n", "Found %d files\n"))
	}
	shown := g.write(&b, found)
	b.WriteString(partNote(what, g.offset, shown, total))
	if g.q.Mode == search.Counts {
		fmt.Fprintf(&b, "\n\nFound %s across %s.", plural(found.Matches, "1 total occurrence", "%d total occurrences"), plural(found.Files, "1 file", "%d files"))
	}
	return b.String() + leftNote(found.Left), nil
}

// partNote tells which part of a result is shown, "" if it is all.
func partNote(what string, offset, shown, total int) string {
	last := offset + shown
	if shown == total {
		return ""
	}
	note := fmt.Sprintf("\n\n(%ss %d to %d of %d", what, offset+1, last, total)
	if shown == 1 {
		note = fmt.Sprintf("\n\n(%s %d of %d", what, last, total)
	}
	switch {
	case last == total:
		return note + ")"
	case last < maxKept:
		return note + fmt.Sprintf("; go on with offset %d, or narrow the search)", last)
	default:
		return note + "; narrow the search to see others)"
	}
}

func (g grepRun) inFolder(ctx context.Context) (search.Found, error) {
	dir, tree, err := g.env.open(ctx, g.abs)
	if err != nil {
		return search.Found{}, err
	}
	defer dir.Close()
	if g.env.Ripgrep != "" {
		found, err := search.Ripgrep(ctx, g.env.Ripgrep, tree, g.q)
		if !errors.Is(err, search.ErrRipgrep) {
			return found, err
		}
	}
	return search.Grep(ctx, tree, g.q)
}

func (g grepRun) inFile(ctx context.Context) (search.Found, error) {
	var r io.Reader
	if o, ok := g.env.Files.(Opener); ok {
		f, _, err := o.Open(ctx, g.abs)
		if err != nil {
			return search.Found{}, err
		}
		defer f.Close()
		r = f
	} else {
		f, err := g.env.Files.Read(ctx, g.abs)
		if err != nil {
			return search.Found{}, err
		}
		r = bytes.NewReader(f.Data)
	}
	return search.GrepReader(ctx, r, g.q)
}

// write shows what was found, from the offset on, and returns how many lines
// or files that is.
func (g grepRun) write(b *strings.Builder, found search.Found) (shown int) {
	skip, start := g.offset, b.Len()
	// put adds an entry after what parts it from the one before.
	put := func(between, entry string) bool {
		if skip > 0 {
			skip--
			return true
		}
		if shown == 0 {
			between = ""
		}
		if shown == g.limit || shown > 0 && b.Len()-start+len(between)+len(entry) > maxFoundBytes {
			return false
		}
		b.WriteString(between)
		b.WriteString(entry)
		shown++
		return true
	}
	for _, h := range found.Hits {
		path := g.env.show(filepath.Join(g.abs, filepath.FromSlash(h.Path)))
		switch g.q.Mode {
		case search.Names:
			if !put("\n", path) {
				return shown
			}
		case search.Counts:
			if !put("\n", fmt.Sprintf("%s:%d", path, h.Matches)) {
				return shown
			}
		case search.Lines:
			for i, line := range h.Lines {
				between := "\n"
				if g.q.Before+g.q.After > 0 && (line.Gap || i == 0) {
					between = "\n--\n"
				}
				if !put(between, g.line(path, line)) {
					return shown
				}
			}
		}
	}
	return shown
}

// line shows one line as grep does: parted by colons if it matches, else by
// hyphens, and without the path where only one file is searched.
func (g grepRun) line(path string, l search.Line) string {
	sep := "-"
	if l.Match {
		sep = ":"
	}
	head := path + sep
	if g.file {
		head = ""
	}
	if !g.args.has("-n") || g.args.flag("-n") {
		head += fmt.Sprintf("%d%s", l.Number, sep)
	}
	return head + l.Text
}
