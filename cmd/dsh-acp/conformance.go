package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"dsh-acp/conformance"
)

// conformanceRun plays scenarios. The exit code is 1 if one failed.
func conformanceRun(_ *environment, args []string) error {
	var traces, only list
	var agent string
	opts := conformance.Options{Out: os.Stdout}
	err := parse("conformance run", args, func(fs *flag.FlagSet) {
		fs.Var(&traces, "traces", "`folder` of scenarios with their traces, or a single one; may be given again")
		fs.Var(&only, "only", "`glob` for the names of the scenarios to play; may be given again")
		fs.StringVar(&opts.JSON, "json", "", "`file` to write the report to, for programs")
		fs.BoolVar(&opts.Exact, "exact", false, "accept no difference by a rule, for traces that the agent itself made")
		fs.BoolVar(&opts.Verbose, "v", false, "show values whole, and where each rule was used")
		fs.IntVar(&opts.Jobs, "jobs", 0, "scenarios at a time; 0 is one a processor, at most four")
		agentFlags(fs, &agent, &opts.Adapter, &opts.Timeout)
	})
	if err != nil {
		return err
	}
	if len(traces) == 0 {
		return &usageError{errors.New("conformance run: --traces is missing")}
	}
	opts.Traces, opts.Only = traces, only
	if opts.Agent, err = agentCommand(agent); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	report, err := conformance.Run(ctx, opts)
	if err != nil {
		return err
	}
	if !report.OK() {
		return exitCode(1)
	}
	return nil
}

// conformanceRecord makes a trace of any agent.
func conformanceRecord(_ *environment, args []string) error {
	var agent string
	var opts conformance.RecordOptions
	err := parse("conformance record", args, func(fs *flag.FlagSet) {
		fs.StringVar(&opts.Scenario, "scenario", "", "`folder` with the scenario.json to play")
		fs.StringVar(&opts.Out, "out", "", "`folder` to write scenario and trace to")
		agentFlags(fs, &agent, &opts.Adapter, &opts.Timeout)
	})
	if err != nil {
		return err
	}
	if opts.Scenario == "" || opts.Out == "" {
		return &usageError{errors.New("conformance record: --scenario and --out are needed")}
	}
	if opts.Agent, err = agentCommand(agent); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	return conformance.Record(ctx, opts)
}

func agentFlags(fs *flag.FlagSet, agent, adapter *string, timeout *time.Duration) {
	fs.StringVar(agent, "agent", "", "`command` line of the agent; the default is this program")
	fs.StringVar(adapter, "adapter", "", "what the agent needs to be started: dsh-acp, claude-agent-acp or other; the default goes by the command")
	fs.DurationVar(timeout, "timeout", 0, "longest time for one scenario")
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
