package hashline

import (
	"fmt"
	"slices"
	"strings"

	"dsh-acp/internal/text"
)

// A Request is one edit of one file.
type Request struct {
	Path     string   // as it is shown to the model; for messages alone
	Live     text.Doc // the file as it is
	Versions Versions // of this file; nil if there are none
	// Tag is the file_hash that was given. It may be "" with a
	// [Substitution], which then means the file as it is: the match is the
	// proof.
	Tag      string
	Change   Change
	Seen     SeenPolicy
	Blocks   BlockResolver // nil: no block is found
	Syntax   Syntax        // nil: nothing is known of the language
	NoRepair bool          // slips that Syntax proves are told, not put right
}

// A Change is what is to be done: [Script] or [Substitution].
type Change interface{ change() }

// A Script is ops as text.
type Script struct {
	Ops string
	// FirstLine is the number of the first line of Ops, for messages; 0
	// means 1.
	FirstLine int
}

// A Substitution replaces the text Old, which must occur once unless All is
// set, by New.
type Substitution struct {
	Old, New string
	All      bool
}

func (Script) change()       {}
func (Substitution) change() {}

// A SeenPolicy says what happens when an edit names lines that were not shown
// under the tag.
type SeenPolicy uint8

// The policies.
const (
	SeenWarn   SeenPolicy = iota // a warning names them
	SeenOff                      // nothing
	SeenReject                   // CodeUnseen; the message shows them, and the caller notes them as seen
)

// A BlockResolver finds the syntactic block that begins on a line.
type BlockResolver interface {
	// Block fails if none begins there; the error says why in a few words.
	Block(d text.Doc, line int) (Block, error)
}

// A Block is the lines of a syntactic block.
type Block struct {
	First, Last int
	Notes       []string // such as that a comment above is not part of it
}

// Syntax tells whether texts in the language of the file parse.
type Syntax interface {
	// Fault returns the first line, from 1, at which an LF text does not parse;
	// 0 if all of it does.
	Fault(lf string) int
}

// A Result is an edit that can be made. Nothing was written yet.
type Result struct {
	Doc     text.Doc    // the whole new text
	Edits   []text.Edit // of Live.LF(); Doc is Live.ApplyLF(Edits...)
	Changed bool        // false: the edit leaves every byte as it was
	ID      ID          // of Doc
	Tag     Tag         // to show for Doc
	// FirstChangedLine is the first line of Doc that differs from the file
	// before; the line after the last if lines were removed at the end; 0 if
	// nothing changed.
	FirstChangedLine int
	Moves            []Move // how unchanged lines of the tagged text are numbered now, where that differs
	// Seen are the lines of Doc that the model knows: those it had seen and
	// those it wrote. nil if nobody took note of what it had seen.
	Seen     Ranges
	Warnings []string
}

// A Move says that the lines of Lines, of the tagged text, stand By lines
// further down now, or up if By is negative.
type Move struct {
	Lines Range `json:"lines"`
	By    int   `json:"by"`
}

// String says it with old and new numbers.
func (m Move) String() string {
	now := Range{m.Lines.First + m.By, m.Lines.Last + m.By}
	is := "are"
	if m.Lines.First == m.Lines.Last {
		is = "is"
	}
	return fmt.Sprintf("%s %s now %s", Ranges{m.Lines}.noun(), is, Ranges{now}.String())
}

// Apply works out an edit. It fails with an [*Error], and there is no partial
// result then. It is safe for concurrent use as far as the parts of r are.
func Apply(r Request) (Result, error) {
	res, err := apply(r)
	if e, ok := err.(*Error); ok {
		named := *e
		named.Path = r.Path
		return Result{}, &named
	}
	return res, err
}

// A basis is the text that the numbers of a request mean.
type basis struct {
	tagged  text.Doc
	tag     Tag
	seen    Ranges // nil: unknown
	fresh   bool   // tagged is the file as it is, but for blanks at line ends
	liveID  ID
	liveTag Tag
	history string // how the tagged text stands to what was recorded
}

