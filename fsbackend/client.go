package fsbackend

import (
	"context"
	"io"
	"path/filepath"
	"sync"
	"time"
)

// The bounds of a Client whose options name none.
const (
	DefaultClientMax    = 8 << 20
	DefaultReadTimeout  = 5 * time.Second
	DefaultWriteTimeout = time.Minute
)

// An Editor holds the texts of files as its user sees them, unsaved ones
// included. Paths are absolute. It is safe for concurrent use, and returns
// soon after ctx ends.
type Editor interface {
	// ReadText gives the text that the editor holds of a file. It fails for
	// files that the editor does not have in its folders.
	ReadText(ctx context.Context, path string) (string, error)
	// WriteText makes content the file's text and saves it. The editor may
	// merge what its user types meanwhile, and format the text.
	WriteText(ctx context.Context, path, content string) error
}

// ClientOptions say how a Client works.
type ClientOptions struct {
	// Folders are those in which files go through the editor, as the editor
	// names them; absolute and clean.
	Folders []string
	// Always refuses to change a file of the folders by disk. Otherwise what
	// the editor cannot do is done there, and the receipt says so.
	Always bool
	// MaxBytes is the size over which files are not asked for. 0 means
	// DefaultClientMax.
	MaxBytes int64
	// ReadTimeout and WriteTimeout bound the wait for one answer. 0 means the
	// default.
	ReadTimeout, WriteTimeout time.Duration
}

// Client is a Local whose text files are read and written through an editor:
// a reader sees what the user sees, and the editor shows each change as one of
// the agent. The rules are in docs/design/editor-files.md; in short:
//
//   - The local checks come first, and the editor is asked about no path that
//     they do not let through.
//   - One writer a change. The read before it decides: the editor, or the
//     disk. Once the editor was told to write, the disk is only looked at.
//   - What a write did is found out afterwards. It is Receipt.After where the
//     editor made something else of the text.
//   - Bytes that an editor cannot carry go by disk: those that are not UTF-8,
//     have a byte order mark, mixed line ends or lone carriage returns, are too
//     large, or belong to a file with several names.
//
// Versions are of the text that the editor holds, with the line ends of the
// file on disk. It is safe for concurrent use.
type Client struct {
	local  *Local
	editor Editor
	opt    ClientOptions
	real   []string // of opt.Folders, after links
	state  *clientState
}

// clientState is what all views of one Client share.
type clientState struct {
	start time.Time // what was changed on disk before, the editor has noticed

	mu     sync.Mutex
	bases  map[Key]Version // the version on disk that the editor's text is made of; guarded by mu
	recent map[Key]*view   // guarded by mu
	silent time.Time       // until when the editor is not asked, since it did not answer; guarded by mu
}

// NewClient puts an editor over a Local, which stays the caller's to close. It
// fails if a folder cannot be followed.
func NewClient(l *Local, e Editor, opt ClientOptions) (*Client, error) {
	if opt.MaxBytes == 0 {
		opt.MaxBytes = DefaultClientMax
	}
	if opt.ReadTimeout == 0 {
		opt.ReadTimeout = DefaultReadTimeout
	}
	if opt.WriteTimeout == 0 {
		opt.WriteTimeout = DefaultWriteTimeout
	}
	c := &Client{local: l, editor: e, opt: opt, state: &clientState{
		start: time.Now(), bases: map[Key]Version{}, recent: map[Key]*view{},
	}}
	for _, dir := range opt.Folders {
		real, err := l.realPath(dir)
		if err != nil {
			return nil, failWith("open", dir, "the folder cannot be followed", err)
		}
		c.real = append(c.real, real)
	}
	return c, nil
}

// place is the name by which the editor knows a real path, "" if it lies in
// none of the folders. Links below a folder are followed already, so that the
// editor opens what was checked.
func (c *Client) place(real string) string {
	best := -1
	for i, dir := range c.real {
		if within(dir, real) && (best < 0 || len(dir) > len(c.real[best])) {
			best = i
		}
	}
	if best < 0 {
		return ""
	}
	return filepath.Join(c.opt.Folders[best], real[len(c.real[best]):])
}

