package main

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"time"

	"dsh-acp/internal/modelserver"
	"dsh-acp/presenter"
)

// nothing is the model of sessions that are never asked.
func nothing(modelserver.Request) modelserver.Answer {
	return modelserver.Failure{Status: 500, Text: "this model is never asked"}
}

// measureDeltas is what the whole agent needs for a long answer in small
// pieces, from the service's events to the editor's lines.
func measureDeltas(ctx context.Context, l *lab) ([]figure, error) {
	const pieces = 20_000
	text := strings.Repeat("of words, and so it goes", pieces) // the length of a piece
	env, err := l.serve(func(r modelserver.Request) modelserver.Answer {
		if strings.HasSuffix(r.LastUser, "long") {
			return modelserver.Message{Blocks: []modelserver.Block{modelserver.Text{Text: text}}}
		}
		return modelserver.Message{Blocks: []modelserver.Block{modelserver.Text{Text: "short"}}}
	})
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
	if _, _, err := c.prompt(ctx, session, "Be short"); err != nil {
		return nil, err
	}
	chunks := 0
	c.observe(func(l line) {
		if strings.Contains(string(l.raw), `"agent_message_chunk"`) {
			chunks++
		}
	})
	before, err := cpuOf(c.cmd.Process.Pid)
	if err != nil {
		return nil, err
	}
	sent, done, err := c.prompt(ctx, session, "Be long")
	if err != nil {
		return nil, err
	}
	after, err := cpuOf(c.cmd.Process.Pid)
	if err != nil {
		return nil, err
	}
	c.observe(nil)
	return []figure{{
		what: fmt.Sprintf("CPU of the agent for %d text deltas", pieces), unit: "s", must: 0.6, got: (after - before).Seconds(),
		note: fmt.Sprintf("%d chunks in %.2f s", chunks, done.Sub(sent).Seconds()),
	}}, c.stop()
}

// measureHunks is the largest comparison that is made exactly: 2,000 edits,
// all over 100,000 lines.
func measureHunks(context.Context, *lab) ([]figure, error) {
	const lines, edits = 100_000, 2_000
	var before, after strings.Builder
	for i := range lines {
		before.WriteString(numbered(i) + rest)
		switch {
		case i%(lines/edits) != 7:
			after.WriteString(numbered(i) + rest)
		case i%3 == 0:
			after.WriteString("another " + numbered(i) + rest)
		case i%3 == 1:
			after.WriteString(numbered(i) + rest + "and one more" + rest)
		}
	}
	var a, b runtime.MemStats
	runtime.ReadMemStats(&a)
	start := time.Now()
	hunks := presenter.Hunks("f", before.String(), after.String())
	took := time.Since(start)
	runtime.ReadMemStats(&b)
	if len(hunks) != edits {
		return nil, fmt.Errorf("%d edits gave %d hunks", edits, len(hunks))
	}
	name := fmt.Sprintf("hunks of %d edits in %d lines", edits, lines)
	return []figure{
		{what: name, unit: "ms", must: 500, got: ms(took)},
		{what: name + ", all that is allocated", unit: "MiB", must: 128, got: mib(int64(b.TotalAlloc - a.TotalAlloc)), exact: true},
	}, nil
}
