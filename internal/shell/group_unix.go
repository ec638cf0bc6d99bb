//go:build unix

package shell

import (
	"os"
	"os/exec"
	"syscall"
)

// Find returns the shell that commands are written for: bash, else sh.
func Find() (string, error) {
	if path, err := exec.LookPath("bash"); err == nil {
		return path, nil
	}
	return exec.LookPath("sh")
}

// A group is a shell's process group. Its id is that of the shell, and stays
// taken as long as one process is in it.
type group struct{ id int }

// prepare gives the command a session of its own: a group to kill, and no
// terminal that a password prompt could wait at.
func prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	endWithParent(cmd.SysProcAttr)
}

func newGroup(cmd *exec.Cmd) *group { return &group{id: cmd.Process.Pid} }

// Errors of the signals below say that nobody is left.

func (g *group) ask()        { _ = syscall.Kill(-g.id, syscall.SIGTERM) }
func (g *group) kill()       { _ = syscall.Kill(-g.id, syscall.SIGKILL) }
func (g *group) alive() bool { return syscall.Kill(-g.id, 0) == nil }
func (g *group) close()      {}

func killAll(pids []int) {
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

func signalOf(s *os.ProcessState) string {
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return ws.Signal().String()
	}
	return ""
}
