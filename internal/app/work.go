package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"

	"dsh-acp/acp"
	"dsh-acp/fsbackend"
	"dsh-acp/internal/agent"
	"dsh-acp/internal/config"
	"dsh-acp/internal/eventlog"
	"dsh-acp/internal/model"
	"dsh-acp/internal/msg"
	"dsh-acp/internal/shell"
	"dsh-acp/tools"
)

// work is an open session below the protocol.
type work struct {
	app    *App
	cfg    config.Config
	setup  acp.Setup
	log    *eventlog.Log
	moved  bool // an earlier turn was done elsewhere than where the log began
	local  *fsbackend.Local
	kept   *fsbackend.Journal
	disk   *fsbackend.Restricted // local under the policy of the settings
	files  *fsbackend.Restricted // the same through the editor, where that can be
	client *fsbackend.Client     // below files; nil: they are by disk
	shell  *shell.Runner
	agent  *agent.Session
	diag   zerolog.Logger

	// toolset names the set in force; it and sets are the running turn's.
	toolset    string
	sets       map[string]*tools.Set // by the option's value, made when chosen
	toolConfig tools.Config          // for further sets
	current    atomic.Pointer[tools.Set]

	turn  acp.Turn     // the running one; Run's alone
	group atomic.Value // the running turn's number as a string, for what its calls change

	promptMu sync.Mutex
	prompt   agent.PromptFacts // guarded by promptMu; without a Cwd until the first turn
	promptIs string            // guarded by promptMu; what prompt gives
}

func (a *App) newWork(cfg config.Config, log *eventlog.Log, setup acp.Setup, past past) (*work, error) {
	w := &work{app: a, cfg: cfg, setup: setup, log: log, diag: a.log.With().Str("session", log.Header().ID).Logger()}
	roots := append([]string{setup.Cwd}, setup.More...)
	if err := w.openFiles(roots); err != nil {
		return nil, err
	}
	var err error
	w.shell = shell.New(shell.Config{Dir: setup.Cwd})
	err = w.makeTools(tools.Config{
		Cwd: setup.Cwd, Roots: roots, Files: w.kept.Over(w.files), Seen: w.kept.Seen(), Commands: w.shell, Terminals: w.terminals(), Ripgrep: ripgrep(cfg), Reach: w.reach, Offer: offered(cfg.Toolset),
		OverwriteUnread: cfg.OverwriteUnread, List: w.list, Hiding: hiding(cfg), Patch: patching(cfg), Hashline: hashlining(cfg),
		Read: tools.ReadLimits{Lines: int(cfg.Read.MaxLines), Columns: int(cfg.Read.MaxColumns), Bytes: int(cfg.Read.MaxBytes)},
	})
	if err != nil {
		return nil, errors.Join(err, w.closeFiles())
	}
	if names := w.tools().Hidden(); len(names) > 0 {
		w.diag.Info().Strs("tools", names).Msg("hidden from the model")
	}
	w.moved = slices.ContainsFunc(past.payloads, func(p msg.Payload) bool { _, ok := p.(msg.Folders); return ok })
	w.agent, err = agent.New(agent.Config{
		Log: log, Provider: late{a}, Tools: toolbox{w}, Approver: w, Sink: w,
		Params: w.params, Past: past.events, Payloads: past.payloads,
		OnPanic: func(where string, v any, stack []byte) {
			w.diag.Error().Str("where", where).Bytes("stack", stack).Msgf("panic: %v", v)
		},
	})
	if err != nil {
		return nil, errors.Join(err, w.closeFiles())
	}
	return w, nil
}

// offered names the tools of a setting. A preset that this build does not
// have gives its tools all the same as names, so that New says which.
func offered(t config.Toolset) []string {
	if t.Preset == "" {
		return t.Tools
	}
	if names, ok := tools.Preset(t.Preset); ok {
		return names
	}
	return []string{t.Preset}
}

// Record appends to the log.
func (w *work) Record(p msg.Payload) error {
	_, err := w.log.Append(p)
	return err
}

// Run carries a turn out.
func (w *work) Run(ctx context.Context, t acp.Turn) (acp.Outcome, error) {
	w.turn = t
	defer w.app.trim.soon()
	var out agent.Outcome
	var err error
	if t.Command != nil {
		out, err = w.agent.Command(ctx, t.Prompt, func(ctx context.Context, d agent.Desk) error { return w.answer(ctx, d, *t.Command) })
	} else {
		out, err = w.agent.Run(ctx, t.Prompt)
	}
	return acp.Outcome{Stop: out.Stop, Usage: out.Usage}, err
}

// Close makes the log durable and frees the session.
func (w *work) Close() error {
	w.shell.Close()
	return errors.Join(w.log.Close(), w.closeFiles())
}

// Delta passes on to the running turn. The agent calls only while one runs.
func (w *work) Delta(d msg.Delta) { w.turn.Sink.Delta(d) }

// Event passes on to the running turn.
func (w *work) Event(e msg.Event) {
	if e.Type == (msg.TurnStart{}).EventType() {
		if p, err := msg.Decode(e); err == nil {
			w.group.Store(strconv.Itoa(p.(msg.TurnStart).Turn))
		}
		w.recordFolders()
	}
	w.turn.Sink.Event(e)
}

// recordFolders notes where a turn is done, unless all were done where the
// session began. A list of sessions tells it, so that one is opened there again.
func (w *work) recordFolders() {
	if w.setup.Cwd == w.log.Header().Cwd && len(w.setup.More) == 0 && !w.moved {
		return
	}
	if err := w.Record(msg.Folders{Cwd: w.setup.Cwd, More: w.setup.More}); err != nil {
		w.diag.Error().Err(err).Msg("the session's folders were not stored")
	}
}

