package conformance

import (
	"regexp"
	"slices"
	"strings"
)

// A Rule is a difference from the recorded agent that is accepted, because
// this project decided for it. Rules explain differences of values; they
// never change what is run or counted.
type Rule struct {
	Name   string
	Reason string

	// One of these says what the rule accepts; rules without any act where
	// traces are taken apart or whole calls are compared.

	// text brings both texts to one form; applied in any combination.
	text func(f field, theirs, ours string) (string, string)
	// value accepts a pair of values as it is.
	value func(f field, theirs, ours any) bool
}

// A field is the place of a value that is compared.
type field struct {
	path string // such as "content/0/oldText", or "workspace" for a file
	call *callPair
	step string // method of the step
	in   string // name of the element that the value is in, "" outside of calls
}

// A callPair is what is known of a call on both sides when its values are
// compared.
type callPair struct {
	id      string
	tool    string
	theirs  map[string]any // as a client holds it at the end of the step
	ours    map[string]any
	refused bool           // its permission request was not answered with consent
	asked   map[string]any // our call as held at the permission request, nil if none
	shown   map[string]any // our call as the last permission request showed it, nil if none
	live    map[string]any // our call as held at the end of the turn that ran it, nil if unknown
}

func (c *callPair) failed() bool {
	return c.ours["status"] == "failed" && c.theirs["status"] == "failed"
}

// reminded reports whether the recorded call succeeded with a remark for the
// model in place of a result, such as that a file is empty.
func (c *callPair) reminded() bool {
	remark := strings.TrimSpace(text(c.theirs["rawOutput"]))
	return c.ours["status"] == c.theirs["status"] &&
		strings.HasPrefix(remark, "<system-reminder>") && strings.HasSuffix(remark, "</system-reminder>")
}

// Names of the rules that act outside of the table's functions.
const (
	ruleMeta        = "meta"
	ruleNotice      = "notice"
	ruleShape       = "shape only"
	ruleBinary      = "binary"
	ruleUnreadWrite = "unread write"
	ruleWords       = "words"
	ruleEndings     = "endings"
	ruleLiteral     = "literal"
)

// Rules is the table of accepted differences.
var Rules = []Rule{
	{Name: "tabs", Reason: "leading tabs stay tabs in diff blocks: two spaces would not match the file", text: tabs},
	{Name: "bom", Reason: "no byte order mark in diff blocks: it belongs to the file, not to its first line", text: bom},
	{Name: "absolute", Reason: "paths in content and locations are absolute, as the schema asks; rawInput stays as the model wrote it", text: absolute},
	{Name: ruleWords, Reason: "texts of results, errors and options are the agent's own; presence, kind, status and fence are compared", value: words},
	{Name: ruleMeta, Reason: "vendor data in _meta is the vendor's alone; an update that holds nothing else is not expected"},
	{Name: ruleNotice, Reason: "notices of the vendor are the vendor's alone"},
	{Name: ruleLiteral, Reason: "what the model wrote is kept: no blanks are cut from line ends and no quotes are folded", text: literal},
	{Name: ruleEndings, Reason: "a file keeps its line ends, a CRLF file under Write and each line of a mixed file its own; diff blocks show lines without them", text: endings, value: endingsOfHunks},
	{Name: ruleBinary, Reason: "Write replaces a file that is not text, and shows the new text whole"},
	{Name: "replay", Reason: "session/load shows calls as they were shown live, hunks and lines included", value: replay},
	{Name: ruleUnreadWrite, Reason: "overwriting a file that the session never saw is refused, as it would be blind"},
	{Name: "final newline", Reason: "a hunk whose only change is the final newline shows it: equal texts would show nothing", value: finalNewline},
	{Name: "blank line", Reason: `the old side of a hunk that is one blank line is "": null would say that there was no line`, value: blankLine},
	{Name: "rejected", Reason: "a refused call keeps its diff below the message, as users ask what they had refused", value: rejected},
	{Name: "preview", Reason: "a question shows the hunks that would be made and where: arguments do not tell which places they change, nor what a Write would overwrite", value: preview},
	{Name: "helper", Reason: "a helper's Read is shown like any other, without a number behind the final line break", text: helperRead},
	{Name: "notebook", Reason: "NotebookEdit changes its cell alone: a source stays a list of lines, and the file keeps its final newline", text: notebookForm},
	{Name: "search order", Reason: "Grep shows the files that were changed last first: theirs come in the order in which they happen to be searched", text: searchOrder},
	{Name: "whole question", Reason: "a question shows all of what it asks about, the plan that it is about or the notebook to change: one without would ask about nothing", value: wholeQuestion},
	{Name: ruleShape, Reason: "titles from a service, usage, commands, options and modes may be absent; what is sent must validate"},
}

