package cases

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/guard"
	"dsh-acp/internal/msg"
	"dsh-acp/presenter"
	"dsh-acp/tools"
	"dsh-acp/tools/fs"
)

// direct runs a case against the tools in this process.
type direct struct {
	*world
	set    *tools.Set
	faults *fsbackend.Faults

	mu       sync.Mutex
	outcomes map[string]outcome // guarded by mu; by id of the step
	last     outcome            // guarded by mu
}

func runDirect(ctx context.Context, w *world) error {
	faults, err := w.arm(ctx)
	if err != nil {
		return err
	}
	files, closeFiles, err := w.openFiles(faults)
	if err != nil {
		return err
	}
	defer closeFiles()
	allow := w.c.Config.OverwriteUnread
	set, err := tools.New(tools.Config{
		Cwd: w.rootOrWork(), Files: files, Offer: []string{"read", "write", "edit", "apply_patch", "fs_read", "fs_write", "fs_edit", "fs_rollback"},
		OverwriteUnread: allow == nil || *allow, Hashline: tools.HashlineConfig{Parser: fs.Trees()},
	})
	if err != nil {
		return err
	}
	d := &direct{world: w, set: set, faults: faults, outcomes: map[string]outcome{}}
	w.more = d.fillTags
	for i, s := range w.c.steps() {
		if err := d.step(ctx, s); err != nil {
			return stepError(i, s, err)
		}
	}
	return d.expect(ctx, w.c.Expect, d.last, w.before)
}

// openFiles opens the workspace under the lists of the case. Earlier versions
// are kept beside the folder of the case.
func (w *world) openFiles(faults *fsbackend.Faults) (fsbackend.Backend, func(), error) {
	opt := fsbackend.Options{Faults: faults} // without a root every path is denied
	if info, err := os.Stat(w.root); w.root != "" && err == nil && info.IsDir() {
		opt.Roots = []string{w.root}
	}
	list := func(l *[]string) []string {
		if l == nil {
			return nil
		}
		out := make([]string, len(*l))
		for i, entry := range *l {
			out[i] = expandRoot(entry, w.rootOrWork())
		}
		return out
	}
	c := w.c.Config
	policy, err := guard.New(guard.Config{
		Root: w.root, Allow: list(c.Allowlist), Block: list(c.Blocklist), ReadAllow: list(c.ReadAllowlist), ReadBlock: list(c.ReadBlocklist),
		Style: guard.Style{Windows: runtime.GOOS == "windows", Fold: fsbackend.FoldsCase(w.work)},
	})
	if err != nil {
		return nil, nil, err
	}
	local, err := fsbackend.NewLocal(opt)
	if err != nil {
		return nil, nil, err
	}
	kept, err := fsbackend.OpenJournal(fsbackend.JournalOptions{Dir: filepath.Join(filepath.Dir(w.top), "versions"), Tag: fs.TagOf})
	if err != nil {
		return nil, nil, errors.Join(err, local.Close())
	}
	return kept.Over(fsbackend.Restrict(local, fsbackend.Limits{Policy: policy})), func() {
		kept.Close()
		local.Close()
	}, nil
}

func stepError(i int, s Step, err error) error {
	name := s.Do
	if s.ID != "" {
		name += " " + s.ID
	}
	return fmt.Errorf("step %d (%s): %w", i+1, name, err)
}

func (d *direct) step(ctx context.Context, s Step) error {
	switch s.Do {
	case "call", "call_raw":
		before, err := take(d.top)
		if err != nil {
			return err
		}
		got, err := d.call(ctx, s, before)
		if err != nil {
			return err
		}
		return d.expectStep(ctx, s, got, before)
	case "parallel":
		return d.parallel(ctx, s.Calls)
	case "external":
		return d.external(ctx, s.Files, s.Shell)
	case "touch":
		return d.touch(s)
	case "clear_faults":
		d.faults.Clear()
		return nil
	case "sleep":
		return pause(ctx, s.MS)
	case "maybe":
		return fmt.Errorf("maybe must have been resolved before")
	}
	return fmt.Errorf("this runner knows no step %q for tools", s.Do)
}

// expectStep checks what a step itself expects.
func (d *direct) expectStep(ctx context.Context, s Step, got outcome, before snapshot) error {
	if s.Expect == nil {
		return nil
	}
	var e Expect
	if err := strict(*s.Expect, &e); err != nil {
		return fmt.Errorf("expect: %w", err)
	}
	return d.expect(ctx, e, got, before)
}

func (d *direct) parallel(ctx context.Context, calls []Step) error {
	before, err := take(d.top)
	if err != nil {
		return err
	}
	got := make([]outcome, len(calls))
	errs := make([]error, len(calls))
	start := make(chan struct{})
	var all sync.WaitGroup
	for i, s := range calls {
		all.Go(func() {
			<-start
			got[i], errs[i] = d.call(ctx, s, before)
		})
	}
	close(start)
	all.Wait()
	for i, s := range calls {
		if errs[i] == nil {
			errs[i] = d.expectStep(ctx, s, got[i], before)
		}
		if errs[i] != nil {
			return fmt.Errorf("call %s: %w", s.ID, errs[i])
		}
	}
	return nil
}

