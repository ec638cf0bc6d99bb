package patch

import (
	"strconv"
	"strings"
)

// The words of a Codex patch.
const (
	codexBegin  = "*** Begin Patch"
	codexEnd    = "*** End Patch"
	codexAdd    = "*** Add File: "
	codexDelete = "*** Delete File: "
	codexUpdate = "*** Update File: "
	codexMove   = "*** Move to: "
	codexEOF    = "*** End of File"
)

// codex reads the sections of a Codex patch. What has no form as operations,
// and lines that belong nowhere, become problems.
func (c *converter) codex(lines []string) []section {
	var out []section
	var cur *section
	open := func(s section) {
		out = append(out, s)
		cur = &out[len(out)-1]
	}
	inside := false
	for i, l := range lines {
		if !inside {
			inside = strings.TrimSpace(l) == codexBegin
			continue
		}
		if strings.TrimSpace(l) == codexEnd {
			return clean(out)
		}
		path := func(word string) string { return strings.TrimSpace(strings.TrimPrefix(l, word)) }
		switch {
		case strings.HasPrefix(l, codexAdd):
			open(section{kind: add, path: path(codexAdd)})
		case strings.HasPrefix(l, codexDelete):
			c.problem("%s: apply_patch deletes no files; delete it with another tool", path(codexDelete))
			cur = nil
		case strings.HasPrefix(l, codexUpdate):
			open(section{path: path(codexUpdate)})
		case strings.HasPrefix(l, codexMove):
			c.problem("%s: apply_patch renames no files; rename it with another tool", path(codexMove))
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
	c.problem("the patch has no %q; it may be cut off", codexEnd)
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
	switch {
	case strings.HasPrefix(l, "@@"):
		if h := last(); len(h.lines) > 0 {
			s.hunks = append(s.hunks, hunk{number: len(s.hunks) + 1})
		}
		h := last()
		if isHunkHeader(l) {
			break // line numbers, of which this format has none
		}
		if a := strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(l, "@@"), "@@")); a != "" {
			h.anchors = append(h.anchors, a)
		}
	case strings.TrimSpace(l) == codexEOF:
		last().atEnd = true
	default:
		if !last().line(l) {
			c.problem("%s: line %d of the patch begins with none of space, + and -: %s", s.path, i+1, clip(l))
		}
	}
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

// isFileHeader reports whether a file's part of a unified diff starts at line
// i. A removed line may look like its first line, so that three are looked at.
func isFileHeader(lines []string, i int) bool {
	return i+1 < len(lines) && strings.HasPrefix(lines[i], "--- ") && strings.HasPrefix(lines[i+1], "+++ ") &&
		(i+2 >= len(lines) || isHunkHeader(lines[i+2]))
}

func isHunkHeader(l string) bool {
	_, _, ok := hunkHeader(l)
	return ok
}

// hunkHeader reads the first line, and the number of lines, before the change.
func hunkHeader(l string) (start, count int, ok bool) {
	rest, ok := strings.CutPrefix(l, "@@ -")
	if !ok {
		return 0, 0, false
	}
	old, rest, ok := strings.Cut(rest, " +")
	if !ok || !strings.Contains(rest, " @@") {
		return 0, 0, false
	}
	first, length, ranged := strings.Cut(old, ",")
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

// unified reads the sections of a unified diff, with or without git's lines.
func (c *converter) unified(lines []string) []section {
	var out []section
	var cur *section
	var h *hunk
	for i := 0; i < len(lines); i++ {
		l := lines[i]
		switch {
		case isFileHeader(lines, i):
			cur, h = c.fileHeader(&out, l, lines[i+1]), nil
			i++
		case isHunkHeader(l):
			if len(out) == 0 {
				c.problem("line %d of the diff: there is no file header (--- and +++) above it", i+1)
				return nil
			}
			h = nil
			if cur == nil {
				continue // of a file that is deleted
			}
			start, count, _ := hunkHeader(l)
			if count == 0 {
				start++ // the header names the line above
			}
			cur.hunks = append(cur.hunks, hunk{number: len(cur.hunks) + 1, start: max(1, start)})
			h = &cur.hunks[len(cur.hunks)-1]
		case strings.HasPrefix(l, "diff --git "), strings.HasPrefix(l, "Index: "):
			h = nil
		case strings.HasPrefix(l, "rename to "):
			c.problem("%s: apply_patch renames no files; rename it with another tool", strings.TrimPrefix(l, "rename to "))
		case strings.HasPrefix(l, "GIT binary patch"), strings.HasPrefix(l, "Binary files "):
			c.problem("line %d of the diff: binary changes have no form as operations", i+1)
			h = nil
		case h == nil:
			// Headers of git, mail and prose around the diff.
		case strings.HasPrefix(l, `\`):
			if n := len(h.lines); n > 0 {
				h.oldOpen = h.oldOpen || h.lines[n-1].op != '+'
				h.newOpen = h.newOpen || h.lines[n-1].op != '-'
			}
		default:
			if !h.line(l) {
				h = nil
			}
		}
	}
	for i := range out {
		out[i].addText()
	}
	return clean(out)
}

// fileHeader opens a section, or tells why there is none.
func (c *converter) fileHeader(out *[]section, minus, plus string) *section {
	old, now := headerPath(minus[4:]), headerPath(plus[4:])
	if strings.HasPrefix(old, "a/") && strings.HasPrefix(now, "b/") ||
		strings.HasPrefix(old, "a/") && now == noFile || old == noFile && strings.HasPrefix(now, "b/") {
		old, now = strings.TrimPrefix(old, "a/"), strings.TrimPrefix(now, "b/")
	}
	s := section{path: now}
	switch {
	case now == noFile:
		c.problem("%s: apply_patch deletes no files; delete it with another tool", old)
		*out = append(*out, section{path: old, kind: dropped})
		return nil
	case old == noFile:
		s.kind = add
	case old != now && !strings.HasSuffix(old, ".orig"):
		c.problem("%s: apply_patch renames no files; the operations change %s in its place", now, old)
		s.path = old
	}
	*out = append(*out, s)
	return &(*out)[len(*out)-1]
}

const noFile = "/dev/null"

// headerPath returns the path of a --- or +++ line, without a time stamp.
func headerPath(s string) string {
	s, _, _ = strings.Cut(s, "\t")
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, `"`) {
		if plain, err := strconv.Unquote(s); err == nil {
			return plain
		}
	}
	return s
}

// addText makes the text of a file that is added of its hunks.
func (s *section) addText() {
	if s.kind != add {
		return
	}
	var b strings.Builder
	for k, h := range s.hunks {
		for i, l := range h.lines {
			b.WriteString(l.text)
			if !h.newOpen || k < len(s.hunks)-1 || i < len(h.lines)-1 {
				b.WriteByte('\n')
			}
		}
	}
	s.text = b.String()
}
