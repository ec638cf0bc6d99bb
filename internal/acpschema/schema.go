// Package acpschema checks messages of the Agent Client Protocol, version 1,
// against the official JSON schema: each message by the type that its method
// and direction name, since the schema's root accepts anything. It knows the
// shape of single messages and nothing of their order or sense, and it never
// changes a message.
package acpschema

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

//go:embed schema.json
var source []byte

const address = "acp.json"

// Direction says who sends a message.
type Direction int

// The two directions.
const (
	FromAgent Direction = iota
	FromClient
)

func (d Direction) String() string {
	if d == FromAgent {
		return "agent"
	}
	return "client"
}

// other is the direction of the answer.
func (d Direction) other() Direction { return 1 - d }

// definitions is the schema, read once.
type definitions struct {
	raw      map[string]any    // $defs
	requests map[string]string // "side method" to type; side is who receives
	results  map[string]string // likewise; side is who answers

	mu       sync.Mutex
	compiler *jsonschema.Compiler          // guarded by mu
	compiled map[string]*jsonschema.Schema // guarded by mu; by type
}

var load = sync.OnceValue(func() *definitions {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(source))
	if err != nil {
		panic("acpschema: " + err.Error())
	}
	d := &definitions{
		requests: map[string]string{}, results: map[string]string{},
		compiler: jsonschema.NewCompiler(), compiled: map[string]*jsonschema.Schema{},
	}
	if err := d.compiler.AddResource(address, doc); err != nil {
		panic("acpschema: " + err.Error())
	}
	d.raw = doc.(map[string]any)["$defs"].(map[string]any)
	addDrafts(d)
	for name, def := range d.raw {
		m, _ := def.(map[string]any)
		method, _ := m["x-method"].(string)
		side, _ := m["x-side"].(string)
		if method == "" {
			continue
		}
		into := d.requests
		if len(name) > 8 && name[len(name)-8:] == "Response" {
			into = d.results
		}
		if side == "protocol" { // either side may send it
			into["agent "+method], into["client "+method] = name, name
			continue
		}
		into[side+" "+method] = name
	}
	return d
})

func (d *definitions) schema(name string) *jsonschema.Schema {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.compiled[name]
	if s == nil {
		s = d.compiler.MustCompile(address + "#/$defs/" + name)
		d.compiled[name] = s
	}
	return s
}

// ValidateParams checks the params of a request or notification that dir
// sends. An unknown method is an error; methods that begin with "_" belong to
// vendors and are free. nil params count as {}.
func ValidateParams(dir Direction, method string, params json.RawMessage) error {
	name, err := paramsType(dir, method)
	if err != nil || name == "" {
		return err
	}
	return validate(name, method+" params", params)
}

// ValidateResult checks the result of a request of the given method; dir is
// who sends the result. A null result counts as {}, as some sides send it.
func ValidateResult(dir Direction, method string, result json.RawMessage) error {
	name, err := resultType(dir, method)
	if err != nil || name == "" {
		return err
	}
	return validate(name, method+" result", result)
}

func paramsType(dir Direction, method string) (string, error) {
	return typeOf(load().requests, dir.other(), method, "receives")
}

func resultType(dir Direction, method string) (string, error) {
	return typeOf(load().results, dir, method, "answers")
}

// typeOf returns "" for a vendor's method.
func typeOf(types map[string]string, side Direction, method, verb string) (string, error) {
	if method != "" && method[0] == '_' {
		return "", nil
	}
	name, ok := types[side.String()+" "+method]
	if !ok {
		return "", fmt.Errorf("acpschema: method %q: the protocol has none of that name that the %s %s", method, side, verb)
	}
	return name, nil
}

func validate(name, what string, raw json.RawMessage) error {
	v, err := decode(raw)
	if err != nil {
		return fmt.Errorf("acpschema: %s: %w", what, err)
	}
	if err := load().schema(name).Validate(v); err != nil {
		return fmt.Errorf("acpschema: %s: %s", what, explain(err))
	}
	return nil
}

func decode(raw json.RawMessage) (any, error) {
	if t := bytes.TrimSpace(raw); len(t) == 0 || string(t) == "null" {
		return map[string]any{}, nil
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(raw))
}
