// Package agent runs turns: it asks the model, asks for permission, runs the
// tools, and records all of it. It declares the small interfaces that it
// needs and knows neither the protocol nor any tool.
package agent

import (
	"context"
	"encoding/json"

	"dsh-acp/internal/msg"
)

// A Log is where a session's events go.
type Log interface {
	// Append commits one event and returns it. After an error nothing was
	// committed.
	Append(p msg.Payload) (msg.Event, error)
	// Sync makes all that was appended durable.
	Sync() error
}

// A Replacer is a [Log] in which a message can take the place of others. In one
// that is none no conversation is summed up.
type Replacer interface {
	Log
	// Replace commits a message that stands for all messages whose events lie
	// in from…to, both included, of which there is one at least.
	Replace(p msg.Payload, from, to int64) (msg.Event, error)
}

// A Sink shows a turn while it runs. Calls come from one goroutine at a time,
// in order. Event gets each event after it was committed.
type Sink interface {
	Delta(d msg.Delta)
	Event(e msg.Event)
}

// A Toolbox offers tools to the model. It is safe for concurrent use.
type Toolbox interface {
	// Specs lists the tools that are offered now; asked once per model request.
	Specs() []msg.ToolSpec
	// Plan decodes a request and checks it against the files as they are,
	// without changing anything. A request that cannot succeed gives its
	// error result instead of a plan: r non-nil, p nil.
	Plan(ctx context.Context, use msg.ToolUse) (p Plan, r *msg.ToolResult)
}

// A Plan is a checked tool call, ready to run once.
type Plan interface {
	// Need says what the call would do, for the question to the user.
	Need() Need
	// Run carries the call out. It checks again what may have changed since.
	// A failure is a result, not an error. ctx ends when the turn is
	// cancelled; Run returns soon after.
	Run(ctx context.Context) msg.ToolResult
}

// A Live plan is one whose call has more to show than its result.
type Live interface {
	Plan
	// RunLive is Run with a stage.
	RunLive(ctx context.Context, s Stage) msg.ToolResult
}

// A Stage is the way from a running call to its turn. Its methods may be
// called from any goroutine until RunLive returns. They wait until the turn
// comes to it, and do nothing once the turn has given the call up.
type Stage interface {
	// Delta shows something that is not recorded.
	Delta(d msg.Delta)
	// Record commits an event and shows it. It fails with a *[LogError], or
	// with [ErrGivenUp].
	Record(p msg.Payload) error
	// Delegate has a helper do a task: it has no memory of the conversation,
	// uses the tools of this session but for those that except names, and is
	// asked about like the conversation itself.
	Delegate(ctx context.Context, task string, except ...string) (Report, error)
}

// A Report is what a helper hands back.
type Report struct {
	Text  string   // its last message
	Tools []string // the names of the tools that it called, each once, in order of first use
	Calls int
	Usage msg.Usage
}

// A Need is what a call does to the world.
type Need struct {
	Access Access
	Paths  []string // the files it names, absolute; the first is the main one
	// Outside says that some path lies outside of the session's folders.
	Outside bool
	// Reached says that one is open for this call alone, and only if the user
	// allows it.
	Reached bool
	// Command is the shell command, with Execute.
	Command string
	// Rule names the commands that a lasting permission for Command would
	// cover: those that begin so, or this one alone if RuleExact is set. ""
	// means that no permission for it should last.
	Rule      string
	RuleExact bool
	// Preview gives what the call would change now, as the meta of its result
	// would tell it; nil, or a function that gives nil, if there is nothing to
	// show beyond the call's arguments.
	Preview func() json.RawMessage
	// Blind says that the call replaces something that the preview cannot show,
	// such as a file that is no text.
	Blind bool
	// Again says that the user was asked about this call before, and that its
	// files have changed since.
	Again bool
}

// Access is the kind of a call's effect.
type Access int

// Levels of [Access]. Calls of one message that only Look run together;
// others run one by one, in order.
const (
	Look    Access = iota // changes nothing
	Edit                  // changes files
	Execute               // runs a program
	Ask                   // asks the user whether plan mode is over
)

// An Approver decides whether a planned call may run; it may ask the user and
// wait. It is called from the turn's goroutine, one call at a time.
type Approver interface {
	Approve(ctx context.Context, use msg.ToolUse, n Need) (Verdict, error)
}

// A Verdict is an approver's decision.
type Verdict struct {
	Allow bool
	// Code and Text are the result's, if Allow is false: one of
	// msg.CodeRejected, msg.CodeQuestionAborted and msg.CodeModeRefused.
	Code string
	Text string
	// End ends the turn as cancelled once the call has its result, since the
	// user is to say something first.
	End bool
	// Grant, if not nil, is recorded in the log with the decision.
	Grant *msg.Granted
	// Asked says that the user was asked, and Shown is the preview that the
	// question had, nil for none. Shown counts even if Approve fails.
	Asked bool
	Shown json.RawMessage
}
