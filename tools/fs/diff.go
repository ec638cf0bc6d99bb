package fs

import (
	"fmt"
	"strings"

	"dsh-acp/presenter"
)

// unified writes a change as a unified diff with three lines of context.
func unified(path, before, after string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", path, path)
	for _, h := range presenter.LineHunks(before, after, 3) {
		fmt.Fprintf(&b, "@@ -%s +%s @@\n", side(h.OldStart, h.OldLines), side(h.NewStart, h.NewLines))
		for _, line := range h.Lines {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// side writes the lines of one side. Of a side without lines the format wants
// the line after which they would be.
func side(start, lines int) string {
	switch lines {
	case 0:
		return fmt.Sprintf("%d,0", start-1)
	case 1:
		return fmt.Sprint(start)
	}
	return fmt.Sprintf("%d,%d", start, lines)
}
