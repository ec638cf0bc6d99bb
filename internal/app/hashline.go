package app

import (
	"strings"

	"dsh-acp/acp"
	"dsh-acp/fsbackend"
	"dsh-acp/internal/config"
	"dsh-acp/internal/syntax"
	"dsh-acp/tools"
	"dsh-acp/tools/fs"
)

// configFor is the settings of a session: the program's, with what the client
// set for this one on top.
func (a *App) configFor(setup acp.Setup) (config.Config, error) {
	cfg, err := a.Config()
	if err != nil {
		return cfg, err
	}
	cfg, err = cfg.ForSession(a.opts.Source, setup.Settings)
	if err != nil {
		return cfg, &acp.ParamsError{Text: err.Error()}
	}
	return cfg, nil
}

// hashlining is how the settings have the tools with numbered lines work.
func hashlining(cfg config.Config) tools.HashlineConfig {
	return tools.HashlineConfig{
		Engine: engines[cfg.Hashline.Engine], SeenLines: seenPolicies[cfg.Hashline.SeenLines],
		NoRepair: cfg.Hashline.NoRepair, AdvertiseBatch: cfg.Hashline.AdvertiseBatch,
		Parser: fs.Trees(),
	}
}

// Grammars tells, on a line, the languages whose files are edited by their
// structure, or why there are none.
func Grammars() string {
	if fs.Trees() == nil {
		return syntax.ErrUnavailable.Error()
	}
	var names []string
	for _, lang := range syntax.Langs() {
		names = append(names, string(lang))
	}
	return "syntax trees of " + strings.Join(names, ", ")
}

// The settings hold one of these names each; config has checked it.
var (
	engines      = map[string]fs.Engine{config.EngineAuto: fs.Auto, config.EngineReplace: fs.Replace, config.EngineAST: fs.AST}
	seenPolicies = map[string]fs.SeenPolicy{config.SeenWarn: fs.SeenWarn, config.SeenOff: fs.SeenOff, config.SeenReject: fs.SeenReject}
	generated    = map[string]fsbackend.Generated{
		config.GeneratedRefuse: fsbackend.GeneratedRefuse, config.GeneratedWarn: fsbackend.GeneratedWarn, config.GeneratedOff: fsbackend.GeneratedOff,
	}
)
