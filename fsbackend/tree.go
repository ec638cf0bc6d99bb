package fsbackend

import (
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Tree is the files of a [Mem]. Its exported methods are another program's
// view: they know no roots, check nothing, follow no link in the last part of
// a path, and take absolute paths.
type Tree struct {
	mu    sync.Mutex
	nodes map[string]*node // by real path; guarded by mu; hard links share one
}

// A node is a file, folder or link as it is at one time: it never changes,
// another takes its place. It is its own fs.FileInfo.
type node struct {
	mode   fs.FileMode
	data   []byte
	target string // of a link
}

func (n *node) Name() string       { return "" }
func (n *node) Size() int64        { return int64(len(n.data)) }
func (n *node) Mode() fs.FileMode  { return n.mode }
func (n *node) ModTime() time.Time { return time.Time{} }
func (n *node) IsDir() bool        { return n.mode.IsDir() }
func (n *node) Sys() any           { return nil }

// bytes is a copy, never nil.
func (n *node) bytes() []byte { return append([]byte{}, n.data...) }

// top is every volume's uppermost folder.
var top = &node{mode: fs.ModeDir | 0o755}

// lookup lets paths be resolved by the same rules as on disk.
func (t *Tree) lookup() lookup {
	return lookup{
		lstat: func(path string) (fs.FileInfo, error) {
			if n := t.at(path); n != nil {
				return n, nil
			}
			return nil, fs.ErrNotExist
		},
		readlink: func(path string) (string, error) {
			if n := t.at(path); n != nil {
				return n.target, nil
			}
			return "", fs.ErrNotExist
		},
		names: func(string) ([]string, error) { return nil, fs.ErrNotExist },
		same:  func(a, b fs.FileInfo) bool { return a == b },
	}
}

// at is what is at a real path, or nil.
func (t *Tree) at(path string) *node {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.node(path)
}

// node needs mu.
func (t *Tree) node(path string) *node {
	if path == topOf(path) {
		return top
	}
	return t.nodes[path]
}

// count is the number of a file's names.
func (t *Tree) count(n *node) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	names := 0
	for _, other := range t.nodes {
		if other == n {
			names++
		}
	}
	return names
}

// swap puts a node in the place of another, nil being none, and reports
// whether the other was there and the folder above too.
func (t *Tree) swap(path string, old, put *node) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.nodes[path] != old {
		return false
	}
	if put == nil {
		delete(t.nodes, path)
		return true
	}
	if dir := t.node(filepath.Dir(path)); dir == nil || !dir.IsDir() {
		return false
	}
	t.nodes[path] = put
	return true
}

// removeEmpty removes a folder, and reports whether it could.
func (t *Tree) removeEmpty(dir string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := t.nodes[dir]; n == nil || !n.IsDir() {
		return false
	}
	for path := range t.nodes {
		if filepath.Dir(path) == dir {
			return false
		}
	}
	delete(t.nodes, dir)
	return true
}

// put makes the folders above and sets a node.
func (t *Tree) put(path string, n *node) error {
	path = filepath.Clean(path)
	if !filepath.IsAbs(path) {
		return fmt.Errorf("put %s: not absolute", path)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for dir := filepath.Dir(path); dir != topOf(path); dir = filepath.Dir(dir) {
		switch above := t.nodes[dir]; {
		case above == nil:
			t.nodes[dir] = &node{mode: fs.ModeDir | 0o755}
		case !above.IsDir():
			return fmt.Errorf("put %s: %s is no folder", path, dir)
		}
	}
	if path != topOf(path) {
		t.nodes[path] = n
	}
	return nil
}

// Put writes a file in place, and makes the folders above it. All names of a
// hard-linked file get the text. A mode of 0 keeps the old one, or is 0644.
func (t *Tree) Put(path string, data []byte, mode fs.FileMode) error {
	path = filepath.Clean(path)
	old := t.at(path)
	if mode == 0 {
		mode = 0o644
		if old != nil {
			mode = old.mode
		}
	}
	n := &node{mode: mode, data: append([]byte(nil), data...)}
	if old == nil {
		return t.put(path, n)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for name, other := range t.nodes {
		if other == old {
			t.nodes[name] = n
		}
	}
	return nil
}

// Mkdir makes a folder and those above it.
func (t *Tree) Mkdir(path string) error {
	if n := t.at(filepath.Clean(path)); n != nil && n.IsDir() {
		return nil
	}
	return t.put(path, &node{mode: fs.ModeDir | 0o755})
}

// Symlink makes a link.
func (t *Tree) Symlink(target, path string) error {
	return t.put(path, &node{mode: fs.ModeSymlink | 0o777, target: target})
}

// Link gives a file one more name.
func (t *Tree) Link(old, path string) error {
	n := t.at(filepath.Clean(old))
	if n == nil {
		return &fs.PathError{Op: "link", Path: old, Err: fs.ErrNotExist}
	}
	return t.put(path, n)
}

// Pipe makes a named pipe.
func (t *Tree) Pipe(path string) error { return t.put(path, &node{mode: fs.ModeNamedPipe | 0o644}) }

// Delete removes a file, link or pipe, or a folder and all below it.
func (t *Tree) Delete(path string) error {
	path = filepath.Clean(path)
	t.mu.Lock()
	defer t.mu.Unlock()
	for p := range t.nodes {
		if within(path, p) {
			delete(t.nodes, p)
		}
	}
	return nil
}

// Lstat is the mode of what is at a path, the bytes of a file or the target of
// a link. It fails with fs.ErrNotExist.
func (t *Tree) Lstat(path string) (mode fs.FileMode, data []byte, err error) {
	n := t.at(filepath.Clean(path))
	switch {
	case n == nil:
		return 0, nil, &fs.PathError{Op: "lstat", Path: path, Err: fs.ErrNotExist}
	case n.mode&fs.ModeSymlink != 0:
		return n.mode, []byte(n.target), nil
	}
	return n.mode, n.bytes(), nil
}

// Paths is every path of the tree below a folder, sorted.
func (t *Tree) Paths(dir string) ([]string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := slices.Sorted(maps.Keys(t.nodes))
	return slices.DeleteFunc(all, func(p string) bool { return p == dir || !within(dir, p) }), nil
}
