package config

import "fmt"

// Kinds of [Origin], in rising order.
const (
	FromDefault = iota
	FromFile
	FromEnv
	FromFlag
	FromSession
)

// An Origin says where a value came from.
type Origin struct {
	Kind         int
	Name         string // the file, the variable or the flag
	Line, Column int    // in a file, 1-based; columns count characters
}

func (o Origin) String() string {
	switch o.Kind {
	case FromFile:
		return fmt.Sprintf("%s:%d", o.Name, o.Line)
	case FromEnv:
		return "environment " + o.Name
	case FromFlag:
		return "flag " + o.Name
	case FromSession:
		return "session"
	default:
		return "default"
	}
}

// Origin tells where the setting of that name came from.
func (c Config) Origin(name string) Origin { return c.origins[name] }

// A FileError is a fault in the settings file.
type FileError struct {
	Path         string
	Line, Column int    // 1-based; 0 if the file as a whole is meant
	Key          string // dotted name; "" if no key is meant
	Why          string
}

func (e *FileError) Error() string {
	s := "settings file " + e.Path
	if e.Line > 0 {
		s += fmt.Sprintf(":%d:%d", e.Line, e.Column)
	}
	if e.Key != "" {
		s += ": " + e.Key
	}
	return s + ": " + e.Why
}

// An EnvError is a fault in a variable of the environment.
type EnvError struct {
	Name    string // of the variable
	Setting string // that it would have set
	Why     string
}

func (e *EnvError) Error() string { return "environment " + e.Name + ": " + e.Why }

// A FlagError is a fault in a flag.
type FlagError struct{ Name, Why string }

func (e *FlagError) Error() string { return "flag " + e.Name + ": " + e.Why }

// A SessionError is a fault in what a client set for a session.
type SessionError struct {
	Key string // dotted name; "" if no key is meant
	Why string
}

func (e *SessionError) Error() string {
	if e.Key == "" {
		return "settings of the session: " + e.Why
	}
	return "settings of the session: " + e.Key + ": " + e.Why
}
