package jsonedit

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Strings of a document may hold a lone surrogate, which is no character but
// legal JSON. Go's decoder makes all of them one and the same; here each keeps
// its own three bytes, so that keys that differ stay different.

// unquote returns the characters of a valid string literal.
func unquote(lit []byte) string {
	body := lit[1 : len(lit)-1]
	if bytes.IndexByte(body, '\\') < 0 {
		return string(body)
	}
	var b strings.Builder
	b.Grow(len(body))
	for i := 0; i < len(body); {
		if body[i] != '\\' {
			b.WriteByte(body[i])
			i++
			continue
		}
		if body[i+1] != 'u' {
			b.WriteByte(plain[body[i+1]])
			i += 2
			continue
		}
		u := hex4(body[i+2:])
		i += 6
		if utf16.IsSurrogate(rune(u)) {
			if low, ok := escapeAt(body[i:]); ok {
				if r := utf16.DecodeRune(rune(u), rune(low)); r != utf8.RuneError {
					b.WriteRune(r)
					i += 6
					continue
				}
			}
			b.Write([]byte{0xE0 | byte(u>>12), 0x80 | byte(u>>6)&0x3F, 0x80 | byte(u)&0x3F})
			continue
		}
		b.WriteRune(rune(u))
	}
	return b.String()
}

// plain are the characters of escapes of one letter.
var plain = [256]byte{
	'"': '"', '\\': '\\', '/': '/',
	'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

func escapeAt(b []byte) (uint16, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	return hex4(b[2:]), true
}

func hex4(b []byte) uint16 {
	var u uint16
	for _, c := range b[:4] {
		switch {
		case c <= '9':
			c -= '0'
		case c <= 'F':
			c -= 'A' - 10
		default:
			c -= 'a' - 10
		}
		u = u<<4 | uint16(c)
	}
	return u
}

// loneSurrogate returns the first half of a pair without the other half in a
// valid string literal.
func loneSurrogate(lit []byte) (uint16, bool) {
	for i := 0; ; {
		n := bytes.IndexByte(lit[i:], '\\')
		if n < 0 {
			return 0, false
		}
		i += n
		u, ok := escapeAt(lit[i:])
		switch {
		case !ok:
			i += 2
		case !utf16.IsSurrogate(rune(u)):
			i += 6
		default:
			low, ok := escapeAt(lit[i+6:])
			if !ok || utf16.DecodeRune(rune(u), rune(low)) == utf8.RuneError {
				return u, true
			}
			i += 12
		}
	}
}

// quote writes a string with the shortest escapes: only what JSON demands.
func quote(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c >= ' ':
			b.WriteByte(c)
		case c == '\b':
			b.WriteString(`\b`)
		case c == '\f':
			b.WriteString(`\f`)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		default:
			fmt.Fprintf(&b, `\u%04x`, c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func sameString(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	if bytes.IndexByte(a, '\\') < 0 && bytes.IndexByte(b, '\\') < 0 {
		return false
	}
	return unquote(a) == unquote(b)
}

func sameLiteral(a, b []byte) bool {
	if a[0] == '"' && b[0] == '"' {
		return sameString(a, b)
	}
	return bytes.Equal(a, b)
}
