package agent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"dsh-acp/internal/msg"
)

// maxQuestions bounds how often a user is asked about one call whose files
// change while the question is open.
const maxQuestions = 3

const textRestless = "The files of this call changed each time while the user was asked about it (%d times), " +
	"so it did not run and nothing was changed. Find out what changes them, read them again, and then make the call anew."

// approve has a planned call decided about. It returns the plan to run, or
// the call's result, or neither when the turn is over.
//
// A user who is asked about changes to files has consented to those that were
// shown. The call is therefore planned again after the answer, and asked
// about again where the plan is another one.
func (t *turn) approve(ctx context.Context, u msg.ToolUse, p Plan, n Need) (Plan, *msg.ToolResult, error) {
	for asked := 1; ; asked++ {
		v, err := t.s.cfg.Approver.Approve(ctx, u, n)
		switch {
		case err != nil:
			text := "The question whether the call may run was not answered, so it did not run."
			if ctx.Err() == nil {
				text += " (" + err.Error() + ")"
			}
			return nil, unmade(msg.CodeQuestionAborted, text, v.Shown), nil
		case !v.Allow:
			t.ended = v.End
			return nil, unmade(cmp.Or(v.Code, msg.CodeRejected), v.Text, v.Shown), nil
		case ctx.Err() != nil:
			return nil, nil, nil
		}
		if v.Grant != nil {
			if err := t.add(*v.Grant); err != nil {
				return nil, nil, err
			}
		}
		if !v.Asked || n.Access != Edit {
			return p, nil, nil
		}
		before := n
		var refused *msg.ToolResult
		if p, n, refused = t.plan(ctx, u); refused != nil {
			return nil, refused, nil
		}
		now := n.preview()
		if bytes.Equal(now, v.Shown) && n.reaches(before) {
			return p, nil, nil
		}
		if asked == maxQuestions {
			return nil, unmade(msg.CodeQuestionAborted, fmt.Sprintf(textRestless, asked), now), nil
		}
		n.Again = true
	}
}

// unmade is the result of a call that was not allowed. Its details keep what
// the user was shown: an error has no meta.
func unmade(code, text string, shown json.RawMessage) *msg.ToolResult {
	r := msg.Failed(code, text)
	r.Error.Details = shown
	return &r
}

// reaches reports whether the call touches what it touched at an earlier look:
// a name may have become a link that leads elsewhere meanwhile.
func (n Need) reaches(before Need) bool {
	return slices.Equal(n.Paths, before.Paths) && n.Outside == before.Outside && n.Blind == before.Blind
}

// preview is what a question about the call shows.
func (n Need) preview() json.RawMessage {
	if n.Preview == nil {
		return nil
	}
	return n.Preview()
}
