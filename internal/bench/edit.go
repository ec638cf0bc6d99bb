package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// inRow is the number of edits in one session that a figure looks at.
const inRow = 100

// measureEdit is the cost of single edits in a file of n lines, all over it.
func measureEdit(n int, must float64) func(context.Context, *lab) ([]figure, error) {
	return func(ctx context.Context, l *lab) ([]figure, error) {
		path, err := l.lines(n)
		if err != nil {
			return nil, err
		}
		edits := make([]block, inRow)
		for i := range edits {
			at := numbered(i * n / inRow)
			edits[i] = edit(callID(i), path, at, at+", changed")
		}
		before, err := byHand(l.work, path)
		if err != nil {
			return nil, err
		}
		seen, cpu, err := l.edits(ctx, edits)
		if err != nil {
			return nil, err
		}
		after, err := byHand(l.work, path)
		if err != nil {
			return nil, err
		}
		hand := max(before, after)
		var own, disk []time.Duration
		wire, stored := 0, 0
		for _, s := range seen {
			own, disk = append(own, s.took-s.disk), append(disk, s.disk)
			wire, stored = max(wire, s.wire), max(stored, s.stored)
		}
		const part = inRow / 5
		first, last := median(own[:part]), median(own[inRow-part:])
		name := fmt.Sprintf("Edit in a file of %d lines", n)
		return []figure{
			{what: name + ", without fsync", unit: "ms", must: must, got: ms(median(own)), busy: ms(hand) > must/3,
				note: fmt.Sprintf("fsync %.2f ms; CPU of the agent %.1f ms; the bare writes by hand, without fsync, %.2f ms", ms(median(disk)), ms(cpu)/inRow, ms(hand))},
			{what: fmt.Sprintf("%s, the last of %d against the first", name, inRow), unit: "×", must: 1.25, got: float64(last) / float64(first),
				note: fmt.Sprintf("%.2f ms, %.2f ms", ms(last), ms(first))},
			{what: name + ", on the wire beyond input and hunks", unit: "KiB", must: 2, got: float64(wire) / 1024, exact: true},
			{what: name + ", in the log beyond input and hunks", unit: "KiB", must: 2, got: float64(stored) / 1024, exact: true},
		}, nil
	}
}

func callID(i int) string { return fmt.Sprintf("call_%04d", i) }

// An edited is what was seen of one edit.
type edited struct {
	took   time.Duration // from the call's first update to its last
	disk   time.Duration // of took, in fsync
	wire   int           // bytes sent about it, without its input and hunks
	stored int           // bytes of the log about it, without its input and hunks
}

// edits has the model make calls of Edit, one an answer, and looks at each. It
// gives the agent's CPU time for all of them too. The call's first update is
// sent before its input is complete, so that the time is a little longer than
// the tool's own.
func (l *lab) edits(ctx context.Context, calls []block) ([]edited, time.Duration, error) {
	answers := make([][]block, 0, len(calls)+1)
	for _, c := range calls {
		answers = append(answers, []block{c})
	}
	env, err := l.script(append(answers, []block{say("done")}))
	if err != nil {
		return nil, 0, err
	}
	c, err := l.start(append(env, l.timed())...)
	if err != nil {
		return nil, 0, err
	}
	session, _, _, err := c.open(ctx, l.work)
	if err != nil {
		return nil, 0, err
	}
	w := newWatcher()
	c.observe(w.take)
	cpu0, err := cpuOf(c.cmd.Process.Pid)
	if err != nil {
		return nil, 0, err
	}
	if _, _, err := c.prompt(ctx, session, "Change the lines."); err != nil {
		return nil, 0, err
	}
	cpu1, err := cpuOf(c.cmd.Process.Pid)
	if err != nil {
		return nil, 0, err
	}
	c.observe(nil)
	if err := c.stop(); err != nil {
		return nil, 0, err
	}
	syncs, err := l.syncs()
	if err != nil {
		return nil, 0, err
	}
	log, err := os.ReadFile(filepath.Join(l.home, "state", "sessions", session+".jsonl"))
	if err != nil {
		return nil, 0, err
	}
	out := make([]edited, len(calls))
	for i, call := range calls {
		s := w.calls[call["id"].(string)]
		if s == nil || s.end.IsZero() {
			return nil, 0, fmt.Errorf("edit %d was not completed; its last update: %.300s", i, w.last)
		}
		input, err := json.Marshal(call["input"])
		if err != nil {
			return nil, 0, err
		}
		own := len(input) + s.hunks
		out[i] = edited{
			took: s.end.Sub(s.begin), disk: within(syncs, s.begin, s.end),
			wire: s.bytes - own, stored: bytesAbout(log, call["id"].(string)) - own,
		}
	}
	return out, cpu1 - cpu0, nil
}

