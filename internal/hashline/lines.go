package hashline

import (
	"strings"
	"unicode"
)

// A lexicon gives equal lines equal numbers. A last line without an end
// differs from the same with it.
type lexicon struct {
	ids   map[string]int32
	lines []string // by id
}

func newLexicon(size int) *lexicon {
	return &lexicon{ids: make(map[string]int32, size)}
}

// number returns the ids of the lines of an LF text.
func (l *lexicon) number(lf string) []int32 {
	out := make([]int32, 0, strings.Count(lf, "\n")+1)
	for line := range strings.Lines(lf) {
		id, ok := l.ids[line]
		if !ok {
			id = int32(len(l.lines))
			l.ids[line] = id
			l.lines = append(l.lines, line)
		}
		out = append(out, id)
	}
	return out
}

// telling reports whether a line says more than blanks and brackets do.
func (l *lexicon) telling(id int32) bool {
	return strings.IndexFunc(l.lines[id], func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) >= 0
}

// places returns for each id the index of its only occurrence, -1 if there is
// none and -2 if there are several.
func (l *lexicon) places(ids []int32) []int32 {
	at := make([]int32, len(l.lines))
	for i := range at {
		at[i] = -1
	}
	for i, id := range ids {
		if at[id] == -1 {
			at[id] = int32(i)
		} else {
			at[id] = -2
		}
	}
	return at
}

// occurs counts the places of part in ids, up to two, also those that overlap.
func occurs(ids, part []int32) int {
	if len(part) == 0 {
		return 0
	}
	// Knuth, Morris and Pratt: a file may be one line many times over.
	fall := make([]int, len(part))
	for i, k := 1, 0; i < len(part); i++ {
		for k > 0 && part[i] != part[k] {
			k = fall[k-1]
		}
		if part[i] == part[k] {
			k++
		}
		fall[i] = k
	}
	found, k := 0, 0
	for _, id := range ids {
		for k > 0 && (k == len(part) || id != part[k]) {
			k = fall[k-1]
		}
		if id == part[k] {
			k++
		}
		if k == len(part) {
			if found++; found == 2 {
				break
			}
			k = fall[k-1]
		}
	}
	return found
}
