package search

import "strings"

// rules are the patterns of one ignore file, first to last.
type rules []rule

type rule struct {
	wild
	keep    bool // "!": what it matches is not ignored
	folders bool // it matches folders only
	base    bool // it matches by the last name, at any depth
}

// parseRules reads an ignore file as Git does. Lines that can match nothing
// stay out.
func parseRules(text string) rules {
	text = strings.TrimPrefix(text, bom)
	var rs rules
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		line = trimBlanks(strings.TrimSuffix(line, "\r"))
		var r rule
		line, r.keep = strings.CutPrefix(line, "!")
		line, r.folders = strings.CutSuffix(line, "/")
		r.base = !strings.Contains(line, "/")
		line = strings.TrimPrefix(line, "/")
		if line == "" {
			continue
		}
		if r.base {
			// Within one name "**" is "*".
			r.parts = []part{newPart(collapse(line))}
		} else {
			r.wild = newWild(line)
		}
		rs = append(rs, r)
	}
	return rs
}

func collapse(line string) string {
	if strings.Trim(line, "*") == "" {
		return "*"
	}
	return line
}

// trimBlanks takes off blanks at the end that no backslash protects.
func trimBlanks(s string) string {
	end := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ' ':
		case '\\':
			i++
			end = min(i+1, len(s))
		default:
			end = i + 1
		}
	}
	return s[:end]
}

// A verdict is what rules say about a path.
type verdict int

const (
	silent verdict = iota
	ignored
	kept
)

// judge looks for the last rule that matches. path is relative to the file's
// folder, name its last part.
func (rs rules) judge(path, name string, folder bool) verdict {
	for i := len(rs) - 1; i >= 0; i-- {
		r := &rs[i]
		if r.folders && !folder {
			continue
		}
		if r.base && r.parts[0].match(name) || !r.base && r.wild.match(path) {
			if r.keep {
				return kept
			}
			return ignored
		}
	}
	return silent
}

// A level is the ignore files of one folder, and those above it.
type level struct {
	above *level
	files []rules // the weightiest first
	// prefix leads from the level's folder to the walk's top, for a level
	// above that; else skip is the length of what leads from the top to it.
	prefix string
	skip   int
	top    bool // of a repository: what is above says nothing
}

// ignores reports whether a path, relative to the walk's top, is ignored. Its
// folders are not: they would not have been entered.
func (l *level) ignores(path, name string, folder bool) bool {
	for ; l != nil; l = l.above {
		seen := l.prefix + path[l.skip:]
		for _, rs := range l.files {
			switch rs.judge(seen, name, folder) {
			case ignored:
				return true
			case kept:
				return false
			}
		}
		if l.top {
			return false
		}
	}
	return false
}

// Above is the ignore files of a folder above the one that is searched.
type Above struct {
	// Path leads from that folder to the searched one, with slashes.
	Path string
	// Files are the texts of its ignore files, the weightiest first.
	Files []string
}

// levels chains what lies above, which comes nearest first.
func levels(above []Above) *level {
	var l *level
	for i := len(above) - 1; i >= 0; i-- {
		next := &level{above: l, prefix: above[i].Path + "/"}
		for _, text := range above[i].Files {
			if rs := parseRules(text); len(rs) > 0 {
				next.files = append(next.files, rs)
			}
		}
		l = next
	}
	return l
}

// IgnoreFiles are the names of the files that hold ignore rules, the
// weightiest first.
var ignoreNames = []string{".ignore", ".gitignore"}

// IgnoreFiles are the names of files with ignore rules, the weightiest first.
func IgnoreFiles() []string { return append([]string{}, ignoreNames...) }
