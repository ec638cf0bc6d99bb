package config

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Reference gives the table of settings as Markdown, for the documentation.
func Reference() string {
	var b strings.Builder
	b.WriteString("| setting | environment | flag | values | default | meaning |\n")
	b.WriteString("| --- | --- | --- | --- | --- | --- |\n")
	for i := range table {
		s := &table[i]
		vars := []string{"`" + s.Env + "`"}
		for _, v := range s.Vendor {
			vars = append(vars, "`"+v+"`")
		}
		slices.Sort(vars[1:])
		def := "none"
		if s.Default != "" {
			def = "`" + s.Default + "`"
		}
		name := "`" + s.Name + "`"
		if s.session {
			name += " ¹"
		}
		fmt.Fprintf(&b, "| %s | %s | `%s` | %s | %s | %s |\n", name, strings.Join(vars, ", "), s.Flag, s.values(), def, s.Help)
	}
	return b.String()
}

// values says in a few words what a setting takes.
func (s *Setting) values() string {
	switch s.bind(new(Config)).(type) {
	case *bool:
		return "true, false"
	case *int64:
		return fmt.Sprintf("%d to %d", s.Min, s.Max)
	case *time.Duration:
		return brief(time.Duration(s.Min)*time.Second) + " to " + brief(time.Duration(s.Max)*time.Second)
	case *List:
		if s.path {
			return "list of paths"
		}
		return "list of names"
	case *Toolset:
		return strings.Join(presets, ", ") + ", or a list"
	}
	switch {
	case len(s.Choices) > 0:
		return strings.Join(s.Choices, ", ")
	case s.path:
		return "path"
	default:
		return "text"
	}
}
