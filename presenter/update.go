package presenter

import "encoding/json"

// An Update is the value of "update" in a session/update notification. It is
// one of [UserMessageChunk], [AgentMessageChunk], [AgentThoughtChunk],
// [ToolCallStart], [ToolCallUpdate], [PlanUpdate], [AvailableCommands],
// [CurrentMode], [ConfigOptions], [SessionInfo], [UsageUpdate] and
// [CompactionUpdate].
//
// Encode updates with msg.Marshal: json.Marshal would escape HTML characters
// and so change what a reader of the line sees.
type Update interface{ sessionUpdate() string }

// A UserMessageChunk is a piece of what the user said; sent on replay only.
type UserMessageChunk struct {
	Content   ContentBlock `json:"content"`
	MessageID string       `json:"messageId,omitempty"`
}

// An AgentMessageChunk is a piece of the model's answer.
type AgentMessageChunk struct {
	Content   ContentBlock `json:"content"`
	MessageID string       `json:"messageId,omitempty"`
}

// An AgentThoughtChunk is a piece of the model's reasoning.
type AgentThoughtChunk struct {
	Content   ContentBlock `json:"content"`
	MessageID string       `json:"messageId,omitempty"`
}

// ToolCallFields are the parts of a tool call that change. A zero field is
// absent on the wire, which keeps what the client holds; an empty slice that
// is not nil is [], which clears it.
type ToolCallFields struct {
	Status    string          `json:"status,omitempty"`
	Title     string          `json:"title,omitempty"`
	Kind      string          `json:"kind,omitempty"`
	RawInput  json.RawMessage `json:"rawInput,omitempty"`
	RawOutput json.RawMessage `json:"rawOutput,omitempty"`
	Content   []ToolContent   `json:"content,omitzero"`
	Locations []Location      `json:"locations,omitzero"`
}

// A ToolCallStart makes a call known to the client.
type ToolCallStart struct {
	ToolCallID string `json:"toolCallId"`
	Name       string `json:"name,omitempty"` // the tool's, as it was offered
	ToolCallFields
	Meta *Meta `json:"_meta,omitempty"`
}

// A ToolCallUpdate changes a call that the client knows.
type ToolCallUpdate struct {
	ToolCallID string `json:"toolCallId"`
	ToolCallFields
	Meta *Meta `json:"_meta,omitempty"`
}

// A PermissionCall is the "toolCall" of a permission request: the whole call
// again. It is no [Update].
type PermissionCall struct {
	ToolCallID string `json:"toolCallId"`
	Name       string `json:"name,omitempty"`
	ToolCallFields
	Meta *Meta `json:"_meta,omitempty"`
}

// Statuses of a tool call. A call is pending until its result is known; only
// one that runs for long is told to be in progress meanwhile.
const (
	StatusPending    = "pending"
	StatusInProgress = "in_progress"
	StatusCompleted  = "completed"
	StatusFailed     = "failed"
)

// Meta is what an update carries outside of the protocol: the display
// terminals that some editors draw, and our own key. It holds no file text.
type Meta struct {
	TerminalInfo   *TerminalInfo   `json:"terminal_info,omitempty"`
	TerminalOutput *TerminalOutput `json:"terminal_output,omitempty"`
	TerminalExit   *TerminalExit   `json:"terminal_exit,omitempty"`
	Dsh            *DshMeta        `json:"dsh,omitempty"`
}

// TerminalInfo announces a display terminal, before content shows it.
type TerminalInfo struct {
	TerminalID string `json:"terminal_id"`
}

// TerminalOutput is more output of a display terminal.
type TerminalOutput struct {
	TerminalID string `json:"terminal_id"`
	Data       string `json:"data"`
}

// TerminalExit ends a display terminal. Both nil: the end is not known.
type TerminalExit struct {
	TerminalID string  `json:"terminal_id"`
	ExitCode   *int    `json:"exit_code"`
	Signal     *string `json:"signal"`
}

