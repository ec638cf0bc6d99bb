package text

import (
	"iter"
	"sort"
	"strings"
	"sync"
)

// An Ending is what ends a line.
type Ending uint8

// The endings. Only the last line of a text may have none.
const (
	NoEnding Ending = iota
	LF
	CRLF
)

// Chars returns the characters of the ending: "", "\n" or "\r\n".
func (e Ending) Chars() string { return [...]string{"", "\n", "\r\n"}[e] }

// String names the ending: "none", "LF" or "CRLF".
func (e Ending) String() string { return [...]string{"none", "LF", "CRLF"}[e] }

// A Shape counts the line ends of a text.
type Shape struct {
	LF, CRLF     int  // lines that end so
	FinalNewline bool // the last line has an end; false for the empty text
}

// AllCRLF reports whether there are line ends and each is CRLF.
func (s Shape) AllCRLF() bool { return s.CRLF > 0 && s.LF == 0 }

// AllLF reports whether there are line ends and each is LF.
func (s Shape) AllLF() bool { return s.LF > 0 && s.CRLF == 0 }

// Mixed reports whether there are line ends of both kinds.
func (s Shape) Mixed() bool { return s.LF > 0 && s.CRLF > 0 }

// Ending returns the ending of most lines: CRLF if there are more of them
// than of LF, otherwise LF, also on a tie and for a text without any.
func (s Shape) Ending() Ending {
	if s.CRLF > s.LF {
		return CRLF
	}
	return LF
}

// lazy holds what is only computed when someone asks. A document of 50 MiB is
// often edited without anyone asking for a line number.
type lazy struct {
	shape func() Shape
	marks func() []lineMark
	lf    func() string
	once  sync.Once
}

// A lineMark is the place of every stride-th line. A mark for each line would
// cost more than the text when lines are short.
type lineMark struct {
	start int // offset of the line in Text
	crlf  int // CRLFs before it
}

const stride = 16

func (d Doc) cache() *lazy {
	if d.lazy == nil {
		return Doc{lazy: new(lazy)}.cache()
	}
	d.lazy.once.Do(func() {
		s := d.Text()
		d.lazy.shape = sync.OnceValue(func() Shape { return shapeOf(s) })
		d.lazy.marks = sync.OnceValue(func() []lineMark { return marksOf(s) })
		d.lazy.lf = sync.OnceValue(func() string { return Fold(s) })
	})
	return d.lazy
}

func shapeOf(s string) Shape {
	crlf := 0
	if strings.IndexByte(s, '\r') >= 0 {
		crlf = strings.Count(s, "\r\n")
	}
	return Shape{
		LF:           strings.Count(s, "\n") - crlf,
		CRLF:         crlf,
		FinalNewline: strings.HasSuffix(s, "\n"),
	}
}

func marksOf(s string) []lineMark {
	marks := []lineMark{{}}
	at, crlf := 0, 0
	for line := 1; ; line++ {
		i := strings.IndexByte(s[at:], '\n')
		if i < 0 {
			return marks
		}
		if i > 0 && s[at+i-1] == '\r' {
			crlf++
		}
		at += i + 1
		if line%stride == 0 {
			marks = append(marks, lineMark{at, crlf})
		}
	}
}

// Shape counts the line ends.
func (d Doc) Shape() Shape { return d.cache().shape() }

// Ending returns the ending of most lines; see [Shape.Ending].
func (d Doc) Ending() Ending { return d.Shape().Ending() }

// LF returns the text with each "\r\n" folded to "\n". Lone carriage returns
// stay. It shares the memory of a text without CRLF.
func (d Doc) LF() string { return d.cache().lf() }

// Lines returns the number of lines. A final line end does not begin another
// line: "a\n" is one line, and the empty text has none.
func (d Doc) Lines() int {
	s := d.Shape()
	n := s.LF + s.CRLF
	if !s.FinalNewline && d.Text() != "" {
		n++
	}
	return n
}

// LineStart returns the offset in [Doc.Text] of line i, 1-based. Of the line
// after the last it is the length of the text. It panics for any other line.
func (d Doc) LineStart(i int) int {
	n := d.Lines()
	if i < 1 || i > n+1 {
		panic("text: no such line")
	}
	s := d.Text()
	if i == n+1 {
		return len(s)
	}
	at := d.cache().marks()[(i-1)/stride].start
	for range (i - 1) % stride {
		at += strings.IndexByte(s[at:], '\n') + 1
	}
	return at
}

