package eventlog

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dsh-acp/internal/msg"
)

// A Summary is a session in a list. Its Cwd is the folder of its last turn.
type Summary struct {
	Header
	More  []string // further folders of the last turn
	Title string   // "" if it has none yet
	// UpdatedAt is the time of the last event in Unix milliseconds; the time
	// of creation if there is none.
	UpdatedAt int64
	// Empty says that no turn was begun yet: at most, something was set.
	Empty bool
	// Err says why the session could not be looked at; then only ID and
	// UpdatedAt (the file's) are known. It is not a promise that a session
	// without it loads.
	Err error
}

// window is how much of either end of a log is searched for its title before
// the rest is: the title is set at the first prompt, or was set lately. The
// one at the end grows until it holds the start of a turn.
const window = 64 << 10

// List gives the sessions in dir, the latest first (by UpdatedAt, then id).
// It reads only parts of each log. A folder that is not there has none.
func List(dir string) ([]Summary, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Summary
	for _, ent := range entries {
		id, ok := strings.CutSuffix(ent.Name(), ".jsonl")
		if !ok || ValidID(id) != nil {
			continue
		}
		s, err := summarize(filepath.Join(dir, ent.Name()), id)
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted meanwhile
		}
		if err != nil {
			s.ID, s.Err = id, err
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b Summary) int {
		return cmp.Or(cmp.Compare(b.UpdatedAt, a.UpdatedAt), cmp.Compare(b.ID, a.ID))
	})
	return out, nil
}

func summarize(path, id string) (Summary, error) {
	// Looked at before it is opened: a pipe would hold the list up for ever.
	info, err := os.Stat(path)
	if err != nil {
		return Summary{}, err
	}
	s := Summary{UpdatedAt: info.ModTime().UnixMilli()}
	if !info.Mode().IsRegular() {
		return s, fmt.Errorf("%s: not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return s, err
	}
	defer f.Close()
	lines := lineReader{r: bufio.NewReader(f)}
	line, err := lines.next()
	if err != nil && err != io.EOF {
		return s, err
	}
	if s.Header, err = decodeHeader(path, id, line); err != nil {
		return s, err
	}
	s.UpdatedAt = s.CreatedAt
	body := io.NewSectionReader(f, lines.offset, max(0, info.Size()-lines.offset))
	s.Empty = true
	return s, s.look(body)
}

// look finds the title, the folders, and the time of the last event.
func (s *Summary) look(body *io.SectionReader) error {
	size := body.Size()
	for w := int64(window); ; w *= 4 {
		tail, err := part(body, max(0, size-w), size)
		if err != nil {
			return err
		}
		if size > w {
			// The window begins inside a record.
			_, tail, _ = bytes.Cut(tail, []byte("\n"))
		}
		s.scan(tail)
		if !s.Empty || size <= w {
			break
		}
	}
	if s.Title != "" || size <= window {
		return nil
	}
	head, err := part(body, 0, window)
	if err != nil {
		return err
	}
	end := *s
	s.scan(head)
	if s.Title == "" {
		err = s.scanAll(body)
	}
	s.UpdatedAt, s.Cwd, s.More = max(end.UpdatedAt, s.UpdatedAt), end.Cwd, end.More
	return err
}

func part(r io.ReaderAt, from, to int64) ([]byte, error) {
	b := make([]byte, to-from)
	n, err := r.ReadAt(b, from)
	if err == io.EOF {
		err = nil
	}
	return b[:n], err
}

// scan takes title and time from whole records.
func (s *Summary) scan(lines []byte) {
	for line := range bytes.Lines(lines) {
		s.record(bytes.TrimSuffix(line, []byte("\n")))
	}
}

// scanAll reads a log through, one record at a time.
func (s *Summary) scanAll(r io.Reader) error {
	lines := lineReader{r: bufio.NewReaderSize(r, window)}
	for {
		line, err := lines.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		s.record(line)
	}
}

var (
	turnType    = msg.TurnStart{}.EventType()
	titleType   = msg.Titled{}.EventType()
	foldersType = msg.Folders{}.EventType()
)

func (s *Summary) record(line []byte) {
	// Records begin with type, seq and time, so most need not be decoded.
	var typ string
	var seq, at int64
	head := line[:min(len(line), 256)]
	if i := bytes.Index(head, []byte(`,"data":`)); i >= 0 {
		head = append(bytes.Clone(head[:i]), '}')
	} else {
		head = line
	}
	var rec struct {
		Type *string `json:"type"`
		Seq  *int64  `json:"seq"`
		Time *int64  `json:"time"`
	}
	rec.Type, rec.Seq, rec.Time = &typ, &seq, &at
	if json.Unmarshal(head, &rec) != nil {
		return // cut off at the edge of a window, or torn
	}
	s.UpdatedAt = max(s.UpdatedAt, at)
	switch typ {
	case turnType:
		s.Empty = false
	case titleType, foldersType:
		s.take(line)
	}
}

func (s *Summary) take(line []byte) {
	e, err := decodeRecord(line)
	if err != nil {
		return
	}
	switch p, _ := msg.Decode(e); p := p.(type) {
	case msg.Titled:
		s.Title = p.Title
	case msg.Folders:
		s.Cwd, s.More = p.Cwd, p.More
	}
}

// Delete removes a session with all that lies beside it. It fails with an
// [*IDError], with fs.ErrNotExist, and with [ErrInUse] while it is open.
func Delete(dir, id string) error {
	path, err := Path(dir, id)
	if err != nil {
		return err
	}
	if _, err := os.Stat(path); err != nil {
		return err
	}
	lock, err := acquire(dir, id)
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil {
		return errors.Join(err, lock.Unlock())
	}
	entries, err := os.ReadDir(dir)
	for _, ent := range entries {
		if strings.HasPrefix(ent.Name(), id+".jsonl.torn-") {
			err = errors.Join(err, os.Remove(filepath.Join(dir, ent.Name())))
		}
	}
	// The lock's name goes last and unlocked, since Windows removes no open
	// file. Who takes it meanwhile finds no log and lets go.
	err = errors.Join(err, lock.Unlock())
	if gone := os.Remove(lock.Path()); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}
