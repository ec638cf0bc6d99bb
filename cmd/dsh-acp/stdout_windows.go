package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// takeStdout gives the protocol's output to the caller alone: what anything
// else in the process, or a child of it, writes to standard output goes to
// standard error from now on. The handle is a copy that children do not inherit.
func takeStdout() (*os.File, error) {
	self := windows.CurrentProcess()
	var h windows.Handle
	err := windows.DuplicateHandle(self, windows.Handle(os.Stdout.Fd()), self, &h, 0, false, windows.DUPLICATE_SAME_ACCESS)
	if err != nil {
		return nil, err
	}
	if err := windows.SetStdHandle(windows.STD_OUTPUT_HANDLE, windows.Handle(os.Stderr.Fd())); err != nil {
		return nil, err
	}
	os.Stdout = os.Stderr
	return os.NewFile(uintptr(h), "protocol output"), nil
}
