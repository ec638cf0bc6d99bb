package cases

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Case is one fault as a test. Members that only people read are kept as
// they are.
type Case struct {
	ID       string            `json:"id"`
	Area     string            `json:"area"`
	Title    string            `json:"title"`
	Source   []string          `json:"source"`
	Symptom  string            `json:"symptom"`
	Decision json.RawMessage   `json:"decision"` // true, or the reason for ours
	Notes    string            `json:"notes"`
	Needs    []string          `json:"needs"`
	Limits   Limits            `json:"limits"`
	Config   Config            `json:"config"`
	Generate json.RawMessage   `json:"generate"`
	Files    map[string]File   `json:"files"`
	Model    []json.RawMessage `json:"model"`
	Hooks    []Fault           `json:"hooks"`
	Faults   []Fault           `json:"faults"`
	Call     *Step             `json:"call"`
	Steps    []Step            `json:"steps"`
	Expect   Expect            `json:"expect"`

	fault error // why the case cannot be run, or nil
}

// Limits bound a run of a case; 0 means no bound of its own.
type Limits struct {
	Seconds  float64 `json:"seconds"`
	MemoryMB int     `json:"memory_mb"`
}

// Config is what a case sets up. Root is absent for the workspace itself,
// null for none.
type Config struct {
	Root            json.RawMessage `json:"root"`
	Allowlist       *[]string       `json:"allowlist"`
	Blocklist       *[]string       `json:"blocklist"`
	ReadAllowlist   *[]string       `json:"read_allowlist"`
	ReadBlocklist   *[]string       `json:"read_blocklist"`
	Permission      string          `json:"permission"`
	LogLevel        string          `json:"log_level"`
	OverwriteUnread *bool           `json:"overwrite_unread"` // nil: allowed
}

// A Fault makes storage fail, or something happen, at a named moment.
type Fault struct {
	At         string          `json:"at"`
	Path       string          `json:"path"`
	Nth        int             `json:"nth"`
	AfterBytes int             `json:"after_bytes"`
	Errno      string          `json:"errno"`
	Do         json.RawMessage `json:"do"`
	Files      map[string]File `json:"files"`
	Shell      string          `json:"shell"`
}

// A Step is one thing to do. Which members count depends on Do; a call has
// Tool and Args, and no Do where a case has nothing else.
type Step struct {
	Do            string           `json:"do"`
	ID            string           `json:"id"`
	Tool          string           `json:"tool"`
	Args          json.RawMessage  `json:"args"`
	ArgsJSON      string           `json:"args_json"`
	Calls         []Step           `json:"calls"`
	Files         map[string]File  `json:"files"`
	Shell         string           `json:"shell"`
	Path          string           `json:"path"`
	OffsetSeconds float64          `json:"offset_seconds"`
	Expect        *json.RawMessage `json:"expect"`

	Message       json.RawMessage   `json:"message"`
	OrMessage     json.RawMessage   `json:"or_message"`
	Text          *string           `json:"text"`
	Base64        *string           `json:"base64"`
	BytesPerChunk int               `json:"bytes_per_chunk"`
	Contains      string            `json:"contains"`
	WithinMS      int               `json:"within_ms"`
	Bind          map[string]string `json:"bind"`
	To            string            `json:"to"`
	Result        json.RawMessage   `json:"result"`
	Error         json.RawMessage   `json:"error"`
	As            string            `json:"as"`
	MS            int               `json:"ms"`
	BytesPerSec   int               `json:"bytes_per_second"`
	P             float64           `json:"p"`
	Steps         []Step            `json:"steps"`
	Agent         json.RawMessage   `json:"agent"` // 1, 2, "first", "second"; absent: the current one

	Session           string       `json:"session"`
	TruncateTailBytes int          `json:"truncate_tail_bytes"`
	InsertBytes       *Base64Bytes `json:"insert_bytes"`
	AppendBytes       *Base64Bytes `json:"append_bytes"`
	RememberSize      string       `json:"remember_size"`
}

// Base64Bytes are bytes, or text, that damage a log.
type Base64Bytes struct {
	Base64      []byte `json:"base64"`
	Text        string `json:"text"`
	AfterRecord int    `json:"after_record"` // where they go; the header is no record
}

func (b *Base64Bytes) bytes() []byte { return append(b.Base64, b.Text...) }

