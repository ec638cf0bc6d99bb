package search

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"unicode/utf8"
)

// A Line is one line of a result.
type Line struct {
	Number int // from 1
	// Text is without its line end, valid UTF-8, and cut where it is long.
	Text  string
	Match bool // it matches; else it is context
	Gap   bool // the line before it in the result is not the one before it in the file
}

const (
	firstBuf = 256 << 10
	// maxLine bounds a line, and maxWhole a file that is matched whole.
	maxLine  = 16 << 20
	maxWhole = 32 << 20
	// sniffed is where a NUL byte is looked for, from the start of a file.
	sniffed = 32 << 10
	// maxWide is how many matches over several lines are counted in one file.
	maxWide = 1 << 16
	// shownBytes is how much of a line is shown.
	shownBytes = 500
)

var (
	errBinary   = errors.New("binary")
	errTooLarge = errors.New("too large")
)

// A scanner searches one file after the other in one buffer.
type scanner struct {
	q    *Query
	find finder
	buf  []byte

	// of the current file
	hit      *Hit
	from     int // what lies before was searched
	numbered int // where the line of number starts
	number   int
	shown    int // the end of the last line that was emitted; -1: not next to what follows
	after    int // lines of context that are still wanted
	wide     [][]int
}

func newScanner(q *Query) *scanner {
	s := &scanner{q: q, buf: make([]byte, firstBuf)}
	s.find.use(q.Pattern.need)
	return s
}

// A reader reads like io.Reader, but its end is 0 bytes and no error.
type reader interface {
	read(p []byte) (int, error)
}

