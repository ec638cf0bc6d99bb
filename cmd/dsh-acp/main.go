// Command dsh-acp is a coding agent that an editor runs over stdio, by the
// Agent Client Protocol. Without arguments it serves the protocol.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime/debug"

	"dsh-acp/internal/app"
	"dsh-acp/internal/config"
)

// version is set by the linker for releases.
var version = "0.1.0-dev"

func main() {
	// A crash tells its cause and nothing else: editors show the last lines
	// of standard error. DSH_LOG=debug or trace brings the stacks back.
	switch os.Getenv("DSH_LOG") {
	case "debug", "trace":
	default:
		debug.SetTraceback("none")
	}
	os.Exit(run(os.Args[1:]))
}

// run gives the exit code: 0, 1 for what failed, 2 for a bad command line.
func run(args []string) int {
	flags, rest, err := config.TakeFlags(args)
	if err != nil {
		return report(err, 2)
	}
	c, rest, err := find(rest)
	if err == nil {
		err = c.run(&environment{source: config.Source{Flags: flags}}, rest)
	}
	var code exitCode
	var usage *usageError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &usage):
		return report(err, 2)
	}
	return report(err, 1)
}

// An exitCode ends the program after everything was said.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

func report(err error, code int) int {
	fmt.Fprintf(os.Stderr, "dsh-acp: %v\n", err)
	return code
}

// environment is what commands share.
type environment struct{ source config.Source }

func (e *environment) app() *app.App {
	return app.New(app.Options{Source: e.source, Version: version, Login: loginCommand(), Stderr: os.Stderr})
}

// loginCommand is this program's own way to ask for a key.
func loginCommand() []string {
	exe, err := os.Executable()
	if err != nil {
		exe = "dsh-acp"
	}
	return []string{exe, "login"}
}
