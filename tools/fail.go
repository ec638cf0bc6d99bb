package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/msg"
)

// Codes of failures that these tools find themselves. Those of storage are in
// fsbackend, those that any tool has are in msg; the three make one list.
const (
	CodeInvalidUnicode = "INVALID_UNICODE"   // damaged characters in the arguments
	CodeEditNotFound   = "FS_EDIT_NOT_FOUND" // old_string is empty, or is not in the file
	CodeAmbiguousEdit  = "FS_AMBIGUOUS_EDIT" // old_string is there more than once
	CodeNoChange       = "NO_CHANGE"         // old_string and new_string are the same
)

// A failure is an error that a model reads: text says what was found, where,
// and what would work.
type failure struct {
	code string
	text string
}

func (f *failure) Error() string { return f.text }

func failf(code, format string, args ...any) error {
	return &failure{code: code, text: fmt.Sprintf(format, args...)}
}

// failed turns the error of tool name into the result of its call. The
// context's own end is told apart from failures that happened by themselves.
func failed(name string, err error) msg.ToolResult {
	var f *failure
	var p *PatchError
	if r, ok := fsFailed(err); ok {
		return r
	}
	switch {
	case errors.As(err, &p):
		r := msg.Failed(p.Report.Code, p.Report.Message)
		r.Error.Details = p.details()
		return r
	case errors.As(err, &f):
		return msg.Failed(f.code, f.text)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return msg.Failed(msg.CodeAborted, name+": cancelled; nothing was written")
	}
	code := fsbackend.CodeOf(err)
	if code == "" {
		code = fsbackend.CodeIO
	}
	text := err.Error()
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		// The model asked for an edit; that a read in it failed says less.
		text = fmt.Sprintf("%s %s: %v", strings.ToLower(name), pe.Path, pe.Err)
	}
	return msg.Failed(code, text)
}

// noNUL refuses a NUL character in what is to be written, which would make
// the file one that these tools can no longer read.
func noNUL(tool, path, name, value string) error {
	i := strings.IndexByte(value, 0)
	if i < 0 {
		return nil
	}
	line := 1 + strings.Count(value[:i], "\n")
	return failf(msg.CodeInvalidArgs, "%s %s: %s holds a NUL character (U+0000) in its line %d, and these tools write text: leave it out; nothing was written",
		tool, path, name, line)
}
