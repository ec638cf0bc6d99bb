package tools

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/msg"
	"dsh-acp/internal/shell"
	"dsh-acp/presenter"
	"dsh-acp/tools/fs"
)

// Config says what the tools of a session work on.
type Config struct {
	// Cwd is the session's folder, absolute and clean; relative paths of a
	// model start there.
	Cwd string
	// Roots are the folders that belong to the session; nil means Cwd alone.
	// They only serve [Need.Outside]: what may be reached is Files' business.
	Roots []string
	// Files is where files are. Required. If it is an fsbackend.Locker, a
	// file is held by it from the look at it to the end of its change.
	Files fsbackend.Backend
	// Seen is what the session knows of its files; nil starts with nothing.
	Seen *fsbackend.Seen
	// Offer names the tools that the model is offered, in order; nil means
	// the preset "claude".
	Offer []string
	// OverwriteUnread lets Write replace a file that this session has not
	// seen. A file that changed after the session saw it is refused all the same.
	OverwriteUnread bool
	// Hiding is the first one; see [Set.Hide].
	Hiding Hiding
	// Patch has the choices of apply_patch.
	Patch PatchConfig
	// Hashline has the choices of fs_read, fs_write, fs_edit and fs_rollback.
	Hashline HashlineConfig
	// Commands runs the commands of Bash; nil means that none can be run. The
	// caller closes it.
	Commands *shell.Runner
	// Reach opens single files outside of what Files does, for calls that the
	// user is asked about; nil opens none.
	Reach Reach
	// Terminals are the client's, where Bash runs commands in them; nil runs
	// all commands by Commands.
	Terminals Terminals
	// Ripgrep is the program rg, by which Grep searches folders; "" searches
	// without it.
	Ripgrep string
	// Read bounds what one Read shows.
	Read ReadLimits
	// List names the entries of a folder, for a hint when a file is missing;
	// nil gives no hints.
	List func(ctx context.Context, dir string) ([]string, error)
}

// ReadLimits bound one Read. A zero field means its default.
type ReadLimits struct {
	Lines   int // default 20,000
	Columns int // characters of a line; default 20,000
	Bytes   int // of all lines with their numbers; default 102,400
}

// A Set is the tools of one session. It is safe for concurrent use.
type Set struct {
	env    env
	offer  []string
	hiding atomic.Pointer[Hiding]
}

// env is what the tools work with.
type env struct {
	Config
	box *fs.Box
}

// Presets of tools, by the name that the settings use.
var presets = map[string][]string{
	"claude": append([]string{"Read", "Write", "Edit"}, rest...),
	// edit is hidden unless the settings say otherwise; see [Hiding].
	"patch":    append([]string{"read", "write", "edit", applyPatch}, rest...),
	"hashline": append([]string{fs.NameRead, fs.NameWrite, fs.NameEdit, fs.NameRollback}, rest...),
}

// rest are the tools of every preset that do not change files themselves.
var rest = []string{"Bash", "BashOutput", "KillShell", "Glob", "Grep", "TodoWrite", "ExitPlanMode"}

// Preset returns the tools of a named preset, in the order in which they are
// offered, and whether there is one of that name.
func Preset(name string) ([]string, bool) {
	names, ok := presets[name]
	return slices.Clone(names), ok
}

// An Access is the kind of a call's effect.
type Access int

// Levels of [Access], from harmless to grave.
const (
	Look    Access = iota // changes nothing
	Change                // changes files
	Execute               // runs a program
	Ask                   // asks the user something itself
)

// A Need is what a call does to the world, for the question to the user.
type Need struct {
	Access  Access
	Paths   []string // the files it names, absolute and clean; the first is the main one
	Outside bool     // some path lies outside of the session's folders
	Reached bool     // one is only open since the user is asked about it; see [Reach]
	Command string   // the shell command, if it is one
	// Rule names the commands that a lasting permission would cover: those
	// that begin so, or this one alone if RuleExact is set. "" means that no
	// permission for the command should last.
	Rule      string
	RuleExact bool
	// Blind says that the call replaces what its preview cannot show: a file
	// that is no text, or one too large to compare.
	Blind bool
}

// A tool is one implementation, offered under one or more names. It is a
// [plainTool] or a [rawTool].
type tool interface {
	// spec is what the model is told.
	spec(name string) msg.ToolSpec
	// cards draws its calls.
	cards() presenter.Tool
}

