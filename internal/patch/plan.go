package patch

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dsh-acp/internal/jsonedit"
	"dsh-acp/internal/text"
)

// Options of [Make]. The zero Options are the defaults.
type Options struct {
	Limits Limits
	// AdjacentJSON lets JSON operations on neighbours go together, where the
	// bytes that they change are apart.
	AdjacentJSON bool
}

// A Plan is what a call does if all is well.
type Plan struct {
	DryRun bool
	Files  []FileChange // in order of first mention
	// Dirs are the directories to make, outermost first, named as
	// File.NoParents are.
	Dirs []string
}

// A FileChange is what a call does to one file.
type FileChange struct {
	File    *File
	Created bool
	After   text.Doc
	// Spans counts the changed places; Added and Removed count lines.
	Spans, Added, Removed int
	Notes                 []string // in the order of their operations
	Fuzzy                 []FuzzyHit
	Operations            []int // that name the file, in order
}

// Changed reports whether there is anything to write.
func (c FileChange) Changed() bool { return c.Created || c.After.Raw() != c.File.Doc.Raw() }

// A FuzzyHit is a place that was found with a tolerance.
type FuzzyHit struct {
	Operation int  `json:"operation"`
	Mode      Mode `json:"mode"`
	Line      int  `json:"line"`
}

// A planner holds the state of one Make.
type planner struct {
	ops      []Operation
	limits   Limits
	adjacent bool
	files    []*file
	errs     Errors
}

// A file is a File with what the operations want of it.
type file struct {
	*File
	ops     []int
	create  *CreateFile
	spans   []span
	json    *jsonedit.Document // parsed for the first JSON operation
	changes []jsonChange       // those with effect
	places  int
	notes   []string
	fuzzy   []FuzzyHit
	broken  bool // it was reported that the file cannot be used
}

// note adds a note once.
func (f *file) note(s string) {
	if !slices.Contains(f.notes, s) {
		f.notes = append(f.notes, s)
	}
}

// Make plans a request. files has an entry for the target of every operation,
// as the call spells it; one file has one *File under all its spellings. On
// errors there is no plan, and up to MaxErrors are returned, in the order of
// their operations, one an operation.
func Make(req Request, files map[string]*File, opts Options) (*Plan, Errors) {
	p := &planner{ops: req.Operations, limits: opts.Limits.withDefaults(), adjacent: opts.AdjacentJSON}
	p.errs = slices.Clone(req.faults)
	p.group(files)
	if len(p.files) > p.limits.Files {
		return nil, Errors{NewError(CodeLimitExceeded, "operations: name %d files, the limit is %d; split the batch", len(p.files), p.limits.Files)}
	}
	for _, f := range p.files {
		if !p.usable(f) {
			continue
		}
		for _, i := range f.ops {
			if e := p.operation(i, f); e != nil {
				p.errs = append(p.errs, e)
			}
		}
		p.overlaps(f)
	}
	if len(p.errs) == 0 {
		p.newBytes()
	}
	plan := &Plan{DryRun: req.DryRun}
	for _, f := range p.files {
		if len(p.errs) > 0 {
			break
		}
		p.build(plan, f)
	}
	if len(p.errs) == 0 && !slices.ContainsFunc(plan.Files, FileChange.Changed) {
		p.errs = Errors{NewError(CodeNoChange, "every file already is as the operations would make it; nothing is left to do")}
	}
	if len(p.errs) > 0 {
		return nil, p.sorted()
	}
	return plan, nil
}

// sorted returns the first error of each operation, in their order.
func (p *planner) sorted() Errors {
	slices.SortStableFunc(p.errs, func(a, b *Error) int { return cmp.Compare(a.Operation, b.Operation) })
	p.errs = slices.CompactFunc(p.errs, func(a, b *Error) bool { return a.Operation == b.Operation })
	return p.errs[:min(len(p.errs), MaxErrors)]
}

// group collects the operations of each file.
func (p *planner) group(files map[string]*File) {
	byFile := map[*File]*file{}
	for i, o := range p.ops {
		if o == nil {
			continue // reported by the decoder
		}
		known, ok := files[o.Target()]
		if !ok {
			panic(fmt.Sprintf("patch: no file for %q", o.Target()))
		}
		f := byFile[known]
		if f == nil {
			f = &file{File: known}
			byFile[known] = f
			p.files = append(p.files, f)
		}
		f.ops = append(f.ops, i)
		if c, ok := o.(CreateFile); ok && f.create == nil {
			f.create = &c
		}
	}
}

