package fsbackend

import (
	"path/filepath"
	"strings"
	"sync"
)

// A FaultPoint is a named moment of storage at which a test can make
// something fail or happen.
type FaultPoint string

// The moments, in the order in which one write passes them.
const (
	// AtWrite: a write begins, before anything was looked at. An error here is
	// that of the whole write.
	AtWrite FaultPoint = "write"
	// AtBeforeWrite: as AtWrite; the usual place for another program's change.
	AtBeforeWrite FaultPoint = "before_write"
	// AtMkdir: a missing parent folder is about to be made.
	AtMkdir FaultPoint = "mkdir"
	// AtTempWrite: the temporary file is being written; Fault.AfterBytes of
	// it are written first.
	AtTempWrite FaultPoint = "temp_write"
	// AtSync: the temporary file is about to be synced.
	AtSync FaultPoint = "sync"
	// AtBeforeRename: all is staged, the last check of the precondition and
	// the publication come next.
	AtBeforeRename FaultPoint = "before_rename"
	// AtRename: the last check has passed, the publication is next.
	AtRename FaultPoint = "rename"
	// AtAfterWrite: the new file is in place. An error here is one that comes
	// after the fact: the write has happened, and yet fails.
	AtAfterWrite FaultPoint = "after_write"
	// AtRead: a file is about to be read for a caller.
	AtRead FaultPoint = "read"
	// AtAppend is for stores that append, such as the session log; no
	// Backend passes it.
	AtAppend FaultPoint = "append"
)

// A Fault is what happens at one point.
type Fault struct {
	At FaultPoint
	// Path limits the fault to one file: a whole path, or its last parts
	// ("a.txt", "src/a.txt"). Empty means every file.
	Path string
	// Nth is the passing, counted from 1 among those that match, at which the
	// fault happens; 0 means at each.
	Nth int
	// AfterBytes is how much of a temporary file is written first; only for
	// AtTempWrite.
	AfterBytes int
	// Do, if not nil, runs first, with the path.
	Do func(path string)
	// Err, if not nil, is the error that the system is said to have given.
	Err error
}

// Faults is a set of faults that a test gives to a backend. The nil *Faults
// has none. It is safe for concurrent use; Do functions run without any lock
// of Faults held, one after another for each passing.
type Faults struct {
	mu   sync.Mutex
	list []*armed // guarded by mu
}

type armed struct {
	Fault
	seen int
}

// NewFaults returns a set of these faults.
func NewFaults(list ...Fault) *Faults {
	f := &Faults{}
	for _, x := range list {
		f.Add(x)
	}
	return f
}

// Add arms one more fault.
func (f *Faults) Add(x Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, &armed{Fault: x})
}

// Clear takes all faults away.
func (f *Faults) Clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = nil
}

// Hit passes a point: it runs what is armed there and returns the first error.
// A backend calls it; so may another store that takes a *Faults.
func (f *Faults) Hit(at FaultPoint, path string) error {
	var first error
	for _, x := range f.take(at, path) {
		if x.Do != nil {
			x.Do(path)
		}
		if first == nil {
			first = x.Err
		}
	}
	return first
}

// hitAll passes a point that a file has under two names: as asked and as it is.
func (f *Faults) hitAll(at FaultPoint, asked, real string) error {
	if f == nil {
		return nil
	}
	var first error
	for _, x := range f.take2(at, asked, real) {
		if x.Do != nil {
			x.Do(asked)
		}
		if first == nil {
			first = x.Err
		}
	}
	return first
}

func (f *Faults) take(at FaultPoint, path string) []Fault { return f.take2(at, path, path) }

// take2 counts the passing and returns the faults that are due.
func (f *Faults) take2(at FaultPoint, asked, real string) []Fault {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var due []Fault
	for _, x := range f.list {
		if x.At != at || !x.names(asked) && !x.names(real) {
			continue
		}
		x.seen++
		if x.Nth == 0 || x.Nth == x.seen {
			due = append(due, x.Fault)
		}
	}
	return due
}

// names reports whether the fault is about this path, by whole components.
func (f Fault) names(path string) bool {
	if f.Path == "" || f.Path == path {
		return true
	}
	p, want := filepath.ToSlash(path), filepath.ToSlash(f.Path)
	return strings.HasSuffix(p, "/"+strings.TrimPrefix(want, "./"))
}