// LineOf returns the line, 1-based, of an offset in [Doc.Text]. The end of a
// text that has a final line end, or is empty, is on the line after the last.
// It panics for an offset outside of the text.
func (d Doc) LineOf(offset int) int {
	s := d.Text()
	if offset < 0 || offset > len(s) {
		panic("text: no such offset")
	}
	marks := d.cache().marks()
	k := sort.Search(len(marks), func(k int) bool { return marks[k].start > offset }) - 1
	return k*stride + 1 + strings.Count(s[marks[k].start:offset], "\n")
}

// Line returns line i, 1-based, without its ending. It panics if there is no
// such line.
func (d Doc) Line(i int) string {
	line, _ := d.line(i)
	return line
}

// LineEnding returns the ending of line i, 1-based. It panics if there is no
// such line.
func (d Doc) LineEnding(i int) Ending {
	_, e := d.line(i)
	return e
}

func (d Doc) line(i int) (string, Ending) {
	if i > d.Lines() {
		panic("text: no such line")
	}
	line, e, _ := cutLine(d.Text()[d.LineStart(i):])
	return line, e
}

// All yields the lines in order, numbered from 1, without their endings. It
// costs less than asking for each.
func (d Doc) All() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		rest := d.Text()
		for i := 1; rest != ""; i++ {
			var line string
			line, _, rest = cutLine(rest)
			if !yield(i, line) {
				return
			}
		}
	}
}

// cutLine splits s, which is not empty, behind its first line.
func cutLine(s string) (line string, e Ending, rest string) {
	i := strings.IndexByte(s, '\n')
	switch {
	case i < 0:
		return s, NoEnding, ""
	case i > 0 && s[i-1] == '\r':
		return s[:i-1], CRLF, s[i+1:]
	}
	return s[:i], LF, s[i+1:]
}

// RawOffset turns an offset in [Doc.LF] into one in [Doc.Text]. That of a
// folded "\n" is that of its "\r". It panics for an offset outside of the text.
func (d Doc) RawOffset(lf int) int {
	s := d.Text()
	crlf := d.Shape().CRLF
	if lf < 0 || lf > len(s)-crlf {
		panic("text: no such offset")
	}
	if crlf == 0 {
		return lf
	}
	marks := d.cache().marks()
	k := sort.Search(len(marks), func(k int) bool { return marks[k].start-marks[k].crlf > lf }) - 1
	raw, at := marks[k].start, marks[k].start-marks[k].crlf
	for {
		i := strings.Index(s[raw:], "\r\n")
		if i < 0 || at+i >= lf {
			return raw + lf - at
		}
		raw, at = raw+i+2, at+i+1
	}
}

// LFOffset turns an offset in [Doc.Text] into one in [Doc.LF]. Between a "\r"
// and its "\n" it is that of the folded "\n". It panics for an offset outside
// of the text.
func (d Doc) LFOffset(raw int) int {
	s := d.Text()
	if raw < 0 || raw > len(s) {
		panic("text: no such offset")
	}
	if d.Shape().CRLF == 0 {
		return raw
	}
	if raw > 0 && raw < len(s) && s[raw-1] == '\r' && s[raw] == '\n' {
		raw--
	}
	marks := d.cache().marks()
	k := sort.Search(len(marks), func(k int) bool { return marks[k].start > raw }) - 1
	return raw - marks[k].crlf - strings.Count(s[marks[k].start:raw], "\r\n")
}

// Fold replaces each "\r\n" by "\n". It returns s itself if there is none.
func Fold(s string) string {
	if strings.IndexByte(s, '\r') < 0 {
		return s
	}
	return strings.ReplaceAll(s, "\r\n", "\n")
}

// WithEnding gives all line ends of s the ending e; NoEnding counts as LF.
func WithEnding(s string, e Ending) string {
	s = Fold(s)
	if e != CRLF {
		return s
	}
	return strings.ReplaceAll(s, "\n", "\r\n")
}
