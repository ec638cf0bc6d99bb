package cases

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

// Options say what to run.
type Options struct {
	Dir  string // the folder of the case files
	Only string // a pattern of ids, as of path.Match; "" runs all
	// Agent is the program for cases of the protocol, with its arguments; nil
	// builds this project's.
	Agent []string
	// Repeat is how often a case that starts calls at the same time is run; 0
	// means 20.
	Repeat  int
	Verbose bool      // name the cases that pass too
	Out     io.Writer // where lines go
}

// A Report counts what came of a run.
type Report struct{ Passed, Failed, Skipped int }

// Run runs the cases of a folder, writes a line for each that fails or is
// skipped, and the counts at the end. The error is about the run itself.
func Run(ctx context.Context, opts Options) (Report, error) {
	var report Report
	list, err := Load(opts.Dir)
	if err != nil {
		return report, err
	}
	r, err := NewRunner(opts.Agent)
	if err != nil {
		return report, err
	}
	defer r.Close()
	if opts.Repeat > 0 {
		r.Repeat = opts.Repeat
	}
	for _, c := range list {
		if ok, err := path.Match(opts.Only, c.ID); opts.Only != "" && !ok {
			if err != nil {
				return report, fmt.Errorf("pattern %q: %w", opts.Only, err)
			}
			continue
		}
		skip, err := r.Run(ctx, c)
		switch {
		case skip != "":
			report.Skipped++
			fmt.Fprintf(opts.Out, "skip: %s: %s\n", c.ID, skip)
		case err != nil:
			report.Failed++
			fmt.Fprintf(opts.Out, "FAIL: %s %s\n    %v\n", c.ID, c.Title, err)
		default:
			report.Passed++
			if opts.Verbose {
				fmt.Fprintf(opts.Out, "pass: %s %s\n", c.ID, c.Title)
			}
		}
	}
	fmt.Fprintf(opts.Out, "%d passed, %d failed, %d skipped\n", report.Passed, report.Failed, report.Skipped)
	return report, nil
}

// A Runner runs cases one by one. It is not safe for concurrent use.
type Runner struct {
	Repeat int // see Options; not 0
	// Slack multiplies the time limits of cases; 0 is 1. They are meant for a
	// machine that does nothing else.
	Slack float64

	agent []string
	dir   string // of the built program; removed by Close
}

// NewRunner makes a runner for a program, nil being this project's, which is
// built when the first case needs it.
func NewRunner(agent []string) (*Runner, error) {
	dir, err := os.MkdirTemp("", "cases-")
	if err != nil {
		return nil, err
	}
	return &Runner{Repeat: 20, agent: agent, dir: dir}, nil
}

// Close removes what the runner has built.
func (r *Runner) Close() error { return os.RemoveAll(r.dir) }

// Run runs one case, in all of its variants. skip says why it was not run.
func (r *Runner) Run(ctx context.Context, c Case) (skip string, err error) {
	if c.fault != nil {
		return "", c.fault
	}
	if tool := c.missingTool(); tool != "" {
		return tool, nil
	}
	if name := c.missingConfig(); name != "" {
		return "config." + name, nil
	}
	if c.onTheWire() && len(c.Faults)+len(c.Hooks) > 0 {
		return "faults inside of the program", nil
	}
	if skip, err := osNeeds(c.Needs, r.dir); skip != "" || err != nil {
		return skip, err
	}
	if ok, err := c.generate(); !ok || err != nil {
		return "", err // no such texts: there is nothing that could go wrong
	}
	times := 1
	if slices.ContainsFunc(c.allSteps(), func(s Step) bool { return s.Do == "parallel" }) {
		times = r.Repeat
	}
	for _, v := range variants(c) {
		for i := range times {
			if err := r.once(ctx, v); err != nil {
				if times > 1 {
					err = fmt.Errorf("run %d of %d: %w", i+1, times, err)
				}
				return "", err
			}
		}
	}
	return "", nil
}

func (r *Runner) once(ctx context.Context, c Case) (err error) {
	limit := time.Minute
	if c.Limits.Seconds > 0 {
		limit = time.Duration(c.Limits.Seconds * float64(time.Second))
	}
	limit = time.Duration(float64(limit) * cmp.Or(r.Slack, 1))
	if c.onTheWire() {
		if err := r.build(ctx); err != nil {
			return err
		}
	}
	dir, err := os.MkdirTemp(r.dir, "case-")
	if err != nil {
		return err
	}
	defer func() {
		if rerr := remove(dir); err == nil {
			err = rerr
		}
	}()
	top, home := filepath.Join(dir, "t"), filepath.Join(dir, "home")
	for _, d := range []string{top, home} {
		if err := os.Mkdir(d, 0o755); err != nil {
			return err
		}
	}
	w, err := newWorld(c, top)
	if err != nil {
		return fmt.Errorf("setting up: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		if c.onTheWire() {
			done <- runWire(ctx, w, r.agent, home)
		} else {
			done <- measured(c.Limits.MemoryMB, func() error { return runDirect(ctx, w) })
		}
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		// A run that does not heed its context is left behind, blocked.
		t := time.NewTimer(2 * graceful)
		defer t.Stop()
		select {
		case err = <-done:
		case <-t.C:
		}
		if err == nil {
			return fmt.Errorf("took longer than %v", limit)
		}
		return fmt.Errorf("took longer than %v: %w", limit, err)
	}
}

// build builds the program once.
func (r *Runner) build(ctx context.Context) error {
	if r.agent != nil {
		return nil
	}
	name := "dsh-acp"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	bin := filepath.Join(r.dir, name)
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", bin, "dsh-acp/cmd/dsh-acp").CombinedOutput(); err != nil {
		return fmt.Errorf("building the program: %w: %s", err, out)
	}
	r.agent = []string{bin}
	return nil
}

// measured runs f and holds how much the heap grows meanwhile, if there is a
// bound.
func measured(mb int, f func() error) error {
	if mb <= 0 {
		return f()
	}
	heap := func() int {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapInuse >> 20)
	}
	runtime.GC()
	start, most := heap(), 0
	done := make(chan error, 1)
	go func() { done <- f() }()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			if err == nil && most > mb {
				err = fmt.Errorf("the heap grew by %d MB, more than %d", most, mb)
			}
			return err
		case <-tick.C:
			most = max(most, heap()-start)
		}
	}
}

// variants resolves the steps that happen perhaps: one case in which all do,
// one in which none does.
func variants(c Case) []Case {
	if !slices.ContainsFunc(c.Steps, func(s Step) bool { return s.Do == "maybe" }) {
		return []Case{c}
	}
	var out []Case
	for _, with := range []bool{true, false} {
		v := c
		v.Steps = nil
		for _, s := range c.Steps {
			switch {
			case s.Do != "maybe":
				v.Steps = append(v.Steps, s)
			case with:
				v.Steps = append(v.Steps, s.Steps...)
			}
		}
		out = append(out, v)
	}
	return out
}

// remove deletes a folder, also one in which modes forbid it.
func remove(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			return os.Chmod(p, 0o700)
		}
		return err
	})
	if err != nil {
		return err
	}
	return os.RemoveAll(dir)
}
