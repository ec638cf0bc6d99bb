package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"text/tabwriter"
)

// A Report is what "doctor" tells.
type Report struct {
	// File is the settings file and whether it is there, in a few words.
	File string
	Rows []Row // one a setting, in the order of the table, then the key
	// Problems are faults of the settings, whole sentences.
	Problems []string
	// Missing says what has to be given before a session can run.
	Missing []string
	// Zed is the block for the settings of the Zed editor, JSON.
	Zed string
}

// A Row is one setting as it is in force.
type Row struct{ Setting, Value, Origin, Problem string }

// Doctor makes the report. loadErr is [Load]'s error; cred and credErr are
// what [Config.Credential] gave; exe is the absolute path of this program.
func (c Config) Doctor(loadErr error, cred Credential, credErr error, exe string) Report {
	r := Report{File: c.File, Zed: c.zed(exe)}
	switch {
	case c.File == "":
		r.File = "none: no home folder is known"
	case !c.found:
		r.File += " (not there)"
	}
	faults := flatten(loadErr)
	for i := range table {
		s := &table[i]
		row := Row{Setting: s.Name, Value: s.shown(&c), Origin: c.Origin(s.Name).String()}
		for _, err := range faults {
			if about(err, s) {
				row.Problem = err.Error()
			}
		}
		r.Rows = append(r.Rows, row)
	}
	key := Row{Setting: "key", Value: "none", Origin: "nowhere"}
	switch {
	case credErr != nil:
		key.Problem = credErr.Error()
		r.Missing = append(r.Missing, credErr.Error())
	case cred.Key.IsZero():
		key.Origin = "not needed"
	default:
		key.Value, key.Origin = cred.Key.String()+", sent as "+cred.Scheme, cred.Where
	}
	r.Rows = append(r.Rows, key)
	for _, err := range faults {
		r.Problems = append(r.Problems, err.Error())
	}
	return r
}

// flatten takes joined errors apart.
func flatten(err error) []error {
	if err == nil {
		return nil
	}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		var out []error
		for _, e := range many.Unwrap() {
			out = append(out, flatten(e)...)
		}
		return out
	}
	return []error{err}
}

func about(err error, s *Setting) bool {
	var file *FileError
	var env *EnvError
	var flag *FlagError
	switch {
	case errors.As(err, &file):
		return file.Key == s.Name
	case errors.As(err, &env):
		return env.Setting == s.Name
	case errors.As(err, &flag):
		return flag.Name == s.Flag
	}
	return false
}

// shown is the value for a person's eyes: without the password of a URL, and
// with words for what is not there.
func (s *Setting) shown(c *Config) string {
	if list, ok := s.bind(c).(*List); ok {
		switch {
		case *list == nil:
			return "(not set)"
		case len(*list) == 0:
			return "(empty)"
		}
	}
	text := s.text(c)
	if text == "" {
		return "(none)"
	}
	if u, err := url.Parse(text); err == nil && u.User != nil {
		return u.Redacted()
	}
	return text
}

// zed gives the block to paste. What this shell's environment sets is in it,
// since an editor that was started elsewhere does not see it; keys are not.
func (c Config) zed(exe string) string {
	type agent struct {
		Type    string            `json:"type"`
		Command string            `json:"command"`
		Args    []string          `json:"args"`
		Env     map[string]string `json:"env"`
	}
	a := agent{Type: "custom", Command: exe, Args: []string{}, Env: map[string]string{}}
	for i := range table {
		s := &table[i]
		o := c.Origin(s.Name)
		if o.Kind != FromEnv {
			continue
		}
		text := s.text(&c)
		if u, err := url.Parse(text); err == nil && u.User != nil {
			continue // holds a password
		}
		if s.part != nil {
			text = c.LogLevel
			if c.LogFile != "" {
				text += ":" + c.LogFile
			}
		}
		a.Env[o.Name] = text
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(map[string]any{"agent_servers": map[string]any{product: a}}); err != nil {
		panic("config: " + err.Error()) // texts always encode
	}
	return strings.TrimSpace(b.String())
}

// Text writes the report for a terminal.
func (r Report) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Settings file: %s\n\n", r.File)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range r.Rows {
		mark := " "
		if row.Problem != "" {
			mark = "!"
		}
		fmt.Fprintf(w, "%s %s\t%s\t%s\n", mark, row.Setting, row.Value, row.Origin)
	}
	w.Flush()
	section := func(title string, lines []string) {
		if len(lines) > 0 {
			fmt.Fprintf(&b, "\n%s\n", title)
		}
		for _, l := range lines {
			fmt.Fprintf(&b, "  %s\n", l)
		}
	}
	section("Problems:", r.Problems)
	section("Missing:", r.Missing)
	fmt.Fprintf(&b, "\nFor Zed, in settings.json:\n%s\n", r.Zed)
	return b.String()
}
