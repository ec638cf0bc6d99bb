package tools

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// A window picks lines out of a text that comes in pieces, in bounded memory.
type window struct {
	limits   ReadLimits
	from, to int  // lines wanted, to exclusive
	asked    bool // the end was asked for, not set by the bounds

	line     int    // the one that is being read, from 1
	cur      []byte // its first bytes, without what exceeds the bounds
	curChars int    // of the whole line
	open     bool   // the line has begun
	lines    []string
	size     int
	full     bool // the byte bound was reached
}

func newWindow(limits ReadLimits, offset, limit int) *window {
	w := &window{limits: limits, from: offset, to: offset + limits.Lines, line: 1}
	if limit > 0 && limit <= limits.Lines {
		w.to, w.asked = offset+limit, true
	}
	return w
}

func (w *window) wanted() bool { return w.line >= w.from && w.line < w.to && !w.full }

// add takes the next piece of the text.
func (w *window) add(p []byte) {
	for len(p) > 0 {
		if w.line >= w.to || w.full {
			// Only the number of lines is still of interest.
			w.line += bytes.Count(p, []byte{'\n'})
			w.open = p[len(p)-1] != '\n'
			return
		}
		i := bytes.IndexByte(p, '\n')
		piece := p
		if i >= 0 {
			piece = p[:i]
		}
		if w.wanted() {
			w.curChars += starts(piece)
			if room := w.limits.Columns*utf8.UTFMax + 1 - len(w.cur); room > 0 {
				w.cur = append(w.cur, piece[:min(room, len(piece))]...)
			}
		}
		w.open = i < 0
		if i < 0 {
			return
		}
		w.finish(true)
		p = p[i+1:]
	}
}

// starts counts the characters that begin in p, which may be cut in one.
func starts(p []byte) int {
	n := 0
	for _, c := range p {
		if utf8.RuneStart(c) {
			n++
		}
	}
	return n
}

// finish ends the current line.
func (w *window) finish(ended bool) {
	if w.wanted() {
		s, chars := string(w.cur), w.curChars
		if t, ok := strings.CutSuffix(s, "\r"); ok && ended {
			s, chars = t, chars-1
		}
		if utf8.RuneCountInString(s) > w.limits.Columns {
			at := 0
			for range w.limits.Columns {
				_, n := utf8.DecodeRuneInString(s[at:])
				at += n
			}
			s = fmt.Sprintf("%s… (%d more characters)", s[:at], chars-w.limits.Columns)
		}
		cost := len(fmt.Sprint(w.line)) + 2 + len(s)
		if w.size+cost > w.limits.Bytes {
			w.full = true
		} else {
			w.size += cost
			w.lines = append(w.lines, s)
		}
	}
	w.cur, w.curChars = w.cur[:0], 0
	w.line++
	w.open = false
}

// A view is what a window shows.
type view struct {
	lines    []string
	total    int  // lines of the file
	trailing bool // the line break at the end of the file is within the window
	capped   bool // a bound ended the view before the file did
}

// end closes the window after the last piece.
func (w *window) end() view {
	unfinished := w.open
	if unfinished {
		w.finish(false)
	}
	v := view{lines: w.lines, total: w.line - 1}
	next := w.from + len(w.lines)
	v.trailing = !unfinished && v.total > 0 && next == v.total+1 && next < w.to
	v.capped = next <= v.total && !(w.asked && next == w.to)
	return v
}

// utf8Stream checks text that comes in pieces.
type utf8Stream struct {
	rest   []byte // the start of a character, at the end of a piece
	offset int
}

// add returns an error that says where the first byte is that is not text.
func (u *utf8Stream) add(p []byte) error {
	if i := bytes.IndexByte(p, 0); i >= 0 {
		return fmt.Errorf("NUL byte at offset %d", u.offset+i)
	}
	s := append(u.rest, p...)
	base := u.offset - len(u.rest)
	u.offset += len(p)
	u.rest = nil
	cut := len(s)
	for k := 1; k < utf8.UTFMax && k <= len(s); k++ {
		if c := s[len(s)-k]; utf8.RuneStart(c) {
			if !utf8.FullRune(s[len(s)-k:]) {
				cut = len(s) - k
			}
			break
		}
	}
	if !utf8.Valid(s[:cut]) {
		return fmt.Errorf("invalid byte at offset %d", base+firstInvalid(string(s[:cut])))
	}
	u.rest = append([]byte(nil), s[cut:]...)
	return nil
}

// end returns an error if the text ends within a character.
func (u *utf8Stream) end() error {
	if len(u.rest) > 0 {
		return fmt.Errorf("a character at offset %d is cut off", u.offset-len(u.rest))
	}
	return nil
}
