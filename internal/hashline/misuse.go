package hashline

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// misuseOfTarget finds arguments of another engine in one of targets.
func misuseOfTarget(t map[string]json.RawMessage, where string) error {
	switch {
	case has(t, "pat") || has(t, "out") || has(t, "paths"):
		return correct(where+" has pat, out or paths, which belong to ast", ShapeASTMany)
	case has(t, "old_string") || has(t, "new_string"):
		return correct(where+" has old_string or new_string, which belong into edits", ShapeEdits)
	case isList(t["ops"]):
		return correct(where+" has ops as a list, which belongs to ast; for numbered lines ops is a text", ShapeASTMany, ShapeTargets)
	}
	if reason := misread(textOf(t["ops"])); reason != "" {
		return correct(where+": "+reason, ShapeASTMany)
	}
	return nil
}

var metavariable = regexp.MustCompile(`\$(?:\$\$)?[A-Z_][A-Z0-9_]*`)

// misread finds a syntax pattern in ops. Rows with "+" are text, which may
// hold variables of a shell.
func misread(ops string) string {
	for line := range strings.Lines(ops) {
		if !strings.HasPrefix(line, "+") {
			if m := metavariable.FindString(line); m != "" {
				return fmt.Sprintf("%s in ops is a syntax pattern, and ops as a text are for numbered lines (rows of text begin with +)", m)
			}
		}
	}
	return ""
}
