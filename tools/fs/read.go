package fs

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"dsh-acp/internal/hashline"
	"dsh-acp/internal/text"
)

// MaxColumns is how many characters of a line a read shows.
const MaxColumns = 200

// A Target is what to read.
type Target struct {
	Path   string `json:"path"`
	Symbol string `json:"symbol,omitempty"` // the definition of this name
	Offset int    `json:"offset,omitempty"` // first line, from 1; 0: not given
	// Limit is the number of lines; 0 means not given, a negative one is
	// refused.
	Limit int `json:"limit,omitempty"`
	// Line is Offset and LineRange ("10-20,200-220") several slices. Both are
	// for callers of an older form, and not told to models.
	Line      int    `json:"line,omitempty"`
	LineRange string `json:"line_range,omitempty"`
}

// A ReadResult is what there is to see of a target. Of one that failed only
// Path and Warnings are set.
type ReadResult struct {
	Path     string  `json:"path"` // as asked
	FileHash string  `json:"file_hash"`
	Header   string  `json:"header"`
	Content  string  `json:"content"`            // header, numbered lines, notices in brackets
	Warnings *string `json:"warnings,omitempty"` // nil: none

	// First and Shown are the lines in Content if they follow on another,
	// else Shown is nil. Total is the number of lines of the file.
	First int      `json:"-"`
	Shown []string `json:"-"`
	Total int      `json:"-"`
}

// Read shows files. It never fails as a whole: what is wrong with a target is
// told in its result. There is one result for each target, and more only for a
// symbol in a folder; see [Box.ReadAll].
func (b *Box) Read(ctx context.Context, targets []Target) []ReadResult {
	out := make([]ReadResult, 0, len(targets))
	for _, t := range targets {
		list, err := b.ReadAll(ctx, t)
		if err != nil {
			why := b.about(t.Path, err)
			list = []ReadResult{{Path: t.Path, Warnings: &why}}
		}
		out = append(out, list...)
	}
	return out
}

// ReadOne shows one file, or says with an error why it cannot.
func (b *Box) ReadOne(ctx context.Context, t Target) (ReadResult, error) {
	if t.Limit < 0 || t.Offset < 0 || t.Line < 0 {
		return ReadResult{}, &Error{Code: hashline.CodeArgs, Text: fmt.Sprintf("read %s: offset and limit count from 1", t.Path)}
	}
	abs, err := b.Abs(ctx, t.Path)
	if err != nil {
		return ReadResult{}, err
	}
	f, err := b.Files.Read(ctx, abs)
	if err != nil {
		return ReadResult{}, err
	}
	b.Seen.NoteFile(f)
	d, err := f.Doc()
	if err != nil {
		return ReadResult{}, err
	}
	v := b.slices(abs, t, d)
	v.warnings = append(v.warnings, f.Notes...)
	return b.shown(t, abs, f, d, v), nil
}

// A view is a read in the making: which slices, then what they show.
type view struct {
	ranges   []hashline.Range
	fold     bool // long slices lose their middle
	warnings []string

	text  strings.Builder
	seen  hashline.Ranges
	first int
	lines []string
	ended int // slices written
}

