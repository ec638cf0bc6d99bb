package app

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"dsh-acp/acp"
	"dsh-acp/internal/config"
	"dsh-acp/internal/shell"
	"dsh-acp/tools"
)

// keptByClient is how many bytes of a command's output the client is asked to
// keep: far more than a result shows, so that its start is rarely lost.
const keptByClient = 1 << 20

// terminals run commands in the client's terminals, if the turn has some.
type terminals struct {
	work    *work
	refused atomic.Bool // the client said that it has no such method
}

// terminals returns nil if the settings want none.
func (w *work) terminals() tools.Terminals {
	if w.cfg.EditorTerminal == "never" {
		return nil
	}
	return &terminals{work: w}
}

func (t *terminals) Run(ctx context.Context, command string, limit time.Duration, begun func(id string)) (shell.Result, error) {
	client := t.work.turn.Terminals
	if client == nil || t.refused.Load() {
		return shell.Result{}, tools.ErrNoTerminal
	}
	program, err := shell.Find()
	if err != nil {
		return shell.Result{}, err
	}
	if runtime.GOOS != "windows" { // there are several programs of that name there
		program = filepath.Base(program)
	}
	end, err := client.Run(ctx, acp.Program{
		Path: program, Args: []string{"-c", command}, Dir: t.work.setup.Cwd, Env: shell.Unattended(),
		Limit: limit, Keep: keptByClient,
	}, begun)
	switch {
	case errors.Is(err, acp.ErrNoTerminal):
		t.refused.Store(true)
		t.work.diag.Info().Err(err).Msg("commands run without the client's terminals")
		return shell.Result{}, tools.ErrNoTerminal
	case err != nil:
		return shell.Result{}, err
	}
	// What a terminal keeps has its line ends.
	text := strings.ReplaceAll(end.Output, "\r\n", "\n")
	if end.Cut {
		text = "[… the start of the output is not kept by the client …]\n" + text
	}
	return shell.Result{
		Output: t.work.shell.Capture(text), Exit: end.Exit, Signal: end.Signal,
		TimedOut: end.TimedOut, Cancelled: end.Cancelled,
	}, nil
}

// ripgrep finds the program for searches, "" if there is none or the settings
// want none.
func ripgrep(cfg config.Config) string {
	if cfg.Ripgrep == "never" {
		return ""
	}
	program, err := exec.LookPath("rg")
	if err != nil {
		return ""
	}
	return program
}