// An Expect says what must hold. A nil member is not checked.
type Expect struct {
	Files         map[string]File            `json:"files"`
	Error         *ErrorExpect               `json:"error"`
	Details       json.RawMessage            `json:"details"`
	ResultSays    []string                   `json:"result_says"`
	ResultNotSays []string                   `json:"result_not_says"`
	Diffs         *[]DiffExpect              `json:"diffs"`
	DiffsOrder    []string                   `json:"diffs_order"`
	Hunks         *[]json.RawMessage         `json:"hunks"`
	Read          *ReadExpect                `json:"read"`
	ACP           *ACPExpect                 `json:"acp"`
	Collected     map[string]CollectedExpect `json:"collected"`
	ModelSaw      []SawExpect                `json:"model_saw"`
	Stdout        string                     `json:"stdout"`
	StderrSays    []string                   `json:"stderr_says"`
	ExitCode      *int                       `json:"exit_code"`
	ExitWithinMS  int                        `json:"exit_within_ms"`
	SessionLog    *LogExpect                 `json:"session_log"`
	SessionStore  string                     `json:"session_store"`
	CheckShell    json.RawMessage            `json:"check_shell"`
	SameAs        string                     `json:"same_as"`
	SameFields    []string                   `json:"same_fields"`
	AnyOf         []Expect                   `json:"any_of"`
	Then          []Step                     `json:"then"`
	Notes         string                     `json:"notes"`
}

// ErrorExpect is a failure of a certain kind.
type ErrorExpect struct {
	Kind    string          `json:"kind"`
	MustSay []string        `json:"must_say"`
	Details json.RawMessage `json:"details"`
}

// DiffExpect is a diff block. Path may be left out where a function is called
// that has none.
type DiffExpect struct {
	Path    string  `json:"path"`
	OldText *string `json:"oldText"`
	NewText string  `json:"newText"`
}

// ReadExpect is a read view: lines as number and text.
type ReadExpect struct {
	Lines      []json.RawMessage `json:"lines"`
	TotalLines *int              `json:"total_lines"`
}

// ACPExpect is about the updates of the call.
type ACPExpect struct {
	LastUpdate struct {
		Status       string   `json:"status"`
		ContentTypes []string `json:"content_types"`
	} `json:"last_update"`
}

// CollectedExpect is about the messages that a collect_until took.
type CollectedExpect struct {
	Contains           []json.RawMessage `json:"contains"`
	Ordered            []json.RawMessage `json:"ordered"`
	None               []json.RawMessage `json:"none"`
	Count              map[string]int    `json:"count"`
	SameFinalToolCalls string            `json:"same_final_tool_calls_as"`
}

// SawExpect is about what the model was given.
type SawExpect struct {
	ToolResult      string   `json:"tool_result"`
	IsError         *bool    `json:"is_error"`
	Says            string   `json:"says"`
	HistoryContains []string `json:"history_contains"`
}

// LogExpect is about the stored log.
type LogExpect struct {
	EveryLine string `json:"every_line"`
}

// Load reads the case files of a folder, in the order of their names. The
// folder may hold some areas only, but at least one.
func Load(dir string) ([]Case, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, fmt.Errorf("case folder %s: %w", dir, err)
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("case folder %s: no *.json file in it", dir)
	}
	slices.Sort(paths)
	var out []Case
	seen := map[string]string{}
	for _, p := range paths {
		raw, err := os.ReadFile(p)
		if err != nil {
			return nil, fmt.Errorf("case file: %w", err)
		}
		var list []json.RawMessage
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, fmt.Errorf("case file %s: %w", p, err)
		}
		for i, item := range list {
			c := parse(item)
			if c.ID == "" {
				return nil, fmt.Errorf("case file %s: case %d has no id: %w", p, i+1, c.fault)
			}
			if other, ok := seen[c.ID]; ok {
				return nil, fmt.Errorf("case file %s: the id %s is taken by a case of %s", p, c.ID, other)
			}
			seen[c.ID] = p
			out = append(out, c)
		}
	}
	return out, nil
}

// parse reads one case. What is wrong with it is told when it is run, so that
// the others are run too.
func parse(raw json.RawMessage) Case {
	var c Case
	if c.fault = strict(raw, &c); c.fault != nil {
		err := c.fault
		_ = json.Unmarshal(raw, &c) // for its id, as far as it goes
		c.fault = err
	} else if (c.Call == nil) == (len(c.Steps) == 0) {
		c.fault = fmt.Errorf("it needs either call or steps")
	}
	return c
}

// strict decodes JSON and refuses members that v does not have.
func strict(raw []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	return dec.Decode(v)
}

// steps returns what the case does, a single call as one step.
func (c Case) steps() []Step {
	if c.Call != nil {
		s := *c.Call
		s.Do = "call"
		return []Step{s}
	}
	return c.Steps
}

// allSteps yields every step, also those inside of others and of outcomes.
func (c Case) allSteps() []Step {
	var out []Step
	var walk func(list []Step)
	walk = func(list []Step) {
		for _, s := range list {
			out = append(out, s)
			walk(s.Calls)
			walk(s.Steps)
		}
	}
	walk(c.steps())
	for _, e := range c.Expect.AnyOf {
		walk(e.Then)
	}
	return out
}

// onTheWire reports whether the case drives the program rather than a tool.
func (c Case) onTheWire() bool {
	for _, s := range c.allSteps() {
		if strings.HasPrefix(s.Do, "send") || strings.HasPrefix(s.Do, "expect") {
			return true
		}
	}
	return len(c.Model) > 0
}
