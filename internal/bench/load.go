package main

import (
	"context"
	"fmt"
	"strings"
)

// measureLoad is how long an editor waits for a long session.
func measureLoad(ctx context.Context, l *lab) ([]figure, error) {
	const turns, each = 50, 20
	path, err := l.lines(turns * each)
	if err != nil {
		return nil, err
	}
	var answers [][]block
	for t := range turns {
		for e := range each {
			i := t*each + e
			at := numbered(i)
			answers = append(answers, []block{say("The next line."), edit(callID(i), path, at, at+", changed")})
		}
		answers = append(answers, []block{say("done")})
	}
	env, err := l.script(answers)
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
	for range turns {
		if _, _, err := c.prompt(ctx, session, "Change some lines."); err != nil {
			return nil, err
		}
	}
	if err := c.stop(); err != nil {
		return nil, err
	}

	if c, err = l.start(env...); err != nil {
		return nil, err
	}
	if _, _, err := c.call(ctx, "initialize", map[string]any{"protocolVersion": 1}, nil); err != nil {
		return nil, err
	}
	completed, bytes := 0, 0
	c.observe(func(l line) {
		bytes += len(l.raw)
		if strings.Contains(string(l.raw), `"status":"completed"`) {
			completed++
		}
	})
	sent, a, err := c.call(ctx, "session/load", map[string]any{"sessionId": session, "cwd": l.work, "mcpServers": []any{}}, nil)
	if err != nil {
		return nil, err
	}
	c.observe(nil)
	if completed != turns*each {
		return nil, fmt.Errorf("session/load showed %d edits of %d", completed, turns*each)
	}
	m, err := memoryOf(c.cmd.Process.Pid)
	if err != nil {
		return nil, err
	}
	return []figure{{
		what: fmt.Sprintf("session/load of %d edits", turns*each), unit: "ms", must: 250, got: ms(a.at.Sub(sent)),
		note: fmt.Sprintf("%.1f MiB sent; then resident %.1f MiB", mib(int64(bytes)), mib(m.resident)),
	}}, c.stop()
}
