package patch

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"dsh-acp/internal/jsonedit"
	"dsh-acp/internal/msg"
	"dsh-acp/internal/text"
)

// Models that were trained on other tools send patch texts. They are not
// carried out: the answer shows the same change in the form of this tool, so
// that the next call is right.

// The formats that [Convert] knows.
const (
	FormatCodex   = "Codex patch"
	FormatUnified = "unified diff"
)

// A Conversion is a patch text written as operations.
type Conversion struct {
	Format string // FormatCodex, FormatUnified, or "": neither
	// Operations is the array for a call, an operation a line; nil if no
	// part of the text could be written so.
	Operations json.RawMessage
	// Problems are the parts that Operations lacks, and why.
	Problems []string
}

// A Lookup returns the text of a file as it is, and whether there is one that
// can be edited. The path is as the patch spells it.
type Lookup func(path string) (doc text.Doc, ok bool)

// Foreign returns the patch text of a call that holds nothing else: its only
// argument, whatever its name, the arguments as one string, or arguments that
// are no JSON at all. In a list the text may stand beside other words, as in a
// command. It is for calls of which no operation could be decoded.
func Foreign(raw json.RawMessage) (patch string, ok bool) {
	v, err := jsonedit.ParseValue(raw, jsonedit.Limits{})
	if err != nil {
		return string(raw), formatOf(string(raw)) != ""
	}
	return patchIn(v)
}

func patchIn(v jsonedit.Value) (patch string, ok bool) {
	if s, is := v.Str(); is {
		return s, formatOf(s) != ""
	}
	if members, is := v.Members(); is && len(members) == 1 {
		return patchIn(members[0].Value)
	}
	elements, _ := v.Elements()
	for _, e := range elements {
		if s, found := patchIn(e); found {
			if ok {
				return "", false // which one is meant?
			}
			patch, ok = s, true
		}
	}
	return patch, ok
}

// formatOf tells the formats apart by their first lines.
func formatOf(s string) string {
	lines := strings.Split(text.Fold(s), "\n")
	for i, l := range lines {
		word, path := codexWord(l)
		_, numbered := hunkHeader(l)
		switch {
		case word == codexBegin, path != "" && word != codexMove:
			return FormatCodex
		case isFileHeader(lines, i, false), numbered, strings.HasPrefix(l, "diff --git "):
			return FormatUnified
		}
	}
	return ""
}

// Convert writes a patch text as operations. With a lookup, places are found
// in the files and named by their lines; a nil lookup leaves the search to the
// call that is made of the result.
func Convert(s string, lookup Lookup) Conversion {
	c := converter{lookup: lookup}
	lines := strings.Split(strings.TrimSuffix(text.Fold(s), "\n"), "\n")
	var sections []section
	out := Conversion{Format: formatOf(s)}
	switch out.Format {
	case FormatCodex:
		sections = c.codex(lines)
	case FormatUnified:
		sections = c.unified(lines)
	default:
		c.problem("this is neither a Codex patch nor a unified diff")
	}
	for _, s := range sections {
		c.section(s)
	}
	if lookup != nil {
		c.tryOut()
	}
	if len(sections) == 0 && len(c.problems) == 0 {
		c.problem("the patch names no file")
	}
	out.Problems = c.problems
	if len(c.ops) > 0 {
		out.Operations = encode(c.ops)
	}
	return out
}

// Message is the answer to a call with a patch text.
func (c Conversion) Message() string {
	var b strings.Builder
	b.WriteString("apply_patch takes operations")
	if c.Format != "" {
		b.WriteString(", not a " + c.Format)
	}
	b.WriteString("; nothing was written.")
	if c.Operations != nil {
		b.WriteString(" The same change as operations:\n{\"operations\": " + string(c.Operations) + "}")
	}
	if len(c.Problems) > 0 {
		if c.Operations != nil {
			b.WriteString("\nNot in them:")
		} else {
			b.WriteString(" It cannot be written as operations:")
		}
		for _, p := range c.Problems {
			b.WriteString("\n- " + p)
		}
	}
	return b.String()
}

// A section is what a patch does to one file.
type section struct {
	kind  sectionKind
	path  string
	hunks []hunk
	// text of a file that is added.
	text string
}

type sectionKind int

const (
	update sectionKind = iota
	add
	dropped // a file that cannot be changed so; it has been told
)

// A hunk is a run of lines that belong together.
type hunk struct {
	number  int      // in its file, from 1
	anchors []string // lines that stand above, in order
	start   int      // the first line before the change; 0: not known
	lines   []hunkLine
	atEnd   bool // the lines are the last of the file
	// The last line before, or after, has no line break.
	oldOpen, newOpen bool
}

type hunkLine struct {
	op   byte // ' ', '-' or '+'
	text string
	bare bool // it had no first character at all
}

func (h hunk) old() (lines []string) {
	for _, l := range h.lines {
		if l.op != '+' {
			lines = append(lines, l.text)
		}
	}
	return lines
}

// A converter collects operations and problems.
type converter struct {
	lookup   Lookup
	ops      []Operation
	problems []string
}

