package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"runtime"
	"slices"
	"time"
)

// Options say what [Run] plays. Traces and Agent are required.
type Options struct {
	// Traces are folders of scenarios with their traces, or single ones.
	Traces []string
	// Agent is the agent's command: a program and its arguments.
	Agent []string
	// Adapter is the name of the agent's adapter; "" picks one by Agent.
	Adapter string
	// Only are patterns of scenario names; nil means all.
	Only []string
	// Out gets the report as text; nil means nowhere.
	Out io.Writer
	// JSON is a file to write the report to; "" means none.
	JSON string
	// Exact accepts no difference of values by a rule, and compares what the
	// agent asks of the client's files and terminals too. It is for traces
	// that the agent itself made: whatever changed is told.
	Exact bool
	// Verbose writes values whole, and the uses of rules one by one.
	Verbose bool
	// Timeout ends a scenario; 0 means [DefaultTimeout].
	Timeout time.Duration
	// Jobs is the number of scenarios at a time; 0 means one a processor,
	// at most four.
	Jobs int
	// Temp is where workspaces are made; "" means the system's folder.
	Temp string
}

// Run plays scenarios against an agent and compares what it sends with the
// traces. An error means that it could not be done: unreadable scenarios, no
// such adapter. Whether the agent passed is in the report; see [Report.OK].
func Run(ctx context.Context, opts Options) (Report, error) {
	adapter, err := NewAdapter(opts.Adapter, opts.Agent)
	if err != nil {
		return Report{}, err
	}
	return RunAdapter(ctx, adapter, opts)
}

// RunAdapter is [Run] with an adapter of the caller's own; opts.Agent and
// opts.Adapter are not looked at.
func RunAdapter(ctx context.Context, adapter Adapter, opts Options) (Report, error) {
	cases, err := choose(opts)
	if err != nil {
		return Report{}, err
	}
	out := opts.Out
	if out == nil {
		out = io.Discard
	}
	report := Report{Agent: adapter.Command, Adapter: adapter.Name, Results: make([]Result, len(cases))}
	jobs := opts.Jobs
	if jobs <= 0 {
		jobs = min(4, runtime.GOMAXPROCS(0))
	}
	type done struct {
		i   int
		err error
	}
	finished := make(chan done)
	slots := make(chan struct{}, jobs)
	go func() {
		for i := range cases {
			slots <- struct{}{}
			go func() {
				r, err := runCase(ctx, cases[i], adapter, opts)
				report.Results[i] = r
				<-slots
				finished <- done{i, err}
			}()
		}
	}()
	var errs []error
	ready, next := make([]bool, len(cases)), 0
	for range cases {
		d := <-finished
		if d.err != nil {
			errs = append(errs, d.err)
		}
		// Lines come in the order of the scenarios, each as soon as may be.
		for ready[d.i] = true; next < len(cases) && ready[next]; next++ {
			if len(errs) == 0 {
				report.Results[next].write(out, opts.Verbose)
			}
		}
	}
	if len(errs) > 0 {
		return Report{}, errors.Join(errs...)
	}
	report.count()
	report.writeEnd(out, opts.Verbose)
	if opts.JSON != "" {
		b, err := json.MarshalIndent(report, "", "  ")
		if err != nil {
			return report, err
		}
		if err := os.WriteFile(opts.JSON, append(b, '\n'), 0o644); err != nil {
			return report, err
		}
	}
	return report, nil
}

func choose(opts Options) ([]Case, error) {
	var cases []Case
	for _, dir := range opts.Traces {
		some, err := Load(dir)
		if err != nil {
			return nil, err
		}
		cases = append(cases, some...)
	}
	if len(opts.Only) > 0 {
		for _, pattern := range opts.Only {
			if _, err := path.Match(pattern, ""); err != nil {
				return nil, fmt.Errorf("pattern %q: %w", pattern, err)
			}
		}
		cases = slices.DeleteFunc(cases, func(c Case) bool {
			return !slices.ContainsFunc(opts.Only, func(p string) bool {
				ok, _ := path.Match(p, c.Scenario.Name)
				return ok
			})
		})
	}
	if len(cases) == 0 {
		return nil, errors.New("conformance: no scenario to run")
	}
	return cases, nil
}

func runCase(ctx context.Context, c Case, a Adapter, opts Options) (Result, error) {
	res := Result{Scenario: c.Scenario.Name, Description: c.Scenario.Description}
	if tool := c.Scenario.notBuilt(a.NotBuilt); tool != "" {
		res.Skipped = tool
		return res, nil
	}
	dir, err := os.MkdirTemp(opts.Temp, "acp-")
	if err != nil {
		return res, err
	}
	defer os.RemoveAll(dir) // what a killed agent still holds is the system's to clear
	begin := time.Now()
	ctx, cancel := withTimeout(ctx, opts.Timeout)
	defer cancel()
	rec, err := play(ctx, c.Scenario, a, dir)
	if err != nil {
		return res, err
	}
	res.Millis = time.Since(begin).Milliseconds()
	cmp := compareTraces(c.Scenario, c.Trace, rec.Entries, rec.places)
	if opts.Exact {
		cmp.exactly()
	}
	if err := cmp.workspace(rec.After); err != nil {
		return res, err
	}
	res.Differences, res.Rules = cmp.differences, cmp.uses
	if rec.Problem != "" {
		res.Differences = append([]Difference{{At: "run", Want: "to its end", Got: rec.Problem}}, res.Differences...)
		res.Stderr = rec.Stderr
	}
	return res, nil
}

func withTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d <= 0 {
		d = DefaultTimeout
	}
	return context.WithTimeoutCause(ctx, d, fmt.Errorf("the scenario's time of %v is over", d))
}
