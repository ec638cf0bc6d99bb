package demo

import (
	"context"
	"fmt"
	"slices"
	"sync"

	acp "github.com/coder/acp-go-sdk"
)

// An editor is the client's side: it prints what comes and says yes. It
// offers neither files nor terminals.
type editor struct {
	show *printer

	mu    sync.Mutex
	shown map[acp.ToolCallId]chan struct{} // guarded by mu; closed when the call's diff was printed
}

// drawn gives the channel that is closed when the call's diff was printed.
func (e *editor) drawn(id acp.ToolCallId) chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.shown == nil {
		e.shown = map[acp.ToolCallId]chan struct{}{}
	}
	if e.shown[id] == nil {
		e.shown[id] = make(chan struct{})
	}
	return e.shown[id]
}

// mark notes that a diff of the call was printed.
func (e *editor) mark(id acp.ToolCallId, content []acp.ToolCallContent) {
	if !slices.ContainsFunc(content, func(c acp.ToolCallContent) bool { return c.Diff != nil }) {
		return
	}
	done := e.drawn(id)
	select {
	case <-done:
	default:
		close(done)
	}
}

var _ acp.Client = (*editor)(nil)

// SessionUpdate prints one notification.
func (e *editor) SessionUpdate(_ context.Context, n acp.SessionNotification) error {
	u := n.Update
	switch {
	case u.UserMessageChunk != nil:
		e.show.say("user_message_chunk", words(u.UserMessageChunk.Content))
	case u.AgentMessageChunk != nil:
		e.show.say("agent_message_chunk", words(u.AgentMessageChunk.Content))
	case u.AgentThoughtChunk != nil:
		e.show.say("agent_thought_chunk", words(u.AgentThoughtChunk.Content))
	case u.ToolCall != nil:
		c := u.ToolCall
		e.show.call("tool_call", string(c.ToolCallId), c.Title, string(c.Status), c.RawInput, c.Content, c.Locations)
	case u.ToolCallUpdate != nil:
		c := u.ToolCallUpdate
		e.show.call("tool_call_update", string(c.ToolCallId), value(c.Title), string(value(c.Status)), c.RawInput, c.Content, c.Locations)
		e.mark(c.ToolCallId, c.Content)
	case u.Plan != nil:
		e.show.say("plan", fmt.Sprintf("%d entries", len(u.Plan.Entries)))
	case u.AvailableCommandsUpdate != nil:
		e.show.say("available_commands_update", fmt.Sprintf("%d commands", len(u.AvailableCommandsUpdate.AvailableCommands)))
	case u.CurrentModeUpdate != nil:
		e.show.say("current_mode_update", string(u.CurrentModeUpdate.CurrentModeId))
	case u.ConfigOptionUpdate != nil:
		e.show.say("config_option_update", fmt.Sprintf("%d options", len(u.ConfigOptionUpdate.ConfigOptions)))
	case u.SessionInfoUpdate != nil:
		e.show.say("session_info_update", "title: "+value(u.SessionInfoUpdate.Title))
	case u.UsageUpdate != nil:
		e.show.say("usage_update", fmt.Sprintf("%d of %d tokens", u.UsageUpdate.Used, u.UsageUpdate.Size))
	default:
		return fmt.Errorf("an update that this editor cannot read: %+v", u)
	}
	return nil
}

// RequestPermission prints the question and allows once. The client library
// runs requests beside the notifications that came before them, so it waits
// for the diff that the question is about.
func (e *editor) RequestPermission(ctx context.Context, q acp.RequestPermissionRequest) (acp.RequestPermissionResponse, error) {
	select {
	case <-e.drawn(q.ToolCall.ToolCallId):
	case <-ctx.Done():
		return acp.RequestPermissionResponse{}, ctx.Err()
	}
	var names []string
	var answer acp.RequestPermissionResponse
	for _, o := range q.Options {
		names = append(names, o.Name)
		if o.Kind == acp.PermissionOptionKindAllowOnce {
			answer.Outcome.Selected = &acp.RequestPermissionOutcomeSelected{OptionId: o.OptionId, Outcome: "selected"}
		}
	}
	e.show.question(value(q.ToolCall.Title), names, "allow once")
	if answer.Outcome.Selected == nil {
		return acp.RequestPermissionResponse{}, fmt.Errorf("no option to allow once among %q", names)
	}
	return answer, nil
}

// The editor offered none of these, so a call of one is the agent's mistake.
func unoffered(what string) error { return acp.NewMethodNotFound(what) }

func (*editor) ReadTextFile(context.Context, acp.ReadTextFileRequest) (r acp.ReadTextFileResponse, err error) {
	return r, unoffered("fs/read_text_file")
}

func (*editor) WriteTextFile(context.Context, acp.WriteTextFileRequest) (r acp.WriteTextFileResponse, err error) {
	return r, unoffered("fs/write_text_file")
}

func (*editor) CreateTerminal(context.Context, acp.CreateTerminalRequest) (r acp.CreateTerminalResponse, err error) {
	return r, unoffered("terminal/create")
}

func (*editor) TerminalOutput(context.Context, acp.TerminalOutputRequest) (r acp.TerminalOutputResponse, err error) {
	return r, unoffered("terminal/output")
}

func (*editor) ReleaseTerminal(context.Context, acp.ReleaseTerminalRequest) (r acp.ReleaseTerminalResponse, err error) {
	return r, unoffered("terminal/release")
}

func (*editor) WaitForTerminalExit(context.Context, acp.WaitForTerminalExitRequest) (r acp.WaitForTerminalExitResponse, err error) {
	return r, unoffered("terminal/wait_for_exit")
}

func (*editor) KillTerminal(context.Context, acp.KillTerminalRequest) (r acp.KillTerminalResponse, err error) {
	return r, unoffered("terminal/kill")
}

func words(c acp.ContentBlock) string {
	if c.Text != nil {
		return c.Text.Text
	}
	return "(not text)"
}

// value is what p points to, or nothing.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
