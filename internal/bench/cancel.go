package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"dsh-acp/internal/modelserver"
)

// measureCancel is whether a cancel is ever lost, and how long it takes while
// the model speaks.
func measureCancel(ctx context.Context, l *lab) ([]figure, error) {
	env, err := l.serve(func(modelserver.Request) modelserver.Answer {
		return modelserver.Message{Blocks: []modelserver.Block{modelserver.Text{Text: "Let me think about it"}}, Hang: true}
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
	const streaming, atOnce = 50, 1000
	var took []time.Duration
	for range streaming {
		d, err := c.cancelSpeaking(ctx, session)
		if err != nil {
			return nil, err
		}
		took = append(took, d)
	}
	lost := 0
	for range atOnce {
		reason, err := c.cancelAtOnce(ctx, session)
		if err != nil {
			return nil, err
		}
		if reason != "cancelled" {
			lost++
		}
	}
	return []figure{
		{what: fmt.Sprintf("cancel while the model streams to the answer, slowest of %d", streaming), unit: "ms", must: 10, got: ms(slices.Max(took)),
			note: fmt.Sprintf("median %.2f ms, fsync included", ms(median(took)))},
		{what: fmt.Sprintf("prompt, then cancel at once, %d times: not answered cancelled", atOnce), got: float64(lost), exact: true},
		{what: "answers given twice in all of these", got: float64(c.strays()), exact: true},
	}, c.stop()
}

// cancelSpeaking begins a turn, cancels it when its first text has come, and
// gives the time until it was answered.
func (c *child) cancelSpeaking(ctx context.Context, session string) (time.Duration, error) {
	spoke := make(chan struct{}, 1)
	c.observe(func(l line) {
		if strings.Contains(string(l.raw), `"agent_message_chunk"`) {
			select {
			case spoke <- struct{}{}:
			default:
			}
		}
	})
	defer c.observe(nil)
	ask, done, err := c.request("session/prompt", promptOf(session, "Think."))
	if err != nil {
		return 0, err
	}
	if _, err := c.in.Write(ask); err != nil {
		return 0, c.explain(err)
	}
	limit := time.NewTimer(patience)
	defer limit.Stop()
	select {
	case <-spoke:
	case <-limit.C:
		return 0, fmt.Errorf("no text within %v", patience)
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	stop, err := cancelOf(session)
	if err != nil {
		return 0, err
	}
	sent := time.Now()
	if _, err := c.in.Write(stop); err != nil {
		return 0, c.explain(err)
	}
	a, reason, err := c.stopped(ctx, done)
	if err == nil && reason != "cancelled" {
		err = fmt.Errorf("a cancelled turn ended as %q", reason)
	}
	return a.at.Sub(sent), err
}

// cancelAtOnce sends a prompt and its cancel in one write.
func (c *child) cancelAtOnce(ctx context.Context, session string) (reason string, err error) {
	ask, done, err := c.request("session/prompt", promptOf(session, "Think."))
	if err != nil {
		return "", err
	}
	stop, err := cancelOf(session)
	if err != nil {
		return "", err
	}
	if _, err := c.in.Write(append(ask, stop...)); err != nil {
		return "", c.explain(err)
	}
	_, reason, err = c.stopped(ctx, done)
	return reason, err
}

func (c *child) stopped(ctx context.Context, done <-chan answer) (a answer, reason string, err error) {
	a, err = c.await(ctx, done)
	switch {
	case err != nil:
		return a, "", err
	case a.err != nil:
		return a, "", a.err
	}
	var r struct {
		StopReason string `json:"stopReason"`
	}
	err = json.Unmarshal(a.result, &r)
	return a, r.StopReason, err
}

func cancelOf(session string) ([]byte, error) {
	return notification("session/cancel", map[string]any{"sessionId": session})
}
