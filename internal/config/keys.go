package config

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/zalando/go-keyring"
)

// ErrNoKey says that no key is stored.
var ErrNoKey = errors.New("no key is stored")

// Keys keeps a key for each provider. It is safe for concurrent use.
type Keys interface {
	// Get fails with ErrNoKey if there is none. where tells the place in a
	// few words.
	Get(provider string) (key Key, where string, err error)
	// Set stores a key in place of an older one and tells where.
	Set(provider string, key Key) (where string, err error)
	// Delete removes a key from all places; it is no error if there is none.
	Delete(provider string) error
}

// Keys gives the store that the settings ask for: the system's keyring, and a
// file (mode 0600) in c.Dir where the keyring does not work, for whatever reason.
func (c Config) Keys() Keys {
	s := &store{file: keyFileIn(c.Dir)}
	if c.Keyring != "never" && ringReachable() {
		s.ring = &patientRing{ring: systemRing{}, limit: ringTimeout}
	}
	return s
}

// A ring is a keyring. get fails with ErrNoKey if it works and has none.
type ring interface {
	get(provider string) (string, error)
	set(provider, secret string) error
	delete(provider string) error
}

const inRing = "system keyring"

// A store is a ring (nil for none) with a file behind it.
type store struct {
	ring ring
	file keyFile
}

func (s *store) Get(provider string) (Key, string, error) {
	if s.ring != nil {
		if secret, err := s.ring.get(provider); err == nil {
			if key, err := ParseKey(secret); err == nil {
				return key, inRing, nil
			}
		}
	}
	secret, err := s.file.get(provider)
	if err != nil {
		return Key{}, "", err
	}
	key, err := ParseKey(secret)
	if err != nil {
		return Key{}, "", fmt.Errorf("key file %s: %s: %w", s.file, provider, err)
	}
	return key, string(s.file), nil
}

func (s *store) Set(provider string, key Key) (string, error) {
	if s.ring != nil && s.ring.set(provider, key.Reveal()) == nil {
		// An older key in the file would come back with the next broken ring.
		return inRing, s.file.delete(provider)
	}
	return string(s.file), s.file.set(provider, key.Reveal())
}

// Delete tells of a failing ring only if it works at all, else a machine
// without one could never log out.
func (s *store) Delete(provider string) error {
	err := s.file.delete(provider)
	if s.ring == nil {
		return err
	}
	if _, got := s.ring.get(provider); got == nil {
		if gone := s.ring.delete(provider); gone != nil {
			return errors.Join(err, fmt.Errorf("%s: %s: %w", inRing, provider, gone))
		}
	}
	return err
}

// systemRing is the keyring of the desktop or the operating system.
type systemRing struct{}

func (systemRing) get(provider string) (string, error) {
	s, err := keyring.Get(product, provider)
	if errors.Is(err, keyring.ErrNotFound) {
		return "", ErrNoKey
	}
	return s, err
}

func (systemRing) set(provider, secret string) error { return keyring.Set(product, provider, secret) }

func (systemRing) delete(provider string) error { return keyring.Delete(product, provider) }

// ringTimeout is how long a keyring may take. One that asks the user to
// unlock it takes longer, and then the file serves.
const ringTimeout = 3 * time.Second

var errRingSilent = errors.New("the keyring does not answer")

// A patientRing gives up on a ring that does not answer, for good: the call
// that hangs cannot be ended, and no second one shall hang beside it.
type patientRing struct {
	ring  ring
	limit time.Duration
	gone  atomic.Bool
}

func (p *patientRing) get(provider string) (string, error) {
	var secret string
	err := p.wait(func() (func(), error) {
		s, err := p.ring.get(provider)
		return func() { secret = s }, err
	})
	return secret, err
}

func (p *patientRing) set(provider, secret string) error {
	return p.wait(func() (func(), error) { return nil, p.ring.set(provider, secret) })
}

func (p *patientRing) delete(provider string) error {
	return p.wait(func() (func(), error) { return nil, p.ring.delete(provider) })
}

// wait runs call in a goroutine. What call gives to keep is run by the
// waiter, so a call that ends too late touches nothing.
func (p *patientRing) wait(call func() (keep func(), err error)) error {
	if p.gone.Load() {
		return errRingSilent
	}
	type result struct {
		keep func()
		err  error
	}
	done := make(chan result, 1)
	go func() {
		keep, err := call()
		done <- result{keep, err}
	}()
	limit := time.NewTimer(p.limit)
	defer limit.Stop()
	select {
	case r := <-done:
		if r.keep != nil {
			r.keep()
		}
		return r.err
	case <-limit.C:
		p.gone.Store(true)
		return errRingSilent
	}
}
