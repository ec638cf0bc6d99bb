package astedit

import "fmt"

// Codes of an [Error].
const (
	CodeArgs        = "EDIT_ARGS"       // the request as a whole
	CodePattern     = "AST_PATTERN"     // a pattern that can match nothing, or anything
	CodeUnbound     = "AST_UNBOUND"     // out uses a name that pat does not bind
	CodeUnsupported = "AST_UNSUPPORTED" // no grammar for the language, or none in this build
	CodeFile        = "AST_FILE"        // a file that cannot be parsed, or would not parse afterwards
)

// An Error is why nothing was rewritten. Its text is for a model to read: what
// was found, where, and what would work.
type Error struct {
	Code string
	Op   int    // counted from 0; -1 if no single op is at fault
	Path string // for CodeFile; else ""
	Line int    // 1-based line of the file for CodeFile; 0 if there is none
	Msg  string
}

func (e *Error) Error() string {
	if e.Path != "" {
		return fmt.Sprintf("rewrite %s: %s", e.Path, e.Msg)
	}
	return e.Msg
}

func patternError(pat, format string, args ...any) *Error {
	return &Error{Code: CodePattern, Msg: fmt.Sprintf("pattern %q: ", pat) + fmt.Sprintf(format, args...)}
}
