// Package fs is the file toolbox: read, write, edit and rollback of text files
// whose lines are numbered under a content tag. [Fs] is for programs that
// bring nothing; [Box] is for those that have a backend of their own.
//
// It refuses to overwrite what its session has not seen, to move an edit when
// lines cannot be paired in one way, to change a byte outside of an edit, and
// to reach a file that its policy does not open. A call that is refused has
// changed nothing, and its message says what would work.
package fs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"path/filepath"
	"strings"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/hashline"
	"dsh-acp/internal/syntax"
	"dsh-acp/internal/text"
)

// An Engine is a way to edit that calls may use.
type Engine = hashline.Engine

// The engines: the arguments decide, numbered lines alone, syntax patterns
// alone.
const (
	Auto    = hashline.Auto
	Replace = hashline.ReplaceEngine
	AST     = hashline.ASTEngine
)

// A SeenPolicy says what happens to an edit of lines that were not shown.
type SeenPolicy = hashline.SeenPolicy

// The policies: a warning names the lines, nothing happens, the edit is
// refused and the lines are shown.
const (
	SeenWarn   = hashline.SeenWarn
	SeenOff    = hashline.SeenOff
	SeenReject = hashline.SeenReject
)

// CodeNoAST is the code of a rewrite by patterns in a language without a
// grammar, or in a program without syntax trees.
const CodeNoAST = "AST_UNSUPPORTED"

// Config says what a [Box] works on.
type Config struct {
	// Root is where relative paths start, and from which paths are shown;
	// absolute and clean. "" only with Resolve.
	Root string
	// Files is where files are. Required. Rollback needs a
	// *fsbackend.Journaled; what the files may be is its business.
	Files fsbackend.Backend
	// Seen is what the session knows of its files; nil starts with nothing.
	Seen *fsbackend.Seen
	// Resolve makes the absolute, clean form of a path as a caller wrote it;
	// nil takes relative ones from Root, by their letters.
	Resolve func(ctx context.Context, path string) (string, error)
	// OverwriteUnread lets Write replace a file that the session has not seen.
	OverwriteUnread bool
	Engine          Engine
	SeenLines       SeenPolicy
	// NoRepair leaves slips that a grammar proves as they are, with a warning.
	NoRepair bool
	// Parser makes syntax trees, for blocks, symbols, repairs and rewrites by
	// patterns; nil means that there are none.
	Parser syntax.Parser
	// MaxLines and MaxBytes bound what one Read shows of a file; 0 means 2000
	// and 256 KiB.
	MaxLines, MaxBytes int
}

// A Box is the toolbox over a backend, for one session. It is safe for
// concurrent use; changes of one file take turns if the backend has turns.
type Box struct {
	Config
	store store
}

// NewBox makes a toolbox. It fails if something required is missing.
func NewBox(c Config) (*Box, error) {
	if c.Files == nil {
		return nil, errors.New("fs: Config.Files is nil")
	}
	if c.Resolve == nil && !filepath.IsAbs(c.Root) {
		return nil, fmt.Errorf("fs: the root %q is not absolute", c.Root)
	}
	if c.Seen == nil {
		c.Seen = &fsbackend.Seen{}
	}
	c.MaxLines, c.MaxBytes = cmp.Or(c.MaxLines, 2000), cmp.Or(c.MaxBytes, 256<<10)
	return &Box{Config: c}, nil
}

// Abs is the absolute, clean form of a path as a caller wrote it.
func (b *Box) Abs(ctx context.Context, path string) (string, error) {
	if fault := PathFault(path); fault != "" {
		return "", &Error{Code: hashline.CodeArgs, Text: "path " + fault}
	}
	switch {
	case b.Resolve != nil:
		return b.Resolve(ctx, path)
	case filepath.IsAbs(path):
		return filepath.Clean(path), nil
	}
	return filepath.Join(b.Root, path), nil
}

// PathFault says what is wrong with a path by its letters alone, "" if nothing.
func PathFault(path string) string {
	if strings.TrimSpace(path) == "" {
		return "is empty: name a file"
	}
	if i := strings.IndexByte(path, 0); i >= 0 {
		return fmt.Sprintf("holds a NUL character at byte %d: no file has such a name", i)
	}
	if strings.HasPrefix(strings.ToLower(path), "file://") {
		// Links in prompts are written so; as a path it would name a folder "file:".
		return fmt.Sprintf("%q is a URL: give the path itself, without file://", path)
	}
	return ""
}

// Show is how results name a file: from the root on, with slashes, or
// absolute outside of it.
func (b *Box) Show(abs string) string {
	rel, err := filepath.Rel(b.Root, abs)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return abs
	}
	return filepath.ToSlash(rel)
}

// An Error is a refusal by the toolbox itself. Those of the edit engine are
// *hashline.Error, those of storage *fs.PathError around *fsbackend.Error.
type Error struct {
	Code hashline.Code
	Text string // what was found, where, and what would work
}

// Error is the text.
func (e *Error) Error() string { return e.Text }

// CodeOf is the stable code of an error that this package returned, "" if it
// has none. That of a batch is the code of the target that failed.
func CodeOf(err error) string {
	var own *Error
	var engine *hashline.Error
	switch {
	case errors.As(err, &engine):
		return string(engine.Code)
	case errors.As(err, &own):
		return string(own.Code)
	}
	return fsbackend.CodeOf(err)
}

// about words an error about a file for a result. A denial says first that it
// is one.
func (b *Box) about(path string, err error) string {
	var p *iofs.PathError
	if !errors.As(err, &p) {
		return err.Error()
	}
	switch fsbackend.CodeOf(err) {
	case fsbackend.CodeDenied, fsbackend.CodeGuardAmbiguous:
		return p.Err.Error()
	}
	return path + ": " + p.Err.Error()
}

// open reads a file that is to be changed: asked about first, so that a denial
// tells nothing of the file.
func (b *Box) open(ctx context.Context, abs string) (f fsbackend.File, err error) {
	if g, ok := b.Files.(fsbackend.Guard); ok {
		if err := g.MayWrite(ctx, abs); err != nil {
			return f, err
		}
	}
	info, err := b.Files.Stat(ctx, abs)
	if err != nil || !info.Exists {
		return fsbackend.File{Info: info}, err
	}
	// Before the file is read, since what is read is kept too, and would then
	// pass for a text that the session had been shown.
	b.recall(info.Key)
	return fsbackend.ReadForChange(ctx, b.Files, abs)
}

// recall makes the tags known that an earlier process of the session gave for
// a file, from what is kept for rollback.
func (b *Box) recall(key fsbackend.Key) {
	kept, ok := b.Files.(*fsbackend.Journaled)
	if !ok {
		return
	}
	b.store.recall(key, func() (docs []text.Doc) {
		size := int64(0)
		for _, v := range kept.Journal().Kept(key) {
			if size += v.Size; v.Tag == "" || size > recallBytes {
				continue
			}
			data, err := kept.Journal().Content(key, v.Digest)
			if err != nil {
				continue // it is lost, and its tag is not known then
			}
			if d, err := text.ParseOwned(data); err == nil {
				docs = append(docs, d)
			}
		}
		return docs
	})
}
