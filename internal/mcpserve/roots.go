package mcpserve

//lint:file-ignore SA1019 clients of today speak of their roots in the old way, which the SDK calls deprecated

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// codeNoRoot is the code of a call for which there is no folder to work in.
const codeNoRoot = "MCP_NO_ROOT"

// rootsKey names our question for the folders in a result that asks.
const rootsKey = "roots"

// noCallsBack is the version of the protocol from which on a server may ask
// only by a result.
const noCallsBack = "2026-07-28"

var (
	errNoRoots = errors.New("there is no folder to work in: start the server with --root FOLDER, " +
		"or use a host that tells its roots (roots/list); this one does not")
	errEmptyRoots = errors.New("there is no folder to work in: the host's list of roots is empty; open a folder in the host, " +
		"or start the server with --root FOLDER")
)

// clientRoots are the folders that the client tells. Up to the version
// before noCallsBack, a client that says when they change is asked once and
// again after each such word; one that does not is asked by each call, since
// its folders may change too. From noCallsBack on no such word comes, and each
// call asks.
type clientRoots struct {
	ended <-chan struct{}
	warn  func(string)

	mu    sync.Mutex
	gen   int      // guarded by mu; how often the client said that they changed
	known []string // guarded by mu; nil if they must be asked for
}

func (c *clientRoots) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gen++
	c.known = nil
}

// get gives the folders, or the result that asks the client for them and
// makes it call again.
func (c *clientRoots) get(ctx context.Context, req *mcp.CallToolRequest) ([]string, *mcp.CallToolResult, error) {
	caps := req.ClientCapabilities()
	if caps == nil || caps.RootsV2 == nil {
		return nil, nil, errNoRoots
	}
	if req.ProtocolVersion() >= noCallsBack {
		answer, ok := req.Params.InputResponses[rootsKey].(*mcp.ListRootsResult)
		if !ok {
			return nil, &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{rootsKey: &mcp.ListRootsParams{}}}, nil
		}
		roots, err := c.folders(answer.Roots)
		return roots, nil, err
	}
	c.mu.Lock()
	gen, known := c.gen, c.known
	c.mu.Unlock()
	if known != nil {
		return known, nil, nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-c.ended:
			cancel() // the answer cannot come any more
		case <-ctx.Done():
		}
	}()
	answer, err := req.Session.ListRoots(ctx, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("the host did not tell its roots: %w; start the server with --root FOLDER to do without", err)
	}
	roots, err := c.folders(answer.Roots)
	if err != nil {
		return nil, nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gen == gen && caps.RootsV2.ListChanged {
		c.known = roots
	}
	return roots, nil, nil
}

// folders are the paths of roots, each once. A root that is no folder of this
// machine is left out with a warning, as long as another one is there.
func (c *clientRoots) folders(roots []*mcp.Root) ([]string, error) {
	if len(roots) == 0 {
		return nil, errEmptyRoots
	}
	var out []string
	var errs []error
	for _, r := range roots {
		path, err := FolderOf(r.URI, runtime.GOOS == "windows")
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if path = filepath.Clean(path); !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no root of the host is a folder of this machine: %w; start the server with --root FOLDER", errors.Join(errs...))
	}
	for _, err := range errs {
		c.warn(err.Error())
	}
	return out, nil
}

// FolderOf is the path that a file URI names, with the separators of Windows
// or of other systems. It fails for other schemes, and for another machine's
// files where no path leads to them.
func FolderOf(uri string, windows bool) (string, error) {
	u, err := url.Parse(uri)
	if err != nil {
		return "", fmt.Errorf("root %q: %w", uri, err)
	}
	host := u.Host
	if strings.EqualFold(host, "localhost") {
		host = ""
	}
	switch {
	case !strings.EqualFold(u.Scheme, "file"):
		return "", fmt.Errorf("root %q: the scheme is %q, want file", uri, u.Scheme)
	case u.Fragment != "" || u.RawQuery != "" || u.ForceQuery:
		return "", fmt.Errorf("root %q: in a path, # is written %%23 and ? is written %%3F", uri)
	case !strings.HasPrefix(u.Path, "/"), strings.ContainsRune(u.Path, 0):
		return "", fmt.Errorf("root %q: it names no absolute path", uri)
	case !windows && host != "":
		return "", fmt.Errorf("root %q: it is on another machine, %q", uri, host)
	case !windows:
		return u.Path, nil
	}
	path := strings.ReplaceAll(u.Path, "/", `\`)
	if host != "" {
		return `\\` + host + path, nil
	}
	drive := path[1:]
	if len(drive) < 2 || drive[1] != ':' || !isLetter(drive[0]) {
		return "", fmt.Errorf("root %q: it names no drive", uri)
	}
	if len(drive) == 2 {
		drive += `\`
	}
	return drive, nil
}

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }
