package acp

import (
	"errors"
	"fmt"
	"io/fs"

	"dsh-acp/internal/eventlog"
	"dsh-acp/internal/model"
)

// Codes of JSON-RPC and of the protocol.
const (
	codeParse            = -32700
	codeInvalidRequest   = -32600
	codeMethodNotFound   = -32601
	codeInvalidParams    = -32602
	codeInternal         = -32603
	codeRequestCancelled = -32800
	codeAuthRequired     = -32000
	codeNotFound         = -32002
)

// ErrAuthRequired says that no model can be asked until the user has given a
// key. A host returns it; the client then offers the ways to log in.
var ErrAuthRequired = errors.New("authentication required")

// A ParamsError is a host's way to say that a request cannot be served as it
// was asked, such as for a folder that does not exist.
type ParamsError struct{ Text string }

func (e *ParamsError) Error() string { return e.Text }

// An rpcError is the error object of an answer.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (e *rpcError) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

func invalidParams(format string, args ...any) *rpcError {
	return &rpcError{Code: codeInvalidParams, Message: "Invalid params: " + fmt.Sprintf(format, args...)}
}

func unknownSession(id string) *rpcError {
	return &rpcError{Code: codeNotFound, Message: "Resource not found", Data: map[string]string{"sessionId": id}}
}

var errCancelled = &rpcError{Code: codeRequestCancelled, Message: "Request cancelled"}

// sessionError turns what a host says of a session into an answer. A bad id
// is told apart from an unknown one before any file is looked at, so its
// answer cannot tell what exists.
func sessionError(id string, err error) error {
	var bad *eventlog.IDError
	switch {
	case errors.As(err, &bad):
		return invalidParams("sessionId: %s", bad.Why)
	case errors.Is(err, fs.ErrNotExist):
		return unknownSession(id)
	}
	return err
}

// asRPC gives the error object for any error.
func asRPC(err error) *rpcError {
	var rpc *rpcError
	if errors.As(err, &rpc) {
		return rpc
	}
	var params *ParamsError
	if errors.As(err, &params) {
		return invalidParams("%s", params.Text)
	}
	if errors.Is(err, ErrAuthRequired) {
		return &rpcError{Code: codeAuthRequired, Message: "Authentication required", Data: map[string]string{"details": err.Error()}}
	}
	var me *model.Error
	if errors.As(err, &me) {
		if me.Kind == model.KindAuth {
			return &rpcError{Code: codeAuthRequired, Message: "Authentication required"}
		}
		return &rpcError{Code: codeInternal, Message: "Internal error: " + me.Error(), Data: map[string]string{"errorKind": errorKind(me)}}
	}
	return &rpcError{Code: codeInternal, Message: "Internal error: " + err.Error()}
}

// errorKind is the word that clients of the reference agent know: it calls a
// refused request "unknown".
func errorKind(e *model.Error) string {
	if e.Kind == model.KindInvalid {
		return "unknown"
	}
	return e.Kind
}
