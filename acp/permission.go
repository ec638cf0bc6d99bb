package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/sourcegraph/jsonrpc2"

	"dsh-acp/internal/agent"
	"dsh-acp/internal/msg"
	"dsh-acp/presenter"
)

// A ruling is what a mode and the grants say of a call.
type ruling int

const (
	rulingAllow ruling = iota
	rulingAsk
	rulingRefuse
)

// rule decides about a call without asking anybody. granted reports whether
// the user has allowed such calls; it is only called where the mode leaves it
// open.
func rule(mode string, n agent.Need, granted func(n agent.Need) bool) ruling {
	changes := n.Access == agent.Edit || n.Access == agent.Execute
	switch {
	case n.Access == agent.Ask && mode == ModePlan:
		return rulingAsk
	case n.Access == agent.Ask:
		return rulingRefuse // there is no plan mode to leave
	case mode == ModePlan && n.Access == agent.Execute:
		return rulingRefuse
	case mode == ModePlan && changes:
		return rulingAsk // whatever was allowed in other modes
	case mode == ModeBypass && !n.Reached:
		return rulingAllow
	case !changes && !n.Outside:
		return rulingAllow
	case mode == ModeAcceptEdits && n.Access == agent.Edit && !n.Outside:
		return rulingAllow
	case granted(n):
		return rulingAllow
	}
	return rulingAsk
}

// Ids of permission options: those of the reference agent.
const (
	optionAllowOnce   = "allow-once"
	optionAllowAlways = "allow-with-updates"
	optionReject      = "reject"
)

type permissionOption struct {
	ID   string `json:"optionId"`
	Name string `json:"name"`
	Kind string `json:"kind"`
}

func permissionOptions(sc scope) []permissionOption {
	once, reject := permissionOption{optionAllowOnce, "Yes", "allow_once"}, permissionOption{optionReject, "No", "reject_once"}
	if sc.key == "" {
		return []permissionOption{once, reject}
	}
	return []permissionOption{once, {optionAllowAlways, sc.name, "allow_always"}, reject}
}

type permissionParams struct {
	SessionID string                   `json:"sessionId"`
	ToolCall  presenter.PermissionCall `json:"toolCall"`
	Options   []permissionOption       `json:"options"`
}

// An approver asks the user where mode and grants do not decide.
type approver struct{ sess *session }

// Texts of refusals, for the model.
const (
	textRejected = "The user rejected this call: it did not run and nothing was changed. " +
		"Do not try it again as it is; go on without it, or ask what to do instead."
	textAborted = "The permission question was closed without an answer: the call did not run and nothing was changed."
	textPlan    = "Plan mode: only commands that read are run, so the call did not run and nothing was changed. " +
		"Read what you need and describe what is to be done; the user leaves plan mode to have it done."
)

// Notes that stand above what a question shows.
const (
	noteAgain = "The file changed while you were asked. This is the change as it would be made now."
	noteBlind = "There is a file already, and what it holds cannot be shown (it is no text, or too large): it would be replaced."
)

// Approve decides about a call. It fails only when ctx ends first.
func (a approver) Approve(ctx context.Context, use msg.ToolUse, n agent.Need) (agent.Verdict, error) {
	sess := a.sess
	sess.mu.Lock()
	mode := sess.mode
	sess.mu.Unlock()
	ruled := rule(mode, n, sess.granted)
	switch {
	case ruled == rulingAllow:
		return agent.Verdict{Allow: true}, nil
	case ruled == rulingRefuse && n.Access == agent.Ask:
		return agent.Verdict{Code: msg.CodeModeRefused, Text: textNoPlan}, nil
	case ruled == rulingRefuse:
		return agent.Verdict{Code: msg.CodeModeRefused, Text: textPlan}, nil
	case n.Access == agent.Ask:
		return a.leavePlan(ctx, use)
	}
	sc := scopeOf(n)
	if mode == ModePlan {
		sc = scope{} // an exception that the user makes does not last
	}
	return a.ask(ctx, use, n, sc)
}

