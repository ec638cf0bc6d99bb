//go:build unix && !linux

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// takeStdout gives the protocol's output to the caller alone: what anything
// else in the process, or a child of it, writes to standard output goes to
// standard error from now on.
func takeStdout() (*os.File, error) {
	fd, err := unix.FcntlInt(1, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, err
	}
	if err := unix.Dup2(2, 1); err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "protocol output"), nil
}
