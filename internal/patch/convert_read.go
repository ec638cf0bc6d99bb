package patch

import (
	"strconv"
	"strings"
)

// The words of a Codex patch, behind three stars.
const (
	codexBegin  = "Begin Patch"
	codexEnd    = "End Patch"
	codexAdd    = "Add File:"
	codexDelete = "Delete File:"
	codexUpdate = "Update File:"
	codexMove   = "Move to:"
	codexEOF    = "End of File"
)

// codexWord returns which word a line starts with, and what follows it. The
// blank behind the stars may lack.
func codexWord(l string) (word, rest string) {
	l, ok := strings.CutPrefix(l, "***")
	if !ok {
		return "", ""
	}
	l = strings.TrimSpace(l)
	for _, w := range []string{codexBegin, codexEnd, codexEOF} {
		if l == w {
			return w, ""
		}
	}
	for _, w := range []string{codexAdd, codexDelete, codexUpdate, codexMove} {
		if rest, ok := strings.CutPrefix(l, w); ok {
			return w, strings.TrimSpace(rest)
		}
	}
	return "", ""
}

// codex reads the sections of a Codex patch. What has no form as operations,
// and lines that belong nowhere, become problems. Where the patch lacks its
// first line, it starts with its first file.
func (c *converter) codex(lines []string) []section {
	var out []section
	var cur *section
	open := func(s section) {
		out = append(out, s)
		cur = &out[len(out)-1]
	}
	inside, begun := false, false
	for i, l := range lines {
		word, path := codexWord(l)
		if inside = inside || word != ""; !inside {
			continue
		}
		switch {
		case word == codexEnd:
			inside, begun, cur = false, false, nil // another patch may follow
		case word == codexBegin:
			begun = true
		case word == codexAdd:
			open(section{kind: add, path: path})
		case word == codexDelete:
			c.problem("%s: apply_patch deletes no files; delete it with another tool", path)
			cur = nil
		case word == codexUpdate:
			open(section{path: path})
		case word == codexMove:
			c.problem("%s: apply_patch renames no files; rename it with another tool", path)
		case cur == nil:
			if strings.TrimSpace(l) != "" {
				c.problem("line %d of the patch belongs to no file: %s", i+1, clip(l))
			}
		case cur.kind == add:
			if s, ok := strings.CutPrefix(l, "+"); ok {
				cur.text += s + "\n"
			} else if strings.TrimSpace(l) != "" {
				c.problem("%s: line %d of the patch lacks its +: %s", cur.path, i+1, clip(l))
			}
		default:
			c.codexLine(cur, l, i)
		}
	}
	if begun {
		c.problem(`the patch has no "*** %s"; it may be cut off`, codexEnd)
	}
	return clean(out)
}

// codexLine reads a line of an update.
func (c *converter) codexLine(s *section, l string, i int) {
	last := func() *hunk {
		if len(s.hunks) == 0 {
			s.hunks = append(s.hunks, hunk{number: 1})
		}
		return &s.hunks[len(s.hunks)-1]
	}
	switch word, _ := codexWord(l); {
	case strings.HasPrefix(l, "@@"):
		if h := last(); len(h.lines) > 0 {
			s.hunks = append(s.hunks, hunk{number: len(s.hunks) + 1})
		}
		h := last()
		if _, numbered := hunkHeader(l); numbered {
			break // line numbers, of which this format has none
		}
		if a := anchorOf(l); a != "" {
			h.anchors = append(h.anchors, a)
		}
	case word == codexEOF:
		last().atEnd = true
	default:
		if !last().line(l) {
			c.problem("%s: line %d of the patch begins with none of space, + and -: %s", s.path, i+1, clip(l))
		}
	}
}

// anchorOf returns the line of the file that a header without line numbers
// names, or "".
func anchorOf(l string) string {
	return strings.Trim(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(l), "@@"), "@@"), " \t.…")
}

// line adds a line of a hunk. An empty one is taken for an empty line that
// stays, whose blank was lost.
func (h *hunk) line(l string) bool {
	if l == "" {
		h.lines = append(h.lines, hunkLine{op: ' ', bare: true})
		return true
	}
	switch l[0] {
	case ' ', '+', '-':
		h.lines = append(h.lines, hunkLine{op: l[0], text: l[1:]})
		return true
	}
	return false
}

// clean drops empty lines at the end of hunks, which rather part them from what
// follows, and hunks without a line.
func clean(sections []section) []section {
	for i := range sections {
		var kept []hunk
		for _, h := range sections[i].hunks {
			for n := len(h.lines); n > 0 && h.lines[n-1].bare; n-- {
				h.lines = h.lines[:n-1]
			}
			if len(h.lines) > 0 {
				kept = append(kept, h)
			}
		}
		sections[i].hunks = kept
	}
	return sections
}

// A header is the first line of a hunk in a unified diff: where it starts
// before the change, and how many lines it has before and after.
type header struct{ start, old, new int }

// hunkHeader reads a header that has line numbers.
func hunkHeader(l string) (h header, ok bool) {
	rest, ok := strings.CutPrefix(l, "@@ -")
	if !ok {
		return h, false
	}
	old, rest, ok := strings.Cut(rest, " +")
	if !ok {
		return h, false
	}
	now, _, ok := strings.Cut(rest, " @@")
	if !ok {
		return h, false
	}
	if h.start, h.old, ok = lineRange(old); !ok {
		return h, false
	}
	_, h.new, ok = lineRange(now)
	return h, ok
}

// lineRange reads "start,count", where a count of 1 may be left out.
func lineRange(s string) (start, count int, ok bool) {
	first, length, ranged := strings.Cut(s, ",")
	start, err := strconv.Atoi(first)
	if err != nil || start < 0 || start > farthest {
		return 0, 0, false
	}
	count = 1
	if ranged {
		if count, err = strconv.Atoi(length); err != nil || count < 0 {
			return 0, 0, false
		}
	}
	return start, count, true
}
