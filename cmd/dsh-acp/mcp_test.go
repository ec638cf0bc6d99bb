package main

//lint:file-ignore SA1019 clients of today speak of their roots in the old way, which the SDK calls deprecated

import (
	"context"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mcpSession starts the program as a host does.
func (p *program) mcpSession(roots []string, args ...string) *mcp.ClientSession {
	p.t.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	for _, r := range roots {
		path := filepath.ToSlash(r)
		if !strings.HasPrefix(path, "/") {
			path = "/" + path
		}
		c.AddRoots(&mcp.Root{URI: (&url.URL{Scheme: "file", Path: path}).String()})
	}
	cmd := p.command(append([]string{"mcp"}, args...)...)
	cmd.Stderr = os.Stderr
	s, err := c.Connect(context.Background(), &mcp.CommandTransport{Command: cmd}, nil)
	require.NoError(p.t, err)
	p.t.Cleanup(func() {
		assert.NoError(p.t, s.Close())
		assert.Equal(p.t, 0, cmd.ProcessState.ExitCode(), "the end of the input is a good end")
	})
	return s
}

func callTool(t *testing.T, s *mcp.ClientSession, name string, args map[string]any) (string, bool) {
	t.Helper()
	res, err := s.CallTool(context.Background(), &mcp.CallToolParams{Name: name, Arguments: args})
	require.NoError(t, err)
	text, err := json.Marshal(res.Content)
	require.NoError(t, err)
	return string(text), res.IsError
}

func TestMCPInTheRootsOfTheHost(t *testing.T) {
	p := newProgram(t)
	file := filepath.Join(p.dir, "a.txt")
	require.NoError(t, os.WriteFile(file, []byte("one\ntwo\n"), 0o644))
	s := p.mcpSession([]string{p.dir}, "--tools", "claude,apply_patch")
	list, err := s.ListTools(context.Background(), nil)
	require.NoError(t, err)
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	assert.ElementsMatch(t, []string{"Read", "Write", "Edit", "Glob", "Grep", "apply_patch"}, names, "no commands, no sessions")
	_, bad := callTool(t, s, "Edit", map[string]any{"file_path": "a.txt", "old_string": "two", "new_string": "2"})
	assert.False(t, bad)
	got, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "one\n2\n", string(got))
	text, bad := callTool(t, s, "Grep", map[string]any{"pattern": "on.", "output_mode": "content"})
	assert.False(t, bad, text)
	assert.Contains(t, text, "one")
}

func TestMCPWithTagsAndRollback(t *testing.T) {
	p := newProgram(t)
	file := filepath.Join(p.dir, "a.txt")
	require.NoError(t, os.WriteFile(file, []byte("one\ntwo\n"), 0o644))
	s := p.mcpSession([]string{p.dir})
	text, bad := callTool(t, s, "fs_read", map[string]any{"path": "a.txt"})
	require.False(t, bad, text)
	tag := regexp.MustCompile(`a\.txt#([0-9A-Fa-f]{4})`).FindStringSubmatch(text)
	require.NotNil(t, tag, text)
	text, bad = callTool(t, s, "fs_write", map[string]any{"path": "a.txt", "content": "changed\n", "file_hash": tag[1]})
	require.False(t, bad, text)
	text, bad = callTool(t, s, "fs_rollback", map[string]any{"path": "a.txt", "hash": tag[1]})
	require.False(t, bad, text)
	got, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "one\ntwo\n", string(got))
}

func TestMCPGuardsPaths(t *testing.T) {
	p := newProgram(t)
	for _, name := range []string{"open.txt", "secret.txt", "fixed.txt"} {
		require.NoError(t, os.WriteFile(filepath.Join(p.dir, name), []byte("text\n"), 0o644))
	}
	secret, fixed := filepath.Join(p.dir, "secret.txt"), filepath.Join(p.dir, "fixed.txt")
	// --root wins over the roots of the host.
	s := p.mcpSession([]string{t.TempDir()}, "--root", p.dir, "--tools", "claude", "--guard-block", secret+","+fixed, "--guard-read-block", secret)
	for _, c := range []struct {
		tool string
		args map[string]any
		bad  bool
	}{
		{"Read", map[string]any{"file_path": "open.txt"}, false},
		{"Read", map[string]any{"file_path": "fixed.txt"}, false},
		{"Read", map[string]any{"file_path": "secret.txt"}, true},
		{"Edit", map[string]any{"file_path": "open.txt", "old_string": "text", "new_string": "t"}, false},
		{"Edit", map[string]any{"file_path": "fixed.txt", "old_string": "text", "new_string": "t"}, true},
		{"Write", map[string]any{"file_path": "secret.txt", "content": "t"}, true},
	} {
		text, bad := callTool(t, s, c.tool, c.args)
		assert.Equal(t, c.bad, bad, "%s %v: %s", c.tool, c.args, text)
		if c.bad {
			assert.Contains(t, text, "permission denied")
		}
	}
	text, _ := callTool(t, s, "Grep", map[string]any{"pattern": "text"})
	assert.Contains(t, text, "fixed.txt")
	assert.NotContains(t, text, "secret.txt")
}

func TestMCPCommandLine(t *testing.T) {
	p := newProgram(t)
	out, diag, code := p.run("", "mcp", "--root", p.dir)
	assert.Equal(t, 0, code, diag)
	assert.Empty(t, out)
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"mcp", "--tools", "Agent"}, 2, "Agent"},
		{[]string{"mcp", "--tools", "nothing"}, 2, `"nothing"`},
		{[]string{"mcp", "--engine", "steam"}, 2, "steam"},
		{[]string{"mcp", "extra"}, 2, "extra"},
		{[]string{"mcp", "--root", filepath.Join(p.dir, "missing")}, 1, "missing"},
		{[]string{"mcp", "--root", p.dir, "--max-retries", "x"}, 1, "--max-retries"},
	} {
		out, diag, code := p.run("", c.args...)
		assert.Equal(t, c.code, code, "%v: %s", c.args, diag)
		assert.Contains(t, diag, c.want)
		assert.Empty(t, out, "standard output is the protocol's")
	}
	out, _, code = p.run("", "mcp", "--help")
	assert.Equal(t, 0, code)
	assert.Contains(t, out, "-root")
}

// A host may write all of its lines and close: every call is answered.
func TestMCPAnswersBeforeItEnds(t *testing.T) {
	p := newProgram(t)
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, "a.txt"), []byte("one\n"), 0o644))
	in := strings.Join([]string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
		`not JSON`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"Read","arguments":{"file_path":"a.txt"}}}`,
	}, "\n")
	out, diag, code := p.run(in, "mcp", "--root", p.dir, "--tools", "claude")
	require.Equal(t, 0, code, diag)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	require.Len(t, lines, 3, out)
	for _, l := range lines {
		assert.True(t, json.Valid([]byte(l)), l)
	}
	assert.Contains(t, out, `1\tone`)
	assert.Contains(t, out, "-32700")
}
