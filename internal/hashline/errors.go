package hashline

import (
	"fmt"
)

// A Code names a kind of refusal in a stable way.
type Code string

// The codes of this engine.
const (
	CodeArgs            Code = "EDIT_ARGS"             // arguments that fit no shape, or mix two
	CodeEmpty           Code = "EDIT_EMPTY"            // ops without a hunk
	CodeParse           Code = "EDIT_PARSE"            // ops that are not in the language
	CodeNoTag           Code = "EDIT_NO_TAG"           // no tag, or not 4 to 8 hex digits
	CodeStale           Code = "EDIT_STALE"            // the file is not the tagged text, and the edit cannot be moved
	CodeLineRange       Code = "EDIT_LINE_RANGE"       // a line that the tagged text does not have
	CodeRangeOrder      Code = "EDIT_RANGE_ORDER"      // a range that ends before it begins
	CodeRangeHuge       Code = "EDIT_RANGE_HUGE"       // a range of more than MaxRange lines
	CodeOverlap         Code = "EDIT_OVERLAP"          // two hunks claim one line
	CodeBlockUnresolved Code = "EDIT_BLOCK_UNRESOLVED" // no syntactic block begins there
	CodeUnseen          Code = "EDIT_UNSEEN"           // lines that were never shown, with SeenReject
	CodeNoMatch         Code = "EDIT_NO_MATCH"         // old_string is not in the tagged text
	CodeAmbiguous       Code = "EDIT_AMBIGUOUS"        // old_string is there more than once
)

// The reasons of a CodeStale.
const (
	ReasonUnknown   = "not from this session"
	ReasonChanged   = "changed lines"
	ReasonNotUnique = "pairing not unique"
	ReasonTooFar    = "too many changes"
	ReasonCollision = "tag names several versions"
)

// An Error is a refusal. Nothing was changed.
type Error struct {
	Code    Code
	Path    string // as the request names the file; "" when no file is meant
	Msg     string // what was found, where, and what would work
	Context string // numbered lines of the file, or ""
	Details Details
}

// Details are the parts of an [Error] for programs.
type Details struct {
	Reason      string  `json:"reason,omitempty"`      // of a CodeStale
	OpsLines    []int   `json:"opsLines,omitempty"`    // lines of the ops, 1-based
	Lines       Ranges  `json:"lines,omitempty"`       // lines of the tagged text
	LineCount   *int    `json:"lineCount,omitempty"`   // of the tagged text, with CodeLineRange
	ExpectedTag string  `json:"expectedTag,omitempty"` // as the request gives it
	LiveTag     string  `json:"liveTag,omitempty"`     // of the file as it is; usable at once when the caller records that text
	ShownLive   Ranges  `json:"shownLive,omitempty"`   // lines of the live text that Context shows
	ShownTagged Ranges  `json:"shownTagged,omitempty"` // lines of the tagged text that Context shows
	Expected    []Shape `json:"expected,omitempty"`    // with CodeArgs: the arguments that would work
}

// Error says first that nothing was written, since a refusal has been taken
// for a warning before.
func (e *Error) Error() string {
	s := "edit rejected, nothing written: "
	if e.Path != "" {
		s += e.Path + ": "
	}
	s += e.Msg
	if e.Context != "" {
		s += "\n\n" + e.Context
	}
	return s
}

func refuse(c Code, format string, args ...any) *Error {
	return &Error{Code: c, Msg: fmt.Sprintf(format, args...)}
}

// inOps is a refusal about one line of the ops.
func inOps(c Code, line int, format string, args ...any) *Error {
	e := refuse(c, "ops line %d: %s", line, fmt.Sprintf(format, args...))
	e.Details.OpsLines = []int{line}
	return e
}

// count writes a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
