package cases

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
)

// expectMore checks what only a program has.
func (r *wire) expectMore(_ context.Context, e Expect) error {
	for _, name := range sortedKeys(e.Collected) {
		if err := r.checkCollected(name, e.Collected[name]); err != nil {
			return fmt.Errorf("collected %s: %w", name, err)
		}
	}
	for _, saw := range e.ModelSaw {
		if err := r.checkSaw(saw); err != nil {
			return fmt.Errorf("model_saw: %w", err)
		}
	}
	if e.Stdout != "" {
		if err := r.checkStdout(); err != nil {
			return fmt.Errorf("stdout: %w", err)
		}
	}
	var stderr strings.Builder
	for _, p := range r.programs {
		stderr.WriteString(p.stderr.String())
	}
	for _, s := range e.StderrSays {
		if !saysFolded(stderr.String(), s) {
			return fmt.Errorf("standard error must say %q: %s", s, brief(stderr.String()))
		}
	}
	if e.ExitCode != nil {
		if last := r.programs[len(r.programs)-1]; last.code != *e.ExitCode {
			return fmt.Errorf("must end with exit code %d, ended with %d: %s", *e.ExitCode, last.code, brief(last.stderr.String()))
		}
	}
	if e.SessionLog != nil {
		if err := r.checkLogs(*e.SessionLog); err != nil {
			return fmt.Errorf("session_log: %w", err)
		}
	}
	switch e.SessionStore {
	case "":
		return nil
	case "no new session":
		logs, err := r.logs()
		if err == nil && len(logs) > r.sessions {
			err = fmt.Errorf("session_store: %d sessions were given out, %d are stored", r.sessions, len(logs))
		}
		return err
	}
	return fmt.Errorf("this runner knows no session_store %q", e.SessionStore)
}

func (r *wire) checkCollected(name string, want CollectedExpect) error {
	got, ok := r.collected[name]
	if !ok {
		return fmt.Errorf("nothing was collected under this name")
	}
	contains, err := r.patterns(want.Contains...)
	if err != nil {
		return err
	}
	for _, p := range contains {
		if find(got, 0, p) < 0 {
			return fmt.Errorf("no message like %s among %s", p, listing(got))
		}
	}
	none, err := r.patterns(want.None...)
	if err != nil {
		return err
	}
	for _, p := range none {
		if i := find(got, 0, p); i >= 0 {
			return fmt.Errorf("must not hold a message like %s, holds %s", p, brief(string(got[i])))
		}
	}
	ordered, err := r.patterns(want.Ordered...)
	if err != nil {
		return err
	}
	at := 0
	for i, p := range ordered {
		j := find(got, at, p)
		if j < 0 {
			return fmt.Errorf("message %d of the order, %s, is not behind the one before among %s", i+1, p, listing(got))
		}
		at = j + 1
	}
	for _, kind := range sortedKeys(want.Count) {
		if n := countUpdates(got, kind); n != want.Count[kind] {
			return fmt.Errorf("must hold %d updates %s, holds %d", want.Count[kind], kind, n)
		}
	}
	if want.SameFinalToolCalls != "" {
		other, ok := r.collected[want.SameFinalToolCalls]
		if !ok {
			return fmt.Errorf("nothing was collected as %s", want.SameFinalToolCalls)
		}
		return sameCalls(foldCalls(got), foldCalls(other))
	}
	return nil
}

func find(lines [][]byte, from int, pattern json.RawMessage) int {
	for i := from; i < len(lines); i++ {
		if match(pattern, lines[i]) == nil {
			return i
		}
	}
	return -1
}

func listing(lines [][]byte) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString("\n      " + brief(string(l)))
	}
	return b.String()
}

// update returns the update of a session/update message, nil for another.
func update(line []byte) map[string]json.RawMessage {
	var m struct {
		Method string `json:"method"`
		Params struct {
			Update map[string]json.RawMessage `json:"update"`
		} `json:"params"`
	}
	if json.Unmarshal(line, &m) != nil || m.Method != "session/update" {
		return nil
	}
	return m.Params.Update
}

func textMember(m map[string]json.RawMessage, name string) string {
	var s string
	_ = json.Unmarshal(m[name], &s) // "" if there is none
	return s
}

func countUpdates(lines [][]byte, kind string) int {
	n := 0
	for _, l := range lines {
		if textMember(update(l), "sessionUpdate") == kind {
			n++
		}
	}
	return n
}

// shownFields are those of a tool call that a client keeps.
var shownFields = []string{"title", "kind", "status", "content", "locations", "rawInput"}

// foldCalls plays the updates of tool calls: each field has its last value.
func foldCalls(lines [][]byte) map[string]map[string]any {
	calls := map[string]map[string]any{}
	for _, l := range lines {
		u := update(l)
		kind := textMember(u, "sessionUpdate")
		if kind != "tool_call" && kind != "tool_call_update" {
			continue
		}
		id := textMember(u, "toolCallId")
		if calls[id] == nil {
			calls[id] = map[string]any{}
		}
		for _, f := range shownFields {
			if raw, ok := u[f]; ok {
				v, err := decodeAny(raw)
				if err == nil {
					calls[id][f] = v
				}
			}
		}
	}
	return calls
}

