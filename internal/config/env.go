package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// applyEnv takes the settings from the environment. The table begins with the
// provider, so that vendors' variables are those of the one in force; a
// provider that only a flag names is looked at first.
func (c *Config) applyEnv(src Source) []error {
	var errs []error
	for i := range table {
		s := &table[i]
		provider := c.Provider
		if f := src.Flags["provider"]; f != "" {
			provider = f
		}
		for _, name := range []string{s.Vendor[provider], s.Env} {
			if name == "" {
				continue
			}
			text := src.env(name)
			if s.part != nil {
				text, _ = s.part(text)
			}
			if text == "" {
				continue
			}
			if err := s.set(c, text); err != nil {
				errs = append(errs, &EnvError{Name: name, Setting: s.Name, Why: err.Error()})
				continue
			}
			c.origins[s.Name] = Origin{Kind: FromEnv, Name: name}
		}
	}
	return errs
}

func (c *Config) applyFlags(flags map[string]string) []error {
	var errs []error
	for i := range table {
		s := &table[i]
		text, ok := flags[s.Name]
		if !ok {
			continue
		}
		if err := s.set(c, text); err != nil {
			errs = append(errs, &FlagError{Name: s.Flag, Why: err.Error()})
			continue
		}
		c.origins[s.Name] = Origin{Kind: FromFlag, Name: s.Flag}
	}
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		if find(name) == nil {
			errs = append(errs, &FlagError{Name: name, Why: unknown(name)})
		}
	}
	return errs
}

// TakeFlags takes the flags of settings out of a command line, for
// [Source].Flags: --name value or --name=value, and a bare --name for those
// that are true or false. The rest keeps its order. Behind "--" nothing is
// taken. A flag without its value is a *[FlagError].
func TakeFlags(args []string) (flags map[string]string, rest []string, err error) {
	flags = map[string]string{}
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return flags, append(rest, args[i:]...), nil
		}
		name, value, has := strings.Cut(args[i], "=")
		s := byFlag(name)
		if s == nil {
			rest = append(rest, args[i])
			continue
		}
		_, isBool := s.bind(new(Config)).(*bool)
		switch {
		case has:
		case isBool:
			value = "true"
		case i+1 < len(args):
			i++
			value = args[i]
		default:
			return nil, nil, &FlagError{Name: s.Flag, Why: fmt.Sprintf("it needs a value: %s", s.Help)}
		}
		flags[s.Name] = value
	}
	return flags, rest, nil
}

func byFlag(flag string) *Setting {
	for i := range table {
		if table[i].Flag == flag {
			return &table[i]
		}
	}
	return nil
}
