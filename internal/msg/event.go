package msg

import (
	"encoding/json"
	"fmt"
)

// An Event is one record of a session log. Data is always a JSON object, the
// payload that Type names; see [Decode].
type Event struct {
	Type       string          `json:"type"`
	Seq        int64           `json:"seq"`  // 0, 1, 2, … without holes
	Time       int64           `json:"time"` // Unix milliseconds
	Data       json.RawMessage `json:"data"`
	Ignorable  bool            `json:"ignorable,omitempty"`       // a reader that does not know Type may skip it
	SourceSeqs []int64         `json:"sourceEventSeqs,omitempty"` // surface events only
	SurfaceOp  json.RawMessage `json:"surfaceOp,omitempty"`       // surface events only: "append", or an object
}

// A Payload is the data of an event. The members are the types of this file.
type Payload interface{ EventType() string }

// TurnStart opens a turn: one prompt and all that follows from it.
type TurnStart struct {
	Turn int `json:"turn"`
}

// TurnEnd closes a turn, exactly once.
type TurnEnd struct {
	Turn   int       `json:"turn"`
	Reason EndReason `json:"reason"`
}

// EndReason says why a turn ended.
type EndReason struct {
	Kind   string    `json:"kind"` // one of the End constants
	Reason string    `json:"reason,omitempty"`
	Error  *EndError `json:"error,omitempty"` // with EndError only
}

// EndError is the failure behind a turn that ended with kind "error".
type EndError struct {
	Message string `json:"message"`
	Code    string `json:"code"`
}

// Kinds of [EndReason]. EndInterrupted is written by crash repair only.
const (
	EndCompleted   = "completed"
	EndAborted     = "aborted"
	EndBlocked     = "blocked" // the model refused
	EndFailed      = "error"
	EndMaxTokens   = "max-tokens"
	EndInterrupted = "interrupted"
)

// StepStart opens a step: one model call plus the tools it asks for.
type StepStart struct {
	Turn int `json:"turn"`
	Step int `json:"step"`
}

// StepEnd closes a step.
type StepEnd struct {
	Turn int `json:"turn"`
	Step int `json:"step"`
}

// UserMessage is input for the model: a prompt, or a note of the agent's own.
type UserMessage struct {
	ID      string `json:"id"`
	Role    string `json:"role"` // "user"
	Source  Source `json:"source"`
	Content Blocks `json:"content"`
}

// Source says where a user message came from.
type Source struct {
	// Kind is "prompt" for what the user typed, "agent" for a note that the
	// agent added (such as "go on" after the token limit), which clients are
	// not shown, and [SourceCommand].
	Kind string `json:"kind"`
}

// SourceCommand is the kind of a prompt that the agent answers by itself. Of
// its turn the model is told the notes of kind "agent" alone.
const SourceCommand = "command"

// AssistantMessage is a committed answer of the model. It precedes every tool
// call of its step.
type AssistantMessage struct {
	Turn        int       `json:"turn"`
	Step        int       `json:"step"`
	Message     Assistant `json:"message"`
	Usage       *Usage    `json:"usage,omitempty"`
	Interrupted bool      `json:"interrupted,omitempty"` // the stream was cut; Message is what was shown until then
}

// Assistant is a model's message.
type Assistant struct {
	ID         string `json:"id"`
	Role       string `json:"role"` // "assistant"
	Model      string `json:"model,omitempty"`
	Content    Blocks `json:"content"`
	StopReason string `json:"stopReason,omitempty"` // one of the Stop constants, or the provider's own word
}

// Values of [Assistant].StopReason.
const (
	StopEndTurn   = "end_turn"
	StopToolUse   = "tool_use"
	StopMaxTokens = "max_tokens"
	StopRefusal   = "refusal"
	StopContext   = "context_full"
)

// ToolCall says that a tool is about to run, after permission was given.
type ToolCall struct {
	Turn      int    `json:"turn"`
	Step      int    `json:"step"`
	CallID    string `json:"callId"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"` // raw JSON text as the model wrote it
}

