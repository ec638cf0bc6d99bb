package conformance

import "strings"

// The rules about what a permission request shows, and what stays of it.

// wholeQuestion accepts that a question shows the call as the client holds it
// where the recorded one shows nothing, and that a notebook's place is told.
func wholeQuestion(f field, theirs, ours any) bool {
	if f.path == "locations" && f.call != nil && f.call.tool == "NotebookEdit" {
		return theirs == absent{}
	}
	if f.in != kindPermission || f.call == nil || f.call.asked == nil {
		return false
	}
	if f.path != "content" && f.path != "rawInput" {
		return false
	}
	if hunks, _ := ours.([]any); f.path == "content" && f.call.tool == "NotebookEdit" && len(hunks) > 0 {
		empty, isList := theirs.([]any)
		return isList && len(empty) == 0
	}
	list, isList := theirs.([]any)
	object, isObject := theirs.(map[string]any)
	return (isList || isObject) && len(list)+len(object) == 0 && equal(ours, f.call.asked[f.path])
}

// rejected accepts below the message what the question showed of the change.
func rejected(f field, theirs, ours any) bool {
	if f.call == nil || !f.call.refused || !f.call.failed() {
		return false
	}
	if f.path == "locations" {
		return equal(ours, f.call.shown["locations"])
	}
	if f.path != "content" {
		return false
	}
	t, _ := theirs.([]any)
	o, _ := ours.([]any)
	diff, _ := f.call.shown["content"].([]any)
	if len(t) != 1 || len(o) != 1+len(diff) || len(diff) == 0 {
		return false
	}
	tb, _ := t[0].(map[string]any)
	ob, _ := o[0].(map[string]any)
	tc, _ := tb["content"].(map[string]any)
	oc, _ := ob["content"].(map[string]any)
	said := tc["text"] == oc["text"] ||
		words(field{path: "content/0/content/text", call: f.call}, tc["text"], oc["text"])
	return said && tb["type"] == ob["type"] && equal(o[1:], diff)
}

// preview accepts hunks in a question in place of the arguments' snippet. Of
// a call that was then made they must be those that it made, which are
// compared with the recorded ones at its end; else they must hold the snippet.
// It also accepts a note above the snippet of a Write, which says that it would
// replace what cannot be shown.
func preview(f field, theirs, ours any) bool {
	if f.in != kindPermission || f.call == nil || f.call.shown == nil {
		return false
	}
	t, _ := theirs.([]any)
	o, _ := ours.([]any)
	switch f.path {
	case "locations":
		blocks, _ := f.call.shown["content"].([]any)
		return len(t) == 1 && len(o) == len(blocks) && sameFile(t, o)
	case "content":
		if len(o) == len(t)+1 && f.call.tool == "Write" && isNote(o[0]) && equal(o[1:], theirs) {
			return true
		}
		if f.call.ours["status"] == "completed" {
			return len(o) > 0 && equal(ours, f.call.ours["content"])
		}
		return len(t) == 1 && f.call.refused && holdsSnippet(o, t[0])
	}
	return false
}

// isNote reports whether a block of content is a text.
func isNote(v any) bool {
	m, _ := v.(map[string]any)
	c, _ := m["content"].(map[string]any)
	return m["type"] == "content" && text(c["text"]) != ""
}

// sameFile reports whether all locations lie in the file of the first of theirs.
func sameFile(theirs, ours []any) bool {
	path := func(v any) string {
		m, _ := v.(map[string]any)
		return text(m["path"])
	}
	for _, l := range ours {
		t, o := path(theirs[0]), path(l)
		if t, o = absolute(field{path: "locations/0/path"}, t, o); t != o {
			return false
		}
	}
	return true
}

// holdsSnippet reports whether one of the blocks has both sides of a snippet.
func holdsSnippet(blocks []any, snippet any) bool {
	want, _ := snippet.(map[string]any)
	for _, b := range blocks {
		m, _ := b.(map[string]any)
		if m["type"] != "diff" || m["path"] != want["path"] {
			continue
		}
		if want["oldText"] == nil && strings.Contains(text(want["newText"]), text(m["newText"])) {
			return true // of a Write, whose snippet is the whole new text
		}
		if strings.Contains(text(m["oldText"]), text(want["oldText"])) && strings.Contains(text(m["newText"]), text(want["newText"])) {
			return true
		}
	}
	return false
}