// Approve passes on to the running turn.
func (w *work) Approve(ctx context.Context, use msg.ToolUse, n agent.Need) (agent.Verdict, error) {
	v, err := w.turn.Approver.Approve(ctx, use, n)
	if v.Asked {
		w.lookAgain()
	}
	return v, err
}

// params are asked before each model request.
func (w *work) params() agent.Params {
	chosen := w.turn.Choices()
	w.chooseTools(chosen.Options[optionToolset])
	w.hideAgain()
	w.lookAgain()
	p := agent.Params{
		System: w.system(), Model: chosen.Model, Effort: chosen.Effort, MaxTokens: w.cfg.MaxTokens, Route: w.cfg.Provider,
		Compact: chosen.Options[optionCompact] == word(true),
	}
	p.Window = model.Lookup(p.Model).Window
	if w.cfg.Provider == config.Scripted {
		p.Window = scriptedWindow
	}
	return p
}

// system writes the system prompt at the first turn and keeps it: a prompt
// that changes would cost the model service's cache. Only other tools make
// another prompt.
func (w *work) system() string {
	specs := w.tools().Specs()
	w.promptMu.Lock()
	defer w.promptMu.Unlock()
	if w.prompt.Cwd == "" {
		w.prompt = agent.PromptFacts{
			Cwd: w.setup.Cwd, Folders: w.setup.More,
			Platform: runtime.GOOS + "/" + runtime.GOARCH,
			Date:     w.app.opts.Now().Format("2006-01-02"),
			RulesMax: int(w.cfg.SystemPromptMaxBytes),
		}
		if w.prompt.RulesMax == 0 {
			w.prompt.RulesMax = -1 // the prompt's 0 is its default, the setting's is none
		}
		w.prompt.RulesName, w.prompt.Rules = w.rules()
	}
	same := func(a, b msg.ToolSpec) bool { return a.Name == b.Name }
	if w.promptIs == "" || !slices.EqualFunc(specs, w.prompt.Tools, same) {
		w.prompt.Tools = specs
		w.promptIs = agent.SystemPrompt(w.prompt)
	}
	return w.promptIs
}

// rules reads the project's file for agents.
func (w *work) rules() (name, text string) {
	for _, name := range []string{"AGENTS.md", "CLAUDE.md"} {
		file, err := w.disk.Read(context.Background(), w.setup.Cwd+string(os.PathSeparator)+name)
		if err != nil {
			continue // none, or none that this session may read
		}
		doc, err := file.Doc()
		if err != nil {
			w.diag.Warn().Err(err).Msg("the project's instructions are not text")
			continue
		}
		return name, doc.Text()
	}
	return "", ""
}

// late finds the provider when a request is made: the key may have changed
// since the session began.
type late struct{ app *App }

func (l late) Stream(ctx context.Context, req model.Request, emit func(msg.Delta)) (model.Reply, error) {
	p, err := l.app.model()
	if err != nil {
		if errors.Is(err, acp.ErrAuthRequired) {
			return model.Reply{}, &model.Error{Kind: model.KindAuth, Text: err.Error(), Err: err}
		}
		return model.Reply{}, &model.Error{Kind: model.KindInvalid, Text: err.Error(), Err: err}
	}
	l.app.trim.soon() // the calls before this request are done
	return p.Stream(ctx, req, emit)
}

// toolbox offers the tools to the agent, which does not know them.
type toolbox struct{ work *work }

func (t toolbox) Specs() []msg.ToolSpec { return t.work.tools().Specs() }

func (t toolbox) Plan(ctx context.Context, use msg.ToolUse) (agent.Plan, *msg.ToolResult) {
	p, r := t.work.tools().Plan(ctx, use)
	if r != nil {
		return nil, r
	}
	turn, _ := t.work.group.Load().(string)
	return plan{p, fsbackend.Group{Turn: turn, Call: use.ID}}, nil
}

type plan struct {
	*tools.Plan
	group fsbackend.Group // of what it changes
}

// RunLive runs the plan on a stage.
func (p plan) RunLive(ctx context.Context, s agent.Stage) msg.ToolResult {
	return p.Plan.RunOn(fsbackend.WithGroup(ctx, p.group), stage{s, p.group.Call})
}

// A stage is the agent's, in the words of the tools.
type stage struct {
	agent.Stage
	call string
}

func (s stage) Running(seconds int) { s.Delta(msg.ToolRunning{CallID: s.call, Elapsed: seconds}) }
func (s stage) Output(text string)  { s.Delta(msg.ToolOutput{CallID: s.call, Text: text}) }
func (s stage) Terminal(id string)  { s.Delta(msg.ToolTerminal{CallID: s.call, TerminalID: id}) }

func (s stage) Delegate(ctx context.Context, task string, except ...string) (tools.Report, error) {
	r, err := s.Stage.Delegate(ctx, task, except...)
	return tools.Report{Text: r.Text, Tools: r.Tools, Calls: r.Calls}, err
}

// Need translates what a call does.
func (p plan) Need() agent.Need {
	n := p.Plan.Need
	return agent.Need{
		Access: access(n.Access), Paths: n.Paths, Outside: n.Outside, Reached: n.Reached,
		Command: n.Command, Rule: n.Rule, RuleExact: n.RuleExact,
		Preview: sync.OnceValue(p.Plan.Preview), Blind: n.Blind,
	}
}

func access(a tools.Access) agent.Access {
	switch a {
	case tools.Look:
		return agent.Look
	case tools.Change:
		return agent.Edit
	case tools.Execute:
		return agent.Execute
	case tools.Ask:
		return agent.Ask
	default:
		panic(fmt.Sprintf("app: no rule for access %d", a))
	}
}
