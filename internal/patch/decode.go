package patch

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"dsh-acp/internal/jsonedit"
)

// Decode reads the arguments of a call. Errors mean that there is nothing to
// plan. What is wrong with single operations is kept in the request, so that
// [Make] can report it with the rest.
func Decode(raw json.RawMessage, limits Limits) (Request, Errors) {
	limits = limits.withDefaults()
	// Three levels hold the values: the arguments, the list, the operation.
	v, err := jsonedit.ParseValue(raw, jsonedit.Limits{Depth: limits.Depth + 3})
	if err != nil {
		var j *jsonedit.Error
		if !errors.As(err, &j) {
			panic("patch: " + err.Error())
		}
		return Request{}, Errors{NewError(j.Code, "arguments: %s", j.Why)}
	}
	members, ok := v.Members()
	if !ok {
		return Request{}, Errors{NewError(CodeInvalidArguments, "arguments: want an object with operations%s", notItsText(v, "object"))}
	}
	var req Request
	var list []jsonedit.Value
	for _, m := range members {
		switch m.Key {
		case "operations":
			if list, ok = m.Value.Elements(); !ok {
				return Request{}, Errors{NewError(CodeInvalidArguments, "operations: want an array%s", notItsText(m.Value, "array"))}
			}
		case "dryRun":
			switch m.Value.Literal() {
			case "true":
				req.DryRun = true
			case "false":
			default:
				return Request{}, Errors{NewError(CodeInvalidArguments, "dryRun: want true or false")}
			}
		default:
			return Request{}, Errors{NewError(CodeInvalidArguments, "arguments: unknown key %q; there are operations and dryRun%s", m.Key, bareOperation(members))}
		}
	}
	switch n := len(list); {
	case n == 0:
		return Request{}, Errors{NewError(CodeInvalidArguments, "operations: want at least one operation")}
	case n > limits.Operations:
		return Request{}, Errors{NewError(CodeLimitExceeded, "operations: there are %d, the limit is %d; split the batch", n, limits.Operations)}
	}
	req.Operations = make([]Operation, len(list))
	for i, v := range list {
		o, err := decodeOperation(v, limits)
		if err != nil {
			err.Operation = i
			req.faults = append(req.faults, err)
			continue
		}
		req.Operations[i] = o
	}
	return req, nil
}

// bareOperation is a hint for an operation that was sent without the list
// around it.
func bareOperation(members []jsonedit.Member) string {
	if !slices.ContainsFunc(members, func(m jsonedit.Member) bool { return m.Key == "op" }) {
		return ""
	}
	return `; put the operation into the list: {"operations":[{"op":…}]}`
}

// notItsText is a hint for a value that was sent as a string.
func notItsText(v jsonedit.Value, kind string) string {
	if _, quoted := v.Str(); !quoted {
		return ""
	}
	return "; send the " + kind + " itself, not its text"
}

// keys lists what each operation takes; "?" marks what may be left out.
var keys = map[string]string{
	opReplaceText:  "path search replace expect? fuzzy?",
	opReplaceRange: "path oldText text startLine? endLine? search? offset? lines?",
	opSetJSON:      "path pointer value",
	opInsertJSON:   "path pointer index value",
	opAppendText:   "path text",
	opCreateFile:   "path text parents?",
}

// Fields are the keys of one operation.
type fields struct {
	op     string
	values map[string]jsonedit.Value
	limits Limits
	err    *Error // the first that was met
}

func (f *fields) fail(code, format string, args ...any) {
	if f.err == nil {
		f.err = NewError(code, format, args...)
		f.err.Op = f.op
		if path, ok := f.values["path"].Str(); ok {
			f.err.Path = path
		}
	}
}

func (f *fields) has(key string) bool {
	_, ok := f.values[key]
	return ok
}

// text returns a string that may be put into a file.
func (f *fields) text(key string) string {
	s, ok := f.values[key].Str()
	if !ok {
		f.fail(CodeInvalidArguments, "%s: want a string", key)
	}
	if strings.ContainsRune(s, 0) {
		f.fail(CodeInvalidUnicode, "%s: holds a NUL character, which no text file has", key)
	}
	return s
}

// needle returns a string that is looked for.
func (f *fields) needle(key string, empty bool) string {
	s := f.text(key)
	if s == "" && !empty {
		f.fail(CodeInvalidArguments, "%s: must not be empty", key)
	}
	if len(s) > f.limits.Search {
		f.fail(CodeLimitExceeded, "%s: has %d bytes, the limit is %d; a shorter part that is unique will do", key, len(s), f.limits.Search)
	}
	return s
}

// farthest keeps sums of lines and offsets within any int.
const farthest = 1 << 30

func (f *fields) number(key string, otherwise, least int) int {
	v, ok := f.values[key]
	if !ok {
		return otherwise
	}
	// 1e1 and 10.0 are whole numbers to JSON Schema.
	x, err := strconv.ParseFloat(v.Literal(), 64)
	whole := v.Kind() == '0' && x == math.Trunc(x)
	switch {
	case !whole:
		f.fail(CodeInvalidArguments, "%s: want a whole number, got %s", key, clip(v.String()))
	case err != nil || x < float64(least) || x > farthest || x < -farthest:
		if least > -farthest {
			f.fail(CodeInvalidArguments, "%s: is %s, want at least %d", key, clip(v.Literal()), least)
		} else {
			f.fail(CodeInvalidArguments, "%s: %s is out of range", key, clip(v.Literal()))
		}
		return 0
	}
	return int(x)
}

