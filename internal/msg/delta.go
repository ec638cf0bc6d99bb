package msg

// A Delta is a piece of a model's answer while it streams. Deltas are shown
// and forgotten; what counts is the committed [AssistantMessage]. It is one
// of [MessageStart], [TextDelta], [ThoughtDelta], [ToolStart], [ToolInput],
// [ToolReady], [UsageDelta], [ToolRunning], [ToolOutput], [ToolTerminal] and
// [Compacting].
type Delta interface{ delta() }

// MessageStart opens a message and gives its id; it precedes all others.
type MessageStart struct{ MessageID, Model string }

// TextDelta is more text of the message. Text is never empty.
type TextDelta struct{ MessageID, Text string }

// ThoughtDelta is more thinking of the message. Text is never empty.
type ThoughtDelta struct{ MessageID, Text string }

// ToolStart announces a tool request whose input has not begun.
type ToolStart struct{ CallID, Name string }

// ToolInput is more JSON text of a request's input.
type ToolInput struct{ CallID, Fragment string }

// ToolReady says that the input of one request is complete, while later
// blocks of the message may still stream.
type ToolReady struct{ Use ToolUse }

// UsageDelta tells the tokens counted so far for this message.
type UsageDelta struct{ Usage Usage }

// ToolRunning says that a call has been running for a while and still is.
type ToolRunning struct {
	CallID  string
	Elapsed int // seconds
}

// ToolOutput is more output of a command that runs. All pieces together are
// what is shown of its output: the result's own text is not shown again.
type ToolOutput struct{ CallID, Text string }

// ToolTerminal says that a call runs in a terminal of the client's, which
// shows the output until the call has its result.
type ToolTerminal struct{ CallID, TerminalID string }

// Compacting says that the conversation is being summed up, or, if Failed or
// Cancelled is set, that it was not after all. That it was is told by an event.
type Compacting struct {
	ID        string
	Failed    string // why; "" if it did not fail
	Cancelled bool
}

func (MessageStart) delta() {}
func (TextDelta) delta()    {}
func (ThoughtDelta) delta() {}
func (ToolStart) delta()    {}
func (ToolInput) delta()    {}
func (ToolReady) delta()    {}
func (UsageDelta) delta()   {}
func (ToolRunning) delta()  {}
func (ToolOutput) delta()   {}
func (ToolTerminal) delta() {}
func (Compacting) delta()   {}

// Usage counts tokens of one model message. Zero fields are not known or none.
type Usage struct {
	Input       int64 `json:"input"` // without cached tokens
	Output      int64 `json:"output"`
	CachedRead  int64 `json:"cachedRead,omitempty"`
	CachedWrite int64 `json:"cachedWrite,omitempty"`
	// CostUSD is the price of the message, or 0 if the model's price is not known.
	CostUSD float64 `json:"costUSD,omitempty"`
}

// Context is the number of tokens that the message left in the context window.
func (u Usage) Context() int64 { return u.Input + u.CachedRead + u.CachedWrite + u.Output }

// Add returns the sum of two counts.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Input: u.Input + v.Input, Output: u.Output + v.Output,
		CachedRead: u.CachedRead + v.CachedRead, CachedWrite: u.CachedWrite + v.CachedWrite,
		CostUSD: u.CostUSD + v.CostUSD,
	}
}
