package tools

import (
	"context"

	"dsh-acp/internal/hashline"
	"dsh-acp/internal/msg"
	"dsh-acp/presenter"
)

// planRewrite works a rewrite by syntax patterns out, so that the user is asked
// about the files that change and no others.
func planRewrite(ctx context.Context, e *env, name string, call hashline.ASTCall) (*Plan, error) {
	r, err := e.box.PlanRewrite(ctx, call)
	if err != nil {
		return nil, err
	}
	p := &Plan{Need: Need{Access: Change, Paths: r.Paths()}}
	for _, abs := range p.Need.Paths {
		p.Need.Outside = p.Need.Outside || e.outside(abs)
	}
	if call.DryRun || len(p.Need.Paths) == 0 {
		// Nothing is written: where no match becomes another text, the plan is
		// all that there is to tell.
		p.Need.Access = Look
	}
	p.preview = func() []presenter.FileDiff { return editHunks(r.Preview()) }
	p.run = func(ctx context.Context) msg.ToolResult {
		if call.DryRun {
			return fsEdited(r.Preview())
		}
		return fsResult(ctx, name, func(ctx context.Context) (msg.ToolResult, error) {
			done, err := r.Write(ctx)
			if err != nil {
				return msg.ToolResult{}, err
			}
			return fsEdited(done), nil
		})
	}
	return p, nil
}
