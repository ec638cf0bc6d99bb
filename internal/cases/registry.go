package cases

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A target says how a case's tool is called in this project.
type target struct {
	name   string            // as it is offered
	rename map[string]string // argument names, where they differ
	// reshape, if any, makes the arguments as the tool takes them.
	reshape func(raw string) string
}

// pathNames is the one name in which the plain file tools differ from the
// cases.
var pathNames = map[string]string{"path": "file_path"}

// directTargets are the tools that run in this process, wireTargets those
// that the program offers a model. A tool is added to a case area by its
// entry here; a form of a tool that is not there (edit by targets or by ast)
// is a tool of its own.
var (
	directTargets = map[string]target{
		"read":         {name: "read", rename: pathNames},
		"write":        {name: "write", rename: pathNames},
		"edit":         {name: "edit", rename: pathNames},
		"apply_patch":  {name: "apply_patch"},
		"diff.hunks":   {name: "diff.hunks"},
		"edit targets": {name: "fs_edit"},
		"edit ast":     {name: "fs_edit", reshape: oneOp},
		"rollback":     {name: "fs_rollback"},
	}
	wireTargets = map[string]target{
		"read":  {name: "Read", rename: pathNames},
		"write": {name: "Write", rename: pathNames},
		"edit":  {name: "Edit", rename: pathNames},
	}
)

// targets are those of a case that calls tools. Tags and lists are matters of
// the toolbox, whose read shows the one and tells of the other.
func (c Case) targets() map[string]target {
	numbered := slices.ContainsFunc(c.allSteps(), func(s Step) bool { return toolForm(s.Tool, s.Args) == "edit targets" })
	if c.Area != "hashline" && c.Area != "path_guard" && !numbered {
		return directTargets
	}
	t := maps.Clone(directTargets)
	t["read"], t["write"] = target{name: "fs_read"}, target{name: "fs_write"}
	return t
}

// toolForm names a tool with the form in which a case calls it.
func toolForm(tool string, args json.RawMessage) string {
	if tool != "edit" {
		return tool
	}
	var forms struct{ Targets, AST json.RawMessage }
	_ = json.Unmarshal(args, &forms) // broken arguments have no form
	switch {
	case forms.Targets != nil:
		return "edit targets"
	case forms.AST != nil:
		return "edit ast"
	}
	return tool
}

// missingTool returns the first tool that a case needs and this project does
// not have yet, or "".
func (c Case) missingTool() string {
	table := directTargets
	if c.onTheWire() {
		table = wireTargets
	}
	for _, s := range c.allSteps() {
		if s.Tool == "" {
			continue
		}
		args := s.Args
		if s.ArgsJSON != "" {
			args = json.RawMessage(s.ArgsJSON)
		}
		if form := toolForm(s.Tool, args); table[form].name == "" {
			return form
		}
	}
	for _, raw := range c.Model {
		var turn modelTurn
		if json.Unmarshal(raw, &turn) != nil {
			continue // told when the turn is played
		}
		for _, call := range turn.ToolCalls {
			if form := toolForm(call.Tool, call.Args); table[form].name == "" {
				return form
			}
		}
	}
	return ""
}

// missingConfig returns a member of config that a run of the program cannot
// be given, or "".
func (c Case) missingConfig() string {
	if !c.onTheWire() {
		return ""
	}
	for name, list := range map[string]*[]string{
		"allowlist": c.Config.Allowlist, "blocklist": c.Config.Blocklist,
		"read_allowlist": c.Config.ReadAllowlist, "read_blocklist": c.Config.ReadBlocklist,
	} {
		if list != nil {
			return name
		}
	}
	return ""
}

// oneOp writes the pattern and template of a call by syntax patterns as the one
// op for which they stand. Other text stays as it is.
func oneOp(raw string) string {
	var args, ast map[string]json.RawMessage
	if json.Unmarshal([]byte(raw), &args) != nil || json.Unmarshal(args["ast"], &ast) != nil || ast["pat"] == nil {
		return raw
	}
	op := map[string]json.RawMessage{}
	for _, name := range []string{"pat", "out"} {
		if v, ok := ast[name]; ok {
			op[name] = v
			delete(ast, name)
		}
	}
	var err error
	if ast["ops"], err = marshal([]any{op}); err != nil {
		return raw
	}
	if args["ast"], err = marshal(ast); err != nil {
		return raw
	}
	out, err := marshal(args)
	if err != nil {
		return raw
	}
	return string(out)
}

// renameMembers changes names of the top-level members in the text of a JSON
// object and leaves every other byte, so that what is wrong with the text
// stays wrong.
func renameMembers(raw string, names map[string]string) string {
	var b strings.Builder
	depth, keyNext := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; c {
		case '"':
			end := stringEnd(raw, i)
			lit := raw[i:end]
			if name, ok := names[strings.Trim(lit, `"`)]; ok && depth == 1 && keyNext {
				lit = fmt.Sprintf("%q", name)
			}
			b.WriteString(lit)
			keyNext = false
			i = end - 1
			continue
		case '{', '[':
			depth++
			keyNext = c == '{'
		case '}', ']':
			depth--
		case ',':
			keyNext = depth == 1
		}
		b.WriteByte(raw[i])
	}
	return b.String()
}

// stringEnd returns the offset behind the string literal that starts at i.
func stringEnd(raw string, i int) int {
	for j := i + 1; j < len(raw); j++ {
		switch raw[j] {
		case '\\':
			j++
		case '"':
			return j + 1
		}
	}
	return len(raw)
}

// expandValue puts the text in place of each {"repeat": {...}} in a JSON value.
func expandValue(raw json.RawMessage) (json.RawMessage, error) {
	if !strings.Contains(string(raw), `"repeat"`) {
		return raw, nil
	}
	var v any
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	v, err := expandRepeats(v)
	if err != nil {
		return nil, err
	}
	return marshal(v)
}

func expandRepeats(v any) (any, error) {
	switch v := v.(type) {
	case map[string]any:
		if r, ok := v["repeat"]; ok && len(v) == 1 {
			raw, err := marshal(r)
			if err != nil {
				return nil, err
			}
			var rep Repeat
			if err := strict(raw, &rep); err != nil {
				return nil, fmt.Errorf("repeat: %w", err)
			}
			return rep.text(), nil
		}
		for k, m := range v {
			x, err := expandRepeats(m)
			if err != nil {
				return nil, err
			}
			v[k] = x
		}
	case []any:
		for i, m := range v {
			x, err := expandRepeats(m)
			if err != nil {
				return nil, err
			}
			v[i] = x
		}
	}
	return v, nil
}
