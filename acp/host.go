package acp

import (
	"context"
	"encoding/json"
	"time"

	"dsh-acp/internal/agent"
	"dsh-acp/internal/msg"
)

// Sessions makes and keeps sessions. It is safe for concurrent use; calls for
// one session id come one at a time.
//
// Errors: an *eventlog.IDError for a text that is no id, an error that wraps
// fs.ErrNotExist for an id that names no session, [ErrAuthRequired],
// a *[ParamsError], or anything else for what went wrong inside.
type Sessions interface {
	// Create makes a session. It can be opened again from then on, even if
	// the process dies.
	Create(ctx context.Context, s Setup) (*Opened, error)
	// Open continues a session, after closing what a crash left open in it.
	Open(ctx context.Context, id string, s Setup) (*Opened, error)
	// List tells of all sessions, last changed first.
	List(ctx context.Context) ([]SessionInfo, error)
	// Delete removes a session that is not open for good.
	Delete(ctx context.Context, id string) error
	// Fork makes a session that begins with all that the session id holds
	// now, which may be open. What runs in it counts as broken off in the new one.
	Fork(ctx context.Context, id string, s Setup) (*Opened, error)
}

// An Account is the user's access to a model.
type Account interface {
	// Check fails with [ErrAuthRequired] if there is no key and the endpoint
	// wants one. It does not ask the endpoint.
	Check(ctx context.Context) error
	// Logout forgets the stored key.
	Logout(ctx context.Context) error
}

// A Setup is what the client gives for a session.
type Setup struct {
	Cwd  string   // absolute, clean
	More []string // additional folders, absolute, clean
	// Settings are what the client sets for this session alone, an object as
	// in the settings file, or nil.
	Settings json.RawMessage
	// Editor gives the editor that holds the files of a session, by its id; nil
	// if the client offers none.
	Editor func(session string) *Editor
}

// SessionInfo tells of a session without opening it.
type SessionInfo struct {
	ID        string
	Cwd       string   // where it was last worked in
	More      []string // additional folders of then
	Title     string   // "" for none
	UpdatedAt time.Time
}

// Opened is a session that is ready for prompts.
type Opened struct {
	ID string
	// History is the session's events so far, crash closers included; nil for
	// a new session.
	History []msg.Event
	// Payloads are those of History, one for one, if they are at hand; nil
	// has them decoded.
	Payloads []msg.Payload
	// Mode is in force where the history sets none; "" means [ModeDefault].
	Mode string
	// Models are offered to the user; Model is the id of the one in force
	// where the history sets none. No models: the option is not offered.
	Models []Model
	Model  string
	// Effort is the thought level in force where the history sets none; "" is
	// the model's own. It is offered for models that have levels.
	Effort string
	// Options are further choices of the host's own, in order.
	Options []Option
	// Commands are answered by Work instead of the model, in order.
	Commands []Command
	// CardTextMax bounds each side of a diff block that is shown, in bytes; 0
	// means the presenter's default.
	CardTextMax int
	// Title, if not nil, finds a better title than the first prompt, after the
	// turn of that has ended. It may take its time, and runs beside turns.
	Title func(ctx context.Context, prompt msg.Blocks) (string, error)
	// Kept are the permissions of the session's project; nil has none.
	Kept Kept
	Work Work
}

// A Model is a choice of the option "model".
type Model struct {
	ID, Name, Description string
	Efforts               []string // its thought levels, the lowest first; nil: it has none
}

// An Option is a choice that means something to the host alone.
type Option struct {
	ID, Name, Description string
	// Choices are the values; nil: the option is on or off, which are the
	// values "true" and "false".
	Choices []Choice
	Value   string // in force where the history sets none
}

// A Choice is a value of an [Option].
type Choice struct{ Value, Name, Description string }

// Choices are the values in force of what the user can choose.
type Choices struct {
	Model   string
	Effort  string            // "" is the model's own
	Options map[string]string // by Option.ID, each of Opened.Options
}

// A Command is what a prompt that begins with a slash and its name calls.
type Command struct {
	Name        string // without the slash
	Description string
	Hint        string // what may follow the name; "" if nothing
}

// Work is the part of a session that knows neither protocol nor client.
type Work interface {
	// Record appends to the session's log. It may be called while a turn runs.
	Record(p msg.Payload) error
	// Run carries one turn out, and returns soon after ctx ends. It makes no
	// use of t after it has returned. Calls come one at a time.
	Run(ctx context.Context, t Turn) (Outcome, error)
	// Close flushes and frees the session. No turn runs then.
	Close() error
}

// A Turn is what a prompt asks for.
type Turn struct {
	Prompt msg.Blocks
	// Command is the one of Opened.Commands that the prompt calls, with what
	// follows its name; nil if it calls none.
	Command *Call
	// Choices gives the values in force now. They may change while the turn
	// runs, and count from the next request to the model on.
	Choices  func() Choices
	Sink     agent.Sink
	Approver agent.Approver
	// Grants are the permissions that the user gave for the session.
	Grants Grants
	// Terminals are the client's, for commands; nil if it has none, or if it
	// shows what a command writes by other means.
	Terminals Terminals
}

// Kept are permissions that hold for all sessions of a project. It is safe for
// concurrent use, also by other processes.
type Kept interface {
	// List gives the scopes, sorted.
	List() ([]string, error)
	// Keep adds a scope, and Drop takes one away; neither minds if that is
	// done already.
	Keep(scope string) error
	Drop(scope string) error
}

// Grants are the permissions that spare a session questions.
type Grants interface {
	// List gives those of the session and then those of its project, each by
	// scope. With an error it gives those of the session alone.
	List() ([]Grant, error)
	// Keep has one of the session's hold for the project too.
	Keep(scope string) error
	// Revoke takes one back, from the next call on, and records it.
	Revoke(g Grant) error
}

// A Grant is one lasting permission.
type Grant struct {
	Scope   string // names it
	Words   string // what it allows, such as "to run `go test` commands"
	Project bool   // it holds for the project, and not for one session
}

// A Call is that of a [Command].
type Call struct{ Name, Args string }

// An Outcome is how a turn ended.
type Outcome struct {
	Stop  string // one of the Stop constants
	Usage msg.Usage
}

// Stop reasons of the protocol.
const (
	StopEndTurn   = "end_turn"
	StopMaxTokens = "max_tokens"
	StopRefusal   = "refusal"
	StopCancelled = "cancelled"
)
