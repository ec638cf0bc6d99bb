package tools

import (
	"encoding/json"
	"fmt"
	"strings"

	"dsh-acp/internal/msg"
	"dsh-acp/presenter"
)

type grepCards struct{}

// Call shows the search as a command line. It has no locations at all.
func (grepCards) Call(args json.RawMessage, _ bool) presenter.Card {
	d := loosely(args)
	var b strings.Builder
	b.WriteString("grep")
	for _, name := range []string{"-i", "-n"} {
		if d.flag(name) {
			b.WriteString(" " + name)
		}
	}
	for _, name := range []string{"-A", "-B", "-C"} {
		if n, ok := d.size(name); ok {
			fmt.Fprintf(&b, " %s %d", name, n)
		}
	}
	switch mode, _ := d.text("output_mode"); mode {
	case "files_with_matches":
		b.WriteString(" -l")
	case "count":
		b.WriteString(" -c")
	}
	if n, ok := d.size("head_limit"); ok {
		fmt.Fprintf(&b, " | head -%d", n)
	}
	if glob, _ := d.text("glob"); glob != "" {
		fmt.Fprintf(&b, " --include=\"%s\"", glob)
	}
	if t, _ := d.text("type"); t != "" {
		b.WriteString(" --type=" + t)
	}
	if d.flag("multiline") {
		b.WriteString(" -P")
	}
	if pattern, _ := d.text("pattern"); pattern != "" {
		fmt.Fprintf(&b, " \"%s\"", pattern)
	}
	if path, _ := d.text("path"); path != "" {
		b.WriteString(" " + path)
	}
	return presenter.Generic{Title: b.String(), Kind: presenter.KindSearch}
}

func (grepCards) Result(_ json.RawMessage, r msg.ToolResult) presenter.Card { return foundCard(r) }

func (grepCards) Input(args json.RawMessage) json.RawMessage { return args }

// flag and size are of [drawn], for the arguments of searches.
func (d drawn) flag(name string) bool {
	var b bool
	return json.Unmarshal(d.members[name], &b) == nil && b
}

func (d drawn) size(name string) (int, bool) {
	var n *float64
	if json.Unmarshal(d.members[name], &n) != nil || n == nil || *n < 0 || *n > 1<<31 {
		return 0, false
	}
	return int(*n), true
}
