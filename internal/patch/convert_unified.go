package patch

import (
	"strconv"
	"strings"
)

// isFileHeader reports whether a file's part of a unified diff starts at line
// i. In a hunk, a removed line may look like its first line and an added one
// like its second, so that there the third is looked at too.
func isFileHeader(lines []string, i int, inHunk bool) bool {
	if i+1 >= len(lines) || !strings.HasPrefix(lines[i], "--- ") || !strings.HasPrefix(lines[i+1], "+++ ") {
		return false
	}
	if i+2 >= len(lines) {
		return true
	}
	third := lines[i+2]
	if inHunk {
		return strings.HasPrefix(third, "@@")
	}
	return third == "" || strings.ContainsRune(" +-@", rune(third[0]))
}

// A differ reads the sections of a unified diff, with or without git's lines.
type differ struct {
	c   *converter
	out []section
	cur *section // nil: none, or of a file that is deleted
	h   *hunk    // nil: outside of hunks
	// left is what the header of h promises and has not come yet.
	left    header
	counted bool // the header of h has numbers
	git     gitPart
}

// A gitPart is what git says of one file ahead of the hunks.
type gitPart struct {
	path            string // "" outside of such a part
	added, deleted  bool
	told            bool // a problem was told of it
	hasFile, binary bool // its --- and +++ came; its content is binary
}

func (c *converter) unified(lines []string) []section {
	d := differ{c: c}
	for i := 0; i < len(lines); i++ {
		switch l := lines[i]; {
		case isFileHeader(lines, i, d.h != nil && !d.full()):
			d.git.hasFile = true
			d.cur, d.h = c.fileHeader(&d.out, l, lines[i+1]), nil
			i++
		case strings.HasPrefix(l, "@@"):
			if len(d.out) == 0 {
				c.problem("line %d of the diff: there is no file header (--- and +++) above it", i+1)
				return nil
			}
			d.open(l)
		case d.ends(lines, i):
			d.h = nil
		case d.h != nil && d.h.line(l):
			d.count(l[:min(1, len(l))])
		case d.h != nil && strings.HasPrefix(l, `\`):
			if n := len(d.h.lines); n > 0 {
				d.h.oldOpen = d.h.oldOpen || d.h.lines[n-1].op != '+'
				d.h.newOpen = d.h.newOpen || d.h.lines[n-1].op != '-'
			}
		case d.headless(l):
			d.open("@@")
			d.h.line(l)
		default:
			d.h = nil
			d.line(l, i)
		}
	}
	d.endPart()
	for i := range d.out {
		d.out[i].addText()
	}
	return clean(d.out)
}

// open begins the hunk of a header.
func (d *differ) open(l string) {
	d.h = nil
	if d.cur == nil {
		return
	}
	h := hunk{number: len(d.cur.hunks) + 1}
	if d.left, d.counted = hunkHeader(l); d.counted {
		h.start = d.left.start
		if d.left.old == 0 {
			h.start++ // the header names the line above
		}
		h.start = max(1, h.start)
	} else if a := anchorOf(l); a != "" {
		h.anchors = []string{a}
	}
	d.cur.hunks = append(d.cur.hunks, h)
	d.h = &d.cur.hunks[len(d.cur.hunks)-1]
}

func (d *differ) count(op string) {
	if op != "+" {
		d.left.old--
	}
	if op != "-" {
		d.left.new--
	}
}

// full reports whether the hunk has the lines that its header promises.
func (d *differ) full() bool { return d.counted && d.left.old <= 0 && d.left.new <= 0 }

// ends reports whether the signature of a mail starts at line i, which looks
// like a line that goes.
func (d *differ) ends(lines []string, i int) bool {
	return d.h != nil && lines[i] == "-- " && d.full()
}

// headless reports whether a line is the first of a file's lines where its
// header is not followed by one of a hunk.
func (d *differ) headless(l string) bool {
	return d.h == nil && d.cur != nil && len(d.cur.hunks) == 0 && l != "" && strings.ContainsRune(" +-", rune(l[0]))
}

// line reads what stands outside of hunks: git's lines, and mail and prose
// around the diff.
func (d *differ) line(l string, i int) {
	problem := func(format string, args ...any) {
		d.git.told = true
		d.c.problem(format, args...)
	}
	after := func(word string) (string, bool) {
		rest, ok := strings.CutPrefix(l, word)
		return headerPath(rest), ok
	}
	if rest, ok := strings.CutPrefix(l, "diff --git "); ok {
		d.endPart()
		d.git = gitPart{path: gitPath(rest)}
		d.cur = nil
		return
	}
	if to, ok := after("rename to "); ok {
		problem("%s: apply_patch renames no files; rename it with another tool", to)
	} else if to, ok := after("copy to "); ok {
		problem("%s: apply_patch copies no files; make it with create_file", to)
	} else if strings.HasPrefix(l, "new mode ") {
		problem("%s: apply_patch changes no modes; change it with another tool", d.git.path)
	} else if strings.HasPrefix(l, "GIT binary patch") || strings.HasPrefix(l, "Binary files ") {
		d.git.binary = true
		problem("line %d of the diff: binary changes have no form as operations", i+1)
	} else if strings.HasPrefix(l, "new file mode ") {
		d.git.added = true
	} else if strings.HasPrefix(l, "deleted file mode ") {
		d.git.deleted = true
	}
}

// endPart takes over what git said of a file without hunks.
func (d *differ) endPart() {
	switch p := d.git; {
	case p.path == "" || p.hasFile || p.told:
	case p.deleted:
		d.c.problem("%s: apply_patch deletes no files; delete it with another tool", p.path)
	case p.added:
		d.out = append(d.out, section{kind: add, path: p.path})
	}
	d.git = gitPart{}
}

// gitPath returns the path of a "diff --git" line, which has it twice.
func gitPath(s string) string {
	if first, second, ok := strings.Cut(s, `" "`); ok && strings.HasPrefix(first, `"`) {
		return strings.TrimPrefix(headerPath(`"`+second), "b/")
	}
	// The halves are alike but for their first letters.
	if n := len(s) / 2; len(s)%2 == 1 && s[n] == ' ' && strings.HasPrefix(s, "a/") && strings.HasPrefix(s[n+1:], "b/") {
		return s[n+3:]
	}
	_, b, _ := strings.Cut(s, " b/")
	return b
}

// fileHeader opens a section, or tells why there is none.
func (c *converter) fileHeader(out *[]section, minus, plus string) *section {
	old, now := headerPath(minus[4:]), headerPath(plus[4:])
	plainOld, a := strings.CutPrefix(old, "a/")
	plainNow, b := strings.CutPrefix(now, "b/")
	if a && b || a && now == noFile || old == noFile && b || a && plainOld == now || b && plainNow == old {
		old, now = plainOld, plainNow
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
