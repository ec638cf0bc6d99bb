package conformance

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/modelserver"
)

// TestBrokenAgents plays against agents that do not come to the end.
func TestBrokenAgents(t *testing.T) {
	c, err := loadCase("testdata/traces/text-only")
	require.NoError(t, err)
	for _, tt := range []struct {
		name    string
		adapter Adapter
		timeout time.Duration
		want    string
	}{
		{"no such program", Adapter{Command: []string{filepath.Join(t.TempDir(), "nothing")}, Env: otherEnv}, 0, "step 0, start: start agent"},
		{"ends at once", fakeAdapter(t, t.TempDir(), ""), 0, "step 1, initialize: the agent ended before it answered"},
		{"never answers", fakeAdapter(t, c.Dir, "answer dropped"), 2 * time.Second, "step 3, prompt:0: no answer: the scenario's time of 2s is over"},
		{"no JSON", fakeAdapter(t, c.Dir, "junk"), 0, "a line on stdout is no JSON: Hello"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			res, err := runCase(t.Context(), c, tt.adapter, Options{Temp: t.TempDir(), Timeout: tt.timeout})
			require.NoError(t, err)
			require.NotEmpty(t, res.Differences)
			assert.Equal(t, "run", res.Differences[0].At)
			assert.Contains(t, res.Differences[0].Got, tt.want)
		})
	}
}

func TestRunReport(t *testing.T) {
	dir := "testdata/traces/text-only"
	out, file := &strings.Builder{}, filepath.Join(t.TempDir(), "report.json")
	r, err := RunAdapter(t.Context(), fakeAdapter(t, dir, ""), Options{Traces: []string{dir}, Out: out, JSON: file, Temp: t.TempDir()})
	require.NoError(t, err)
	assert.True(t, r.OK())
	assert.True(t, strings.HasPrefix(out.String(), "pass  text-only\n"), out)
	assert.True(t, strings.HasSuffix(out.String(), "\n1 passed, 0 failed, 0 skipped\n"), out)
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	var back Report
	require.NoError(t, json.Unmarshal(b, &back))
	assert.Equal(t, r, back)

	a := fakeAdapter(t, dir, "")
	a.NotBuilt = []string{"Ba*"}
	out.Reset()
	r, err = RunAdapter(t.Context(), a, Options{Traces: []string{"testdata/traces"}, Only: []string{"bash-success"}, Out: out})
	require.NoError(t, err)
	assert.Equal(t, 1, r.Skipped)
	assert.Equal(t, "skip  bash-success: calls Bash, which is not built\n0 passed, 0 failed, 1 skipped\n", out.String())

	_, err = Run(t.Context(), Options{Traces: []string{dir}, Agent: []string{"x"}, Only: []string{"none"}})
	assert.ErrorContains(t, err, "no scenario")
	_, err = Run(t.Context(), Options{Traces: []string{t.TempDir()}, Agent: []string{"x"}})
	assert.ErrorContains(t, err, "no scenarios: want folders")
	_, err = Run(t.Context(), Options{Traces: []string{dir}})
	assert.ErrorContains(t, err, "no agent command")
	_, err = Run(t.Context(), Options{Traces: []string{dir}, Agent: []string{"x"}, Adapter: "y"})
	assert.ErrorContains(t, err, `adapter "y"`)
}

// TestRecord records a playback, which must give the recording back.
func TestRecord(t *testing.T) {
	for _, name := range []string{"edit-single-site", "load-session", "edit-auto-mode", "write-overwrite-binary"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, out := filepath.Join("testdata/traces", name), t.TempDir()
			require.NoError(t, RecordAdapter(t.Context(), fakeAdapter(t, dir, ""), RecordOptions{Scenario: dir, Out: out, Temp: t.TempDir()}))
			want, err := loadCase(dir)
			require.NoError(t, err)
			got, err := loadCase(out)
			require.NoError(t, err)
			assert.Equal(t, want.Scenario.After, got.Scenario.After)
			// Where a notification passes a request of the client is chance.
			assert.Equal(t, messages(want.Trace, fromAgent), messages(got.Trace, fromAgent))
			assert.Equal(t, messages(want.Trace, fromClient), messages(got.Trace, fromClient))
		})
	}
	err := RecordAdapter(t.Context(), fakeAdapter(t, t.TempDir(), ""), RecordOptions{Scenario: "testdata/traces/text-only", Out: t.TempDir(), Temp: t.TempDir()})
	assert.ErrorContains(t, err, "the agent ended before it answered")
}

