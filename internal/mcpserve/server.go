package mcpserve

//lint:file-ignore SA1019 clients of today speak of their roots in the old way, which the SDK calls deprecated

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"dsh-acp/internal/msg"
	"dsh-acp/tools"
)

// Config says what is served.
type Config struct {
	Name, Version string
	// Specs are the tools that are offered, in order; each must have
	// [tools.Traits]. Required.
	Specs []msg.ToolSpec
	// Roots are the folders to work in, absolute and clean; relative paths
	// start in the first. With none the client is asked for its own.
	Roots []string
	// Open makes the tools for folders, at least one, of which only the first
	// need exist. It is called again when the client's folders change, never
	// twice at a time. Required.
	Open func(roots []string) (Toolbox, error)
	// Warn, if not nil, is told what the host's user should know. It may be
	// called concurrently, as OnPanic may.
	Warn func(text string)
	// OnPanic, if not nil, is told of a panic that was contained.
	OnPanic func(where string, value any, stack []byte)
}

// A Toolbox is the tools for some folders. Set offers all of Config.Specs.
type Toolbox struct {
	Set *tools.Set
	// Close, if not nil, is called when the last call that uses Set is over.
	Close func() error
}

// instructions is what the host may tell its model of all tools together.
const instructions = "These tools work on the files of the user's project. A relative path starts in the project's folder; " +
	"paths outside of it are refused. A refusal says what was found and what would work, and changes nothing."

// Serve answers a client over in and out until in ends, whose calls are
// answered first, or ctx does. The error is one of reading or writing.
func Serve(ctx context.Context, c Config, in io.Reader, out io.Writer) error {
	st := newStream(in, out)
	s, err := newServer(c, st.ended)
	if err != nil {
		return err
	}
	err = s.mcp.Run(ctx, st)
	err2 := s.boxes.close()
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		err = nil // both are how a server ends
	}
	return errors.Join(err, err2)
}

// A server is one served session.
type server struct {
	cfg   Config
	mcp   *mcp.Server
	boxes *boxes
	roots *clientRoots
}

// newServer makes a server. ended is closed when no client answers any more;
// nil means never.
func newServer(c Config, ended <-chan struct{}) (*server, error) {
	if c.Warn == nil {
		c.Warn = func(string) {}
	}
	if c.OnPanic == nil {
		c.OnPanic = func(string, any, []byte) {}
	}
	s := &server{cfg: c, boxes: &boxes{open: c.Open, warn: c.Warn}, roots: &clientRoots{ended: ended, warn: c.Warn}}
	s.mcp = mcp.NewServer(&mcp.Implementation{Name: c.Name, Version: c.Version}, &mcp.ServerOptions{
		Instructions: instructions,
		Logger:       slog.New(slog.DiscardHandler),
		// The list of tools does not change, and there is no log for clients.
		Capabilities:            &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
		RootsListChangedHandler: func(context.Context, *mcp.RootsListChangedRequest) { s.roots.forget() },
	})
	for _, spec := range c.Specs {
		t, err := describe(spec)
		if err != nil {
			return nil, err
		}
		s.mcp.AddTool(t, s.call)
	}
	s.mcp.AddReceivingMiddleware(s.contain)
	return s, nil
}

// describe is a tool in the words of the protocol.
func describe(spec msg.ToolSpec) (*mcp.Tool, error) {
	t, ok := tools.TraitsOf(spec.Name)
	if !ok || t.Session {
		return nil, fmt.Errorf("mcp: the tool %s cannot be used without an agent's session", spec.Name)
	}
	world := t.Access == tools.Execute
	a := &mcp.ToolAnnotations{
		Title: t.Title, ReadOnlyHint: t.Access == tools.Look, IdempotentHint: t.Repeats, OpenWorldHint: &world,
	}
	if !a.ReadOnlyHint {
		a.DestructiveHint = &t.Destroys
	}
	return &mcp.Tool{Name: spec.Name, Title: t.Title, Description: spec.Description, InputSchema: spec.InputSchema, Annotations: a}, nil
}

// contain keeps a panic from ending the process: that of a tool is its result,
// since the model may go on with another; any other is an internal error.
func (s *server) contain(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (res mcp.Result, err error) {
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			where := method
			call, isCall := req.(*mcp.CallToolRequest)
			if isCall {
				where = call.Params.Name
			}
			s.cfg.OnPanic(where, v, debug.Stack())
			if isCall {
				res, err = result(msg.Failed(msg.CodePanic, fmt.Sprintf(
					"%s: the tool broke because of a fault of its own (%v): look at the files before you go on", where, v))), nil
				return
			}
			res, err = nil, fmt.Errorf("%s: a fault of the server: %v", method, v)
		}()
		return next(ctx, method, req)
	}
}

// call runs one call. What goes wrong is a result, which the model reads; an
// error of the protocol it would not see.
func (s *server) call(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	roots := s.cfg.Roots
	if len(roots) == 0 {
		var ask *mcp.CallToolResult
		var err error
		if roots, ask, err = s.roots.get(ctx, req); err != nil {
			return result(msg.Failed(codeNoRoot, fmt.Sprintf("%s: %v", req.Params.Name, err))), nil
		}
		if ask != nil {
			return ask, nil
		}
	}
	box, err := s.boxes.use(roots)
	if err != nil {
		return result(msg.Failed(codeNoRoot, fmt.Sprintf("%s: the folder of this session: %v", req.Params.Name, err))), nil
	}
	defer s.boxes.done(box)
	plan, failed := box.tools.Set.Plan(ctx, msg.ToolUse{Name: req.Params.Name, Input: string(req.Params.Arguments)})
	if failed != nil {
		return result(*failed), nil
	}
	return result(plan.Run(ctx)), nil
}

// metaKey is our place in the protocol's _meta.
const metaKey = "dsh"

// result is a tool's result in the words of the protocol. The code of a
// failure is for programs, in _meta; the text says the same to a model.
func result(r msg.ToolResult) *mcp.CallToolResult {
	out := &mcp.CallToolResult{IsError: r.IsError, Content: []mcp.Content{}}
	for _, b := range r.Content {
		out.Content = append(out.Content, content(b))
	}
	if r.Error != nil {
		out.Meta = mcp.Meta{metaKey: r.Error}
	}
	return out
}

func content(b msg.Block) mcp.Content {
	switch b := b.(type) {
	case msg.Text:
		return &mcp.TextContent{Text: b.Text}
	case msg.Image:
		return &mcp.ImageContent{MIMEType: b.MIME, Data: b.Data}
	default:
		panic(fmt.Sprintf("mcpserve: a tool gave a %T", b))
	}
}
