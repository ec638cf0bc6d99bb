package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"dsh-acp/internal/demo"
)

type demoCmd struct {
	JSON bool `name:"json" help:"Print the messages as they are on the wire."`
}

// Run plays the demo with this program as the server.
func (d demoCmd) Run() error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("demo: where this program is: %w", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	return demo.Run(ctx, demo.Options{Agent: []string{self}, JSON: d.JSON, Out: os.Stdout, Log: os.Stderr})
}
