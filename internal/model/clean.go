package model

import (
	"encoding/json"
	"fmt"
	"strings"

	"dsh-acp/internal/msg"
)

// Clean returns the history as a service accepts it, without changing what it
// was given:
//
//   - a cut call is left out; where the model needs to know why nothing came
//     of it, the text of its result stands in a user message instead;
//   - every other call is followed at once by exactly one result, in the order
//     of the calls: a missing one says that the outcome is not known, one that
//     answers no call is left out;
//   - text that is blank and messages that are empty are left out.
//
// Roles of the answer alternate between the assistant's and the others' only
// as far as the history does; providers join neighbours as they need.
func Clean(history []Message) []Message {
	var out []Message
	for i := 0; i < len(history); i++ {
		m := history[i]
		switch m.Role {
		case "assistant":
			next := i + 1
			var results []msg.ToolMessage
			for next < len(history) && history[next].Role == "tool" {
				results = append(results, history[next].Results...)
				next++
			}
			i = next - 1
			out = append(out, cleanAnswer(m.Content, results)...)
		case "tool":
			// Results that no answer precedes: nothing asked for them.
		default:
			if c := notBlank(m.Content); len(c) > 0 {
				out = append(out, Message{Role: "user", Content: c})
			}
		}
	}
	return out
}

// cleanAnswer returns an assistant's message, the results of its calls, and a
// user message that tells of the calls which were cut.
func cleanAnswer(content msg.Blocks, results []msg.ToolMessage) []Message {
	byID := make(map[string]msg.ToolMessage, len(results))
	for _, r := range results {
		if _, twice := byID[r.CallID]; !twice {
			byID[r.CallID] = r
		}
	}
	var (
		kept    msg.Blocks
		notes   msg.Blocks
		answers []msg.ToolMessage
	)
	for _, b := range notBlank(content) {
		u, isCall := b.(msg.ToolUse)
		switch {
		case !isCall:
			kept = append(kept, b)
		case u.Cut:
			text := byID[u.ID].Content.PlainText()
			if text == "" {
				text = "Its input never became complete, so it did not run."
			}
			notes = append(notes, msg.Text{Text: fmt.Sprintf("[about your call of %s: %s]", u.Name, text)})
		default:
			kept = append(kept, u)
			r, ok := byID[u.ID]
			if !ok {
				r = msg.ToolMessage{Role: "tool", CallID: u.ID, IsError: true, Content: msg.Blocks{
					msg.Text{Text: "There is no record of what came of this call. Check the state before you repeat it."}}}
			}
			answers = append(answers, r)
		}
	}
	// Thinking that leads to nothing is refused by services, and says nothing.
	for len(kept) > 0 && isThinking(kept[len(kept)-1]) {
		kept = kept[:len(kept)-1]
	}
	var out []Message
	if len(kept) > 0 {
		out = append(out, Message{Role: "assistant", Content: kept})
	}
	if len(answers) > 0 {
		out = append(out, Message{Role: "tool", Results: answers})
	}
	if len(notes) > 0 {
		out = append(out, Message{Role: "user", Content: notes})
	}
	return out
}

func isThinking(b msg.Block) bool {
	switch b.(type) {
	case msg.Thinking, msg.RedactedThinking:
		return true
	}
	return false
}

func notBlank(bs msg.Blocks) msg.Blocks {
	out := make(msg.Blocks, 0, len(bs))
	for _, b := range bs {
		if t, ok := b.(msg.Text); ok && strings.TrimSpace(t.Text) == "" {
			continue
		}
		out = append(out, b)
	}
	return out
}

// Input returns the arguments of a call as a service takes them back: what the
// model wrote if that is a JSON object, else {}. The result of such a call
// tells the model what was wrong with it.
func Input(u msg.ToolUse) json.RawMessage {
	s := strings.TrimSpace(u.Input)
	if strings.HasPrefix(s, "{") && json.Valid([]byte(s)) {
		return json.RawMessage(s)
	}
	return json.RawMessage("{}")
}

// Mention puts a block that is neither text nor a picture a model can see
// into words: a link by its name and address, included content between lines
// that name it.
func Mention(b msg.Block) string {
	switch b := b.(type) {
	case msg.Text:
		return b.Text
	case msg.ResourceLink:
		name := b.Name
		if b.Title != "" {
			name = b.Title
		}
		s := fmt.Sprintf("[%s](%s)", name, b.URI)
		if b.Description != "" {
			s += ": " + b.Description
		}
		return s
	case msg.Resource:
		if b.Text != nil {
			return fmt.Sprintf("<resource uri=%q>\n%s\n</resource>", b.URI, *b.Text)
		}
		return fmt.Sprintf("[%s: %d bytes of binary content, not shown]", b.URI, len(b.Blob))
	case msg.Image:
		return fmt.Sprintf("[a picture of type %s, not shown]", b.MIME)
	case msg.Thinking, msg.RedactedThinking, msg.ToolUse:
		return ""
	default:
		panic(fmt.Sprintf("model: no words for block %T", b))
	}
}