// slices decides what is shown.
func (b *Box) slices(abs string, t Target, d text.Doc) *view {
	v := &view{seen: hashline.Ranges{}}
	n := d.Lines()
	whole := hashline.Range{First: 1, Last: n}
	offset := t.Offset
	if offset == 0 {
		offset = t.Line
	}
	warn := func(format string, args ...any) { v.warnings = append(v.warnings, fmt.Sprintf(format, args...)) }
	beyond := func(first int) bool {
		if first > max(n, 1) {
			warn("line %d is behind the end: the file has %s", first, count(n, "line"))
			return true
		}
		return false
	}
	g := b.grammar(abs)
	switch {
	case t.Symbol != "":
		if g == nil {
			warn("no grammar for this file is known, so %s was not looked up: the whole file is shown", t.Symbol)
			v.ranges = []hashline.Range{whole}
			break
		}
		found, err := g.symbols(d, t.Symbol, 1)
		if err == nil && len(found) == 0 {
			err = errors.New("no such definition")
		}
		if err != nil {
			warn("%s: %v: the whole file is shown", t.Symbol, err)
			v.ranges = []hashline.Range{whole}
			break
		}
		v.ranges, v.fold = found, true
	case t.Limit > 0:
		first := max(offset, 1)
		if !beyond(first) {
			last := n
			if t.Limit <= n-first {
				last = first + t.Limit - 1
			}
			v.ranges = []hashline.Range{{First: first, Last: last}}
		}
	case t.LineRange != "":
		list, ok := parseRanges(t.LineRange)
		if !ok {
			warn("line_range %q is not like 10-20,200-220: the whole file is shown", t.LineRange)
			v.ranges = []hashline.Range{whole}
			break
		}
		for _, r := range list {
			if !beyond(r.First) {
				v.ranges = append(v.ranges, hashline.Range{First: r.First, Last: min(r.Last, n)})
			}
		}
	case offset > 0:
		if beyond(offset) {
			break
		}
		v.ranges = []hashline.Range{{First: offset, Last: n}}
		if g == nil {
			break // without a grammar there is no block: the rest of the file is shown
		}
		block, err := g.around(d, offset)
		if err != nil {
			warn("line %d: %v: the whole file is shown", offset, err)
			v.ranges = []hashline.Range{whole}
			break
		}
		v.ranges, v.fold = []hashline.Range{block}, true
	default:
		v.ranges = []hashline.Range{whole}
	}
	return v
}

func parseRanges(s string) ([]hashline.Range, bool) {
	var out []hashline.Range
	for _, part := range strings.Split(s, ",") {
		a, z, ok := strings.Cut(strings.TrimSpace(part), "-")
		first, err1 := strconv.Atoi(strings.TrimSpace(a))
		last, err2 := first, error(nil)
		if ok {
			last, err2 = strconv.Atoi(strings.TrimSpace(z))
		}
		if err1 != nil || err2 != nil || first < 1 || last < first {
			return nil, false
		}
		out = append(out, hashline.Range{First: first, Last: last})
	}
	return out, true
}

// The shape of a block that is too long to be shown whole.
const (
	foldFrom = 24 // lines above which it is folded
	foldHead = 3
	foldTail = 2
)

// write shows the slices, within bounds for all of them together.
func (v *view) write(d text.Doc, maxLines, maxBytes int) {
	cut, shown, size := 0, 0, 0
	put := func(first, last int) int {
		for n := first; n <= last; n++ {
			line, long := clip(d.Line(n))
			if shown >= maxLines || size+len(line) > maxBytes && shown > 0 {
				return n - 1
			}
			if long {
				cut++
			}
			shown, size = shown+1, size+len(line)
			v.text.WriteString("\n" + hashline.NumberedLine(n, line))
			v.lines = append(v.lines, line)
			v.seen = v.seen.Add(n, n)
		}
		return last
	}
	behind := 0
	for i, r := range v.ranges {
		if i > 0 && r.First > behind+1 {
			fmt.Fprintf(&v.text, "\n[%s left out]", count(r.First-behind-1, "line"))
		}
		if i == 0 {
			v.first = r.First
		}
		v.ended++
		if v.fold && r.Last-r.First+1 > foldFrom {
			put(r.First, r.First+foldHead-1)
			v.text.WriteString("\n…")
			put(r.Last-foldTail+1, r.Last)
			from := r.First + foldHead
			hidden := r.Last - foldTail - from + 1
			fmt.Fprintf(&v.text, "\n[%s of the block hidden: read with offset %d and limit %d for them]", count(hidden, "line"), from, hidden)
			v.ended++ // its lines do not follow on another
			behind = r.Last
			continue
		}
		if behind = put(r.First, r.Last); behind < r.Last {
			break
		}
	}
	if n := d.Lines(); len(v.ranges) > 0 && behind < n {
		left := n - behind
		fmt.Fprintf(&v.text, "\n[%s after this: go on with offset %d and limit %d]", count(left, "more line"), behind+1, min(left, maxLines))
	}
	if cut > 0 {
		fmt.Fprintf(&v.text, "\n[%s cut to %d characters]", count(cut, "long line"), MaxColumns)
	}
}

// clip cuts a line that is too long to be shown.
func clip(line string) (string, bool) {
	if len(line) <= MaxColumns {
		return line, false
	}
	at, runes := 0, 0
	for i := range line {
		if runes == MaxColumns-3 {
			at = i
		}
		if runes++; runes > MaxColumns {
			return line[:at] + "...", true
		}
	}
	return line, false
}

// count writes a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
