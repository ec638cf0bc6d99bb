package hashline

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A Kind is what a hunk does.
type Kind uint8

// The kinds.
const (
	Replace      Kind = iota + 1 // lines First to Last become the rows
	Delete                       // lines First to Last go
	InsertBefore                 // rows are put before line First
	InsertAfter                  // rows are put after line First
	InsertHead                   // rows are put before everything
	InsertTail                   // rows are put after everything
)

// A Hunk is one instruction of the ops. Its numbers mean the tagged text.
type Hunk struct {
	Kind        Kind
	First, Last int      // 1-based; equal unless a range is given; 0 with head and tail
	Block       bool     // First begins a syntactic block, and Last is not known yet
	Rows        []string // without line ends; none with Delete
	Line        int      // of the header in the ops, 1-based
}

const (
	reLine = `([1-9][0-9]*)`
	reSep  = `(?:[\s\-…]|\.\.=?|\.=?)+`
	reSpan = `(?:block\s+` + reLine + `|` + reLine + `(?:` + reSep + reLine + `)?)`
)

var (
	replaceHeader = regexp.MustCompile(`^replace\s+` + reSpan + `\s*:?$`)
	deleteHeader  = regexp.MustCompile(`^delete\s+` + reSpan + `$`)
	insertHeader  = regexp.MustCompile(`^insert\s+(?:before\s+` + reLine + `|after\s+(block\s+)?` + reLine + `|(head|tail))\s*:?$`)
	attempt       = regexp.MustCompile(`^(?i:replace|delete|insert)\s+(?:(?i:block|before|after|head|tail)\b|(?i:lines?)\s+[0-9]|-?[0-9])`)
	bareNumbers   = regexp.MustCompile(`^[0-9]+(?:` + reSep + `[0-9]+)?\s*:?$`)
)

// parseHeader reads a hunk header; ok is false for any other line.
func parseHeader(s string) (h Hunk, ok bool) {
	s = strings.TrimSpace(s)
	if !startsWithVerb(s) {
		return Hunk{}, false
	}
	if m := insertHeader.FindStringSubmatch(s); m != nil {
		switch {
		case m[1] != "":
			h = Hunk{Kind: InsertBefore, First: lineNumber(m[1])}
		case m[3] != "":
			h = Hunk{Kind: InsertAfter, First: lineNumber(m[3]), Block: m[2] != ""}
		case m[4] == "head":
			return Hunk{Kind: InsertHead}, true
		default:
			return Hunk{Kind: InsertTail}, true
		}
		h.Last = h.First
		return h, true
	}
	h.Kind = Replace
	m := replaceHeader.FindStringSubmatch(s)
	if m == nil {
		h.Kind = Delete
		m = deleteHeader.FindStringSubmatch(s)
	}
	if m == nil {
		return Hunk{}, false
	}
	switch {
	case m[1] != "":
		h.First, h.Block = lineNumber(m[1]), true
		h.Last = h.First
	case m[3] != "":
		h.First, h.Last = lineNumber(m[2]), lineNumber(m[3])
	default:
		h.First = lineNumber(m[2])
		h.Last = h.First
	}
	return h, true
}

func startsWithVerb(s string) bool {
	return strings.HasPrefix(s, "replace") || strings.HasPrefix(s, "delete") || strings.HasPrefix(s, "insert")
}

// lineNumber reads digits. More than a file can have are cut to a number that
// no file has, so that the check of the range names them.
func lineNumber(digits string) int {
	const beyond = 1_000_000_000
	n, err := strconv.Atoi(digits)
	if err != nil || n > beyond {
		return beyond
	}
	return n
}

const shapes = `the headers are "replace A..B:", "delete A..B", "insert before N:", "insert after N:", "insert head:", "insert tail:"`

// headerFault says what is wrong with a line that was meant as a header; it is
// "" for a line that was not.
func headerFault(s string) string {
	s = strings.TrimSpace(s)
	switch {
	case bareNumbers.MatchString(s):
		return fmt.Sprintf("%q has no verb: write \"replace %s:\" or \"delete %s\", or \"+%s\" if it is text", s, strings.TrimRight(s, ": "), strings.TrimRight(s, ": "), s)
	case strings.HasPrefix(s, "*** Update File"), strings.HasPrefix(s, "*** Add File"),
		strings.HasPrefix(s, "*** Delete File"), strings.HasPrefix(s, "*** Move to"):
		return fmt.Sprintf("%q belongs to another patch format: the path is an argument here, and "+shapes, s)
	case s == "@@" || strings.HasPrefix(s, "@@ ") || strings.HasPrefix(s, "@@-"):
		return fmt.Sprintf("%q: @@ brackets are not used here: name lines by their number; "+shapes, s)
	case strings.HasPrefix(s, "¶"):
		if _, _, ok := ParseHeader(s); ok {
			return fmt.Sprintf("%q begins another file: give each file a target of its own", s)
		}
		return ""
	case !attempt.MatchString(s):
		return ""
	}
	verb, rest, _ := strings.Cut(strings.Join(strings.Fields(s), " "), " ")
	lower := strings.ToLower(verb)
	if verb != lower {
		return fmt.Sprintf("%q: write the verb in lower case", s)
	}
	bare, after, colon := strings.Cut(s, ":")
	_, plain := parseHeader(bare)
	word, _, _ := strings.Cut(rest, " ")
	switch {
	case lower == "delete" && colon && plain:
		return fmt.Sprintf("%q: delete takes no colon and no body: write %q", s, strings.TrimSpace(bare))
	case colon && plain && strings.TrimSpace(after) != "":
		return fmt.Sprintf("%q: nothing may follow the colon: put the new lines below, each with + before it", s)
	case strings.HasPrefix(strings.ToLower(word), "line"):
		return fmt.Sprintf("%q: leave out the word %q: the number alone names the line", s, word)
	case zeroLine.MatchString(rest):
		return fmt.Sprintf("%q: lines are numbered from 1; to put text before the first, write \"insert head:\"", s)
	case lower == "insert" && word != "" && (word[0] == '-' || word[0] >= '0' && word[0] <= '9'):
		return fmt.Sprintf("%q: say where: \"insert before N:\" or \"insert after N:\"", s)
	case lower == "insert" && strings.HasPrefix(rest, "before block"):
		return fmt.Sprintf("%q: a block begins on its line: write \"insert before N:\"", s)
	case lower != "insert" && strings.HasPrefix(rest, "block"):
		return fmt.Sprintf("%q: block takes the one line on which it begins: \"%s block N\"", s, lower)
	}
	return fmt.Sprintf("%q is not a header: "+shapes, s)
}

var zeroLine = regexp.MustCompile(`(?:^|[^0-9])0+(?:[^0-9]|$)`)
