package main

import (
	"context"
	"fmt"
	"time"
)

// runs is how often the program is started for the median.
const runs = 20

// measureStart is how long an editor waits for the program.
func measureStart(ctx context.Context, l *lab) ([]figure, error) {
	env, err := l.script([][]block{{say("hello")}})
	if err != nil {
		return nil, err
	}
	var toInitialize, toSession []time.Duration
	for range runs {
		begin := time.Now()
		c, err := l.start(env...)
		if err != nil {
			return nil, err
		}
		_, initialized, opened, err := c.open(ctx, l.work)
		if err != nil {
			return nil, err
		}
		toInitialize = append(toInitialize, initialized.Sub(begin))
		toSession = append(toSession, opened.Sub(begin))
		if err := c.stop(); err != nil {
			return nil, err
		}
	}
	return []figure{
		{what: fmt.Sprintf("process start to the initialize answer, median of %d", runs), unit: "ms", must: 20, got: ms(median(toInitialize))},
		{what: fmt.Sprintf("process start to the session/new answer, median of %d", runs), unit: "ms", must: 30, got: ms(median(toSession))},
	}, nil
}

// measureMemory is what sessions cost that nobody has used yet.
func measureMemory(ctx context.Context, l *lab) ([]figure, error) {
	env, err := l.serve(nothing)
	if err != nil {
		return nil, err
	}
	c, err := l.start(env...)
	if err != nil {
		return nil, err
	}
	if _, _, _, err := c.open(ctx, l.work); err != nil {
		return nil, err
	}
	one, err := memoryOf(c.cmd.Process.Pid)
	if err != nil {
		return nil, err
	}
	for range 4 {
		if _, _, err := c.session(ctx, l.work); err != nil {
			return nil, err
		}
	}
	five, err := memoryOf(c.cmd.Process.Pid)
	if err != nil {
		return nil, err
	}
	return []figure{
		{what: "resident memory after session/new", unit: "MiB", must: 35, got: mib(one.resident), exact: true, note: one.parts()},
		{what: "resident memory with five sessions", unit: "MiB", must: 45, got: mib(five.resident), exact: true, note: five.parts()},
	}, c.stop()
}

// parts tells the program's own memory from the pages of its file.
func (m memory) parts() string {
	return fmt.Sprintf("own %.1f, pages of the program %.1f", mib(m.anon), mib(m.file))
}