// call makes one call and keeps what came of it.
func (d *direct) call(ctx context.Context, s Step, before snapshot) (outcome, error) {
	raw := s.ArgsJSON
	if raw == "" {
		args, err := expandValue(s.Args)
		if err != nil {
			return outcome{}, fmt.Errorf("args: %w", err)
		}
		if args, err = d.substitute(args); err != nil {
			return outcome{}, err
		}
		raw = string(args)
	}
	t := d.c.targets()[toolForm(s.Tool, json.RawMessage(raw))]
	var got outcome
	var err error
	if t.name == "diff.hunks" {
		got, err = hunks(raw)
	} else {
		if t.reshape != nil {
			raw = t.reshape(raw)
		}
		got, err = d.runTool(ctx, t, renameMembers(raw, t.rename))
	}
	if err != nil {
		return outcome{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	got.before = before
	d.outcomes[s.ID], d.last = got, got
	return got, nil
}

func (d *direct) runTool(ctx context.Context, t target, args string) (outcome, error) {
	use := msg.ToolUse{ID: "call", Name: t.name, Input: args}
	var result msg.ToolResult
	plan, refused := d.set.Plan(ctx, use)
	if refused != nil {
		result = *refused
	} else {
		result = plan.Run(ctx)
	}
	got := outcome{text: result.Content.PlainText(), isError: result.IsError}
	if result.Error != nil {
		got.code, got.details = result.Error.Code, result.Error.Details
	}
	var meta struct{ ReplacedHash string }
	_ = json.Unmarshal(result.Meta, &meta) // other tools have none
	got.replaced = meta.ReplacedHash
	return got, got.draw(d.rootOrWork(), use, result)
}

// outcome is what came of a call.
type outcome struct {
	text    string // for the model
	isError bool
	code    string
	// codeless says that a client saw the failure, which is not told codes.
	codeless bool
	details  json.RawMessage

	status  string // of the call, as a client holds it at the end
	content []json.RawMessage
	diffs   []wireDiff
	hunks   []json.RawMessage
	read    *presenter.Read

	before   snapshot // the folder before the call
	replaced string   // the version that a rollback replaced, as it names it
}

// A wireDiff is a diff block as it is sent.
type wireDiff struct {
	Path    string  `json:"path"`
	OldText *string `json:"oldText"`
	NewText string  `json:"newText"`
}

// draw fills in what a client is shown: by the same way as in a session, from
// the events of the call.
func (o *outcome) draw(cwd string, use msg.ToolUse, result msg.ToolResult) error {
	p := presenter.New(presenter.Config{Cwd: cwd, Tools: tools.Presenters()})
	var client presenter.Client
	for i, payload := range []msg.Payload{
		msg.AssistantMessage{Message: msg.Assistant{ID: "m", Role: "assistant", Content: msg.Blocks{use}}},
		msg.ToolReturned{
			Message: msg.ToolMessage{Role: "tool", CallID: use.ID, Content: result.Content, IsError: result.IsError},
			Error:   result.Error, Meta: result.Meta,
		},
	} {
		data, err := marshal(payload)
		if err != nil {
			return err
		}
		for _, u := range p.Event(msg.Event{Type: payload.EventType(), Seq: int64(i), Data: data}) {
			raw, err := marshal(u)
			if err != nil {
				return err
			}
			if err := client.Apply(raw); err != nil {
				return err
			}
		}
	}
	call := client.Call(use.ID)
	if call == nil {
		return fmt.Errorf("no tool call was shown")
	}
	o.status, o.content = call.Status, call.Content
	o.diffs = diffBlocks(call.Content)
	if card, ok := tools.Presenters()[use.Name].Result(json.RawMessage(use.Input), result).(presenter.Read); ok {
		o.read = &card
	}
	return nil
}

// diffBlocks takes the diff blocks out of a call's content.
func diffBlocks(content []json.RawMessage) []wireDiff {
	out := []wireDiff{}
	for _, raw := range content {
		var block struct {
			Type string `json:"type"`
			wireDiff
		}
		if json.Unmarshal(raw, &block) == nil && block.Type == "diff" {
			out = append(out, block.wireDiff)
		}
	}
	return out
}

// hunks is the function that makes hunks, called by itself.
func hunks(raw string) (outcome, error) {
	args := struct {
		Before, After string
		Context       *int
	}{}
	if err := json.Unmarshal([]byte(raw), &args); err != nil {
		return outcome{}, err
	}
	context := 3
	if args.Context != nil {
		context = *args.Context
	}
	got := outcome{hunks: []json.RawMessage{}, diffs: []wireDiff{}}
	for _, h := range presenter.LineHunks(args.Before, args.After, context) {
		raw, err := marshal(h)
		if err != nil {
			return outcome{}, err
		}
		got.hunks = append(got.hunks, raw)
	}
	for _, d := range presenter.Hunks("", args.Before, args.After) {
		got.diffs = append(got.diffs, wireDiff{Path: d.Path, OldText: d.OldText, NewText: d.NewText})
	}
	return got, nil
}

// osNeeds tells whether this machine has what a case needs; the reason is ""
// if it has.
func osNeeds(needs []string, dir string) (string, error) {
	for _, n := range needs {
		ok, err := have(n, dir)
		if err != nil {
			return "", err
		}
		if !ok {
			return "needs " + n, nil
		}
	}
	return "", nil
}

func have(need, dir string) (bool, error) {
	probe := dir + string(os.PathSeparator) + "probe"
	if err := os.WriteFile(probe, nil, 0o644); err != nil {
		return false, err
	}
	defer os.Remove(probe)
	switch need {
	case "hardlink":
		err := os.Link(probe, probe+"2")
		os.Remove(probe + "2")
		return err == nil, nil
	case "fifo":
		err := makeFIFO(probe + "2")
		os.Remove(probe + "2")
		return err == nil, nil
	case "non_root":
		return os.Geteuid() != 0, nil
	case "case_insensitive_fs":
		_, err := os.Stat(dir + string(os.PathSeparator) + "PROBE")
		return err == nil, nil
	case "xattr":
		return setXattr(probe) == nil, nil
	}
	return false, fmt.Errorf("this runner knows no need %q", need)
}
