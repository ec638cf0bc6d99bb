// Package demo shows a whole session on a terminal without a key and without
// a network: it starts the real server as an editor does, with a scripted
// model and a small fake editor on the official Go client, and prints every
// notification as it comes. It decides nothing; what it prints was sent.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	acp "github.com/coder/acp-go-sdk"
)

// Options say how a demo runs.
type Options struct {
	// Agent is the command of the server, such as the running program itself.
	Agent []string
	// JSON prints the messages of both sides as they are instead of one
	// readable line for each.
	JSON bool
	Out  io.Writer // never nil; colours only where it is a terminal
	Log  io.Writer // what the server says on its standard error
}

// Run plays the demo in a temporary workspace, which it removes. It fails if
// the server does, or if the session did not go as the script means it.
func Run(ctx context.Context, opt Options) error {
	stage, err := newStage()
	if err != nil {
		return err
	}
	defer stage.remove()
	show := &printer{out: opt.Out, json: opt.JSON, root: stage.work}

	show.title("A session: read, edit, create, a refused edit, and a question before each change")
	var session acp.SessionId
	if err := stage.run(ctx, opt, show, script, func(c *client) error {
		made, err := c.conn.NewSession(ctx, acp.NewSessionRequest{Cwd: stage.work, McpServers: []acp.McpServer{}})
		if err != nil {
			return err
		}
		session = made.SessionId
		show.say("prompt", task)
		answer, err := c.conn.Prompt(ctx, acp.PromptRequest{SessionId: session, Prompt: []acp.ContentBlock{acp.TextBlock(task)}})
		if err != nil {
			return err
		}
		show.say("answer", "stopReason "+string(answer.StopReason))
		return nil
	}); err != nil {
		return err
	}

	show.title("The editor starts again and loads the session: the same hunks, from the log")
	if err := stage.run(ctx, opt, show, nil, func(c *client) error {
		_, err := c.conn.LoadSession(ctx, acp.LoadSessionRequest{SessionId: session, Cwd: stage.work, McpServers: []acp.McpServer{}})
		return err
	}); err != nil {
		return err
	}

	show.title("What is different on disk")
	return stage.showDiff(show)
}

// a stage is the temporary workspace with a home for the server.
type stage struct{ dir, work, home string }

func newStage() (*stage, error) {
	dir, err := os.MkdirTemp("", "dsh-acp-demo-")
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	s := &stage{dir: dir, work: filepath.Join(dir, "work"), home: filepath.Join(dir, "home")}
	for _, d := range []string{s.work, s.home} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return nil, err
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(s.work, name), []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *stage) remove() { _ = os.RemoveAll(s.dir) }

// client is the editor's side of one server process.
type client struct{ conn *acp.ClientSideConnection }

// run starts a server process, opens the connection, lets body use it and
// ends the process as an editor does: by closing its input.
func (s *stage) run(ctx context.Context, opt Options, show *printer, answers [][]block, body func(*client) error) error {
	play, err := writeScript(s.dir, s.work, answers)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, opt.Agent[0], opt.Agent[1:]...)
	cmd.Dir, cmd.Stderr, cmd.WaitDelay = s.work, opt.Log, 5*time.Second
	cmd.Env = append(os.Environ(),
		"HOME="+s.home, "XDG_CONFIG_HOME="+filepath.Join(s.home, "config"), "XDG_STATE_HOME="+filepath.Join(s.home, "state"),
		"DSH_STATE_DIR="+filepath.Join(s.home, "sessions"), "DSH_KEYRING=never", "DSH_MODE=default", "DSH_TOOLSET=claude",
		"DSH_PROVIDER=scripted", "DSH_SCRIPT_FILE="+play)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	var in io.Writer = stdin
	var out io.Reader = stdout
	if opt.JSON {
		in, out = io.MultiWriter(stdin, show.wire()), io.TeeReader(stdout, show.wire())
	}
	c := &client{conn: acp.NewClientSideConnection(&editor{show: show}, in, out)}
	c.conn.SetLogger(slog.New(slog.DiscardHandler))
	_, err = c.conn.Initialize(ctx, acp.InitializeRequest{
		ProtocolVersion: acp.ProtocolVersionNumber,
		ClientInfo:      &acp.Implementation{Name: "demo", Version: "1"},
	})
	if err == nil {
		err = body(c)
	}
	return errors.Join(err, stdin.Close(), wait(cmd, c.conn.Done()))
}

// wait waits for the server: first until all it wrote was read, as Wait
// would cut off the rest.
func wait(cmd *exec.Cmd, read <-chan struct{}) error {
	<-read
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("the server: %w", err)
	}
	return nil
}
