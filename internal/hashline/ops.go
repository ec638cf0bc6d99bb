package hashline

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"dsh-acp/internal/text"
)

// Ops are parsed instructions, in the order in which they were written.
type Ops struct {
	Hunks    []Hunk // at least one
	Warnings []string
}

// Parse reads ops. firstLine is the number of their first line, for sections
// of a longer text; 0 means 1. It fails with an [*Error] that names the line.
func Parse(ops string, firstLine int) (Ops, error) {
	p := parser{line: max(firstLine, 1) - 1}
	if !utf8.ValidString(ops) || strings.IndexByte(ops, 0) >= 0 {
		return Ops{}, refuse(CodeParse, "ops: not text: they hold bytes that are not UTF-8, or a NUL")
	}
	ops = strings.TrimSuffix(text.Fold(ops), "\r")
	for raw := range strings.Lines(ops) {
		p.line++
		end, err := p.take(strings.TrimSuffix(raw, "\n"))
		if err != nil {
			return Ops{}, err
		}
		if end {
			break
		}
	}
	if err := p.close(); err != nil {
		return Ops{}, err
	}
	if len(p.hunks) == 0 {
		return Ops{}, refuse(CodeEmpty, "ops hold no instruction: "+shapes)
	}
	if p.blanks > 0 {
		p.warn("ops line %d: a blank line inside a body was skipped; an empty line is written as a \"+\" alone", p.blanks)
	}
	if p.loose > 0 {
		p.warn("ops line %d: rows without \"+\" were taken as text; put \"+\" before each", p.loose)
	}
	return Ops{p.hunks, p.warnings}, nil
}

type parser struct {
	hunks    []Hunk
	warnings []string
	line     int // of the ops, the current one

	open   bool // the last of hunks may take rows
	dashes []int
	plus   bool // the open hunk has a row with "+"
	blank  int  // a blank line in the open hunk that no row follows yet
	blanks int  // the first blank line inside of a body
	loose  int  // the first row without "+"
}

func (p *parser) warn(format string, args ...any) {
	p.warnings = append(p.warnings, fmt.Sprintf(format, args...))
}

// take reads one line; end says that the rest does not count.
func (p *parser) take(s string) (end bool, err error) {
	if strings.HasPrefix(s, "+") {
		return false, p.row(s[1:], true)
	}
	trimmed := strings.TrimSpace(s)
	switch trimmed {
	case "":
		if p.open && p.blank == 0 {
			p.blank = p.line
		}
		return false, nil
	case "*** Begin Patch":
		return false, nil
	case "*** End Patch":
		return true, nil
	case "*** Abort":
		if len(p.hunks) > 0 {
			p.warn("ops line %d: *** Abort ends the ops; the hunks above it count", p.line)
		}
		return true, nil
	}
	if h, ok := parseHeader(s); ok {
		if err := p.close(); err != nil {
			return false, err
		}
		h.Line = p.line
		p.hunks = append(p.hunks, h)
		p.open = true
		return false, nil
	}
	if !p.open && strings.HasPrefix(trimmed, "#") {
		return false, nil
	}
	if why := headerFault(s); why != "" {
		return false, inOps(CodeParse, p.line, "%s", why)
	}
	if !p.open {
		hint := "start with a header; " + shapes
		if strings.HasPrefix(s, "--- ") || strings.HasPrefix(s, "diff ") {
			hint = "this is not a unified diff; " + shapes
		}
		return false, inOps(CodeParse, p.line, "%q stands below no header: %s", clip(s), hint)
	}
	return false, p.row(s, false)
}

// row adds a row to the open hunk. prefixed says that it had its "+".
func (p *parser) row(s string, prefixed bool) error {
	switch {
	case !p.open:
		return inOps(CodeParse, p.line, "%q stands below no header: start with a header; "+shapes, clip("+"+s))
	case p.hunks[len(p.hunks)-1].Kind == Delete:
		return inOps(CodeParse, p.line, "delete takes no body: remove %q, or write \"replace\" to put it in the place of the lines", clip(s))
	case strings.HasSuffix(s, "\r"):
		return inOps(CodeParse, p.line, "the row ends in a carriage return, which would become a part of its line ending: leave it out")
	}
	if p.blank != 0 {
		if p.blanks == 0 {
			p.blanks = p.blank
		}
		p.blank = 0
	}
	h := &p.hunks[len(p.hunks)-1]
	switch {
	case prefixed:
		p.plus = true
		if _, ok := parseHeader(s); ok {
			p.warn("ops line %d: the row %q looks like a header and was taken as text, since it has \"+\"", p.line, clip(s))
		}
	case strings.HasPrefix(s, "-"):
		p.dashes = append(p.dashes, p.line)
	default:
		if p.loose == 0 {
			p.loose = p.line
		}
	}
	h.Rows = append(h.Rows, s)
	return nil
}

// close ends the open hunk and checks its body as a whole.
func (p *parser) close() error {
	if !p.open {
		return nil
	}
	h := p.hunks[len(p.hunks)-1]
	dashes, plus := p.dashes, p.plus
	p.open, p.dashes, p.plus, p.blank = false, nil, false, 0
	if h.Kind == Delete {
		return nil
	}
	if len(h.Rows) == 0 {
		if h.Kind == Replace {
			return inOps(CodeParse, h.Line, "replace has no row below it: to remove lines write \"delete\", to leave one empty line write a row with \"+\" alone")
		}
		return inOps(CodeParse, h.Line, "insert has no row below it: write each new line below it with \"+\" before it")
	}
	if len(dashes) > 0 {
		list := !plus && len(dashes) == len(h.Rows) &&
			!slices.ContainsFunc(h.Rows, func(s string) bool { return !strings.HasPrefix(s, "- ") })
		if !list {
			return inOps(CodeParse, dashes[0], "rows with \"-\" are not used: the range says already which lines go; for a text that begins with a dash write \"+-…\"")
		}
		p.warn("ops line %d: the rows begin with \"- \" and were taken as a list; put \"+\" before each", dashes[0])
	}
	if pasted(h) {
		return inOps(CodeParse, h.Line, "the rows below begin with line numbers (%q), as a view shows them: give the text alone, without number and bar", clip(h.Rows[0]))
	}
	return nil
}

// pasted reports whether all rows of a hunk are numbered lines of a view. A
// single one counts only with a number that the hunk itself names: anything
// else may well be text.
func pasted(h Hunk) bool {
	first := 0
	for i, row := range h.Rows {
		n, _, ok := cutNumber(row)
		if !ok || len(row) == len(fmt.Sprint(n))+1 && len(h.Rows) == 1 {
			return false
		}
		if i == 0 {
			first = n
		} else if n != first+i {
			return false
		}
	}
	return len(h.Rows) > 1 || h.First-1 <= first && first <= h.Last+1
}

// clip shortens text that an error quotes.
func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	cut := most
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}
