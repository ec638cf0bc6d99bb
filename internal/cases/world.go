package cases

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"dsh-acp/internal/msg"
)

// A world is the folder in which one run of a case happens: top is all of it,
// work the workspace in it.
type world struct {
	c         Case
	top, work string
	root      string // what the tools get; "" for none
	vars      map[string]json.RawMessage
	before    snapshot // after the files were laid
	// more fills in placeholders that only a running case knows; nil has none.
	more func(s string) (string, error)
}

func newWorld(c Case, top string) (*world, error) {
	// Temporary folders are links on some systems; paths in answers are real.
	real, err := filepath.EvalSymlinks(top)
	if err != nil {
		return nil, err
	}
	w := &world{c: c, top: real, work: filepath.Join(real, "work"), vars: map[string]json.RawMessage{}}
	if err := os.MkdirAll(w.work, 0o755); err != nil {
		return nil, err
	}
	if err := lay(w.work, c.Files); err != nil {
		return nil, err
	}
	w.root = w.work
	if c.Config.Root != nil {
		var rel *string
		if err := json.Unmarshal(c.Config.Root, &rel); err != nil {
			return nil, fmt.Errorf("config.root: %w", err)
		}
		w.root = ""
		if rel != nil {
			w.root = join(w.work, *rel)
		}
	}
	for name, value := range map[string]string{"root": w.rootOrWork(), "work": w.work} {
		raw, err := marshal(value)
		if err != nil {
			return nil, err
		}
		w.vars[name] = raw
	}
	w.before, err = take(w.top)
	return w, err
}

func (w *world) rootOrWork() string {
	if w.root == "" {
		return w.work
	}
	return w.root
}

// external is another program that changes files.
func (w *world) external(ctx context.Context, files map[string]File, shell string) error {
	if err := lay(w.work, files); err != nil {
		return err
	}
	if shell == "" {
		return nil
	}
	_, err := w.shell(ctx, shell)
	return err
}

func (w *world) shell(ctx context.Context, script string) (string, error) {
	cmd := exec.CommandContext(ctx, "sh", "-c", expandRoot(script, w.work))
	cmd.Dir = w.rootOrWork()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("shell %q: %w: %s", script, err, out)
	}
	return string(out), nil
}

func (w *world) touch(s Step) error {
	path := join(w.work, s.Path)
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	at := info.ModTime().Add(time.Duration(s.OffsetSeconds * float64(time.Second)))
	return os.Chtimes(path, at, at)
}

// marshal writes JSON without escaping what need not be.
func marshal(v any) (json.RawMessage, error) { return msg.Marshal(v) }
