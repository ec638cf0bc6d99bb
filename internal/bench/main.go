// Bench measures the built program against the figures that it promises, and
// prints them as a table:
//
//	bench [-only REGEXP] [-module DIR] PROGRAM
//
// The program runs as editors run it: as a child over stdio, on real files,
// with a scripted model behind it. What is measured is seen from outside (the
// wire, the files, the system's account of the process); only the time that
// goes into fsync comes from the program's own debug log. Figures of engines
// that no session shows by themselves come from Go benchmarks.
//
// Bench refuses to call a busy machine a fault: sizes and counts are missed
// at once, a time only if it is over in each of several attempts, and while
// the machine had time. It exits with 0 if nothing is missed, with 1 if
// something is, and with 2 if it could not measure.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
)

// attempts is how often a measurement with a time that is over is done.
const attempts = 3

// A measurement gives one or more figures by one run.
type measurement struct {
	name string
	run  func(context.Context, *lab) ([]figure, error)
}

// measurements are all there are, in the order of the table.
var measurements = slices.Concat([]measurement{
	{"start", measureStart},
	{"memory", measureMemory},
	{"sessions", measureSessions},
	{"edit-5k", measureEdit(5_000, 3)},
	{"edit-50k", measureEdit(50_000, 20)},
	{"hunks", measureHunks},
	{"deltas", measureDeltas},
	{"load", measureLoad},
	{"edit-10mib", measureBigEdit(10, 100)},
	{"edit-50mib", measureBigEdit(50, 500)},
	{"bash", measureBash},
	{"cancel", measureCancel},
	{"lines", measureLines},
}, goBenchmarks)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, out, diag io.Writer) int {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(diag)
	only := flags.String("only", "", "do the measurements whose names match `REGEXP`")
	module := flags.String("module", ".", "the `DIR` of the source, for the Go benchmarks")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	match, err := regexp.Compile(*only)
	if err != nil || flags.NArg() != 1 {
		fmt.Fprintln(diag, "usage: bench [-only REGEXP] [-module DIR] PROGRAM")
		return 2
	}
	program, err := filepath.Abs(flags.Arg(0))
	if err != nil {
		fmt.Fprintln(diag, "bench:", err)
		return 2
	}
	var chosen []measurement
	for _, m := range measurements {
		if match.MatchString(m.name) {
			chosen = append(chosen, m)
		}
	}
	return measure(ctx, chosen, bench{program: program, module: *module, slowdown: slowdown}, out, diag)
}

// A bench is what measurements are done with.
type bench struct {
	program  string
	module   string         // folder of the source
	slowdown func() float64 // how busy the machine is; see the function
}

// measure does the measurements one after the other, so that none disturbs
// another, and prints each when it is done.
func measure(ctx context.Context, chosen []measurement, b bench, out, diag io.Writer) int {
	fmt.Fprint(out, machine())
	t := table{out: out}
	t.head()
	missed, unsure, broken := 0, 0, 0
	for _, m := range chosen {
		figures, busy, err := b.settle(ctx, m)
		if err != nil {
			fmt.Fprintf(diag, "bench: %s: %v\n", m.name, err)
			broken++
			continue
		}
		for _, f := range figures {
			v := judge(f, busy)
			t.row(m.name, f, v)
			switch v {
			case over:
				missed++
			case unknown:
				unsure++
			}
		}
	}
	fmt.Fprintf(out, "\n%d measurements, %d figures missed, %d over while the machine was busy, %d measurements failed\n",
		len(chosen), missed, unsure, broken)
	switch {
	case broken > 0:
		return 2
	case missed > 0:
		return 1
	}
	return 0
}

// settle does a measurement, again if a time was over, and gives the best of
// each figure. busy tells that others had the machine in every attempt.
func (b bench) settle(ctx context.Context, m measurement) (best []figure, busy bool, err error) {
	busy = true
	for range attempts {
		before := b.slowdown()
		figures, err := b.inLab(ctx, m)
		if err != nil {
			return nil, false, err
		}
		busy = busy && max(before, b.slowdown()) >= busyFrom
		best = better(best, figures)
		if !slices.ContainsFunc(best, func(f figure) bool { return f.over() && !f.exact }) {
			break
		}
	}
	return best, busy, nil
}

func (b bench) inLab(ctx context.Context, m measurement) ([]figure, error) {
	l, err := newLab(b.program, b.module)
	if err != nil {
		return nil, err
	}
	defer l.close()
	return m.run(ctx, l)
}
