package hashline

import "math"

// maxDistance is the number of removed and added lines up to which two texts
// are paired. It bounds the memory of sure at 32 MiB.
const maxDistance = 4000

// A pairing says where lines of one text surely are in another: to[i] is the
// line, or -1. Lines count from 0 in here.
type pairing struct{ to []int32 }

// sure pairs the lines of a with those of b that are the same in every
// shortest list of changes from a to b. A line that one such list keeps and
// another removes, or that two of them keep in different places, has no pair.
// ok is false beyond maxDistance.
//
// A list of changes is a path through a grid, from (0,0) to (len(a),len(b)):
// right removes a line of a, down adds one of b, and a diagonal keeps one.
// Along a diagonal the distance from the start never falls, so that the points
// of diagonal k on a shortest path after d changes are an interval: from the
// first point from which the end can be reached with the changes that are
// left, to the last one that d changes reach. Where all shortest paths are on
// one diagonal after d changes, they share what lies between the last point at
// which one of them can come in and the first at which one can leave.
func sure(a, b []int32) (p pairing, ok bool) {
	n, m := len(a), len(b)
	p.to = make([]int32, n)
	for i := range p.to {
		p.to[i] = -1
	}
	reach, ok := forward(a, b)
	if !ok {
		return p, false
	}
	w := walk{a: a, b: b, reach: reach, dist: len(reach) - 1, goal: m - n}
	// The stages in order of fewer changes: after is the one behind, at is the
	// one to be judged, before is found last.
	var after, at []segment
	for d := w.dist; d >= 0; d-- {
		before := w.stage(d)
		if d < w.dist {
			p.keep(after, at, before, n)
		}
		after, at = at, before
	}
	p.keep(after, at, nil, n)
	return p, true
}

// A segment is an interval of points (x, x+k) that shortest paths visit.
type segment struct{ k, lo, hi int }

// keep notes the lines that the stage at shares between all shortest paths.
func (p *pairing) keep(after, at, before []segment, n int) {
	if len(at) != 1 {
		return
	}
	s := at[0]
	in, out := 0, n
	if before != nil {
		in = -1
		for _, e := range before {
			switch e.k {
			case s.k - 1: // a line is added
				if x := min(e.hi, s.hi); x >= max(e.lo, s.lo) {
					in = max(in, x)
				}
			case s.k + 1: // a line is removed
				if x := min(e.hi+1, s.hi); x >= max(e.lo+1, s.lo) {
					in = max(in, x)
				}
			}
		}
	}
	if after != nil {
		out = math.MaxInt
		for _, e := range after {
			switch e.k {
			case s.k + 1:
				if x := max(e.lo, s.lo); x <= min(e.hi, s.hi) {
					out = min(out, x)
				}
			case s.k - 1:
				if x := max(e.lo-1, s.lo); x <= min(e.hi-1, s.hi) {
					out = min(out, x)
				}
			}
		}
	}
	for x := in; x < out && x < n; x++ {
		p.to[x] = int32(x + s.k)
	}
}

// forward returns for each number of changes d the furthest x on each diagonal
// from -d to d in steps of two, up to the d that reaches the end. Diagonals
// that leave the grid have -1.
func forward(a, b []int32) (rows [][]int32, ok bool) {
	n, m := len(a), len(b)
	for d := 0; d <= maxDistance; d++ {
		row := make([]int32, d+1)
		for i := range row {
			k := 2*i - d
			x := -1
			switch {
			case k < -n || k > m:
			case d == 0:
				x = 0
			default:
				last := rows[d-1]
				if i > 0 && last[i-1] >= 0 {
					x = min(int(last[i-1]), m-k)
				}
				if i < d && last[i] >= 0 {
					x = max(x, min(int(last[i])+1, n))
				}
			}
			if x >= 0 {
				for x < n && x+k < m && a[x] == b[x+k] {
					x++
				}
			}
			row[i] = int32(x)
		}
		rows = append(rows, row)
		if i := m - n + d; i >= 0 && i%2 == 0 && i/2 <= d && int(row[i/2]) == n {
			return rows, true
		}
	}
	return nil, false
}

// A walk goes back from the end, one change at a time.
type walk struct {
	a, b  []int32
	reach [][]int32
	dist  int
	goal  int     // the diagonal of the end
	back  []int32 // the smallest x on diagonals goal-d … goal+d, -1 outside of the grid
}

// stage returns the segments of shortest paths after d changes. It is called
// for dist, dist-1, … 0.
func (w *walk) stage(d int) []segment {
	n, m := len(w.a), len(w.b)
	left := w.dist - d
	row := make([]int32, left+1)
	out := make([]segment, 0, 4)
	for i := range row {
		k := w.goal + 2*i - left
		x := -1
		switch {
		case k < -n || k > m:
		case left == 0:
			x = n
		default:
			first := max(0, -k)
			// The last changes: a line of b added leads to diagonal k+1, one
			// of a removed to k-1.
			if i < left && w.back[i] >= 0 {
				x = max(int(w.back[i]), first)
			}
			if i > 0 && w.back[i-1] >= 0 {
				if y := max(int(w.back[i-1])-1, first); x < 0 || y < x {
					x = y
				}
			}
		}
		if x >= 0 {
			for x > 0 && x+k > 0 && w.a[x-1] == w.b[x+k-1] {
				x--
			}
			if j := k + d; j >= 0 && j%2 == 0 && j/2 <= d {
				if hi := int(w.reach[d][j/2]); hi >= x {
					out = append(out, segment{k, x, hi})
				}
			}
		}
		row[i] = int32(x)
	}
	w.back = row
	return out
}
