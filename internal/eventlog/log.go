package eventlog

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"

	"dsh-acp/internal/msg"
)

// Errors that callers tell apart.
var (
	// ErrInUse: another process, or another Log of this one, has the session open.
	ErrInUse = errors.New("the session is in use by another process")
	// ErrReentrant: an observer called the log that is notifying it.
	ErrReentrant = errors.New("called from inside an observer of the same session")
	// ErrBroken: an earlier write left the file in a state that could not be
	// mended, so that nothing more is recorded.
	ErrBroken = errors.New("the session log cannot be continued")
	// ErrClosed: the log was closed.
	ErrClosed = errors.New("the session log is closed")
)

// Options are settings of a [Log]. The zero value is good.
type Options struct {
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Report gets failures that are contained: panics of observers. It may be
	// nil, and is called from the appending goroutine.
	Report func(error)
	// Fault is for tests: asked at each named point, it makes the operation
	// fail with the error that it returns. Points are "append" (half of the
	// record is written), "truncate" and "sync".
	Fault func(point string) error
	// OnSync, if not nil, is told how long each fsync took. It is called with
	// the log locked and must not use it.
	OnSync func(time.Duration)
}

// A Log is an open session. It is safe for concurrent use: appends follow one
// another, each with its observers.
type Log struct {
	path   string
	header Header
	opts   Options
	lock   *flock.Flock
	// notifying is the goroutine that runs observers, 0 if none does.
	notifying atomic.Int64

	mu        sync.Mutex
	file      *os.File // guarded by mu; nil after Close
	size      int64    // guarded by mu; behind the last record
	order     order    // guarded by mu
	broken    error    // guarded by mu; why nothing can be appended any more
	dirty     bool     // guarded by mu; written since the last Sync
	linked    bool     // guarded by mu; the file's name is durable
	observers []*observer
}

type observer struct{ call func(msg.Event) }

// Create begins a session in dir, which is made if need be (mode 0700). An
// empty h.ID gets a new id, a zero h.CreatedAt the time. It fails with
// fs.ErrExist if there is such a session.
func Create(dir string, h Header, opts Options) (*Log, error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if h.CreatedAt == 0 {
		h.CreatedAt = opts.Now().UnixMilli()
	}
	if h.ID == "" {
		h.ID = NewID(opts.Now())
	}
	line, err := h.encode()
	if err != nil {
		return nil, err
	}
	path, err := Path(dir, h.ID)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	l := &Log{path: path, header: h, opts: opts, dirty: true}
	if l.lock, err = acquire(dir, h.ID); err != nil {
		return nil, err
	}
	if l.file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return nil, errors.Join(err, l.lock.Unlock())
	}
	if err := l.write(line); err != nil {
		// No session began, so none must be found later.
		return nil, errors.Join(fmt.Errorf("session %s: header: %w", h.ID, err), l.file.Close(), os.Remove(path), l.lock.Unlock())
	}
	return l, nil
}

// Open continues a session: it takes the lock, loads what is there and makes
// the end of the file fit for the next record. Session.Torn tells what was cut
// off, and where the copy is. It fails like [Read], and with [ErrInUse].
// A turn that a crash left open stays open until [Log.Resume].
func Open(dir, id string, opts Options) (*Log, Session, error) {
	path, err := Path(dir, id)
	if err != nil {
		return nil, Session{}, err
	}
	if _, err := os.Stat(path); err != nil {
		return nil, Session{}, err // before a lock file is made for nothing
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	l := &Log{path: path, opts: opts, linked: true}
	if l.lock, err = acquire(dir, id); err != nil {
		return nil, Session{}, err
	}
	s, err := l.open(id)
	if err != nil {
		if l.file != nil {
			err = errors.Join(err, l.file.Close())
		}
		return nil, Session{}, errors.Join(err, l.lock.Unlock())
	}
	return l, s, nil
}

func (l *Log) open(id string) (Session, error) {
	var err error
	if l.file, err = os.OpenFile(l.path, os.O_RDWR, 0); err != nil {
		return Session{}, err
	}
	s, at, err := load(l.file, l.path, id)
	if err != nil {
		return Session{}, err
	}
	l.header, l.order, l.size = s.Header, at.order, at.size
	if s.Torn != nil {
		if err := l.cut(s.Torn); err != nil {
			return Session{}, err
		}
	}
	if at.bare {
		if err := l.write([]byte("\n")); err != nil {
			return Session{}, err
		}
	}
	return s, nil
}

// acquire takes the lock of a session. The lock is a file of its own: on
// Windows a locked log could not be read by others.
func acquire(dir, id string) (*flock.Flock, error) {
	lock := flock.New(filepath.Join(dir, id+".lock"), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	ok, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("session %s: lock: %w", id, err)
	}
	if !ok {
		return nil, fmt.Errorf("session %s: %w", id, ErrInUse)
	}
	return lock, nil
}

// Header returns the session's header.
func (l *Log) Header() Header { return l.header }

// Path returns the place of the log file.
func (l *Log) Path() string { return l.path }

// enter takes the mutex, unless the caller would wait for itself.
func (l *Log) enter() error {
	if id := l.notifying.Load(); id != 0 && id == goroutine() {
		return ErrReentrant
	}
	l.mu.Lock()
	if l.file == nil {
		l.mu.Unlock()
		return ErrClosed
	}
	return nil
}

// Observe has call notified of each event after it was committed, in order,
// from the goroutine that appends. call must not use the log: that fails with
// [ErrReentrant]. A panic in it is reported and undoes nothing. stop ends it.
func (l *Log) Observe(call func(msg.Event)) (stop func(), err error) {
	if err := l.enter(); err != nil {
		return nil, err
	}
	defer l.mu.Unlock()
	o := &observer{call}
	l.observers = append(l.observers, o)
	return func() {
		if l.enter() != nil {
			return
		}
		defer l.mu.Unlock()
		for i, x := range l.observers {
			if x == o {
				l.observers = append(l.observers[:i:i], l.observers[i+1:]...)
				return
			}
		}
	}, nil
}

func (l *Log) notify(e msg.Event) {
	if len(l.observers) == 0 {
		return
	}
	l.notifying.Store(goroutine())
	defer l.notifying.Store(0)
	for _, o := range l.observers {
		own := e
		own.Data = bytes.Clone(e.Data) // nobody can change it under the others
		l.contain(func() { o.call(own) }, e)
	}
}

func (l *Log) contain(call func(), e msg.Event) {
	defer func() {
		if v := recover(); v != nil && l.opts.Report != nil {
			l.opts.Report(fmt.Errorf("session %s: event %d (%s): observer: panic: %v", l.header.ID, e.Seq, e.Type, v))
		}
	}()
	call()
}

// Close makes the log durable, closes it and lets go of the lock. A second
// Close does nothing.
func (l *Log) Close() error {
	if err := l.enter(); err != nil {
		if err == ErrClosed {
			return nil
		}
		return err
	}
	defer l.mu.Unlock()
	err := l.sync()
	err = errors.Join(err, l.file.Close(), l.lock.Unlock())
	l.file = nil
	return err
}
