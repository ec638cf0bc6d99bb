package main

import (
	"context"
	"fmt"
)

// measureBash is what a command that writes without end costs the agent. The
// command's own time is that of other processes.
func measureBash(ctx context.Context, l *lab) ([]figure, error) {
	const output = 100_000_000
	env, err := l.script([][]block{
		{say("hello")},
		{{"type": "tool_use", "id": callID(0), "name": "Bash", "input": map[string]any{
			"command": fmt.Sprintf("yes 'one line of a log that nobody reads' | head -c %d", output)}}},
		{say("done")},
	})
	if err != nil {
		return nil, err
	}
	c, err := l.start(append(env, "DSH_MODE=bypassPermissions")...)
	if err != nil {
		return nil, err
	}
	session, _, _, err := c.open(ctx, l.work)
	if err != nil {
		return nil, err
	}
	if _, _, err := c.prompt(ctx, session, "Warm up."); err != nil {
		return nil, err
	}
	pid := c.cmd.Process.Pid
	w := newWatcher()
	c.observe(w.take)
	if err := resetPeak(pid); err != nil {
		return nil, err
	}
	memory0, err := memoryOf(pid)
	if err != nil {
		return nil, err
	}
	cpu0, err := cpuOf(pid)
	if err != nil {
		return nil, err
	}
	sent, done, err := c.prompt(ctx, session, "Run it.")
	if err != nil {
		return nil, err
	}
	cpu1, err := cpuOf(pid)
	if err != nil {
		return nil, err
	}
	memory1, err := memoryOf(pid)
	if err != nil {
		return nil, err
	}
	if s := w.calls[callID(0)]; s == nil || s.end.IsZero() {
		return nil, fmt.Errorf("the command was not completed; the last update: %.300s", w.last)
	}
	return []figure{
		{what: "CPU of the agent for 100 MB of output of a command", unit: "s", must: 1, got: (cpu1 - cpu0).Seconds(), note: fmt.Sprintf("%.2f s in all", done.Sub(sent).Seconds())},
		{what: "memory at its peak for 100 MB of output", unit: "MiB", must: 16, got: mib(memory1.peak - memory0.resident), exact: true},
	}, c.stop()
}
