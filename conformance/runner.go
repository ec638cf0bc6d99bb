package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"dsh-acp/internal/modelserver"
)

// DefaultTimeout ends a scenario that hangs. The longest recorded one runs a
// command of 40 seconds.
const DefaultTimeout = 2 * time.Minute

// exitGrace is how long an agent may take to leave at the end of its input.
const exitGrace = 10 * time.Second

// exitGraceAfterFault is the same for one that has already gone wrong.
const exitGraceAfterFault = time.Second

const unknownSession = "00000000-0000-4000-8000-000000000000"

// A recording is what came of playing a scenario.
type recording struct {
	Entries []Entry           // with placeholders
	After   map[string][]byte // the workspace afterwards, by path with slashes
	Problem string            // why the run broke off; "" if it came to its end
	Stderr  string            // the end of the agent's stderr
	places  *placeholders
}

// run is one scenario being played.
type run struct {
	scenario *Scenario
	adapter  Adapter
	places   *placeholders
	work     string
	home     string
	client   *recorder
	model    *modelserver.Server
	script   *modelserver.Script
	agent    *child
	stderr   string
}

// play runs a scenario in folders of its own below dir, which it makes. An
// error means that the scenario itself or the machine is at fault; what the
// agent does wrong is in the recording.
func play(ctx context.Context, s *Scenario, a Adapter, dir string) (*recording, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	r := &run{scenario: s, adapter: a, work: workspace(dir, s.Name), home: padded(dir, "h", recordedHome)}
	for _, d := range []string{r.work, r.home} {
		if err := os.Mkdir(d, 0o755); err != nil {
			return nil, err
		}
	}
	r.places = newPlaceholders(r.work, r.home)
	if err := writeFiles(r.work, s.Files); err != nil {
		return nil, fmt.Errorf("scenario %s: %w", s.Name, err)
	}
	if err := writeFiles(r.home, s.Home); err != nil {
		return nil, fmt.Errorf("scenario %s: home: %w", s.Name, err)
	}
	if r.script, err = s.script(r.places); err != nil {
		return nil, err
	}
	r.client = newRecorder(s, r.work, r.home)
	r.model, err = modelserver.New(modelserver.Options{Handler: r.answer, Conversation: a.Conversation})
	if err != nil {
		return nil, err
	}
	defer r.model.Close()

	problem := r.steps(ctx)
	grace := exitGrace
	if problem != "" {
		grace = exitGraceAfterFault
	}
	if err := r.end(grace); err != nil && problem == "" {
		problem = err.Error()
	}
	rec := &recording{Problem: problem, Stderr: r.stderr, places: r.places}
	r.client.mu.Lock()
	defer r.client.mu.Unlock()
	r.client.terminals.end()
	if rec.Problem == "" && len(r.client.junk) > 0 {
		rec.Problem = "a line on stdout is no JSON: " + r.client.junk[0]
	}
	for name, value := range a.Hide {
		r.places.add(name, value)
	}
	for _, e := range r.client.entries {
		e.Message = r.places.hide(e.Message)
		rec.Entries = append(rec.Entries, e)
	}
	rec.After, err = readFiles(r.work)
	return rec, err
}

// recordedHome is the length of the home folder's path in recordings.
const recordedHome = len("/home")

// workspace is the path of the workspace below dir; see [padded].
func workspace(dir, scenario string) string { return padded(dir, "w", len(scenario)+1) }

// padded is a path below dir of the wanted length, modulo a piece. Where the
// pieces of a streamed input end depends on the length of the paths in it; so
// ours have the pieces of the recordings.
func padded(dir, letter string, length int) string {
	n := length + modelserver.DefaultPiece - len(dir) - 1
	for n < 1 {
		n += modelserver.DefaultPiece
	}
	return filepath.Join(dir, strings.Repeat(letter, n))
}

// steps follows the scenario and returns why it broke off, or "".
func (r *run) steps(ctx context.Context) string {
	for i, step := range r.scenario.Steps {
		if err := r.step(ctx, step); err != nil {
			return fmt.Sprintf("step %d, %s: %v", i, step, err)
		}
	}
	return ""
}

