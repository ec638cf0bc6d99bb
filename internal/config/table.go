package config

import (
	"slices"
	"strings"
)

// A Setting is one row of the table of settings.
type Setting struct {
	Name string // in the settings file; "a.b" is member b of the object a
	// Env is the variable that sets it; "" if there is none.
	Env string
	// Vendor are further variables, by provider, that count while that
	// provider is in force. Env wins over them.
	Vendor map[string]string
	Flag   string // such as --model
	// Default is the value as text; "" is none, and for lists not set.
	Default string
	Choices []string // for texts: the only ones that are allowed
	// Min and Max bound numbers; for durations they are seconds.
	Min, Max int64
	Help     string

	// bind gives the place of the value: a *string, *bool, *int64,
	// *time.Duration, *List or *Toolset.
	bind func(*Config) any
	// part takes the setting's share out of a variable that holds more than
	// one; false means that it holds none. nil takes all.
	part func(env string) (string, bool)
	// check looks at texts further.
	check func(text string) error
	// path says that a text is a path, where ~/ is the home folder.
	path bool
	// session says that a client may set it for one session too.
	session bool
}

// Settings gives the table of all settings, in the order of its listing. It
// is a copy.
func Settings() []Setting { return slices.Clone(table) }

const (
	kib = 1 << 10
	mib = 1 << 20
	gib = 1 << 30
)

