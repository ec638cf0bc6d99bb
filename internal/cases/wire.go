package cases

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"dsh-acp/internal/modelserver"
)

// patience is how long an expected message may take.
const patience = 15 * time.Second

// wire runs a case against the program, with a scripted model behind it.
type wire struct {
	*world
	command []string
	home    string // beside the world: settings, state
	model   *script
	server  *modelserver.Server

	programs  []*program // all that were started
	cur       int        // index of the one that steps are about; -1: none
	collected map[string][][]byte
	sizes     map[string]int64
	sessions  int // answers to session/new so far
	newIDs    map[string]bool
	peak      int // MB
}

func runWire(ctx context.Context, w *world, command []string, home string) (err error) {
	r := &wire{
		world: w, command: command, home: home, cur: -1,
		collected: map[string][][]byte{}, sizes: map[string]int64{}, newIDs: map[string]bool{},
	}
	r.model = &script{w: w}
	r.server, err = modelserver.New(modelserver.Options{
		Handler:      r.model.answer,
		Conversation: func(q modelserver.Request) bool { return q.Stream && len(q.Tools) > 0 },
	})
	if err != nil {
		return err
	}
	defer r.server.Close()
	defer func() {
		for _, p := range r.programs {
			p.kill()
		}
	}()
	if err := r.start(); err != nil {
		return err
	}
	for i, s := range w.c.steps() {
		if err := r.step(ctx, s); err != nil {
			return stepError(i, s, err)
		}
	}
	limit := graceful
	if ms := w.c.Expect.ExitWithinMS; ms > 0 {
		limit = time.Duration(ms) * time.Millisecond
	}
	for _, p := range r.programs {
		r.peak = max(r.peak, p.peakMB())
		if err := p.end(limit); err != nil {
			return err
		}
	}
	if most := w.c.Limits.MemoryMB; most > 0 && r.peak > most {
		return fmt.Errorf("the program used %d MB, more than %d", r.peak, most)
	}
	return w.expect(ctx, w.c.Expect, r.lastCall(), w.before, nil, r.expectMore, func(ctx context.Context, list []Step) error {
		for i, s := range list {
			if err := r.step(ctx, s); err != nil {
				return stepError(i, s, err)
			}
		}
		return nil
	})
}

// start runs one more program and makes it the current one.
func (r *wire) start() error {
	p, err := start(r.command, r.work, r.environ(), r.model.heard)
	if err != nil {
		return fmt.Errorf("starting the program: %w", err)
	}
	r.programs = append(r.programs, p)
	r.cur = len(r.programs) - 1
	return nil
}

// environ is this process's environment less what would reach the settings of
// the program, plus those of the case.
func (r *wire) environ() []string {
	var env []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		switch {
		case name == "HOME", name == "USERPROFILE", strings.HasPrefix(name, "DSH_"), strings.HasPrefix(name, "XDG_"),
			strings.HasPrefix(name, "ANTHROPIC_"), strings.HasPrefix(name, "OPENAI_"):
		default:
			env = append(env, kv)
		}
	}
	set := func(name, value string) { env = append(env, name+"="+value) }
	set("HOME", r.home)
	if runtime.GOOS == "windows" {
		set("USERPROFILE", r.home)
	}
	set("XDG_CONFIG_HOME", filepath.Join(r.home, "config"))
	set("DSH_STATE_DIR", r.stateDir())
	set("DSH_KEYRING", "never")
	set("ANTHROPIC_BASE_URL", r.server.URL())
	set("ANTHROPIC_API_KEY", "sk-case-bank")
	mode := "default"
	if r.c.Config.Permission == "allow" {
		mode = "bypassPermissions"
	}
	set("DSH_MODE", mode)
	if r.c.Config.OverwriteUnread == nil || *r.c.Config.OverwriteUnread {
		set("DSH_OVERWRITE_UNREAD", "true")
	}
	if r.c.Config.LogLevel != "" {
		set("DSH_LOG", r.c.Config.LogLevel)
	}
	return env
}

func (r *wire) stateDir() string { return filepath.Join(r.home, "state") }

func (r *wire) program(s Step) (*program, error) {
	i := r.cur
	switch name := strings.Trim(string(s.Agent), `"`); name {
	case "":
	case "1", "first":
		i = 0
	case "2", "second":
		i = 1
	default:
		return nil, fmt.Errorf("this runner knows no agent %q", name)
	}
	if i < 0 || i >= len(r.programs) {
		return nil, fmt.Errorf("no program runs")
	}
	return r.programs[i], nil
}