// ToolReturned answers exactly one tool request, run or not.
type ToolReturned struct {
	Turn    int             `json:"turn"`
	Step    int             `json:"step"`
	Message ToolMessage     `json:"message"`
	Error   *ErrorInfo      `json:"error,omitempty"`
	Meta    json.RawMessage `json:"meta,omitempty"`
}

// ToolMessage is the part of a tool's result that the model reads.
type ToolMessage struct {
	Role    string `json:"role"` // "tool"
	CallID  string `json:"callId"`
	Content Blocks `json:"content"`
	IsError bool   `json:"isError,omitempty"`
}

// Result returns the result as the tool's presenter sees it.
func (t ToolReturned) Result() ToolResult {
	return ToolResult{Content: t.Message.Content, IsError: t.Message.IsError, Error: t.Error, Meta: t.Meta}
}

// TodoWrite is a snapshot of the whole task list; the last one wins.
type TodoWrite struct {
	Todos []Todo `json:"todos"`
}

// Todo is an entry of the task list.
type Todo struct {
	Content    string `json:"content"`
	Status     string `json:"status"` // pending, in_progress or completed
	ActiveForm string `json:"activeForm,omitempty"`
}

// RequestHeader records the envelope of model requests when it changes.
type RequestHeader struct {
	Header json.RawMessage `json:"header"`
	Reason string          `json:"reason"` // initial, resume or change
}

// RequestContext records provider and model when the route changes.
type RequestContext struct {
	Provider      string `json:"provider"`
	Model         string `json:"model"`
	ContextWindow int64  `json:"contextWindow,omitempty"`
}

// EndSeed marks where inherited or reloaded history ends.
type EndSeed struct{}

// ModeSet records the permission mode in force from here on. Log-only.
type ModeSet struct {
	Mode string `json:"mode"`
}

// Granted records a permission that the user gave for the session. Log-only.
type Granted struct {
	Scope string `json:"scope"` // the approver's own key, such as "edit"
	Name  string `json:"name"`  // as the option showed it
}

// Revoked takes a [Granted] of the same scope back. Log-only.
type Revoked struct {
	Scope string `json:"scope"`
}

// Titled records the session's title. Log-only; the last one wins.
type Titled struct {
	Title string `json:"title"`
}

// OptionSet records a configuration option that the client changed. Log-only.
type OptionSet struct {
	ID    string          `json:"id"`
	Value json.RawMessage `json:"value"`
}

// Folders records the folders that a session works in, where they are not
// those of its log's header alone. Log-only; it follows the start of each turn
// that is done in them, and the last one wins.
type Folders struct {
	Cwd  string   `json:"cwd"`
	More []string `json:"more,omitempty"`
}

// Delegated is an event of a helper that a tool call set to work: the helper's
// own messages, calls and results, which the conversation's model does not see.
// Log-only.
type Delegated struct {
	CallID string          `json:"callId"` // the call that the helper works for
	Type   string          `json:"type"`   // of the helper's event
	Data   json.RawMessage `json:"data"`   // its payload
}

// Compacted says that a summary has taken the place of all messages so far for
// the model; the message that holds it precedes. Log-only.
type Compacted struct {
	ID       string `json:"id"`
	Summary  string `json:"summary"`        // as the model wrote it
	Messages int    `json:"messages"`       // how many it stands for
	Auto     bool   `json:"auto,omitempty"` // for want of room, not at the user's wish
	Usage    *Usage `json:"usage,omitempty"`
}

// NewDelegated wraps a payload of a helper that works for a call.
func NewDelegated(callID string, p Payload) (Delegated, error) {
	data, err := Marshal(p)
	return Delegated{CallID: callID, Type: p.EventType(), Data: data}, err
}

// Payload returns the helper's own. It fails as [Decode] does.
func (d Delegated) Payload() (Payload, error) { return Decode(Event{Type: d.Type, Data: d.Data}) }

