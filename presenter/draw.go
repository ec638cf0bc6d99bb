package presenter

import (
	"fmt"
	"slices"
	"strings"

	"dsh-acp/internal/msg"
)

// A canvas is what a card is drawn on: the session's settings, and the call
// as far as it is known.
type canvas struct {
	cwd     string
	textMax int
	// result is nil while a call is drawn, and what came of it afterwards.
	result *msg.ToolResult
	// shown is the call's content so far, for a result.
	shown []ToolContent
	// terminal is the id of the call's display terminal, "" without one.
	terminal string
	// console says that the call was drawn as a terminal.
	console bool
}

// A drawing is what a card comes to on the wire.
type drawing struct {
	// ToolCallFields hold title, kind, content and locations only.
	ToolCallFields
	// applied marks content that is the change as it was made. It is sent
	// ahead of the status, so that a client never holds a completed call
	// with the snippet of its arguments.
	applied bool
	stats   []DiffStat // of the diff blocks, if applied
	console bool       // a terminal: a call's, or a result that belongs in it
	output  *Terminal  // a result that goes to the display terminal
	plan    *Plan      // instead of all the rest
	listed  bool       // the raw result is told as a list
}

// draw is the only place that knows what each card looks like.
func (cv canvas) draw(card Card) drawing {
	switch c := card.(type) {
	case Generic:
		return cv.generic(c)
	case Diff:
		return cv.diff(c)
	case Read:
		return cv.read(c)
	case Search:
		return cv.search(c)
	case Terminal:
		return cv.command(c)
	case Web:
		return cv.web(c)
	case Plan:
		return drawing{plan: &c}
	default:
		panic(fmt.Sprintf("presenter: no drawing for card %T", card))
	}
}

func (cv canvas) generic(c Generic) drawing {
	d := cv.frame(c.Title, c.Kind, c.Locations)
	if c.Verbatim {
		d.Title = c.Title
	}
	if cv.result == nil {
		d.Content = items(fenced(visible(c.Content), c.Fence))
		return d
	}
	if cv.result.IsError && c.Content == nil {
		return cv.failed(d)
	}
	content := c.Content
	if content == nil {
		content = cv.result.Content
	}
	d.Content = leaveIfEmpty(items(fenced(visible(content), c.Fence)))
	d.listed = c.Listed
	return d
}

func (cv canvas) diff(c Diff) drawing {
	locations := append([]Location{}, c.Locations...)
	titled := locations
	for _, f := range c.Diffs {
		titled = append(titled, Location{Path: f.Path})
	}
	if cv.result == nil {
		d := cv.frame(c.Title+cv.named(c.Files), KindEdit, titled)
		d.Locations = once(cv.absolutes(locations))
		d.Content = cv.blocks(foldArgs(c.Diffs), 0)
		return d
	}
	d := cv.frame(c.Title, "", titled)
	d.Locations = nil
	switch {
	case cv.result.IsError:
		return cv.failed(d)
	case c.Kept || len(c.Diffs) == 0:
		if c.Truncated > 0 {
			d.applied = true
			d.Content = append(append([]ToolContent{}, cv.shown...), hunksNote(c.Truncated))
		}
		return d
	}
	d.applied = true
	d.Content = cv.blocks(c.Diffs, c.Truncated)
	d.stats = statsOf(c.Diffs)
	for _, f := range c.Diffs {
		d.Locations = append(d.Locations, Location{Path: f.Path, Line: f.NewStart})
	}
	d.Locations = cv.absolutes(d.Locations)
	return d
}

func (cv canvas) read(c Read) drawing {
	d := cv.frame(c.Title, KindRead, []Location{{Path: c.Path, Line: c.Offset}})
	if cv.result == nil {
		d.Content = []ToolContent{}
		return d
	}
	if c.Path == "" || c.Offset == 0 {
		d.Locations = nil // the call's say as much or more
	}
	switch {
	case cv.result.IsError:
		return cv.failed(d)
	case len(c.Images) > 0:
		d.Content = items(visible(c.Images))
	case len(c.Lines) > 0:
		d.Content = []ToolContent{textItem(fence(withNumbers(c.Offset, c.Lines), ""))}
	default:
		plain := ""
		d.Content = leaveIfEmpty(items(fenced(visible(cv.result.Content), &plain)))
	}
	return d
}

func (cv canvas) search(c Search) drawing {
	d := cv.frame(c.Title, KindSearch, nil)
	if cv.result == nil {
		d.Content = []ToolContent{}
		return d
	}
	if cv.result.IsError {
		return cv.failed(d)
	}
	lines := append([]string{}, c.Paths...)
	for _, f := range c.Matches {
		for _, m := range f.Matches {
			lines = append(lines, fmt.Sprintf("%s:%d:%s", f.Path, m.LineNumber, m.Line))
		}
	}
	if len(lines) == 0 {
		d.Content = leaveIfEmpty(items(visible(cv.result.Content)))
		return d
	}
	if c.Truncated {
		lines = append(lines, fmt.Sprintf("(%d of %d shown)", len(lines), max(c.Total, len(lines))))
	}
	d.Content = []ToolContent{textItem(strings.Join(lines, "\n"))}
	return d
}

