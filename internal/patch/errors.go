package patch

import (
	"errors"
	"fmt"
	"strings"

	"dsh-acp/internal/jsonedit"
)

// The codes of errors. Those from CodeMkdirFailed on are of the phase that
// writes; they are listed here so that there is one list. The two that begin
// with FS_ are those of storage, since every tool answers alike to a path that
// is not open and to a file that has changed.
const (
	CodeInvalidArguments    = "INVALID_ARGUMENTS"
	CodeLimitExceeded       = jsonedit.CodeLimit
	CodeInvalidUnicode      = jsonedit.CodeUnicode
	CodePathDenied          = "FS_DENIED"
	CodePathConflict        = "PATH_CONFLICT"
	CodeNotFound            = "NOT_FOUND"
	CodeNotRegular          = "NOT_REGULAR_FILE"
	CodeAlreadyExists       = "ALREADY_EXISTS"
	CodeParentMissing       = "PARENT_MISSING"
	CodeNotDirectory        = "PARENT_NOT_DIRECTORY"
	CodeUnsupportedEncoding = "UNSUPPORTED_ENCODING"
	CodeMatchCount          = "MATCH_COUNT"
	CodeRangeInvalid        = "RANGE_INVALID"
	CodeOldTextMismatch     = "OLD_TEXT_MISMATCH"
	CodeJSONParse           = jsonedit.CodeParse
	CodeJSONType            = jsonedit.CodeType
	CodeJSONDuplicateKey    = jsonedit.CodeDuplicate
	CodeJSONResultInvalid   = jsonedit.CodeResult
	CodePointerInvalid      = jsonedit.CodePointer
	CodePointerNotFound     = jsonedit.CodeNotFound
	CodeIndexRange          = jsonedit.CodeIndex
	CodeEmptyArray          = jsonedit.CodeEmptyArray
	CodeOverlap             = "OVERLAP"
	CodeNoChange            = "NO_CHANGE"
	CodeMkdirFailed         = "MKDIR_FAILED"
	CodeStaleVersion        = "FS_STALE_VERSION"
	CodeWriteFailed         = "WRITE_FAILED"
	CodeAborted             = "ABORTED"
)

// MaxErrors is how many errors a call reports.
const MaxErrors = 10

// An Error is what is wrong with one operation, or with the call.
type Error struct {
	Code      string
	Operation int    // index in the call, from 0; -1 for the call as a whole
	Op        string // the operation's name, or ""
	Path      string // as results name the file, or ""
	Why       string // with the next step
	Details   Details

	more int // places that Details.Candidates leaves out
}

// Details are the facts of an error for programs. Fields that do not apply
// are nil or empty.
type Details struct {
	Expected       *int        `json:"expected,omitempty"`
	Actual         *int        `json:"actual,omitempty"`
	Candidates     []Candidate `json:"candidates,omitempty"`
	ActualText     *string     `json:"actualText,omitempty"` // at most 40 lines
	FoundAt        int         `json:"foundAt,omitempty"`    // the line where oldText is
	AlreadyApplied bool        `json:"alreadyApplied,omitempty"`
	Operations     []int       `json:"operations,omitempty"` // that overlap
	Lines          []int       `json:"lines,omitempty"`      // first and last of them
	Line           int         `json:"line,omitempty"`       // of a JSON document
	Column         int         `json:"column,omitempty"`
	Prefix         *string     `json:"prefix,omitempty"` // longest that exists of a pointer
}

// A Candidate is a line that an error points to. One with several matches is
// there once.
type Candidate struct {
	Line int    `json:"line"`
	Text string `json:"text"` // at most 120 characters
}

// NewError makes an error of the call as a whole; with a *File's Fault the
// planner adds operation and path.
func NewError(code, format string, args ...any) *Error {
	return &Error{Code: code, Operation: -1, Why: fmt.Sprintf(format, args...)}
}

// Error says where and why, without the code.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Operation >= 0 {
		fmt.Fprintf(&b, "operation %d", e.Operation)
		if e.Op != "" {
			b.WriteString(", " + e.Op)
		}
		if e.Path != "" {
			b.WriteString(" " + e.Path)
		}
		b.WriteString(": ")
	} else if e.Path != "" {
		b.WriteString(e.Path + ": ")
	}
	b.WriteString(e.Why)
	return b.String()
}

// Errors are what is wrong with a call, at least one. The first stands for
// all where there is room for one only.
type Errors []*Error

// Code returns the code of the first error.
func (e Errors) Code() string { return e[0].Code }

// Error is the text for the model.
func (e Errors) Error() string {
	if len(e) == 1 {
		return e[0].Code + ": " + e[0].Error()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d operations cannot be done:", e[0].Code, len(e))
	for _, x := range e {
		b.WriteString("\n- " + x.Code + ": " + strings.ReplaceAll(x.Error(), "\n", "\n  "))
	}
	return b.String()
}

// located returns an error of an operation on a file.
func located(i int, o Operation, path, code, format string, args ...any) *Error {
	return &Error{Code: code, Operation: i, Op: o.Name(), Path: path, Why: fmt.Sprintf(format, args...)}
}

// fromJSON takes over an error of the JSON engine.
func fromJSON(i int, o Operation, path string, err error) *Error {
	var j *jsonedit.Error
	if !errors.As(err, &j) {
		panic("patch: " + err.Error())
	}
	e := located(i, o, path, j.Code, "%s", j.Error())
	e.Details.Line, e.Details.Column = j.Line, j.Column
	if j.Code == jsonedit.CodeNotFound {
		e.Details.Prefix = &j.Prefix
	}
	return e
}

// clip shortens a line for an error.
func clip(s string) string {
	const most = 120
	n := 0
	for i := range s {
		if n == most {
			return s[:i] + "…"
		}
		n++
	}
	return s
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
