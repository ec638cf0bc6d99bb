package model

import (
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"strings"
)

const nameChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

// CallID returns the id of a call in the alphabet that services demand. Ids
// that fit pass unchanged; those of another service, from earlier in the
// session, are hashed, so that a call and its result still agree.
func CallID(id string) string {
	if id != "" && strings.Trim(id, nameChars) == "" {
		return id
	}
	h := fnv.New64a()
	fmt.Fprint(h, id)
	return "call_" + hex.EncodeToString(h.Sum(nil))
}

// ToolName returns a name that a service takes back, of at most limit bytes,
// also where a model called something that does not exist.
func ToolName(name string, limit int) string {
	out := strings.Map(func(r rune) rune {
		if r < 0x80 && strings.ContainsRune(nameChars, r) {
			return r
		}
		return '_'
	}, name)
	if out == "" {
		return "unnamed"
	}
	return out[:min(len(out), limit)]
}