func sameCalls(got, want map[string]map[string]any) error {
	if len(got) != len(want) {
		return fmt.Errorf("must show %d tool calls, shows %d", len(want), len(got))
	}
	for _, id := range sortedKeys(want) {
		for _, f := range shownFields {
			if !reflect.DeepEqual(got[id][f], want[id][f]) {
				return fmt.Errorf("tool call %s: %s must be %s, is %s", id, f, encode(want[id][f]), encode(got[id][f]))
			}
		}
	}
	return nil
}

// lastCall is the last tool call of the session as an outcome.
func (r *wire) lastCall() outcome {
	var lines [][]byte
	id := ""
	for _, p := range r.programs {
		for _, l := range p.all() {
			lines = append(lines, l)
			if u := update(l); textMember(u, "sessionUpdate") == "tool_call" {
				id = textMember(u, "toolCallId")
			}
		}
	}
	call := foldCalls(lines)[id]
	o := outcome{codeless: true}
	o.status, _ = call["status"].(string)
	o.isError = o.status == "failed"
	list, _ := call["content"].([]any)
	for _, v := range list {
		if raw, err := marshal(v); err == nil {
			o.content = append(o.content, raw)
			o.text += string(raw)
		}
	}
	o.diffs = diffBlocks(o.content)
	return o
}

// checkStdout holds that every line is one message of JSON-RPC.
func (r *wire) checkStdout() error {
	for _, p := range r.programs {
		for i, l := range p.all() {
			var m struct {
				Version string `json:"jsonrpc"`
			}
			if err := json.Unmarshal(l, &m); err != nil || m.Version != "2.0" || !bytes.HasPrefix(l, []byte("{")) {
				return fmt.Errorf("line %d is no message: %s", i+1, brief(string(l)))
			}
		}
	}
	return nil
}

// checkSaw looks for what the model was given in all of its requests.
func (r *wire) checkSaw(want SawExpect) error {
	var near error
	for _, q := range r.server.Conversation() {
		err := sawIn(want, q.Messages)
		if err == nil {
			return nil
		}
		near = err
	}
	if near == nil {
		near = fmt.Errorf("the model was not asked")
	}
	return near
}

func sawIn(want SawExpect, messages []json.RawMessage) error {
	var texts []string
	results := map[string]map[string]any{}
	for _, raw := range messages {
		v, err := decodeAny(raw)
		if err != nil {
			return err
		}
		walk(v, func(v any) {
			switch v := v.(type) {
			case string:
				texts = append(texts, v)
			case map[string]any:
				if v["type"] == "tool_result" {
					results[fmt.Sprint(v["tool_use_id"])] = v
				}
			}
		})
	}
	history := strings.Join(texts, "\n")
	for _, s := range want.HistoryContains {
		if !strings.Contains(history, s) {
			return fmt.Errorf("its history must hold %q: %s", s, brief(history))
		}
	}
	if want.ToolResult == "" {
		return nil
	}
	result, ok := results[want.ToolResult]
	if !ok {
		return fmt.Errorf("it was given no result of call %s", want.ToolResult)
	}
	isError := result["is_error"] == true
	if want.IsError != nil && *want.IsError != isError {
		return fmt.Errorf("the result of call %s must have is_error %v, is %s", want.ToolResult, *want.IsError, encode(result))
	}
	var said []string
	walk(result["content"], func(v any) {
		if s, ok := v.(string); ok {
			said = append(said, s)
		}
	})
	if !saysFolded(strings.Join(said, "\n"), want.Says) {
		return fmt.Errorf("the result of call %s must say %q, says %q", want.ToolResult, want.Says, said)
	}
	return nil
}

func walk(v any, visit func(any)) {
	visit(v)
	switch v := v.(type) {
	case map[string]any:
		for _, k := range sortedKeys(v) {
			walk(v[k], visit)
		}
	case []any:
		for _, m := range v {
			walk(m, visit)
		}
	}
}

// logs lists the stored session logs, wherever in its folder for state the
// program keeps them.
func (r *wire) logs() ([]string, error) {
	var out []string
	err := filepath.WalkDir(r.stateDir(), func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && filepath.Ext(path) == ".jsonl" {
			out = append(out, path)
		}
		return err
	})
	return out, err
}

func (r *wire) checkLogs(want LogExpect) error {
	if want.EveryLine != "json" {
		return fmt.Errorf("this runner knows no every_line %q", want.EveryLine)
	}
	logs, err := r.logs()
	if err != nil {
		return err
	}
	if len(logs) == 0 {
		return fmt.Errorf("no log is stored")
	}
	for _, path := range logs {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !bytes.HasSuffix(data, []byte("\n")) {
			return fmt.Errorf("%s does not end with a line break", filepath.Base(path))
		}
		n := 0
		for line := range bytes.Lines(data) {
			if n++; !json.Valid(line) {
				return fmt.Errorf("line %d of %s is no JSON: %s", n, filepath.Base(path), brief(string(line)))
			}
		}
	}
	return nil
}
