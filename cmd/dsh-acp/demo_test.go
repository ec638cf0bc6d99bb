package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDemo(t *testing.T) {
	p := newProgram(t, "TMPDIR="+t.TempDir())
	out, diag, code := p.run("", "demo")
	require.Zero(t, code, diag)
	assert.NotContains(t, out, "\x1b[", "no colours into a pipe")

	live, replay, found := strings.Cut(out, "loads the session")
	require.True(t, found)
	for _, part := range []string{live, replay} {
		for _, want := range []string{
			"\ntool_call            call_edit · Edit",
			"call_edit · 2 diff · greet.go:7 · greet.go:20",
			"call_wrong · failed",
			"   10 │ -     log.Printf(",
		} {
			assert.Contains(t, strings.ReplaceAll(part, "call_edit · completed · 2 diff", "call_edit · 2 diff"), want)
		}
	}
	assert.Equal(t, 3, strings.Count(live, "\nrequest_permission "), "each change was asked for, the impossible one was not")
	assert.NotContains(t, replay, "request_permission")
	snippet, question := strings.Index(live, "│ - log.Printf("), strings.Index(live, "\nrequest_permission ")
	assert.Less(t, snippet, question, "the question comes below the diff it is about")
	assert.Contains(t, replay, "+++ b/greet_test.go\n")
}

func TestDemoJSON(t *testing.T) {
	p := newProgram(t, "TMPDIR="+t.TempDir())
	out, diag, code := p.run("", "demo", "--json")
	require.Zero(t, code, diag)
	updates := 0
	for line := range strings.Lines(out) {
		var m struct {
			Version string `json:"jsonrpc"`
			Method  string `json:"method"`
		}
		require.NoError(t, json.Unmarshal([]byte(line), &m), line)
		require.Equal(t, "2.0", m.Version)
		if m.Method == "session/update" {
			updates++
		}
	}
	assert.Greater(t, updates, 40)
}
