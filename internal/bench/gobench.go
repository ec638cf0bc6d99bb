package main

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

// goBenchmarks are the figures of engines, by Go benchmarks of their packages.
var goBenchmarks = []measurement{
	{"tag", inTime("./internal/hashline", "Tag1MiB", "tag of a file of 1 MiB", 5)},
	{"hashline-edit", inTime("./internal/hashline", "Edit50000Lines", "edit by numbered lines in 50,000 lines", 30)},
	{"hashline-merge", inTime("./internal/hashline", "StaleMerge", "the same with 1,000 lines changed since they were read", 100)},
	{"patch-plan", inTime("./internal/patch", "PlanMany", "plan of 200 operations over 64 files of 1,000 lines", 20)},
	{"patch-call", goBenchmark("./tools", "ApplyPatch", "20x", "ratio", "the whole call, fsync too, against the same writes by hand", "×", 1.3, 1)},
	{"patch-matches", inTime("./internal/patch", "TenThousandMatches", "10,000 expected matches in one file", 50)},
	{"json-lock", inTime("./internal/jsonedit", "SetLockFile", "set_json in a file of 5 MiB, result check included", 400)},
	{"guard", inTime("./fsbackend", "GuardCheck/check", "guard check of a path 10 deep, 100 entries", 0.05)},
}

// inTime is a benchmark whose operation must end within some milliseconds.
func inTime(pkg, name, what string, must float64) func(context.Context, *lab) ([]figure, error) {
	return goBenchmark(pkg, name, "0.5s", "ns/op", what, "ms", must, 1e6)
}

// goBenchmark runs one benchmark, or one below another, for a time or a number
// of rounds, and takes a metric from it, divided by per.
func goBenchmark(pkg, name, benchtime, metric, what, unit string, must, per float64) func(context.Context, *lab) ([]figure, error) {
	return func(ctx context.Context, l *lab) ([]figure, error) {
		pattern := "^Benchmark" + strings.ReplaceAll(name, "/", "$/^") + "$"
		cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", pattern, "-benchtime", benchtime, pkg)
		cmd.Dir = l.module
		out, err := cmd.CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("%s: %w: %.1000s", strings.Join(cmd.Args, " "), err, out)
		}
		v, err := result(string(out), "Benchmark"+name, metric)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), err)
		}
		return []figure{{what: what, unit: unit, must: must, got: v / per, note: fmt.Sprintf("go test -bench %s %s", name, pkg)}}, nil
	}
}

// result reads a metric of one benchmark.
func result(out, name, metric string) (float64, error) {
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		found, procs, _ := cutLast(fields[0], "-") // the number of processors follows the name
		if _, err := strconv.Atoi(procs); err != nil {
			found = fields[0]
		}
		if found != name {
			continue
		}
		for i := 3; i < len(fields); i += 2 {
			if fields[i] == metric {
				return strconv.ParseFloat(fields[i-1], 64)
			}
		}
	}
	return 0, fmt.Errorf("no %s of %s in %.500q", metric, name, out)
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
