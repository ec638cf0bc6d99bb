package conformance

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"dsh-acp/internal/modelserver"
)

// An Adapter is what the runner has to know of an agent.
type Adapter struct {
	Name string
	// Command is the program and its arguments. Required.
	Command []string
	// Env gives what the agent finds in its environment beyond a path, a
	// home and the system's own variables: above all where the model is.
	// Required.
	Env func(Setup) []string
	// Conversation tells requests of the main conversation from others; nil
	// means [modelserver.IsConversation].
	Conversation func(modelserver.Request) bool
	// Modes translates the scenarios' mode ids; one that is not in the map
	// keeps its name.
	Modes map[string]string
	// NotBuilt are patterns of tools that the agent does not have yet;
	// scenarios that call one are skipped.
	NotBuilt []string
	// Hide are further texts that a recording names instead: name to value.
	Hide map[string]string
}

// Setup is what a scenario's agent is started in.
type Setup struct {
	ModelURL  string
	Workspace string
	Home      string
	Scenario  *Scenario
}

// Names of the adapters, for [NewAdapter].
const (
	AdapterOurs   = "dsh-acp"
	AdapterClaude = "claude-agent-acp"
	AdapterOther  = "other"
)

// notBuilt is the table of the tools that this project does not have yet.
var notBuilt = []string{"Task*"}

// ourTools are offered in a scenario that names no tools: those that the
// recorded agent offers by default, so not the searches and the task list.
var ourTools = []string{"Read", "Write", "Edit", "Bash", "BashOutput", "KillShell", "ExitPlanMode", "NotebookEdit", "Agent"}

// NewAdapter makes the adapter of the given name for a command. "" picks one
// by the command: claude-agent-acp if some word of it says so, other if it
// does not name dsh-acp either.
func NewAdapter(name string, command []string) (Adapter, error) {
	if len(command) == 0 {
		return Adapter{}, fmt.Errorf("conformance: no agent command")
	}
	if name == "" {
		switch has := func(word string) bool {
			return slices.ContainsFunc(command, func(c string) bool { return strings.Contains(filepath.ToSlash(c), word) })
		}; {
		case has(AdapterClaude):
			name = AdapterClaude
		case has(AdapterOurs):
			name = AdapterOurs
		default:
			name = AdapterOther
		}
	}
	switch name {
	case AdapterOurs:
		return Adapter{Name: name, Command: command, Env: ourEnv, Modes: ourModes, NotBuilt: notBuilt}, nil
	case AdapterClaude:
		return Adapter{Name: name, Command: command, Env: claudeEnv, Hide: claudePlaces(command)}, nil
	case AdapterOther:
		return Adapter{Name: name, Command: command, Env: otherEnv}, nil
	default:
		return Adapter{}, fmt.Errorf("conformance: adapter %q: want %s, %s or %s", name, AdapterOurs, AdapterClaude, AdapterOther)
	}
}

// ourModes are the modes of the scenarios that go by another name here. The
// recorded agent's auto mode, its default, asks nothing for edits in the
// workspace.
var ourModes = map[string]string{"": "acceptEdits", "auto": "acceptEdits"}

const dummyKey = "sk-ant-scripted"

// ourEnv starts this project's agent in the mode that the scenario's settings
// ask for, with the retries under our name.
func ourEnv(s Setup) []string {
	mode := s.Scenario.startMode()
	if m, ok := ourModes[mode]; ok {
		mode = m
	}
	env := append(otherEnv(s),
		"DSH_MODE="+mode,
		"DSH_TOOLSET="+strings.Join(s.Scenario.tools(ourTools), ","),
		"DSH_STATE_DIR="+filepath.Join(s.Home, "state"),
		"XDG_CONFIG_HOME="+filepath.Join(s.Home, ".config"),
		"XDG_STATE_HOME="+filepath.Join(s.Home, ".local", "state"),
	)
	if n, ok := s.Scenario.Env["CLAUDE_CODE_MAX_RETRIES"]; ok {
		env = append(env, "DSH_MAX_RETRIES="+n)
	}
	return env
}

// tools are the scenario's own tools, else those that the session's _meta
// names for the recorded agent, but for those that are not built, else the
// given ones.
func (s *Scenario) tools(otherwise []string) []string {
	if len(s.Tools) > 0 {
		return s.Tools
	}
	var meta struct {
		ClaudeCode struct {
			Options struct {
				Tools []string `json:"tools"`
			} `json:"options"`
		} `json:"claudeCode"`
	}
	if json.Unmarshal(s.SessionMeta, &meta) != nil || len(meta.ClaudeCode.Options.Tools) == 0 {
		return otherwise
	}
	return slices.DeleteFunc(meta.ClaudeCode.Options.Tools, func(tool string) bool {
		return slices.ContainsFunc(notBuilt, func(pattern string) bool {
			ok, _ := path.Match(pattern, tool)
			return ok
		})
	})
}

// claudeEnv starts claude-agent-acp without anything that leaves the machine.
func claudeEnv(s Setup) []string {
	return append(otherEnv(s),
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "DISABLE_ERROR_REPORTING=1",
	)
}

// otherEnv is the common way to point an agent at a model service.
func otherEnv(s Setup) []string {
	env := []string{"ANTHROPIC_BASE_URL=" + s.ModelURL, "ANTHROPIC_API_KEY=" + dummyKey}
	for k, v := range s.Scenario.Env {
		env = append(env, k+"="+v)
	}
	return env
}

// claudePlaces names Node.js and the package's folder, which the agent tells
// in its login methods.
func claudePlaces(command []string) map[string]string {
	out := map[string]string{}
	for i, word := range command {
		abs, err := filepath.Abs(word)
		if err != nil {
			continue
		}
		if real, err := filepath.EvalSymlinks(abs); err == nil {
			abs = real
		}
		if dir, _, ok := strings.Cut(filepath.ToSlash(abs), "/dist/"); ok {
			out["${AGENT_PACKAGE}"] = filepath.FromSlash(dir)
		} else if i == 0 && strings.HasPrefix(filepath.Base(abs), "node") {
			out["${NODE}"] = abs
		}
	}
	return out
}

// baseEnv is what every agent gets of the runner's own environment: what a
// program needs to start at all, and nothing of the user's settings.
func baseEnv(home string) []string {
	env := []string{"HOME=" + home, "USERPROFILE=" + home}
	for _, k := range []string{
		"PATH", "LANG", "LC_ALL", "TZ", "TMPDIR", "TEMP", "TMP",
		"SystemRoot", "SystemDrive", "ComSpec", "PATHEXT", "WINDIR", "GOCOVERDIR",
	} {
		if v, ok := os.LookupEnv(k); ok {
			env = append(env, k+"="+v)
		}
	}
	return env
}
