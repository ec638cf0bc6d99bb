package config

import (
	"errors"
	"path/filepath"
	"runtime"
	"strings"
)

// The places of files. XDG variables count on every system when they are
// absolute, as their standard demands. Without them:
//
//	           settings and keys       state
//	Windows    %APPDATA%\dsh-acp       %LOCALAPPDATA%\dsh-acp
//	others     ~/.config/dsh-acp       ~/.local/state/dsh-acp
//
// macOS is one of the others: people look for the files of command-line
// programs there, and share them between machines.

const product = "dsh-acp"

var errNoHome = errors.New("no home folder is known; set HOME, or XDG_CONFIG_HOME and DSH_STATE_DIR")

func configDir(src Source) (string, error) {
	return place(src, "XDG_CONFIG_HOME", "APPDATA", ".config")
}

func stateDir(src Source) (string, error) {
	return place(src, "XDG_STATE_HOME", "LOCALAPPDATA", filepath.Join(".local", "state"))
}

func settingsFile(dir string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "settings.json")
}

func place(src Source, xdg, windows, below string) (string, error) {
	if dir := src.env(xdg); filepath.IsAbs(dir) {
		return filepath.Join(dir, product), nil
	}
	if dir := src.env(windows); runtime.GOOS == "windows" && filepath.IsAbs(dir) {
		return filepath.Join(dir, product), nil
	}
	home, err := homeDir(src)
	if err != nil {
		return "", err
	}
	return filepath.Join(home, below, product), nil
}

func homeDir(src Source) (string, error) {
	names := []string{"HOME"}
	if runtime.GOOS == "windows" {
		names = []string{"USERPROFILE", "HOME"}
	}
	for _, n := range names {
		if dir := src.env(n); filepath.IsAbs(dir) {
			return dir, nil
		}
	}
	return "", errNoHome
}

// expand makes the paths among the settings absolute: ~/ is the home folder,
// and others start at the settings file that they stand in, or else at the
// working folder. Lists keep relative entries, which belong to the folder of
// each session.
func (c *Config) expand(src Source) []error {
	var errs []error
	for i := range table {
		s := &table[i]
		if !s.path {
			continue
		}
		var err error
		switch p := s.bind(c).(type) {
		case *string:
			*p, err = c.absolute(src, s.Name, *p)
		case *List:
			for i, text := range *p {
				if strings.HasPrefix(text, "~/") {
					if (*p)[i], err = c.absolute(src, s.Name, text); err != nil {
						break
					}
				}
			}
		}
		if err != nil {
			errs = append(errs, c.at(s.Name, err.Error()))
		}
	}
	return errs
}

func (c *Config) absolute(src Source, name, text string) (string, error) {
	if text == "" || filepath.IsAbs(text) {
		return text, nil
	}
	if rest, ok := strings.CutPrefix(text, "~/"); ok {
		home, err := homeDir(src)
		return filepath.Join(home, rest), err
	}
	if o := c.Origin(name); o.Kind == FromFile {
		text = filepath.Join(filepath.Dir(o.Name), text)
	}
	return filepath.Abs(text)
}
