package text

// Rules of this file, which make the result that of the npm package diff, as
// editors know it from the reference:
//
//   - The search is Myers' greedy one from the front. On a diagonal it comes
//     from the side that has consumed more old lines; on a tie, from the
//     deletion.
//   - Diagonals that have reached an edge of the grid are dropped, and with
//     them all beyond.
//   - Only the common prefix is cut off. Where lines repeat, to cut off the
//     suffix as well would shift hunks.
//
// The suffix is used all the same: a path on the final diagonal that gets to
// it would walk through it to the end, and so it jumps there.

// dead is the place of a diagonal without a path.
const dead = -1

// search finds a shortest path from the first lines to the ends. It gives up,
// with false, beyond MaxDistance.
//
// A diagonal k holds the points with k more old lines consumed than new ones.
// Of each it keeps the path that has consumed most old lines, as their number.
func search(old, new *side) (*decisions, bool) {
	limit := min(MaxDistance, old.lines+new.lines)
	last := old.lines - new.lines // the diagonal of the end
	center := limit + 1
	reach := make([]int32, 2*center+1) // by diagonal, from center
	for i := range reach {
		reach[i] = dead
	}
	reach[center] = 0
	low, high := -limit, limit // the diagonals that are worth a look
	var made decisions
	for distance := 1; distance <= limit; distance++ {
		first := max(low, -distance)
		made.newRow(first)
		for k := first; k <= min(high, distance); k += 2 {
			i := center + k
			removal, addition := int(reach[i-1]), int(reach[i+1])
			reach[i-1] = dead // read for the last time
			canRemove := removal != dead && removal < old.lines
			canAdd := addition != dead && addition-k-1 >= 0 && addition-k-1 < new.lines
			if !canRemove && !canAdd {
				reach[i] = dead
				made.add(false)
				continue
			}
			remove := !canAdd || canRemove && removal >= addition
			made.add(remove)
			x := addition
			if remove {
				x = removal + 1
			}
			x = slide(old, new, x, x-k, k == last)
			reach[i] = int32(x)
			endOld, endNew := x >= old.lines, x-k >= new.lines
			if endOld && endNew {
				return &made, true
			}
			if endOld {
				high = min(high, k-1)
			}
			if endNew {
				low = max(low, k+1)
			}
		}
	}
	return nil, false
}

// slide follows equal lines from line x of old and y of new, and returns the
// line of old where they end. last says that the end of both is on the way.
func slide(old, new *side, x, y int, last bool) int {
	oldLines, newLines := old.lines, new.lines
	if last {
		oldLines, newLines = old.mid, new.mid
	}
	for x < oldLines && y < newLines {
		if x < len(old.ids) && y < len(new.ids) {
			if old.ids[x] != new.ids[y] {
				return x
			}
		} else if old.id(x) != new.id(y) {
			return x
		}
		x++
		y++
	}
	if last && x >= oldLines {
		return old.lines
	}
	return x
}

// decisions holds, for each distance and diagonal, whether the path came by a
// removal: a bit each, since the places can be found again on the way.
type decisions struct {
	rows  []row // by distance, from 1
	bits  []uint64
	count int
}

type row struct{ first, bit int } // its first diagonal, and where its bits start

func (s *decisions) newRow(first int) { s.rows = append(s.rows, row{first, s.count}) }

func (s *decisions) add(removal bool) {
	if s.count%64 == 0 {
		s.bits = append(s.bits, 0)
	}
	if removal {
		s.bits[s.count/64] |= 1 << (s.count % 64)
	}
	s.count++
}

func (s *decisions) removal(distance, k int) bool {
	r := s.rows[distance-1]
	bit := r.bit + (k-r.first)/2
	return s.bits[bit/64]&(1<<(bit%64)) != 0
}

// walk returns the changes on the path that was found.
func (s *decisions) walk(old, new *side) []LineChange {
	last := old.lines - new.lines
	steps := make([]bool, len(s.rows)) // whether each is a removal
	for distance, k := len(steps), last; distance > 0; distance-- {
		steps[distance-1] = s.removal(distance, k)
		if steps[distance-1] {
			k--
		} else {
			k++
		}
	}
	var changes []LineChange
	x, y := 0, 0
	for _, removal := range steps {
		if n := len(changes); n == 0 || changes[n-1].OldEnd != x || changes[n-1].NewEnd != y {
			changes = append(changes, LineChange{x, x, y, y})
		}
		c := &changes[len(changes)-1]
		k := x - y
		if removal {
			c.OldEnd++
			k++
			x++
		} else {
			c.NewEnd++
			k--
		}
		x = slide(old, new, x, x-k, k == last)
		y = x - k
	}
	return changes
}