// usable checks what concerns a file as a whole; it reports for the file's
// first operation, since the others fail for the same reason.
func (p *planner) usable(f *file) bool {
	i := f.ops[0]
	bad := func(code, format string, args ...any) bool {
		p.errs = append(p.errs, located(i, p.ops[i], f.Path, code, format, args...))
		return false
	}
	exists := f.State != Missing
	switch {
	case f.create != nil && len(f.ops) > 1:
		i = f.ops[1]
		return bad(CodePathConflict, "operation %d is on the same file, and create_file goes with no other: put the whole text into it", f.ops[0])
	case f.Fault != nil && (f.create == nil || !exists || f.Fault.Code == CodePathDenied):
		ok := bad(f.Fault.Code, "%s", f.Fault.Why)
		p.errs[len(p.errs)-1].Details = f.Fault.Details
		return ok
	case f.create != nil && exists:
		why := "it exists, and create_file never overwrites; change it with replace_text, or write the whole file with another tool"
		same := f.State == Regular && f.Fault == nil && f.Doc.Raw() == f.create.Text
		if same {
			why = "it exists with exactly this text: probably this was already applied; leave the operation out"
		}
		bad(CodeAlreadyExists, "%s", why)
		p.errs[len(p.errs)-1].Details.AlreadyApplied = same
		return false
	case f.create != nil:
		return p.creatable(f, bad)
	case !exists:
		return bad(CodeNotFound, "there is no such file; check the path, or use create_file")
	case f.State == Other:
		return bad(CodeNotRegular, "it is no regular file")
	case len(f.Doc.Raw()) > p.limits.FileSize:
		return bad(CodeLimitExceeded, "the file has %d bytes, the limit is %d", len(f.Doc.Raw()), p.limits.FileSize)
	}
	return true
}

func (p *planner) creatable(f *file, bad func(code, format string, args ...any) bool) bool {
	if len(f.NoParents) > 0 && !f.create.Parents {
		return bad(CodeParentMissing, "the directory %s is missing; set parents to true to make it", f.NoParents[len(f.NoParents)-1])
	}
	for _, o := range p.files {
		if o != f && o.create != nil && strings.HasPrefix(f.Path, o.Path+"/") {
			return bad(CodePathConflict, "operation %d makes %s a file, so nothing can be below it", o.ops[0], o.Path)
		}
	}
	return true
}

// operation plans one operation on a file that can be used.
func (p *planner) operation(i int, f *file) *Error {
	spans := len(f.spans)
	var e *Error
	switch o := p.ops[i].(type) {
	case ReplaceText:
		e = p.replaceText(i, o, f)
	case ReplaceRange:
		e = p.replaceRange(i, o, f)
	case ReplaceAnchored:
		e = p.replaceAnchored(i, o, f)
	case AppendText:
		p.appendText(i, o, f)
	case SetJSON:
		return p.json(i, f, func(d *jsonedit.Document) (jsonedit.Change, error) { return d.Set(o.Pointer, o.Value) })
	case InsertJSON:
		return p.json(i, f, func(d *jsonedit.Document) (jsonedit.Change, error) { return d.Insert(o.Pointer, o.Index, o.Value) })
	case CreateFile:
		f.places++
		return nil
	default:
		panic(fmt.Sprintf("patch: no plan for %T", o))
	}
	f.places += len(f.spans) - spans
	idle := e == nil
	for _, s := range f.spans[spans:] {
		idle = idle && f.Doc.Text()[s.start:s.end] == s.text
	}
	if idle {
		f.note(fmt.Sprintf("no change: operation %d", i))
	}
	return e
}

func (p *planner) appendText(i int, o AppendText, f *file) {
	doc := f.Doc
	s := text.WithEnding(text.Fold(o.Text), doc.Ending())
	if doc.Text() != "" && !doc.Shape().FinalNewline && !strings.HasPrefix(s, "\n") && !strings.HasPrefix(s, "\r\n") {
		f.note("the last line had no line break, so the appended text continues it")
	}
	end := len(doc.Text())
	f.spans = append(f.spans, span{op: i, start: end, end: end, text: s})
}