func (cv canvas) command(c Terminal) drawing {
	d := cv.frame("", KindExecute, nil)
	d.Title = c.Title // a command stays as it is typed, paths and all
	d.console = true
	if cv.result == nil {
		d.Content = []ToolContent{}
		switch {
		case cv.terminal != "":
			d.Content = append(d.Content, TerminalItem{TerminalID: cv.terminal})
		case c.Description != "":
			d.Content = append(d.Content, textItem(c.Description))
		}
		return d
	}
	if c.Output == "" && !c.Silent {
		c.Output = cv.result.Content.PlainText()
	}
	switch {
	case cv.terminal != "":
		d.output = &c
	case cv.result.IsError:
		return cv.failed(d)
	case !cv.console: // there is no command above that this would belong to
		d.Content = leaveIfEmpty(items(visible(cv.result.Content)))
	case strings.TrimRight(c.Output, "\n") != "":
		d.Content = []ToolContent{textItem(fence(strings.TrimRight(c.Output, "\n"), "console"))}
	}
	return d
}

func (cv canvas) web(c Web) drawing {
	d := cv.frame(c.Title, KindFetch, nil)
	if cv.result == nil {
		d.Content = []ToolContent{}
		return d
	}
	if cv.result.IsError {
		return cv.failed(d)
	}
	var parts []string
	if c.URL != "" {
		parts = append(parts, fmt.Sprintf("%s (status %d)", c.URL, c.StatusCode))
	}
	if c.Answer != "" {
		parts = append(parts, c.Answer)
	}
	for _, s := range c.Sources {
		parts = append(parts, sourceText(s))
	}
	if c.Truncated {
		parts = append(parts, "(not all of it is shown)")
	}
	if len(parts) == 0 {
		d.Content = leaveIfEmpty(items(visible(cv.result.Content)))
		return d
	}
	d.Content = []ToolContent{textItem(strings.Join(parts, "\n\n"))}
	return d
}

func sourceText(s WebSource) string {
	head := s.URL
	if s.Title != "" {
		head = s.Title + "\n" + s.URL
	}
	if s.Snippet == "" {
		return head
	}
	return head + "\n" + s.Snippet
}

// frame is what cards have in common. On a result there is no kind, and no
// title unless the card gives a new one.
func (cv canvas) frame(title, kind string, locations []Location) drawing {
	var d drawing
	paths := make([]string, 0, len(locations))
	for _, l := range locations {
		paths = append(paths, l.Path)
	}
	d.Title = displayTitle(title, cv.cwd, paths)
	d.Locations = cv.absolutes(locations)
	if cv.result == nil {
		d.Kind = kind
		if kind == "" {
			d.Kind = KindOther
		}
	}
	return d
}

// mostNamed bounds how many files a title names.
const mostNamed = 3

// named lists files for the end of a title.
func (cv canvas) named(files []string) string {
	var names []string
	seen := map[string]bool{}
	for _, f := range files {
		if path := absolute(cv.cwd, f); path != "" && !seen[path] {
			seen[path] = true
			names = append(names, f)
		}
	}
	if len(names) == 0 {
		return ""
	}
	rest := ""
	if n := len(names) - mostNamed; n > 0 {
		names, rest = names[:mostNamed], fmt.Sprintf(" and %d more", n)
	}
	return " " + strings.Join(names, ", ") + rest
}

// once leaves out locations that are there already.
func once(locations []Location) []Location {
	seen := map[Location]bool{}
	return slices.DeleteFunc(locations, func(l Location) bool {
		twice := seen[l]
		seen[l] = true
		return twice
	})
}

// absolutes makes the paths of locations absolute and leaves out those
// without one. nil stays nil, since it is no field at all.
func (cv canvas) absolutes(locations []Location) []Location {
	if locations == nil {
		return nil
	}
	out := make([]Location, 0, len(locations))
	for _, l := range locations {
		if l.Path != "" {
			out = append(out, Location{Path: absolute(cv.cwd, l.Path), Line: max(l.Line, 0)})
		}
	}
	return out
}

// failed gives d the content of a call that came to nothing: the reason,
// instead of a change that was not made. What the user refused stays in
// sight below the reason: as it was previewed, or else as the call told it.
func (cv canvas) failed(d drawing) drawing {
	code := ""
	if cv.result.Error != nil {
		code = cv.result.Error.Code
	}
	plain := ""
	reason := visible(cv.result.Content)
	if len(reason) == 0 {
		reason = []ContentBlock{{Block: msg.Text{Text: "The tool gave no reason."}}}
	}
	var kept []ToolContent
	d.Locations = nil
	if code == msg.CodeRejected || code == msg.CodeQuestionAborted {
		if kept, d.Locations = cv.preview(cv.result.Error.Details); kept == nil {
			for _, item := range cv.shown {
				if diff, ok := item.(DiffItem); ok {
					kept = append(kept, diff)
				}
			}
		}
	}
	if len(kept) > 0 {
		reason = marked(reason)
	}
	if code != msg.CodeCut {
		reason = fenced(reason, &plain)
	}
	d.Content = append(items(reason), kept...)
	return d
}

// marked says at the end of a reason that the change below it was not made:
// hunks that were and hunks that were not look the same.
func marked(reason []ContentBlock) []ContentBlock {
	const mark = "Not applied:"
	n := len(reason) - 1
	t, ok := reason[n].Block.(msg.Text)
	if !ok {
		return append(reason, ContentBlock{Block: msg.Text{Text: mark}})
	}
	t.Text = strings.TrimRight(t.Text, "\n") + "\n\n" + mark
	return append(reason[:n:n], ContentBlock{Block: t})
}
