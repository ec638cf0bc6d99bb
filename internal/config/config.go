// Package config finds the settings of the program, once, and keeps for each
// where it came from. They come, in rising order, from the defaults, the
// settings file, the environment and the flags; [Settings] is the one table
// of them. It also keeps the keys of model services ([Keys]), and tells what
// is in force ([Config.Doctor]).
//
// The package refuses to guess: an unknown name or a value that does not fit
// is an error with its place. It takes no key from the settings file, writes
// no key anywhere but to the key store, and prints none.
package config

import (
	"errors"
	"os"
	"time"
)

// Providers of language models.
const (
	Anthropic = "anthropic"
	OpenAI    = "openai"
	Scripted  = "scripted"
)

// Schemes of sending a key.
const (
	AuthAuto   = "auto" // by the provider and the kind of key
	AuthAPIKey = "x-api-key"
	AuthBearer = "bearer"
)

// What happens to a change of a file that was generated.
const (
	GeneratedOff    = "off"
	GeneratedWarn   = "warn"
	GeneratedRefuse = "refuse"
	OutsideAsk      = "ask"
	OutsideRefuse   = "refuse"
)

// When the model is asked for a session's title.
const (
	TitlesAuto   = "auto" // where the service is the provider's own
	TitlesAlways = "always"
	TitlesNever  = "never"
)

// When files are read and written through the editor.
const (
	EditorFilesAuto   = "auto" // where it offers that and can carry the file
	EditorFilesAlways = "always"
	EditorFilesNever  = "never"
)

// Engines of fs_edit.
const (
	EngineAuto    = "auto"
	EngineReplace = "replace"
	EngineAST     = "ast"
)

// What happens to an edit of lines that were not shown.
const (
	SeenOff    = "off"
	SeenWarn   = "warn"
	SeenReject = "reject"
)

// A Config is all settings as they are in force. What each means is said in
// the table that [Settings] gives.
type Config struct {
	Provider   string
	Model      string // "": the provider's default
	BaseURL    string // "": the provider's own
	APIKeyEnv  string
	AuthScheme string
	NoKey      bool
	ScriptFile string

	Effort         string // "": the model's default
	AutoCompact    bool
	Titles         string
	MaxTokens      int64 // 0: the model's default
	MaxRetries     int64 // 0: none
	IdleTimeout    time.Duration
	RequestTimeout time.Duration // 0: no limit
	RetryAfterCap  time.Duration

	Toolset              Toolset
	Mode                 string
	OverwriteUnread      bool
	SystemPromptMaxBytes int64

	// HideNativeWriteTools and HiddenToolNames count where apply_patch is
	// offered, and are read again before each request to a model.
	HideNativeWriteTools bool
	HiddenToolNames      List
	Patch                Patch

	Read     ReadCaps
	Diff     DiffCaps
	Guard    Guard
	Hashline Hashline

	EditorFiles    string
	EditorTerminal string // auto or never
	Ripgrep        string // auto or never

	Keyring  string
	LogLevel string
	LogFile  string // "": none
	StateDir string // absolute

	// Dir is the folder of the settings file and of the key file, absolute.
	Dir string
	// File is the settings file, whether or not it is there.
	File string

	origins map[string]Origin
	found   bool // the settings file is there
}

// ReadCaps bound what one read shows to the model.
type ReadCaps struct {
	MaxLines   int64
	MaxColumns int64 // characters of a line
	MaxBytes   int64
}

// Patch holds the choices of the tool apply_patch.
type Patch struct {
	MaxOperations int64
	MaxFiles      int64
	MaxFileBytes  int64
	MaxNewBytes   int64 // of all files of a call
	MaxSearch     int64 // bytes of search and oldText
	MaxExpect     int64
	MaxDepth      int64 // of JSON
	MaxTokens     int64 // of a JSON pointer
	MaxCandidates int64 // lines that an error lists
	AdjacentJSON  bool
	RemoveCreated bool
}

// DiffCaps bound hunks and cards.
type DiffCaps struct {
	BasisMaxBytes    int64 // of a file's text before a change, exclusive
	CardTextMaxBytes int64 // of a whole file's text in a card
}

// Guard holds the path lists, and what is done about generated files. A nil
// list is not set, an empty one is set and holds nothing.
type Guard struct {
	Allow, Block, ReadAllow, ReadBlock List
	Generated                          string
	Outside                            string // what comes of a path outside of the session's folders
}

// Hashline holds the choices of the tools with numbered lines.
type Hashline struct {
	Engine         string
	SeenLines      string
	NoRepair       bool
	AdvertiseBatch bool
}

// A List is a list of texts that knows unset (nil) from empty.
type List []string

// A Toolset is a preset, or a list of tools when Preset is "".
type Toolset struct {
	Preset string
	Tools  []string
}

// A Source is where settings are looked for. The zero value is the process's
// own environment and no flags.
type Source struct {
	// Getenv looks up a variable; nil means os.LookupEnv. A variable that is
	// set but empty counts as not set.
	Getenv func(name string) (string, bool)
	// Flags holds the text of each flag that was given, by the setting's name.
	Flags map[string]string
	// File is the settings file; "" means settings.json in the config folder,
	// which then may be missing.
	File string
}

func (s Source) env(name string) string {
	get := s.Getenv
	if get == nil {
		get = os.LookupEnv
	}
	v, _ := get(name)
	return v
}

// Load reads all settings. If some are bad, the error joins a
// *[FileError], *[EnvError] or *[FlagError] for each, and the Config holds
// what is good, so that [Config.Doctor] can still tell it.
func Load(src Source) (Config, error) {
	c := Config{origins: map[string]Origin{}}
	for _, s := range table {
		if err := s.set(&c, s.Default); err != nil {
			panic("config: default of " + s.Name + ": " + err.Error())
		}
	}
	var errs []error
	dir, err := configDir(src)
	errs = append(errs, err)
	c.Dir, c.File = dir, src.File
	if c.File == "" {
		c.File = settingsFile(dir)
	}
	errs = append(errs, c.applyFile(src.File != ""))
	errs = append(errs, c.applyEnv(src)...)
	errs = append(errs, c.applyFlags(src.Flags)...)
	errs = append(errs, c.finish(src)...)
	return c, errors.Join(errs...)
}

// finish checks what no single setting shows.
func (c *Config) finish(src Source) []error {
	errs := c.expand(src)
	if c.StateDir == "" {
		dir, err := stateDir(src)
		c.StateDir = dir
		errs = append(errs, err)
	}
	if c.Provider == Scripted && c.ScriptFile == "" {
		errs = append(errs, c.at("provider", "the scripted provider needs scriptFile (DSH_SCRIPT_FILE), the turns that it plays"))
	}
	return errs
}

// at makes an error about a setting that points to where it came from.
func (c *Config) at(name, why string) error {
	switch o := c.Origin(name); o.Kind {
	case FromFile:
		return &FileError{Path: o.Name, Line: o.Line, Column: o.Column, Key: name, Why: why}
	case FromEnv:
		return &EnvError{Name: o.Name, Setting: name, Why: why}
	case FromSession:
		return &SessionError{Key: name, Why: why}
	default:
		return &FlagError{Name: find(name).Flag, Why: why}
	}
}