func apply(r Request) (Result, error) {
	var hunks []Hunk
	var warnings []string
	script, isScript := r.Change.(Script)
	if !isScript {
		s, ok := r.Change.(Substitution)
		if !ok {
			panic(fmt.Sprintf("hashline: no way to make change %T", r.Change))
		}
		if i := strings.IndexByte(s.New, 0); i >= 0 {
			return Result{}, refuse(CodeArgs, "new_string holds a NUL character in its line %d, which no text file has: leave it out", 1+strings.Count(s.New[:i], "\n"))
		}
	} else if i := strings.IndexByte(script.Ops, 0); i >= 0 {
		line := max(script.FirstLine, 1) + strings.Count(script.Ops[:i], "\n")
		return Result{}, inOps(CodeParse, line, "the line holds a NUL character, which no text file has: leave it out")
	}
	var tag Tag
	if isScript || r.Tag != "" {
		var err error
		if tag, err = ParseTag(r.Tag); err != nil {
			return Result{}, err
		}
	}
	if isScript {
		ops, err := Parse(script.Ops, script.FirstLine)
		if err != nil {
			return Result{}, err
		}
		hunks, warnings = ops.Hunks, ops.Warnings
	}
	b, err := ground(r, tag, hunks)
	if err != nil {
		return Result{}, err
	}
	var changes []change
	if isScript {
		if err := checkNumbers(hunks, b.tagged); err != nil {
			return Result{}, err
		}
		var notes []string
		if hunks, notes, err = resolveBlocks(hunks, b.tagged, r.Blocks); err != nil {
			return Result{}, err
		}
		warnings = append(warnings, notes...)
		changes = changesOf(hunks, b.tagged.Lines())
		if err := checkOverlap(changes, b.tagged); err != nil {
			return Result{}, err
		}
		note, err := checkSeen(changes, b, r.Seen)
		if err != nil {
			return Result{}, err
		}
		warnings = append(warnings, note...)
		changes, note = review(changes, b.tagged, r)
		warnings = append(warnings, note...)
	} else {
		var notes []string
		if changes, notes, err = substitute(b.tagged, r.Change.(Substitution)); err != nil {
			return Result{}, err
		}
		warnings = append(warnings, notes...)
	}
	placed, note, err := carry(r, b, changes)
	if err != nil {
		return Result{}, err
	}
	return finish(r, b, placed, append(warnings, note...))
}

// ground finds the text that the tag names.
func ground(r Request, tag Tag, hunks []Hunk) (basis, error) {
	b := basis{tagged: r.Live, tag: tag, fresh: true, liveID: Identify(r.Live)}
	b.liveTag = NameFor(b.liveID, r.Versions)
	var newest Version
	hasNewest := false
	if r.Versions != nil {
		newest, hasNewest = r.Versions.Newest()
	}
	if tag == (Tag{}) {
		if hasNewest && newest.ID != b.liveID {
			b.history = "the file had changed since this session saw it last; the text to be replaced was there all the same"
		}
		return b, nil
	}
	v, known, clash := named(tag, r.Versions)
	switch {
	case clash:
		return basis{}, stale(ReasonCollision, fmt.Sprintf("tag #%s names several versions of this file", tag), tag, r.Live, b.liveTag, []int{1})
	case !known && tag.Names(b.liveID):
		return b, nil
	case !known:
		return basis{}, unknownTag(tag, r.Live, b.liveTag, hunks)
	}
	b.seen = v.Seen
	if v.ID == b.liveID {
		return b, nil
	}
	b.tagged, b.fresh = v.Text, false
	b.history = "over an earlier edit of this session"
	if newest.ID == v.ID {
		b.history = "over an external change"
	}
	return b, nil
}

