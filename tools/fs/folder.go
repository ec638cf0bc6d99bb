package fs

import (
	"context"
	"path/filepath"
	"strings"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/search"
	"dsh-acp/internal/syntax"
)

// skipped is a folder that holds other people's code.
const skipped = "node_modules"

// sources are the files below a folder whose language is known, absolute, in
// the order of their paths. Ignored files, links, repositories' own data and
// node_modules are left out; unread says how many could not be looked at.
func (b *Box) sources(ctx context.Context, abs string, f search.Filter) (paths []string, unread int, err error) {
	dir, err := fsbackend.OpenDir(ctx, b.Files, abs)
	if err != nil {
		return nil, 0, err
	}
	defer dir.Close()
	tree := search.Tree{Root: dir.Root, Above: b.rulesAbove(ctx, abs)}
	if dir.Readable != nil {
		tree.Allow = func(path string) bool { return dir.Readable(filepath.Join(dir.Real, filepath.FromSlash(path))) }
	}
	list, left, err := search.List(ctx, tree, f,
		func(name string) bool { return name != skipped },
		func(name string) bool { return syntax.ByName(name) != "" })
	for i, p := range list {
		list[i] = filepath.Join(abs, filepath.FromSlash(p))
	}
	return list, left.Unread, err
}

// rulesAbove are the ignore files above a folder, up to the root.
func (b *Box) rulesAbove(ctx context.Context, abs string) []search.Above {
	return search.AboveOf(abs,
		func(dir string) bool {
			rel, err := filepath.Rel(b.Root, dir)
			return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
		},
		func(path string) bool {
			info, err := b.Files.Stat(ctx, path)
			return err == nil && info.Exists
		},
		func(path string) ([]byte, error) {
			f, err := b.Files.Read(ctx, path)
			return f.Data, err
		})
}