var (
	blockText = regexp.MustCompile(`^content/\d+/(oldText|newText)$`)
	blockPath = regexp.MustCompile(`^(content|locations)/\d+/path$`)
	oneBlock  = regexp.MustCompile(`^content/\d+$`)
	blanks    = regexp.MustCompile(`[ \t]+(\r?\n|$)`)
	emptyLine = regexp.MustCompile("\n\\d+\t\n```$")
	leading   = regexp.MustCompile(`(?m)^\t+`)
)

const bomMark = "\ufeff"

func tabs(f field, theirs, ours string) (string, string) {
	if !blockText.MatchString(f.path) {
		return theirs, ours
	}
	return theirs, leading.ReplaceAllStringFunc(ours, func(t string) string { return strings.Repeat("  ", len(t)) })
}

func bom(f field, theirs, ours string) (string, string) {
	if !blockText.MatchString(f.path) {
		return theirs, ours
	}
	return strings.TrimPrefix(theirs, bomMark), ours
}

func absolute(f field, theirs, ours string) (string, string) {
	if f.in == kindPermission && f.path == "rawInput/file_path" && theirs == "${WORKSPACE}/"+strings.TrimPrefix(ours, "./") {
		return theirs, theirs // theirs is absolute in this one place
	}
	if !blockPath.MatchString(f.path) || strings.HasPrefix(theirs, "/") || strings.HasPrefix(theirs, "${") {
		return theirs, ours
	}
	return "${WORKSPACE}/" + strings.TrimPrefix(theirs, "./"), ours
}

var straight = strings.NewReplacer("‘", "'", "’", "'", "“", `"`, "”", `"`)

func literal(f field, theirs, ours string) (string, string) {
	if !blockText.MatchString(f.path) && f.path != "workspace" && f.path != "rawInput/new_string" {
		return theirs, ours
	}
	form := func(s string) string { return straight.Replace(blanks.ReplaceAllString(s, "$1")) }
	return form(theirs), form(ours)
}

func endings(f field, theirs, ours string) (string, string) {
	if f.path != "workspace" && !blockText.MatchString(f.path) {
		return theirs, ours
	}
	return withLF(theirs), withLF(ours)
}

