package acp

import (
	"fmt"
	"path/filepath"
	"strings"

	"dsh-acp/internal/agent"
)

// A scope is what "always" covers: as a key for the log, and in the words of
// the option. The zero scope covers nothing: "always" is not offered.
//
// Keys are "edit", the kind of access, a colon and a folder or the beginning
// of a command, or "execute=" and a whole command.
type scope struct{ key, name string }

// scopeEdit is the scope of all files in the session's folders.
const scopeEdit = "edit"

func scopeOf(n agent.Need) scope {
	switch {
	case n.Access == agent.Execute && n.Rule == "":
		return scope{}
	case n.Access == agent.Execute && n.RuleExact:
		return scope{"execute=" + n.Rule, fmt.Sprintf("Yes, and don't ask again for exactly %s during this session", n.Rule)}
	case n.Access == agent.Execute:
		return scope{"execute:" + n.Rule, fmt.Sprintf("Yes, and don't ask again for %s commands during this session", n.Rule)}
	case n.Access == agent.Edit && !n.Outside:
		return scope{scopeEdit, "Yes, allow all edits during this session"}
	}
	dir, ok := folderOf(n.Paths)
	switch {
	case !ok:
		return scope{} // one folder's permission must not open another
	case n.Access == agent.Edit:
		return scope{"edit:" + dir, fmt.Sprintf("Yes, allow all edits in %s during this session", dir)}
	default:
		return scope{"read:" + dir, fmt.Sprintf("Yes, allow reading from %s during this session", dir)}
	}
}

// folderOf is the folder that all paths lie in directly, if there is one.
func folderOf(paths []string) (string, bool) {
	dir := ""
	for i, p := range paths {
		if d := filepath.Dir(p); i == 0 {
			dir = d
		} else if d != dir {
			return "", false
		}
	}
	return dir, dir != ""
}

// scopeWords tells what a scope allows.
func scopeWords(key string) string {
	if command, ok := strings.CutPrefix(key, "execute="); ok {
		return fmt.Sprintf("to run exactly `%s`", command)
	}
	kind, what, _ := strings.Cut(key, ":")
	switch {
	case key == scopeEdit:
		return "to edit files in the session's folders"
	case kind == "edit":
		return "to edit files in `" + what + "`"
	case kind == "read":
		return "to read files in `" + what + "`"
	case kind == "execute":
		return "to run `" + what + "` commands"
	}
	return "`" + key + "`" // of another version
}
