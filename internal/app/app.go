// Package app joins the parts: settings, model, session log, files, tools,
// agent and protocol. It is the only place where they meet, and decides
// nothing that one of them could decide alone.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"dsh-acp/acp"
	"dsh-acp/fsbackend"
	"dsh-acp/internal/config"
	"dsh-acp/internal/eventlog"
	"dsh-acp/internal/model"
	"dsh-acp/internal/msg"
)

// Name is what the agent calls itself to clients.
const Name = "dsh-acp"

// Options say where an [App] takes things from. The zero value is the
// process's own environment.
type Options struct {
	Source  config.Source
	Version string // of the program, told to clients
	// Login is the command line that asks for a key in a terminal.
	Login []string
	// Stderr gets diagnostics; nil drops them.
	Stderr io.Writer
	// Provider, if not nil, answers in place of the model of the settings,
	// and no key is asked for.
	Provider model.Provider
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// An App holds what all sessions of a process share. It reads settings when
// they are first needed, so that making one costs nothing.
type App struct {
	opts  Options
	diag  *diagnostics
	log   zerolog.Logger
	locks fsbackend.Locks
	trim  trimmer

	load    sync.Once
	cfg     config.Config
	cfgErr  error
	keyOnce sync.Once
	keys    config.Keys

	mu       sync.Mutex
	provider model.Provider // guarded by mu; nil until a session needs it
}

// New makes an App. It does no I/O.
func New(opts Options) *App {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	a := &App{opts: opts, diag: newDiagnostics(opts.Stderr)}
	a.log = a.diag.logger()
	return a
}

// Serve speaks the protocol over in and out until in ends or ctx does. The
// error is one of writing to out.
func (a *App) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	defer a.diag.close()
	return acp.Serve(ctx, acp.Config{
		Name: Name, Title: "DSH", Version: a.opts.Version,
		Sessions: sessions{a}, Account: account{a}, Tools: presenters(),
		Log: a.log, Now: a.opts.Now, Login: a.opts.Login,
	}, in, out)
}

// Config returns the settings, loaded once.
func (a *App) Config() (config.Config, error) {
	a.load.Do(func() {
		a.cfg, a.cfgErr = config.Load(a.opts.Source)
		if err := a.diag.configure(a.cfg.LogLevel, a.cfg.LogFile); err != nil {
			a.log.Warn().Err(err).Msg("the log file cannot be written; diagnostics go to standard error only")
		}
		if a.cfgErr != nil {
			a.log.Error().Err(a.cfgErr).Msg("bad settings")
		}
	})
	return a.cfg, a.cfgErr
}

// Keys returns the key store that the settings name.
func (a *App) Keys() config.Keys {
	a.keyOnce.Do(func() {
		cfg, _ := a.Config() // a bad setting leaves its default in force
		a.keys = cfg.Keys()
	})
	return a.keys
}

// account is the user's access to the model, for the protocol.
type account struct{ app *App }

func (k account) Check(context.Context) error {
	_, err := k.app.model()
	return err
}

func (k account) Logout(context.Context) error {
	cfg, err := k.app.Config()
	if err != nil {
		return err
	}
	if err := k.app.Keys().Delete(cfg.Provider); err != nil {
		return err
	}
	k.app.forgetProvider()
	return nil
}

// model returns the provider, made anew when the key has changed: the user
// may log in by another process while this one runs.
func (a *App) model() (model.Provider, error) {
	if a.opts.Provider != nil {
		return a.opts.Provider, nil
	}
	cfg, err := a.Config()
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.provider != nil {
		return a.provider, nil
	}
	cred, err := cfg.Credential(a.opts.Source, a.Keys())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", acp.ErrAuthRequired, err)
	}
	a.provider, err = newProvider(cfg, cred)
	return a.provider, err
}

func (a *App) forgetProvider() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.provider = nil
}

// sessions keeps session logs, for the protocol.
type sessions struct{ app *App }

// logDir is the folder of session logs.
func logDir(cfg config.Config) string { return filepath.Join(cfg.StateDir, "sessions") }

