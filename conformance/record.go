package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// RecordOptions say what [Record] plays and where it writes. Scenario, Out
// and Agent are required.
type RecordOptions struct {
	// Scenario is a folder with a scenario.json; a trace in it is not read.
	Scenario string
	// Out is the folder to write scenario.json and trace.jsonl to. It is
	// made, and files of those names in it are replaced.
	Out string
	// Agent and Adapter are as in [Options].
	Agent   []string
	Adapter string
	Timeout time.Duration // 0 means [DefaultTimeout]
	Temp    string        // "" means the system's folder
}

// Record plays a scenario and writes what passed, in the format that [Load]
// reads; "after" of the written scenario is the workspace as it came out. It
// writes nothing if the run broke off.
func Record(ctx context.Context, opts RecordOptions) error {
	adapter, err := NewAdapter(opts.Adapter, opts.Agent)
	if err != nil {
		return err
	}
	return RecordAdapter(ctx, adapter, opts)
}

// RecordAdapter is [Record] with an adapter of the caller's own.
func RecordAdapter(ctx context.Context, adapter Adapter, opts RecordOptions) error {
	s, err := ReadScenario(opts.Scenario)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(opts.Temp, "acp-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ctx, cancel := withTimeout(ctx, opts.Timeout)
	defer cancel()
	rec, err := play(ctx, s, adapter, dir)
	if err != nil {
		return err
	}
	if rec.Problem != "" {
		return fmt.Errorf("scenario %s: %s; stderr ends with: %s", s.Name, rec.Problem, rec.Stderr)
	}
	s.After = make(map[string]File, len(rec.After))
	for name, b := range rec.After {
		s.After[name] = fileOf(b)
	}
	for i := range rec.Entries {
		if rec.Entries[i].Message, err = elide(rec.Entries[i].Message); err != nil {
			return fmt.Errorf("message %d: %w", rec.Entries[i].Seq, err)
		}
	}
	if err := os.MkdirAll(opts.Out, 0o755); err != nil {
		return err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(s); err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(opts.Out, "scenario.json"), b.Bytes(), 0o644),
		writeTrace(filepath.Join(opts.Out, "trace.jsonl"), rec.Entries),
	)
}

const (
	elided       = `"(elided)"`
	elidedNotice = `"(elided: notice of the vendor)"`
)

// elide leaves prose out of a recording that is the agent's own and that
// nothing compares: descriptions of commands, modes and options, and notices.
// All other bytes stay as they are.
func elide(message json.RawMessage) (json.RawMessage, error) {
	var m struct {
		Params struct {
			Update map[string]any `json:"update"`
		} `json:"params"`
		Result map[string]any `json:"result"`
	}
	if json.Unmarshal(message, &m) != nil {
		return message, nil // an odd message is evidence too
	}
	u := m.Params.Update
	switch {
	case u["sessionUpdate"] == "available_commands_update", u["sessionUpdate"] == "config_option_update",
		m.Result["configOptions"] != nil, m.Result["modes"] != nil:
		return replaceStrings(message, elided, "description", "hint")
	case u["sessionUpdate"] == "agent_message_chunk" && isNotice(u):
		return replaceStrings(message, elidedNotice, "text")
	}
	return message, nil
}

// replaceStrings puts by, a JSON string, in place of the values of the named
// members that are strings, wherever they stand.
func replaceStrings(message json.RawMessage, by string, names ...string) (json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(message))
	var out []byte
	done := int64(0)
	// Of a stack of objects and arrays, isKey says whether a name is next.
	type level struct{ object, isKey bool }
	var stack []level
	hit := false
	for d.More() || len(stack) > 0 {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		end := d.InputOffset()
		if delim, ok := t.(json.Delim); ok {
			switch delim {
			case '{', '[':
				stack = append(stack, level{delim == '{', delim == '{'})
			default:
				stack = stack[:len(stack)-1]
				if n := len(stack); n > 0 && stack[n-1].object {
					stack[n-1].isKey = true
				}
			}
			hit = false
			continue
		}
		top := &stack[len(stack)-1]
		text, isString := t.(string)
		switch {
		case top.object && top.isKey:
			hit = false
			for _, n := range names {
				hit = hit || n == text
			}
			top.isKey = false
		case top.object:
			if hit && isString {
				start := stringStart(message, end)
				out = append(append(out, message[done:start]...), by...)
				done = end
			}
			hit, top.isKey = false, true
		}
	}
	return append(out, message[done:]...), nil
}

// stringStart finds where the JSON string begins that ends before end.
func stringStart(b []byte, end int64) int64 {
	for i := end - 2; ; i-- {
		if b[i] != '"' {
			continue
		}
		slashes := 0
		for b[i-1-int64(slashes)] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i
		}
	}
}
