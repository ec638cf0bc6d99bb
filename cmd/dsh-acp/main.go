// Command dsh-acp is a coding agent that an editor runs over stdio, by the
// Agent Client Protocol. Without arguments it serves the protocol.
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/alecthomas/kong"

	"dsh-acp/internal/app"
	"dsh-acp/internal/config"
)

// version is set by the linker for releases.
var version = "0.1.0-dev"

// cli is the command line. Flags of settings are taken out before.
type cli struct {
	Serve       serveCmd       `cmd:"" default:"withargs" hidden:"" help:"Serve the Agent Client Protocol on standard input and output (the default)."`
	Demo        demoCmd        `cmd:"" help:"Show a whole session without a key and without a network."`
	Login       loginCmd       `cmd:"" help:"Ask for an API key and store it."`
	Logout      logoutCmd      `cmd:"" help:"Forget the stored API key."`
	Doctor      doctorCmd      `cmd:"" help:"Show the settings in force, what is missing, and how to add the agent to Zed."`
	Conformance conformanceCmd `cmd:"" help:"Compare an agent with recordings of claude-agent-acp."`
	Version     versionCmd     `cmd:"" help:"Print the version."`
}

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
	var c cli
	env := &environment{source: config.Source{Flags: flags}}
	parser, err := kong.New(&c, kong.Name("dsh-acp"), kong.UsageOnError(),
		kong.Description("A coding agent for editors that speak the Agent Client Protocol. Settings: see \"dsh-acp doctor\"."),
		kong.Bind(env), kong.Writers(os.Stdout, os.Stderr))
	if err != nil {
		panic("cmd: command line: " + err.Error())
	}
	ctx, err := parser.Parse(rest)
	if err != nil {
		return report(err, 2)
	}
	if err := ctx.Run(); err != nil {
		var code exitCode
		if errors.As(err, &code) {
			return int(code)
		}
		return report(err, 1)
	}
	return 0
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

type versionCmd struct{}

// Run prints the version.
func (versionCmd) Run() error {
	fmt.Println("dsh-acp", version)
	return nil
}
