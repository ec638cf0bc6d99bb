package cases

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// within gives a wait the time that a step allows.
func within(ctx context.Context, s Step) (context.Context, context.CancelFunc) {
	limit := patience
	if s.WithinMS > 0 {
		limit = time.Duration(s.WithinMS) * time.Millisecond
	}
	return context.WithTimeout(ctx, limit)
}

// take returns the program's next message and learns from it.
func (r *wire) take(ctx context.Context, p *program) ([]byte, error) {
	line, err := p.take(ctx)
	if err == nil {
		r.learn(line)
	}
	return line, err
}

// learn binds the options of a permission question by their kind, and counts
// the sessions that were given out.
func (r *wire) learn(line []byte) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Result json.RawMessage `json:"result"`
		Params struct {
			Options []struct {
				OptionID json.RawMessage `json:"optionId"`
				Kind     string          `json:"kind"`
			} `json:"options"`
		} `json:"params"`
	}
	if json.Unmarshal(line, &m) != nil {
		return // the case will say what it thinks of this line
	}
	if m.Method == "" && m.Result != nil && r.newIDs[string(m.ID)] {
		r.sessions++
		delete(r.newIDs, string(m.ID))
	}
	if m.Method == "session/request_permission" {
		for _, o := range m.Params.Options {
			r.vars[o.Kind] = o.OptionID
		}
	}
}

// expectMessage takes messages up to the one that has the pattern.
func (r *wire) expectMessage(ctx context.Context, p *program, s Step) error {
	patterns, err := r.patterns(s.Message, s.OrMessage)
	if err != nil {
		return err
	}
	line, _, err := r.until(ctx, p, s, patterns)
	if err != nil {
		return err
	}
	for name, path := range s.Bind {
		value, err := lookup(line, path)
		if err != nil {
			return fmt.Errorf("bind: %w", err)
		}
		r.vars[name] = value
	}
	return nil
}

func (r *wire) patterns(raws ...json.RawMessage) ([]json.RawMessage, error) {
	var out []json.RawMessage
	for _, raw := range raws {
		if raw == nil {
			continue
		}
		raw, err := expandValue(raw)
		if err != nil {
			return nil, err
		}
		if raw, err = r.substitute(raw); err != nil {
			return nil, err
		}
		out = append(out, raw)
	}
	return out, nil
}

// until takes messages up to one that has any of the patterns, and returns it
// and those before it.
func (r *wire) until(ctx context.Context, p *program, s Step, patterns []json.RawMessage) (found []byte, passed [][]byte, err error) {
	ctx, cancel := within(ctx, s)
	defer cancel()
	var near error
	for {
		line, err := r.take(ctx, p)
		if err != nil {
			err = fmt.Errorf("no message like %s: %w", brief(string(patterns[0])), errorOf(err, p))
			if near != nil {
				err = fmt.Errorf("%w; the last one differs: %w", err, near)
			}
			return nil, passed, err
		}
		for _, pattern := range patterns {
			if near = match(pattern, line); near == nil {
				return line, passed, nil
			}
		}
		near = fmt.Errorf("%w in %s", near, brief(string(line)))
		passed = append(passed, line)
	}
}

func (r *wire) expectRaw(ctx context.Context, p *program, s Step) error {
	ctx, cancel := within(ctx, s)
	defer cancel()
	for {
		line, err := r.take(ctx, p)
		if err != nil {
			return fmt.Errorf("no line with %q: %w", s.Contains, errorOf(err, p))
		}
		if strings.Contains(string(line), s.Contains) {
			return nil
		}
	}
}

// expectNone waits, and leaves what arrives to later steps.
func (r *wire) expectNone(ctx context.Context, p *program, s Step) error {
	patterns, err := r.patterns(s.Message)
	if err != nil {
		return err
	}
	wait, cancel := within(ctx, s)
	defer cancel()
	for at := p.position(); ; at++ {
		line, err := p.peek(wait, at)
		if errors.Is(err, errOver) || errors.Is(err, context.DeadlineExceeded) {
			return ctx.Err()
		}
		if err != nil {
			return err
		}
		if match(patterns[0], line) == nil {
			return fmt.Errorf("must not send a message like %s, sent %s", patterns[0], brief(string(line)))
		}
	}
}

func (r *wire) collect(ctx context.Context, p *program, s Step) error {
	patterns, err := r.patterns(s.Message)
	if err != nil {
		return err
	}
	line, passed, err := r.until(ctx, p, s, patterns)
	if err != nil {
		return err
	}
	r.collected[s.As] = append(passed, line)
	return nil
}

// logPath finds the stored log of a session.
func (r *wire) logPath(session string) (string, error) {
	name, err := r.fillString(session)
	if err != nil {
		return "", err
	}
	logs, err := r.logs()
	if err != nil {
		return "", err
	}
	for _, path := range logs {
		if filepath.Base(path) == fmt.Sprint(name)+".jsonl" {
			return path, nil
		}
	}
	return "", fmt.Errorf("no log of session %v is stored below %s", name, r.stateDir())
}

// sessionLog damages a stored log, or remembers its size.
func (r *wire) sessionLog(s Step) error {
	path, err := r.logPath(s.Session)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	switch {
	case s.RememberSize != "":
		r.sizes[s.RememberSize] = int64(len(data))
		return nil
	case s.TruncateTailBytes > 0:
		if s.TruncateTailBytes >= len(data) {
			return fmt.Errorf("the log has only %d bytes", len(data))
		}
		data = data[:len(data)-s.TruncateTailBytes]
	case s.InsertBytes != nil:
		at := 0
		for range s.InsertBytes.AfterRecord + 1 { // the first line is the header
			i := strings.IndexByte(string(data[at:]), '\n')
			if i < 0 {
				return fmt.Errorf("the log has fewer than %d records", s.InsertBytes.AfterRecord)
			}
			at += i + 1
		}
		data = append(append(append([]byte{}, data[:at]...), s.InsertBytes.bytes()...), data[at:]...)
	case s.AppendBytes != nil:
		data = append(data, s.AppendBytes.bytes()...)
	default:
		return fmt.Errorf("session_log: nothing to do that this runner knows")
	}
	return os.WriteFile(path, data, 0o600)
}
