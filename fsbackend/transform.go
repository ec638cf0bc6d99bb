package fsbackend

import (
	"context"
	"io/fs"
	"slices"
	"unsafe"

	"dsh-acp/internal/text"
)

// docOf is File.Doc under the path by which its user knows the file.
func docOf(path string, f File) (text.Doc, error) {
	d, err := text.ParseOwned(f.Data)
	if err != nil {
		return text.Doc{}, &fs.PathError{Op: "read", Path: path, Err: &Error{
			Code: CodeNotText, Msg: err.Error(), Remedy: "only UTF-8 text can be read and edited here; use another tool for this file", Err: err,
		}}
	}
	return d, nil
}

// A Locker gives callers their turn on files; see [Locks.Lock]. A Backend that
// is one is locked by [Transform] and [Lock].
type Locker interface {
	Lock(ctx context.Context, keys ...Key) (unlock func(), err error)
}

// Lock takes the turn on the files of these paths, so that a caller's read,
// check and write go together. It resolves first, and again once it has the
// turn, since a link may have been moved meanwhile. A backend that is no
// Locker has no turns to take: then versions alone protect. The caller must
// not hold another turn, and must call unlock.
func Lock(ctx context.Context, b Backend, paths ...string) (unlock func(), err error) {
	l, ok := b.(Locker)
	if !ok {
		return func() {}, nil
	}
	for {
		keys, err := keysOf(ctx, b, paths)
		if err != nil {
			return nil, err
		}
		unlock, err := l.Lock(ctx, keys...)
		if err != nil {
			return nil, aborted("lock", paths[0], err)
		}
		again, err := keysOf(ctx, b, paths)
		if err != nil {
			unlock()
			return nil, err
		}
		if slices.Equal(keys, again) {
			return unlock, nil
		}
		unlock()
	}
}

func keysOf(ctx context.Context, b Backend, paths []string) ([]Key, error) {
	keys := make([]Key, len(paths))
	for i, p := range paths {
		info, err := b.Stat(ctx, p)
		if err != nil {
			return nil, err
		}
		keys[i] = info.Key
	}
	return keys, nil
}

// A Change is what [Transform] did to one file.
type Change struct {
	Path          string // as asked
	Real          string // the file, after links
	Key           Key
	Before, After text.Doc
	Receipt       Receipt
}

// Transform changes a text file by a pure function: it takes the turn on the
// file, reads it, and writes what f makes of it, if the file is still what was
// read. Errors of f come back as they are, and then nothing was written.
// Others are those of Read, of File.Doc and of Write; CodeStaleVersion means
// that another program wrote in between. The caller must not hold a turn.
func Transform(ctx context.Context, b Backend, path string, f func(text.Doc) (text.Doc, error)) (Change, error) {
	unlock, err := Lock(ctx, b, path)
	if err != nil {
		return Change{}, err
	}
	defer unlock()
	file, err := ReadForChange(ctx, b, path)
	if err != nil {
		return Change{}, err
	}
	before, err := docOf(path, file)
	if err != nil {
		return Change{}, err
	}
	after, err := f(before)
	if err != nil {
		return Change{}, err
	}
	rec, err := b.Write(ctx, Write{Path: path, Data: BytesOf(after), Pre: Unchanged{Version: file.Version}, NoParents: true})
	if err != nil {
		return Change{}, err
	}
	return Change{Path: path, Real: file.Real, Key: file.Key, Before: before, After: rec.Text(after), Receipt: rec}, nil
}

// BytesOf gives a text's bytes for [Write.Data], without the copy that
// text.Doc.Bytes makes: they must not be changed, and backends only read them.
func BytesOf(d text.Doc) []byte {
	s := d.Raw()
	return unsafe.Slice(unsafe.StringData(s), len(s))
}
