// Package jsonedit changes single places of a JSON document with comments and
// trailing commas: a JSON pointer and a value in, edits by byte offset out.
// What the edits do not name stays byte for byte: comments, blank lines, the
// spelling of numbers, the order of keys.
//
// It refuses to format, to repair and to guess: a document that does not
// parse, a key that occurs twice on the way, or a missing parent is an error.
// It deletes nothing but what a new value of a container leaves out. It reads
// no files.
package jsonedit

import (
	"fmt"
	"strings"

	"github.com/tailscale/hujson"

	"dsh-acp/internal/text"
)

// Limits bound what is read. Zero fields mean the defaults.
type Limits struct {
	Depth  int // levels of arrays and objects in a document or value; 512
	Tokens int // steps of a pointer; 128
}

// The defaults of [Limits].
const (
	DefaultDepth  = 512
	DefaultTokens = 128
)

func (l Limits) withDefaults() Limits {
	if l.Depth == 0 {
		l.Depth = DefaultDepth
	}
	if l.Tokens == 0 {
		l.Tokens = DefaultTokens
	}
	return l
}

// Codes of [Error].
const (
	CodeParse       = "JSON_PARSE"
	CodeType        = "JSON_TYPE"
	CodeDuplicate   = "JSON_DUPLICATE_KEY"
	CodeResult      = "JSON_RESULT_INVALID"
	CodePointer     = "POINTER_INVALID"
	CodeNotFound    = "POINTER_NOT_FOUND"
	CodeIndex       = "INDEX_RANGE"
	CodeEmptyArray  = "EMPTY_ARRAY"
	CodeLimit       = "LIMIT_EXCEEDED"
	CodeUnicode     = "INVALID_UNICODE"
	CodeValueFormat = "INVALID_ARGUMENTS" // a value of the call is not JSON, or holds a key twice
)

// An Error says what is wrong with a document, a pointer or a value.
type Error struct {
	Code string
	Why  string // with the next step where there is one
	// Line and Column are a place in the document, from 1, the column in
	// bytes; 0 where none is meant.
	Line, Column int
	// Prefix is the longest part of the pointer that leads somewhere. It
	// counts only with CodeNotFound, and "" is the root then.
	Prefix string
}

func (e *Error) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Why)
	}
	return e.Why
}

func fail(code, format string, args ...any) *Error {
	return &Error{Code: code, Why: fmt.Sprintf(format, args...)}
}

// A Document is a parsed text. It is not safe for concurrent use, and it is
// never changed: all edits are of the text as it was parsed.
type Document struct {
	src    string
	eol    string
	limits Limits
	root   hujson.Value
	look   *style // found when it is first needed
}

// Parse reads a document. It fails with an *[Error] of CodeParse or CodeLimit.
// A byte order mark is no part of the document, nor of its offsets.
func Parse(d text.Doc, limits Limits) (*Document, error) {
	limits = limits.withDefaults()
	src := d.Text()
	if err := checkDepth(src, limits.Depth); err != nil {
		return nil, err
	}
	root, err := parse(src)
	if err != nil {
		return nil, err
	}
	eol := d.Ending().Chars()
	if eol == "" {
		eol = "\n"
	}
	return &Document{src: src, eol: eol, limits: limits, root: root}, nil
}

// parse reads JSON with comments. It must have passed checkDepth, since the
// parser recurses.
func parse(src string) (hujson.Value, error) {
	in := make([]byte, len(src), len(src)+1)
	copy(in, src)
	if !strings.HasSuffix(src, "\n") {
		// The parser wants a line break behind every line comment.
		in = append(in, '\n')
	}
	root, err := hujson.Parse(in)
	if err == nil {
		return root, nil
	}
	e := &Error{Code: CodeParse, Line: 1, Column: 1}
	msg := strings.TrimPrefix(err.Error(), "hujson: ")
	if n, scanErr := fmt.Sscanf(msg, "line %d, column %d:", &e.Line, &e.Column); scanErr != nil || n != 2 {
		e.Line, e.Column = 1, 1
	} else if _, why, ok := strings.Cut(msg, ": "); ok {
		msg = why
	}
	if last := 1 + strings.Count(src, "\n"); e.Line > last {
		e.Line, e.Column = last, len(src)-strings.LastIndexByte(src, '\n')
	}
	if len(msg) > 200 {
		msg = strings.ToValidUTF8(msg[:200], "") + "…"
	}
	if strings.TrimSpace(src) == "" {
		e.Why = "the file is empty, so it is no JSON and has no place for a value; put the whole document into it with append_text"
		return hujson.Value{}, e
	}
	e.Why = "not JSON, even with comments and trailing commas: " + msg + "; correct that line first, with a text operation"
	return hujson.Value{}, e
}

// checkDepth finds nesting beyond depth without recursion. Where the text is
// no JSON it may miss, which the parser then says.
func checkDepth(src string, depth int) error {
	open := 0
	for i := 0; i < len(src); i++ {
		switch src[i] {
		case '{', '[':
			if open++; open > depth {
				line, column := place(src, i)
				return &Error{Code: CodeLimit, Line: line, Column: column,
					Why: fmt.Sprintf("arrays and objects nest deeper than the limit of %d levels", depth)}
			}
		case '}', ']':
			open--
		case '"':
			i = stringEnd(src, i) - 1
		case '/':
			if n := commentLen(src[i:]); n > 0 {
				i += n - 1
			}
		}
	}
	return nil
}

// stringEnd returns the offset behind the string that starts at i, or the
// length of src if it has no end.
func stringEnd(src string, i int) int {
	for i++; ; {
		n := strings.IndexAny(src[i:], `"\`)
		if n < 0 {
			return len(src)
		}
		i += n + 1
		if src[i-1] == '"' {
			return i
		}
		if i++; i > len(src) {
			return len(src)
		}
	}
}

// commentLen returns the length of the comment that s starts with, without
// the line end of a line comment. It is 0 where s starts with none.
func commentLen(s string) int {
	switch {
	case strings.HasPrefix(s, "//"):
		n := strings.IndexByte(s, '\n')
		if n < 0 {
			return len(s)
		}
		if s[n-1] == '\r' {
			n--
		}
		return n
	case strings.HasPrefix(s, "/*"):
		if n := strings.Index(s[2:], "*/"); n >= 0 {
			return n + 4
		}
	}
	return 0
}

func place(src string, at int) (line, column int) {
	return 1 + strings.Count(src[:at], "\n"), at - strings.LastIndexByte(src[:at], '\n')
}