// table begins with the provider, on which variables of vendors depend.
var table = rows([]Setting{
	{Name: "provider", Env: "DSH_PROVIDER", Default: Anthropic, Choices: []string{Anthropic, OpenAI, Scripted},
		Help: "kind of model service: the Anthropic Messages API, OpenAI chat completions, or turns from a file",
		bind: func(c *Config) any { return &c.Provider }},
	{Name: "model", Env: "DSH_MODEL", Vendor: map[string]string{Anthropic: "ANTHROPIC_MODEL", OpenAI: "OPENAI_MODEL"},
		Help: "model to ask; empty is the provider's default",
		bind: func(c *Config) any { return &c.Model }},
	{Name: "baseURL", Env: "DSH_BASE_URL", Vendor: map[string]string{Anthropic: "ANTHROPIC_BASE_URL", OpenAI: "OPENAI_BASE_URL"},
		Help: "address of the service; empty is the provider's own", check: checkURL,
		bind: func(c *Config) any { return &c.BaseURL }},
	{Name: "apiKeyEnv", Env: "DSH_API_KEY_ENV", Help: "name of a variable that holds the key, looked at before all other places", check: checkVariable,
		bind: func(c *Config) any { return &c.APIKeyEnv }},
	{Name: "authScheme", Env: "DSH_AUTH_SCHEME", Default: AuthAuto, Choices: []string{AuthAuto, AuthAPIKey, AuthBearer},
		Help: "header that carries the key; gateways often want bearer",
		bind: func(c *Config) any { return &c.AuthScheme }},
	{Name: "noKey", Env: "DSH_NO_KEY", Default: "false", Help: "the service needs no key, as local servers do",
		bind: func(c *Config) any { return &c.NoKey }},
	{Name: "scriptFile", Env: "DSH_SCRIPT_FILE", Help: "turns that the scripted provider plays", path: true,
		bind: func(c *Config) any { return &c.ScriptFile }},

	{Name: "effort", Env: "DSH_EFFORT", Help: "thought level that sessions start with, such as low, medium or high; empty is the model's own",
		bind: func(c *Config) any { return &c.Effort }},
	{Name: "autoCompact", Env: "DSH_AUTO_COMPACT", Default: "true", Help: "let the model sum a conversation up that nearly fills its window, or that the service calls too long",
		bind: func(c *Config) any { return &c.AutoCompact }},
	{Name: "titles", Env: "DSH_TITLES", Default: TitlesAuto, Choices: []string{TitlesAuto, TitlesAlways, TitlesNever},
		Help: "ask the model for a session's title after its first turn; auto does so where no baseURL is set, since other services may serve one request at a time",
		bind: func(c *Config) any { return &c.Titles }},
	{Name: "maxTokens", Env: "DSH_MAX_TOKENS", Default: "0", Max: 10_000_000, Help: "most tokens of one answer; 0 is the model's default",
		bind: func(c *Config) any { return &c.MaxTokens }},
	{Name: "maxRetries", Env: "DSH_MAX_RETRIES", Default: "4", Max: 100, Help: "further attempts after a request failed for a passing reason",
		bind: func(c *Config) any { return &c.MaxRetries }},
	{Name: "idleTimeout", Env: "DSH_IDLE_TIMEOUT", Default: "5m", Min: 1, Max: 86_400, Help: "how long a stream may be silent before it is given up",
		bind: func(c *Config) any { return &c.IdleTimeout }},
	{Name: "requestTimeout", Env: "DSH_REQUEST_TIMEOUT", Default: "0s", Max: 86_400, Help: "longest time for one request from start to end; 0s is no limit",
		bind: func(c *Config) any { return &c.RequestTimeout }},
	{Name: "retryAfterCap", Env: "DSH_RETRY_AFTER_CAP", Default: "30s", Min: 1, Max: 3_600, Help: "longest wait that a service may ask for before a retry",
		bind: func(c *Config) any { return &c.RetryAfterCap }},

	{Name: "toolset", Env: "DSH_TOOLSET", Default: "claude", Help: "tools offered to the model: claude, patch, hashline, or a list of names",
		session: true, bind: func(c *Config) any { return &c.Toolset }},
	{Name: "mode", Env: "DSH_MODE", Default: "default", Choices: []string{"default", "acceptEdits", "plan", "bypassPermissions"},
		Help: "permission mode that sessions start in",
		bind: func(c *Config) any { return &c.Mode }},
	{Name: "overwriteUnread", Env: "DSH_OVERWRITE_UNREAD", Default: "false", Help: "let a write replace a file that the session has not read",
		session: true, bind: func(c *Config) any { return &c.OverwriteUnread }},
	{Name: "hideNativeWriteTools", Env: "DSH_HIDE_NATIVE_WRITE_TOOLS", Default: "true",
		Help: "where apply_patch is offered, hide the other tools that edit text; a change counts from the next request to the model on",
		bind: func(c *Config) any { return &c.HideNativeWriteTools }},
	{Name: "hiddenToolNames", Env: "DSH_HIDDEN_TOOL_NAMES", Help: "where apply_patch is offered, further tools to hide, such as write; a change counts likewise",
		bind: func(c *Config) any { return &c.HiddenToolNames }},
	{Name: "patch.maxOperations", Env: "DSH_PATCH_MAX_OPERATIONS", Default: "200", Min: 1, Max: 10_000, Help: "most operations in one call of apply_patch",
		bind: func(c *Config) any { return &c.Patch.MaxOperations }},
	{Name: "patch.maxFiles", Env: "DSH_PATCH_MAX_FILES", Default: "64", Min: 1, Max: 10_000, Help: "most files in one call of apply_patch",
		bind: func(c *Config) any { return &c.Patch.MaxFiles }},
	{Name: "patch.maxFileBytes", Env: "DSH_PATCH_MAX_FILE_BYTES", Default: "8388608", Min: kib, Max: gib, Help: "largest file that apply_patch edits",
		bind: func(c *Config) any { return &c.Patch.MaxFileBytes }},
	{Name: "patch.maxNewBytes", Env: "DSH_PATCH_MAX_NEW_BYTES", Default: "33554432", Min: kib, Max: gib, Help: "most bytes that one call of apply_patch may bring",
		bind: func(c *Config) any { return &c.Patch.MaxNewBytes }},
	{Name: "patch.maxSearchBytes", Env: "DSH_PATCH_MAX_SEARCH_BYTES", Default: "1048576", Min: kib, Max: gib, Help: "longest search or oldText of apply_patch",
		bind: func(c *Config) any { return &c.Patch.MaxSearch }},
	{Name: "patch.maxExpect", Env: "DSH_PATCH_MAX_EXPECT", Default: "10000", Min: 1, Max: 1_000_000, Help: "most matches that one operation of apply_patch may expect",
		bind: func(c *Config) any { return &c.Patch.MaxExpect }},
	{Name: "patch.maxJSONDepth", Env: "DSH_PATCH_MAX_JSON_DEPTH", Default: "512", Min: 1, Max: 10_000, Help: "deepest nesting of JSON that apply_patch reads and writes",
		bind: func(c *Config) any { return &c.Patch.MaxDepth }},
	{Name: "patch.maxPointerTokens", Env: "DSH_PATCH_MAX_POINTER_TOKENS", Default: "128", Min: 1, Max: 10_000, Help: "most parts of a JSON pointer of apply_patch",
		bind: func(c *Config) any { return &c.Patch.MaxTokens }},
	{Name: "patch.maxCandidates", Env: "DSH_PATCH_MAX_CANDIDATES", Default: "20", Min: 1, Max: 1000, Help: "most lines that an error of apply_patch lists",
		bind: func(c *Config) any { return &c.Patch.MaxCandidates }},
	{Name: "patch.adjacentJSON", Env: "DSH_PATCH_ADJACENT_JSON", Default: "false", Help: "let apply_patch change neighbouring JSON members in one call",
		bind: func(c *Config) any { return &c.Patch.AdjacentJSON }},
	{Name: "patch.removeCreated", Env: "DSH_PATCH_REMOVE_CREATED", Default: "false", Help: "when a later write of an apply_patch call fails, remove the files that it had created",
		bind: func(c *Config) any { return &c.Patch.RemoveCreated }},
	{Name: "systemPromptMaxBytes", Env: "DSH_SYSTEM_PROMPT_MAX_BYTES", Default: "32768", Max: mib,
		Help: "most bytes of AGENTS.md or CLAUDE.md that go into the system prompt",
		bind: func(c *Config) any { return &c.SystemPromptMaxBytes }},

	{Name: "read.maxLines", Env: "DSH_READ_MAX_LINES", Default: "20000", Min: 1, Max: 1_000_000, Help: "most lines that one read shows",
		bind: func(c *Config) any { return &c.Read.MaxLines }},
	{Name: "read.maxColumns", Env: "DSH_READ_MAX_COLUMNS", Default: "20000", Min: 80, Max: mib, Help: "most characters of a line that a read shows",
		bind: func(c *Config) any { return &c.Read.MaxColumns }},
	{Name: "read.maxBytes", Env: "DSH_READ_MAX_BYTES", Default: "102400", Min: kib, Max: 64 * mib, Help: "most bytes that one read shows",
		bind: func(c *Config) any { return &c.Read.MaxBytes }},
	{Name: "diff.basisMaxBytes", Env: "DSH_DIFF_BASIS_MAX_BYTES", Default: "10485760", Min: 1, Max: gib,
		Help: "size from which a file is replaced without hunks",
		bind: func(c *Config) any { return &c.Diff.BasisMaxBytes }},
	{Name: "diff.cardTextMaxBytes", Env: "DSH_DIFF_CARD_TEXT_MAX_BYTES", Default: "524288", Min: kib, Max: 64 * mib,
		Help: "most bytes of a whole file that a card shows",
		bind: func(c *Config) any { return &c.Diff.CardTextMaxBytes }},

	{Name: "guard.allow", Env: "DSH_GUARD_ALLOW", Help: "single paths outside of the session's folders that tools may change too", path: true,
		session: true, bind: func(c *Config) any { return &c.Guard.Allow }},
	{Name: "guard.block", Env: "DSH_GUARD_BLOCK", Help: "paths that tools may not change, with all below", path: true,
		session: true, bind: func(c *Config) any { return &c.Guard.Block }},
	{Name: "guard.readAllow", Env: "DSH_GUARD_READ_ALLOW", Help: "single paths outside of the session's folders that tools may read too; not set is guard.allow", path: true,
		session: true, bind: func(c *Config) any { return &c.Guard.ReadAllow }},
	{Name: "guard.readBlock", Env: "DSH_GUARD_READ_BLOCK", Help: "paths that tools may not read, with all below; not set is guard.block; what a change needs to see of a file is decided by guard.block", path: true,
		session: true, bind: func(c *Config) any { return &c.Guard.ReadBlock }},
	{Name: "guard.outside", Env: "DSH_GUARD_OUTSIDE", Default: OutsideAsk, Choices: []string{OutsideAsk, OutsideRefuse},
		Help:    "what happens when a tool that works on one file names one outside of the session's folders: the user is asked about it, or the call is refused",
		session: true, bind: func(c *Config) any { return &c.Guard.Outside }},
	{Name: "guard.generated", Env: "DSH_GUARD_GENERATED", Default: GeneratedRefuse, Choices: []string{GeneratedOff, GeneratedWarn, GeneratedRefuse},
		Help:    "what happens when a tool changes a file whose head says that it was generated",
		session: true, bind: func(c *Config) any { return &c.Guard.Generated }},
	{Name: "hashline.engine", Env: "DSH_HASHLINE_ENGINE", Default: EngineAuto, Choices: []string{EngineAuto, EngineReplace, EngineAST},
		Help:    "how fs_edit edits: by what its arguments say, by numbered lines alone, or by syntax patterns alone",
		session: true, bind: func(c *Config) any { return &c.Hashline.Engine }},
	{Name: "hashline.seenLines", Env: "DSH_HASHLINE_SEEN_LINES", Default: SeenWarn, Choices: []string{SeenOff, SeenWarn, SeenReject},
		Help:    "what happens when fs_edit names lines that the model was never shown",
		session: true, bind: func(c *Config) any { return &c.Hashline.SeenLines }},
	{Name: "hashline.noRepair", Env: "DSH_HASHLINE_NO_REPAIR", Default: "false",
		Help:    "leave slips of fs_edit as they are, with a warning, where a parser proves them",
		session: true, bind: func(c *Config) any { return &c.Hashline.NoRepair }},
	{Name: "hashline.advertiseBatch", Env: "DSH_HASHLINE_ADVERTISE_BATCH", Default: "false",
		Help:    "tell the model that one call of fs_edit takes several files; such calls work all the same",
		session: true, bind: func(c *Config) any { return &c.Hashline.AdvertiseBatch }},

	{Name: "editorFiles", Env: "DSH_EDITOR_FILES", Default: EditorFilesAuto, Choices: []string{EditorFilesAuto, EditorFilesAlways, EditorFilesNever},
		Help:    "read and change the files of a session through the editor, which has unsaved text and shows changes for review: where it can, only so (a change that it cannot make is refused), or never",
		session: true, bind: func(c *Config) any { return &c.EditorFiles }},
	{Name: "editorTerminal", Env: "DSH_EDITOR_TERMINAL", Default: "auto", Choices: []string{"auto", "never"},
		Help: "run commands in the editor's terminals, where it has them and shows the output in no other way",
		bind: func(c *Config) any { return &c.EditorTerminal }},
	{Name: "ripgrep", Env: "DSH_RIPGREP", Default: "never", Choices: []string{"auto", "never"},
		Help: "search folders by rg where it is on the path; our own search is as fast, and knows the same rules on every machine",
		bind: func(c *Config) any { return &c.Ripgrep }},
	{Name: "keyring", Env: "DSH_KEYRING", Default: "auto", Choices: []string{"auto", "never"}, Help: "keep keys in the system's keyring if there is one, or only in a file",
		bind: func(c *Config) any { return &c.Keyring }},
	{Name: "logLevel", Env: "DSH_LOG", Default: "warn", Choices: []string{"trace", "debug", "info", "warn", "error", "off"},
		Help: "diagnostics on standard error; DSH_LOG is level or level:file", part: levelPart,
		bind: func(c *Config) any { return &c.LogLevel }},
	{Name: "logFile", Env: "DSH_LOG", Help: "file that gets the diagnostics too, rotated by size", part: filePart, path: true,
		bind: func(c *Config) any { return &c.LogFile }},
	{Name: "stateDir", Env: "DSH_STATE_DIR", Help: "folder of the session logs; empty is the system's place for state", path: true,
		bind: func(c *Config) any { return &c.StateDir }},
})

// rows gives each setting its flag: the name in lower case with dashes.
func rows(in []Setting) []Setting {
	for i := range in {
		var b strings.Builder
		b.WriteString("--")
		name := strings.NewReplacer("URL", "Url", "JSON", "Json").Replace(in[i].Name)
		for _, r := range name {
			switch {
			case r == '.':
				b.WriteByte('-')
			case r >= 'A' && r <= 'Z':
				b.WriteByte('-')
				b.WriteRune(r + ('a' - 'A'))
			default:
				b.WriteRune(r)
			}
		}
		in[i].Flag = b.String()
	}
	return in
}

func find(name string) *Setting {
	i := slices.IndexFunc(table, func(s Setting) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return &table[i]
}

func levelPart(env string) (string, bool) {
	level, _, _ := strings.Cut(env, ":")
	return level, level != ""
}

func filePart(env string) (string, bool) {
	_, file, _ := strings.Cut(env, ":")
	return file, file != ""
}
