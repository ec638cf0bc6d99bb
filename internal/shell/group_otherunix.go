//go:build unix && !linux

package shell

import "syscall"

// endWithParent does nothing: only Linux can tie a process to its parent.
func endWithParent(*syscall.SysProcAttr) {}

// strays finds none here: who has left the group is only looked up on Linux.
func (g *group) strays() []int { return nil }
