package search

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// List finds the files below a folder by name, in the order of their paths.
// Links and ignored files are left out; hidden files are not. enter decides
// about folders by their last name, and pick about files that the filter
// takes; both are called concurrently.
func List(ctx context.Context, tree Tree, f Filter, enter, pick func(name string) bool) ([]string, Left, error) {
	var mu sync.Mutex
	var paths []string
	w := &walk{
		tree:  tree,
		enter: func(_, name string) bool { return enter(name) },
		take: func(path, name string, link bool) bool {
			return !link && pick(name) && f.Match(path, name)
		},
		visit: func(_ int, _ *folder, path, _ string) {
			mu.Lock()
			defer mu.Unlock()
			paths = append(paths, path)
		},
	}
	if err := w.run(ctx); err != nil {
		return nil, Left{}, err
	}
	slices.Sort(paths)
	return paths, Left{Unread: int(w.unread.Load())}, nil
}

// SplitGlob takes off the folders at the head of a pattern, with slashes, that
// are plain names, with the slash behind them. What is named so is searched
// even if it is hidden or ignored.
func SplitGlob(pattern string) (base, rest string) {
	rest = strings.TrimPrefix(pattern, "./")
	cut := 0
	for {
		i := strings.IndexByte(rest[cut:], '/')
		if i < 0 || strings.ContainsAny(rest[cut:cut+i], `*?[]{}\`) {
			return rest[:cut], rest[cut:]
		}
		cut += i + 1
	}
}

// AboveOf collects the ignore files of the folders above dir, an absolute
// path, nearest first: up to the top of its repository, or to the last folder
// that is inside. read fails for what is not there, or must not be read;
// exists tells of a path whether there is anything.
func AboveOf(dir string, inside, exists func(path string) bool, read func(path string) ([]byte, error)) []Above {
	var out []Above
	below := filepath.Base(dir)
	for !exists(filepath.Join(dir, ".git")) {
		above := filepath.Dir(dir)
		if above == dir || !inside(above) {
			break
		}
		var texts []string
		for _, name := range append(IgnoreFiles(), filepath.Join(".git", "info", "exclude")) {
			if text, err := read(filepath.Join(above, name)); err == nil {
				texts = append(texts, string(text))
			}
		}
		if texts != nil {
			out = append(out, Above{Path: below, Files: texts})
		}
		dir, below = above, filepath.Base(above)+"/"+below
	}
	return out
}