func (s sessions) Create(_ context.Context, setup acp.Setup) (*acp.Opened, error) {
	cfg, err := s.app.configFor(setup)
	if err != nil {
		return nil, err
	}
	if err := checkFolders(setup); err != nil {
		return nil, err
	}
	log, err := eventlog.Create(logDir(cfg), eventlog.Header{Cwd: setup.Cwd}, s.logOptions())
	if err != nil {
		return nil, fmt.Errorf("session log: %w", err)
	}
	return s.open(cfg, log, setup, past{})
}

func (s sessions) Open(_ context.Context, id string, setup acp.Setup) (*acp.Opened, error) {
	cfg, err := s.app.configFor(setup)
	if err != nil {
		return nil, err
	}
	if err := checkFolders(setup); err != nil {
		return nil, err
	}
	log, stored, err := eventlog.Open(logDir(cfg), id, s.logOptions())
	if err != nil {
		return nil, err
	}
	if stored.Torn != nil {
		s.app.log.Warn().Str("session", id).Msg(stored.Torn.String())
	}
	return s.resume(cfg, log, setup, stored)
}

// resume closes what was left open in a log and makes the session's work. It
// takes the log over.
func (s sessions) resume(cfg config.Config, log *eventlog.Log, setup acp.Setup, stored eventlog.Session) (*acp.Opened, error) {
	closers, err := log.Resume()
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	payloads, err := eventlog.Payloads(closers)
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return s.open(cfg, log, setup, past{append(stored.Events, closers...), append(stored.Payloads, payloads...)})
}

func (s sessions) logOptions() eventlog.Options {
	return eventlog.Options{
		Now:    s.app.opts.Now,
		Report: func(err error) { s.app.log.Error().Err(err).Msg("session log") },
		OnSync: s.app.synced("session log"),
	}
}

// past is what the log of a session holds: its events, and the payload of each.
type past struct {
	events   []msg.Event
	payloads []msg.Payload
}

// open makes the work of a session whose log is open. It takes the log over.
func (s sessions) open(cfg config.Config, log *eventlog.Log, setup acp.Setup, past past) (*acp.Opened, error) {
	defer s.app.trim.soon()
	w, err := s.app.newWork(cfg, log, setup, past)
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	kept, err := projectOf(cfg, setup.Cwd)
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	choices, current := models(cfg)
	return &acp.Opened{
		ID: log.Header().ID, History: past.events, Payloads: past.payloads, Mode: cfg.Mode,
		Models: choices, Model: current, Work: w,
		CardTextMax: int(cfg.Diff.CardTextMaxBytes),
		Effort:      cfg.Effort, Options: options(cfg), Commands: commands, Title: w.titler(), Kept: kept,
	}, nil
}

func (s sessions) List(context.Context) ([]acp.SessionInfo, error) {
	cfg, err := s.app.Config()
	if err != nil {
		return nil, err
	}
	found, err := eventlog.List(logDir(cfg))
	if err != nil {
		return nil, err
	}
	var out []acp.SessionInfo
	for _, f := range found {
		switch {
		case f.Err != nil:
			s.app.log.Warn().Str("session", f.ID).Err(f.Err).Msg("left out of the list")
		case f.Empty:
			// Nothing was said in it; a client would show a row without a name.
		default:
			out = append(out, acp.SessionInfo{ID: f.ID, Cwd: f.Cwd, More: f.More, Title: f.Title, UpdatedAt: time.UnixMilli(f.UpdatedAt)})
		}
	}
	return out, nil
}

func (s sessions) Delete(_ context.Context, id string) error {
	cfg, err := s.app.Config()
	if err != nil {
		return err
	}
	if err := eventlog.Delete(logDir(cfg), id); err != nil {
		return err
	}
	return os.RemoveAll(versionDir(cfg, id))
}

// checkFolders says early, and in the client's words, what would else fail at
// the first tool call.
func checkFolders(setup acp.Setup) error {
	for _, dir := range append([]string{setup.Cwd}, setup.More...) {
		info, err := os.Stat(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return &acp.ParamsError{Text: fmt.Sprintf("there is no folder %s", dir)}
		case err != nil:
			return &acp.ParamsError{Text: err.Error()}
		case !info.IsDir():
			return &acp.ParamsError{Text: fmt.Sprintf("%s is not a folder", dir)}
		}
	}
	return nil
}
