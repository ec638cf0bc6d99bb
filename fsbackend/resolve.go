package fsbackend

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode"
)

// maxLinks is how many links one path may lead through, as in Linux.
const maxLinks = 40

// A lookup is what resolving asks of a file system; whole real paths go in.
// It exists so that systems that this machine is not can be tried.
type lookup struct {
	lstat    func(path string) (fs.FileInfo, error)
	readlink func(path string) (string, error)
	names    func(dir string) ([]string, error)
	same     func(a, b fs.FileInfo) bool
	// sure says that case is known to count, so that nobody need ask in which
	// case a name is stored.
	sure bool
}

// disk asks the operating system.
var disk = lookup{
	lstat:    os.Lstat,
	readlink: os.Readlink,
	names: func(dir string) ([]string, error) {
		f, err := os.Open(dir)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return f.Readdirnames(-1)
	},
	same: os.SameFile,
}

// resolved is a path after its links.
type resolved struct {
	real string
	info fs.FileInfo // nil: there is no such file
	// missing are the folders that do not exist yet, outermost first.
	missing []string
	// file is the regular file (or pipe, …) that stands where a folder must
	// be; "" if none does.
	file string
}

// resolve follows every link of an absolute path, one component at a time, as
// the system would: ".." in a link's target means the real parent. What does
// not exist is appended as it stands, so a missing file gets the path that it
// will have, also at the end of a dangling link. Where names are found
// regardless of case, the result has the case in which they are stored.
//
// filepath.EvalSymlinks is not used: it fails for missing files, and it does
// not tell where they would be.
func (l lookup) resolve(path string) (resolved, error) {
	return l.resolveFrom(topOf(path), components(path))
}

// resolveFrom is resolve from a real path on, which exists.
func (l lookup) resolveFrom(start string, todo []string) (resolved, error) {
	r := resolved{real: start}
	info, err := l.lstat(start)
	if err != nil {
		return r, err
	}
	r.info = info
	for links := 0; len(todo) > 0; {
		name := todo[0]
		todo = todo[1:]
		if name == ".." {
			r = resolved{real: filepath.Dir(r.real)}
			if r.info, err = l.lstat(r.real); err != nil {
				return r, err
			}
			continue
		}
		here := filepath.Join(r.real, name)
		info, err := l.lstat(here)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			return r.without(append([]string{name}, todo...))
		}
		if err != nil {
			return r, err
		}
		target, err := l.target(here, info)
		if err != nil {
			return r, err
		}
		if target == "" {
			r.real, r.info = l.stored(r.real, name, info), info
			continue
		}
		if links++; links > maxLinks {
			return r, &fs.PathError{Op: "resolve", Path: here, Err: errLoop}
		}
		todo = append(components(target), todo...)
		if filepath.IsAbs(target) {
			r.real = topOf(target)
			if r.info, err = l.lstat(r.real); err != nil {
				return r, err
			}
		}
	}
	return r, nil
}

// errMissingWay is a link through a folder that does not exist.
var errMissingWay = fmt.Errorf("a link leads through a missing folder: %w", fs.ErrNotExist)

// errLoop stands for ELOOP, which not every system has.
var errLoop = errors.New("too many links, perhaps a loop of links")

// target is where a link leads, "" if it is none. Junctions of Windows are
// links that Go calls irregular.
func (l lookup) target(path string, info fs.FileInfo) (string, error) {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return l.readlink(path)
	case info.Mode()&fs.ModeIrregular != 0:
		if t, err := l.readlink(path); err == nil {
			return t, nil
		}
	}
	return "", nil
}

// without adds the components that do not exist. A ".." among them comes from
// a link that leads through a missing folder; the system does not take it
// either, and resolving it by its letters could walk past links unseen.
func (r resolved) without(names []string) (resolved, error) {
	if slices.Contains(names, "..") {
		return r, &fs.PathError{Op: "resolve", Path: r.real, Err: errMissingWay}
	}
	if !r.info.IsDir() {
		r.file = r.real
	}
	r.info = nil
	for i, n := range names {
		r.real = filepath.Join(r.real, n)
		if i < len(names)-1 {
			r.missing = append(r.missing, r.real)
		}
	}
	return r, nil
}

// stored is dir/name in the case in which the folder has the name. A folder
// is asked for its names only if it finds the name in the other case too,
// which costs one look-up that fails on most systems.
func (l lookup) stored(dir, name string, info fs.FileInfo) string {
	path := filepath.Join(dir, name)
	other := swapCase(name)
	if l.sure || other == name {
		return path
	}
	twin, err := l.lstat(filepath.Join(dir, other))
	if err != nil || !l.same(info, twin) {
		return path
	}
	names, err := l.names(dir)
	if err != nil || slices.Contains(names, name) {
		return path
	}
	// Another case of the name is likely; else it is an alias of another
	// kind, such as another Unicode form or a short name of DOS.
	for _, alike := range []func(string) bool{
		func(n string) bool { return strings.EqualFold(n, name) },
		func(n string) bool { return !strings.EqualFold(n, name) },
	} {
		for _, n := range names {
			if !alike(n) {
				continue
			}
			if i, err := l.lstat(filepath.Join(dir, n)); err == nil && l.same(info, i) {
				return filepath.Join(dir, n)
			}
		}
	}
	return path
}

// swapCase turns every letter into the other case.
func swapCase(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, s)
}

// topOf is the top of a path's volume. Volumes of Windows are the same in any
// case, so there is one spelling.
func topOf(path string) string {
	return strings.ToUpper(filepath.VolumeName(path)) + string(filepath.Separator)
}

// components splits a path below its volume and top. It keeps "..".
func components(path string) []string {
	path = filepath.ToSlash(path[len(filepath.VolumeName(path)):])
	return slices.DeleteFunc(strings.Split(path, "/"), func(s string) bool { return s == "" || s == "." })
}

// within reports whether path is root or lies below it, by whole components.
// Both are clean and real.
func within(root, path string) bool {
	if path == root {
		return true
	}
	if !strings.HasSuffix(root, string(filepath.Separator)) {
		root += string(filepath.Separator)
	}
	return strings.HasPrefix(path, root)
}
