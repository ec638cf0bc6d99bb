package hashline

import (
	"fmt"
	"slices"
	"strings"

	"dsh-acp/internal/text"
)

// Slips that are seen often: a body that repeats lines which stay beside it,
// and a range that takes a closing bracket which the body does not give back.
// They are put right only where a parser proves the slip, and never silently;
// without proof they are named and the edit stands as it was written.

// A slip is a suspicion about one change.
type slip struct {
	change int
	what   string // for a warning
	fixed  change // the change without the slip
	done   string // for the warning that it was put right
}

// review names the slips in changes of d, or puts one right.
func review(changes []change, d text.Doc, r Request) (out []change, notes []string) {
	slips := findSlips(changes, d)
	if r.Syntax != nil && !r.NoRepair && len(slips) > 0 && breaks(r.Syntax, d, edits(d, changes)) {
		for i, s := range slips {
			fixed := slices.Clone(changes)
			fixed[s.change] = s.fixed
			after, err := d.ApplyLF(edits(d, fixed)...)
			if err != nil || r.Syntax.Fault(after.LF()) > 0 {
				continue
			}
			changes = fixed
			notes = append(notes, s.done)
			slips = slices.Delete(slips, i, i+1)
			break
		}
	}
	for _, s := range slips {
		notes = append(notes, s.what)
	}
	return changes, notes
}

// breaks reports whether edits make a text that parses one that does not.
func breaks(s Syntax, d text.Doc, edits []text.Edit) bool {
	after, err := d.ApplyLF(edits...)
	return err == nil && s.Fault(after.LF()) > 0 && s.Fault(d.LF()) == 0
}

// broken is the note that a text parsed and does not any more, "" if it is not
// so.
func broken(s Syntax, before, after text.Doc) string {
	line := s.Fault(after.LF())
	if line == 0 || s.Fault(before.LF()) > 0 {
		return ""
	}
	near := ""
	if line <= after.Lines() {
		near = fmt.Sprintf(", near %q", clip(strings.TrimSpace(after.Line(line))))
	}
	return fmt.Sprintf("this edit broke the syntax: the text parsed before, and does not parse any more at its line %d%s", line, near)
}

func findSlips(changes []change, d text.Doc) []slip {
	var out []slip
	n := d.Lines()
	stays := func(line int) bool {
		return line >= 1 && line <= n && !slices.ContainsFunc(changes, func(c change) bool { return c.first <= line && line <= c.last })
	}
	for i, c := range changes {
		if len(c.rows) == 0 {
			continue
		}
		below := 0
		for k := 1; k <= len(c.rows) && stays(c.last+k); k++ {
			if equalLines(d, c.last+1, c.rows[len(c.rows)-k:]) {
				below = k
			}
			if k >= maxRepeat {
				break
			}
		}
		if rows := c.rows[len(c.rows)-below:]; below > 0 && worth(rows, c) {
			f := c
			f.rows = c.rows[:len(c.rows)-below]
			out = append(out, slip{i, repeats(c, "last", rows, Range{c.last + 1, c.last + below}, "after"), f, dropped(c, "last", rows)})
		}
		above := 0
		for k := 1; k <= len(c.rows) && stays(c.first-k); k++ {
			if equalLines(d, c.first-k, c.rows[:k]) {
				above = k
			}
			if k >= maxRepeat {
				break
			}
		}
		if rows := c.rows[:above]; above > 0 && worth(rows, c) {
			f := c
			f.rows = c.rows[above:]
			out = append(out, slip{i, repeats(c, "first", rows, Range{c.first - above, c.first - 1}, "before"), f, dropped(c, "first", rows)})
		}
		if s, ok := swallowed(i, c, d); ok {
			out = append(out, s)
		}
	}
	return out
}

// maxRepeat is how many repeated rows are looked for.
const maxRepeat = 200

func equalLines(d text.Doc, first int, rows []string) bool {
	for i, row := range rows {
		if d.Line(first+i) != row {
			return false
		}
	}
	return true
}

// worth reports whether repeated rows are worth a word. Text that is put
// between lines often ends in the bracket that follows it.
func worth(rows []string, c change) bool {
	return slices.ContainsFunc(rows, func(s string) bool {
		if c.last < c.first {
			return strings.Trim(s, " \t{}[]();,") != ""
		}
		return strings.TrimSpace(s) != ""
	})
}

func repeats(c change, which string, rows []string, at Range, side string) string {
	if len(rows) == 1 {
		return fmt.Sprintf("ops line %d: the %s row, %q, repeats line %d just %s it, which stays; it is there twice now", c.line, which, clip(rows[0]), at.First, side)
	}
	return fmt.Sprintf("ops line %d: the %s %d rows repeat lines %d–%d just %s them, which stay; they are there twice now", c.line, which, len(rows), at.First, at.Last, side)
}

func dropped(c change, which string, rows []string) string {
	return fmt.Sprintf("ops line %d: repaired: the %s %s repeated what stays beside and broke the syntax; dropped: %q", c.line, which, count(len(rows), "row"), clip(strings.Join(rows, "\n")))
}

// swallowed finds a closing bracket on the last line of a range that the rows
// do not give back.
func swallowed(i int, c change, d text.Doc) (slip, bool) {
	if c.kind != Replace || c.last <= c.first {
		return slip{}, false
	}
	line := d.Line(c.last)
	closer := strings.TrimSpace(line)
	if closer == "" || strings.Trim(closer, "})];,") != "" || slices.ContainsFunc(c.rows, func(s string) bool { return strings.TrimSpace(s) == closer }) {
		return slip{}, false
	}
	gone, come := 0, 0
	for n := c.first; n <= c.last; n++ {
		gone += depth(d.Line(n))
	}
	for _, row := range c.rows {
		come += depth(row)
	}
	if gone >= come {
		return slip{}, false // the brackets add up without it
	}
	f := c
	f.last--
	return slip{i,
		fmt.Sprintf("ops line %d: the range takes line %d, %q, and the rows do not close that bracket", c.line, c.last, clip(line)), f,
		fmt.Sprintf("ops line %d: repaired: the range took line %d, %q, which the rows do not give back and the syntax needs; it was kept", c.line, c.last, clip(line)),
	}, true
}

// depth counts brackets that a line opens, less those that it closes.
func depth(s string) int {
	n := 0
	for _, r := range s {
		switch r {
		case '{', '(', '[':
			n++
		case '}', ')', ']':
			n--
		}
	}
	return n
}
