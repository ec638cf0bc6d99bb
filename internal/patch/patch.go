// Package patch plans the tool apply_patch: the texts of files and a list of
// operations go in; the new texts come out, or up to ten errors and nothing.
// Every operation sees each file as it was before the call.
//
// It refuses to guess. A text that is found another number of times than
// asked for, a line range that holds something else, and two operations on
// one place are errors that say what is there. It does not copy, move, delete
// or replace whole files, and it neither reads nor writes any.
package patch

import (
	"dsh-acp/internal/jsonedit"
	"dsh-acp/internal/text"
)

// An Operation is one entry of a call. It is one of [ReplaceText],
// [ReplaceRange], [ReplaceAnchored], [SetJSON], [InsertJSON], [AppendText] and
// [CreateFile].
type Operation interface {
	// Target is the path as the call spells it.
	Target() string
	// Name is the operation's name in a call.
	Name() string
	operation()
}

// A Mode is a tolerance of [ReplaceText].
type Mode string

// The modes.
const (
	Exact  Mode = ""
	Trim   Mode = "trim"   // blanks at the end of a line do not count
	Indent Mode = "indent" // all lines may be shifted by the same blanks
)

// ReplaceText replaces each of Expect occurrences of Search.
type ReplaceText struct {
	Path, Search, Replace string
	Expect                int // at least 1
	Fuzzy                 Mode
}

// ReplaceRange replaces the lines from Start to End, both in it, counted from
// 1. An empty Text removes them with their line ends.
type ReplaceRange struct {
	Path          string
	Start, End    int
	OldText, Text string
}

// ReplaceAnchored is [ReplaceRange] for Lines lines from the line on which
// Search starts, plus Offset.
type ReplaceAnchored struct {
	Path, Search  string
	Offset, Lines int
	OldText, Text string
}

// SetJSON sets the value at a pointer, or adds it.
type SetJSON struct {
	Path, Pointer string
	Value         jsonedit.Value
}

// InsertJSON inserts a value before the element at Index of an array.
type InsertJSON struct {
	Path, Pointer string
	Index         int
	Value         jsonedit.Value
}

// AppendText puts Text at the end of a file.
type AppendText struct{ Path, Text string }

// CreateFile makes a file that is not there; Parents allows it to make the
// directories above it.
type CreateFile struct {
	Path, Text string
	Parents    bool
}

func (ReplaceText) operation()     {}
func (ReplaceRange) operation()    {}
func (ReplaceAnchored) operation() {}
func (SetJSON) operation()         {}
func (InsertJSON) operation()      {}
func (AppendText) operation()      {}
func (CreateFile) operation()      {}

func (o ReplaceText) Target() string     { return o.Path }
func (o ReplaceRange) Target() string    { return o.Path }
func (o ReplaceAnchored) Target() string { return o.Path }
func (o SetJSON) Target() string         { return o.Path }
func (o InsertJSON) Target() string      { return o.Path }
func (o AppendText) Target() string      { return o.Path }
func (o CreateFile) Target() string      { return o.Path }

// The names of operations in a call.
const (
	opReplaceText  = "replace_text"
	opReplaceRange = "replace_range"
	opSetJSON      = "set_json"
	opInsertJSON   = "insert_json"
	opAppendText   = "append_text"
	opCreateFile   = "create_file"
)

func (ReplaceText) Name() string     { return opReplaceText }
func (ReplaceRange) Name() string    { return opReplaceRange }
func (ReplaceAnchored) Name() string { return opReplaceRange }
func (SetJSON) Name() string         { return opSetJSON }
func (InsertJSON) Name() string      { return opInsertJSON }
func (AppendText) Name() string      { return opAppendText }
func (CreateFile) Name() string      { return opCreateFile }

// A Request is a decoded call. Operations that could not be decoded are nil;
// [Make] reports them together with what else is wrong.
type Request struct {
	Operations []Operation
	DryRun     bool

	faults Errors
}

// Undecoded reports whether not one operation could be decoded.
func (r Request) Undecoded() bool { return len(r.faults) == len(r.Operations) }

// A State is what is at a path.
type State int

// The states.
const (
	Missing State = iota // nothing, not even a broken link
	Regular              // a file
	Other                // a directory, device, or broken link
)

// A File is what the caller knows of one file before the call. All spellings
// of its path share one *File.
type File struct {
	// Path is how results name it: relative to the working directory, with
	// slashes, or absolute outside of it.
	Path  string
	State State
	Doc   text.Doc // of a Regular file without a Fault
	// Fault says why the file cannot be used: CodePathDenied,
	// CodeUnsupportedEncoding, CodeNotDirectory and so on. Only its Code and
	// Why count. A create on a file that exists is told so first, unless the
	// path is denied.
	Fault *Error
	// NoParents are the directories above a Missing file that are missing
	// too, outermost first, named as Path is and with a slash at the end.
	NoParents []string
}

// A Snippet is what a call's own arguments say of an operation's change.
type Snippet struct {
	Path string
	Old  *string // nil: the arguments do not say what was there
	New  string
}

// SnippetOf returns the change of o as far as its arguments tell.
func SnippetOf(o Operation) Snippet {
	s := Snippet{Path: o.Target()}
	switch o := o.(type) {
	case ReplaceText:
		s.Old, s.New = &o.Search, o.Replace
	case ReplaceRange:
		s.Old, s.New = &o.OldText, o.Text
	case ReplaceAnchored:
		s.Old, s.New = &o.OldText, o.Text
	case SetJSON:
		s.New = o.Value.String()
	case InsertJSON:
		s.New = o.Value.String()
	case AppendText:
		s.New = o.Text
	case CreateFile:
		s.New = o.Text
	default:
		panic("patch: no snippet for this operation")
	}
	return s
}
