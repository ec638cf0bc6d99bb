// Run runs the bank of cases of a folder:
//
//	go run ./internal/cases/run [-only PATTERN] [-agent PROGRAM] [-v] DIR
//
// It exits with 0 if no case failed, with 1 if one did, and with 2 if the
// cases could not be run.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"dsh-acp/internal/cases"
)

func main() { os.Exit(run()) }

func run() int {
	only := flag.String("only", "", "run the cases whose ids match `PATTERN`")
	agent := flag.String("agent", "", "the `PROGRAM` for cases of the protocol, with its arguments; built from this project if empty")
	repeat := flag.Int("repeat", 0, "how often a case with calls at the same time is run")
	verbose := flag.Bool("v", false, "name the cases that pass too")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: run [flags] DIR")
		flag.PrintDefaults()
		return 2
	}
	opts := cases.Options{Dir: flag.Arg(0), Only: *only, Repeat: *repeat, Verbose: *verbose, Out: os.Stdout}
	if *agent != "" {
		opts.Agent = strings.Fields(*agent)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	report, err := cases.Run(ctx, opts)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "cases:", err)
		return 2
	case report.Failed > 0:
		return 1
	}
	return 0
}
