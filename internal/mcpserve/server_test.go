package mcpserve

//lint:file-ignore SA1019 clients of today speak of their roots in the old way, which the SDK calls deprecated

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/fsbackend"
	"dsh-acp/tools"
)

var offer = []string{"Read", "Write", "Edit", "apply_patch"}

// A rig is a served set of tools over a real folder.
type rig struct {
	t      *testing.T
	cfg    Config
	mu     sync.Mutex
	opened [][]string // guarded by mu
	closed int        // guarded by mu
	panics []string   // guarded by mu
}

func newRig(t *testing.T) *rig {
	r := &rig{t: t}
	nowhere, err := fsbackend.NewLocal(fsbackend.Options{})
	require.NoError(t, err)
	defer nowhere.Close()
	set, err := tools.New(tools.Config{Cwd: t.TempDir(), Files: nowhere, Offer: offer})
	require.NoError(t, err)
	r.cfg = Config{
		Name: "dsh-acp", Version: "1", Specs: set.Specs(), Open: r.open,
		OnPanic: func(where string, _ any, _ []byte) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.panics = append(r.panics, where)
		},
	}
	return r
}

func (r *rig) open(roots []string) (Toolbox, error) {
	local, err := fsbackend.NewLocal(fsbackend.Options{Roots: roots})
	if err != nil {
		return Toolbox{}, err
	}
	set, err := tools.New(tools.Config{Cwd: roots[0], Roots: roots, Files: local, Offer: offer})
	if err != nil {
		return Toolbox{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.opened = append(r.opened, roots)
	return Toolbox{Set: set, Close: func() error {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.closed++
		return local.Close()
	}}, nil
}

// connect serves the rig to a client of the SDK. version is that of the
// protocol, "" the newest.
func (r *rig) connect(c *mcp.Client, version string) *mcp.ClientSession {
	r.t.Helper()
	fromServer, toClient := io.Pipe()
	fromClient, toServer := io.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- Serve(context.Background(), r.cfg, fromClient, toClient)
		toClient.Close()
	}()
	session, err := c.Connect(context.Background(), &mcp.IOTransport{Reader: fromServer, Writer: toServer},
		&mcp.ClientSessionOptions{ProtocolVersion: version})
	require.NoError(r.t, err)
	r.t.Cleanup(func() {
		assert.NoError(r.t, session.Close())
		assert.NoError(r.t, <-served, "the end of the input is no error")
		r.mu.Lock()
		defer r.mu.Unlock()
		assert.Equal(r.t, len(r.opened), r.closed, "each box is closed once")
	})
	return session
}

func call(t *testing.T, s *mcp.ClientSession, name string, args map[string]any) (text string, res *mcp.CallToolResult) {
	t.Helper()
	res, err := s.CallTool(context.Background(), &mcp.CallToolParams{Name: name, Arguments: args})
	require.NoError(t, err)
	for _, c := range res.Content {
		if c, ok := c.(*mcp.TextContent); ok {
			text += c.Text
		}
	}
	return text, res
}

func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	return dir
}

func uri(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

func fileText(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(b)
}

func newClient() *mcp.Client {
	return mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
}

// versions are the ways in which folders are asked for: by a request of the
// server, and by a result.
var versions = []string{"2025-06-18", "2025-11-25", ""}

func TestListing(t *testing.T) {
	r := newRig(t)
	res, err := r.connect(newClient(), "").ListTools(context.Background(), nil)
	require.NoError(t, err)
	hints := map[string]*mcp.ToolAnnotations{}
	for _, tool := range res.Tools {
		hints[tool.Name] = tool.Annotations
		assert.NotEmpty(t, tool.Description, tool.Name)
		raw, err := json.Marshal(tool.InputSchema)
		require.NoError(t, err)
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(raw)))
		require.NoError(t, err)
		c := jsonschema.NewCompiler() // checks against the meta schema
		require.NoError(t, c.AddResource("tool.json", doc))
		_, err = c.Compile("tool.json")
		assert.NoError(t, err, tool.Name)
	}
	require.Len(t, hints, len(offer))
	assert.True(t, hints["Read"].ReadOnlyHint)
	assert.Nil(t, hints["Read"].DestructiveHint)
	for _, name := range []string{"Write", "Edit", "apply_patch"} {
		assert.False(t, hints[name].ReadOnlyHint, name)
		assert.True(t, *hints[name].DestructiveHint, name)
		assert.False(t, *hints[name].OpenWorldHint, name)
	}
	assert.True(t, hints["Write"].IdempotentHint)
}