// ask asks whether a call may run.
func (a approver) ask(ctx context.Context, use msg.ToolUse, n agent.Need, sc scope) (agent.Verdict, error) {
	q := presenter.Question{Paths: n.Paths}
	if n.Preview != nil {
		q.Preview = n.Preview()
	}
	var notes []string
	if n.Again {
		notes = append(notes, noteAgain)
	}
	if n.Blind {
		notes = append(notes, noteBlind)
	}
	q.Note = strings.Join(notes, " ")
	choice, refused, err := a.put(ctx, use, permissionOptions(sc), q)
	verdict := refused
	switch choice {
	case optionAllowOnce:
		verdict = agent.Verdict{Allow: true}
	case optionAllowAlways:
		a.sess.mu.Lock()
		defer a.sess.mu.Unlock()
		a.sess.grants[sc.key] = true
		verdict = agent.Verdict{Allow: true, Grant: &msg.Granted{Scope: sc.key, Name: sc.name}}
	}
	verdict.Asked, verdict.Shown = true, q.Preview
	return verdict, err
}

// put asks the user about a call and returns the id of the option that was
// chosen, or "", and the verdict for all that is no consent. It fails only
// when ctx ends first.
func (a approver) put(ctx context.Context, use msg.ToolUse, options []permissionOption, q presenter.Question) (choice string, refused agent.Verdict, err error) {
	call, ok := a.sess.draw.PermissionCall(use.ID, q)
	if !ok {
		// Not drawn as a call: what is asked about must still have a name.
		call = presenter.PermissionCall{ToolCallID: use.ID, Name: use.Name}
		call.Title, call.Status = use.Name, presenter.StatusPending
	}
	params := permissionParams{SessionID: a.sess.opened.ID, ToolCall: call, Options: options}
	var answer struct {
		Outcome struct {
			Outcome  string `json:"outcome"`
			OptionID string `json:"optionId"`
		} `json:"outcome"`
	}
	err = a.sess.srv.call(ctx, "session/request_permission", params, &answer)
	refused = agent.Verdict{Code: msg.CodeRejected, Text: textRejected}
	if ctx.Err() != nil {
		return "", agent.Verdict{}, ctx.Err()
	}
	if err != nil {
		// An answer that is an error, or makes no sense, is no consent.
		a.sess.srv.cfg.Log.Warn().Err(err).Msg("permission question: taken as a reject")
		return "", refused, nil
	}
	o := answer.Outcome
	if o.Outcome == "cancelled" {
		return "", agent.Verdict{Code: msg.CodeQuestionAborted, Text: textAborted}, nil
	}
	offered := slices.ContainsFunc(options, func(p permissionOption) bool { return p.ID == o.OptionID })
	if o.Outcome != "selected" || !offered {
		return "", refused, nil
	}
	return o.OptionID, refused, nil
}

// callIDs numbers our own calls. They begin at 1: jsonrpc2 takes 0 for "none
// chosen" and would choose one that is in use.
type callIDs struct{ last atomic.Uint64 }

// call asks the client and waits for its answer. It must not be called on the
// read loop, where the answer would wait behind it. If ctx ends first, the
// client is told that the question is withdrawn, and its answer is dropped.
func (s *Server) call(ctx context.Context, method string, params, result any) error {
	n := s.calls.last.Add(1)
	raw, err := msg.Marshal(params)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	s.str.expect(n)
	body := json.RawMessage(raw)
	wait, err := s.conn.DispatchCall(ctx, method, &body, jsonrpc2.PickID(jsonrpc2.ID{Num: n}))
	if err != nil {
		s.str.answered(n)
		return fmt.Errorf("%s: %w", method, err)
	}
	err = wait.Wait(ctx, result)
	if ctx.Err() != nil && s.str.answered(n) {
		s.out.put(notification("$/cancel_request", []byte(`{"requestId":`+strconv.FormatUint(n, 10)+`}`)))
	}
	return err
}
