package tools

// Traits say what the calls of a tool may do at most, for hosts that treat
// tools and not calls.
type Traits struct {
	Title string
	// Access is the gravest that a call may need.
	Access Access
	// Destroys says that a call may replace or remove what was there.
	Destroys bool
	// Repeats says that the same call again changes nothing more.
	Repeats bool
	// Session says that the tool is of no use without an agent's session: it
	// speaks to its user, or runs a helper.
	Session bool
}

// traits has each tool by every name under which it may be offered.
var traits = map[string]Traits{
	"Read": {Title: "Read a file"}, "read": {Title: "Read a file"},
	"Write":        {Title: "Write a whole file", Access: Change, Destroys: true, Repeats: true},
	"write":        {Title: "Write a whole file", Access: Change, Destroys: true, Repeats: true},
	"Edit":         {Title: "Replace a text in a file", Access: Change, Destroys: true},
	"edit":         {Title: "Replace a text in a file", Access: Change, Destroys: true},
	applyPatch:     {Title: "Change many files, all or nothing", Access: Change, Destroys: true},
	"NotebookEdit": {Title: "Edit a cell of a notebook", Access: Change, Destroys: true},
	"fs_read":      {Title: "Read files with line tags"},
	"fs_write":     {Title: "Write a whole file", Access: Change, Destroys: true},
	"fs_edit":      {Title: "Edit files by lines", Access: Change, Destroys: true},
	"fs_rollback":  {Title: "Put an earlier version of a file back", Access: Change, Destroys: true},
	"ast_edit":     {Title: "Rewrite code by its syntax", Access: Change, Destroys: true},
	"Glob":         {Title: "Find files by name"},
	"Grep":         {Title: "Search in files"},
	"LS":           {Title: "List a folder"},
	"Bash":         {Title: "Run a command", Access: Execute, Destroys: true},
	"BashOutput":   {Title: "Show a command's output"},
	"KillShell":    {Title: "End a command", Access: Execute, Destroys: true},
	"Agent":        {Title: "Have a helper do a task", Access: Execute, Destroys: true, Session: true},
	"TodoWrite":    {Title: "Show the plan", Session: true},
	"ExitPlanMode": {Title: "End plan mode", Access: Ask, Session: true},
}

// TraitsOf is what the calls of a tool may do, and whether there is a tool of
// that name that tells.
func TraitsOf(name string) (Traits, bool) {
	t, ok := traits[name]
	return t, ok && all[name] != nil
}
