package acpschema

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// UnknownParams lists the properties in the params of a method that the
// schema does not name, as paths such as "update/tolCallId", sorted. List
// indexes are written as "*", so that a fault in each element is told once.
// Names that begin with "_" and all below "_meta" are free. It is meant to
// find typing errors, which plain validation lets pass; for params that do
// not validate the list may be longer than it should.
func UnknownParams(dir Direction, method string, params json.RawMessage) []string {
	name, err := paramsType(dir, method)
	return unknown(name, err, params)
}

// UnknownResult is [UnknownParams] for results.
func UnknownResult(dir Direction, method string, result json.RawMessage) []string {
	name, err := resultType(dir, method)
	return unknown(name, err, result)
}

func unknown(name string, err error, raw json.RawMessage) []string {
	if err != nil || name == "" {
		return nil
	}
	v, err := decode(raw)
	if err != nil {
		return nil
	}
	w := walker{defs: load().raw, found: map[string]bool{}}
	w.walk([]any{w.defs[name]}, v, nil)
	out := make([]string, 0, len(w.found))
	for p := range w.found {
		out = append(out, p)
	}
	slices.Sort(out)
	return out
}

type walker struct {
	defs  map[string]any
	found map[string]bool
}

// walk looks at v as described by all of schemas.
func (w *walker) walk(schemas []any, v any, path []string) {
	switch v := v.(type) {
	case []any:
		var items []any
		for _, s := range w.flat(schemas, v) {
			if i, ok := s["items"]; ok {
				items = append(items, i)
			}
		}
		if len(items) == 0 {
			return
		}
		for _, e := range v {
			w.walk(items, e, append(path, "*"))
		}
	case map[string]any:
		props, free := map[string][]any{}, true
		var rest []any
		for _, s := range w.flat(schemas, v) {
			if p, ok := s["properties"].(map[string]any); ok {
				free = false
				for name, sub := range p {
					props[name] = append(props[name], sub)
				}
			}
			switch a := s["additionalProperties"].(type) {
			case map[string]any:
				rest = append(rest, a)
			case bool:
				if a {
					rest = append(rest, map[string]any{})
				}
			}
		}
		if free && rest == nil {
			return
		}
		for name, sub := range v {
			if strings.HasPrefix(name, "_") {
				continue
			}
			at := append(slices.Clone(path), name)
			switch {
			case props[name] != nil:
				w.walk(props[name], sub, at)
			case rest != nil:
				w.walk(rest, sub, at)
			default:
				w.found[strings.Join(at, "/")] = true
			}
		}
	}
}

// flat resolves references and picks the alternatives that v was meant as.
func (w *walker) flat(schemas []any, v any) []map[string]any {
	var out []map[string]any
	for _, s := range schemas {
		m, ok := s.(map[string]any)
		if !ok {
			continue
		}
		out = append(out, m)
		if ref, ok := m["$ref"].(string); ok {
			out = append(out, w.flat([]any{w.defs[strings.TrimPrefix(ref, "#/$defs/")]}, v)...)
		}
		if all, ok := m["allOf"].([]any); ok {
			out = append(out, w.flat(all, v)...)
		}
		for _, word := range []string{"oneOf", "anyOf"} {
			alternatives, _ := m[word].([]any)
			for _, a := range alternatives {
				if w.meant(a, v) {
					out = append(out, w.flat([]any{a}, v)...)
				}
			}
		}
	}
	return out
}

// meant reports whether v has the type, the constants and the required
// properties of s.
func (w *walker) meant(s, v any) bool {
	m, ok := s.(map[string]any)
	if !ok {
		return true
	}
	if !typeFits(m["type"], v) {
		return false
	}
	if c, ok := m["const"]; ok && c != v {
		return false
	}
	if ref, ok := m["$ref"].(string); ok && !w.meant(w.defs[strings.TrimPrefix(ref, "#/$defs/")], v) {
		return false
	}
	if all, ok := m["allOf"].([]any); ok {
		for _, a := range all {
			if !w.meant(a, v) {
				return false
			}
		}
	}
	if not, ok := m["not"].(map[string]any); ok {
		for _, a := range not["anyOf"].([]any) {
			if w.meant(a, v) {
				return false
			}
		}
	}
	o, ok := v.(map[string]any)
	if !ok {
		return true
	}
	required, _ := m["required"].([]any)
	for _, r := range required {
		if _, ok := o[r.(string)]; !ok {
			return false
		}
	}
	props, _ := m["properties"].(map[string]any)
	for name, p := range props {
		pm, _ := p.(map[string]any)
		c, isConst := pm["const"]
		if value, there := o[name]; isConst && there && value != c {
			return false
		}
	}
	return true
}

func typeFits(t, v any) bool {
	switch t := t.(type) {
	case string:
		switch t {
		case "object":
			_, ok := v.(map[string]any)
			return ok
		case "array":
			_, ok := v.([]any)
			return ok
		case "string":
			_, ok := v.(string)
			return ok
		case "boolean":
			_, ok := v.(bool)
			return ok
		case "null":
			return v == nil
		case "integer":
			n, ok := v.(json.Number)
			_, err := strconv.ParseInt(string(n), 10, 64)
			return ok && err == nil
		case "number":
			_, ok := v.(json.Number)
			return ok
		}
	case []any:
		for _, one := range t {
			if typeFits(one, v) {
				return true
			}
		}
		return false
	}
	return true
}
