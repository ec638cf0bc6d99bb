package eventlog

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"dsh-acp/internal/msg"
)

// A Session is what a log holds.
type Session struct {
	Header Header
	Events []msg.Event
	// Payloads are those of Events, one for one, so that readers need not
	// decode them again; nil for an event from which nothing is to be taken.
	// Readers share them, so they are not changed.
	Payloads []msg.Payload
	// Torn is the broken end of the file, or nil. It is not among Events.
	Torn *Torn
}

// A Torn is the rest of a record that was being written when the process or
// the machine died.
type Torn struct {
	Path   string // of the log
	Line   int    // 1-based
	Offset int64  // of its first byte
	Size   int64  // in bytes
	// Copy is the file that keeps the bytes, once they were cut off; "" before.
	Copy string
}

// String tells it for a diagnostic.
func (t *Torn) String() string {
	s := fmt.Sprintf("%s: line %d: torn record of %d bytes", t.Path, t.Line, t.Size)
	if t.Copy == "" {
		return s + ", left out"
	}
	return s + ", repaired: cut off, copy in " + filepath.Base(t.Copy)
}

// A DamageError says that a log cannot be loaded. Nothing was changed.
type DamageError struct {
	Path string
	Line int // 1-based; the header is line 1
	Why  string
	Err  error // cause, may be nil
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("%s: line %d: the session log is damaged: %s", e.Path, e.Line, e.Why)
}

func (e *DamageError) Unwrap() error { return e.Err }

// Closed gives the events as a reader should see them: with those that close
// a turn which a crash left open, at the time of the last real event. They
// are not in the file.
func (s Session) Closed() ([]msg.Event, error) {
	payloads, err := Closers(s.Events)
	if err != nil || len(payloads) == 0 {
		return s.Events, err
	}
	last := s.Events[len(s.Events)-1]
	out := append([]msg.Event(nil), s.Events...)
	for _, p := range payloads {
		e, _, err := newEvent(p)
		if err != nil {
			return nil, err
		}
		e.Seq, e.Time = int64(len(out)), last.Time
		out = append(out, e)
	}
	return out, nil
}

// Path is where the log of a session lies in dir. It fails with an
// [*IDError].
func Path(dir, id string) (string, error) {
	if err := ValidID(id); err != nil {
		return "", err
	}
	return filepath.Join(dir, id+".jsonl"), nil
}

// Read loads a session without lock and without changing anything. Beside a
// writer it sees a prefix of the session, whose last record may look torn.
// It fails with an [*IDError], with fs.ErrNotExist if there is no such
// session, with a [*DamageError] or a [*VersionError].
func Read(dir, id string) (Session, error) {
	path, err := Path(dir, id)
	if err != nil {
		return Session{}, err
	}
	f, err := os.Open(path)
	if err != nil {
		return Session{}, err
	}
	defer f.Close()
	s, _, err := load(f, path, id)
	return s, err
}

// An end is where and how the whole records of a file end.
type end struct {
	order order
	size  int64 // offset behind the last whole record
	// bare says that the last whole record lacks its line feed.
	bare bool
}

// load reads a log from its start.
func load(r io.Reader, path, id string) (Session, end, error) {
	var s Session
	var at end
	lines := lineReader{r: bufio.NewReaderSize(r, 64<<10)}
	damage := func(err error) (Session, end, error) {
		return Session{}, end{}, &DamageError{Path: path, Line: lines.number, Why: err.Error(), Err: err}
	}

	line, err := lines.next()
	if err != nil && err != io.EOF {
		return Session{}, end{}, err
	}
	if s.Header, err = decodeHeader(path, id, line); err != nil {
		return Session{}, end{}, err
	}
	at.size, at.bare = lines.offset, lines.bare
	for {
		line, err := lines.next()
		if err == io.EOF {
			return s, at, nil
		}
		if err != nil {
			return Session{}, end{}, err
		}
		e, err := decodeRecord(line)
		if errors.Is(err, errNoRecord) {
			last, rerr := lines.atEnd()
			if rerr != nil {
				return Session{}, end{}, rerr
			}
			if !last {
				return damage(err)
			}
			s.Torn = &Torn{Path: path, Line: lines.number, Offset: at.size, Size: lines.offset - at.size}
			return s, at, nil
		}
		var p msg.Payload
		if err == nil {
			p, err = at.order.follow(e)
		}
		if err != nil {
			return damage(err)
		}
		s.Events, s.Payloads = append(s.Events, e), append(s.Payloads, p)
		at.size, at.bare = lines.offset, lines.bare
	}
}

// A lineReader reads lines of any length.
type lineReader struct {
	r      *bufio.Reader
	number int   // of the last line read, 1-based
	offset int64 // behind it
	bare   bool  // it had no line feed
}

// next returns a line without its line feed, or io.EOF if there is none.
func (l *lineReader) next() ([]byte, error) {
	line, err := l.r.ReadBytes('\n')
	if err != nil && err != io.EOF {
		return nil, err
	}
	l.number++
	if len(line) == 0 {
		return nil, io.EOF
	}
	l.offset += int64(len(line))
	l.bare = err == io.EOF
	if !l.bare {
		line = line[:len(line)-1]
	}
	return line, nil
}

func (l *lineReader) atEnd() (bool, error) {
	_, err := l.r.Peek(1)
	if err == io.EOF {
		return true, nil
	}
	return false, err
}
