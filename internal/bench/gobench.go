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
	{"patch-plan", goBenchmark("./internal/patch", "PlanMany", "plan of 200 operations over 64 files of 1,000 lines", 20)},
	{"patch-matches", goBenchmark("./internal/patch", "TenThousandMatches", "10,000 expected matches in one file", 50)},
	{"json-lock", goBenchmark("./internal/jsonedit", "SetLockFile", "set_json in a 5 MiB file, result check included", 400)},
	{"guard", goBenchmark("./fsbackend", "GuardCheck", "guard check of a path 10 deep, 100 entries", 0.05)},
}

// goBenchmark runs one benchmark; must is in milliseconds an operation.
func goBenchmark(pkg, name, what string, must float64) func(context.Context, *lab) ([]figure, error) {
	return func(ctx context.Context, l *lab) ([]figure, error) {
		cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "^Benchmark"+name+"$", "-benchtime", "0.5s", pkg)
		cmd.Dir = l.module
		out, err := cmd.CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("%s: %w: %.1000s", strings.Join(cmd.Args, " "), err, out)
		}
		ns, err := nsPerOp(string(out), "Benchmark"+name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), err)
		}
		return []figure{{what: what, unit: "ms", must: must, got: ns / 1e6, note: fmt.Sprintf("go test -bench %s %s", name, pkg)}}, nil
	}
}

// nsPerOp reads the slowest result of a benchmark and what is below it.
func nsPerOp(out, name string) (float64, error) {
	slowest, found := 0.0, false
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		if len(fields) < 4 || !strings.HasPrefix(fields[0], name) {
			continue
		}
		for i := 3; i < len(fields); i += 2 {
			if fields[i] != "ns/op" {
				continue
			}
			ns, err := strconv.ParseFloat(fields[i-1], 64)
			if err != nil {
				return 0, fmt.Errorf("%s: %w", line, err)
			}
			slowest, found = max(slowest, ns), true
		}
	}
	if !found {
		return 0, fmt.Errorf("no result of %s in %.500q", name, out)
	}
	return slowest, nil
}
