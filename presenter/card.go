// Package presenter turns session events, and the deltas of a running turn,
// into what an ACP client sees: cards, and from them session/update values
// with exact JSON. It is pure: the same input gives the same bytes. It reads
// no file, no clock and no setting that changes, and it never fails: bad
// arguments or meta yield a plainer card.
package presenter

import (
	"encoding/json"

	"dsh-acp/internal/msg"
)

// A Card is the intent behind one drawing of a tool call. It is one of
// [Generic], [Diff], [Read], [Search], [Terminal], [Web] and [Plan].
type Card interface{ card() }

// Kinds of tool calls, from the ACP schema.
const (
	KindRead       = "read"
	KindEdit       = "edit"
	KindDelete     = "delete"
	KindMove       = "move"
	KindSearch     = "search"
	KindExecute    = "execute"
	KindThink      = "think"
	KindFetch      = "fetch"
	KindSwitchMode = "switch_mode"
	KindOther      = "other"
)

// A Location is a place in a file. Line is 1-based; 0 means that only the
// file is meant.
type Location struct {
	Path string `json:"path"`
	Line int    `json:"line,omitempty"`
}

// A FileDiff is one applied hunk, or a snippet from a call's arguments.
type FileDiff struct {
	Path     string  `json:"path"`
	OldText  *string `json:"oldText"` // null: there was nothing before
	NewText  string  `json:"newText"`
	OldStart int     `json:"oldStart,omitempty"` // first line of the hunk before; 0: not known
	NewStart int     `json:"newStart,omitempty"` // and after
	Added    int     `json:"added,omitempty"`    // changed lines
	Removed  int     `json:"removed,omitempty"`
	// Coarse says that the texts were too different for a minimal diff, so
	// that this is one replaced region.
	Coarse bool `json:"coarse,omitempty"`
}

// Generic is a card of text. On a result, nil Content means the raw result.
type Generic struct {
	Title     string // "" keeps the title so far
	Kind      string // "" means KindOther
	Content   msg.Blocks
	Locations []Location // nil: the tool has no such field; empty: none
	// Fence is the info string of a code fence around text content: nil for
	// no fence, "" for a plain one, "console" for a console's.
	Fence *string
	// Verbatim keeps the title as it is, paths and all.
	Verbatim bool `json:",omitempty"`
	// Listed tells the raw result as a list of blocks even if it is one text.
	Listed bool `json:",omitempty"`
}

// Diff is a card of changes. A call's Diffs are snippets, a result's the
// applied hunks.
type Diff struct {
	Title string
	// Files are named behind a call's title, as the arguments spell them: each
	// once, whatever its spellings, and no more than a few.
	Files     []string `json:",omitempty"`
	Diffs     []FileDiff
	Locations []Location // a call's; a result's are made from the hunks
	// Truncated counts the hunks that were left out for their size.
	Truncated int
	// Kept says that the call's own diff stays as it is (a created file).
	Kept bool
}

// Read is the card of a file's lines.
type Read struct {
	Title      string
	Path       string
	Offset     int // first line shown, 1-based
	Lines      []string
	TotalLines int
	Images     msg.Blocks // instead of lines, for a picture
}

// Search is the card of a search's result: matches, or paths alone.
type Search struct {
	Title     string
	Matches   []FileMatches
	Paths     []string
	Truncated bool
	Total     int
}

// FileMatches are the matching lines of one file.
type FileMatches struct {
	Path    string  `json:"path"`
	Matches []Match `json:"matches"`
}

// Match is one matching line.
type Match struct {
	LineNumber int    `json:"lineNumber"`
	Line       string `json:"line"`
}

// Terminal is the card of a command. Output, ExitCode and Signal are of the
// result; ExitCode and Signal exclude each other, and both nil means that the
// end is not known.
type Terminal struct {
	Title       string // the command
	Description string
	Cwd         string // "" is the session's
	Output      string // "" is the text of the raw result
	Silent      bool   // the command wrote nothing: the raw result only says so
	ExitCode    *int
	Signal      *string
}

// Web is the card of a web search or fetch.
type Web struct {
	Title      string
	URL        string
	StatusCode int
	Sources    []WebSource
	Answer     string
	Truncated  bool
}

// WebSource is one page that a web search found.
type WebSource struct {
	URL     string `json:"url"`
	Title   string `json:"title,omitempty"`
	Snippet string `json:"snippet,omitempty"`
}

// Plan is drawn as the client's plan, not as a tool call.
type Plan struct {
	Todos []msg.Todo
}

func (Generic) card()  {}
func (Diff) card()     {}
func (Read) card()     {}
func (Search) card()   {}
func (Terminal) card() {}
func (Web) card()      {}
func (Plan) card()     {}

// A Tool draws the calls of one tool. Its methods are pure and total.
type Tool interface {
	// Call draws a call from its arguments: a JSON object that holds the
	// properties known so far, {} at the start of the call. done says that
	// the arguments are complete; before that they are only good for title
	// and locations.
	Call(args json.RawMessage, done bool) Card
	// Result draws what came of it. args may be malformed.
	Result(args json.RawMessage, r msg.ToolResult) Card
	// Input gives the arguments with their defaults, as the client sees them
	// in rawInput. It returns args itself where there is nothing to add.
	Input(args json.RawMessage) json.RawMessage
}