// bytesAbout counts the records of a log that name a call.
func bytesAbout(log []byte, id string) int {
	sum := 0
	for record := range bytes.Lines(log) {
		if bytes.Contains(record, []byte(`"`+id+`"`)) || bytes.Contains(record, []byte(`\"`+id+`\"`)) {
			sum += len(record)
		}
	}
	return sum
}

// A watcher follows tool calls on the wire.
type watcher struct {
	mu    sync.Mutex
	calls map[string]*watched // guarded by mu until the turn has ended
	last  []byte
}

type watched struct {
	begin, end time.Time // of the first update, and of that which completed it
	bytes      int       // of all lines about it
	hunks      int       // of the content that was sent last
}

func newWatcher() *watcher { return &watcher{calls: map[string]*watched{}} }

func (w *watcher) take(l line) {
	var m struct {
		Params struct {
			Update struct {
				CallID  string          `json:"toolCallId"`
				Status  string          `json:"status"`
				Content json.RawMessage `json:"content"`
			} `json:"update"`
		} `json:"params"`
	}
	if json.Unmarshal(l.raw, &m) != nil || m.Params.Update.CallID == "" {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	u := m.Params.Update
	s := w.calls[u.CallID]
	if s == nil {
		s = &watched{begin: l.at}
		w.calls[u.CallID] = s
	}
	s.bytes += len(l.raw)
	w.last = l.raw
	if len(u.Content) > 0 {
		s.hunks = len(u.Content)
	}
	if u.Status == "completed" {
		s.end = l.at
	}
}

// measureBigEdit is the cost of one edit in the middle of a file of some MiB.
func measureBigEdit(size int64, must float64) func(context.Context, *lab) ([]figure, error) {
	return func(ctx context.Context, l *lab) ([]figure, error) {
		n := int(size<<20) / len(numbered(0)+rest)
		path, err := l.lines(n)
		if err != nil {
			return nil, err
		}
		const times = 5
		answers := [][]block{{say("hello")}}
		for i := range times {
			at := numbered(n/2 + i)
			answers = append(answers, []block{edit(callID(i), path, at, at+", changed")}, []block{say("done")})
		}
		env, err := l.script(answers)
		if err != nil {
			return nil, err
		}
		c, err := l.start(append(env, l.timed())...)
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
		before, err := memoryOf(pid)
		if err != nil {
			return nil, err
		}
		w := newWatcher()
		c.observe(w.take)
		var growth, left int64
		for range times {
			if err := resetPeak(pid); err != nil {
				return nil, err
			}
			if _, _, err := c.prompt(ctx, session, "Change a line."); err != nil {
				return nil, err
			}
			m, err := memoryOf(pid)
			if err != nil {
				return nil, err
			}
			growth = max(growth, m.peak-before.resident)
			if m, err = calm(ctx, pid, before.resident+keep); err != nil {
				return nil, err
			}
			left = max(left, m.resident-before.resident)
		}
		if err := c.stop(); err != nil {
			return nil, err
		}
		syncs, err := l.syncs()
		if err != nil {
			return nil, err
		}
		var own, disk []time.Duration
		for i := range times {
			s := w.calls[callID(i)]
			if s == nil || s.end.IsZero() {
				return nil, fmt.Errorf("edit %d was not completed; the last update: %.300s", i, w.last)
			}
			d := within(syncs, s.begin, s.end)
			own, disk = append(own, s.end.Sub(s.begin)-d), append(disk, d)
		}
		name := fmt.Sprintf("Edit in a file of %d MiB", size)
		return []figure{
			{what: name + ", without fsync", unit: "ms", must: must, got: ms(median(own)), note: fmt.Sprintf("fsync %.0f ms", ms(median(disk)))},
			{what: name + ", memory at its peak", unit: "MiB", must: float64(4 * size), got: mib(growth), exact: true},
			{what: name + ", memory kept after it", unit: "MiB", must: mib(keep), got: mib(left), exact: true},
		}, nil
	}
}

// keep is how much more memory than before an edit may be in use after it.
const keep = 10 << 20

// settling is how long a program may take to give memory back.
const settling = 5 * time.Second

// calm waits until a process has no more than some memory, or some time has
// passed, and tells what it has.
func calm(ctx context.Context, pid int, enough int64) (memory, error) {
	limit := time.NewTimer(settling)
	defer limit.Stop()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		m, err := memoryOf(pid)
		if err != nil || m.resident <= enough {
			return m, err
		}
		select {
		case <-look.C:
		case <-limit.C:
			return m, nil
		case <-ctx.Done():
			return m, ctx.Err()
		}
	}
}
