package search

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Mode is what a search by content is to find out.
type Mode int

const (
	Names  Mode = iota // which files match
	Lines              // the lines, with those around them
	Counts             // how many lines of each file
)

// A Query is a search by content.
type Query struct {
	Pattern *Pattern // required
	Mode    Mode
	// Before and After are how many lines of context are wanted.
	Before, After int
	// Files picks files; the zero Filter takes all.
	Files Filter
	// Keep bounds what is kept: files, or with Lines the lines of all files.
	// What comes first in the order of the result is kept. It must be from 1 on.
	Keep int
}

// A Hit is one file that was found.
type Hit struct {
	Path    string // relative to the searched folder, with slashes
	Time    time.Time
	Matches int    // lines that match; with Names, 1
	Lines   []Line // with Lines: at most Query.Keep of them
	Total   int    // with Lines: how many there are
}

// Found is what a search by content found.
type Found struct {
	// Hits come newest first, by when the file was last changed; what was
	// changed at one time comes in the reverse order of the paths.
	Hits    []Hit
	Files   int // that match, kept or not
	Matches int // matching lines of all of them
	Total   int // lines that could be shown, with Lines
	Left
}

// Left is what was not looked at and could have been.
type Left struct {
	Unread int // could not be opened or read
	Large  int // were too large for a match over several lines, or had a line of more than 16 MiB
}

// Grep searches the files below a folder. Hidden files are searched, ignored
// and binary ones are not. Its error is the context's or that of the folder.
func Grep(ctx context.Context, tree Tree, q Query) (Found, error) {
	c := newCollector(q.Keep, q.Mode == Lines, newestFirst)
	scanners := make([]*scanner, workers())
	var large atomic.Int64
	w := &walk{
		tree:  tree,
		enter: func(string, string) bool { return true },
		take:  func(path, name string, link bool) bool { return !link && q.Files.Match(path, name) },
	}
	w.visit = func(worker int, at *folder, path, name string) {
		if scanners[worker] == nil {
			scanners[worker] = newScanner(&q)
		}
		src, err := at.open(name)
		if err != nil {
			if !errors.Is(err, errNotFile) {
				w.failed(err)
			}
			return
		}
		defer src.close()
		hit, err := scanners[worker].file(ctx, src, src.size)
		scanners[worker].shrink()
		switch {
		case errors.Is(err, errTooLarge):
			large.Add(1)
		case err == nil && hit != nil:
			hit.Path, hit.Time = path, src.time
			c.add(*hit)
		case err != nil && !errors.Is(err, errBinary) && ctx.Err() == nil:
			w.failed(err)
		}
	}
	if err := w.run(ctx); err != nil {
		return Found{}, err
	}
	found := c.result()
	found.Left = Left{Unread: int(w.unread.Load()), Large: int(large.Load())}
	return found, nil
}

// GrepReader searches one text. A binary one has no hits. The path of a hit is
// empty.
func GrepReader(ctx context.Context, r io.Reader, q Query) (Found, error) {
	c := newCollector(q.Keep, q.Mode == Lines, newestFirst)
	hit, err := newScanner(&q).file(ctx, stream{r}, -1)
	switch {
	case errors.Is(err, errTooLarge):
		return Found{Left: Left{Large: 1}}, nil
	case errors.Is(err, errBinary):
		return Found{}, nil
	case err != nil:
		return Found{}, err
	}
	if hit != nil {
		c.add(*hit)
	}
	return c.result(), nil
}

// stream is an io.Reader as a [reader].
type stream struct{ r io.Reader }

func (s stream) read(p []byte) (int, error) {
	n, err := io.ReadAtLeast(s.r, p, 1)
	if err == io.EOF {
		err = nil
	}
	return n, err
}

// Listed is what a search by name found.
type Listed struct {
	// Files come in the order of their last change, the newest at the end;
	// what was changed at one time comes in the order of the paths. Of more
	// than were to be kept these are the newest.
	Files []Hit
	Total int
	Left
}

// Glob finds files and links below a folder by name. What is hidden is found
// only by a pattern that names it; see [Filter.Hidden]. keep bounds how many
// are kept; it must be from 1 on.
func Glob(ctx context.Context, tree Tree, f Filter, keep int) (Listed, error) {
	c := newCollector(keep, false, newestFirst)
	w := &walk{
		tree:  tree,
		enter: func(_, name string) bool { return f.Hidden(name) },
		take:  func(path, name string, _ bool) bool { return f.Hidden(name) && f.Match(path, name) },
		visit: func(_ int, at *folder, path, name string) {
			if when, err := at.changed(name); err == nil {
				c.add(Hit{Path: path, Time: when})
			}
		},
	}
	if err := w.run(ctx); err != nil {
		return Listed{}, err
	}
	found := c.result()
	slices.Reverse(found.Hits)
	return Listed{Files: found.Hits, Total: found.Files, Left: Left{Unread: int(w.unread.Load())}}, nil
}

func newestFirst(a, b Hit) int {
	if c := b.Time.Compare(a.Time); c != 0 {
		return c
	}
	return strings.Compare(b.Path, a.Path)
}

// A collector keeps the first hits of an order in bounded memory.
type collector struct {
	keep  int
	lines bool // keep counts lines
	order func(a, b Hit) int

	mu    sync.Mutex
	found Found // guarded by mu
	held  int   // of found.Hits; guarded by mu
}

func newCollector(keep int, lines bool, order func(a, b Hit) int) *collector {
	return &collector{keep: keep, lines: lines, order: order}
}

func (c *collector) cost(h Hit) int {
	if c.lines {
		return len(h.Lines)
	}
	return 1
}

func (c *collector) add(h Hit) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.found.Files++
	c.found.Matches += h.Matches
	c.found.Total += h.Total
	c.found.Hits = append(c.found.Hits, h)
	// Half as much again is kept before what is too much goes, so that the
	// sorting is paid for by what it throws away.
	if c.held += c.cost(h); c.held > c.keep+c.keep/2+batch {
		c.trim()
	}
}

// trim sorts and drops what lies behind the bound. It needs mu.
func (c *collector) trim() {
	slices.SortFunc(c.found.Hits, c.order)
	c.held = 0
	for i := range c.found.Hits {
		h := &c.found.Hits[i]
		if c.held == c.keep {
			clear(c.found.Hits[i:])
			c.found.Hits = c.found.Hits[:i]
			break
		}
		if room := c.keep - c.held; c.lines && len(h.Lines) > room {
			h.Lines = slices.Clone(h.Lines[:room])
		}
		c.held += c.cost(*h)
	}
}

func (c *collector) result() Found {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trim()
	return c.found
}

// count names an amount of bytes.
func count(n int) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}
