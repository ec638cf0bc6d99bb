package acptest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"dsh-acp/internal/text"
)

// Buffers are the open files of an editor, which behave as those of Zed are
// documented to:
//
//   - A text has LF line ends only; saving restores those that the file had
//     when it was opened.
//   - A read gives the buffer, unsaved text included, and remembers it as the
//     agent's snapshot. A missing file opens an empty buffer.
//   - A write compares its text with the snapshot, not with the buffer, and
//     carries the difference over to the buffer: what the user typed since the
//     snapshot stays. Where the text was made from anything but the snapshot,
//     the difference is one that nobody asked for. Then the text is formatted
//     and saved, in place.
//   - What lies in no worktree can be neither read nor written.
//   - A buffer without unsaved changes follows the file, with a delay.
//
// Buffers is safe for concurrent use. The hooks run without its lock held, and
// must be set before the first use.
type Buffers struct {
	// Worktrees are the folders that the editor has open.
	Worktrees []string
	// Format, if not nil, is what saving for an agent makes of a text.
	Format func(string) string
	// Lag is how many reads of a buffer do not see yet that its file has been
	// changed; negative: it is never seen.
	Lag int
	// Unsaved leaves the file as it is when an agent writes.
	Unsaved bool
	// Raw keeps the line ends of files in buffers, as plain editors do.
	Raw bool
	// BeforeRead and BeforeWrite, if not nil, run first; an error is the
	// answer then. AfterWrite turns a write that was done into an error.
	BeforeRead, BeforeWrite func(ctx context.Context, path string) error
	AfterWrite              func(ctx context.Context, path string) error

	mu    sync.Mutex
	open  map[string]*buffer // guarded by mu
	calls []string           // guarded by mu
}

// A buffer is one open file.
type buffer struct {
	path     string
	text     string
	saved    string // what the file held when it was last read or saved
	crlf     bool
	lag      int      // reads until a change of the file is seen
	history  []splice // all changes of text
	snapshot *snapshot
}

// A splice replaces del bytes at an offset by ins.
type splice struct {
	at, del int
	ins     string
}

// A snapshot is a buffer's text at a point of its history.
type snapshot struct {
	text string
	at   int // length of the history then
}

// ErrNoResource is the answer about a path in no worktree.
var ErrNoResource = errors.New("resource not found")

// errNoBuffer is of a test that types where nothing is open.
var errNoBuffer = errors.New("no such buffer or text")

// Calls are the reads and writes of the agent so far: "read NAME", "write
// NAME", by the last part of the path.
func (b *Buffers) Calls() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.calls)
}

// Open opens a file as the user does.
func (b *Buffers) Open(path string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, err := b.find(path)
	return err
}

// Type replaces the first occurrence of old by a text that is not saved. An
// empty old puts it at the start.
func (b *Buffers) Type(path, old, with string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	f, err := b.find(path)
	if err != nil {
		return err
	}
	i := strings.Index(f.text, old)
	if i < 0 {
		return fmt.Errorf("type in %s: %q: %w", path, old, errNoBuffer)
	}
	f.splice(splice{i, len(old), with})
	return nil
}

// Save saves a buffer for the user.
func (b *Buffers) Save(path string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	f, err := b.find(path)
	if err != nil {
		return err
	}
	return b.save(f)
}

// Text is what a buffer holds, "" if it is not open.
func (b *Buffers) Text(path string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if f := b.open[path]; f != nil {
		return f.text
	}
	return ""
}