func messages(entries []Entry, from string) []any {
	var out []any
	for _, e := range entries {
		if e.From == from {
			out = append(out, decodeAny(e.Message))
		}
	}
	return out
}

func TestElide(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{
			`{"params":{"update":{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"a","description":"say \"b\" \\","input":{"hint":"h"}},{"description":null}]}}}`,
			`{"params":{"update":{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"a","description":"(elided)","input":{"hint":"(elided)"}},{"description":null}]}}}`,
		},
		{
			`{"result":{"modes":{"x":[{"description":"d","id":"description"}]}}}`,
			`{"result":{"modes":{"x":[{"description":"(elided)","id":"description"}]}}}`,
		},
		{
			`{"params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"pay"},"_meta":{"claudeCode":{"kind":"informational"}}}}}`,
			`{"params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"(elided: notice of the vendor)"},"_meta":{"claudeCode":{"kind":"informational"}}}}}`,
		},
		{`{"params":{"update":{"sessionUpdate":"tool_call","description":"kept"}}}`, `{"params":{"update":{"sessionUpdate":"tool_call","description":"kept"}}}`},
		{`[1]`, `[1]`},
	} {
		got, err := elide(json.RawMessage(tt.in))
		require.NoError(t, err)
		assert.Equal(t, tt.want, string(got))
	}
}

// TestPartials holds the forecast of incomplete inputs against the recordings,
// and the length of the workspace's path against that of theirs.
func TestPartials(t *testing.T) {
	calls := 0
	for _, c := range recordings(t) {
		recorded := map[string][]any{}
		for _, s := range parseSteps(c.Trace) {
			for _, id := range callsIn(s.Events) {
				input, _ := decodeAny(findInput(c.Scenario, id)).(map[string]any)
				els, _ := sequence(s.Events, id, input)
				for _, e := range els {
					if e.Kind == kindInput && input != nil {
						recorded[id] = e.Partial
					}
				}
			}
		}
		fits := func(length int) bool {
			p := newPlaceholders("/"+strings.Repeat("w", length-1), "/home")
			for _, u := range c.Scenario.toolUses() {
				want, ok := recorded[u.ID]
				if !ok {
					continue
				}
				input, err := compact(p.show(u.Input))
				require.NoError(t, err)
				got := []any(nil)
				for _, part := range partials(input, modelserver.DefaultPiece, u.Cut) {
					got = append(got, decodeAny(p.hide(encode(part))))
				}
				if !equal(got, want) {
					return false
				}
			}
			return true
		}
		calls += len(recorded)
		work := workspace("/tmp", c.Scenario.Name)
		assert.True(t, fits(len(work)), "%s", c.Scenario.Name)
	}
	assert.Greater(t, calls, 100)
}

func findInput(s *Scenario, id string) json.RawMessage {
	for _, u := range s.toolUses() {
		if u.ID == id {
			return u.Input
		}
	}
	return nil
}

func TestPartialsOfOddInputs(t *testing.T) {
	three := 3
	for _, tt := range []struct {
		in   string
		n    int
		cut  *int
		want string
	}{
		{`{}`, 24, nil, `null`},
		{`{"a":1}`, 2, nil, `null`},
		{`{"a":1,"b":2}`, 1, nil, `[{"a":1}]`},
		{`{"a":1,"b":2}`, 24, nil, `null`},
		{`{"a":"x,y","b":[1,2],"c":{"d":1,"e":2}}`, 1, nil, `[{"a":"x,y"},{"a":"x,y","b":[1,2]}]`},
		{`{"a":"\",","b":2}`, 1, nil, `[{"a":"\","}]`},
		{`{"a":1,"b":2}`, 1, &three, `null`},
		{`{"a":1,`, 1, nil, `null`},
		{`[1]`, 1, nil, `null`},
		{``, 1, nil, `null`},
	} {
		assert.Equal(t, tt.want, show(partials(tt.in, tt.n, tt.cut)), tt.in)
	}
}
