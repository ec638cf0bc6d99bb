package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A figure is one number with the bound that it must keep to.
type figure struct {
	what string
	unit string // "ms", "s", "MiB", "KiB", "×" or "" for a count
	must float64
	got  float64
	// exact is set for sizes and counts: another attempt would give the same.
	exact bool
	// busy is set for a time that was taken while the disk was busy with others.
	busy bool
	note string // what else was seen, "" for nothing
}

func (f figure) over() bool { return f.got > f.must }

// verdicts of a figure
const (
	fine    = "ok"
	over    = "OVER"
	unknown = "busy" // a time over its bound, on a machine that had no time
)

func judge(f figure, busy bool) string {
	switch {
	case !f.over():
		return fine
	case (busy || f.busy) && !f.exact:
		return unknown
	}
	return over
}

// better merges two attempts at the same figures: of each the smaller one,
// but the larger one of those that are exact.
func better(a, b []figure) []figure {
	if a == nil {
		return b
	}
	out := slices.Clone(a)
	for i, f := range b {
		if (f.got < a[i].got) != f.exact {
			out[i] = f
		}
	}
	return out
}

// A table prints figures as they come.
type table struct{ out io.Writer }

const columns = "%-66s  %-14s  %10s  %10s  %-4s  %s\n"

func (t table) head() {
	fmt.Fprintf(t.out, columns, "what", "-only", "must", "measured", "", "")
}

func (t table) row(name string, f figure, verdict string) {
	line := fmt.Sprintf(columns, f.what, name, "≤ "+amount(f.must, f.unit), amount(f.got, f.unit), verdict, f.note)
	fmt.Fprintln(t.out, strings.TrimRight(line, " \n"))
}

// amount writes a number with as many digits as say something.
func amount(v float64, unit string) string {
	s := fmt.Sprintf("%.0f", v)
	if unit != "" && v != float64(int64(v)) {
		switch {
		case v < 1:
			s = fmt.Sprintf("%.3f", v)
		case v < 10:
			s = fmt.Sprintf("%.2f", v)
		case v < 100:
			s = fmt.Sprintf("%.1f", v)
		}
	}
	if unit == "" {
		return s
	}
	return s + " " + unit
}

// median is the middle of some values, the upper one of two; there must be one.
func median[T cmp.Ordered](values []T) T {
	s := slices.Sorted(slices.Values(values))
	return s[len(s)/2]
}
