package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"dsh-acp/internal/app"
)

// serveMCP serves the tools to another host until standard input ends or a
// signal comes.
func serveMCP(env *environment, args []string) error {
	var opts app.MCPOptions
	var names list
	err := parse("mcp", args, func(fs *flag.FlagSet) {
		fs.Var((*list)(&opts.Roots), "root", "`folder` to work in; may be given again; without it the host is asked for its roots")
		fs.Var(&names, "tools", "`names` of tools or presets (claude, patch, hashline) with commas between; may be given again;\n"+
			"the default is the tools for files of hashline, and apply_patch")
		fs.StringVar(&opts.Engine, "engine", "", "how fs_edit edits: auto, replace or ast; without it as the settings say")
	})
	if err != nil {
		return err
	}
	for i, root := range opts.Roots {
		if opts.Roots[i], err = filepath.Abs(root); err != nil {
			return fmt.Errorf("--root: %w", err)
		}
	}
	for _, n := range names {
		for name := range strings.SplitSeq(n, ",") {
			if name = strings.TrimSpace(name); name != "" {
				opts.Tools = append(opts.Tools, name)
			}
		}
	}
	if opts.Tools, err = app.MCPTools(opts.Tools); err != nil {
		return &usageError{fmt.Errorf("mcp: --tools: %w", err)}
	}
	if err = app.CheckMCPEngine(opts.Engine); err != nil {
		return &usageError{fmt.Errorf("mcp: --engine: %w", err)}
	}
	out, err := takeStdout()
	if err != nil {
		return fmt.Errorf("standard output: %w", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return env.app().ServeMCP(ctx, opts, os.Stdin, out)
}