// carry gives changes the line numbers of the file as it is.
func carry(r Request, b basis, changes []change) (placed []change, notes []string, err error) {
	if b.fresh {
		if b.history != "" {
			notes = []string{b.history}
		}
		return changes, notes, nil
	}
	if !slices.ContainsFunc(changes, func(c change) bool { return c.edge == middle }) {
		n := r.Live.Lines()
		placed = slices.Clone(changes)
		for i, c := range placed {
			if c.edge == tail {
				placed[i].first, placed[i].last = n+1, n
			}
		}
		return placed, []string{fmt.Sprintf("the file had changed since #%s; the text was put at its head or tail as it is now", b.tag)}, nil
	}
	placed, failed, err := move(b.tagged, r.Live, changes)
	if err != nil {
		return nil, nil, err
	}
	if failed != nil {
		return nil, nil, unmoved(b.tagged, r.Live, b.tag, b.liveTag, changes, failed)
	}
	return placed, []string{fmt.Sprintf("the file had changed since #%s; the edit was merged %s", b.tag, b.history)}, nil
}

// finish makes the edits and describes what came of them.
func finish(r Request, b basis, placed []change, warnings []string) (Result, error) {
	res := Result{Edits: edits(r.Live, placed), Warnings: warnings}
	doc, err := r.Live.ApplyLF(res.Edits...)
	if err != nil {
		return Result{}, fmt.Errorf("hashline: %s: %w", r.Path, err)
	}
	res.Doc = doc
	res.Changed = doc.Raw() != r.Live.Raw()
	if !res.Changed {
		res.ID, res.Tag, res.Edits = b.liveID, b.liveTag, nil
		res.Warnings = append(res.Warnings, "the edit leaves the file as it is; nothing was written")
	} else {
		res.ID = Identify(doc)
		res.Tag = NameFor(res.ID, r.Versions)
		if r.Syntax != nil {
			if note := broken(r.Syntax, r.Live, doc); note != "" {
				res.Warnings = append(res.Warnings, note)
			}
		}
	}
	mine := text.CompareLines(r.Live.LF(), doc.LF())
	if len(mine.Changes) > 0 {
		res.FirstChangedLine = mine.Changes[0].New
	} else if res.Changed {
		res.FirstChangedLine = 1 // nothing but line ends or the mark
	}
	all := mine
	if !b.fresh {
		all = text.CompareLines(b.tagged.LF(), doc.LF())
	}
	res.Moves = moves(all)
	if b.seen != nil {
		seen := b.seen
		if !b.fresh {
			seen = through(seen, text.CompareLines(b.tagged.LF(), r.Live.LF()))
		}
		res.Seen = through(seen, mine)
		for _, c := range mine.Changes {
			res.Seen = res.Seen.Add(c.New, c.NewEnd-1)
		}
	}
	return res, nil
}

// moves lists the unchanged stretches whose numbers differ.
func moves(d *text.LineDiff) []Move {
	var out []Move
	for i, c := range d.Changes {
		last := d.OldLines()
		if i+1 < len(d.Changes) {
			last = d.Changes[i+1].Old - 1
		}
		if by := c.NewEnd - c.OldEnd; by != 0 && c.OldEnd <= last {
			out = append(out, Move{Range{c.OldEnd, last}, by})
		}
	}
	return out
}

// through gives a set of lines the numbers that they have in the text after.
func through(seen Ranges, d *text.LineDiff) Ranges {
	out := Ranges{}
	add := func(first, last, by int) {
		for _, r := range seen {
			if r.Last >= first && r.First <= last {
				out = out.Add(max(r.First, first)+by, min(r.Last, last)+by)
			}
		}
	}
	at, by := 1, 0
	for _, c := range d.Changes {
		add(at, c.Old-1, by)
		at, by = c.OldEnd, c.NewEnd-c.OldEnd
	}
	add(at, d.OldLines(), by)
	return out
}
