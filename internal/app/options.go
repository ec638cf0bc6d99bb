package app

import (
	"slices"

	"dsh-acp/acp"
	"dsh-acp/internal/config"
	"dsh-acp/internal/model"
	"dsh-acp/tools"
)

// Ids of options that mean something here alone.
const (
	optionToolset = "toolset"
	optionCompact = "autoCompact"
)

// toolsetOwn is the choice of the list of tools that the settings name.
const toolsetOwn = "settings"

// options are the choices of a session beside mode and model. The settings
// give what is in force until the user chooses.
func options(cfg config.Config) []acp.Option {
	toolset := acp.Option{
		ID: optionToolset, Name: "Tools", Description: "Which tools the model is offered, from its next request on",
		Value: cfg.Toolset.Preset,
		Choices: []acp.Choice{
			{Value: "claude", Name: "Claude", Description: "Read, Write and Edit, as Claude models know them"},
			{Value: "patch", Name: "Patch", Description: "read, write and apply_patch, which changes many files in one call"},
			{Value: "hashline", Name: "Hashline", Description: "fs_read, fs_write, fs_edit and fs_rollback, which edit by numbered lines"},
		},
	}
	if !slices.ContainsFunc(toolset.Choices, func(c acp.Choice) bool { return c.Value == cfg.Toolset.Preset }) {
		toolset.Value = toolsetOwn
		toolset.Choices = append(toolset.Choices, acp.Choice{Value: toolsetOwn, Name: "Settings", Description: "The list in the settings"})
	}
	return []acp.Option{toolset, {
		ID: optionCompact, Name: "Auto-compact", Value: word(cfg.AutoCompact),
		Description: "Let the model sum the conversation up when its window is nearly full",
	}}
}

func word(on bool) string {
	if on {
		return "true"
	}
	return "false"
}

// efforts are the thought levels that a model is offered with. One that the
// settings name is taken at its word for a model of which nothing is known.
func efforts(cfg config.Config, id string) []string {
	known := model.Lookup(id).Efforts
	if known == nil && cfg.Effort != "" {
		return []string{cfg.Effort}
	}
	return known
}

// makeTools makes the set that a session begins with, and keeps what further
// ones are made of.
func (w *work) makeTools(c tools.Config) error {
	set, err := tools.New(c)
	if err != nil {
		return err
	}
	w.toolConfig, w.sets = c, map[string]*tools.Set{}
	w.toolset = options(w.cfg)[0].Value
	w.sets[w.toolset] = set
	w.current.Store(set)
	return nil
}

// tools are those in force.
func (w *work) tools() *tools.Set { return w.current.Load() }

// chooseTools puts the set that the user chose in force. Sets share what the
// session has seen of its files and the commands that run.
func (w *work) chooseTools(preset string) {
	if preset == "" || preset == w.toolset {
		return
	}
	set := w.sets[preset]
	if set == nil {
		c := w.toolConfig
		c.Offer = offered(config.Toolset{Preset: preset})
		var err error
		if set, err = tools.New(c); err != nil {
			w.diag.Error().Err(err).Str("toolset", preset).Msg("the tools stay as they were")
			return
		}
		w.sets[preset] = set
	}
	w.toolset = preset
	w.current.Store(set)
}
