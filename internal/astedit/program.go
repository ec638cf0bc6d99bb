package astedit

import (
	"fmt"
	"strings"
	"sync"

	"dsh-acp/internal/syntax"
	"dsh-acp/internal/text"
)

// An Op is one rewrite: code that is looked for, and what it becomes.
type Op struct {
	Pat string `json:"pat"`
	Out string `json:"out"`
}

// A Program is a list of ops, which are compiled for each language when it is
// first asked for. It is safe for concurrent use.
type Program struct {
	parser syntax.Parser
	ops    []Op

	mu    sync.Mutex
	rules map[syntax.Lang]compiled // guarded by mu
}

type compiled struct {
	rules []*Rule
	err   error
}

// NewProgram checks ops as far as that needs no language. It fails with an
// *[Error], CodeArgs: no op, an empty pattern, one pattern twice.
func NewProgram(p syntax.Parser, ops []Op) (*Program, error) {
	if len(ops) == 0 {
		return nil, &Error{Code: CodeArgs, Op: -1, Msg: `no ops: give a list of {"pat", "out"}`}
	}
	seen := map[string]int{}
	for i, op := range ops {
		pat := strings.TrimSpace(op.Pat)
		if pat == "" {
			return nil, &Error{Code: CodeArgs, Op: i, Msg: fmt.Sprintf("ops[%d]: pat is empty; give the code to look for", i)}
		}
		if first, ok := seen[pat]; ok {
			return nil, &Error{Code: CodeArgs, Op: i, Msg: fmt.Sprintf("ops[%d]: the same pat as ops[%d]; keep one of them", i, first)}
		}
		seen[pat] = i
	}
	return &Program{parser: p, ops: ops, rules: map[syntax.Lang]compiled{}}, nil
}

// For returns the ops compiled for a language, in order. It fails with an
// *[Error] whose Op says which of them is at fault.
func (p *Program) For(lang syntax.Lang) ([]*Rule, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c, ok := p.rules[lang]; ok {
		return c.rules, c.err
	}
	var c compiled
	for i, op := range p.ops {
		rule, err := NewRule(p.parser, lang, op.Pat, op.Out)
		if err != nil {
			if e, ok := err.(*Error); ok {
				e.Op = i
				if len(p.ops) > 1 {
					e.Msg = fmt.Sprintf("ops[%d]: %s", i, e.Msg)
				}
			}
			c = compiled{err: err}
			break
		}
		c.rules = append(c.rules, rule)
	}
	p.rules[lang] = c
	return c.rules, c.err
}

// A Result is what a program does to one file.
type Result struct {
	Doc     text.Doc
	Changed bool
	Matches int // over all ops, with those whose text stays equal
	Nested  int // matches inside of others, left alone
	// Found counts, for each op, its matches and those that were left as they
	// are with a warning.
	Found    []int
	Warnings []string
}

// Rewrite runs the ops over one file, one behind the other, with a fresh parse
// between. path is for messages. It fails with an *[Error]: CodeFile if the
// file cannot be parsed, or if it would have more places that do not parse than
// before, which force allows; else as [Program.For] does. A file without a
// match is no error: Matches is 0.
func (p *Program) Rewrite(path string, lang syntax.Lang, doc text.Doc, force bool) (Result, error) {
	rules, err := p.For(lang)
	if err != nil {
		return Result{}, err
	}
	r := rewriting{Program: p, path: path, lang: lang, force: force}
	r.out.Doc, r.out.Found = doc, make([]int, len(rules))
	for i, rule := range rules {
		if err := r.run(i, rule); err != nil {
			return Result{}, err
		}
	}
	if err := r.finish(); err != nil {
		return Result{}, err
	}
	return r.out, nil
}

// maxSkips is how many matches of one op and file that were left alone are told
// one by one.
const maxSkips = 20

// A rewriting is one run of a program over one file.
type rewriting struct {
	*Program
	path   string
	lang   syntax.Lang
	force  bool
	out    Result
	before *syntax.Tree // of the file as it was; nil until it was needed
	clean  bool         // whether out.Doc parses; set with before
}

