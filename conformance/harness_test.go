package conformance

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRecordingsPass plays each trace back by the fake agent: what the
// recorded agent sends must pass against its own recording.
func TestRecordingsPass(t *testing.T) {
	for _, c := range recordings(t) {
		t.Run(c.Scenario.Name, func(t *testing.T) {
			t.Parallel()
			res, err := runCase(t.Context(), c, fakeAdapter(t, c.Dir, ""), Options{Temp: t.TempDir(), Timeout: 30 * time.Second})
			require.NoError(t, err)
			assert.Empty(t, res.Differences)
			assert.Empty(t, res.Stderr)
		})
	}
}

// mutation is a fault of an agent: a change of what the recorded one said,
// and the words that the report of it must have.
type mutation struct {
	change   func([]Entry) []Entry
	scenario string
	call     string // "" if it is about none
	at       string
}

const (
	edit     = `"toolCallId":"toolu_02edit"`
	hunks    = `"content":[{"type":"diff","path":"${WORKSPACE}/poem.txt","oldText":"Charlie`
	complete = `"status":"completed"`
)

var mutations = map[string]mutation{
	"hunks dropped":       {drop(edit, hunks), "edit-single-site", "toolu_02edit Edit", "tool_call_update"},
	"end dropped":         {drop(edit, complete), "edit-single-site", "toolu_02edit Edit", "tool_call_update (completed)"},
	"start dropped":       {drop(edit, `"sessionUpdate":"tool_call"`), "edit-single-site", "toolu_02edit Edit", "tool_call"},
	"hunk text":           {replaceIn(1, `fifth.\nFoxtrot is number six`, `fifth.\nFoxtrot is no. six`, edit, hunks), "edit-single-site", "toolu_02edit Edit", "tool_call_update: content/0/newText"},
	"hunk line":           {replaceIn(1, `"line":3`, `"line":4`, edit, hunks), "edit-single-site", "toolu_02edit Edit", "tool_call_update: locations/0/line"},
	"hunk path":           {replaceIn(1, `"type":"diff","path":"${WORKSPACE}/poem.txt"`, `"type":"diff","path":"${WORKSPACE}/other.txt"`, edit, hunks), "edit-single-site", "toolu_02edit Edit", "content/0/path"},
	"null for text":       {replaceIn(1, `"oldText":"Foxtrot is sixth."`, `"oldText":null`, edit, `"replace_all":false`, `"sessionUpdate"`), "edit-single-site", "toolu_02edit Edit", "input: content/0/oldText"},
	"title":               {replaceIn(1, `"title":"Edit poem.txt"`, `"title":"Edit the poem"`, edit), "edit-single-site", "toolu_02edit Edit", "input: title"},
	"kind":                {replaceIn(1, `"kind":"edit"`, `"kind":"other"`, edit), "edit-single-site", "toolu_02edit Edit", "tool_call: kind"},
	"status":              {replaceIn(1, complete, `"status":"failed"`, edit), "edit-single-site", "toolu_02edit Edit", "status"},
	"in_progress":         {insertAfter(`"status":"in_progress"`, edit, `"replace_all":false`), "edit-single-site", "toolu_02edit Edit", "tool_call_update (in_progress)"},
	"content twice":       {insertAfter(`"content":[]`, edit, complete), "edit-single-site", "toolu_02edit Edit", "tool_call_update"},
	"no incomplete input": {drop(edit, `"title":"Edit poem.txt"`, `"rawInput":{"file_path":"${WORKSPACE}/poem.txt"}`), "edit-single-site", "toolu_02edit Edit", "input: incomplete inputs"},
	"asked with hunks":    {replaceIn(1, `"oldText":"Foxtrot`, `"oldText":"Echo`, edit, "session/request_permission"), "edit-single-site", "toolu_02edit Edit", "permission request: content/0/oldText"},
	"options":             {replaceIn(1, `"kind":"allow_always"`, `"kind":"reject_always"`, "session/request_permission"), "edit-single-site", "toolu_02edit Edit", "permission request: options"},
	"end before hunks":    {swap(hunks, complete, edit), "edit-single-site", "toolu_02edit Edit", "tool_call_update"},
	"message text":        {replaceIn(1, "Done.", "Dine."), "edit-single-site", "", "text 3"},
	"message dropped":     {drop("agent_message_chunk", "Done."), "edit-single-site", "", "text 3"},
	"text as thought":     {replaceIn(1, "agent_message_chunk", "agent_thought_chunk", "Done."), "edit-single-site", "", "text 3"},
	"extra message":       {insertLine(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"${SESSION}","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"More."}}}}`, "Done."), "edit-single-site", "", "text"},
	"stop reason":         {replaceIn(1, `"stopReason":"end_turn"`, `"stopReason":"refusal"`), "edit-single-site", "", "stopReason"},
	"answer before end":   {swap(complete, `"stopReason"`), "edit-single-site", "", "after the answer"},
	"other call":          {replaceIn(1, `"toolCallId":"toolu_02edit"`, `"toolCallId":"toolu_02"`, complete), "edit-single-site", "toolu_02edit Edit", "tool_call_update (completed)"},
	"schema: kind":        {replaceIn(1, `"kind":"edit"`, `"kind":"write"`, edit), "edit-single-site", "", "message"},
	"schema: name":        {replaceIn(1, `"locations":[{"path":"${WORKSPACE}/poem.txt"}]`, `"locatoins":[{"path":"${WORKSPACE}/poem.txt"}]`, edit, "rawInput"), "edit-single-site", "", "message"},
	"schema: answer":      {replaceIn(1, `"stopReason"`, `"stop_reason"`), "edit-single-site", "", "message"},
	"stray file":          {func(e []Entry) []Entry { return e }, "edit-single-site", "", "workspace: stray.tmp"},
	"error code":          {replaceIn(1, "-32002", "-32603"), "unknown-session", "", "error/code"},
	"error to result":     {replaceIn(1, `"error":{"code":-32002,"message":"Resource not found","data":{"sessionId":"00000000-0000-4000-8000-000000000000"}}`, `"result":{}`), "unknown-session", "", "answer"},
	"plan":                {replaceIn(1, `"status":"in_progress"`, `"status":"pending"`, `"sessionUpdate":"plan"`), "todo-write", "", "plan"},
	"replayed text":       {replaceIn(1, "user_message_chunk", "agent_message_chunk"), "load-session", "", "text"},
	"listed session":      {replaceIn(1, `"sessions":[{"sessionId":"${SESSION}"`, `"sessions":[{"sessionId":"1"`), "session-list", "", "sessions"},
	"answer dropped":      {drop(`"stopReason"`), "text-only", "", "run"},
	"junk":                {insertLine("Hello", "agentCapabilities"), "text-only", "", "run"},
	"unasked":             {replaceIn(1, `"kind":"execute"`, `"kind":"other"`, "toolu_"), "bash-success", "toolu_", "kind"},
}

// insertAfter adds an update with the given fields after the message with all
// of marks, about the same call.
func insertAfter(fields string, marks ...string) func([]Entry) []Entry {
	return insertLine(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"${SESSION}","update":{"sessionUpdate":"tool_call_update",`+marks[0]+`,`+fields+`}}}`, marks...)
}

func insertLine(line string, marks ...string) func([]Entry) []Entry {
	return func(entries []Entry) []Entry {
		for i, e := range entries {
			if holds(e, marks...) {
				return slices.Insert(slices.Clone(entries), i+1, Entry{From: fromAgent, Message: []byte(line)})
			}
		}
		return entries
	}
}

// swap exchanges the first messages that hold a and b, besides marks.
func swap(a, b string, marks ...string) func([]Entry) []Entry {
	return func(entries []Entry) []Entry {
		out := slices.Clone(entries)
		first := func(mark string) int {
			i := -1
			for j, e := range out {
				// The last one, so that swapping an end with the answer of
				// the prompt takes the end next to it.
				if holds(e, append([]string{mark}, marks...)...) {
					i = j
				}
			}
			return i
		}
		i, j := first(a), first(b)
		if i >= 0 && j >= 0 {
			out[i], out[j] = out[j], out[i]
		}
		return out
	}
}

// faultTimeout is long for a playback and short for one that hangs.
const faultTimeout = 10 * time.Second

// TestFaultsAreFound is how we know that the harness can fail: each fault of
// a fake agent is told, at the call and the place where it is.
func TestFaultsAreFound(t *testing.T) {
	for name, m := range mutations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := loadCase(filepath.Join("testdata/traces", m.scenario))
			require.NoError(t, err)
			res, err := runCase(t.Context(), c, fakeAdapter(t, c.Dir, name), Options{Temp: t.TempDir(), Timeout: faultTimeout})
			require.NoError(t, err)
			require.NotEmpty(t, res.Differences)
			found := slices.ContainsFunc(res.Differences, func(d Difference) bool {
				return strings.HasPrefix(d.Call, m.call) && (m.call != "") == (d.Call != "") && strings.Contains(d.At, m.at)
			})
			assert.True(t, found, "%+v", res.Differences)
			var b bytes.Buffer
			res.write(&b, false)
			assert.Contains(t, b.String(), "FAIL  "+m.scenario)
		})
	}
}