// file searches one file, whose size may be -1 for not known. Nil without an
// error means that nothing matches.
func (s *scanner) file(ctx context.Context, src reader, size int64) (*Hit, error) {
	s.hit = &Hit{}
	s.from, s.numbered, s.number, s.shown, s.after = 0, 0, 1, 0, 0
	n := 0
	for first := true; ; first = false {
		got, err := s.fill(src, n, size)
		if err != nil {
			return nil, err
		}
		end := n + got.n
		if first && bytes.IndexByte(s.buf[:min(end, sniffed)], 0) >= 0 {
			return nil, errBinary
		}
		if s.q.Pattern.multiline && end > maxWhole {
			return nil, errTooLarge
		}
		if s.q.Pattern.multiline && !got.last {
			n = end
			s.grow()
			continue
		}
		until := end
		if !got.last {
			until = s.from + bytes.LastIndexByte(s.buf[s.from:end], '\n') + 1
			if until == s.from { // one line, and not all of it
				if end-s.from > maxLine {
					return nil, errTooLarge
				}
				n = end
				if end == len(s.buf) {
					s.grow()
				}
				continue
			}
		}
		if s.search(until) || got.last {
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n = s.shift(end)
	}
	if s.hit.Matches == 0 {
		return nil, nil
	}
	return s.hit, nil
}

type filled struct {
	n    int
	last bool // the file ends here
}

// fill reads until the buffer is full or the file ends.
func (s *scanner) fill(src reader, n int, size int64) (filled, error) {
	start := n
	for n < len(s.buf) {
		got, err := src.read(s.buf[n:])
		if err != nil {
			return filled{}, err
		}
		n += got
		// A read that brings the whole file need not be followed by one that
		// brings nothing.
		if got == 0 || start == 0 && s.from == 0 && int64(n) == size {
			return filled{n - start, true}, nil
		}
	}
	return filled{n - start, false}, nil
}

func (s *scanner) grow() {
	s.buf = append(s.buf, make([]byte, len(s.buf))...)
}

// shrink gives back what one large file needed.
func (s *scanner) shrink() {
	if len(s.buf) > 4*firstBuf {
		s.buf = make([]byte, firstBuf)
	}
}

// search looks through the buffer from s.from to end, a line's end. It
// reports whether the rest of the file does not matter.
func (s *scanner) search(end int) (done bool) {
	s.find.reset(s.buf[:end])
	s.wide = nil
	if s.q.Pattern.multiline {
		s.wide = s.matches(end)
	}
	for s.from < end {
		start, stop, ok := s.next(end)
		if !ok {
			break
		}
		s.hit.Matches++
		s.from = stop
		switch s.q.Mode {
		case Names:
			return true
		case Lines:
			s.context(start)
			s.emit(start, stop, true)
			s.after = s.q.After
		}
	}
	if s.q.Mode == Lines {
		s.trail(end)
	}
	s.from = end
	return false
}

// next finds the next line that matches, or lines with Multiline.
func (s *scanner) next(end int) (start, stop int, ok bool) {
	p := s.q.Pattern
	if p.multiline {
		return s.nextWide(end)
	}
	for at := s.from; at < end; at = stop {
		start = at
		if p.need != nil || p.shape != nil {
			hit := s.candidate(at, end)
			if hit < 0 {
				return 0, 0, false
			}
			start = at + bytes.LastIndexByte(s.buf[at:hit], '\n') + 1
			at = hit
		}
		stop = lineEnd(s.buf[:end], at)
		if p.exact {
			return start, stop, true
		}
		line := s.line(start, stop)
		if p.need != nil && p.shape != nil && p.shape.find(line, 0) < 0 {
			continue
		}
		if p.re.Match(line) {
			return start, stop, true
		}
	}
	return 0, 0, false
}

// candidate returns the next place in a line that may match, or -1.
func (s *scanner) candidate(at, end int) int {
	if s.q.Pattern.need != nil {
		return s.find.find(at)
	}
	return s.q.Pattern.shape.find(s.buf[:end], at)
}

// lineEnd is behind the line break of the line that holds at.
func lineEnd(buf []byte, at int) int {
	if i := bytes.IndexByte(buf[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(buf)
}

// line is a line as it is matched: without its end.
func (s *scanner) line(start, stop int) []byte { return s.unended(s.buf[start:stop]) }

// unended is a line without its end.
func (s *scanner) unended(line []byte) []byte {
	line = bytes.TrimSuffix(line, []byte{'\n'})
	if !s.q.Pattern.cr {
		line = bytes.TrimSuffix(line, []byte{'\r'})
	}
	return line
}

// matches are the places of a pattern that goes over lines.
func (s *scanner) matches(end int) [][]int {
	if s.q.Pattern.need != nil && s.find.find(0) < 0 {
		return nil
	}
	limit := maxWide
	if s.q.Mode == Names {
		limit = 1
	}
	return s.q.Pattern.re.FindAllIndex(s.buf[:end], limit)
}

// nextWide takes the lines of the next match, and of those that share a line
// with it.
func (s *scanner) nextWide(end int) (start, stop int, ok bool) {
	for len(s.wide) > 0 {
		m := s.wide[0]
		if m[0] >= end && m[0] > 0 && s.buf[end-1] == '\n' {
			break // an empty match behind the last line
		}
		s.wide = s.wide[1:]
		start = s.from + bytes.LastIndexByte(s.buf[s.from:max(m[0], s.from)], '\n') + 1
		stop = lineEnd(s.buf[:end], max(m[0], m[1]-1))
		if stop <= s.from {
			continue // of lines that were taken already
		}
		return start, stop, true
	}
	return 0, 0, false
}

// context emits what was wanted after the last match, and what is wanted
// before the one that starts at start.
func (s *scanner) context(start int) {
	s.trail(start)
	before := start
	for range s.q.Before {
		if before <= max(s.shown, 0) {
			break
		}
		before = bytes.LastIndexByte(s.buf[:before-1], '\n') + 1
	}
	before = max(before, s.shown)
	s.emit(before, start, false)
}

// trail emits lines of context after the last match, up to end.
func (s *scanner) trail(end int) {
	for s.after > 0 && s.shown >= 0 && s.shown < end {
		s.after--
		s.emit(s.shown, lineEnd(s.buf[:end], s.shown), false)
	}
}

// emit adds the lines of a stretch to the result.
func (s *scanner) emit(start, end int, match bool) {
	for start < end {
		stop := lineEnd(s.buf[:end], start)
		if len(s.hit.Lines) < s.q.Keep {
			s.number += bytes.Count(s.buf[s.numbered:start], []byte{'\n'})
			s.numbered = start
			s.hit.Lines = append(s.hit.Lines, Line{
				Number: s.number, Text: s.text(s.line(start, stop), match), Match: match,
				Gap: len(s.hit.Lines) > 0 && s.shown != start,
			})
		}
		s.hit.Total++
		s.shown = stop
		start = stop
	}
}

// shift moves what is still needed to the front of the buffer: lines of
// context, and what was not searched. It returns how much that is.
func (s *scanner) shift(end int) int {
	keep := s.from
	for range s.q.Before {
		if keep <= max(s.shown, 0) {
			break
		}
		keep = bytes.LastIndexByte(s.buf[:keep-1], '\n') + 1
	}
	if s.q.Mode == Lines && len(s.hit.Lines) < s.q.Keep {
		s.number += bytes.Count(s.buf[s.numbered:keep], []byte{'\n'})
	}
	s.numbered = 0
	if s.shown -= keep; s.shown < 0 {
		s.shown = -1
	}
	s.from -= keep
	return copy(s.buf, s.buf[keep:end])
}

// text is a line as it is shown.
func (s *scanner) text(line []byte, match bool) string {
	if s.q.Pattern.cr { // else it is off already
		line = bytes.TrimSuffix(line, []byte{'\r'})
	}
	if len(line) <= shownBytes {
		return strings.ToValidUTF8(string(line), "\ufffd")
	}
	from := 0
	if match {
		// What matched is what the line is shown for.
		if m := s.q.Pattern.re.FindIndex(line); m != nil && m[0] > shownBytes*3/4 {
			from = m[0] - shownBytes/4
		}
	}
	from = back(line, from)
	to := back(line, min(from+shownBytes, len(line)))
	shown := strings.ToValidUTF8(string(line[from:to]), "\ufffd")
	if from > 0 {
		shown = "[" + count(from) + " before] " + shown
	}
	if to < len(line) {
		shown += " [" + count(len(line)-to) + " more]"
	}
	return shown
}

// back moves a place in a line to the start of a character.
func back(line []byte, at int) int {
	for i := 0; i < utf8.UTFMax && at > 0 && at < len(line) && !utf8.RuneStart(line[at]); i++ {
		at--
	}
	return at
}
