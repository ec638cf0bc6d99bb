package hashline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// only refuses keys that do not belong to an object.
func only(t map[string]json.RawMessage, where string, shape Shape, known ...string) error {
	var strange []string
	for k := range t {
		if !slices.Contains(known, k) && has(t, k) {
			strange = append(strange, k)
		}
	}
	if strange == nil {
		return nil
	}
	slices.Sort(strange)
	if where == "" {
		where = "the arguments"
	}
	return correct(fmt.Sprintf("%s: %q is not known here", where, strings.Join(strange, ", ")), shape)
}

func object(raw json.RawMessage) (map[string]json.RawMessage, bool) {
	var m map[string]json.RawMessage
	return m, json.Unmarshal(raw, &m) == nil && m != nil
}

// has reports whether a key is there and not null.
func has(m map[string]json.RawMessage, key string) bool {
	v, ok := m[key]
	return ok && string(v) != "null"
}

// str returns a text; "" for an absent key, and false for another type.
func str(m map[string]json.RawMessage, key string) (string, bool) {
	if !has(m, key) {
		return "", true
	}
	return textOf(m[key]), isString(m[key])
}

func boolean(m map[string]json.RawMessage, key string, shape Shape) (bool, error) {
	var b bool
	if has(m, key) && json.Unmarshal(m[key], &b) != nil {
		return false, correct(key+" is neither true nor false", shape)
	}
	return b, nil
}

func isString(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '"' }
func isList(raw json.RawMessage) bool   { return len(raw) > 0 && raw[0] == '[' }

// textOf returns a JSON string's text, "" for anything else.
func textOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}
