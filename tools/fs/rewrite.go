package fs

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/astedit"
	"dsh-acp/internal/guard"
	"dsh-acp/internal/hashline"
	"dsh-acp/internal/syntax"
	"dsh-acp/internal/text"
)

const refused = "edit rejected, nothing written: "

// noEngine refuses what needs syntax trees in a program without them.
func noEngine(what string) error {
	return &Error{Code: CodeNoAST, Text: what + ": " + syntax.ErrUnavailable.Error() + "; edit by numbered lines or by exact text, and read with offset and limit"}
}

// A Rewriting is a rewrite by syntax patterns that is worked out for all of its
// files, and not written.
type Rewriting struct {
	box     *Box
	program *astedit.Program
	force   bool
	files   []*rewritten // that change or have something to tell, in order
	notes   []string
	found   []int // by op
	matches int   // that are rewritten
	nested  int   // matches inside of others, left alone
}

// rewritten is one file of a rewriting.
type rewritten struct {
	candidate
	file   fsbackend.File
	before text.Doc
	after  astedit.Result
}

// PlanRewrite works a rewrite out. Paths are files, folders and patterns from
// the root on; see [hashline.ASTCall]. It fails with an *[Error] if a pattern
// or template cannot be right, if no file is found or nothing matches, or if a
// file that parses would not do so any more, and with the error of storage for
// a file that is named and cannot be read or changed.
func (b *Box) PlanRewrite(ctx context.Context, call hashline.ASTCall) (*Rewriting, error) {
	if b.Parser == nil {
		return nil, noEngine(refused + "rewrites by pattern")
	}
	ops := make([]astedit.Op, len(call.Ops))
	for i, op := range call.Ops {
		ops[i] = astedit.Op(op)
	}
	program, err := astedit.NewProgram(b.Parser, ops)
	if err != nil {
		return nil, rewriteError(err)
	}
	chosen, err := b.choose(ctx, call.Paths, call.MaxFiles)
	if err != nil {
		return nil, err
	}
	if len(chosen.files) == 0 {
		return nil, &Error{Code: chosen.code, Text: refused + "there is no file to rewrite: " + strings.Join(chosen.notes, "; ")}
	}
	if err := chosen.compile(program); err != nil {
		return nil, err
	}
	r := &Rewriting{box: b, program: program, force: call.Force, notes: chosen.notes, found: make([]int, len(ops))}
	if err := r.scan(ctx, chosen.files); err != nil {
		return nil, err
	}
	return r, r.judge(call, chosen.files)
}

// scan works out every file, several at once.
func (r *Rewriting) scan(ctx context.Context, files []candidate) error {
	done := make([]*rewritten, len(files))
	errs := make([]error, len(files))
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(files)) {
		all.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(files) && ctx.Err() == nil; i = next.Add(1) - 1 {
				done[i], errs[i] = r.one(ctx, files[i])
			}
		})
	}
	all.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	left := map[string]int{}
	keys := map[fsbackend.Key]bool{}
	broken := 0
	var first error
	for i, f := range done {
		switch err := errs[i]; {
		case codeOf(err) == astedit.CodeFile && (files[i].named || lineOf(err) > 0):
			broken++
			if first == nil {
				first = rewriteError(err)
			}
			continue
		case err != nil && files[i].named:
			return err
		case err != nil:
			left[whyLeft(err)]++
			continue
		case f == nil || keys[f.file.Key]:
			continue // another name of a file that is there already
		}
		keys[f.file.Key] = true
		if f.after.Changed && !f.named {
			if _, ok := guard.Generated(f.abs, head(f.file.Data)); ok {
				left["generated"]++
				continue
			}
		}
		r.take(f)
	}
	if broken > 1 {
		return &Error{Code: astedit.CodeFile, Text: fmt.Sprintf("%v; %s more likewise", first, count(broken-1, "file"))}
	}
	for _, why := range []string{"generated", notText, tooLarge, unreadable} {
		if n := left[why]; n > 0 {
			r.notes = append(r.notes, fmt.Sprintf("%s left out: %s", count(n, "file"), why))
		}
	}
	return first
}

// The reasons why a file that was found, and not named, is left out.
const (
	notText    = "not text"
	tooLarge   = "too large, or too long to parse"
	unreadable = "not open to be read and changed"
)

func whyLeft(err error) string {
	switch code := fsbackend.CodeOf(err); {
	case code == fsbackend.CodeNotText:
		return notText
	case code == fsbackend.CodeTooLarge, codeOf(err) == astedit.CodeFile:
		return tooLarge
	}
	return unreadable
}

func head(data []byte) []byte { return data[:min(len(data), guard.GeneratedHead)] }

// one works out a file; nil if it is gone.
func (r *Rewriting) one(ctx context.Context, c candidate) (*rewritten, error) {
	f, err := r.box.open(ctx, c.abs)
	if err != nil || !f.Exists {
		return nil, err
	}
	d, err := f.Doc()
	if err != nil {
		return nil, err
	}
	after, err := r.program.Rewrite(r.box.Show(c.abs), c.lang, d, r.force)
	return &rewritten{candidate: c, file: f, before: d, after: after}, err
}

// take adds up a file, and keeps it if it is worth a word.
func (r *Rewriting) take(f *rewritten) {
	for i, n := range f.after.Found {
		r.found[i] += n
	}
	r.matches += f.after.Matches
	r.nested += f.after.Nested
	if f.after.Matches > 0 && !f.after.Changed {
		f.after.Warnings = append(f.after.Warnings, fmt.Sprintf("%s, and the text stays as it is", matches(f.after.Matches)))
	}
	if f.after.Changed || len(f.after.Warnings) > 0 && sum(f.after.Found) > 0 {
		r.files = append(r.files, f)
	}
}

// judge tells of ops that match nowhere; it is an error if none does.
func (r *Rewriting) judge(call hashline.ASTCall, files []candidate) error {
	where := count(len(files), "file")
	if len(files) == 1 {
		where = r.box.Show(files[0].abs)
	}
	var none []string
	for i, n := range r.found {
		if n == 0 {
			none = append(none, fmt.Sprintf("%q", call.Ops[i].Pat))
		}
	}
	if len(none) == 0 {
		return nil
	}
	note := fmt.Sprintf("no match for %s in %s", strings.Join(none, ", "), where)
	if len(none) < len(r.found) {
		r.notes = append([]string{note}, r.notes...)
		return nil
	}
	notes := append([]string{note}, r.notes...)
	return &Error{Code: hashline.CodeNoMatch, Text: refused + strings.Join(notes, "; ")}
}

// Paths are the files that change, absolute, in order.
func (r *Rewriting) Paths() []string {
	var out []string
	for _, f := range r.files {
		if f.after.Changed {
			out = append(out, f.abs)
		}
	}
	return out
}

// rewriteError makes an *[Error] of one of the engine of patterns.
func rewriteError(err error) error {
	var e *astedit.Error
	if !errors.As(err, &e) {
		return err
	}
	return &Error{Code: hashline.Code(e.Code), Text: refused + e.Error()}
}

// codeOf is the code of an error of the engine of patterns, else "".
func codeOf(err error) string {
	var e *astedit.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// lineOf is the line that such an error names, else 0.
func lineOf(err error) int {
	var e *astedit.Error
	if errors.As(err, &e) {
		return e.Line
	}
	return 0
}

func sum(list []int) int {
	n := 0
	for _, v := range list {
		n += v
	}
	return n
}

func matches(n int) string {
	if n == 1 {
		return "1 match"
	}
	return fmt.Sprintf("%d matches", n)
}