// A plainTool takes a list of plain arguments.
type plainTool interface {
	tool
	// params are the arguments that it takes.
	params() []param
	// plan checks a call against the files as they are and changes nothing.
	plan(ctx context.Context, e *env, name string, args arguments) (*Plan, error)
}

// A rawTool reads its arguments itself.
type rawTool interface {
	tool
	// planRaw is as [plainTool]'s plan, for arguments as the model wrote them.
	planRaw(ctx context.Context, e *env, name, raw string) (*Plan, error)
}

// all has every tool under every name by which any preset offers it.
var all = map[string]tool{
	"Read": readTool{}, "read": readTool{},
	"Write": writeTool{}, "write": writeTool{},
	"Edit": editTool{}, "edit": editTool{},
	applyPatch:  applyPatchTool{},
	fs.NameRead: fsTool{fs.NameRead}, fs.NameWrite: fsTool{fs.NameWrite},
	fs.NameEdit: fsTool{fs.NameEdit}, fs.NameRollback: fsTool{fs.NameRollback},
	"Glob": globTool{}, "Grep": grepTool{}, "LS": lsTool{},
	"Bash": bashTool{}, "BashOutput": bashOutputTool{}, "KillShell": killShellTool{},
	"Agent": agentTool{}, "NotebookEdit": notebookTool{}, "TodoWrite": todoTool{}, "ExitPlanMode": planExitTool{},
}

// Presenters returns the presenters of all tools by each name under which any
// preset offers them, so that a session replays under any setting. It needs
// no backend.
func Presenters() map[string]presenter.Tool {
	out := make(map[string]presenter.Tool, len(all))
	for name, t := range all {
		out[name] = t.cards()
	}
	return out
}

// New makes the tools of a session. It fails if something required is missing
// or a name in c.Offer is not known.
func New(c Config) (*Set, error) {
	if c.Files == nil {
		return nil, fmt.Errorf("tools: Config.Files is nil")
	}
	if !filepath.IsAbs(c.Cwd) {
		return nil, fmt.Errorf("tools: the session's folder %q is not absolute", c.Cwd)
	}
	if c.Seen == nil {
		c.Seen = &fsbackend.Seen{}
	}
	if c.Roots == nil {
		c.Roots = []string{c.Cwd}
	}
	if c.Offer == nil {
		c.Offer = presets["claude"]
	}
	c.Read = ReadLimits{
		Lines:   cmp.Or(c.Read.Lines, 20_000),
		Columns: cmp.Or(c.Read.Columns, 20_000),
		Bytes:   cmp.Or(c.Read.Bytes, 102_400),
	}
	for _, name := range c.Offer {
		if all[name] == nil {
			return nil, fmt.Errorf("tools: there is no tool %q", name)
		}
	}
	s := &Set{env: env{Config: c}, offer: slices.Clone(c.Offer)}
	box, err := s.env.newBox()
	if err != nil {
		return nil, err
	}
	s.env.box = box
	s.Hide(c.Hiding)
	return s, nil
}

// Specs lists the tools that are offered and not hidden, in order.
func (s *Set) Specs() []msg.ToolSpec {
	names := s.shownNames()
	out := make([]msg.ToolSpec, len(names))
	for i, name := range names {
		if t, ok := all[name].(fsTool); ok {
			out[i] = fsSpec(t.name, s.env.Hashline)
			continue
		}
		out[i] = all[name].spec(name)
	}
	return out
}

// Plan decodes a request and checks it against the files as they are, without
// changing anything. A request that cannot succeed gives its error result
// instead of a plan.
func (s *Set) Plan(ctx context.Context, use msg.ToolUse) (*Plan, *msg.ToolResult) {
	if !slices.Contains(s.offer, use.Name) || s.hides(use.Name) {
		r := s.unavailable(use.Name)
		return nil, &r
	}
	p, err := s.plan(ctx, all[use.Name], use)
	if err != nil {
		r := failed(use.Name, err)
		return nil, &r
	}
	return p, nil
}

func (s *Set) plan(ctx context.Context, t tool, use msg.ToolUse) (*Plan, error) {
	switch t := t.(type) {
	case plainTool:
		return s.planPlain(ctx, t, use)
	case rawTool:
		return t.planRaw(ctx, &s.env, use.Name, use.Input)
	default:
		panic(fmt.Sprintf("tools: no way to plan a call of %T", t))
	}
}
