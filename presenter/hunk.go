package presenter

import (
	"strconv"
	"strings"

	"dsh-acp/internal/text"
)

// hunkContext is the number of unchanged lines on each side of a change that
// a card shows.
const hunkContext = 3

// A Hunk is a changed region in the form of a unified diff.
type Hunk struct {
	// OldStart and NewStart are the first line of the region, 1-based. Of a
	// side without lines it is the line before which they would be.
	OldStart int `json:"oldStart"`
	OldLines int `json:"oldLines"`
	NewStart int `json:"newStart"`
	NewLines int `json:"newLines"`
	// Lines are the lines without their "\n", behind ' ', '-' or '+'. Behind
	// a line that ends without "\n" stands the line [NoNewline].
	Lines []string `json:"lines"`
	// Coarse is as in [FileDiff].
	Coarse bool `json:"coarse,omitempty"`
}

// NoNewline marks, in [Hunk.Lines], that the line before it has no line end.
const NoNewline = `\ No newline at end of file`

// Hunks returns what changed from before to after, with three lines of context
// and in order; nil if the texts are equal. Both are whole texts with "\n" as
// line end and without a byte order mark.
//
// The regions are those that version 9 of the npm package diff gives, up to
// 6,000 removed and added lines; above that there is one region, marked as
// coarse. Texts have no final line end, unless it is all that changed. OldText
// is nil only if a region has no old line; a single blank one is "".
func Hunks(path, before, after string) []FileDiff {
	d := text.CompareLines(before, after)
	var diffs []FileDiff
	for _, g := range groups(d, hunkContext) {
		oldText := strings.TrimSuffix(d.OldText(g.old, g.oldEnd), "\n")
		newText := strings.TrimSuffix(d.NewText(g.new, g.newEnd), "\n")
		if oldText == newText && g.old < g.oldEnd && g.new < g.newEnd {
			// Only the final line end differs: show it, or the block would
			// show no change.
			oldText = d.OldText(g.old, g.oldEnd)
			newText = d.NewText(g.new, g.newEnd)
		}
		f := FileDiff{
			Path:     path,
			NewText:  strings.Clone(newText), // a hunk must not hold on to the file
			OldStart: g.old,
			NewStart: g.new,
			Coarse:   d.Coarse,
		}
		if g.old < g.oldEnd {
			oldText = strings.Clone(oldText)
			f.OldText = &oldText
		}
		for _, c := range g.changes {
			f.Removed += c.OldEnd - c.Old
			f.Added += c.NewEnd - c.New
		}
		diffs = append(diffs, f)
	}
	return diffs
}

// LineHunks is [Hunks] line by line, with any number of lines of context; a
// negative number counts as 0.
func LineHunks(before, after string, context int) []Hunk {
	d := text.CompareLines(before, after)
	var hunks []Hunk
	for _, g := range groups(d, context) {
		h := Hunk{
			OldStart: g.old,
			OldLines: g.oldEnd - g.old,
			NewStart: g.new,
			NewLines: g.newEnd - g.new,
			Coarse:   d.Coarse,
		}
		at := g.old
		for _, c := range g.changes {
			h.add(" ", d.OldText(at, c.Old))
			h.add("-", d.OldText(c.Old, c.OldEnd))
			h.add("+", d.NewText(c.New, c.NewEnd))
			at = c.OldEnd
		}
		h.add(" ", d.OldText(at, g.oldEnd))
		hunks = append(hunks, h)
	}
	return hunks
}

// add appends the lines of s behind sign.
func (h *Hunk) add(sign, s string) {
	for line := range strings.Lines(s) {
		line, ended := strings.CutSuffix(line, "\n")
		h.Lines = append(h.Lines, sign+line)
		if !ended {
			h.Lines = append(h.Lines, NoNewline)
		}
	}
}

// Unified returns the text of a unified diff. It is "" if there are no hunks.
func Unified(oldName, newName string, hunks []Hunk) string {
	if len(hunks) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("--- " + oldName + "\n+++ " + newName + "\n")
	for _, h := range hunks {
		b.WriteString("@@ -" + span(h.OldStart, h.OldLines) + " +" + span(h.NewStart, h.NewLines) + " @@\n")
		for _, line := range h.Lines {
			b.WriteString(line)
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// span writes one side of a hunk's header, where a side without lines is named
// by the line before it.
func span(start, lines int) string {
	if lines == 0 {
		start--
	}
	return strconv.Itoa(start) + "," + strconv.Itoa(lines)
}