func TestCallsInTheGivenFolder(t *testing.T) {
	dir := folder(t, map[string]string{"a.txt": "one\ntwo\n"})
	r := newRig(t)
	r.cfg.Roots = []string{dir}
	s := r.connect(newClient(), "")

	text, res := call(t, s, "Read", map[string]any{"file_path": "a.txt"})
	assert.False(t, res.IsError)
	assert.Contains(t, text, "2\ttwo")

	text, res = call(t, s, "Edit", map[string]any{"file_path": "a.txt", "old_string": "three", "new_string": "3"})
	assert.True(t, res.IsError, "a refusal is a result")
	assert.Contains(t, text, "a.txt")
	assert.Equal(t, "one\ntwo\n", fileText(t, filepath.Join(dir, "a.txt")))
	code, ok := res.Meta[metaKey].(map[string]any)
	require.True(t, ok, "%v", res.Meta)
	assert.NotEmpty(t, code["code"])

	_, res = call(t, s, "Edit", map[string]any{"file_path": "a.txt", "old_string": "two", "new_string": "2"})
	assert.False(t, res.IsError)
	_, res = call(t, s, "apply_patch", map[string]any{"operations": []any{
		map[string]any{"op": "replace_text", "path": "a.txt", "search": "one", "replace": "1"},
		map[string]any{"op": "create_file", "path": "b.txt", "text": "new\n"},
	}})
	assert.False(t, res.IsError, "%v", res.Content)
	assert.Equal(t, "1\n2\n", fileText(t, filepath.Join(dir, "a.txt")))
	assert.Equal(t, "new\n", fileText(t, filepath.Join(dir, "b.txt")))

	text, res = call(t, s, "Read", map[string]any{"file_path": filepath.Join(filepath.Dir(dir), "x")})
	assert.True(t, res.IsError)
	assert.Contains(t, text, "denied: it lies outside")

	_, err := s.CallTool(context.Background(), &mcp.CallToolParams{Name: "Bash", Arguments: map[string]any{"command": "true"}})
	assert.ErrorContains(t, err, "Bash", "what is not offered is not there")
	assert.Len(t, r.opened, 1)
}

func TestRootsOfTheClient(t *testing.T) {
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			first := folder(t, map[string]string{"a.txt": "in the first\n"})
			second := folder(t, map[string]string{"a.txt": "in the second\n", "b c.txt": "x\n"})
			r := newRig(t)
			c := newClient()
			c.AddRoots(&mcp.Root{URI: uri(first)}, &mcp.Root{URI: "https://example.com/x"})
			s := r.connect(c, version)

			text, _ := call(t, s, "Read", map[string]any{"file_path": "a.txt"})
			assert.Contains(t, text, "in the first")
			_, _ = call(t, s, "Read", map[string]any{"file_path": "a.txt"})
			assert.Equal(t, [][]string{{first}}, r.opened, "the same folders keep their tools")

			c.RemoveRoots(uri(first))
			c.AddRoots(&mcp.Root{URI: uri(second)})
			// The notification is sent before the call, and handled in order.
			text, _ = call(t, s, "Read", map[string]any{"file_path": "a.txt"})
			assert.Contains(t, text, "in the second")
			_, res := call(t, s, "Read", map[string]any{"file_path": filepath.Join(first, "a.txt")})
			assert.True(t, res.IsError, "a folder that was left is closed")

			c.RemoveRoots(uri(second), "https://example.com/x")
			text, res = call(t, s, "Read", map[string]any{"file_path": "a.txt"})
			assert.True(t, res.IsError)
			assert.Contains(t, text, "--root")
		})
	}
}

