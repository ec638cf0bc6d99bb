package presenter

import "slices"

// A change replaces the lines from old to before oldEnd of one text by those
// from new to before newEnd of the other. Lines are counted from the first one
// that differs, so that lines of the common prefix are negative.
type change struct{ old, oldEnd, new, newEnd int }

// A comparison is the difference of two texts.
type comparison struct {
	old, new *side
	prefix   int // lines before the first one that differs
	changes  []change
	coarse   bool
}

// lineNumber turns a line as counted in a change into its 1-based number.
func (d *comparison) lineNumber(i int) int { return d.prefix + i + 1 }

// A group is the changes that share a hunk, and its region in both texts.
type group struct {
	old, oldEnd, new, newEnd int
	changes                  []change
}

// groups joins changes whose contexts meet.
func (d *comparison) groups(context int) []group {
	// More context than there are lines is all of them; the bound also keeps
	// the sums below from overflow.
	context = min(max(context, 0), d.prefix+max(d.old.lines, d.new.lines))
	var groups []group
	for start := 0; start < len(d.changes); {
		end := start + 1
		for end < len(d.changes) && d.changes[end].old-d.changes[end-1].oldEnd <= 2*context {
			end++
		}
		first, last := d.changes[start], d.changes[end-1]
		before := min(context, d.prefix+first.old)
		after := min(context, d.old.lines-last.oldEnd)
		groups = append(groups, group{
			old: first.old - before, oldEnd: last.oldEnd + after,
			new: first.new - before, newEnd: last.newEnd + after,
			changes: slices.Clip(d.changes[start:end]),
		})
		start = end
	}
	return groups
}
