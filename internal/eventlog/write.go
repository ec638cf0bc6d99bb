package eventlog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// write puts b behind the last record, or leaves the file as it was. It
// writes at an offset rather than in append mode, which on Windows could not
// cut the file again. The caller holds the mutex, or is alone.
func (l *Log) write(b []byte) error {
	_, err := l.writeAt(b)
	if err == nil {
		l.size += int64(len(b))
		l.dirty = true
		return nil
	}
	// Half a record may be there; the next one must not run into it.
	if cut := l.truncate(l.size); cut != nil {
		l.broken = fmt.Errorf("%w: half a record could not be cut off again (%v) after: %v", ErrBroken, cut, err)
		return l.broken
	}
	return fmt.Errorf("nothing was recorded: %w", err)
}

func (l *Log) writeAt(b []byte) (int, error) {
	if err := l.fault("append"); err != nil {
		n, werr := l.file.WriteAt(b[:len(b)/2], l.size)
		return n, errors.Join(err, werr)
	}
	return l.file.WriteAt(b, l.size)
}

func (l *Log) truncate(size int64) error {
	if err := l.fault("truncate"); err != nil {
		return err
	}
	return l.file.Truncate(size)
}

func (l *Log) fault(point string) error {
	if l.opts.Fault == nil {
		return nil
	}
	return l.opts.Fault(point)
}

// Sync makes all that was appended durable. It costs nothing if nothing was
// appended since the last time. When it fails nothing is known of what the
// disk holds, so the log takes no more events ([ErrBroken]).
func (l *Log) Sync() error {
	if err := l.enter(); err != nil {
		return fmt.Errorf("session %s: sync: %w", l.header.ID, err)
	}
	defer l.mu.Unlock()
	return l.sync()
}

func (l *Log) sync() error {
	if l.broken != nil {
		return fmt.Errorf("session %s: sync: %w", l.header.ID, l.broken)
	}
	if !l.dirty {
		return nil
	}
	err := l.syncFile(l.file)
	if err == nil && !l.linked {
		err = ignoreUnsynced(l.timed(func() error { return syncDir(filepath.Dir(l.path)) }))
	}
	if err != nil {
		l.broken = fmt.Errorf("%w: it could not be made durable: %v", ErrBroken, err)
		return fmt.Errorf("session %s: sync: %w", l.header.ID, l.broken)
	}
	l.dirty, l.linked = false, true
	return nil
}

func (l *Log) syncFile(f *os.File) error {
	err := l.fault("sync")
	if err == nil {
		err = l.timed(f.Sync)
	}
	return ignoreUnsynced(err)
}

// timed runs one fsync and tells how long it took.
func (l *Log) timed(sync func() error) error {
	start := time.Now()
	err := sync()
	if l.opts.OnSync != nil {
		l.opts.OnSync(time.Since(start))
	}
	return err
}

// ignoreUnsynced passes over file systems that have no fsync at all, as some
// network and FUSE ones: there the log is as durable as it can be.
func ignoreUnsynced(err error) error {
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) {
		return nil
	}
	return err
}

// maxCopies is how many torn ends of one log are kept.
const maxCopies = 1000

// cut keeps a copy of the torn end beside the log and then removes it. The
// copy is durable before the bytes go.
func (l *Log) cut(t *Torn) error {
	torn := make([]byte, t.Size)
	if _, err := l.file.ReadAt(torn, t.Offset); err != nil {
		return err
	}
	for n := 1; n <= maxCopies; n++ {
		name := fmt.Sprintf("%s.torn-%d", l.path, n)
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("keep a copy of the torn record: %w", err)
		}
		_, err = f.Write(torn)
		if err = errors.Join(err, l.syncFile(f), f.Close()); err != nil {
			return errors.Join(fmt.Errorf("keep a copy of the torn record: %w", err), os.Remove(name))
		}
		t.Copy = name
		l.dirty = true
		return l.truncate(t.Offset)
	}
	return fmt.Errorf("%s: %d torn records are kept beside it already; remove some", l.path, maxCopies)
}
