package tools

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// maxSearched bounds the text in which a missing old_string is searched for
// with loose eyes: beyond it the message would cost more than it helps.
const maxSearched = 8 << 20

// closest says what in lf comes nearest to old, which is not in it, and how
// the two differ. It begins with a separator, and is "" when nothing is near.
// It only explains: nothing is ever replaced by likeness.
func closest(lf, old string) string {
	if len(lf) > maxSearched || len(old) > maxSearched {
		return ""
	}
	switch {
	case strings.TrimSpace(lf) == "":
		return ": it has no text"
	case viewNumbers.MatchString(old) && strings.Contains(lf, viewNumbers.ReplaceAllString(old, "")):
		return ": it holds the line numbers of the view that Read gives; leave number and tab out, and it is found"
	case strings.Contains(old, `\`) && strings.Contains(lf, unescaper.Replace(old)):
		return `: it is there once \n, \t or \" in old_string are the characters that they stand for; write those, without the backslash`
	}
	file := strings.Split(lf, "\n")
	want := strings.Split(strings.TrimSuffix(old, "\n"), "\n")
	start, ok := looseMatch(file, want)
	if !ok {
		start, ok = likeliest(file, want)
	}
	if !ok {
		return ", nor is anything like it: read the file again"
	}
	return difference(file, want, start)
}

var (
	viewNumbers = regexp.MustCompile(`(?m)^ *[0-9]+\t`)
	unescaper   = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\r`, "\r", `\"`, `"`, `\'`, `'`)
)

// loose folds what models get wrong most: white space, typographic characters
// written as ASCII, characters that cannot be seen, and letters whose accents
// are characters of their own.
func loose(line string) string {
	var b strings.Builder
	space := false
	for _, r := range norm.NFC.String(line) { // costs nothing on ASCII
		switch {
		case unicode.IsSpace(r):
			space = true
			continue
		case unicode.Is(unicode.Cf, r): // joiners, zero width spaces, soft hyphens
			continue
		}
		if space && b.Len() > 0 {
			b.WriteByte(' ')
		}
		space = false
		if s, ok := ascii[r]; ok {
			b.WriteString(s)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

var ascii = map[rune]string{
	'‘': "'", '’': "'", '‚': "'", '′': "'", '“': `"`, '”': `"`, '„': `"`, '″': `"`, '«': `"`, '»': `"`,
	'‐': "-", '‑': "-", '‒': "-", '–': "-", '—': "-", '−': "-", '…': "...",
}

// looseMatch finds the line of file at which want stands when both are folded
// by loose. A single wanted line may be a part of a line.
func looseMatch(file, want []string) (int, bool) {
	folded := make([]string, len(want))
	for i, w := range want {
		folded[i] = loose(w)
	}
	last := len(want) - 1
	if strings.TrimSpace(strings.Join(folded, "")) == "" {
		return 0, false
	}
	for i := 0; i+last < len(file); i++ {
		first := loose(file[i])
		if last == 0 {
			if strings.Contains(first, folded[0]) {
				return i, true
			}
			continue
		}
		if !strings.HasSuffix(first, folded[0]) {
			continue
		}
		j := 1
		for j < last && loose(file[i+j]) == folded[j] {
			j++
		}
		if j == last && strings.HasPrefix(loose(file[i+last]), folded[last]) {
			return i, true
		}
	}
	return 0, false
}

// likeliest finds where most lines of want stand in file in their order
// without gaps, weighed by their length; without any such line it takes the
// line that is most like the longest one wanted.
func likeliest(file, want []string) (int, bool) {
	where := map[string][]int{}
	for i, line := range file {
		f := loose(line)
		if len(where[f]) < 64 { // braces and blank lines say little
			where[f] = append(where[f], i)
		}
	}
	folded, longest := make([]string, len(want)), 0
	for j, w := range want {
		if folded[j] = loose(w); len(folded[j]) > len(folded[longest]) {
			longest = j
		}
	}
	best, weight := heaviest(where, folded, 3)
	if weight == 0 {
		// Short lines alone must be more than half of the text.
		best, weight = heaviest(where, folded, 1)
		if 2*weight <= len(strings.Join(folded, "")) {
			weight = 0
		}
	}
	if weight > 0 {
		return best, true
	}
	target, bestScore := bigrams(folded[longest]), 0.5
	found := false
	for i, line := range file {
		if i < longest {
			continue
		}
		if s := target.like(bigrams(loose(line))); s > bestScore {
			best, bestScore, found = i-longest, s, true
		}
	}
	return best, found
}

// heaviest finds where lines of want, folded, stand at one distance from those
// of the file, of which where knows the places, and how long they are together.
// Lines shorter than least do not count.
func heaviest(where map[string][]int, want []string, least int) (start, weight int) {
	weights := map[int]int{}
	for j, f := range want {
		if len(f) < least {
			continue
		}
		for _, i := range where[f] {
			at := i - j
			if at < 0 {
				continue
			}
			weights[at] += len(f)
			if n := weights[at]; n > weight || n == weight && at < start {
				start, weight = at, n
			}
		}
	}
	return start, weight
}

// bag counts the pairs of neighbouring bytes of a line.
type bag struct {
	pairs map[[2]byte]int
	total int
}

func bigrams(s string) bag {
	const enough = 400
	s = s[:min(len(s), enough)]
	b := bag{pairs: make(map[[2]byte]int, len(s))}
	for i := 1; i < len(s); i++ {
		b.pairs[[2]byte{s[i-1], s[i]}]++
		b.total++
	}
	return b
}

// like is the share of pairs that both have, from 0 to 1.
func (b bag) like(c bag) float64 {
	if b.total == 0 || c.total == 0 {
		return 0
	}
	both := 0
	for p, n := range c.pairs {
		both += min(n, b.pairs[p])
	}
	return 2 * float64(both) / float64(b.total+c.total)
}

// difference tells the first line at which want, laid on file at start,
// differs, and shows the file there.
func difference(file, want []string, start int) string {
	for j, w := range want {
		i := start + j
		if i >= len(file) {
			return fmt.Sprintf("; the closest text starts at line %d, but the file ends after line %d", start+1, len(file))
		}
		have := file[i]
		if fits(have, w, j == 0, j == len(want)-1) {
			continue
		}
		return fmt.Sprintf("; the closest text starts at line %d, and line %d differs%s%s", start+1, i+1, how(have, w), excerpt(file, start, len(want)))
	}
	return fmt.Sprintf("; the closest text starts at line %d, but what follows it differs%s", start+1, excerpt(file, start, len(want)+1))
}

// fits reports whether line w of a wanted text agrees with a line of the
// file: the first may be its end, the last its beginning.
func fits(have, w string, first, last bool) bool {
	switch {
	case first && last:
		return strings.Contains(have, w)
	case first:
		return strings.HasSuffix(have, w)
	case last:
		return strings.HasPrefix(have, w)
	}
	return have == w
}

// excerpt shows lines of the file as Read does, so that they can be copied.
func excerpt(file []string, start, n int) string {
	const most, wide = 12, 200
	var b strings.Builder
	b.WriteString(". The file has there:\n")
	for i := start; i < min(start+min(n, most), len(file)); i++ {
		fmt.Fprintf(&b, "%d\t%s\n", i+1, clip(file[i], wide))
	}
	return strings.TrimSuffix(b.String(), "\n") + "\nCopy from it without the numbers"
}
