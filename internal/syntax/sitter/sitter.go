// Package sitter makes syntax trees with tree-sitter and the grammars that its
// project publishes. It refuses to guess a language, to read files, and to go
// on without bounds: a text has a largest size and a longest time.
//
// It needs C. Built with CGO_ENABLED=0 the package is there, [Available] is
// false, and [Parser.Parse] says why.
//
// The runtime and the grammars are those of the official Go modules. Of the
// runtime only the C part is called: the Go part (v0.25.0) costs several calls
// into C for each node and a call back into Go for each allocation, copies the
// text again for each piece that the lexer asks for, and leaks the options of
// each parse that has a limit.
package sitter

import "time"

// The bounds that a zero [Options] stands for.
const (
	DefaultMaxBytes = 8 << 20
	DefaultTimeout  = 10 * time.Second
)

// Options bound what a [Parser] takes on. The zero value means the defaults.
type Options struct {
	MaxBytes int           // of one text; 0 for DefaultMaxBytes
	Timeout  time.Duration // of one parse; 0 for DefaultTimeout
}

func (o Options) withDefaults() Options {
	if o.MaxBytes == 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	return o
}
