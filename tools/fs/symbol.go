package fs

import (
	"context"
	"fmt"
	"strings"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/hashline"
	"dsh-acp/internal/search"
	"dsh-acp/internal/text"
)

// MaxSymbols is how many definitions a search of a folder shows.
const MaxSymbols = 50

// ReadAll is ReadOne, but for a symbol in a folder: then every file below of a
// known language is searched, in the order of their paths, and there is one
// result for each definition, at most [MaxSymbols].
func (b *Box) ReadAll(ctx context.Context, t Target) ([]ReadResult, error) {
	if t.Symbol != "" {
		abs, err := b.Abs(ctx, t.Path)
		if err != nil {
			return nil, err
		}
		info, err := b.Files.Stat(ctx, abs)
		if err != nil {
			return nil, err
		}
		if info.Dir {
			return b.findSymbol(ctx, t, abs)
		}
	}
	r, err := b.ReadOne(ctx, t)
	if err != nil {
		return nil, err
	}
	return []ReadResult{r}, nil
}

func (b *Box) findSymbol(ctx context.Context, t Target, abs string) ([]ReadResult, error) {
	if b.Parser == nil {
		return nil, noEngine("read " + t.Path + ": a symbol in a folder")
	}
	paths, unread, err := b.sources(ctx, abs, search.Filter{})
	if err != nil {
		return nil, err
	}
	var out []ReadResult
	for _, path := range paths {
		found, err := b.symbolsOf(ctx, path, t.Symbol, MaxSymbols+1-len(out))
		if ctx.Err() != nil {
			return nil, err
		}
		if err != nil {
			unread++
			continue
		}
		if out = append(out, found...); len(out) > MaxSymbols {
			break
		}
	}
	var notes []string
	if len(out) == 0 {
		notes = append(notes, fmt.Sprintf("no definition of %s in %s", t.Symbol, count(len(paths), "file")))
		out = []ReadResult{{Path: t.Path}}
	}
	if len(out) > MaxSymbols {
		out = out[:MaxSymbols]
		notes = append(notes, fmt.Sprintf("only the first %d definitions are shown: name a folder further down, or qualify the name, as in Type.%s", MaxSymbols, t.Symbol))
	}
	if unread > 0 {
		notes = append(notes, count(unread, "file")+" or folders below could not be read")
	}
	if notes != nil {
		last := &out[len(out)-1]
		if last.Warnings != nil {
			notes = append([]string{*last.Warnings}, notes...)
		}
		w := strings.Join(notes, "; ")
		last.Warnings = &w
	}
	return out, nil
}

// symbolsOf shows the definitions of a name in one file. A file that is no text
// has none.
func (b *Box) symbolsOf(ctx context.Context, abs, name string, limit int) ([]ReadResult, error) {
	f, err := b.Files.Read(ctx, abs)
	if err != nil {
		return nil, err
	}
	if !strings.Contains(string(f.Data), lastPart(name)) {
		return nil, nil // most files are spared the parse
	}
	d, err := f.Doc()
	if err != nil {
		return nil, nil
	}
	list, err := b.grammar(abs).symbols(d, name, limit)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	b.Seen.NoteFile(f)
	var out []ReadResult
	for _, r := range list {
		v := &view{seen: hashline.Ranges{}, ranges: []hashline.Range{r}, fold: true}
		out = append(out, b.shown(Target{Path: b.Show(abs)}, abs, f, d, v))
	}
	return out, nil
}

// lastPart is the name itself of a qualified one.
func lastPart(name string) string {
	parts := strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune(".:#", r) })
	if len(parts) == 0 {
		return name
	}
	return parts[len(parts)-1]
}

// shown makes the result of a view, and notes what it shows.
func (b *Box) shown(t Target, abs string, f fsbackend.File, d text.Doc, v *view) ReadResult {
	v.write(d, b.MaxLines, b.MaxBytes)
	b.recall(f.Key)
	tag := b.store.record(f.Key, d, v.seen)
	r := ReadResult{Path: t.Path, FileHash: tag.String(), Header: hashline.Header(b.Show(abs), tag), Total: d.Lines()}
	r.Content = r.Header + v.text.String()
	if v.ended == 1 {
		r.First, r.Shown = v.first, v.lines
	}
	if len(v.warnings) > 0 {
		w := strings.Join(v.warnings, "; ")
		r.Warnings = &w
	}
	return r
}
