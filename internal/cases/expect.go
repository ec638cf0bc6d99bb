package cases

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
)

// expect checks what came of a call, or of the whole case.
func (d *direct) expect(ctx context.Context, e Expect, got outcome, before snapshot) error {
	e, err := d.fillExpect(e)
	if err != nil {
		return err
	}
	return d.world.expect(ctx, e, got, before, d.outcomes, d.more, func(ctx context.Context, list []Step) error {
		for i, s := range list {
			if err := d.step(ctx, s); err != nil {
				return stepError(i, s, err)
			}
		}
		return nil
	})
}

// more refuses what only a program has.
func (d *direct) more(_ context.Context, e Expect) error {
	if e.Collected != nil || e.ModelSaw != nil || e.Stdout != "" || e.StderrSays != nil || e.ExitCode != nil ||
		e.ExitWithinMS != 0 || e.SessionLog != nil || e.SessionStore != "" {
		return fmt.Errorf("the case expects something of a program, but only calls tools")
	}
	return nil
}

// expect checks the members that all cases may have, then more the others.
func (w *world) expect(ctx context.Context, e Expect, got outcome, before snapshot, earlier map[string]outcome,
	more func(context.Context, Expect) error, run func(context.Context, []Step) error,
) error {
	if len(e.AnyOf) > 0 {
		var errs []error
		for i, branch := range e.AnyOf {
			err := w.expect(ctx, branch, got, before, earlier, more, run)
			if err == nil {
				errs = nil
				if err = run(ctx, branch.Then); err != nil {
					return fmt.Errorf("then of branch %d: %w", i+1, err)
				}
				break
			}
			errs = append(errs, fmt.Errorf("branch %d: %w", i+1, err))
		}
		if errs != nil {
			return fmt.Errorf("none of any_of holds: %w", errors.Join(errs...))
		}
	}
	if e.Error != nil {
		if err := checkError(*e.Error, got); err != nil {
			return err
		}
	} else if got.isError && e.wantsSuccess() {
		return fmt.Errorf("must succeed, but failed with %s: %s", got.code, got.text)
	}
	if e.Details != nil {
		if err := checkDetails(e.Details, got); err != nil {
			return err
		}
	}
	if err := w.checkFiles(e, before); err != nil {
		return err
	}
	for _, check := range []func() error{
		func() error { return w.checkSays(e, got) },
		func() error { return w.checkDiffs(e, got) },
		func() error { return checkHunks(e, got) },
		func() error { return checkRead(e, got) },
		func() error { return checkACP(e, got) },
		func() error { return checkSame(e, got, earlier) },
		func() error { return w.checkShell(ctx, e) },
		func() error { return more(ctx, e) },
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// wantsSuccess reports whether e can only hold after a call that succeeded.
func (e Expect) wantsSuccess() bool {
	return e.Hunks != nil || e.Read != nil || e.ResultSays != nil || e.Diffs != nil && len(*e.Diffs) > 0
}

func (w *world) checkFiles(e Expect, before snapshot) error {
	switch {
	case e.Files != nil:
		// Against the start of the case: what earlier steps changed is named.
		return compare(w.top, w.work, w.before, e.Files)
	case e.Error != nil:
		return compare(w.top, w.work, before, nil)
	}
	return nil
}

func (w *world) checkSays(e Expect, got outcome) error {
	for _, s := range e.ResultSays {
		if !saysFolded(got.text, s) {
			return fmt.Errorf("the result must say %q: %s", s, got.text)
		}
	}
	for _, s := range e.ResultNotSays {
		if saysFolded(got.text, expandRoot(s, w.work)) {
			return fmt.Errorf("the result must not say %q: %s", s, got.text)
		}
	}
	return nil
}

func (w *world) checkDiffs(e Expect, got outcome) error {
	if e.Diffs != nil {
		if len(*e.Diffs) != len(got.diffs) {
			return fmt.Errorf("must have %d diff blocks, has %d: %s", len(*e.Diffs), len(got.diffs), encode(got.diffs))
		}
		for i, want := range *e.Diffs {
			have := got.diffs[i]
			if want.Path != "" && !filepath.IsAbs(have.Path) {
				return fmt.Errorf("diff block %d: the path %s is not absolute", i+1, have.Path)
			}
			if want.Path != "" && join(w.work, want.Path) != filepath.Clean(have.Path) {
				return fmt.Errorf("diff block %d: must be of %s, is of %s", i+1, want.Path, have.Path)
			}
			if !reflect.DeepEqual(plainDiff(want.OldText, want.NewText), plainDiff(have.OldText, have.NewText)) {
				return fmt.Errorf("diff block %d: must be %s, is %s", i+1, encode(want), encode(have))
			}
		}
	}
	if e.DiffsOrder != nil {
		var paths []string
		for _, d := range got.diffs {
			rel, err := filepath.Rel(w.work, d.Path)
			if err != nil {
				return err
			}
			paths = append(paths, filepath.ToSlash(rel))
		}
		if !reflect.DeepEqual(e.DiffsOrder, paths) {
			return fmt.Errorf("diff blocks must be of %q, are of %q", e.DiffsOrder, paths)
		}
	}
	return nil
}

// plainDiff takes one final line break off both texts, unless they are then
// equal.
func plainDiff(oldText *string, newText string) [2]any {
	trimmed := strings.TrimSuffix(newText, "\n")
	if oldText == nil {
		return [2]any{nil, trimmed}
	}
	if o := strings.TrimSuffix(*oldText, "\n"); o != trimmed {
		return [2]any{o, trimmed}
	}
	return [2]any{*oldText, newText}
}

func checkHunks(e Expect, got outcome) error {
	if e.Hunks == nil {
		return nil
	}
	if len(*e.Hunks) != len(got.hunks) {
		return fmt.Errorf("must have %d hunks, has %d: %s", len(*e.Hunks), len(got.hunks), encode(got.hunks))
	}
	for i, want := range *e.Hunks {
		if err := match(want, got.hunks[i]); err != nil {
			return fmt.Errorf("hunk %d: %w in %s", i+1, err, got.hunks[i])
		}
	}
	return nil
}

func checkRead(e Expect, got outcome) error {
	if e.Read == nil {
		return nil
	}
	if got.read == nil {
		return fmt.Errorf("must show lines: %s", brief(got.text))
	}
	if e.Read.TotalLines != nil && *e.Read.TotalLines != got.read.TotalLines {
		return fmt.Errorf("the file must have %d lines, has %d", *e.Read.TotalLines, got.read.TotalLines)
	}
	if e.Read.Lines == nil {
		return nil
	}
	if len(e.Read.Lines) != len(got.read.Lines) {
		return fmt.Errorf("must show %d lines, shows %d", len(e.Read.Lines), len(got.read.Lines))
	}
	for i, want := range e.Read.Lines {
		number, text, err := readLine(want)
		if err != nil {
			return err
		}
		if number != got.read.Offset+i || text != got.read.Lines[i] {
			return fmt.Errorf("line %d: must be %s, is %d %q", i+1, want, got.read.Offset+i, got.read.Lines[i])
		}
	}
	return nil
}

// readLine takes a line as [number, text] or as an object with these members.
func readLine(raw json.RawMessage) (int, string, error) {
	var pair []json.RawMessage
	if json.Unmarshal(raw, &pair) == nil && len(pair) == 2 {
		var n int
		var s string
		if json.Unmarshal(pair[0], &n) == nil && json.Unmarshal(pair[1], &s) == nil {
			return n, s, nil
		}
	}
	var obj struct {
		Number int    `json:"number"`
		Text   string `json:"text"`
	}
	if err := strict(raw, &obj); err != nil {
		return 0, "", fmt.Errorf("read.lines: %s is neither [number, text] nor an object of them", raw)
	}
	return obj.Number, obj.Text, nil
}

func checkACP(e Expect, got outcome) error {
	if e.ACP == nil {
		return nil
	}
	want := e.ACP.LastUpdate
	if want.Status != "" && want.Status != got.status {
		return fmt.Errorf("the call's status must be %s, is %s", want.Status, got.status)
	}
	if want.ContentTypes == nil {
		return nil
	}
	types := []string{}
	for _, raw := range got.content {
		var item struct {
			Type string `json:"type"`
		}
		if err := json.Unmarshal(raw, &item); err != nil {
			return err
		}
		types = append(types, item.Type)
	}
	if !reflect.DeepEqual(want.ContentTypes, types) {
		return fmt.Errorf("the call's content must be %q, is %q", want.ContentTypes, types)
	}
	return nil
}

func checkDetails(want json.RawMessage, got outcome) error {
	if got.details == nil {
		return fmt.Errorf("the error must have details %s, has none", want)
	}
	return match(want, got.details)
}

// checkSame compares parts of the result with those of an earlier step.
func checkSame(e Expect, got outcome, earlier map[string]outcome) error {
	if e.SameAs == "" {
		return nil
	}
	other, ok := earlier[e.SameAs]
	if !ok {
		return fmt.Errorf("same_as: there was no step %q", e.SameAs)
	}
	for _, field := range e.SameFields {
		var a, b any
		switch field {
		case "diffs":
			a, b = got.diffs, other.diffs
		case "text", "result":
			a, b = got.text, other.text
		case "details":
			a, b = string(got.details), string(other.details)
		case "read":
			a, b = got.read, other.read
		case "error", "code":
			a, b = got.code, other.code
		default:
			return fmt.Errorf("this runner knows no field %q of a result", field)
		}
		if !reflect.DeepEqual(a, b) {
			return fmt.Errorf("%s must be as in step %s: %s, is %s", field, e.SameAs, encode(b), encode(a))
		}
	}
	return nil
}

// checkShell runs a command that must succeed; an object may give its output.
func (w *world) checkShell(ctx context.Context, e Expect) error {
	if e.CheckShell == nil {
		return nil
	}
	var check struct {
		Run    string  `json:"run"`
		Stdout *string `json:"stdout"`
	}
	if json.Unmarshal(e.CheckShell, &check.Run) != nil {
		if err := strict(e.CheckShell, &check); err != nil {
			return fmt.Errorf("check_shell: %w", err)
		}
	}
	out, err := w.shell(ctx, check.Run)
	if err != nil {
		return err
	}
	if check.Stdout != nil && out != *check.Stdout {
		return fmt.Errorf("check_shell: must print %q, prints %q", *check.Stdout, out)
	}
	return nil
}

// encode is JSON for a message.
func encode(v any) string {
	raw, err := marshal(v)
	if err != nil {
		return err.Error()
	}
	return brief(string(raw))
}
