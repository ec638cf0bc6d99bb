//go:build unix

package conformance

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the child the head of a process group, so that what it
// starts ends with it.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

func killGroup(cmd *exec.Cmd) {
	// The group may be gone already, which is what is wanted.
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
}
