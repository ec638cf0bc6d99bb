//go:build unix

package fsbackendtest

import "syscall"

func mkfifo(path string) error { return syscall.Mkfifo(path, 0o644) }
