package main

import (
	"context"
	"fmt"
	"path/filepath"
)

// measureSessions is what sessions cost that are in use: each has read a file
// and edited it, and all stay open.
func measureSessions(ctx context.Context, l *lab) ([]figure, error) {
	const sessions, edits = 5, 20
	path, err := l.lines(5_000)
	if err != nil {
		return nil, err
	}
	var answers [][]block
	for s := range sessions {
		answers = append(answers, []block{say("I look."), {
			"type": "tool_use", "id": fmt.Sprintf("read-%d", s), "name": "Read", "input": map[string]any{"file_path": filepath.Base(path)},
		}})
		for e := range edits {
			i := s*edits + e
			answers = append(answers, []block{say("The next line."), edit(callID(i), path, numbered(i), numbered(i)+", changed")})
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
	first, _, _, err := c.open(ctx, l.work)
	if err != nil {
		return nil, err
	}
	open := []string{first}
	for range sessions - 1 {
		id, _, err := c.session(ctx, l.work)
		if err != nil {
			return nil, err
		}
		open = append(open, id)
	}
	for _, id := range open {
		if _, _, err := c.prompt(ctx, id, "Change some lines."); err != nil {
			return nil, err
		}
	}
	m, err := memoryOf(c.cmd.Process.Pid)
	if err != nil {
		return nil, err
	}
	return []figure{{
		what: fmt.Sprintf("resident memory with %d sessions, right after a Read and %d edits in each", sessions, edits), unit: "MiB", must: 60, got: mib(m.resident),
		exact: true, note: m.parts(),
	}}, c.stop()
}
