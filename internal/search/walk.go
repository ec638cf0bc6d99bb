package search

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// A Tree is the folder that is searched.
type Tree struct {
	// Root is the open folder; it stays the caller's to close. Required.
	Root *os.Root
	// Allow decides whether a path below the folder, relative and with
	// slashes, may be looked at; what it denies is as if it were not there.
	// It is called concurrently. nil allows all.
	Allow func(path string) bool
	// Above is what the ignore files of the folders above say, nearest first.
	Above []Above
}

// VersionControl reports whether a folder of this name keeps a repository's
// own data, which is never searched.
func VersionControl(name string) bool {
	switch name {
	case ".git", ".hg", ".svn", ".bzr", ".jj", ".sl":
		return true
	}
	return false
}

var errNotFile = errors.New("not a regular file")

// batch is how many files of one folder are one piece of work.
const batch = 64

// A walk goes through a tree with several workers. Which of them sees a file,
// and when, is chance; what is made of it must not depend on that.
type walk struct {
	tree Tree
	// enter decides about a folder, take about a file or link, by their paths
	// after the ignore rules. visit handles what take took. All are called
	// concurrently; worker numbers the calling worker from 0.
	enter func(path, name string) bool
	take  func(path, name string, link bool) bool
	visit func(worker int, at *folder, path, name string)

	unread atomic.Int64 // files and folders that could not be opened

	mu    sync.Mutex
	more  *sync.Cond
	stack []task // guarded by mu; last in, first out, so that few folders are open
	busy  int    // tasks that are being worked on; guarded by mu
}

// A task is one folder to list, or some files of an open one.
type task struct {
	at    *shared // the open folder, or the one above of the folder to list
	path  string  // of at, with a slash at the end; "" for the top
	name  string  // of the folder to list, "" for files
	files []string
	rules *level
}

// shared is an open folder that closes with its last task.
type shared struct {
	*folder
	uses atomic.Int32
}

func (s *shared) keep() *shared { s.uses.Add(1); return s }

func (s *shared) drop() {
	if s.uses.Add(-1) == 0 {
		s.close()
	}
}

// workers is how many workers a walk has.
func workers() int { return max(runtime.GOMAXPROCS(0), 1) }

// run walks until all is seen or the context ends. Its error is the context's,
// or that of the top folder.
func (w *walk) run(ctx context.Context) error {
	top, err := openTop(w.tree.Root)
	if err != nil {
		return err
	}
	s := (&shared{folder: top}).keep()
	w.more = sync.NewCond(&w.mu)
	err = w.expand(s, "", levels(w.tree.Above))
	s.drop()
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.more.Broadcast()
	})
	defer stop()
	var all sync.WaitGroup
	for n := range workers() {
		all.Go(func() { w.work(ctx, n) })
	}
	all.Wait()
	for _, t := range w.stack { // left over by a cancel
		t.at.drop()
	}
	return ctx.Err()
}

func (w *walk) work(ctx context.Context, worker int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for ctx.Err() == nil {
		if len(w.stack) == 0 {
			if w.busy == 0 {
				w.more.Broadcast()
				return
			}
			w.more.Wait()
			continue
		}
		t := w.stack[len(w.stack)-1]
		w.stack = w.stack[:len(w.stack)-1]
		w.busy++
		w.mu.Unlock()
		w.do(ctx, worker, t)
		w.mu.Lock()
		w.busy--
	}
}

func (w *walk) do(ctx context.Context, worker int, t task) {
	defer t.at.drop()
	if t.name == "" {
		for _, name := range t.files {
			if ctx.Err() != nil {
				return
			}
			w.visit(worker, t.at.folder, t.path+name, name)
		}
		return
	}
	d, err := t.at.child(t.name)
	if err != nil {
		w.failed(err)
		return
	}
	s := (&shared{folder: d}).keep()
	defer s.drop()
	if err := w.expand(s, t.path+t.name+"/", t.rules); err != nil {
		w.failed(err)
	}
}

// failed counts what could not be read. What vanished was not there.
func (w *walk) failed(err error) {
	if !errors.Is(err, fs.ErrNotExist) {
		w.unread.Add(1)
	}
}

// expand lists a folder and makes tasks of what is in it. path ends with a
// slash unless it is the top's.
func (w *walk) expand(at *shared, path string, above *level) error {
	entries, err := at.list()
	if err != nil && len(entries) == 0 {
		return err
	}
	if err != nil {
		w.failed(err)
	}
	rules := w.rules(at, path, entries, above)
	var tasks []task
	var files []string
	for _, e := range entries {
		name := e.Name()
		kind := e.Type()
		full := path + name
		switch {
		case kind.IsDir():
			if VersionControl(name) || rules.ignores(full, name, true) || !w.enter(full, name) || !w.allowed(full) {
				continue
			}
			tasks = append(tasks, task{at: at.keep(), path: path, name: name, rules: rules})
		case kind.IsRegular(), kind&fs.ModeSymlink != 0:
			if !w.take(full, name, !kind.IsRegular()) || rules.ignores(full, name, false) || !w.allowed(full) {
				continue
			}
			files = append(files, name)
		}
	}
	for some := range slices.Chunk(files, batch) {
		tasks = append(tasks, task{at: at.keep(), path: path, files: some})
	}
	w.mu.Lock()
	w.stack = append(w.stack, tasks...)
	w.mu.Unlock()
	if len(tasks) > 1 {
		w.more.Broadcast()
	} else if len(tasks) == 1 {
		w.more.Signal()
	}
	return nil
}

func (w *walk) allowed(path string) bool { return w.tree.Allow == nil || w.tree.Allow(path) }

// rules reads the ignore files of a folder.
func (w *walk) rules(at *shared, path string, entries []fs.DirEntry, above *level) *level {
	l := level{above: above, skip: len(path)}
	found := map[string]bool{}
	for _, e := range entries {
		switch name := e.Name(); name {
		case ".ignore", ".gitignore":
			found[name] = e.Type().IsRegular() && w.allowed(path+name)
		case ".git":
			l.top = true
			found[name] = e.IsDir() && w.allowed(path+name)
		}
	}
	for _, name := range ignoreNames {
		if found[name] {
			l.add(at.folder, name)
		}
	}
	if found[".git"] {
		l.addExclude(at.folder)
	}
	if len(l.files) == 0 && !l.top {
		return above
	}
	return &l
}

// addExclude adds a repository's own list, which no commit has.
func (l *level) addExclude(at *folder) {
	git, err := at.child(".git")
	if err != nil {
		return
	}
	defer git.close()
	info, err := git.child("info")
	if err != nil {
		return
	}
	defer info.close()
	l.add(info, "exclude")
}

// maxRules bounds an ignore file; what lies behind is not read.
const maxRules = 1 << 20

func (l *level) add(at *folder, name string) {
	f, err := at.open(name)
	if err != nil {
		return
	}
	defer f.close()
	var b strings.Builder
	buf := make([]byte, 4096)
	for b.Len() < maxRules {
		n, err := f.read(buf)
		if n == 0 || err != nil {
			break
		}
		b.Write(buf[:n])
	}
	if rs := parseRules(b.String()); len(rs) > 0 {
		l.files = append(l.files, rs)
	}
}
