package hashline

import (
	"strings"

	"dsh-acp/internal/text"
)

// A Section is the part of a pasted patch that is about one file.
type Section struct {
	Path string
	Tag  string
	Ops  string
	Line int // of the first line of Ops in the patch, 1-based
}

// Sections splits ops that begin with a header line ("¶path#TAG") at such
// lines. Ops that do not begin so are no patch: the result is nil.
func Sections(ops string) []Section {
	var out []Section
	line := 0
	for raw := range strings.Lines(text.Fold(ops)) {
		line++
		s := strings.TrimSuffix(raw, "\n")
		if path, tag, ok := ParseHeader(strings.TrimRight(s, " \t")); ok {
			out = append(out, Section{Path: path, Tag: tag.String(), Line: line + 1})
			continue
		}
		if len(out) == 0 {
			if t := strings.TrimSpace(s); t != "" && t != "*** Begin Patch" {
				return nil
			}
			continue
		}
		out[len(out)-1].Ops += raw
	}
	return out
}
