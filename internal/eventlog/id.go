package eventlog

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"
)

// maxID is the longest session id, in bytes: with suffixes it stays a file
// name everywhere.
const maxID = 128

// reserved are device names on Windows, whatever follows their first dot.
var reserved = []string{"con", "prn", "aux", "nul",
	"com0", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9",
	"lpt0", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9"}

// An IDError says that a text cannot be a session's id. It is about the text
// alone and does not tell whether any file exists.
type IDError struct {
	ID  string
	Why string
}

func (e *IDError) Error() string {
	return fmt.Sprintf("session id %.80q: %s", e.ID, e.Why)
}

// ValidID reports as an [*IDError] why id cannot name a session: an id is 1
// to 128 of the characters a-z A-Z 0-9 _ and -, does not begin with -, and is
// no device name. So it is never a path.
func ValidID(id string) error {
	switch {
	case id == "":
		return &IDError{id, "it is empty"}
	case len(id) > maxID:
		return &IDError{id, fmt.Sprintf("it has %d bytes, at most %d are allowed", len(id), maxID)}
	case id[0] == '-':
		return &IDError{id, "it begins with a dash"}
	case slices.Contains(reserved, strings.ToLower(id)):
		return &IDError{id, "it is the name of a device"}
	}
	for i := range len(id) {
		c := id[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' {
			continue
		}
		return &IDError{id, fmt.Sprintf("byte %d is not a letter, a digit, _ or -; an id is a name, not a path", i)}
	}
	return nil
}

// NewID makes an id for a session that begins at t: a UUID of version 7.
// Ids sort by time of creation to the millisecond; the other 74 bits are random.
func NewID(t time.Time) string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	ms := t.UnixMilli()
	for i := range 6 {
		b[i] = byte(ms >> (8 * (5 - i)))
	}
	b[6] = b[6]&0x0F | 0x70
	b[8] = b[8]&0x3F | 0x80
	s := hex.EncodeToString(b[:])
	return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
}
