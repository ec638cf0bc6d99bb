package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"dsh-acp/conformance"
)

type conformanceCmd struct {
	Run conformanceRunCmd `cmd:"" help:"Play recorded traces against an agent and show where it differs."`
}

type conformanceRunCmd struct {
	Traces  []string      `required:"" type:"existingdir" help:"Folder of scenarios with their traces, or a single one. May be given again."`
	Agent   string        `help:"Command line of the agent; the default is this program."`
	Adapter string        `help:"What the agent needs to be started: dsh-acp, claude-agent-acp or other. The default goes by the command."`
	Only    []string      `placeholder:"GLOB" help:"Names of the scenarios to play. May be given again."`
	JSON    string        `name:"json" placeholder:"FILE" help:"Write the report to a file, for programs."`
	Verbose bool          `short:"v" help:"Show values whole, and where each rule was used."`
	Timeout time.Duration `help:"Longest time for one scenario."`
	Jobs    int           `help:"Scenarios at a time."`
}

// Run plays the scenarios. The exit code is 1 if one failed.
func (c conformanceRunCmd) Run() error {
	agent, err := agentCommand(c.Agent)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	report, err := conformance.Run(ctx, conformance.Options{
		Traces: c.Traces, Agent: agent, Adapter: c.Adapter, Only: c.Only,
		Out: os.Stdout, JSON: c.JSON, Verbose: c.Verbose, Timeout: c.Timeout, Jobs: c.Jobs,
	})
	if err != nil {
		return err
	}
	if !report.OK() {
		return exitCode(1)
	}
	return nil
}

// agentCommand cuts a command line at its spaces; quotes hold words together,
// and a program with a path is looked up from here, since the agent is
// started in another folder.
func agentCommand(line string) ([]string, error) {
	if strings.TrimSpace(line) == "" {
		exe, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("this program's own path: %w", err)
		}
		return []string{exe}, nil
	}
	words, err := splitWords(line)
	if err != nil {
		return nil, fmt.Errorf("--agent: %w", err)
	}
	if strings.ContainsRune(words[0], os.PathSeparator) || strings.Contains(words[0], "/") {
		if words[0], err = filepath.Abs(words[0]); err != nil {
			return nil, fmt.Errorf("--agent: %w", err)
		}
	}
	return words, nil
}

// splitWords knows single and double quotes, and no escapes: paths of Windows
// are full of backslashes.
func splitWords(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune
	inWord := false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, inWord = r, true
		case r == ' ' || r == '\t':
			if inWord {
				words = append(words, word.String())
				word.Reset()
			}
			inWord = false
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a %c is not closed", quote)
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}