func (c *converter) problem(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

func (c *converter) section(s section) {
	var doc text.Doc
	found := false
	if c.lookup != nil {
		doc, found = c.lookup(s.path)
	}
	switch {
	case s.kind == dropped:
	case s.path == "":
		c.problem("a file of the patch has no path")
	case s.kind == add && found:
		c.problem("%s: the patch adds the file, but it exists; change it with replace_text or replace_range, or write the whole file with another tool", s.path)
	case s.kind == add:
		c.ops = append(c.ops, CreateFile{Path: s.path, Text: s.text, Parents: true})
	case c.lookup != nil && !found:
		c.problem("%s: there is no such text file to change", s.path)
	case len(s.hunks) == 0:
		c.problem("%s: the patch changes no line of it", s.path)
	default:
		cursor := 1
		for _, h := range s.hunks {
			if found {
				cursor = c.located(s.path, doc, h, cursor)
			} else {
				c.unlocated(s.path, h)
			}
		}
	}
}

// lineText writes lines as oldText or text want them: a final break is
// dropped there, so that a last line that is empty needs one more.
func lineText(lines []string) string {
	s := strings.Join(lines, "\n")
	if len(lines) > 0 && lines[len(lines)-1] == "" {
		s += "\n"
	}
	return s
}

// core cuts the context off both ends of a hunk. skipped counts the lines that
// were cut in front.
func (h hunk) core() (lines []hunkLine, skipped int) {
	lines = h.lines
	for len(lines) > 0 && lines[0].op == ' ' {
		lines = lines[1:]
		skipped++
	}
	for len(lines) > 0 && lines[len(lines)-1].op == ' ' {
		lines = lines[:len(lines)-1]
	}
	return lines, skipped
}

// change returns the lines of h without the context around them, before and
// after, and the first of them in the file, where h starts at line start.
// lineAt returns lines as they are in the file.
func (h hunk) change(start int, lineAt func(int) (string, bool)) (before, after []string, from int) {
	core, skipped := h.core()
	from = start + skipped
	at := from
	for _, l := range core {
		s := l.text
		if l.op != '+' {
			if actual, ok := lineAt(at); ok {
				s = actual
			}
			before = append(before, s)
			at++
		}
		if l.op != '-' {
			after = append(after, s)
		}
	}
	return before, after, from
}

// replaceLines adds the change of h, whose first line is line start of the
// file.
func (c *converter) replaceLines(path string, h hunk, start int, lineAt func(int) (string, bool)) {
	before, after, from := h.change(start, lineAt)
	switch empty := len(before)+len(after) == 0; {
	case empty && h.oldOpen != h.newOpen:
		return // the final break is all
	case empty:
		c.problem("%s: hunk %d changes nothing", path, h.number)
		return
	case len(before) > 0 && slices.Equal(before, after) && h.oldOpen != h.newOpen:
		return
	case len(before) > 0:
		c.ops = append(c.ops, ReplaceRange{path, from, from + len(before) - 1, lineText(before), lineText(after)})
		return
	}
	// Lines that only come: they need a neighbour that is there.
	if above, ok := lineAt(from - 1); ok {
		c.ops = append(c.ops, ReplaceRange{path, from - 1, from - 1, lineText([]string{above}), lineText(append([]string{above}, after...))})
		return
	}
	if below, ok := lineAt(from); ok {
		c.ops = append(c.ops, ReplaceRange{path, from, from, lineText([]string{below}), lineText(append(after, below))})
		return
	}
	s := strings.Join(after, "\n")
	if !h.newOpen {
		s += "\n"
	}
	c.ops = append(c.ops, AppendText{path, s})
}

// tryOut plans the operations, and takes those out that cannot be made, so
// that what is shown can be called as it is.
func (c *converter) tryOut() {
	files := map[string]*File{}
	for _, o := range c.ops {
		f := &File{Path: o.Target()}
		if doc, ok := c.lookup(f.Path); ok {
			f.State, f.Doc = Regular, doc
		}
		files[f.Path] = f
	}
	for len(c.ops) > 0 {
		_, errs := Make(Request{Operations: c.ops}, files, Options{Limits: Limits{Operations: len(c.ops), Files: len(c.ops)}})
		if errs == nil {
			return
		}
		if errs[0].Operation < 0 {
			c.ops = nil
			c.problem("%s", errs[0].Why)
			return
		}
		for _, e := range slices.Backward(errs) {
			c.ops = slices.Delete(c.ops, e.Operation, e.Operation+1)
		}
		for _, e := range errs {
			c.problem("%s: %s", e.Path, e.Why)
		}
	}
}

// encode writes operations as the array of a call, an operation a line.
func encode(ops []Operation) json.RawMessage {
	var b strings.Builder
	b.WriteString("[\n")
	for i, o := range ops {
		raw, err := msg.Marshal(fieldsOf(o))
		if err != nil {
			panic("patch: " + err.Error()) // strings and numbers have JSON
		}
		b.WriteString("  ")
		b.Write(raw)
		if i < len(ops)-1 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
	}
	b.WriteString("]")
	return json.RawMessage(b.String())
}

// fieldsOf returns an operation as a call has it. Patches lead to these only.
func fieldsOf(o Operation) any {
	switch o := o.(type) {
	case ReplaceText:
		return struct {
			Op      string `json:"op"`
			Path    string `json:"path"`
			Search  string `json:"search"`
			Replace string `json:"replace"`
		}{o.Name(), o.Path, o.Search, o.Replace}
	case ReplaceRange:
		return struct {
			Op        string `json:"op"`
			Path      string `json:"path"`
			StartLine int    `json:"startLine"`
			EndLine   int    `json:"endLine"`
			OldText   string `json:"oldText"`
			Text      string `json:"text"`
		}{o.Name(), o.Path, o.Start, o.End, o.OldText, o.Text}
	case AppendText:
		return struct {
			Op   string `json:"op"`
			Path string `json:"path"`
			Text string `json:"text"`
		}{o.Name(), o.Path, o.Text}
	case CreateFile:
		return struct {
			Op      string `json:"op"`
			Path    string `json:"path"`
			Text    string `json:"text"`
			Parents bool   `json:"parents"`
		}{o.Name(), o.Path, o.Text, o.Parents}
	}
	panic(fmt.Sprintf("patch: no call form of %T", o))
}
