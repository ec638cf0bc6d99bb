//go:build !unix

package conformance

import "os/exec"

// ownGroup does nothing here: without process groups only the agent itself
// is ended, and its children when they notice that it is gone.
func ownGroup(*exec.Cmd) {}

func killGroup(cmd *exec.Cmd) {
	_ = cmd.Process.Kill() // it may have ended already
}
