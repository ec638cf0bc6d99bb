package app

import (
	"fmt"
	"strconv"
	"strings"

	"dsh-acp/internal/agent"
)

// permissions lists what the user allowed for the session, or takes one back.
func (w *work) permissions(d agent.Desk, args []string) error {
	scopes := w.turn.Grants.List()
	switch {
	case len(args) == 0 && len(scopes) == 0:
		return d.Say("You gave no permission for this session: the mode alone decides what is asked.")
	case len(args) == 0:
		var b strings.Builder
		b.WriteString("Allowed without a question in this session:\n\n")
		for i, s := range scopes {
			fmt.Fprintf(&b, "%d. %s\n", i+1, scopeWords(s))
		}
		b.WriteString("\n`/permissions revoke N` takes one back.\n")
		return d.Say(b.String())
	case args[0] != "revoke" || len(args) != 2:
		return d.Say("Say `/permissions` for the list, or `/permissions revoke N` with a number of it.")
	}
	n, err := strconv.Atoi(args[1])
	if err != nil || n < 1 || n > len(scopes) {
		return d.Say(fmt.Sprintf("There is no number %s in the list of %d; `/permissions` shows it.", args[1], len(scopes)))
	}
	if err := w.turn.Grants.Revoke(scopes[n-1]); err != nil {
		return err
	}
	return d.Say(fmt.Sprintf("Taken back: %s. You will be asked again.", scopeWords(scopes[n-1])))
}

// scopeWords tells a scope as the list does.
func scopeWords(scope string) string {
	if command, ok := strings.CutPrefix(scope, "execute="); ok {
		return fmt.Sprintf("to run exactly `%s`", command)
	}
	kind, what, _ := strings.Cut(scope, ":")
	switch {
	case kind == "edit" && what == "":
		return "to edit files in the session's folders"
	case kind == "edit":
		return "to edit files in `" + what + "`"
	case kind == "read":
		return "to read files in `" + what + "`"
	case kind == "execute":
		return "to run `" + what + "` commands"
	}
	return "`" + scope + "`"
}