func (r *run) step(ctx context.Context, step string) error {
	verb, arg := cutStep(step)
	switch verb {
	case "start":
		return r.start()
	case "restart":
		if err := r.end(exitGrace); err != nil {
			return err
		}
		return r.start()
	case "initialize":
		return r.request(ctx, "initialize", object{
			"protocolVersion": 1, "clientCapabilities": r.capabilities(),
			"clientInfo": object{"name": "recorder", "title": "Recorder", "version": "1.0.0"},
		})
	case "session/new":
		return r.newSession(ctx)
	case "prompt":
		return r.prompt(ctx, arg)
	case "set_mode":
		mode := arg
		if m, ok := r.adapter.Modes[arg]; ok {
			mode = m
		}
		return r.request(ctx, "session/set_mode", object{"sessionId": r.client.session(), "modeId": mode})
	case "write":
		path, text, ok := strings.Cut(arg, "=")
		if !ok {
			return errors.New("want write:PATH=TEXT")
		}
		return writeFiles(r.work, map[string]File{path: {Text: &text}})
	case "session/load", "session/resume":
		return r.request(ctx, verb, object{"sessionId": r.client.session(), "cwd": r.work, "mcpServers": []any{}})
	case "session/load_unknown":
		return r.request(ctx, "session/load", object{"sessionId": unknownSession, "cwd": r.work, "mcpServers": []any{}})
	case "session/list":
		return r.request(ctx, verb, object{"cwd": r.work})
	case "session/close":
		return r.request(ctx, verb, object{"sessionId": r.client.session()})
	default:
		return errors.New("no such step")
	}
}

// answer gives the script's next message. An agent that asks once more after
// a cancel, as the recorded one does at times, does not use the script up.
func (r *run) answer(req modelserver.Request) modelserver.Answer {
	if r.client.isStopping() {
		return modelserver.Message{Blocks: []modelserver.Block{modelserver.Text{Text: modelserver.EndText}}}
	}
	return r.script.Next(req)
}

// request is for steps whose answer only the comparison looks at.
func (r *run) request(ctx context.Context, method string, params object) error {
	_, err := r.client.call(ctx, method, params)
	return err
}

func (r *run) capabilities() any {
	if r.scenario.Client == nil {
		return object{}
	}
	return r.places.show(r.scenario.Client)
}

func (r *run) newSession(ctx context.Context) error {
	params := object{"cwd": r.work, "mcpServers": []any{}}
	if r.scenario.SessionMeta != nil {
		params["_meta"] = r.places.show(r.scenario.SessionMeta)
	}
	m, err := r.client.call(ctx, "session/new", params)
	if err != nil {
		return err
	}
	var result struct {
		ID string `json:"sessionId"`
	}
	if m.Error != nil || json.Unmarshal(m.Result, &result) != nil || result.ID == "" {
		return nil // the comparison tells; steps that need a session will fail
	}
	r.client.mu.Lock()
	r.client.sessionID = result.ID
	r.client.mu.Unlock()
	r.places.add("${SESSION}", result.ID)
	return nil
}

func (r *recorder) session() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sessionID
}

func (r *run) prompt(ctx context.Context, arg string) error {
	n, err := strconv.Atoi(arg)
	if err != nil || n < 0 || n >= len(r.scenario.Prompts) {
		return fmt.Errorf("no prompt %q: the scenario has %d", arg, len(r.scenario.Prompts))
	}
	r.script.NewPrompt()
	r.client.setPrompt(n)
	defer r.client.setPrompt(-1)
	return r.request(ctx, "session/prompt", object{
		"sessionId": r.client.session(),
		"prompt":    []any{object{"type": "text", "text": r.places.showText(r.scenario.Prompts[n])}},
	})
}

func (r *run) start() error {
	env := append(baseEnv(r.home), r.adapter.Env(Setup{
		ModelURL: r.model.URL(), Workspace: r.work, Home: r.home, Scenario: r.scenario,
	})...)
	for i, e := range env {
		env[i] = r.places.showText(e)
	}
	c, err := startChild(r.adapter.Command, env, r.work, r.client.received)
	if err != nil {
		return err
	}
	r.agent = c
	r.client.begin(c)
	return nil
}

func (r *run) end(grace time.Duration) error {
	if r.agent == nil {
		return nil
	}
	err := r.agent.stop(grace)
	r.stderr = r.agent.stderr.String()
	r.agent = nil
	return err
}