func decodeOperation(v jsonedit.Value, limits Limits) (Operation, *Error) {
	members, ok := v.Members()
	if !ok {
		return nil, NewError(CodeInvalidArguments, "want an object with op and path")
	}
	f := &fields{values: make(map[string]jsonedit.Value, len(members)), limits: limits}
	for _, m := range members {
		f.values[m.Key] = m.Value
	}
	f.op, _ = f.values["op"].Str()
	takes, known := keys[f.op]
	if !known {
		got := "there is none"
		if f.has("op") {
			got = "got " + clip(f.values["op"].String())
			f.op = ""
		}
		f.fail(CodeInvalidArguments, "op: %s; want replace_text, replace_range, set_json, insert_json, append_text or create_file", got)
		return nil, f.err
	}
	allowed := []string{"op"}
	for _, key := range strings.Fields(takes) {
		name, optional := strings.CutSuffix(key, "?")
		allowed = append(allowed, name)
		if !optional && !f.has(name) {
			f.fail(CodeInvalidArguments, "%s is missing; %s takes %s", name, f.op, keyList(takes))
		}
	}
	for _, m := range members {
		if !slices.Contains(allowed, m.Key) {
			f.fail(CodeInvalidArguments, "unknown key %q; %s takes %s", m.Key, f.op, keyList(takes))
		}
	}
	if f.err != nil {
		return nil, f.err
	}
	if f.text("path") == "" {
		f.fail(CodeInvalidArguments, "path: must not be empty")
	}
	o := f.operation()
	if f.err != nil {
		return nil, f.err
	}
	return o, nil
}

func keyList(takes string) string {
	words := strings.Fields(takes)
	for i, w := range words {
		if name, optional := strings.CutSuffix(w, "?"); optional {
			words[i] = name + " (optional)"
		}
	}
	return strings.Join(words, ", ")
}

func (f *fields) operation() Operation {
	path, _ := f.values["path"].Str()
	switch f.op {
	case opReplaceText:
		return f.replaceText(path)
	case opReplaceRange:
		return f.replaceRange(path)
	case opSetJSON:
		return SetJSON{path, f.text("pointer"), f.values["value"]}
	case opInsertJSON:
		return InsertJSON{path, f.text("pointer"), f.number("index", 0, 0), f.values["value"]}
	case opAppendText:
		s := f.text("text")
		if s == "" {
			f.fail(CodeInvalidArguments, "text: must not be empty")
		}
		return AppendText{path, s}
	case opCreateFile:
		o := CreateFile{Path: path, Text: f.text("text")}
		if f.has("parents") {
			switch f.values["parents"].Literal() {
			case "true":
				o.Parents = true
			case "false":
			default:
				f.fail(CodeInvalidArguments, "parents: want true or false")
			}
		}
		return o
	}
	panic(fmt.Sprintf("patch: operation %q has keys but no reader", f.op))
}

func (f *fields) replaceText(path string) Operation {
	o := ReplaceText{
		Path: path, Search: f.needle("search", false), Replace: f.text("replace"),
		Expect: f.number("expect", 1, 1),
	}
	if o.Expect > f.limits.Expect {
		f.fail(CodeLimitExceeded, "expect: is %d, the limit is %d", o.Expect, f.limits.Expect)
	}
	if f.has("fuzzy") {
		mode, _ := f.values["fuzzy"].Str()
		o.Fuzzy = Mode(mode)
		if o.Fuzzy != Trim && o.Fuzzy != Indent {
			f.fail(CodeInvalidArguments, `fuzzy: want "trim" or "indent"; leave it out for an exact search`)
		}
		if o.Expect > 1 {
			f.fail(CodeInvalidArguments, "fuzzy: finds one place, so expect must be 1 or left out")
		}
	}
	return o
}

func (f *fields) replaceRange(path string) Operation {
	absolute := f.has("startLine") || f.has("endLine")
	anchored := f.has("search") || f.has("offset") || f.has("lines")
	oldText, text := f.needle("oldText", true), f.text("text")
	switch {
	case absolute && anchored:
		f.fail(CodeInvalidArguments, "give either startLine and endLine, or search with offset and lines, not both")
	case absolute && f.has("startLine") && f.has("endLine"):
		return ReplaceRange{path, f.number("startLine", 0, -farthest), f.number("endLine", 0, -farthest), oldText, text}
	case absolute:
		f.fail(CodeInvalidArguments, "startLine and endLine go together, one of them is missing")
	case f.has("search"):
		return ReplaceAnchored{path, f.needle("search", false), f.number("offset", 0, -farthest), f.number("lines", 1, 1), oldText, text}
	case anchored:
		f.fail(CodeInvalidArguments, "offset and lines count from search, which is missing")
	default:
		f.fail(CodeInvalidArguments, "the place is missing: give startLine and endLine, or search with offset and lines")
	}
	return nil
}
