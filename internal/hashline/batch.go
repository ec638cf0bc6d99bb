package hashline

import (
	"errors"
	"fmt"
	"strings"
)

// A BatchError says how far a call with several targets came. Targets before
// the one that failed are written and stay so; those behind were not tried.
type BatchError struct {
	FailedPath string
	Cause      error     // why that one failed
	Applied    []Applied // in the order of the call
	Skipped    []string  // paths, in the order of the call
}

// An Applied is a target of a batch that was written.
type Applied struct {
	Path   string `json:"path"`
	Tag    string `json:"file_hash"`
	Header string `json:"header"`
}

// Unwrap returns the cause.
func (e *BatchError) Unwrap() error { return e.Cause }

// Error names the target that failed and the cause, then what was written with
// its fresh headers, then what was skipped because of the failure.
func (e *BatchError) Error() string {
	var b strings.Builder
	cause := e.Cause.Error()
	var own *Error
	if errors.As(e.Cause, &own) && len(e.Applied) > 0 {
		// Nothing was written for this target; of the call, that is not so.
		cause = strings.Replace(cause, "nothing written:", "nothing written for this target:", 1)
	}
	fmt.Fprintf(&b, "%s failed: %s", e.FailedPath, cause)
	if len(e.Applied) > 0 {
		b.WriteString("\n\nwritten before it, and kept:")
		for _, a := range e.Applied {
			b.WriteString("\n" + a.Header)
		}
	}
	if len(e.Skipped) > 0 {
		fmt.Fprintf(&b, "\n\nskipped because %s failed, not tried: %s", e.FailedPath, strings.Join(e.Skipped, ", "))
	}
	return b.String()
}
