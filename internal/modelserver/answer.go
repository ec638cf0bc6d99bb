package modelserver

import (
	"encoding/json"
	"net/http"
)

// An Answer is what the server sends for one request. It is one of [Message],
// [Failure] and [Raw].
type Answer interface{ answer() }

// Message is an answer of the model, streamed as server-sent events if the
// request asked for a stream, else sent as one JSON object.
type Message struct {
	// ID is the message's id; "" means msg_mainNN, NN being the number of the
	// conversation request from 01 on.
	ID     string
	Blocks []Block
	// Stop is the stop reason; "" means tool_use if there is a [ToolUse],
	// else end_turn.
	Stop string
	// Usage is what the message counts; the zero value means [DefaultUsage].
	Usage Usage
	// Piece is the number of characters in a delta; 0 means [DefaultPiece].
	Piece int
	// Hang keeps the stream open after the last block, without its end, until
	// the client goes away or the server closes.
	Hang bool
	// Break ends the stream after the last block, without its end.
	Break bool
}

// Failure is an HTTP error.
type Failure struct {
	Status int
	// Text is the error's message; "" means a sentence with the status.
	Text string
	// Body replaces the whole body if it is not nil.
	Body json.RawMessage
	// Header is added to the answer's; nil adds nothing.
	Header http.Header
	// Repeat is how often a [Script] gives this answer; 0 means once.
	Repeat int
}

// Raw is an answer sent as it is, for services that misbehave.
type Raw struct {
	Status      int    // 0 means 200
	ContentType string // "" means text/event-stream
	Body        []byte
	Hang        bool // keep the connection open after Body
}

func (Message) answer() {}
func (Failure) answer() {}
func (Raw) answer()     {}

// A Block is a piece of a [Message]. It is one of [Text], [Thinking],
// [Redacted], [ToolUse] and [Gate].
type Block interface{ block() }

// Text is a text block.
type Text struct{ Text string }

// Thinking is a thinking block; its signature comes in a delta of its own.
type Thinking struct{ Text, Signature string }

// Redacted is thinking that the service encrypted.
type Redacted struct{ Data string }

// ToolUse is a tool request.
type ToolUse struct {
	ID, Name string
	// Input is the JSON text that is streamed, well formed or not.
	Input string
	// Cut, if not nil, ends the input after that many characters and keeps
	// the stream open as Message.Hang does; later blocks are not sent.
	Cut *int
}

// Gate is no block of the answer but a pause between two: the server closes
// Reached, then waits until Open is closed or the client goes away. A nil
// channel is left out.
type Gate struct {
	Reached chan<- struct{}
	Open    <-chan struct{}
}

func (Text) block()     {}
func (Thinking) block() {}
func (Redacted) block() {}
func (ToolUse) block()  {}
func (Gate) block()     {}

// Usage is the token count that a message reports.
type Usage struct {
	Input, Output, CacheRead, CacheWrite int
}

// DefaultUsage is the count of a message that names none. It is the same for
// all, so that sums over a turn can be told from the number of messages.
var DefaultUsage = Usage{Input: 1200, Output: 40}

// DefaultPiece is the number of characters in a delta.
const DefaultPiece = 24

// DefaultTitle is the title that a request for one is answered with.
const DefaultTitle = "Scripted session"

// Pieces cuts s into runs of n characters (code points); the last one is
// shorter. An empty s has no pieces; n below 1 means [DefaultPiece].
func Pieces(s string, n int) []string {
	if n < 1 {
		n = DefaultPiece
	}
	var out []string
	start, count := 0, 0
	for i := range s {
		if count == n {
			out = append(out, s[start:i])
			start, count = i, 0
		}
		count++
	}
	if start < len(s) {
		out = append(out, s[start:])
	}
	return out
}

func (m Message) stop() string {
	if m.Stop != "" {
		return m.Stop
	}
	for _, b := range m.Blocks {
		if _, ok := b.(ToolUse); ok {
			return "tool_use"
		}
	}
	return "end_turn"
}

func (m Message) usage() Usage {
	if m.Usage == (Usage{}) {
		return DefaultUsage
	}
	return m.Usage
}
