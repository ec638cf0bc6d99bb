// Package fsbackend stores files. A [Backend] knows bytes, versions and modes
// and nothing of diffs, cards or tools; what it returns are facts about
// storage from which others draw.
//
// It refuses to write in place, to replace what it was not told to replace, to
// follow a link out of the folders that are open, and to convert or repair
// text. It has no state on disk: a process that is killed in a write leaves at
// most a hidden file named ".dsh-….tmp" beside the target, and one of several
// files up to 16 of these.
//
// Two locks are at work. Tools take turns on files by [Lock] around reading,
// deciding and writing; a write takes one more of its own for its last check
// and the rename. Against other programs there is only the version, which is
// checked right before the rename: what they write in the microseconds between
// the two is lost, as with every editor.
package fsbackend

import (
	"context"
	"io/fs"
	"time"

	"dsh-acp/internal/text"
)

// A Backend stores files. Paths are absolute and clean; every implementation
// is safe for concurrent use. Errors about a path are *fs.PathError around a
// *[Error] that carries a code, or around the context's error.
type Backend interface {
	// Stat tells of a path. A missing file, also one below a regular file, is
	// no error: Info.Exists is false, and Info.Key is what it will be once
	// the file exists.
	Stat(ctx context.Context, path string) (Info, error)
	// Read returns the whole file. It fails with CodeNotFound,
	// CodeNotRegular, CodeTooLarge, CodeDenied, CodePermission or CodeIO.
	Read(ctx context.Context, path string) (File, error)
	// Write replaces the whole file, or nothing. It fails with
	// CodeStaleVersion or CodeNotObserved, and writes nothing, if the file is
	// not as w.Pre demands. If an error comes with a Receipt whose Version is
	// not zero, the new bytes are in place all the same.
	Write(ctx context.Context, w Write) (Receipt, error)
}

// A Key names a file's identity: two paths to one file have one key, through
// any symbolic link, and in any case where the file system takes no note of
// case. It is made of the real path and stays the same when the file is made,
// replaced or removed. The names of a file with several hard links have a key
// each, since a write parts them. Callers do not look inside.
type Key string

// A Version is the SHA-256 of a file's raw bytes. The zero Version is that of
// no file.
type Version [32]byte

// Info tells of a path.
type Info struct {
	Key    Key
	Real   string // the path after links were followed
	Exists bool
	Dir    bool // a directory
	// Regular is false for a directory, pipe, socket or device.
	Regular bool
	Size    int64
	Mode    fs.FileMode
	Links   int // number of names of the file, 1 where the system does not tell

	modified time.Time // of the content
}

// A File is what Read saw.
type File struct {
	Info
	Data    []byte // owned by the caller
	Version Version
	// Notes are for who reads the text, such as "the editor holds changes of it
	// that are not saved".
	Notes []string
}

// Doc parses the file as text. It fails with CodeNotText, and says what was
// found and where, for a file that is not UTF-8 or holds a NUL byte. The
// document is made of Data without a copy, so Data must not be changed after.
func (f File) Doc() (text.Doc, error) { return docOf(f.Real, f) }

// A Precondition says how the file must be for a write to happen. It is one
// of [Any], [Absent] and [Unchanged].
type Precondition interface{ precondition() }

// Any demands nothing.
type Any struct{}

// Absent demands that there is no file: a file that appeared in between makes
// the write fail with CodeNotObserved, and wins.
type Absent struct{}

// Unchanged demands that the file has this version.
type Unchanged struct{ Version Version }

func (Any) precondition()       {}
func (Absent) precondition()    {}
func (Unchanged) precondition() {}

// A Write is a request to replace a file's bytes.
type Write struct {
	Path string
	Data []byte       // only read, and not kept after the call
	Pre  Precondition // nil means Any
	// NoParents makes a missing parent folder an error (CodeNotFound);
	// otherwise missing parents are made.
	NoParents bool
	// Executable adds x wherever the mode has r.
	Executable bool
	// Mode, if not zero, is the permission bits the file gets (rollback);
	// otherwise an existing file keeps its own and a new one gets 0666 less umask.
	Mode fs.FileMode
	// NoBefore says that the caller has the old bytes, so that the receipt need
	// not hold them. A backend may keep them all the same.
	NoBefore bool
	// LateSync leaves it to the caller to make the file's name durable, by the
	// SyncFolders of a [FolderSyncer] once all its files are written. The bytes
	// are synced all the same. Other backends take no note of it.
	LateSync bool
	// Undo says that earlier bytes are put back, by a rollback or by a commit
	// that failed: then it does not matter whether the file was generated.
	Undo bool
}

// A Receipt tells what a write did.
type Receipt struct {
	Path    string // as asked
	Real    string // the file that was written, after links
	Key     Key    // its identity
	Created bool
	// Before is the old bytes, or nil: the file was created, or its old
	// content was not kept (over the bound of Options.BeforeMax, or NoBefore).
	Before *[]byte
	// BeforeVersion is the version that was replaced; zero if Created, or if
	// the old file could not be read, of which a note tells.
	BeforeVersion Version
	BeforeSize    int64
	BeforeMode    fs.FileMode // zero if Created
	Version       Version     // after the write
	// After is the bytes that are in place, where they are not those of the
	// write: an editor formats what it saves. Otherwise it is nil.
	After    []byte
	MadeDirs []string // folders that were made, outermost first
	Notes    []string // for the result, such as "2 other names keep the old text"
}

// Text is the text that a write left, of which sent was to be written.
func (r Receipt) Text(sent text.Doc) text.Doc {
	if r.After == nil {
		return sent
	}
	if d, err := text.ParseOwned(r.After); err == nil {
		return d
	}
	return sent // nothing that is not text comes out of an editor
}
