package msg

import "encoding/json"

// A ToolSpec is what a model is told of a tool.
type ToolSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"` // JSON Schema of the arguments, an object
}

// A ToolResult is what came of a tool request: the part the model reads, and
// the tool's private Meta from which its presenter draws the card, live and
// on replay.
type ToolResult struct {
	Content Blocks
	IsError bool
	// Error tells code apart from text; nil when IsError is false or the
	// failure has no code.
	Error *ErrorInfo
	// Meta is an admissible JSON value, or nil. Error results have none.
	Meta json.RawMessage
}

// ErrorInfo names a failure in a stable way, for programs.
type ErrorInfo struct {
	Name string `json:"name"` // "ToolError" unless there is a better one
	Code string `json:"code"` // such as FS_STALE_VERSION
	// Details are facts about the failure for programs, a JSON object that
	// says no more than the text does; nil if there are none.
	Details json.RawMessage `json:"details,omitempty"`
}

// Codes of results that the agent itself makes, without a tool having run.
const (
	CodeInvalidArgs      = "INVALID_ARGS"            // arguments are not JSON, or do not fit the schema
	CodeUnknownTool      = "UNKNOWN_TOOL"            // no tool of that name is offered
	CodeRejected         = "REJECTED"                // the user said no
	CodeQuestionAborted  = "QUESTION_ABORTED"        // the permission question was answered "cancelled", or broke
	CodeModeRefused      = "MODE_REFUSED"            // plan mode refuses changes
	CodeAborted          = "ABORTED"                 // cancelled while running
	CodeAbortedUnstarted = "ABORTED_BEFORE_DISPATCH" // cancelled before it ran
	CodeCut              = "TOOL_INPUT_CUT"          // the input never became complete
	CodeNotStarted       = "TOOL_NOT_STARTED"        // crash repair: safe to retry
	CodeOutcomeUnknown   = "TOOL_OUTCOME_UNKNOWN"    // crash repair: check before retrying
	CodePanic            = "TOOL_PANIC"              // the tool broke; the process went on
	CodeBadMeta          = "TOOL_META_INVALID"       // the tool ran, but its presentation data was not admissible
)

// Failed makes an error result with one text block. An empty code means that
// the failure has none.
func Failed(code, text string) ToolResult {
	r := ToolResult{Content: Blocks{Text{Text: text}}, IsError: true}
	if code != "" {
		r.Error = &ErrorInfo{Name: "ToolError", Code: code}
	}
	return r
}
