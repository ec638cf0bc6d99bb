package cases

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// match reports whether a JSON value contains a pattern: named members must
// agree, others may be there, and "*" is any value, but not none.
func match(pattern, value json.RawMessage) error {
	p, err := decodeAny(pattern)
	if err != nil {
		return fmt.Errorf("pattern: %w", err)
	}
	v, err := decodeAny(value)
	if err != nil {
		return err
	}
	return matchAny(p, v, "")
}

// decodeAny keeps numbers as they are written.
func decodeAny(raw json.RawMessage) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	return v, err
}

func matchAny(p, v any, at string) error {
	if p == "*" {
		return nil
	}
	switch p := p.(type) {
	case map[string]any:
		obj, ok := v.(map[string]any)
		if !ok {
			// A path stands for an object with that path, and the other way
			// round.
			if path, named := p["path"]; named && len(p) == 1 {
				return matchAny(path, v, at)
			}
			return fmt.Errorf("%s must be an object", named(at))
		}
		for _, k := range sortedKeys(p) {
			member, ok := obj[k]
			if !ok {
				return fmt.Errorf("%s is missing", at+"."+k)
			}
			if err := matchAny(p[k], member, at+"."+k); err != nil {
				return err
			}
		}
		return nil
	case []any:
		list, ok := v.([]any)
		if !ok || len(list) != len(p) {
			return fmt.Errorf("%s must be a list of %d", named(at), len(p))
		}
		for i := range p {
			if err := matchAny(p[i], list[i], fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return err
			}
		}
		return nil
	case string:
		if obj, ok := v.(map[string]any); ok && obj["path"] == p {
			return nil
		}
	}
	if p != v {
		return fmt.Errorf("%s must be %v, is %s", named(at), p, brief(fmt.Sprint(v)))
	}
	return nil
}

func named(at string) string {
	if at == "" {
		return "the value"
	}
	return at
}

// substitute puts values in place of the placeholders ${NAME} of a JSON value:
// one that is a whole string takes any value, one inside of a string a string.
func (w *world) substitute(raw json.RawMessage) (json.RawMessage, error) {
	if !bytes.Contains(raw, []byte("${")) {
		return raw, nil
	}
	v, err := decodeAny(raw)
	if err != nil {
		return nil, err
	}
	if v, err = w.fill(v); err != nil {
		return nil, err
	}
	return marshal(v)
}

func (w *world) fill(v any) (any, error) {
	var err error
	switch v := v.(type) {
	case map[string]any:
		for k, m := range v {
			if v[k], err = w.fill(m); err != nil {
				return nil, err
			}
		}
		return v, nil
	case []any:
		for i, m := range v {
			if v[i], err = w.fill(m); err != nil {
				return nil, err
			}
		}
		return v, nil
	case string:
		return w.fillString(v)
	}
	return v, nil
}

// fillString leaves names alone that nothing was bound to: they are text, as
// in "n=${1}x".
func (w *world) fillString(s string) (any, error) {
	if w.more != nil {
		var err error
		if s, err = w.more(s); err != nil {
			return nil, err
		}
	}
	if name, ok := strings.CutPrefix(s, "${"); ok && strings.IndexByte(name, '}') == len(name)-1 {
		if raw, ok := w.vars[name[:len(name)-1]]; ok {
			return decodeAny(raw)
		}
	}
	for name, raw := range w.vars {
		hole := "${" + name + "}"
		if !strings.Contains(s, hole) {
			continue
		}
		var text string
		if json.Unmarshal(raw, &text) != nil {
			text = string(raw)
		}
		s = strings.ReplaceAll(s, hole, text)
	}
	return s, nil
}
