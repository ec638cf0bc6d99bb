package config

import (
	"errors"
	"fmt"
)

// A Credential is what a request to the model service is signed with.
type Credential struct {
	Key    Key    // zero if the service needs none
	Scheme string // AuthAPIKey or AuthBearer
	Where  string // where the key came from, in a few words; "" for none
}

// A MissingKeyError says that no key was found, and how to give one.
type MissingKeyError struct {
	Provider string
	Looked   []string // the places, in order
	Err      error    // why a place could not be looked at; nil if all could
}

func (e *MissingKeyError) Error() string {
	s := "no key for " + e.Provider + ": run dsh-acp login"
	if len(e.Looked) > 0 {
		s += ", or set " + e.Looked[len(e.Looked)-1]
	}
	if e.Err != nil {
		s += " (" + e.Err.Error() + ")"
	}
	return s
}

func (e *MissingKeyError) Unwrap() error { return e.Err }

// A keyVar is a variable that may hold a key.
type keyVar struct{ name, scheme string }

// keyVars gives the variables that are looked at, in order.
func (c Config) keyVars() []keyVar {
	var vars []keyVar
	if c.APIKeyEnv != "" {
		vars = append(vars, keyVar{c.APIKeyEnv, ""})
	}
	switch c.Provider {
	case Anthropic:
		return append(vars, keyVar{"ANTHROPIC_API_KEY", AuthAPIKey}, keyVar{"ANTHROPIC_AUTH_TOKEN", AuthBearer})
	case OpenAI:
		return append(vars, keyVar{"OPENAI_API_KEY", AuthBearer})
	}
	return vars
}

// Credential finds the key of the provider in force: first in the
// environment of src, then in keys. A service that needs none
// (noKey, or the scripted provider) gets one all the same if there is a
// variable, and otherwise none without an error. It fails with a
// *[MissingKeyError].
func (c Config) Credential(src Source, keys Keys) (Credential, error) {
	if c.Provider == Scripted {
		return Credential{}, nil
	}
	missing := &MissingKeyError{Provider: c.Provider}
	for _, v := range c.keyVars() {
		text := src.env(v.name)
		if text == "" {
			missing.Looked = append([]string{v.name}, missing.Looked...)
			continue
		}
		key, err := ParseKey(text)
		if err != nil {
			missing.Err = fmt.Errorf("environment %s: %w", v.name, err)
			return Credential{}, missing
		}
		return Credential{Key: key, Scheme: c.scheme(v.scheme), Where: "environment " + v.name}, nil
	}
	if c.NoKey {
		return Credential{Scheme: c.scheme("")}, nil
	}
	key, where, err := keys.Get(c.Provider)
	if err != nil {
		if !errors.Is(err, ErrNoKey) {
			missing.Err = err
		}
		return Credential{}, missing
	}
	return Credential{Key: key, Scheme: c.scheme(""), Where: where}, nil
}

// scheme is the set one, or the one that the kind of key calls for, or the
// provider's.
func (c Config) scheme(ofKey string) string {
	switch {
	case c.AuthScheme != AuthAuto:
		return c.AuthScheme
	case ofKey != "":
		return ofKey
	case c.Provider == Anthropic:
		return AuthAPIKey
	default:
		return AuthBearer
	}
}
