package main

import "time"

// busyFrom is how much longer than possible a piece of work takes on a machine
// that is too busy with other things for a time to mean much.
const busyFrom = 1.4

// slowdown times the same small piece of work many times, and compares the
// mean with the best: 1 where nothing else runs, 2 where half of the time goes
// to others. It does not tell a slow machine from a fast one.
func slowdown() float64 {
	const times = 100
	best, sum := time.Duration(0), time.Duration(0)
	for i := range times {
		start := time.Now()
		spin()
		took := time.Since(start)
		sum += took
		if i == 0 || took < best {
			best = took
		}
	}
	return float64(sum) / float64(times) / float64(max(best, 1))
}

// spun keeps the compiler from leaving the work out.
var spun uint64

// spin takes about a millisecond.
func spin() {
	x := spun | 1
	for range 1_000_000 {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	spun = x
}
