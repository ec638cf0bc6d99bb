package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// serve serves the protocol until standard input ends or a signal comes.
func serve(env *environment, _ []string) error {
	out, err := takeStdout()
	if err != nil {
		return fmt.Errorf("standard output: %w", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return env.app().Serve(ctx, os.Stdin, out)
}