// A client that does not say when its folders change may change them all the
// same. The calls in between keep what they know while the folders stay.
func TestRootsThatChangeWithoutAWord(t *testing.T) {
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			first, second := folder(t, map[string]string{"a.txt": "in the first\n"}), folder(t, map[string]string{"a.txt": "in the second\n"})
			r := newRig(t)
			c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
				Capabilities: &mcp.ClientCapabilities{RootsV2: &mcp.RootCapabilities{}},
			})
			c.AddRoots(&mcp.Root{URI: uri(first)})
			s := r.connect(c, version)
			for range 2 {
				text, _ := call(t, s, "Read", map[string]any{"file_path": "a.txt"})
				assert.Contains(t, text, "in the first")
			}
			assert.Len(t, r.opened, 1)
			c.RemoveRoots(uri(first))
			c.AddRoots(&mcp.Root{URI: uri(second)})
			text, _ := call(t, s, "Read", map[string]any{"file_path": "a.txt"})
			assert.Contains(t, text, "in the second")
		})
	}
}

func TestWithoutAnyFolder(t *testing.T) {
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			r := newRig(t)
			c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
			text, res := call(t, r.connect(c, version), "Read", map[string]any{"file_path": "a.txt"})
			assert.True(t, res.IsError)
			assert.Contains(t, text, "--root FOLDER")
			assert.Contains(t, text, "roots/list")
			assert.Empty(t, r.opened)
		})
	}
}

func TestFolderThatCannotBeOpened(t *testing.T) {
	r := newRig(t)
	r.cfg.Roots = []string{filepath.Join(folder(t, nil), "missing")}
	text, res := call(t, r.connect(newClient(), ""), "Read", map[string]any{"file_path": "a.txt"})
	assert.True(t, res.IsError)
	assert.Contains(t, text, "missing")
}

func TestAPanicIsAResult(t *testing.T) {
	dir := folder(t, map[string]string{"a.txt": "one\n"})
	r := newRig(t)
	r.cfg.Roots = []string{dir}
	opens := r.cfg.Open
	broken := true
	r.cfg.Open = func(roots []string) (Toolbox, error) {
		if broken {
			broken = false
			panic("a fault")
		}
		return opens(roots)
	}
	s := r.connect(newClient(), "")
	text, res := call(t, s, "Read", map[string]any{"file_path": "a.txt"})
	assert.True(t, res.IsError)
	assert.Contains(t, text, "a fault")
	text, res = call(t, s, "Read", map[string]any{"file_path": "a.txt"})
	assert.False(t, res.IsError, "the server goes on: %s", text)
	assert.Equal(t, []string{"Read"}, r.panics)
}

func TestToolsThatNeedASession(t *testing.T) {
	r := newRig(t)
	r.cfg.Specs[0].Name = "TodoWrite"
	err := Serve(context.Background(), r.cfg, strings.NewReader(""), io.Discard)
	assert.ErrorContains(t, err, "TodoWrite")
}

func TestEndOfContext(t *testing.T) {
	r := newRig(t)
	in, w := io.Pipe()
	defer w.Close()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, r.cfg, in, io.Discard) }()
	cancel()
	assert.NoError(t, <-done)
}

func TestABrokenInputIsAnError(t *testing.T) {
	r := newRig(t)
	err := Serve(context.Background(), r.cfg, io.MultiReader(strings.NewReader("\n"), broken{}), io.Discard)
	assert.ErrorContains(t, err, "pulled out")
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("pulled out") }
