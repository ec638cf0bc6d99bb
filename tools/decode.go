package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"dsh-acp/internal/msg"
)

// A paramKind is the JSON type that an argument must have.
type paramKind int

const (
	stringParam paramKind = iota
	countParam            // a whole number from 1 on
	sizeParam             // a whole number from 0 on
	boolParam
	listParam // an array; its elements are left as they are
)

func (k paramKind) String() string {
	switch k {
	case stringParam:
		return "a string"
	case countParam:
		return "a whole number from 1 on"
	case sizeParam:
		return "a whole number from 0 on"
	case boolParam:
		return "true or false"
	case listParam:
		return "an array"
	}
	panic(fmt.Sprintf("tools: no name for parameter kind %d", int(k)))
}

// A param is one argument that a tool takes.
type param struct {
	name     string
	kind     paramKind
	required bool
}

// An arguments value holds the decoded arguments of one call, by name.
type arguments map[string]any

func (a arguments) has(name string) bool    { _, ok := a[name]; return ok }
func (a arguments) text(name string) string { s, _ := a[name].(string); return s }
func (a arguments) count(name string) int   { n, _ := a[name].(int); return n }
func (a arguments) flag(name string) bool   { b, _ := a[name].(bool); return b }
func (a arguments) list(name string) []json.RawMessage {
	l, _ := a[name].([]json.RawMessage)
	return l
}

// decode reads the arguments of a call of tool from the JSON text that the
// model wrote. It is strict, since a lenient reader would act on something
// that the model did not say: encoding/json alone would take the last of two
// equal keys, fold the case of names and turn half a surrogate pair into U+FFFD.
func decode(tool, raw string, params []param) (arguments, error) {
	if strings.TrimSpace(raw) == "" {
		raw = "{}" // some services send nothing for a call without arguments
	}
	if at := firstInvalid(raw); at >= 0 {
		return nil, failf(CodeInvalidUnicode, "%s: the arguments are not valid UTF-8 at byte %d: send the text again, whole", tool, at)
	}
	members, err := splitObject(raw)
	if err != nil {
		return nil, failf(msg.CodeInvalidArgs, "%s: the arguments are not one JSON object: %v", tool, err)
	}
	args := arguments{}
	for _, m := range members {
		p, ok := find(params, m.name)
		if !ok {
			return nil, failf(msg.CodeInvalidArgs, "%s: unknown argument %q%s; %s takes %s",
				tool, m.name, suggestion(m.name, params), tool, names(params))
		}
		if args.has(m.name) {
			return nil, failf(msg.CodeInvalidArgs, "%s: argument %q is given twice: give it once", tool, m.name)
		}
		if esc := msg.LoneSurrogate(string(m.value)); esc != "" {
			return nil, failf(CodeInvalidUnicode, "%s: %s holds %s, one half of a surrogate pair, which is no character: write the character itself or both halves",
				tool, m.name, esc)
		}
		v, err := value(p, m.value)
		if err != nil {
			return nil, failf(msg.CodeInvalidArgs, "%s: %s %v", tool, m.name, err)
		}
		args[m.name] = v
	}
	for _, p := range params {
		if p.required && !args.has(p.name) {
			return nil, failf(msg.CodeInvalidArgs, "%s: the argument %q is missing; %s takes %s", tool, p.name, tool, names(params))
		}
	}
	return args, nil
}

type member struct {
	name  string
	value json.RawMessage
}

// splitObject returns the members of a JSON object in their order, with
// repetitions.
func splitObject(raw string) ([]member, error) {
	dec := json.NewDecoder(strings.NewReader(raw))
	tok, err := dec.Token()
	if err != nil {
		return nil, jsonFault(err)
	}
	if tok != json.Delim('{') {
		return nil, fmt.Errorf("found %s", describe(json.RawMessage(strings.TrimSpace(raw))))
	}
	var out []member
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, jsonFault(err)
		}
		name, ok := key.(string)
		if !ok {
			return nil, fmt.Errorf("a member has no name")
		}
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			return nil, jsonFault(err)
		}
		out = append(out, member{name, v})
	}
	if _, err := dec.Token(); err != nil {
		return nil, jsonFault(err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("there is more after its end")
	}
	return out, nil
}

func jsonFault(err error) error {
	var s *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("it ends too early")
	case errors.As(err, &s):
		return fmt.Errorf("%v (byte %d)", err, s.Offset)
	}
	return err
}

// value decodes one argument. Its error goes on after the argument's name.
func value(p param, raw json.RawMessage) (any, error) {
	switch p.kind {
	case stringParam:
		var s string
		if raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
			return s, nil
		}
	case boolParam:
		switch string(raw) {
		case "true":
			return true, nil
		case "false":
			return false, nil
		}
	case listParam:
		var l []json.RawMessage
		if raw[0] == '[' && json.Unmarshal(raw, &l) == nil {
			return l, nil
		}
	case countParam, sizeParam:
		// 1e1 and 10.0 are whole numbers to JSON Schema.
		least := 1.0
		if p.kind == sizeParam {
			least = 0
		}
		f, err := strconv.ParseFloat(string(raw), 64)
		if err == nil && f == math.Trunc(f) && f >= least {
			// A huge number is one way to say "all"; those who use it clamp it.
			return int(min(f, math.MaxInt32)), nil
		}
	}
	hint := ""
	if string(raw) == "null" && !p.required {
		hint = "; leave it out for the default"
	}
	return nil, fmt.Errorf("must be %v, found %s%s", p.kind, describe(raw), hint)
}

// describe names a JSON value for an error, without repeating long ones.
func describe(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "nothing"
	}
	short := string(raw)
	if r := []rune(short); len(r) > 40 {
		short = string(r[:40]) + "…"
	}
	switch raw[0] {
	case '"':
		return "the string " + short
	case '{':
		return "an object"
	case '[':
		return "an array"
	case 't', 'f', 'n':
		return short
	}
	return "the number " + short
}

func firstInvalid(s string) int {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

func find(params []param, name string) (param, bool) {
	for _, p := range params {
		if p.name == name {
			return p, true
		}
	}
	return param{}, false
}

func names(params []param) string {
	var out []string
	for _, p := range params {
		if p.required {
			out = append(out, p.name)
		} else {
			out = append(out, p.name+" (optional)")
		}
	}
	return strings.Join(out, ", ")
}

// suggestion names the parameter that an unknown name may stand for: one that
// differs in case and separators only, or that contains it or is contained.
func suggestion(name string, params []param) string {
	fold := func(s string) string {
		return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s))
	}
	for _, p := range params {
		if fold(p.name) == fold(name) {
			return fmt.Sprintf(" (did you mean %q?)", p.name)
		}
	}
	for _, p := range params {
		if n := fold(name); len(n) >= 3 && (strings.Contains(fold(p.name), n) || strings.Contains(n, fold(p.name))) {
			return fmt.Sprintf(" (did you mean %q?)", p.name)
		}
	}
	return ""
}
