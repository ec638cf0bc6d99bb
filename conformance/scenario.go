package conformance

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Scenario says what happens in a run. Texts may hold the placeholders
// ${WORKSPACE}, ${HOME} and ${SESSION}.
type Scenario struct {
	Name        string            `json:"name"`
	Description string            `json:"description"`
	Files       map[string]File   `json:"files"` // the workspace before, by path with slashes
	Prompts     []string          `json:"prompts"`
	Client      json.RawMessage   `json:"client"`                // clientCapabilities
	SessionMeta json.RawMessage   `json:"sessionMeta,omitempty"` // _meta of session/new
	Env         map[string]string `json:"env,omitempty"`
	// Tools are the tools or presets that the session has, for agents whose
	// adapter can say so; empty means those of SessionMeta, else the adapter's.
	Tools []string `json:"tools,omitempty"`
	// Buffers are unsaved texts that the client's editor holds, by path with
	// slashes: a read through the client gives them in place of the file, and
	// a write through it saves the buffer.
	Buffers map[string]string `json:"buffers,omitempty"`
	// Terminals says that the client runs programs in terminals of its own;
	// without it such a request is refused.
	Terminals bool `json:"terminals,omitempty"`
	// Permissions are the answers to permission requests in order; then
	// PermissionDefault, else allow_once.
	Permissions       []string `json:"permissions"`
	PermissionDefault string   `json:"permissionDefault,omitempty"`
	Cancel            []Cancel `json:"cancel,omitempty"`
	Steps             []string `json:"steps"`
	// Assistant are the model's messages: lists of content blocks of the
	// Messages API, and of instructions whose type begins with "_".
	Assistant [][]json.RawMessage `json:"assistant"`
	After     map[string]File     `json:"after"`          // the workspace afterwards
	Home      map[string]File     `json:"home,omitempty"` // the home folder before
}

// Cancel sends session/cancel a while after the first update of a kind.
type Cancel struct {
	Prompt     int    `json:"prompt"`
	AfterFirst string `json:"afterFirst"`
	DelayMs    int    `json:"delayMs"`
}

// A File is a file's content, as text if it can be.
type File struct {
	Text   *string `json:"text,omitempty"`
	Base64 *string `json:"base64,omitempty"`
}

// Bytes returns the content. Neither form set is an empty file.
func (f File) Bytes() ([]byte, error) {
	switch {
	case f.Text != nil:
		return []byte(*f.Text), nil
	case f.Base64 != nil:
		return base64.StdEncoding.DecodeString(*f.Base64)
	default:
		return nil, nil
	}
}

// fileOf keeps b as text if that loses nothing.
func fileOf(b []byte) File {
	if isText(b) {
		s := string(b)
		return File{Text: &s}
	}
	s := base64.StdEncoding.EncodeToString(b)
	return File{Base64: &s}
}

// ReadScenario reads dir/scenario.json.
func ReadScenario(dir string) (*Scenario, error) {
	b, err := os.ReadFile(filepath.Join(dir, "scenario.json"))
	if err != nil {
		return nil, err
	}
	var s Scenario
	if err := json.Unmarshal(b, &s); err != nil {
		return nil, fmt.Errorf("%s: scenario.json: %w", dir, err)
	}
	if s.Name == "" {
		s.Name = filepath.Base(dir)
	}
	if len(s.Steps) == 0 {
		return nil, fmt.Errorf("%s: scenario.json: no steps", dir)
	}
	return &s, nil
}

// A Case is a scenario with the recording to compare with.
type Case struct {
	Dir      string
	Scenario *Scenario
	Trace    []Entry
}

// Load reads the scenarios in the folders of dir, sorted by name; dir may
// also be a scenario's folder itself. Folders without a scenario.json are
// passed over; one without a trace is an error, and so is a dir without
// any scenario.
func Load(dir string) ([]Case, error) {
	if _, err := os.Stat(filepath.Join(dir, "scenario.json")); err == nil {
		c, err := loadCase(dir)
		return []Case{c}, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []Case
	for _, e := range entries {
		sub := filepath.Join(dir, e.Name())
		if info, err := os.Stat(sub); err != nil || !info.IsDir() {
			continue
		}
		if _, err := os.Stat(filepath.Join(sub, "scenario.json")); errors.Is(err, os.ErrNotExist) {
			continue
		}
		c, err := loadCase(sub)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: no scenarios: want folders that hold scenario.json and trace.jsonl", dir)
	}
	return out, nil
}

func loadCase(dir string) (Case, error) {
	s, err := ReadScenario(dir)
	if err != nil {
		return Case{}, err
	}
	t, err := ReadTrace(filepath.Join(dir, "trace.jsonl"))
	return Case{Dir: dir, Scenario: s, Trace: t}, err
}

// A toolUse is a call that the scripted model makes.
type toolUse struct {
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
	Cut   *int            `json:"_cut"`
}

// toolUses lists the calls of the script, in order.
func (s *Scenario) toolUses() []toolUse {
	var out []toolUse
	for _, m := range s.Assistant {
		for _, b := range m {
			var u struct {
				Type string `json:"type"`
				toolUse
			}
			if json.Unmarshal(b, &u) == nil && u.Type == "tool_use" {
				out = append(out, u.toolUse)
			}
		}
	}
	return out
}

// notBuilt returns the first tool of the script that one of the patterns
// names, or "".
func (s *Scenario) notBuilt(patterns []string) string {
	for _, u := range s.toolUses() {
		if slices.ContainsFunc(patterns, func(p string) bool {
			ok, _ := filepath.Match(p, u.Name)
			return ok
		}) {
			return u.Name
		}
	}
	return ""
}

// startMode is the permission mode that the home folder's settings ask for,
// "" if there are none.
func (s *Scenario) startMode() string {
	b, err := s.Home[".claude/settings.json"].Bytes()
	if err != nil {
		return ""
	}
	var settings struct {
		Permissions struct {
			DefaultMode string `json:"defaultMode"`
		} `json:"permissions"`
	}
	if json.Unmarshal(b, &settings) != nil {
		return ""
	}
	return settings.Permissions.DefaultMode
}

// writeFiles lays out a folder, in the order of the names: searches tell files
// by when they were changed.
func writeFiles(root string, files map[string]File) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f := files[name]
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return fmt.Errorf("file %q: not below the folder", name)
		}
		b, err := f.Bytes()
		if err != nil {
			return fmt.Errorf("file %q: %w", name, err)
		}
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// readFiles reads a folder back. Links and special files are told by name.
func readFiles(root string) (map[string][]byte, error) {
	out := map[string][]byte{}
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if !d.Type().IsRegular() {
			out[filepath.ToSlash(rel)] = []byte("(" + d.Type().String() + ")")
			return nil
		}
		b, err := os.ReadFile(path)
		out[filepath.ToSlash(rel)] = b
		return err
	})
	return out, err
}

func cutStep(step string) (verb, arg string) {
	verb, arg, _ = strings.Cut(step, ":")
	return verb, arg
}
