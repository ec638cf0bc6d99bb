package hashline

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"dsh-acp/internal/text"
)

// Header returns the line that stands above a view: "¶path#TAG".
func Header(path string, t Tag) string { return "¶" + path + "#" + t.String() }

// ParseHeader takes a header apart. The path may hold any characters, also
// blanks and "#".
func ParseHeader(line string) (path string, t Tag, ok bool) {
	rest, ok := strings.CutPrefix(line, "¶")
	i := strings.LastIndexByte(rest, '#')
	if !ok || i <= 0 || strings.ContainsAny(rest, "\r\n") {
		return "", Tag{}, false
	}
	if rest[i+1:] == "" || strings.TrimSpace(rest[i+1:]) != rest[i+1:] {
		return "", Tag{}, false
	}
	t, err := ParseTag(rest[i+1:])
	return rest[:i], t, err == nil
}

// NumberedLine returns a line as a view shows it: "12| text".
func NumberedLine(n int, line string) string { return strconv.Itoa(n) + "| " + line }

// NumberedLines returns the lines from first to last as a view shows them,
// each but the last ended by "\n". Lines that the document does not have are
// left out.
func NumberedLines(d text.Doc, first, last int) string {
	var b strings.Builder
	first, last = max(first, 1), min(last, d.Lines())
	for n := first; n <= last; n++ {
		if n > first {
			b.WriteByte('\n')
		}
		b.WriteString(NumberedLine(n, d.Line(n)))
	}
	return b.String()
}

// View returns the whole document as a read shows it: the header, then the
// numbered lines.
func View(path string, t Tag, d text.Doc) string {
	s := Header(path, t)
	if d.Lines() > 0 {
		s += "\n" + NumberedLines(d, 1, d.Lines())
	}
	return s
}

var numbered = regexp.MustCompile(`^([1-9][0-9]{0,8})\|(?: (.*))?$`)

// cutNumber takes a numbered line apart.
func cutNumber(line string) (n int, rest string, ok bool) {
	if len(line) == 0 || line[0] < '1' || line[0] > '9' {
		return 0, "", false
	}
	m := numbered.FindStringSubmatch(line)
	if m == nil {
		return 0, "", false
	}
	n, err := strconv.Atoi(m[1])
	return n, m[2], err == nil
}

// Unwrap returns the text of which content is a pasted view. It is one only if
// it starts with a header and every further line has the number after the one
// before; anything else is text as it stands, and ok is false. The final line
// end, which a view does not show, is put back. note says what was done.
func Unwrap(content string) (plain, note string, ok bool) {
	lines := strings.Split(strings.TrimRight(text.Fold(content), "\n"), "\n")
	if _, _, head := ParseHeader(lines[0]); !head || len(lines) < 2 {
		return content, "", false
	}
	var b strings.Builder
	first, next := 0, 0
	for _, line := range lines[1:] {
		n, rest, ok := cutNumber(line)
		if !ok || next != 0 && n != next {
			return content, "", false
		}
		if next == 0 {
			first = n
		}
		next = n + 1
		b.WriteString(rest)
		b.WriteByte('\n')
	}
	return b.String(), fmt.Sprintf("the content was a pasted view: its header and the line numbers %d–%d were taken off", first, next-1), true
}
