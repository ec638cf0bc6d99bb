package app

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
)

// rotateAt is the size at which a log file is put aside; one older file is kept.
const rotateAt = 10 << 20

// diagnostics is where the program's own log goes: standard error, and a file
// if the settings name one. The settings come later than the first message,
// so level and file can be set while it is in use.
type diagnostics struct {
	stderr io.Writer // nil drops
	level  atomic.Int32

	mu   sync.Mutex
	path string   // guarded by mu
	file *os.File // guarded by mu; nil for none
	size int64    // guarded by mu
}

func newDiagnostics(stderr io.Writer) *diagnostics {
	d := &diagnostics{}
	d.level.Store(int32(zerolog.WarnLevel))
	if stderr != nil {
		d.stderr = zerolog.ConsoleWriter{Out: stderr, NoColor: true, TimeFormat: "15:04:05.000"}
	}
	return d
}

func (d *diagnostics) logger() zerolog.Logger { return zerolog.New(d).Hook(stamp{}) }

// stamp adds the time. zerolog's own way knows whole seconds only, unless a
// variable of the whole process says otherwise.
type stamp struct{}

func (stamp) Run(e *zerolog.Event, _ zerolog.Level, _ string) {
	e.Str(zerolog.TimestampFieldName, time.Now().Format("2006-01-02T15:04:05.000000Z07:00"))
}

// synced tells the debug log how long each fsync took: where the disk is slow,
// most of an edit's time goes there.
func (a *App) synced(what string) func(time.Duration) {
	return func(took time.Duration) {
		a.log.Debug().Str("of", what).Float64("ms", float64(took.Microseconds())/1e3).Msg("fsync")
	}
}

// configure sets the level ("off" for nothing) and the file ("" for none).
func (d *diagnostics) configure(level, path string) error {
	l := zerolog.Disabled
	if level != "off" {
		var err error
		if l, err = zerolog.ParseLevel(level); err != nil {
			return err
		}
	}
	d.level.Store(int32(l))
	if path == "" || l == zerolog.Disabled {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.path = path
	return d.reopen()
}

// reopen is called with mu held.
func (d *diagnostics) reopen() error {
	f, err := os.OpenFile(d.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	d.file, d.size = f, info.Size()
	return nil
}

// Write is for messages without a level.
func (d *diagnostics) Write(p []byte) (int, error) { return d.WriteLevel(zerolog.NoLevel, p) }

// WriteLevel writes a message that is grave enough. It never fails: there is
// nobody to tell.
func (d *diagnostics) WriteLevel(l zerolog.Level, p []byte) (int, error) {
	if l < zerolog.Level(d.level.Load()) {
		return len(p), nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stderr != nil {
		_, _ = d.stderr.Write(p)
	}
	if d.file == nil {
		return len(p), nil
	}
	if d.size+int64(len(p)) > rotateAt {
		if err := d.rotate(); err != nil {
			d.file = nil
			if d.stderr != nil {
				fmt.Fprintf(d.stderr, `{"level":"warn","message":"log file given up","error":%q}`, err)
			}
			return len(p), nil
		}
	}
	n, _ := d.file.Write(p)
	d.size += int64(n)
	return len(p), nil
}

// rotate is called with mu held. Where a file in use cannot be renamed, the
// file is closed first.
func (d *diagnostics) rotate() error {
	if err := d.file.Close(); err != nil {
		return err
	}
	if err := os.Rename(d.path, d.path+".1"); err != nil {
		return err
	}
	return d.reopen()
}

func (d *diagnostics) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.file != nil {
		_ = d.file.Close()
		d.file = nil
	}
}
