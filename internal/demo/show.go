package demo

import (
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"charm.land/lipgloss/v2"
	acp "github.com/coder/acp-go-sdk"

	"dsh-acp/presenter"
)

var (
	bold    = lipgloss.NewStyle().Bold(true)
	faint   = lipgloss.NewStyle().Faint(true)
	kind    = lipgloss.NewStyle().Foreground(lipgloss.Color("14"))
	asked   = lipgloss.NewStyle().Foreground(lipgloss.Color("11")).Bold(true)
	added   = lipgloss.NewStyle().Foreground(lipgloss.Color("10"))
	removed = lipgloss.NewStyle().Foreground(lipgloss.Color("9"))
)

// A printer writes the demo. It is safe for concurrent use.
type printer struct {
	mu   sync.Mutex
	out  io.Writer // guarded by mu
	json bool      // only the wire is printed
	root string    // the workspace, left out of paths
}

// line prints one line; a write that fails is the reader's loss.
func (p *printer) line(s string) {
	if p.json {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = lipgloss.Fprintln(p.out, s)
}

func (p *printer) title(s string) { p.line("\n" + bold.Render(s) + "\n") }

// say prints a notification: the wire name of its update, then what it holds.
func (p *printer) say(name, what string) {
	p.line(kind.Render(fmt.Sprintf("%-20s", name)) + " " + p.short(what))
}

// short leaves the workspace out of paths and breaks out of lines.
func (p *printer) short(s string) string {
	s = strings.ReplaceAll(s, p.root+string(filepath.Separator), "")
	s = strings.ReplaceAll(s, "\n", "⏎")
	if r := []rune(s); len(r) > 120 {
		s = string(r[:119]) + "…"
	}
	return s
}

func (p *printer) question(title string, options []string, answer string) {
	p.say("request_permission", asked.Render(title+"?")+"  "+faint.Render(strings.Join(options, " · "))+"  → "+answer)
}

// call prints a tool call or an update of one, and the diffs that it carries.
func (p *printer) call(name, id, title, status string, input any, content []acp.ToolCallContent, locations []acp.ToolCallLocation) {
	parts := []string{bold.Render(id)}
	if title != "" {
		parts = append(parts, p.short(title))
	}
	if known, ok := input.(map[string]any); ok && len(known) > 0 {
		parts = append(parts, faint.Render(strings.Join(slices.Sorted(maps.Keys(known)), " ")))
	}
	if status != "" {
		parts = append(parts, statusStyle(status).Render(status))
	}
	blocks, hunks := 0, 0
	for _, c := range content {
		if blocks++; c.Diff != nil {
			hunks++
		}
	}
	if hunks > 0 {
		parts = append(parts, fmt.Sprintf("%d diff", hunks))
	} else if blocks > 0 {
		parts = append(parts, fmt.Sprintf("%d block", blocks))
	}
	for _, l := range locations {
		if l.Line != nil {
			parts = append(parts, fmt.Sprintf("%s:%d", p.short(l.Path), *l.Line))
		}
	}
	p.say(name, strings.Join(parts, faint.Render(" · ")))
	n := 0
	for _, c := range content {
		switch {
		case c.Diff != nil:
			start := 0
			if n < len(locations) && locations[n].Line != nil {
				start = *locations[n].Line
			}
			n++
			p.diff(*c.Diff, start)
		case c.Content != nil:
			p.text(words(c.Content.Content))
		}
	}
}

func statusStyle(status string) lipgloss.Style {
	switch status {
	case "completed":
		return added
	case "failed":
		return removed
	}
	return faint
}

// diff prints one block with the line numbers that its location gives; a
// snippet has none.
func (p *printer) diff(d acp.ToolCallContentDiff, start int) {
	old := ""
	if d.OldText != nil {
		old = ended(*d.OldText)
	}
	hunks := presenter.LineHunks(old, ended(d.NewText), max(strings.Count(old, "\n"), 1))
	for _, h := range hunks {
		o, n := start, start
		for _, l := range h.Lines {
			p.diffLine(l, &o, &n, start > 0)
		}
	}
}

// ended gives a block's text its final line break, which hunks leave out.
func ended(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}

func (p *printer) diffLine(l string, o, n *int, numbered bool) {
	num, style := *n, faint
	switch l[0] {
	case '-':
		num, style = *o, removed
		*o++
	case '+':
		style = added
		*n++
	default:
		*o++
		*n++
	}
	gutter := "     "
	if numbered {
		gutter = fmt.Sprintf("%5d", num)
	}
	p.line(strings.Repeat(" ", 20) + faint.Render(gutter+" │ ") + style.Render(l[:1]+" "+tabs(l[1:])))
}

// tabs shows a tab as four columns, since terminals take eight.
func tabs(s string) string { return strings.ReplaceAll(s, "\t", "    ") }

// text prints the beginning of a text block.
func (p *printer) text(s string) {
	lines := slices.DeleteFunc(strings.Split(strings.TrimRight(s, "\n"), "\n"), func(l string) bool { return strings.HasPrefix(l, "```") })
	const most = 6
	for _, l := range lines[:min(len(lines), most)] {
		p.line(strings.Repeat(" ", 26) + faint.Render("│ "+p.short(tabs(l))))
	}
	if rest := len(lines) - most; rest > 0 {
		p.line(strings.Repeat(" ", 26) + faint.Render(fmt.Sprintf("│ … %d more lines", rest)))
	}
}

// wire is where the messages go that are printed as they are.
func (p *printer) wire() io.Writer { return &wire{p: p} }

// A wire prints whole lines of one direction, so that two do not mix.
type wire struct {
	p    *printer
	rest []byte
}

func (w *wire) Write(b []byte) (int, error) {
	w.rest = append(w.rest, b...)
	if i := strings.LastIndexByte(string(w.rest), '\n'); i >= 0 {
		w.p.mu.Lock()
		defer w.p.mu.Unlock()
		if _, err := w.p.out.Write(w.rest[:i+1]); err != nil {
			return 0, err
		}
		w.rest = append([]byte(nil), w.rest[i+1:]...)
	}
	return len(b), nil
}

// showDiff prints what the session changed in the workspace, from the files.
func (s *stage) showDiff(show *printer) error {
	var names []string
	err := filepath.WalkDir(s.work, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		return err
	}
	slices.Sort(names)
	changed := 0
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(s.work, name)
		if err != nil {
			return err
		}
		before, after := files[rel], string(raw)
		if before == after {
			continue
		}
		changed++
		from := "a/" + rel
		if before == "" {
			from = "/dev/null"
		}
		for l := range strings.Lines(presenter.Unified(from, "b/"+rel, presenter.LineHunks(before, after, 3))) {
			show.line(diffStyle(l).Render(tabs(strings.TrimSuffix(l, "\n"))))
		}
	}
	if changed != 2 {
		return fmt.Errorf("demo: %d files changed, want 2", changed)
	}
	return nil
}

func diffStyle(l string) lipgloss.Style {
	switch {
	case strings.HasPrefix(l, "---"), strings.HasPrefix(l, "+++"):
		return bold
	case strings.HasPrefix(l, "@@"):
		return kind
	case strings.HasPrefix(l, "-"):
		return removed
	case strings.HasPrefix(l, "+"):
		return added
	}
	return lipgloss.NewStyle()
}
