package tools

import (
	"context"
	"errors"

	"dsh-acp/internal/msg"
)

// A Stage is where a running call shows more than its result. Its methods may
// be called from any goroutine until the call returns.
type Stage interface {
	// Running tells that the call has been running for so many seconds.
	Running(seconds int)
	// Output shows more output of a command. All of it together stands for
	// the result's own text.
	Output(text string)
	// Terminal says that the call runs in a terminal of the client's, which
	// shows the output meanwhile.
	Terminal(id string)
	// Record puts an event into the session's log and shows it.
	Record(p msg.Payload) error
	// Delegate has a helper do a task with the tools of the session but for
	// those that except names.
	Delegate(ctx context.Context, task string, except ...string) (Report, error)
}

// A Report is what a helper hands back.
type Report struct {
	Text  string   // its last message
	Tools []string // that it called, each once
	Calls int
}

// offstage shows nothing to nobody.
type offstage struct{}

var errOffstage = errors.New("there is no session to do it in")

func (offstage) Running(int)              {}
func (offstage) Output(string)            {}
func (offstage) Terminal(string)          {}
func (offstage) Record(msg.Payload) error { return errOffstage }
func (offstage) Delegate(context.Context, string, ...string) (Report, error) {
	return Report{}, errOffstage
}