func (r *wire) step(ctx context.Context, s Step) error {
	switch s.Do {
	case "external":
		return r.external(ctx, s.Files, s.Shell)
	case "touch":
		return r.touch(s)
	case "sleep":
		return pause(ctx, s.MS)
	case "session_log":
		return r.sessionLog(s)
	case "restart_agent":
		if p, err := r.program(s); err == nil {
			r.peak = max(r.peak, p.peakMB())
			if err := p.end(graceful); err != nil {
				return err
			}
		}
		return r.start()
	case "second_agent":
		return r.second(ctx, s)
	}
	p, err := r.program(s)
	if err != nil {
		return err
	}
	switch s.Do {
	case "send", "send_chunked":
		data, err := r.message(s.Message)
		if err != nil {
			return err
		}
		return p.send(append(data, '\n'), s.BytesPerChunk)
	case "send_raw":
		data, err := r.rawBytes(s)
		if err != nil {
			return err
		}
		return p.send(data, s.BytesPerChunk)
	case "reply", "reply_error":
		return r.reply(p, s)
	case "expect":
		return r.expectMessage(ctx, p, s)
	case "expect_raw":
		return r.expectRaw(ctx, p, s)
	case "expect_none":
		return r.expectNone(ctx, p, s)
	case "collect_until":
		return r.collect(ctx, p, s)
	case "close_stdin":
		return p.in.Close()
	case "kill_agent":
		r.peak = max(r.peak, p.peakMB())
		p.kill()
		return nil
	case "read_slowly":
		return r.readSlowly(p, s)
	}
	return fmt.Errorf("this runner knows no step %q for a program", s.Do)
}

// second starts another program beside the first. Its steps, if it brings
// some, are about it; without them all that follow are.
func (r *wire) second(ctx context.Context, s Step) error {
	first := r.cur
	if err := r.start(); err != nil {
		return err
	}
	if len(s.Steps) == 0 {
		return nil
	}
	for i, inner := range s.Steps {
		if err := r.step(ctx, inner); err != nil {
			return stepError(i, inner, err)
		}
	}
	r.cur = first
	return nil
}

func (r *wire) readSlowly(p *program, s Step) error {
	rate := s.BytesPerSec
	if rate <= 0 {
		rate = 64 << 10
	}
	p.pace.Store(int64(rate))
	if s.MS > 0 {
		time.AfterFunc(time.Duration(s.MS)*time.Millisecond, func() { p.pace.Store(0) })
	}
	return nil
}

// message makes the text of a message to send.
func (r *wire) message(raw json.RawMessage) ([]byte, error) {
	raw, err := expandValue(raw)
	if err != nil {
		return nil, fmt.Errorf("message: %w", err)
	}
	if raw, err = r.substitute(raw); err != nil {
		return nil, fmt.Errorf("message: %w", err)
	}
	var one bytes.Buffer
	if err := json.Compact(&one, raw); err != nil {
		return nil, fmt.Errorf("message: %w", err)
	}
	r.noteNew(one.Bytes())
	return one.Bytes(), nil
}

// noteNew remembers the ids of requests for new sessions.
func (r *wire) noteNew(raw []byte) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if json.Unmarshal(raw, &m) == nil && m.Method == "session/new" {
		r.newIDs[string(m.ID)] = true
	}
}

func (r *wire) rawBytes(s Step) ([]byte, error) {
	switch {
	case s.Base64 != nil:
		return base64.StdEncoding.DecodeString(*s.Base64)
	case s.Text != nil:
		v, err := r.fillString(*s.Text)
		if err != nil {
			return nil, err
		}
		text, ok := v.(string)
		if !ok {
			return nil, fmt.Errorf("send_raw: the text is only a placeholder")
		}
		return []byte(text), nil
	}
	return nil, fmt.Errorf("send_raw: neither text nor base64")
}

func (r *wire) reply(p *program, s Step) error {
	id, err := marshal(s.To)
	if err != nil {
		return err
	}
	member, body := "result", s.Result
	if s.Do == "reply_error" {
		member, body = "error", s.Error
	}
	m, err := marshal(map[string]json.RawMessage{"jsonrpc": json.RawMessage(`"2.0"`), "id": id, member: body})
	if err != nil {
		return err
	}
	if m, err = r.substitute(m); err != nil {
		return err
	}
	return p.send(append(m, '\n'), 0)
}
