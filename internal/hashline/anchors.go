package hashline

import (
	"fmt"

	"dsh-acp/internal/text"
)

// resolveBlocks gives hunks that name a block the lines of it, in a copy.
func resolveBlocks(hunks []Hunk, d text.Doc, r BlockResolver) (out []Hunk, notes []string, err error) {
	out = append(out, hunks...)
	for i, h := range out {
		if !h.Block {
			continue
		}
		why := "there is no grammar for this file"
		var b Block
		if r != nil {
			b, err = r.Block(d, h.First)
			if err == nil && (b.First < 1 || b.Last < b.First || b.Last > d.Lines()) {
				panic(fmt.Sprintf("hashline: block of lines %d to %d in a text of %d", b.First, b.Last, d.Lines()))
			}
			if err != nil {
				why = err.Error()
			}
		}
		if r == nil || err != nil {
			e := inOps(CodeBlockUnresolved, h.Line, "no block was found that begins on line %d: %s; name the lines with a range, such as %d..%d", h.First, why, h.First, min(h.First+1, d.Lines()))
			e.Details.Lines = Ranges{{h.First, h.First}}
			return nil, nil, withContext(e, d, []int{h.First})
		}
		if b.First == b.Last {
			notes = append(notes, fmt.Sprintf("ops line %d: the block that begins on line %d is that one line", h.Line, h.First))
		}
		notes = append(notes, b.Notes...)
		out[i].First, out[i].Last = b.First, b.Last
	}
	return out, notes, nil
}

// checkSeen holds the lines that changes name against those that were shown.
func checkSeen(changes []change, b basis, policy SeenPolicy) (notes []string, err error) {
	if b.seen == nil || policy == SeenOff {
		return nil, nil
	}
	var unseen Ranges
	for _, c := range changes {
		first, last := c.first, c.last
		switch {
		case c.edge != middle:
			continue
		case c.kind == InsertBefore:
			last = first
		case c.kind == InsertAfter:
			first = last
		}
		for _, r := range b.seen.Missing(first, last) {
			unseen = unseen.Add(r.First, r.Last)
		}
	}
	if unseen == nil {
		return nil, nil
	}
	if policy == SeenWarn {
		return []string{fmt.Sprintf("%s of #%s had not been shown; check the result", unseen.noun(), b.tag)}, nil
	}
	var anchors []int
	lines := 0
	for _, r := range unseen {
		anchors = append(anchors, between(r.First, r.Last, maxUnseen)...)
		lines += r.Last - r.First + 1
	}
	how := "they are below, and the same edit works now if it is still right"
	if lines > maxUnseen {
		how = fmt.Sprintf("the first %d are below: read the others before you change them", maxUnseen)
	}
	e := refuse(CodeUnseen, "%s of #%s had not been shown; %s", unseen.noun(), b.tag, how)
	e.Details.Lines = unseen
	// The whole of what is missing, not a few lines of it: a second refusal
	// would teach nothing.
	e.Context, e.Details.ShownTagged = contextOf(b.tagged, anchors, maxUnseen)
	return nil, e
}

// maxUnseen is how many lines a CodeUnseen shows.
const maxUnseen = 200
