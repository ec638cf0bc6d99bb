package hashline

import (
	"bytes"
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

// twice names a key that an object in the arguments has twice, of which
// encoding/json would take the later one without a word; "" if there is none.
// raw is JSON.
func twice(raw json.RawMessage) string {
	dec := json.NewDecoder(bytes.NewReader(raw))
	type level struct {
		keys map[string]bool // nil in a list
		key  bool            // a key is next
	}
	var open []level
	for {
		tok, err := dec.Token()
		if err != nil {
			return "" // the end
		}
		in := len(open) - 1
		if name, ok := tok.(string); ok && in >= 0 && open[in].key {
			if open[in].keys[name] {
				return name
			}
			open[in].keys[name], open[in].key = true, false
			continue
		}
		switch tok {
		case json.Delim('{'):
			open = append(open, level{keys: map[string]bool{}, key: true})
			continue
		case json.Delim('['):
			open = append(open, level{})
			continue
		case json.Delim('}'), json.Delim(']'):
			open = open[:in]
			in--
		}
		if in >= 0 && open[in].keys != nil {
			open[in].key = true // a value is over
		}
	}
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
