package tools

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"dsh-acp/internal/msg"
	"dsh-acp/presenter"
)

// A Plan is a checked call, ready to run once.
type Plan struct {
	Need Need
	// One of the two is set.
	run    func(ctx context.Context) msg.ToolResult
	staged func(ctx context.Context, s Stage) msg.ToolResult
	// preview gives the hunks that run would make, from what the plan has
	// read; nil if the arguments tell all.
	preview func() []presenter.FileDiff
}

// Run carries the call out. It checks again what may have changed since the
// plan was made. Failures are results.
func (p *Plan) Run(ctx context.Context) msg.ToolResult { return p.RunOn(ctx, offstage{}) }

// RunOn is Run for a call that may show something while it runs.
func (p *Plan) RunOn(ctx context.Context, s Stage) msg.ToolResult {
	if p.staged == nil {
		return p.run(ctx)
	}
	return p.staged(ctx, s)
}

// previewMeta is what is kept of a change that may never be made.
type previewMeta struct {
	presenter.DiffMeta
	// Digest stands for all hunks where some were left out for their size, so
	// that previews of two changes differ.
	Digest string `json:"digest,omitempty"`
}

// Preview tells what Run would change if the files stay as they are, in the
// form of its result's meta. It writes nothing. nil means that there is no
// more to tell than the arguments do. Previews of equal changes are equal.
func (p *Plan) Preview() json.RawMessage {
	if p.preview == nil {
		return nil
	}
	diffs := p.preview()
	if len(diffs) == 0 {
		return nil
	}
	m := previewMeta{DiffMeta: presenter.NewDiffMeta(diffs)}
	if m.Truncated != nil {
		sum := sha256.Sum256(mustJSON(diffs))
		m.Digest = hex.EncodeToString(sum[:])
	}
	return mustJSON(m)
}
