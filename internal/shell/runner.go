package shell

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"
)

// Config is what commands run in. Dir is required.
type Config struct {
	Dir string // absolute
	// Env is the whole environment; nil means [Environ].
	Env []string
	// Shell is the program that takes "-c" and a command; "" means [Find].
	Shell string
	// Head and Tail are how many bytes of an output's start and end are kept;
	// 0 means 15,000.
	Head, Tail int
}

// Times of a command's end.
const (
	settleTime = 200 * time.Millisecond // for output of processes that a command left running
	politeTime = 150 * time.Millisecond // between asking a group to end and killing it
	showEvery  = 200 * time.Millisecond
)

// ErrClosed is the failure of a command that is started after [Runner.Close].
var ErrClosed = errors.New("the session is closed")

// A Runner runs the commands of one session. It is safe for concurrent use.
type Runner struct {
	cfg Config

	find  sync.Once
	shell string
	err   error // no shell was found

	mu      sync.Mutex
	closed  bool              // guarded by mu
	running map[*process]bool // guarded by mu
	jobs    []*job            // by number; guarded by mu
}

// New makes a Runner. It starts nothing.
func New(cfg Config) *Runner {
	if cfg.Head <= 0 {
		cfg.Head = 15_000
	}
	if cfg.Tail <= 0 {
		cfg.Tail = 15_000
	}
	return &Runner{cfg: cfg, running: map[*process]bool{}}
}

// Unattended is what, in a command's environment, keeps programs from waiting
// for a user who is not there.
func Unattended() []string {
	return []string{"GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=true", "GIT_PAGER=cat", "PAGER=cat", "TERM=dumb"}
}

// Environ is the environment of this process, and [Unattended].
func Environ() []string { return append(os.Environ(), Unattended()...) }

// Capture keeps of an output what a command that was run here would keep.
func (r *Runner) Capture(output string) Capture {
	o := newOutput(r.cfg.Head, r.cfg.Tail)
	o.add([]byte(output))
	return o.kept()
}

// A Result is how a command ended.
type Result struct {
	Output Capture
	Exit   int    // the exit code, if nothing else below is set
	Signal string // the signal that ended the shell, such as "killed"
	// TimedOut and Cancelled say that the command was ended from here: its
	// time was over, or the context's end came first.
	TimedOut, Cancelled bool
	// Swept says that processes which the command left running were ended.
	Swept bool
	// Rest is what is left to show of the output if a part of it was shown
	// while the command ran; "" if none was.
	Rest string
}

// A Watch is told of a command while it runs, about every 200 ms: what it has
// written since the last call (possibly nothing), and for how long it runs.
// Calls come one at a time, and end before Run returns. nil watches nothing.
type Watch func(fresh string, elapsed time.Duration)

// Run runs a command to its end, to the end of its time (0: none), or to the
// end of ctx, whichever comes first. The error says why it could not start.
func (r *Runner) Run(ctx context.Context, command string, limit time.Duration, watch Watch) (Result, error) {
	p, err := r.start(command)
	if err != nil {
		return Result{}, err
	}
	defer r.forget(p)
	var over <-chan time.Time
	if limit > 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		over = timer.C
	}
	var tick <-chan time.Time
	if watch != nil {
		ticker := time.NewTicker(showEvery)
		defer ticker.Stop()
		tick = ticker.C
	}
	begin := time.Now()
	var res Result
	for p.running() {
		select {
		case <-p.exited:
		case <-tick:
			watch(p.out.fresh(), time.Since(begin))
		case <-over:
			res.TimedOut = true
			p.stop()
		case <-ctx.Done():
			res.Cancelled = true
			p.stop()
		}
	}
	res.Swept = p.sweep() && !res.TimedOut && !res.Cancelled
	res.Exit, res.Signal = p.status()
	res.Output, res.Rest = p.out.capture(), p.out.rest()
	return res, nil
}

// Close kills all that runs, and waits until it is gone. Nothing can be
// started afterwards. It may be called more than once.
func (r *Runner) Close() {
	r.mu.Lock()
	r.closed = true
	running := make([]*process, 0, len(r.running))
	for p := range r.running {
		running = append(running, p)
	}
	r.mu.Unlock()
	var all sync.WaitGroup
	for _, p := range running {
		all.Go(func() {
			p.stop()
			p.sweep()
		})
	}
	all.Wait()
}

func (r *Runner) forget(p *process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.running, p)
}
