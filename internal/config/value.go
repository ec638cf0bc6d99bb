package config

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Presets of tools that a [Toolset] can name.
var presets = []string{"claude", "patch", "hashline"}

// set parses text, as flags, variables and defaults hold it, into its place.
// Lists are separated by commas. An empty text resets to none.
func (s *Setting) set(c *Config, text string) error {
	switch p := s.bind(c).(type) {
	case *string:
		if text != "" {
			if err := s.allow(text); err != nil {
				return err
			}
		}
		*p = text
	case *bool:
		b, ok := map[string]bool{"true": true, "1": true, "yes": true, "on": true,
			"false": false, "0": false, "no": false, "off": false}[strings.ToLower(text)]
		if !ok {
			return fmt.Errorf("found %s, want true or false", show(text))
		}
		*p = b
	case *int64:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return fmt.Errorf("found %s, want a whole number %s", show(text), s.bounds())
		}
		return s.setInt(p, n)
	case *time.Duration:
		return s.setDuration(p, text)
	case *List:
		*p = nil
		if text != "" {
			*p = split(text)
		}
	case *Toolset:
		return setTools(p, split(text))
	default:
		panic(fmt.Sprintf("config: setting %s has no parser for %T", s.Name, p))
	}
	return nil
}

// allow checks a text that is not empty.
func (s *Setting) allow(text string) error {
	if len(s.Choices) > 0 && !slices.Contains(s.Choices, text) {
		why := fmt.Sprintf("found %s, want one of %s", show(text), strings.Join(s.Choices, ", "))
		if near := nearest(text, s.Choices); near != "" {
			why += fmt.Sprintf("; did you mean %q?", near)
		}
		return errors.New(why)
	}
	if s.check != nil {
		return s.check(text)
	}
	return nil
}

func (s *Setting) setInt(p *int64, n int64) error {
	if n < s.Min || n > s.Max {
		return fmt.Errorf("found %d, want a whole number %s", n, s.bounds())
	}
	*p = n
	return nil
}

func (s *Setting) bounds() string { return fmt.Sprintf("from %d to %d", s.Min, s.Max) }

func (s *Setting) setDuration(p *time.Duration, text string) error {
	low, high := time.Duration(s.Min)*time.Second, time.Duration(s.Max)*time.Second
	d, err := time.ParseDuration(text)
	if err != nil || d < low || d > high {
		return fmt.Errorf("found %s, want a time from %s to %s, such as 90s, 5m or 1h30m", show(text), brief(low), brief(high))
	}
	*p = d
	return nil
}

// brief writes a duration without zero parts: 5m, not 5m0s.
func brief(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}

func setTools(p *Toolset, names []string) error {
	if len(names) == 1 && slices.Contains(presets, names[0]) {
		*p = Toolset{Preset: names[0]}
		return nil
	}
	if len(names) == 0 {
		return fmt.Errorf("found no tool, want one of %s or a list of tool names", strings.Join(presets, ", "))
	}
	for i, n := range names {
		switch {
		case n == "":
			return fmt.Errorf("tool %d of the list has no name", i+1)
		case slices.Contains(presets, n):
			return fmt.Errorf("%q is a preset and stands alone; list single tools instead", n)
		case slices.Contains(names[:i], n):
			return fmt.Errorf("tool %q is listed twice", n)
		}
	}
	*p = Toolset{Tools: names}
	return nil
}

func split(text string) []string {
	parts := strings.Split(text, ",")
	out := make([]string, 0, len(parts))
	for _, p := range parts {
		if p = strings.TrimSpace(p); p != "" {
			out = append(out, p)
		}
	}
	return out
}

// text gives a value as [Setting.set] reads it, for a listing.
func (s *Setting) text(c *Config) string {
	switch p := s.bind(c).(type) {
	case *string:
		return *p
	case *bool:
		return strconv.FormatBool(*p)
	case *int64:
		return strconv.FormatInt(*p, 10)
	case *time.Duration:
		return brief(*p)
	case *List:
		return strings.Join(*p, ",")
	case *Toolset:
		return p.String()
	default:
		panic(fmt.Sprintf("config: setting %s has no text for %T", s.Name, p))
	}
}

// String is the preset, or the tools with commas between.
func (t Toolset) String() string {
	if t.Preset != "" {
		return t.Preset
	}
	return strings.Join(t.Tools, ",")
}

// show quotes what was found, cut short.
func show(text string) string {
	if text == "" {
		return "nothing"
	}
	if r := []rune(text); len(r) > 40 {
		return strconv.Quote(string(r[:40])) + "…"
	}
	return strconv.Quote(text)
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// checkVariable does not repeat what it found: a key may have been put there.
func checkVariable(text string) error {
	if !variableName.MatchString(text) {
		return errors.New("not the name of a variable; want the name of one that holds the key, not the key itself")
	}
	return nil
}

// checkURL does not repeat what it found, since a URL may hold a password.
func checkURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return errors.New("not a URL; want one such as https://host/path")
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New("want a URL that begins with https:// or http://")
	case u.Host == "":
		return errors.New("the URL names no host; want one such as https://host/path")
	case u.RawQuery != "" || u.Fragment != "":
		return errors.New("the URL has a query or a fragment; paths of requests are added to its end")
	}
	return nil
}