// ReadText is the request fs/read_text_file, for a whole file.
func (b *Buffers) ReadText(ctx context.Context, path string) (string, error) {
	b.note("read", path)
	if b.BeforeRead != nil {
		if err := b.BeforeRead(ctx, path); err != nil {
			return "", err
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	f, err := b.find(path)
	if err != nil {
		return "", err
	}
	f.snapshot = &snapshot{f.text, len(f.history)}
	return f.text, nil
}

// WriteText is the request fs/write_text_file.
func (b *Buffers) WriteText(ctx context.Context, path, content string) error {
	b.note("write", path)
	if b.BeforeWrite != nil {
		if err := b.BeforeWrite(ctx, path); err != nil {
			return err
		}
	}
	if err := b.write(path, content); err != nil {
		return err
	}
	if b.AfterWrite != nil {
		return b.AfterWrite(ctx, path)
	}
	return nil
}

func (b *Buffers) write(path, content string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	f, err := b.find(path)
	if err != nil {
		return err
	}
	base := snapshot{f.text, len(f.history)}
	if f.snapshot != nil {
		base = *f.snapshot
	}
	for _, s := range between(base.text, content) {
		f.splice(f.carried(s, base.at))
	}
	if b.Format != nil {
		for _, s := range between(f.text, b.Format(f.text)) {
			f.splice(s)
		}
	}
	if b.Unsaved {
		return nil
	}
	return b.save(f)
}

func (b *Buffers) note(what, path string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls = append(b.calls, what+" "+filepath.Base(path))
}

// find opens a file, or lets its buffer follow it. It needs mu.
func (b *Buffers) find(path string) (*buffer, error) {
	if !b.inside(path) {
		return nil, fmt.Errorf("%s: %w", path, ErrNoResource)
	}
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	now := string(data)
	f := b.open[path]
	switch {
	case f == nil:
		f = &buffer{path: path, lag: b.Lag}
		b.load(f, now)
		f.text = f.saved
		if b.open == nil {
			b.open = map[string]*buffer{}
		}
		b.open[path] = f
	case f.text != f.saved || b.fold(now) == f.saved:
		f.lag = b.Lag
	case f.lag != 0:
		f.lag--
	default:
		f.lag = b.Lag
		b.load(f, now)
		for _, s := range between(f.text, f.saved) {
			f.splice(s)
		}
	}
	return f, nil
}

// load takes in what the file holds now.
func (b *Buffers) load(f *buffer, data string) {
	f.crlf = !b.Raw && strings.Contains(data, "\r\n")
	f.saved = b.fold(data)
}

func (b *Buffers) fold(s string) string {
	if b.Raw {
		return s
	}
	return text.Fold(s)
}

func (b *Buffers) inside(path string) bool {
	for _, dir := range b.Worktrees {
		if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

// save writes in place, as such editors do. It needs mu.
func (b *Buffers) save(f *buffer) error {
	out := f.text
	if f.crlf {
		out = text.WithEnding(out, text.CRLF)
	}
	if err := os.WriteFile(f.path, []byte(out), 0o666); err != nil {
		return err
	}
	f.saved = f.text
	return nil
}

func (f *buffer) splice(s splice) {
	f.text = f.text[:s.at] + s.ins + f.text[s.at+s.del:]
	f.history = append(f.history, s)
}

// carried is a splice of an earlier text as one of the present text.
func (f *buffer) carried(s splice, since int) splice {
	start, end := s.at, s.at+s.del
	for _, h := range f.history[since:] {
		start, end = h.moved(start), h.moved(end)
	}
	s.at, s.del = start, max(end-start, 0)
	return s
}

// moved is where an offset of the text before a splice lies after it.
func (s splice) moved(at int) int {
	switch {
	case at < s.at || at == s.at && s.del > 0:
		return at
	case at >= s.at+s.del:
		return at + len(s.ins) - s.del
	}
	return s.at + len(s.ins)
}

// between is what makes one text of another, the last splice first, so that
// each offset holds when its turn comes.
func between(old, now string) []splice {
	d := text.CompareLines(old, now)
	out := make([]splice, 0, len(d.Changes))
	for _, c := range slices.Backward(d.Changes) {
		out = append(out, splice{lineStart(old, c.Old), len(d.OldText(c.Old, c.OldEnd)), d.NewText(c.New, c.NewEnd)})
	}
	return out
}

// lineStart is the offset of line n, counted from 1.
func lineStart(s string, n int) int {
	at := 0
	for range n - 1 {
		i := strings.IndexByte(s[at:], '\n')
		if i < 0 {
			return len(s)
		}
		at += i + 1
	}
	return at
}
