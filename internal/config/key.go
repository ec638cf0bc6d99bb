package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

const redacted = "[redacted]"

// A Key is the secret of a model service. However it is printed or encoded,
// it shows as "[redacted]"; only [Key.Reveal] gives it away. The zero Key is
// none.
type Key struct{ secret string }

// ParseKey takes what a person entered or stored: white space around it is
// dropped. It fails, without repeating the text, if it cannot be a key.
func ParseKey(text string) (Key, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return Key{}, errors.New("the key is empty")
	}
	for _, r := range text {
		// Keys travel in a header: anything else there is a slip of the paste.
		if r <= ' ' || r > '~' {
			return Key{}, errors.New("the key holds white space or characters that no key has; was something else pasted?")
		}
	}
	return Key{text}, nil
}

// Reveal gives the secret, for the request that needs it.
func (k Key) Reveal() string { return k.secret }

// IsZero reports whether k is none.
func (k Key) IsZero() bool { return k.secret == "" }

// String hides the secret.
func (k Key) String() string { return redacted }

// GoString hides the secret.
func (k Key) GoString() string { return redacted }

// Format hides the secret, whatever the verb.
func (k Key) Format(f fmt.State, _ rune) { io.WriteString(f, redacted) }

// MarshalJSON hides the secret.
func (k Key) MarshalJSON() ([]byte, error) { return json.Marshal(redacted) }

// MarshalText hides the secret.
func (k Key) MarshalText() ([]byte, error) { return []byte(redacted), nil }
