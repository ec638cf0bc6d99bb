package shell

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// A process is a shell with all that it started.
type process struct {
	cmd    *exec.Cmd
	group  *group
	out    *output
	pipe   *os.File      // our end
	read   chan struct{} // closed when nobody writes to the pipe any more
	exited chan struct{} // closed when the shell has ended and was waited for

	stopping sync.Once
	sweeping sync.Once
	swept    bool
}

func (r *Runner) start(command string) (*process, error) {
	r.find.Do(func() {
		if r.shell = r.cfg.Shell; r.shell == "" {
			r.shell, r.err = Find()
		}
	})
	if r.err != nil {
		return nil, r.err
	}
	// One pipe for both outputs keeps the order in which things were written.
	in, out, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("pipe for a command: %w", err)
	}
	defer out.Close()
	cmd := exec.Command(r.shell, "-c", command)
	cmd.Dir, cmd.Env = r.cfg.Dir, r.cfg.Env
	if cmd.Env == nil {
		cmd.Env = Environ()
	}
	cmd.Stdout, cmd.Stderr = out, out
	prepare(cmd)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, errors.Join(ErrClosed, in.Close())
	}
	if err := cmd.Start(); err != nil {
		// The system speaks of the program, also where the folder is missing.
		if _, gone := os.Stat(cmd.Dir); gone != nil {
			err = fmt.Errorf("in the session's folder: %w", gone)
		}
		return nil, errors.Join(fmt.Errorf("start %s: %w", r.shell, err), in.Close())
	}
	p := &process{
		cmd: cmd, group: newGroup(cmd), out: newOutput(r.cfg.Head, r.cfg.Tail),
		pipe: in, read: make(chan struct{}), exited: make(chan struct{}),
	}
	r.running[p] = true
	go func() {
		defer close(p.read)
		// The end of the output, or of our interest in it, is all there is to tell.
		_, _ = io.CopyBuffer(onlyWriter{p.out}, onlyReader{in}, make([]byte, 64<<10))
	}()
	go func() {
		defer close(p.exited)
		_ = cmd.Wait() // what it tells is in ProcessState too
	}()
	return p, nil
}

// onlyReader and onlyWriter keep io.CopyBuffer to its buffer.
type onlyReader struct{ io.Reader }
type onlyWriter struct{ io.Writer }

func (p *process) running() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// stop ends the shell and all that it started: asked first, killed soon after.
// It returns when the shell is gone.
func (p *process) stop() {
	p.stopping.Do(func() {
		if !p.running() {
			return // its id may be another's by now
		}
		strays := p.group.strays()
		p.group.ask()
		timer := time.NewTimer(politeTime)
		defer timer.Stop()
		select {
		case <-p.exited:
		case <-timer.C:
		}
		p.group.kill()
		killAll(strays)
	})
	<-p.exited
}

// sweep ends what the shell left running and closes the output. The shell has
// ended. It reports whether there was something to end.
func (p *process) sweep() bool {
	p.sweeping.Do(func() {
		p.await(settleTime) // a pipeline's last words
		p.swept = p.group.alive()
		p.group.kill()
		p.await(settleTime)
		p.pipe.Close() // a process that left the group may hold the other end
		<-p.read
		p.out.finish()
		p.group.close()
	})
	return p.swept
}

func (p *process) await(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-p.read:
	case <-timer.C:
	}
}

// status returns how the shell ended.
func (p *process) status() (exit int, signal string) {
	state := p.cmd.ProcessState
	return state.ExitCode(), signalOf(state)
}