// Lock takes the turn on files by their keys; see [Locks.Lock].
func (c *Client) Lock(ctx context.Context, keys ...Key) (unlock func(), err error) {
	return c.local.Lock(ctx, keys...)
}

// through is the turn to talk with the editor about a file, outside of the one
// to replace it.
func (c *Client) through(ctx context.Context, op, path string, k Key) (unlock func(), err error) {
	unlock, err = c.local.locks.Lock(ctx, "editor\x00"+k)
	if err != nil {
		return nil, aborted(op, path, err)
	}
	return unlock, nil
}

// Stat tells of a path on disk: a file that only the editor holds does not
// exist yet.
func (c *Client) Stat(ctx context.Context, path string) (Info, error) {
	return c.local.Stat(ctx, path)
}

// Read returns the file as the editor holds it, or as it is on disk where that
// cannot be; Notes tell of what is not saved.
func (c *Client) Read(ctx context.Context, path string) (File, error) {
	return c.readAs(ctx, "read", path)
}

// ReadForChange is Read for a change that follows. Looks for one change are
// one: the editor is asked once, unless the disk has changed.
func (c *Client) ReadForChange(ctx context.Context, path string) (File, error) {
	return c.readAs(ctx, opChange, path)
}

func (c *Client) readAs(ctx context.Context, op, path string) (File, error) {
	p, err := c.local.locate(ctx, op, path)
	if err != nil {
		return File{}, err
	}
	if p.info == nil || c.place(p.real) == "" {
		return c.local.readAs(ctx, op, path)
	}
	unlock, err := c.through(ctx, "read", path, key(p.real))
	if err != nil {
		return File{}, err
	}
	defer unlock()
	v, err := c.look(ctx, op, path)
	if err != nil {
		return File{}, err
	}
	f := v.file
	if c.keeps(v) {
		f.Data = append(make([]byte, 0, len(f.Data)), f.Data...)
	}
	return f, nil
}

// Open streams a file from the disk; see [Local.Open].
func (c *Client) Open(ctx context.Context, path string) (io.ReadCloser, Info, error) {
	return c.local.Open(ctx, path)
}

// MakeDirs is of [Folders].
func (c *Client) MakeDirs(ctx context.Context, path string) ([]string, error) {
	return c.local.MakeDirs(ctx, path)
}

// RemoveDir is of [Folders].
func (c *Client) RemoveDir(ctx context.Context, path string) error {
	return c.local.RemoveDir(ctx, path)
}

// Remove is of [Folders]. There is no request to an editor for it. A file with
// changes that are not saved is not the version that is on disk.
func (c *Client) Remove(ctx context.Context, path string, v Version) error {
	p, err := c.local.locate(ctx, "remove", path)
	if err != nil {
		return err
	}
	if p.info == nil || !p.info.Mode().IsRegular() || c.place(p.real) == "" {
		return c.local.Remove(ctx, path, v)
	}
	unlock, err := c.through(ctx, "remove", path, key(p.real))
	if err != nil {
		return err
	}
	defer unlock()
	if now, err := c.look(ctx, opChange, path); err == nil && now.unsaved {
		return changed("remove", path, now.file.Version)
	}
	c.forget(key(p.real))
	return c.local.Remove(ctx, path, v)
}

func (c *Client) forget(k Key) {
	c.state.mu.Lock()
	defer c.state.mu.Unlock()
	delete(c.state.recent, k)
	delete(c.state.bases, k)
}

func (c *Client) withGate(g gate) Backend {
	view := *c
	view.local = c.local.withGate(g).(*Local)
	return &view
}

func (c *Client) realPath(path string) (string, error) { return c.local.realPath(path) }

func (c *Client) realBelow(start, path string, sure bool) (string, error) {
	return c.local.realBelow(start, path, sure)
}

var (
	_ Backend  = (*Client)(nil)
	_ Folders  = (*Client)(nil)
	_ Locker   = (*Client)(nil)
	_ gated    = (*Client)(nil)
	_ asReader = (*Client)(nil)

	_ changeReader = (*Client)(nil)
)