// DshMeta is our own part of an update's _meta.
type DshMeta struct {
	// Diffs counts the changed lines of each diff block of the update's
	// content, in their order, so that no client has to compare texts again.
	Diffs []DiffStat `json:"diffs,omitempty"`
	// Parent is the call that a helper's call is made for, "" for the
	// conversation's own calls.
	Parent string `json:"parentToolCallId,omitempty"`
	// Elapsed is for how many seconds a call has been running; 0: not told.
	Elapsed int `json:"elapsedSeconds,omitempty"`
}

// A DiffStat counts the changed lines of one diff block.
type DiffStat struct {
	Added   int  `json:"added"`
	Removed int  `json:"removed"`
	Coarse  bool `json:"coarse,omitempty"` // one replaced region, not a minimal diff
}

// A PlanUpdate replaces the client's plan.
type PlanUpdate struct {
	Entries []PlanEntry `json:"entries"` // nil is sent as []
}

// A PlanEntry is one task of a plan.
type PlanEntry struct {
	Content  string `json:"content"`
	Status   string `json:"status"`   // pending, in_progress or completed
	Priority string `json:"priority"` // high, medium or low
}

// AvailableCommands replaces the list of slash commands.
type AvailableCommands struct {
	Commands []Command `json:"availableCommands"` // nil is sent as []
}

// A Command is a slash command that the user can call.
type Command struct {
	Name        string        `json:"name"`
	Description string        `json:"description"`
	Input       *CommandInput `json:"input,omitempty"` // nil: it takes none
}

// CommandInput says what a command wants behind its name.
type CommandInput struct {
	Hint string `json:"hint"`
}

// CurrentMode tells of a change of mode that the client did not ask for.
type CurrentMode struct {
	ModeID string `json:"currentModeId"`
}

// ConfigOptions replaces all of the session's options. The value comes from
// the package that knows them, as the protocol's list of options.
type ConfigOptions struct {
	Options json.RawMessage `json:"configOptions"` // nil is sent as []
}

// SessionInfo tells the session's title and when it last changed.
type SessionInfo struct {
	Title     string `json:"title,omitempty"`     // "" keeps it
	UpdatedAt string `json:"updatedAt,omitempty"` // RFC 3339; "" keeps it
}

// A UsageUpdate tells how full the context window is.
type UsageUpdate struct {
	Used int64 `json:"used"` // tokens
	Size int64 `json:"size"` // of the window, in tokens
	Cost *Cost `json:"cost,omitempty"`
}

// Cost is the price of the session so far.
type Cost struct {
	Amount   float64 `json:"amount"`
	Currency string  `json:"currency"` // ISO 4217
}

// CompactionUpdate tells that the conversation is or was summed up, for clients
// that take it.
type CompactionUpdate struct {
	ID      string         `json:"compactionId"`
	Status  string         `json:"status"`            // one of the Compaction constants
	Summary []ContentBlock `json:"summary,omitempty"` // with CompactionCompleted
	Error   string         `json:"error,omitempty"`   // with CompactionFailed
}

// Values of [CompactionUpdate].Status.
const (
	CompactionRunning   = "in_progress"
	CompactionCompleted = "completed"
	CompactionFailed    = "failed"
	CompactionCancelled = "cancelled"
)

func (UserMessageChunk) sessionUpdate() string  { return "user_message_chunk" }
func (AgentMessageChunk) sessionUpdate() string { return "agent_message_chunk" }
func (AgentThoughtChunk) sessionUpdate() string { return "agent_thought_chunk" }
func (ToolCallStart) sessionUpdate() string     { return "tool_call" }
func (ToolCallUpdate) sessionUpdate() string    { return "tool_call_update" }
func (PlanUpdate) sessionUpdate() string        { return "plan" }
func (AvailableCommands) sessionUpdate() string { return "available_commands_update" }
func (CurrentMode) sessionUpdate() string       { return "current_mode_update" }
func (ConfigOptions) sessionUpdate() string     { return "config_option_update" }
func (SessionInfo) sessionUpdate() string       { return "session_info_update" }
func (UsageUpdate) sessionUpdate() string       { return "usage_update" }
func (CompactionUpdate) sessionUpdate() string  { return "compaction_update" }
