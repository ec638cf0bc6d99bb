// Package model is the seam to language models. A [Provider] streams one
// answer; what a turn is made of is not its business.
package model

import (
	"context"
	"fmt"

	"dsh-acp/internal/msg"
)

// A Provider runs requests against a language model. It is safe for
// concurrent use.
type Provider interface {
	// Stream sends one request and calls emit for each delta, in order and
	// from the calling goroutine, as soon as it arrives. It returns the whole
	// message. On failure the Reply holds what had arrived (Message.Content
	// may be empty; tool requests that were not complete are Cut), and the
	// error is an *[Error], or the context's error.
	Stream(ctx context.Context, req Request, emit func(msg.Delta)) (Reply, error)
}

// A Request is one call of a model.
type Request struct {
	Model     string // "" means the provider's default
	System    string
	Messages  []Message
	Tools     []msg.ToolSpec
	MaxTokens int64  // 0 means the provider's default
	Effort    string // "" means the model's default
}

// A Message is one entry of the history that a model is sent: a user's
// message, an assistant's, or the results of one step's tools.
type Message struct {
	Role    string // "user", "assistant" or "tool"
	Content msg.Blocks
	Results []msg.ToolMessage // with role "tool" only
}

// A Reply is a model's whole answer.
type Reply struct {
	Message msg.Assistant
	Usage   msg.Usage
}

// Kinds of [Error].
const (
	KindAuth        = "auth"         // no key, or a refused one
	KindInvalid     = "invalid"      // the service calls the request wrong
	KindContextFull = "context_full" // the conversation is too long for the model
	KindRate        = "rate_limit"
	KindOverloaded  = "overloaded"
	KindServer      = "server_error"
	KindNetwork     = "network" // could not connect, or the connection broke
	KindStream      = "stream"  // the stream ended without its end, or fell silent
)

// An Error is a failed request, after retries.
type Error struct {
	Kind   string
	Status int    // HTTP status, 0 if there was none
	Text   string // what to tell the user, with the service's own words
	Err    error  // cause; may be nil
}

func (e *Error) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("API Error: %d %s", e.Status, e.Text)
	}
	return "API Error: " + e.Text
}

func (e *Error) Unwrap() error { return e.Err }
