package fsbackend

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// The codes of file errors: one list for every tool. They are stable, since
// clients, tests and models go by them.
const (
	// CodeNotFound: there is no such file, or a folder on the way is missing.
	CodeNotFound = "FS_NOT_FOUND"
	// CodeNotDirectory: a part of the path that must be a folder is a file.
	CodeNotDirectory = "FS_NOT_DIRECTORY"
	// CodeNotRegular: a folder, pipe, socket or device where a file is needed.
	CodeNotRegular = "FS_NOT_REGULAR_FILE"
	// CodeNotText: the file is not UTF-8 text.
	CodeNotText = "FS_NOT_TEXT"
	// CodeTooLarge: the file is over the bound of what is read whole.
	CodeTooLarge = "FS_TOO_LARGE"
	// CodePermission: the system refused, or the file is marked read-only.
	CodePermission = "FS_PERMISSION_DENIED"
	// CodeIO: the system could not do it.
	CodeIO = "FS_IO_ERROR"
	// CodeDenied: the path lies outside of what this session may touch.
	CodeDenied = "FS_DENIED"
	// CodeGuardAmbiguous: the path is on the allow list and on the block list.
	CodeGuardAmbiguous = "FS_GUARD_AMBIGUOUS"
	// CodeGenerated: the file was generated, and such files are not changed.
	CodeGenerated = "FS_GENERATED"
	// CodeStaleVersion: the file is not the version that was demanded.
	CodeStaleVersion = "FS_STALE_VERSION"
	// CodeNotObserved: there is a file where none was seen before.
	CodeNotObserved = "FS_NOT_OBSERVED"
	// CodeUnsaved: the editor holds changes of the file that would be lost.
	CodeUnsaved = "FS_UNSAVED"
	// CodeEditorOnly: the session changes files through the editor alone, which
	// cannot change this one.
	CodeEditorOnly = "FS_EDITOR_ONLY"
	// CodeAborted: the context ended first; nothing was written.
	CodeAborted = "FS_ABORTED"
)

// An Error says what went wrong with a path in words for a model. It comes
// inside of a *[fs.PathError], which has the operation and the path.
type Error struct {
	Code   string
	Msg    string // what was found
	Remedy string // what would work; empty where nothing is known to
	Err    error  // the cause, or nil
}

// Error is the message and its remedy.
func (e *Error) Error() string {
	if e.Remedy == "" {
		return e.Msg
	}
	return e.Msg + "; " + e.Remedy
}

// Unwrap is the cause: an error of the system or of the context.
func (e *Error) Unwrap() error { return e.Err }

// Is makes errors.Is work with the errors of io/fs by code, so that it does
// not matter which backend or system found out.
func (e *Error) Is(target error) bool {
	switch target {
	case fs.ErrNotExist:
		return e.Code == CodeNotFound
	case fs.ErrPermission:
		return e.Code == CodePermission || e.Code == CodeDenied || e.Code == CodeGuardAmbiguous
	}
	return false
}

// CodeOf is the code of the first [Error] in err's chain, or "" if it has
// none.
func CodeOf(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// fail makes the error of an operation on a path.
func fail(op, path, code, msg, remedy string) error {
	return &fs.PathError{Op: op, Path: path, Err: &Error{Code: code, Msg: msg, Remedy: remedy}}
}

// failWith makes an error out of one of the system's: its cause stays in the
// chain and its text is told, without the inner path (a temporary name means
// nothing to the reader).
func failWith(op, path, doing string, err error) error {
	if CodeOf(err) != "" {
		return err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return aborted(op, path, err)
	}
	cause := bare(err)
	e := &Error{Code: CodeIO, Err: cause}
	switch {
	case errors.Is(cause, fs.ErrPermission):
		e.Code = CodePermission
		e.Remedy = "ask the user to change the permissions, or use another file"
	case errors.Is(cause, fs.ErrNotExist):
		e.Code = CodeNotFound
	case errors.Is(cause, syscall.ENOTDIR):
		e.Code = CodeNotDirectory
	}
	e.Msg = doing + ": " + cause.Error()
	return &fs.PathError{Op: op, Path: path, Err: e}
}

// aborted is the error of a cancelled operation.
func aborted(op, path string, err error) error {
	return &fs.PathError{Op: op, Path: path, Err: &Error{
		Code: CodeAborted, Msg: "cancelled before it was done, nothing was written", Err: err,
	}}
}

// bare takes off what os puts around an error number.
func bare(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	var le *os.LinkError
	if errors.As(err, &le) {
		return le.Err
	}
	var se *os.SyscallError
	if errors.As(err, &se) {
		return se.Err
	}
	return err
}
