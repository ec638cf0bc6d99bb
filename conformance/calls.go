package conformance

import (
	"encoding/json"
	"maps"
	"slices"
)

// An element is one entry of a call's sequence: an update, a permission
// request about it, or the refinements of its input taken together.
type element struct {
	Kind    string
	Fields  map[string]any
	Meta    map[string]any
	Partial []any // of the refinements: the inputs that were not complete
	Whole   bool  // of the refinements: the last input was complete
	Repeats []string
}

// kindInput is the kind of the refinements taken together. How many there
// are depends on where the stream's pieces end.
const kindInput = "input"

// name tells an element in a report and in the search for its counterpart.
func (e element) name() string {
	if status, ok := e.Fields["status"].(string); ok && e.Kind == kindUpdate {
		return e.Kind + " (" + status + ")"
	}
	return e.Kind
}

// sequence returns the elements of one call among evs. input is the call's
// scripted input, nil if the script has none; metaOnly is the number of
// updates that held nothing but vendors' data and were left out.
func sequence(evs []event, call string, input map[string]any) (out []element, metaOnly int) {
	held := map[string]any{}
	streaming := false // between the call and its complete input
	for _, e := range evs {
		if e.Call != call {
			continue
		}
		if e.Kind == kindUpdate && len(e.Fields) == 0 && len(e.Meta) == 0 {
			metaOnly++
			continue
		}
		el := element{Kind: e.Kind, Fields: e.Fields, Meta: e.Meta}
		raw, hasInput := e.Fields["rawInput"].(map[string]any)
		_, ends := e.Fields["status"]
		switch {
		case e.Kind == kindCall:
			streaming = hasInput && len(raw) == 0
		case e.Kind == kindUpdate && streaming && hasInput && !ends:
			whole := coversKeys(raw, input)
			last := len(out) - 1
			if out[last].Kind != kindInput {
				out = append(out, element{Kind: kindInput, Fields: map[string]any{}})
				last++
			}
			into := &out[last]
			for k, v := range e.Fields {
				if old, ok := held[k]; ok && equal(old, v) {
					into.Repeats = append(into.Repeats, k)
				}
				into.Fields[k] = v
				held[k] = v
			}
			into.Meta = merge(into.Meta, e.Meta)
			into.Whole = whole
			if !whole {
				into.Partial = append(into.Partial, raw)
			}
			continue
		}
		if e.Kind != kindPermission {
			maps.Copy(held, e.Fields)
		}
		out = append(out, el)
	}
	return out, metaOnly
}

// overtaken reports whether the call was announced whole, by a permission
// request that came before the stream was read that far, and its refinements
// trail behind. The recorded agent does so now and then; it is chance.
func overtaken(els []element) bool {
	if len(els) == 0 || els[0].Kind != kindCall {
		return false
	}
	whole, _ := els[0].Fields["rawInput"].(map[string]any)
	if len(whole) == 0 {
		return false
	}
	return slices.ContainsFunc(els[1:], func(e element) bool {
		raw, ok := e.Fields["rawInput"].(map[string]any)
		return ok && e.Kind == kindUpdate && len(raw) <= len(whole)
	})
}

// gather takes the announcement and the refinements together, so that a call
// that was overtaken compares with one that was not.
func gather(els []element) []element {
	var out []element
	for _, e := range els {
		_, hasInput := e.Fields["rawInput"]
		_, ends := e.Fields["status"]
		if len(out) > 0 && out[0].Kind == kindCall && e.Kind != kindCall && e.Kind != kindPermission && hasInput && !ends {
			out[0].Fields = merge(out[0].Fields, e.Fields)
			out[0].Meta = merge(out[0].Meta, e.Meta)
			continue
		}
		out = append(out, e)
	}
	return out
}

func coversKeys(have, want map[string]any) bool {
	for k := range want {
		if _, ok := have[k]; !ok {
			return false
		}
	}
	return true
}

func merge(a, b map[string]any) map[string]any {
	if len(b) == 0 {
		return a
	}
	out := maps.Clone(a)
	if out == nil {
		out = map[string]any{}
	}
	maps.Copy(out, b)
	return out
}

// fold applies the elements to what a client held before, which may be nil.
// A tool_call begins anew; permission requests change nothing.
func fold(held map[string]any, els []element) map[string]any {
	held = maps.Clone(held)
	if held == nil {
		held = map[string]any{}
	}
	for _, e := range els {
		switch e.Kind {
		case kindPermission:
		case kindCall:
			held = maps.Clone(e.Fields)
		default:
			maps.Copy(held, e.Fields)
		}
	}
	return held
}

// callsIn lists the calls that evs tell of, in order of appearance.
func callsIn(evs []event) []string {
	var out []string
	for _, e := range evs {
		if e.Call != "" && !slices.Contains(out, e.Call) {
			out = append(out, e.Call)
		}
	}
	return out
}

// partials foretells the incomplete inputs that are shown while an input
// streams in pieces of n characters: one for each piece that passes a comma
// between properties, except the piece that completes the input. cut is the
// number of characters that are streamed, nil for all.
func partials(input string, n int, cut *int) []any {
	var keys []string
	values := map[string]any{}
	var commas []int // offsets, in characters
	if !scanObject(input, func(key string, value any, comma int) {
		keys = append(keys, key)
		values[key] = value
		if comma >= 0 {
			commas = append(commas, comma)
		}
	}) {
		return nil
	}
	total := len([]rune(input))
	end := total
	if cut != nil {
		end = min(*cut, total)
	}
	var out []any
	passed := 0
	for pos := 0; pos < end; {
		pos = min(pos+n, end)
		k := 0
		for k < len(commas) && commas[k] < pos {
			k++
		}
		if k > passed && pos < total {
			part := map[string]any{}
			for _, key := range keys[:k] {
				part[key] = values[key]
			}
			out = append(out, part)
		}
		passed = k
	}
	return out
}

// scanObject calls each for the properties of an object in their order, with
// the offset in characters of the comma behind, or -1.
func scanObject(s string, each func(key string, value any, comma int)) bool {
	rs := []rune(s)
	depth, start := 0, 1
	inString, escaped := false, false
	property := func(end, comma int) bool {
		one, ok := decodeAny(json.RawMessage("{" + string(rs[start:end]) + "}")).(map[string]any)
		for k, v := range one {
			each(k, v, comma)
		}
		return ok
	}
	for i, c := range rs {
		switch {
		case escaped:
			escaped = false
		case inString:
			escaped, inString = c == '\\', c != '"'
		case c == '"':
			inString = true
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
			if depth == 0 {
				return property(i, -1)
			}
		case c == ',' && depth == 1:
			if !property(i, i) {
				return false
			}
			start = i + 1
		}
	}
	return false
}
