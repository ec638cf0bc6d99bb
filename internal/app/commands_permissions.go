package app

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dsh-acp/acp"
	"dsh-acp/internal/agent"
)

const permissionsUsage = "Say `/permissions` for the list, `/permissions keep N` to have number N of it hold in all sessions of this project, " +
	"and `/permissions revoke N` or `/permissions revoke all` to take back."

// permissions lists what the user allowed, has one hold for the project, or
// takes some back.
func (w *work) permissions(d agent.Desk, args []string) error {
	given, err := w.turn.Grants.List()
	switch {
	case len(args) == 0 || err != nil && args[0] != "revoke":
		return d.Say(permissionList(given, err))
	case len(args) != 2 || args[0] != "revoke" && args[0] != "keep":
		return d.Say(permissionsUsage)
	case args[0] == "revoke" && args[1] == "all":
		return w.revoke(d, given)
	}
	n, err := strconv.Atoi(args[1])
	if err != nil || n < 1 || n > len(given) {
		return d.Say(fmt.Sprintf("There is no number %s in the list of %d; `/permissions` shows it.", args[1], len(given)))
	}
	g := given[n-1]
	switch {
	case args[0] == "revoke":
		return w.revoke(d, given[n-1:n])
	case g.Project:
		return d.Say("That one holds for the project already: " + g.Words + ".")
	}
	if err := w.turn.Grants.Keep(g.Scope); err != nil {
		return d.Say("It was not kept: " + err.Error())
	}
	return d.Say(fmt.Sprintf("Kept: %s, without a question in every session that is opened in %s. "+
		"This stands in a file of your own, not in the project.", g.Words, w.setup.Cwd))
}

// revoke takes permissions back, and says which.
func (w *work) revoke(d agent.Desk, given []acp.Grant) error {
	if len(given) == 0 {
		return d.Say("There is no permission to take back.")
	}
	for _, g := range given {
		if err := w.turn.Grants.Revoke(g); err != nil {
			return d.Say("It was not taken back: " + err.Error())
		}
		also := " You will be asked again."
		if left, _ := w.turn.Grants.List(); hasScope(left, g.Scope) {
			also = " It still holds for the " + holder(!g.Project) + "; the list shows it."
		}
		if err := d.Say(fmt.Sprintf("Taken back for the %s: %s.%s\n\n", holder(g.Project), g.Words, also)); err != nil {
			return err
		}
	}
	return nil
}

func hasScope(given []acp.Grant, scope string) bool {
	return slices.ContainsFunc(given, func(g acp.Grant) bool { return g.Scope == scope })
}

func holder(project bool) string {
	if project {
		return "project"
	}
	return "session"
}

// permissionList tells what is allowed. err says that those of the project
// could not be read.
func permissionList(given []acp.Grant, err error) string {
	var b strings.Builder
	if len(given) == 0 && err == nil {
		return "You gave no permission that lasts: the mode alone decides what is asked."
	}
	if len(given) > 0 {
		b.WriteString("Allowed without a question:\n\n")
		for i, g := range given {
			fmt.Fprintf(&b, "%d. %s (in this %s)\n", i+1, g.Words, holder(g.Project))
		}
		b.WriteString("\n`/permissions revoke N` takes one back, `/permissions revoke all` all of them; " +
			"`/permissions keep N` has one of the session hold in all sessions of this project.\n")
	}
	if err != nil {
		fmt.Fprintf(&b, "\n%s\n", err)
	}
	return b.String()
}
