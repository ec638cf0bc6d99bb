package app

import (
	"fmt"
	"os"

	"dsh-acp/acp"
	"dsh-acp/internal/config"
	"dsh-acp/internal/model"
	"dsh-acp/internal/model/anthropic"
	"dsh-acp/internal/model/openai"
	"dsh-acp/internal/model/scripted"
	"dsh-acp/internal/model/transport"
)

// newProvider makes the model provider of the settings. It connects to nothing.
func newProvider(cfg config.Config, cred config.Credential) (model.Provider, error) {
	retry := transport.Policy{Retries: int(cfg.MaxRetries), RetryAfterCap: cfg.RetryAfterCap}
	if retry.Retries == 0 {
		retry.Retries = -1 // the policy's 0 is its default, the setting's is none
	}
	limits := transport.Limits{Idle: cfg.IdleTimeout, Total: cfg.RequestTimeout}
	switch cfg.Provider {
	case config.Scripted:
		script, err := os.ReadFile(cfg.ScriptFile)
		if err != nil {
			return nil, fmt.Errorf("scripted model: %w", err)
		}
		return scripted.New(script, scripted.Options{})
	case config.Anthropic:
		return anthropic.New(anthropic.Config{
			BaseURL: cfg.BaseURL, Key: cred.Key.Reveal(), Auth: cred.Scheme,
			Model: cfg.Model, MaxTokens: cfg.MaxTokens, Limits: limits, Retry: retry,
		}), nil
	case config.OpenAI:
		return openai.New(openai.Config{
			BaseURL: cfg.BaseURL, Key: cred.Key.Reveal(), KeyHeader: keyHeader(cred.Scheme),
			Model: cfg.Model, MaxTokens: cfg.MaxTokens, Limits: limits, Retry: retry,
		}), nil
	default:
		return nil, fmt.Errorf("provider %q is not in this build", cfg.Provider)
	}
}

// keyHeader names the header of a key that is not sent as a bearer token.
func keyHeader(scheme string) string {
	if scheme == config.AuthAPIKey {
		return config.AuthAPIKey
	}
	return ""
}

// models lists what the option "model" offers, and the choice in force.
func models(cfg config.Config) (choices []acp.Model, current string) {
	add := func(id string) {
		for _, c := range choices {
			if c.ID == id {
				return
			}
		}
		choices = append(choices, acp.Model{ID: id, Name: id, Efforts: efforts(cfg, id)})
	}
	current = cfg.Model
	switch cfg.Provider {
	case config.Scripted:
		current = scripted.ModelName
	case config.Anthropic:
		if current == "" {
			current = anthropic.DefaultModel
		}
	case config.OpenAI:
		if current == "" {
			current = openai.DefaultModel
		}
	}
	add(current)
	if cfg.Provider == config.Anthropic {
		for _, id := range anthropicModels {
			add(id)
		}
	}
	return choices, current
}

// anthropicModels are offered beside the one of the settings.
var anthropicModels = []string{anthropic.DefaultModel, "claude-sonnet-4-5", "claude-haiku-4-5"}

// scriptedWindow is the context window that scripted models are given.
const scriptedWindow = 200_000
