package presenter

import "dsh-acp/internal/text"

// A group is the changes that share a hunk, and its region in both texts, from
// a line to before another.
type group struct {
	old, oldEnd, new, newEnd int
	changes                  []text.LineChange
}

// groups joins changes whose contexts meet.
func groups(d *text.LineDiff, context int) []group {
	// More context than there are lines is all of them; the bound also keeps
	// the sums below from overflow.
	context = min(max(context, 0), max(d.OldLines(), d.NewLines()))
	var all []group
	for rest := d.Changes; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Old-rest[n-1].OldEnd <= 2*context {
			n++
		}
		first, last := rest[0], rest[n-1]
		above := min(context, first.Old-1)
		below := min(context, d.OldLines()+1-last.OldEnd)
		all = append(all, group{
			old: first.Old - above, oldEnd: last.OldEnd + below,
			new: first.New - above, newEnd: last.NewEnd + below,
			changes: rest[:n],
		})
		rest = rest[n:]
	}
	return all
}
