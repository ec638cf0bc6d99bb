package tools

import (
	"fmt"
	"slices"
	"strings"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/text"
)

// maxListed bounds how many lines a message lists.
const maxListed = 12

// lineList names lines: "line 1, line 3", and how many more there are.
func lineList(lines []int) string {
	var b strings.Builder
	for i, n := range lines {
		if i == maxListed {
			fmt.Fprintf(&b, " and %d more", len(lines)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "line %d", n)
	}
	return b.String()
}

func occurrences(lines []int) string {
	return fmt.Sprintf("%s (%s)", plural(len(lines), "1 occurrence", "%d occurrences"), lineList(slices.Compact(slices.Clone(lines))))
}

// plural is one for 1, else many, which may have a %d for the number.
func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return strings.Replace(many, "%d", fmt.Sprint(n), 1)
}

// state tells what a file is now.
func state(d text.Doc, r fsbackend.Receipt) string {
	return fmt.Sprintf("the file now has %s (version %s)", plural(d.Lines(), "1 line", "%d lines"), tag(r.Version))
}

// tag is the short form of a version, for people and models. It names a
// version and decides nothing.
func tag(v fsbackend.Version) string { return fmt.Sprintf("%x", v[:4]) }
