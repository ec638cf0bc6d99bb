package fsbackend

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// roots are the folders in which a Local may work. Every access goes through
// a handle of the root, so that a link that is swapped in between the check
// and the use cannot lead out of it.
type roots struct {
	free   bool // no containment: the top of each volume is a root
	widen  string
	mu     sync.Mutex
	list   []root // guarded by mu; grows only if free
	tops   []root // of volumes, for paths that a list opens; guarded by mu
	closed bool   // guarded by mu
}

type root struct {
	real   string // after links
	handle *os.Root
	// exact demands that no link is followed on the way to a real path: what
	// is swapped in between the check and the use is an error then, also if it
	// leads to another place of this root.
	exact bool
}

// openRoots resolves and opens the folders.
func openRoots(dirs []string, free bool, widen string) (*roots, error) {
	rs := &roots{free: free, widen: widen}
	for _, dir := range dirs {
		if !filepath.IsAbs(dir) {
			rs.close()
			return nil, fail("open", dir, CodeNotFound, "the root is a relative path", "give an absolute one")
		}
		r, err := disk.resolve(filepath.Clean(dir))
		if err != nil {
			rs.close()
			return nil, failWith("open", dir, "the root cannot be resolved", err)
		}
		if r.info == nil {
			rs.close()
			return nil, fail("open", dir, CodeNotFound, "the root does not exist", "")
		}
		if !r.info.IsDir() {
			rs.close()
			return nil, fail("open", dir, CodeNotDirectory, "the root is not a folder", "")
		}
		if _, err := rs.add(r.real); err != nil {
			rs.close()
			return nil, failWith("open", dir, "the root cannot be opened", err)
		}
	}
	return rs, nil
}

func (rs *roots) add(real string) (root, error) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.closed {
		return root{}, fs.ErrClosed
	}
	for _, r := range rs.list {
		if r.real == real {
			return r, nil
		}
	}
	h, err := os.OpenRoot(real)
	if err != nil {
		return root{}, err
	}
	r := root{real: real, handle: h}
	rs.list = append(rs.list, r)
	// The innermost root comes first: its handle has the shortest way.
	slices.SortStableFunc(rs.list, func(a, b root) int { return len(b.real) - len(a.real) })
	return r, nil
}

func (rs *roots) close() error {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.closed = true
	var first error
	for _, r := range slices.Concat(rs.list, rs.tops) {
		if err := r.handle.Close(); first == nil {
			first = err
		}
	}
	rs.list, rs.tops = nil, nil
	return first
}

// of returns the root that holds a real path, or an error with CodeDenied.
func (rs *roots) of(op, path, real string) (root, error) {
	rs.mu.Lock()
	for _, r := range rs.list {
		if within(r.real, real) {
			rs.mu.Unlock()
			return r, nil
		}
	}
	open := make([]string, len(rs.list))
	for i, r := range rs.list {
		open[i] = r.real
	}
	rs.mu.Unlock()
	if rs.free {
		r, err := rs.add(topOf(real))
		if err != nil {
			return root{}, failWith(op, path, "the volume cannot be opened", err)
		}
		return r, nil
	}
	return root{}, fail(op, path, CodeDenied, deniedText(path, real, open), rs.widen)
}

// top returns the root that is the whole volume of a real path, for a path
// that a list opens by name. It serves that one path alone.
func (rs *roots) top(op, path, real string) (root, error) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	name := topOf(real)
	if i := slices.IndexFunc(rs.tops, func(r root) bool { return r.real == name }); i >= 0 {
		return rs.tops[i], nil
	}
	if rs.closed {
		return root{}, failWith(op, path, "the volume cannot be opened", fs.ErrClosed)
	}
	h, err := os.OpenRoot(name)
	if err != nil {
		return root{}, failWith(op, path, "the volume cannot be opened", err)
	}
	rs.tops = append(rs.tops, root{real: name, handle: h})
	return rs.tops[len(rs.tops)-1], nil
}

// deniedText says which folders are open, and where a link led.
func deniedText(path, real string, open []string) string {
	where := "outside of "
	switch len(open) {
	case 0:
		return "denied, since no folder is open in this session"
	case 1:
		where += "the folder that is open, " + open[0]
	default:
		slices.Sort(open)
		where += "the folders that are open, " + strings.Join(open, ", ")
	}
	if real != path {
		return fmt.Sprintf("denied: it leads through a link to %s, %s", real, where)
	}
	return "denied: it lies " + where
}

// rel is a real path below the root, as os.Root takes it.
func (r root) rel(real string) string {
	rel := strings.TrimPrefix(real[len(r.real):], string(filepath.Separator))
	if rel == "" {
		return "."
	}
	return rel
}

// dir opens the folder of a real path. All further steps of an operation are
// by plain names in it.
func (r root) dir(real string) (*os.Root, string, error) {
	rel := r.rel(real)
	if r.exact && rel != "." {
		d, err := r.exactDir(filepath.Dir(rel))
		return d, filepath.Base(rel), err
	}
	if rel == "." {
		d, err := r.handle.OpenRoot(".")
		return d, ".", err
	}
	d, err := r.handle.OpenRoot(filepath.Dir(rel))
	return d, filepath.Base(rel), err
}

// exactDir opens a folder below the root by a way that holds no link. Each
// part is looked at before it is opened, and what was opened must be what was
// seen: a folder that is swapped for a link meanwhile, even to a folder of the
// same root, is noticed. errMoved says so.
func (r root) exactDir(rel string) (*os.Root, error) {
	d, err := r.handle.OpenRoot(".")
	if err != nil || rel == "." {
		return d, err
	}
	for name := range strings.SplitSeq(rel, string(filepath.Separator)) {
		next, err := exactChild(d, name)
		d.Close()
		if err != nil {
			return nil, err
		}
		d = next
	}
	return d, nil
}

func exactChild(d *os.Root, name string) (*os.Root, error) {
	seen, err := d.Lstat(name)
	if err != nil {
		return nil, err
	}
	if seen.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0 {
		return nil, errMoved
	}
	next, err := d.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if got, err := next.Stat("."); err != nil || !os.SameFile(seen, got) {
		next.Close()
		return nil, errMoved
	}
	return next, nil
}

// mkdir makes a folder of a real path in the one above, which exists.
func (r root) mkdir(real string) error {
	if !r.exact {
		return r.handle.Mkdir(r.rel(real), 0o777)
	}
	d, name, err := r.dir(real)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Mkdir(name, 0o777)
}

// remove removes an empty folder of a real path.
func (r root) remove(real string) error {
	if !r.exact {
		return r.handle.Remove(r.rel(real))
	}
	d, name, err := r.dir(real)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Remove(name)
}
