package conformance

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
)

// A mismatch is a pair of values that no rule explains.
type mismatch struct {
	path         string
	theirs, ours any
}

// compareValues compares two values and calls used for each rule that
// explains a difference.
func compareValues(f field, theirs, ours any, used func(rule string)) []mismatch {
	if equal(theirs, ours) {
		return nil
	}
	for _, r := range Rules {
		if r.value != nil && r.value(f, theirs, ours) {
			used(r.Name)
			return nil
		}
	}
	below := func(name string) field { return field{path: f.path + "/" + name, call: f.call, step: f.step, in: f.in} }
	switch t := theirs.(type) {
	case string:
		if o, ok := ours.(string); ok {
			if steady(t) == steady(o) {
				return nil
			}
			if names, ok := explain(f, t, o); ok {
				for _, n := range names {
					used(n)
				}
				return nil
			}
		}
	case []any:
		o, ok := ours.([]any)
		if !ok || len(o) != len(t) {
			break
		}
		var out []mismatch
		for i := range t {
			out = append(out, compareValues(below(strconv.Itoa(i)), t[i], o[i], used)...)
		}
		return out
	case map[string]any:
		o, ok := ours.(map[string]any)
		if !ok || t["type"] != o["type"] {
			break
		}
		var out []mismatch
		for _, k := range keysOf(t, o) {
			out = append(out, compareValues(below(k), get(t, k), get(o, k), used)...)
		}
		return out
	}
	return []mismatch{{f.path, theirs, ours}}
}

// varying are the parts of texts that differ between two runs of one agent.
var varying = []struct {
	pattern *regexp.Regexp
	by      string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "(uuid)"},
	{regexp.MustCompile(`\ba[0-9a-f]{16}\b`), "(agent)"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "(time)"},
	{regexp.MustCompile(`\b(127\.0\.0\.1|localhost):\d+`), "$1:(port)"},
	{regexp.MustCompile(`\b(duration_ms\W{1,3})\d+`), "$1(duration)"},
}

// steady brings a text to a form that two runs share.
func steady(s string) string {
	for _, v := range varying {
		s = v.pattern.ReplaceAllString(s, v.by)
	}
	return s
}

// explain looks for the smallest set of text rules that make the texts equal.
func explain(f field, theirs, ours string) ([]string, bool) {
	var rules []Rule
	for _, r := range Rules {
		if r.text == nil {
			continue
		}
		if t, o := r.text(f, theirs, ours); t != theirs || o != ours {
			rules = append(rules, r)
		}
	}
	best, found := []string(nil), false
	for set := 1; set < 1<<len(rules); set++ {
		t, o := theirs, ours
		var names []string
		for i, r := range rules {
			if set&(1<<i) != 0 {
				t, o = r.text(f, t, o)
				names = append(names, r.Name)
			}
		}
		if t == o && (!found || len(names) < len(best)) {
			best, found = names, true
		}
	}
	return best, found
}

// compareFields compares objects field by field; a field that one side did
// not send is absent.
func compareFields(f field, theirs, ours map[string]any, used func(string)) []mismatch {
	var out []mismatch
	for _, k := range keysOf(theirs, ours) {
		t, o := get(theirs, k), get(ours, k)
		if k == "options" {
			out = append(out, compareOptions(f, t, o, used)...)
			continue
		}
		out = append(out, compareValues(field{path: k, call: f.call, step: f.step, in: f.in}, t, o, used)...)
	}
	return out
}

// compareOptions compares the options of a permission request: their kinds
// and order; names and ids are words.
func compareOptions(f field, theirs, ours any, used func(string)) []mismatch {
	t, _ := theirs.([]any)
	o, _ := ours.([]any)
	if !slices.Equal(optionKinds(t), optionKinds(o)) {
		return []mismatch{{"options", fmt.Sprint(optionKinds(t)), fmt.Sprint(optionKinds(o))}}
	}
	var out []mismatch
	for i := range t {
		tm, _ := t[i].(map[string]any)
		om, _ := o[i].(map[string]any)
		for _, part := range []struct{ key, path string }{{"name", "title of option"}, {"optionId", "id of option"}} {
			out = append(out, compareValues(field{path: part.path, call: f.call, step: f.step, in: f.in}, tm[part.key], om[part.key], used)...)
		}
	}
	return out
}

func optionKinds(options []any) []string {
	out := make([]string, len(options))
	for i, v := range options {
		m, _ := v.(map[string]any)
		out[i], _ = m["kind"].(string)
	}
	return out
}

func get(m map[string]any, k string) any {
	v, ok := m[k]
	if !ok {
		return absent{}
	}
	return v
}

func keysOf(a, b map[string]any) []string {
	var out []string
	for k := range a {
		out = append(out, k)
	}
	for k := range b {
		if _, ok := a[k]; !ok {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return out
}
