package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"dsh-acp/internal/demo"
)

// demonstrate plays the demo with this program as the server.
func demonstrate(_ *environment, args []string) error {
	var asJSON bool
	err := parse("demo", args, func(fs *flag.FlagSet) {
		fs.BoolVar(&asJSON, "json", false, "print the messages as they are on the wire")
	})
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("demo: where this program is: %w", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	return demo.Run(ctx, demo.Options{Agent: []string{self}, JSON: asJSON, Out: os.Stdout, Log: os.Stderr})
}
