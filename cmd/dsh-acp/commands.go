package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

// The command line is read with package flag. A library for it that calls
// methods by names which it makes at run time would keep the linker from
// leaving out any exported method of the program: measured, that doubles the
// program and its resident memory (docs/design/command-line.md).

// A command is a row of the table. Its arguments come without the flags of
// settings, which may stand anywhere.
type command struct {
	name string // one word or two
	help string
	run  func(env *environment, args []string) error
}

// commands is the table, in the order of the help.
func commands() []command {
	return []command{
		{"", "serve the Agent Client Protocol on standard input and output", serve},
		{"mcp", "serve the tools to another host over the Model Context Protocol", serveMCP},
		{"login", "ask for an API key and store it", login},
		{"logout", "forget the stored API key", logout},
		{"doctor", "show the settings in force, what is missing, and how to add the agent to Zed", doctor},
		{"demo", "show a whole session without a key and without a network (--json: as it is on the wire)", demonstrate},
		{"conformance run", "play recorded traces against an agent and show where it differs", conformanceRun},
		{"conformance record", "record a trace of an agent", conformanceRecord},
		{"version", "print the version", printVersion},
	}
}

// A usageError says that the command line is wrong.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() + "; see dsh-acp --help" }

func (e *usageError) Unwrap() error { return e.err }

// find picks the command that args begin with. No words at all serve the
// protocol; a request for help is printed and gives flag.ErrHelp.
func find(args []string) (command, []string, error) {
	if len(args) > 0 {
		switch args[0] {
		case "-h", "-help", "--help", "help":
			usage(os.Stdout)
			return command{}, nil, flag.ErrHelp
		case "--version":
			args = append([]string{"version"}, args[1:]...)
		}
	}
	best, words := command{}, -1
	for _, c := range commands() {
		name := strings.Fields(c.name)
		if len(name) > words && len(name) <= len(args) && strings.Join(args[:len(name)], " ") == c.name {
			best, words = c, len(name)
		}
	}
	if words == 0 && len(args) > 0 {
		return command{}, nil, &usageError{fmt.Errorf("there is no command %q", strings.Join(args[:min(2, len(args))], " "))}
	}
	return best, args[words:], nil
}

func usage(w io.Writer) {
	fmt.Fprint(w, "dsh-acp is a coding agent for editors that speak the Agent Client Protocol.\n\nUsage: dsh-acp [command] [flags]\n\n")
	for _, c := range commands() {
		name := c.name
		if name == "" {
			name = "(none)"
		}
		fmt.Fprintf(w, "  %-20s %s\n", name, c.help)
	}
	fmt.Fprint(w, "\nFlags of a command: dsh-acp <command> --help. Each setting is a flag too: dsh-acp doctor lists them.\n")
}

// parse reads the flags of a command, which takes no other arguments.
func parse(name string, args []string, define func(*flag.FlagSet)) error {
	fs := flag.NewFlagSet("dsh-acp "+name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	define(fs)
	err := fs.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fs.SetOutput(os.Stdout)
		fs.Usage()
		fmt.Println("Each setting is a flag too, such as --guard-block: dsh-acp doctor lists them.")
		return err
	case err != nil:
		return &usageError{fmt.Errorf("%s: %w", name, err)}
	case fs.NArg() > 0:
		return &usageError{fmt.Errorf("%s: unexpected argument %q", name, fs.Arg(0))}
	}
	return nil
}

// none is for commands without flags of their own.
func none(*flag.FlagSet) {}

// A list is a flag that may be given again.
type list []string

func (l *list) String() string { return strings.Join(*l, " ") }

// Set adds a value.
func (l *list) Set(v string) error {
	*l = append(*l, v)
	return nil
}

func printVersion(_ *environment, args []string) error {
	if err := parse("version", args, none); err != nil {
		return err
	}
	fmt.Println("dsh-acp", version)
	return nil
}
