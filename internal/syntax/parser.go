package syntax

import (
	"errors"
	"fmt"
)

// A Parser makes trees. It is safe for concurrent use.
type Parser interface {
	// Parse returns the tree of src, which keeps src. Text that does not fit
	// the language is no error: the tree says where, see [Tree.Faults]. It
	// fails with ErrUnavailable if the program is built without parsers, with
	// an *UnsupportedError for a language that it has no grammar for, and
	// with a *LimitError if src is too large or took too long.
	Parse(lang Lang, src string) (*Tree, error)

	// Revise parses src, asks plan for edits of it, and tells whether the text
	// with the edits made parses without a fault; of no edits, whether src
	// does. It costs little more than one parse. The edits are sorted and lie
	// apart. It fails as Parse does, and with the error that plan returns.
	Revise(lang Lang, src string, plan func(*Tree) ([]Edit, error)) (clean bool, err error)
}

// An Edit replaces the bytes from Start to before End of a text by New.
type Edit struct {
	Start, End int
	New        string
}

// ErrUnavailable is why nothing parses in a program that was built without C.
var ErrUnavailable = errors.New("syntax trees are not in this build: it was made with CGO_ENABLED=0")

// An UnsupportedError names a language that has no grammar.
type UnsupportedError struct{ Lang Lang }

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("no grammar for %s", e.Lang)
}

// A LimitError says which bound of the parser a text exceeded.
type LimitError struct {
	Lang  Lang
	Bytes int    // of the text
	Limit string // what was exceeded, as words
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("parsing %d bytes of %s: %s", e.Bytes, e.Lang, e.Limit)
}