// json plans a JSON operation. A document that does not parse is reported
// once.
func (p *planner) json(i int, f *file, change func(*jsonedit.Document) (jsonedit.Change, error)) *Error {
	if f.json == nil {
		if f.broken {
			return nil
		}
		d, err := jsonedit.Parse(f.Doc, p.limits.json())
		if err != nil {
			f.broken = true
			return fromJSON(i, p.ops[i], f.Path, err)
		}
		f.json = d
	}
	c, err := change(f.json)
	if err != nil {
		return fromJSON(i, p.ops[i], f.Path, err)
	}
	if len(c.Edits) == 0 {
		f.note(fmt.Sprintf("no change: operation %d", i))
		return nil
	}
	f.places++
	f.changes = append(f.changes, jsonChange{i, c})
	for _, e := range c.Edits {
		f.spans = append(f.spans, span{op: i, start: e.Start, end: e.End, text: e.New, json: true})
	}
	if c.Lost > 0 {
		f.note(fmt.Sprintf("%s inside of what operation %d replaced went with it", plural(c.Lost, "comment"), i))
	}
	return nil
}

// newBytes holds the call to its limit before any new text is made.
func (p *planner) newBytes() {
	n := 0
	for _, f := range p.files {
		if f.create != nil {
			n += len(f.create.Text)
		}
		for _, s := range f.spans {
			n += len(s.text)
		}
	}
	if n > p.limits.NewBytes {
		p.errs = append(p.errs, NewError(CodeLimitExceeded, "operations: bring %d new bytes, the limit is %d; split the batch", n, p.limits.NewBytes))
	}
}

// build makes the new text of a file and adds it to the plan.
func (p *planner) build(plan *Plan, f *file) {
	c := FileChange{File: f.File, Spans: f.places, Notes: f.notes, Fuzzy: f.fuzzy, Operations: f.ops}
	if f.create != nil {
		doc, err := text.ParseString(f.create.Text)
		if err != nil {
			panic("patch: " + err.Error()) // the decoder checked it
		}
		c.Created, c.After = true, doc
		c.Added = doc.Lines()
		for _, dir := range f.NoParents {
			if !slices.Contains(plan.Dirs, dir) {
				plan.Dirs = append(plan.Dirs, dir)
				c.Notes = append(c.Notes, "created directory "+dir)
			}
		}
		plan.Files = append(plan.Files, c)
		return
	}
	c.After = p.spliced(f, f.spans)
	if len(f.changes) > 0 {
		if e := p.checkJSON(f, c.After); e != nil {
			p.errs = append(p.errs, e)
			return
		}
	}
	if c.Changed() {
		c.Added, c.Removed = lineCounts(f.Doc, c.After, f.spans)
	}
	plan.Files = append(plan.Files, c)
}

func (p *planner) spliced(f *file, spans []span) text.Doc {
	bom := f.Doc.Raw()[:len(f.Doc.Raw())-len(f.Doc.Text())]
	doc, err := text.ParseString(bom + splice(f.Doc.Text(), spans))
	if err != nil {
		panic("patch: " + err.Error()) // of text, parts of text make text
	}
	return doc
}

// checkJSON reads the new text of a file with JSON operations. Where there are
// text operations too, the JSON ones are compared without them, and the whole
// must parse.
func (p *planner) checkJSON(f *file, after text.Doc) *Error {
	first := f.changes[0].op
	changes := make([]jsonedit.Change, len(f.changes))
	for k, c := range f.changes {
		changes[k] = c.Change
	}
	alone := after
	mixed := slices.ContainsFunc(f.spans, func(s span) bool { return !s.json })
	if mixed {
		alone = p.spliced(f, slices.DeleteFunc(slices.Clone(f.spans), func(s span) bool { return !s.json }))
	}
	if err := f.json.Check(alone, changes...); err != nil {
		return fromJSON(first, p.ops[first], f.Path, err)
	}
	if !mixed {
		return nil
	}
	if _, err := jsonedit.Parse(after, p.limits.json()); err != nil {
		e := fromJSON(first, p.ops[first], f.Path, err)
		e.Code = CodeJSONResultInvalid
		e.Why = "with the text operations on this file the result would not parse: " + e.Why
		return e
	}
	return nil
}
