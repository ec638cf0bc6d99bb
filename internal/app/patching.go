package app

import (
	"dsh-acp/internal/config"
	"dsh-acp/internal/patch"
	"dsh-acp/tools"
)

// hiding is what the settings keep from the model.
func hiding(cfg config.Config) tools.Hiding {
	return tools.Hiding{EditTools: cfg.HideNativeWriteTools, Names: cfg.HiddenToolNames}
}

// patching is how the settings have apply_patch work.
func patching(cfg config.Config) tools.PatchConfig {
	return tools.PatchConfig{
		Limits: patch.Limits{
			Operations: int(cfg.Patch.MaxOperations), Files: int(cfg.Patch.MaxFiles),
			FileSize: int(cfg.Patch.MaxFileBytes), NewBytes: int(cfg.Patch.MaxNewBytes),
			Search: int(cfg.Patch.MaxSearch), Expect: int(cfg.Patch.MaxExpect), Depth: int(cfg.Patch.MaxDepth),
			Tokens: int(cfg.Patch.MaxTokens), Candidates: int(cfg.Patch.MaxCandidates),
		},
		AdjacentJSON: cfg.Patch.AdjacentJSON, RemoveCreated: cfg.Patch.RemoveCreated,
	}
}

// hideAgain reads the settings once more, since what is hidden may change
// while a session runs. While they are bad, what held before holds.
func (w *work) hideAgain() {
	if !w.tools().CanHide() {
		return
	}
	cfg, err := config.Load(w.app.opts.Source)
	if err != nil {
		w.diag.Debug().Err(err).Msg("what is hidden stays as it was, since the settings cannot be read")
		return
	}
	w.tools().Hide(hiding(cfg))
}