func withLF(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// endingsOfHunks accepts our hunks in place of one that has every line
// changed for its ending alone: ours must be parts of it.
func endingsOfHunks(f field, theirs, ours any) bool {
	if f.call == nil {
		return false
	}
	content, _ := f.call.theirs["content"].([]any)
	if len(content) != 1 {
		return false
	}
	whole, _ := content[0].(map[string]any)
	before, after := text(whole["oldText"]), withLF(text(whole["newText"])+"\n")
	if after == text(whole["newText"])+"\n" {
		return false // no line ends that way
	}
	switch f.path {
	case "content":
		t, _ := theirs.([]any)
		o, _ := ours.([]any)
		for _, b := range o {
			m, _ := b.(map[string]any)
			if m["type"] != "diff" || m["path"] != whole["path"] || m["oldText"] == m["newText"] ||
				!strings.Contains(before+"\n", text(m["oldText"])) || !strings.Contains(after, text(m["newText"])) {
				return false
			}
		}
		return len(o) > 0 && len(t) == 1 && equal(t[0], content[0])
	case "locations":
		blocks, _ := f.call.ours["content"].([]any)
		o, _ := ours.([]any)
		return len(o) == len(blocks) && endingsOfHunks(field{path: "content", call: f.call}, f.call.theirs["content"], f.call.ours["content"])
	}
	return false
}

// words accepts other texts where no two agents say the same.
func words(f field, theirs, ours any) bool {
	t, isText := theirs.(string)
	o, alsoText := ours.(string)
	if !isText || !alsoText || o == "" || t == "" {
		return false
	}
	switch f.path {
	case "error/message", "error text", "title of option", "id of option":
		return true
	}
	if f.call == nil {
		return false
	}
	if f.call.tool == "Agent" && (f.path == "rawOutput/0/text" || f.path == "content/0/content/text") {
		return f.call.ours["status"] == f.call.theirs["status"] // what frames a helper's report
	}
	if input, _ := f.call.theirs["rawInput"].(map[string]any); f.call.tool == "Bash" && input["run_in_background"] == true &&
		(f.path == "rawOutput" || f.path == "content/0/content/text") {
		return f.call.ours["status"] == f.call.theirs["status"] && fenced(t) == fenced(o) // how a command is found again
	}
	switch f.path {
	case "rawOutput":
		return f.call.failed() || f.call.reminded() || f.call.ours["kind"] == "edit" && f.call.ours["status"] == f.call.theirs["status"]
	case "content/0/content/text":
		if !f.call.failed() && !f.call.reminded() || fenced(t) != fenced(o) {
			return false
		}
		own, ok := f.call.ours["rawOutput"].(string)
		return !ok || strings.Contains(o, strings.TrimRight(own, "\n"))
	}
	return false
}

func fenced(s string) bool {
	return strings.HasPrefix(s, "```") && strings.HasSuffix(strings.TrimRight(s, "\n"), "```")
}

// replay accepts what the call showed when it ran.
func replay(f field, theirs, ours any) bool {
	if f.step != "session/load" || f.call == nil || f.call.live == nil || f.path != "content" && f.path != "locations" {
		return false
	}
	return equal(ours, f.call.live[f.path])
}

func finalNewline(f field, theirs, ours any) bool {
	if !oneBlock.MatchString(f.path) {
		return false
	}
	t, isBlock := theirs.(map[string]any)
	o, alsoBlock := ours.(map[string]any)
	if !isBlock || !alsoBlock || t["type"] != "diff" || o["type"] != "diff" {
		return false
	}
	told, tnew := text(t["oldText"]), text(t["newText"])
	oold, onew := text(o["oldText"]), text(o["newText"])
	return told == tnew && oold != onew && t["path"] == o["path"] &&
		strings.TrimSuffix(oold, "\n") == told && strings.TrimSuffix(onew, "\n") == told
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// helperRead takes the number behind the final line break from a Read of a
// helper.
func helperRead(f field, theirs, ours string) (string, string) {
	if f.call == nil || f.call.tool != "Read" || f.path != "content/0/content/text" || !fenced(theirs) {
		return theirs, ours
	}
	return emptyLine.ReplaceAllString(theirs, "\n```"), ours
}

// searchOrder sorts the lines of a Grep's result.
func searchOrder(f field, theirs, ours string) (string, string) {
	if f.call == nil || f.call.tool != "Grep" || f.path != "rawOutput" && f.path != "content/0/content/text" {
		return theirs, ours
	}
	form := func(s string) string {
		lines := strings.Split(s, "\n")
		slices.Sort(lines)
		return strings.Join(lines, "\n")
	}
	return form(theirs), form(ours)
}

// notebookForm brings a notebook to a form in which sources are strings and
// the layout of the JSON does not count.
func notebookForm(f field, theirs, ours string) (string, string) {
	if f.path != "workspace" {
		return theirs, ours
	}
	form := func(s string) (string, bool) {
		n, _ := decodeAny([]byte(s)).(map[string]any)
		cells, ok := n["cells"].([]any)
		for _, c := range cells {
			m, _ := c.(map[string]any)
			lines, isList := m["source"].([]any)
			if !isList {
				continue
			}
			source := ""
			for _, l := range lines {
				source += text(l)
			}
			m["source"] = source
		}
		return show(n), ok
	}
	t, ok := form(theirs)
	o, alsoOK := form(ours)
	if !ok || !alsoOK {
		return theirs, ours
	}
	return t, o
}

func blankLine(f field, theirs, ours any) bool {
	return blockText.MatchString(f.path) && theirs == nil && ours == ""
}
