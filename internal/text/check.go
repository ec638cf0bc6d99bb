package text

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// ErrNotText is what every *[NotTextError] is, for errors.Is.
var ErrNotText = errors.New("not UTF-8 text")

// A Flaw is a reason why bytes are not text.
type Flaw int

// The flaws.
const (
	FlawNUL     Flaw = iota + 1 // a NUL byte
	FlawInvalid                 // bytes that are not UTF-8
	FlawMark                    // the byte order mark of another encoding
)

// A NotTextError says why a file's bytes are not UTF-8 text, and where.
type NotTextError struct {
	Flaw   Flaw
	Offset int    // of the first bad byte, from the start of the file
	Line   int    // 1-based; counts "\n"
	Byte   byte   // the first bad byte
	Guess  string // what the file may be, or ""
}

func (e *NotTextError) Error() string {
	var b strings.Builder
	switch e.Flaw {
	case FlawMark:
		fmt.Fprintf(&b, "not UTF-8 text: starts with the byte order mark of %s", e.Guess)
		return b.String()
	case FlawNUL:
		fmt.Fprintf(&b, "not UTF-8 text: NUL byte at offset %d (line %d)", e.Offset, e.Line)
	default:
		fmt.Fprintf(&b, "not UTF-8 text: invalid byte 0x%02X at offset %d (line %d)", e.Byte, e.Offset, e.Line)
	}
	if e.Guess != "" {
		fmt.Fprintf(&b, "; it may be %s", e.Guess)
	}
	return b.String()
}

// Is reports whether target is [ErrNotText].
func (e *NotTextError) Is(target error) bool { return target == ErrNotText }

// check returns a *NotTextError, or nil for text.
func check(s string) error {
	if name := foreignMark(s); name != "" {
		return &NotTextError{Flaw: FlawMark, Line: 1, Byte: s[0], Guess: name}
	}
	nul := strings.IndexByte(s, 0)
	if nul < 0 && utf8.ValidString(s) {
		return nil
	}
	// The error names whichever comes first.
	bad := invalidAt(s)
	e := &NotTextError{Flaw: FlawInvalid, Offset: bad}
	if nul >= 0 && (bad < 0 || nul < bad) {
		e.Flaw, e.Offset = FlawNUL, nul
	}
	e.Byte = s[e.Offset]
	e.Line = 1 + strings.Count(s[:e.Offset], "\n")
	e.Guess = guess(s, e.Offset)
	return e
}

// foreignMark names the encoding whose mark s starts with. UTF-16LE's mark is
// the first half of UTF-32LE's, so that four bytes decide.
func foreignMark(s string) string {
	switch {
	case strings.HasPrefix(s, "\xFF\xFE\x00\x00"):
		return "UTF-32LE"
	case strings.HasPrefix(s, "\x00\x00\xFE\xFF"):
		return "UTF-32BE"
	case strings.HasPrefix(s, "\xFF\xFE"):
		return "UTF-16LE"
	case strings.HasPrefix(s, "\xFE\xFF"):
		return "UTF-16BE"
	}
	return ""
}

// invalidAt returns the offset of the first byte that is not UTF-8, or -1.
func invalidAt(s string) int {
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// guessWindow is how many bytes a guess looks at.
const guessWindow = 4096

// magics are the first bytes of common files that people open by mistake.
var magics = []struct{ prefix, name string }{
	{"\x89PNG\r\n\x1a\n", "a PNG image"},
	{"\xFF\xD8\xFF", "a JPEG image"},
	{"GIF8", "a GIF image"},
	{"%PDF-", "a PDF document"},
	{"PK\x03\x04", "a ZIP archive or an office document"},
	{"\x1f\x8b", "gzip data"},
	{"\x7fELF", "an ELF binary"},
	{"MZ", "a Windows binary"},
	{"SQLite format 3\x00", "an SQLite database"},
}

// guess says what a file may be whose first flaw is at offset at. It is a hint
// for people, and nothing is decided by it.
func guess(s string, at int) string {
	for _, m := range magics {
		if strings.HasPrefix(s, m.prefix) {
			return m.name
		}
	}
	if s[at] == 0 {
		return guessNUL(s[:min(len(s), guessWindow)])
	}
	lo := max(0, at-guessWindow/2)
	return guessHigh([]byte(s[lo:min(len(s), lo+guessWindow)]))
}

// guessNUL tells UTF-16 without a mark by NULs on one side of each unit.
func guessNUL(s string) string {
	var even, odd int
	for i := range len(s) {
		if s[i] == 0 {
			if i%2 == 0 {
				even++
			} else {
				odd++
			}
		}
	}
	units := len(s) / 2
	switch {
	case units < 2:
	case odd*10 >= units*6 && even*10 <= units:
		return "UTF-16LE without a mark"
	case even*10 >= units*6 && odd*10 <= units:
		return "UTF-16BE without a mark"
	}
	return "a binary file"
}

// guessHigh tells a double-byte encoding, whose high bytes lead pairs, from a
// single-byte one, whose high bytes mostly stand alone between ASCII.
func guessHigh(b []byte) string {
	if n := bytes.Count(b, []byte{0}); n > 0 {
		return "a binary file"
	}
	var pairs, alone int
	for i := 0; i < len(b); i++ {
		if b[i] < 0x80 {
			continue
		}
		if i+1 < len(b) && b[i+1] >= 0x80 {
			pairs++
			i++
		} else {
			alone++
		}
	}
	if pairs > alone {
		return "GBK, Big5, Shift-JIS or another double-byte encoding"
	}
	return "Windows-1252 or another single-byte encoding"
}
