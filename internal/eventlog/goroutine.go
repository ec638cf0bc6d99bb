package eventlog

import (
	"bytes"
	"runtime"
	"strconv"
)

// goroutine gives the number of the calling goroutine. It serves to tell an
// observer that calls its own log, which would wait for itself for ever, from
// another goroutine, which may wait. Passing a token through the observer
// instead would leave the deadlock to whoever forgets it.
func goroutine() int64 {
	var buf [64]byte
	head := buf[:runtime.Stack(buf[:], false)] // "goroutine 12 [running]:…"
	head = bytes.TrimPrefix(head, []byte("goroutine "))
	num, _, _ := bytes.Cut(head, []byte(" "))
	n, err := strconv.ParseInt(string(num), 10, 64)
	if err != nil {
		panic("eventlog: unknown form of a stack trace: " + string(buf[:]))
	}
	return n
}
