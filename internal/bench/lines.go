package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Lengths of lines: one that is served, and one over the cap.
const (
	longLine = 60 << 20
	overCap  = 65 << 20
)

// measureLines is whether very long lines pass, in either direction. The
// counts are of those that did not.
func measureLines(ctx context.Context, l *lab) ([]figure, error) {
	env, err := l.script([][]block{{say("That was long.")}})
	if err != nil {
		return nil, err
	}
	c, err := l.start(env...)
	if err != nil {
		return nil, err
	}
	session, _, _, err := c.open(ctx, l.work)
	if err != nil {
		return nil, err
	}
	text := strings.Repeat("x", longLine)
	sent, done, err := c.prompt(ctx, session, text)
	if err != nil {
		return nil, err
	}
	inward := done.Sub(sent)
	peak, err := memoryOf(c.cmd.Process.Pid)
	if err != nil {
		return nil, err
	}

	later, err := calm(ctx, c.cmd.Process.Pid, 4*longLine)
	if err != nil {
		return nil, err
	}

	refused, after, err := c.overCap(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.stop(); err != nil {
		return nil, err
	}

	outward, got, err := l.replayed(ctx, session, env)
	if err != nil {
		return nil, err
	}
	return []figure{
		{what: "a line of 60 MiB to the agent: not served", got: 0, exact: true,
			note: fmt.Sprintf("%.2f s, memory at its peak %.0f MiB, later %.0f MiB", inward.Seconds(), mib(peak.peak), mib(later.resident))},
		{what: "a line of 60 MiB from the agent: not served", got: failure(got >= longLine), exact: true,
			note: fmt.Sprintf("session/load of it %.2f s", outward.Seconds())},
		{what: "a line over the cap: not refused with an error", got: failure(refused), exact: true},
		{what: "the line after one over the cap: not served", got: failure(after), exact: true},
	}, nil
}

func failure(ok bool) float64 {
	if ok {
		return 0
	}
	return 1
}

// overCap sends a line that is too long and a good one behind it.
func (c *child) overCap(ctx context.Context) (refused, after bool, err error) {
	var answered *answerError
	_, _, err = c.call(ctx, "session/list", map[string]any{"cursor": strings.Repeat("x", overCap)}, nil)
	refused = errors.As(err, &answered)
	if err != nil && !refused {
		return false, false, err
	}
	_, _, err = c.call(ctx, "session/list", map[string]any{}, nil)
	return refused, err == nil, nil
}

// replayed loads a session with a long prompt into another process, and gives
// the length of the longest line that came.
func (l *lab) replayed(ctx context.Context, session string, env []string) (took time.Duration, longest int, err error) {
	c, err := l.start(env...)
	if err != nil {
		return 0, 0, err
	}
	if _, _, err := c.call(ctx, "initialize", map[string]any{"protocolVersion": 1}, nil); err != nil {
		return 0, 0, err
	}
	c.observe(func(l line) { longest = max(longest, len(l.raw)) })
	sent, a, err := c.call(ctx, "session/load", map[string]any{"sessionId": session, "cwd": l.work, "mcpServers": []any{}}, nil)
	if err != nil {
		return 0, 0, err
	}
	c.observe(nil)
	return a.at.Sub(sent), longest, c.stop()
}