func (TurnStart) EventType() string        { return "turn/start" }
func (TurnEnd) EventType() string          { return "turn/end" }
func (StepStart) EventType() string        { return "step/start" }
func (StepEnd) EventType() string          { return "step/end" }
func (UserMessage) EventType() string      { return "user/message" }
func (AssistantMessage) EventType() string { return "assistant/message" }
func (ToolCall) EventType() string         { return "tool/call" }
func (ToolReturned) EventType() string     { return "tool/result" }
func (TodoWrite) EventType() string        { return "todo/write" }
func (RequestHeader) EventType() string    { return "request/header" }
func (RequestContext) EventType() string   { return "request/context" }
func (EndSeed) EventType() string          { return "session/end-seed" }
func (ModeSet) EventType() string          { return "dsh/mode" }
func (Granted) EventType() string          { return "dsh/grant" }
func (Revoked) EventType() string          { return "dsh/revoke" }
func (Titled) EventType() string           { return "dsh/title" }
func (OptionSet) EventType() string        { return "dsh/option" }
func (Folders) EventType() string          { return "dsh/folders" }
func (Delegated) EventType() string        { return "dsh/delegated" }
func (Compacted) EventType() string        { return "dsh/compacted" }

// Ignorable reports whether a reader that does not know the payload's type
// may skip it: true for the types of this project's own.
func Ignorable(p Payload) bool {
	switch p.(type) {
	case ModeSet, Granted, Revoked, Titled, OptionSet, Folders, Delegated, Compacted:
		return true
	}
	return false
}

// Surface reports whether events of the payload's type are messages that the
// model sees.
func Surface(p Payload) bool {
	switch p.(type) {
	case UserMessage, AssistantMessage, ToolReturned:
		return true
	}
	return false
}

// UnknownTypeError says that a log holds a type that this version cannot read.
type UnknownTypeError struct{ Type string }

func (e *UnknownTypeError) Error() string {
	return fmt.Sprintf("unknown event type %q: the session was written by a newer version", e.Type)
}

// Decode returns the payload of e. It fails with *[UnknownTypeError] for a
// type it does not know; callers skip those only if e.Ignorable.
// "assistant/chunk" is known and decodes to nil: it carries no state.
func Decode(e Event) (Payload, error) {
	switch e.Type {
	case "assistant/chunk":
		return nil, nil
	case "turn/start":
		return decodePayload[TurnStart](e)
	case "turn/end":
		return decodePayload[TurnEnd](e)
	case "step/start":
		return decodePayload[StepStart](e)
	case "step/end":
		return decodePayload[StepEnd](e)
	case "user/message":
		return decodePayload[UserMessage](e)
	case "assistant/message":
		return decodePayload[AssistantMessage](e)
	case "tool/call":
		return decodePayload[ToolCall](e)
	case "tool/result":
		return decodePayload[ToolReturned](e)
	case "todo/write":
		return decodePayload[TodoWrite](e)
	case "request/header":
		return decodePayload[RequestHeader](e)
	case "request/context":
		return decodePayload[RequestContext](e)
	case "session/end-seed":
		return decodePayload[EndSeed](e)
	case "dsh/mode":
		return decodePayload[ModeSet](e)
	case "dsh/grant":
		return decodePayload[Granted](e)
	case "dsh/revoke":
		return decodePayload[Revoked](e)
	case "dsh/title":
		return decodePayload[Titled](e)
	case "dsh/option":
		return decodePayload[OptionSet](e)
	case "dsh/folders":
		return decodePayload[Folders](e)
	case "dsh/delegated":
		return decodePayload[Delegated](e)
	case "dsh/compacted":
		return decodePayload[Compacted](e)
	default:
		return nil, &UnknownTypeError{Type: e.Type}
	}
}

func decodePayload[P Payload](e Event) (Payload, error) {
	var p P
	if err := json.Unmarshal(e.Data, &p); err != nil {
		return nil, fmt.Errorf("event %d (%s): %w", e.Seq, e.Type, err)
	}
	return p, nil
}
