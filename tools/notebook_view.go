package tools

import (
	"fmt"
	"strings"
)

// maxCellOutput bounds the output of one cell that a read shows, in bytes.
const maxCellOutput = 4000

// notebookView shows a notebook's cells. ok is false for what is none, or for
// more than limit bytes: it is then shown as the text that it is.
func notebookView(lf string, limit int) (view string, ok bool) {
	n, cells, err := parseNotebook(lf)
	if err != nil || len(cells) == 0 {
		return "", false
	}
	var b strings.Builder
	for i, c := range cells {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "<cell id=%q>", c.ID)
		if c.Type != "code" {
			fmt.Fprintf(&b, "<cell_type>%s</cell_type>", c.Type)
		} else if l := n.Metadata.Language.Name; l != "" && l != "python" {
			fmt.Fprintf(&b, "<language>%s</language>", l)
		}
		fmt.Fprintf(&b, "%s</cell id=%q>", c.Source.text, c.ID)
		if out := c.output(); out != "" {
			fmt.Fprintf(&b, "\n\n%s", out)
		}
		if b.Len() > limit {
			return "", false
		}
	}
	return b.String(), true
}

// output is the text of a cell's outputs, cut where it gets long.
func (c cell) output() string {
	var parts []string
	for _, o := range c.Out {
		switch {
		case o.Text.text != "":
			parts = append(parts, o.Text.text)
		case o.Name != "":
			parts = append(parts, o.Name+": "+o.Why)
		case o.Data["text/plain"].text != "":
			parts = append(parts, o.Data["text/plain"].text)
		}
	}
	out := strings.Join(parts, "\n")
	if len(out) > maxCellOutput {
		out = strings.ToValidUTF8(out[:maxCellOutput], "") + fmt.Sprintf("\n[%d more bytes]", len(out)-maxCellOutput)
	}
	return out
}
