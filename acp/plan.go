package acp

import (
	"context"
	"fmt"

	"dsh-acp/internal/agent"
	"dsh-acp/internal/msg"
	"dsh-acp/presenter"
)

// The question that ends plan mode. Each answer but the last one is the mode
// in which the work goes on.
const (
	optionLeaveDefault = "exit-plan-default"
	optionLeaveAccept  = "exit-plan-accept-edits"
)

var leaveOptions = []permissionOption{
	{optionLeaveDefault, "Yes, and ask before each change", "allow_once"},
	{optionLeaveAccept, "Yes, and accept edits in the open folder without asking", "allow_always"},
	{optionReject, "No, keep planning", "reject_once"},
}

const (
	textKeepPlanning = "The user wants to keep planning: plan mode stays, and the turn ends so that the user can say what is missing. Improve the plan by what they write next."
	textNoPlan       = "The session is not in plan mode, so there is nothing to leave: go on with the work."
)

// leavePlan asks whether the plan is to be carried out, and switches the mode.
// The client hears of the switch before the call goes on.
func (a approver) leavePlan(ctx context.Context, use msg.ToolUse) (agent.Verdict, error) {
	choice, refused, err := a.put(ctx, use, leaveOptions, presenter.Question{})
	if err != nil {
		return agent.Verdict{}, err
	}
	mode := ModeDefault
	switch choice {
	case optionLeaveDefault:
	case optionLeaveAccept:
		mode = ModeAcceptEdits
	case optionReject:
		return agent.Verdict{Code: msg.CodeRejected, Text: textKeepPlanning, End: true}, nil
	default:
		return refused, nil
	}
	if err := a.sess.switchMode(ctx, mode); err != nil {
		a.sess.srv.cfg.Log.Error().Err(err).Msg("the mode was not switched")
		return agent.Verdict{Code: msg.CodeQuestionAborted, Text: "The mode could not be switched, so plan mode stays: " + err.Error()}, nil
	}
	return agent.Verdict{Allow: true}, nil
}

// switchMode sets a mode that the client has not asked for by itself, and
// tells it in both ways in which clients know modes.
func (sess *session) switchMode(ctx context.Context, mode string) error {
	options, err := sess.set(optionMode, mode)
	if err != nil {
		return err
	}
	raw, err := msg.Marshal(options)
	if err != nil {
		return fmt.Errorf("config options: %w", err)
	}
	sess.send(ctx, presenter.CurrentMode{ModeID: mode})
	sess.send(ctx, presenter.ConfigOptions{Options: raw})
	return nil
}
