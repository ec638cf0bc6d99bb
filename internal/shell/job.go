package shell

import (
	"strconv"
	"time"
)

// A job is a command that runs in the background.
type job struct {
	*process
	command string
	begin   time.Time
}

// A JobState tells of a background command.
type JobState struct {
	Command string
	Running bool
	Exit    int    // once it has ended
	Signal  string // likewise
	Elapsed time.Duration
}

// Start starts a command in the background and returns its id.
func (r *Runner) Start(command string) (id string, err error) {
	p, err := r.start(command)
	if err != nil {
		return "", err
	}
	j := &job{process: p, command: command, begin: time.Now()}
	go func() {
		<-p.exited
		p.sweep()
		r.forget(p)
	}()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.jobs = append(r.jobs, j)
	return "bash_" + strconv.Itoa(len(r.jobs)), nil
}

// Read returns what a background command has written since the last Read, and
// how it stands. ok is false if there is no such command.
func (r *Runner) Read(id string) (c Capture, s JobState, ok bool) {
	j := r.job(id)
	if j == nil {
		return Capture{}, JobState{}, false
	}
	s = j.state() // before the output: an end that is told has no output behind it
	return j.out.take(), s, true
}

// Kill ends a background command, and returns how it stood until then.
func (r *Runner) Kill(id string) (s JobState, ok bool) {
	j := r.job(id)
	if j == nil {
		return JobState{}, false
	}
	s = j.state()
	j.stop()
	j.sweep()
	return s, true
}

// Jobs lists the ids of the background commands that were started.
func (r *Runner) Jobs() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]string, len(r.jobs))
	for i := range r.jobs {
		out[i] = "bash_" + strconv.Itoa(i+1)
	}
	return out
}

// Has reports whether there is a background command with the id, ended or not.
func (r *Runner) Has(id string) bool { return r.job(id) != nil }

func (r *Runner) job(id string) *job {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, j := range r.jobs {
		if id == "bash_"+strconv.Itoa(i+1) {
			return j
		}
	}
	return nil
}

func (j *job) state() JobState {
	s := JobState{Command: j.command, Running: j.running(), Elapsed: time.Since(j.begin)}
	if !s.Running {
		j.sweep()
		s.Exit, s.Signal = j.status()
	}
	return s
}