func (r *rewriting) run(op int, rule *Rule) error {
	if !rule.pattern.MayMatch(r.out.Doc.LF()) {
		return nil
	}
	clean, err := r.parser.Revise(r.lang, r.out.Doc.LF(), func(t *syntax.Tree) ([]syntax.Edit, error) {
		if r.before == nil {
			r.before = t
		}
		return r.plan(op, rule, t)
	})
	if err != nil {
		return r.fault(err)
	}
	r.clean = clean
	return nil
}

// fault makes an *Error of what a parser or a document says.
func (r *rewriting) fault(err error) error {
	return &Error{Code: CodeFile, Op: -1, Path: r.path, Msg: err.Error()}
}

// plan makes the edits of one op in out.Doc, and returns them.
func (r *rewriting) plan(op int, rule *Rule, t *syntax.Tree) ([]syntax.Edit, error) {
	plan := rule.Plan(t)
	r.out.Matches += plan.Matches
	r.out.Nested += plan.Nested
	r.out.Found[op] = plan.Matches + len(plan.Skipped)
	for i, s := range plan.Skipped {
		if i == maxSkips {
			r.warn(op, "%d more matches left as they are", len(plan.Skipped)-i)
			break
		}
		r.warn(op, "line %d: match left as it is: %s", s.Line, s.Reason)
	}
	if len(plan.Edits) == 0 {
		return nil, nil
	}
	doc, err := r.out.Doc.ApplyLF(plan.Edits...)
	if err != nil {
		return nil, err
	}
	r.out.Doc, r.out.Changed = doc, true
	edits := make([]syntax.Edit, len(plan.Edits))
	for i, e := range plan.Edits {
		edits[i] = syntax.Edit(e)
	}
	return edits, nil
}

// warn adds a warning; op is -1 for those of the file as a whole.
func (r *rewriting) warn(op int, format string, args ...any) {
	msg := fmt.Sprintf(format, args...)
	if op >= 0 && len(r.ops) > 1 {
		msg = fmt.Sprintf("ops[%d]: %s", op, msg)
	}
	r.out.Warnings = append(r.out.Warnings, msg)
}

// finish compares the file as it is with what it was.
func (r *rewriting) finish() error {
	if r.before == nil {
		return nil
	}
	old := r.before.Faults(0)
	if len(old) > 0 {
		r.warn(-1, "line %d: the file had syntax errors before (%s)", old[0].Line, places(len(old)))
	}
	if !r.out.Changed || r.clean {
		return nil
	}
	after, err := r.parser.Parse(r.lang, r.out.Doc.LF())
	if err != nil {
		return r.fault(err)
	}
	now := after.Faults(0)
	if len(now) <= len(old) {
		return nil
	}
	fresh := firstNew(r.before, old, after, now)
	why := fmt.Sprintf("the result would not parse at its line %d, near %s", fresh.Line, quote(lineOf(after.Source, fresh.Start)))
	if r.force {
		r.warn(-1, "%s; written all the same", why)
		return nil
	}
	return &Error{Code: CodeFile, Op: -1, Path: r.path, Line: fresh.Line,
		Msg: why + "; nothing was written. Mend out, or set force to write it all the same"}
}

func places(n int) string {
	if n == 1 {
		return "1 place"
	}
	return fmt.Sprintf("%d places", n)
}

// firstNew returns the first fault of the new tree that the old one does not
// have: faults are told apart by their text and line.
func firstNew(before *syntax.Tree, old []syntax.Fault, after *syntax.Tree, now []syntax.Fault) syntax.Fault {
	type key struct{ text, line string }
	had := map[key]int{}
	for _, f := range old {
		had[key{before.Source[f.Start:f.End], lineOf(before.Source, f.Start)}]++
	}
	for _, f := range now {
		k := key{after.Source[f.Start:f.End], lineOf(after.Source, f.Start)}
		if had[k]--; had[k] < 0 {
			return f
		}
	}
	return now[0]
}

// lineOf returns the line of src that offset at is on, without its end and
// indentation.
func lineOf(src string, at int) string {
	from := strings.LastIndexByte(src[:at], '\n') + 1
	line, _, _ := strings.Cut(src[from:], "\n")
	return strings.TrimSpace(line)
}
