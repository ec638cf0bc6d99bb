package astedit

import (
	"slices"
	"strings"

	"dsh-acp/internal/syntax"
)

// A template is the text that a match becomes: literal text and captures.
type template struct {
	parts []templatePart
	used  []bool // by slot
}

// A templatePart is text, and then a capture unless slot is -1.
type templatePart struct {
	text string
	slot int
	// fixed are the offsets in text, right behind line ends, of lines that
	// begin inside of a string and so keep their place.
	fixed []int
}

// newTemplate reads out for a pattern. It fails with an *[Error], CodeUnbound,
// if out has a name that the pattern does not bind; in a string such a name is
// text.
func newTemplate(p syntax.Parser, pat *Pattern, out string) (*template, error) {
	d := dialectOf(pat.lang)
	s := newStencil(out, d)
	e, err := s.clearest(p, pat.lang)
	if err != nil {
		return nil, unsupported(err)
	}
	t := &template{used: make([]bool, len(pat.names))}
	done := 0
	for i, h := range e.holes {
		v := s.vars[i]
		slot := slices.Index(pat.names, v.name)
		if v.name == "" || slot < 0 {
			if e.isText(h) {
				continue
			}
			return nil, unbound(pat, out, v)
		}
		t.used[slot] = true
		t.parts = append(t.parts, s.part(e, done, v.start, slot))
		done = v.end
	}
	t.parts = append(t.parts, s.part(e, done, len(out), -1))
	return t, nil
}

func unbound(pat *Pattern, out string, v metavar) error {
	e := &Error{Code: CodeUnbound, Op: -1}
	name := v.text(out)
	binds := "binds none"
	if len(pat.names) > 0 {
		binds = "binds $" + strings.Join(pat.names, ", $")
	}
	e.Msg = "out " + quote(out) + " uses " + name + ", which the pattern " + quote(pat.src) + " does not bind: it " + binds
	if v.name == "" {
		e.Msg = "out " + quote(out) + " uses " + name + ", which captures nothing; give it a name in the pattern"
	}
	return e
}

// clearest embeds a template where it parses best. One that parses nowhere is
// taken all the same: what it does to a file is seen there.
func (s *stencil) clearest(p syntax.Parser, lang syntax.Lang) (*embedding, error) {
	var best *embedding
	for _, search := range []bool{false, true} {
		for _, at := range s.d.places {
			e, err := s.best(p, lang, at, search)
			if err != nil {
				return nil, err
			}
			if best == nil || e.badness() < best.badness() {
				best = e
			}
			if best.badness() == 0 {
				return best, nil
			}
		}
	}
	return best, nil
}

// isText reports whether a hole lies in a string or a comment.
func (e *embedding) isText(h hole) bool {
	i := e.tree.Smallest(h.name, h.name+len(h.word))
	return inString(e.tree, i) || e.tree.IsComment(i)
}

// part cuts the literal text from start to end out of the template.
func (s *stencil) part(e *embedding, start, end, slot int) templatePart {
	p := templatePart{text: s.src[start:end], slot: slot}
	for i := start; i < end; i++ {
		if s.src[i] != '\n' {
			continue
		}
		// Where the line end is in the embedding.
		at := e.start + i
		for _, h := range e.holes {
			if h.v.end <= i {
				at += h.end - h.start - (h.v.end - h.v.start)
			}
		}
		if inString(e.tree, e.tree.Smallest(at, at+1)) {
			p.fixed = append(p.fixed, i+1-start)
		}
	}
	return p
}

// fill returns the text for a match. indent is the white space that the line
// of the match begins with.
func (t *template) fill(m *Match, src *source, indent string) string {
	var b strings.Builder
	skip := "" // separator to drop from the next literal text
	for i, p := range t.parts {
		text, fixed := p.text, p.fixed
		if skip != "" {
			cut := len(text) - len(strings.TrimPrefix(text, skip))
			text = text[cut:]
			fixed = shift(fixed, cut)
			skip = ""
		}
		b.WriteString(indentLines(text, indent, fixed))
		if p.slot < 0 {
			continue
		}
		c := m.captures[p.slot]
		next := t.parts[i+1].text
		if c.run && c.start == c.end {
			skip = dropSeparator(&b, next)
			continue
		}
		end := c.end
		if after := strings.TrimLeft(next, " \t\n"); after != "" && isSeparator(after[:1]) {
			end = c.sep
		}
		here := b.String()
		line := here[strings.LastIndexByte(here, '\n')+1:]
		to := indent
		if strings.Contains(here, "\n") {
			to = leading(line)
		}
		b.WriteString(src.reindent(c.start, end, to))
		if src.endsInLineComment(c.start, end) && !strings.HasPrefix(next, "\n") {
			b.WriteString("\n" + to)
		}
	}
	return b.String()
}

func shift(offsets []int, by int) []int {
	var out []int
	for _, o := range offsets {
		if o >= by {
			out = append(out, o-by)
		}
	}
	return out
}

// dropSeparator mends the place of an empty run between what b holds and the
// text that follows. It returns the beginning of that text which is to go.
func dropSeparator(b *strings.Builder, next string) string {
	before := b.String()
	// A line of its own goes as a line.
	if line := before[strings.LastIndexByte(before, '\n')+1:]; strings.Trim(line, " \t") == "" && len(line) < len(before) && strings.HasPrefix(next, "\n") {
		b.Reset()
		b.WriteString(before[:len(before)-len(line)-1])
		return ""
	}
	if rest := strings.TrimLeft(next, " \t"); strings.HasPrefix(rest, ",") {
		rest = strings.TrimLeft(rest[1:], " \t")
		return next[:len(next)-len(rest)]
	}
	if kept := strings.TrimRight(before, " \t\n"); strings.HasSuffix(kept, ",") {
		b.Reset()
		b.WriteString(kept[:len(kept)-1])
	}
	return ""
}
