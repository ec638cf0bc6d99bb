package agent

import (
	"fmt"
	"strings"

	"dsh-acp/internal/msg"
)

// cutResult answers a call whose input never became complete.
func cutResult(u msg.ToolUse) msg.ToolResult {
	return msg.Failed(msg.CodeCut, fmt.Sprintf(
		"The call of %s was cut off after %d bytes of its input, so it did not run and changed nothing.", u.Name, len(u.Input)))
}

// unstarted answers a call that did not come to run before the turn ended.
func unstarted(u msg.ToolUse, cancelled bool, reason msg.EndReason) msg.ToolResult {
	switch {
	case u.Cut:
		return cutResult(u)
	case cancelled:
		return msg.Failed(msg.CodeAbortedUnstarted, "The turn was cancelled before this call ran. It changed nothing.")
	default:
		return msg.Failed(msg.CodeAbortedUnstarted,
			"The turn ended ("+reason.Kind+") before this call ran. It changed nothing.")
	}
}

// storable returns r in a form that the log takes: text is UTF-8, an error
// result has no Meta, and Meta can be read back as it was written.
func storable(r msg.ToolResult) msg.ToolResult {
	r.Content = validText(r.Content)
	if r.IsError {
		r.Meta = nil
	}
	if len(r.Meta) == 0 {
		r.Meta = nil
		return r
	}
	err := msg.Admissible(r.Meta)
	if err == nil {
		return r
	}
	out := msg.Failed(msg.CodeBadMeta, fmt.Sprintf(
		"The operation was carried out; do not repeat it. Only the data for showing it could not be kept (%s). The tool's own words follow.", err))
	out.Content = append(validText(out.Content), r.Content...)
	return out
}

// validText returns bs with every text, and every call's name and input, in
// valid UTF-8, which is all that the log takes.
func validText(bs msg.Blocks) msg.Blocks {
	valid := func(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
	out := make(msg.Blocks, len(bs))
	for i, b := range bs {
		switch b := b.(type) {
		case msg.Text:
			b.Text = valid(b.Text)
			out[i] = b
		case msg.Thinking:
			b.Text, b.Signature = valid(b.Text), valid(b.Signature)
			out[i] = b
		case msg.ToolUse:
			b.ID, b.Name, b.Input = valid(b.ID), valid(b.Name), valid(b.Input)
			out[i] = b
		default:
			out[i] = b
		}
	}
	return out
}
