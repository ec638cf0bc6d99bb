package tools

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"dsh-acp/internal/msg"
	"dsh-acp/presenter"
)

// endedByRequest is how a shell tells that a program was asked to end (SIGTERM).
const endedByRequest = 128 + 15

type bashCards struct{}

func (bashCards) Call(args json.RawMessage, _ bool) presenter.Card {
	d := loosely(args)
	command, _ := d.text("command")
	description, _ := d.text("description")
	return presenter.Terminal{Title: cmp.Or(command, "Terminal"), Description: description}
}

func (bashCards) Result(_ json.RawMessage, r msg.ToolResult) presenter.Card {
	text := r.Content.PlainText()
	card := presenter.Terminal{Output: text}
	var m bashMeta
	_ = json.Unmarshal(r.Meta, &m) // what cannot be read says nothing
	switch {
	case m.Background != "":
		// how it ends is not known yet
	case !r.IsError:
		card.ExitCode = &m.Exit
		card.Silent = text == noOutput
	case r.Error != nil && r.Error.Code == CodeTimeout:
		code := endedByRequest
		card.ExitCode = &code
	default:
		// A terminal shows the whole text, since not every client shows codes.
		head, _, _ := strings.Cut(text, "\n")
		if code, err := strconv.Atoi(strings.TrimPrefix(head, exitedWith)); err == nil && strings.HasPrefix(head, exitedWith) {
			card.ExitCode = &code
		} else if signal, ok := strings.CutPrefix(head, endedBy); ok {
			card.Signal = &signal
		}
	}
	if card.Silent {
		card.Output = ""
	}
	return card
}

func (bashCards) Input(args json.RawMessage) json.RawMessage { return args }

// jobCards draws the tools that ask about a background command.
type jobCards struct {
	verb, id string // title, and the argument with the command's name
}

func (c jobCards) Call(args json.RawMessage, _ bool) presenter.Card {
	id, _ := loosely(args).text(c.id)
	return presenter.Generic{Title: strings.TrimSpace(c.verb + " " + cmp.Or(id, "command")), Kind: presenter.KindExecute}
}

func (jobCards) Result(_ json.RawMessage, r msg.ToolResult) presenter.Card {
	if r.IsError {
		return refusal()
	}
	fence := "console"
	return presenter.Generic{Fence: &fence}
}

func (jobCards) Input(args json.RawMessage) json.RawMessage { return args }
