package acp

import (
	"slices"
	"strings"

	"dsh-acp/internal/msg"
	"dsh-acp/presenter"
)

// commandOf finds the command that a prompt calls: its first block is a text
// that begins with a slash and the name of a command. Everything else,
// unknown names included, is for the model: a path begins with a slash too.
func commandOf(prompt msg.Blocks, commands []Command) *Call {
	if len(prompt) == 0 {
		return nil
	}
	first, ok := prompt[0].(msg.Text)
	if !ok {
		return nil
	}
	word, args, _ := strings.Cut(strings.TrimSpace(first.Text), " ")
	if i := strings.IndexAny(word, "\n\t"); i >= 0 {
		word, args = word[:i], word[i:]+" "+args
	}
	name, ok := strings.CutPrefix(word, "/")
	if !ok || !slices.ContainsFunc(commands, func(c Command) bool { return c.Name == name }) {
		return nil
	}
	return &Call{Name: name, Args: strings.TrimSpace(args)}
}

// announce tells the client which commands there are.
func (sess *session) announce() {
	if len(sess.opened.Commands) == 0 {
		return
	}
	var u presenter.AvailableCommands
	for _, c := range sess.opened.Commands {
		command := presenter.Command{Name: c.Name, Description: c.Description}
		if c.Hint != "" {
			command.Input = &presenter.CommandInput{Hint: c.Hint}
		}
		u.Commands = append(u.Commands, command)
	}
	sess.send(sess.srv.ctx, u)
}
