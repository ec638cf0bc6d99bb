package patch

import (
	"encoding/json"
	"fmt"
	"strings"

	"dsh-acp/internal/msg"
)

// A Report is the structured result of a call that succeeded.
type Report struct {
	OK          bool         `json:"ok"` // true
	DryRun      bool         `json:"dryRun"`
	Files       []FileReport `json:"files"`
	CreatedDirs []string     `json:"createdDirs"`
}

// A FileReport is the result for one file.
type FileReport struct {
	Path    string     `json:"path"`
	Status  string     `json:"status"` // M or A
	Spans   int        `json:"spans"`
	Added   int        `json:"added"`
	Removed int        `json:"removed"`
	Version string     `json:"version"` // left to the caller, who knows how versions are written
	Notes   []string   `json:"notes"`
	Fuzzy   []FuzzyHit `json:"fuzzy"`
}

// Report returns the result of the plan once it is carried out. The caller
// may add versions, and notes of its own.
func (p *Plan) Report() Report {
	r := Report{OK: true, DryRun: p.DryRun, Files: make([]FileReport, len(p.Files)), CreatedDirs: list(p.Dirs)}
	for i, c := range p.Files {
		r.Files[i] = FileReport{
			Path: c.File.Path, Status: "M", Spans: c.Spans, Added: c.Added, Removed: c.Removed,
			Notes: list(c.Notes), Fuzzy: list(c.Fuzzy),
		}
		if c.Created {
			r.Files[i].Status = "A"
		}
	}
	return r
}

// list returns a copy that is not nil, so that its JSON is a list.
func list[T any](s []T) []T { return append([]T{}, s...) }

// Text is the result for the model.
func (r Report) Text() string {
	var spans, added, removed int
	for _, f := range r.Files {
		spans, added, removed = spans+f.Spans, added+f.Added, removed+f.Removed
	}
	word := "Success"
	if r.DryRun {
		word = "Preview"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d file(s), %d span(s), +%d -%d lines\n", word, len(r.Files), spans, added, removed)
	for _, f := range r.Files {
		fmt.Fprintf(&b, "%s %s\n", f.Status, f.Path)
		for _, n := range f.Notes {
			fmt.Fprintf(&b, "  (%s)\n", n)
		}
	}
	if r.DryRun {
		b.WriteString("(dry run: nothing was written)\n")
	}
	return b.String()
}

// A Recovery is what is left of a call that failed while it wrote. Paths are
// named as in results.
type Recovery struct {
	Restored    []string    `json:"restored"`
	Remaining   []Remaining `json:"remaining"`
	Uncertain   []string    `json:"uncertain"`
	CreatedDirs []string    `json:"createdDirs"`
}

// Reasons of [Remaining].
const (
	ReasonCreated = "created"
	ReasonChanged = "changed-externally"
)

// A Remaining is a file that keeps its new text after a failure.
type Remaining struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// An ErrorReport is the structured result of a call that failed.
type ErrorReport struct {
	OK      bool          `json:"ok"` // false
	Code    string        `json:"code"`
	Message string        `json:"message"`
	Details ReportDetails `json:"details"`
}

// ReportDetails are the details of the first error, and all errors where
// there are several.
type ReportDetails struct {
	Operation *int   `json:"operation,omitempty"`
	Path      string `json:"path,omitempty"`
	Details
	Errors   []OneError `json:"errors,omitempty"`
	Recovery *Recovery  `json:"recovery,omitempty"`
}

// OneError is one of several errors.
type OneError struct {
	Code      string `json:"code"`
	Message   string `json:"message"`
	Operation *int   `json:"operation,omitempty"`
	Path      string `json:"path,omitempty"`
	Details
}

// Report returns the errors in structured form. A nil recovery means that
// nothing had been written.
func (e Errors) Report(recovery *Recovery) ErrorReport {
	first := e[0]
	r := ErrorReport{Code: first.Code, Message: e.Text(recovery), Details: ReportDetails{
		Operation: first.index(), Path: first.Path, Details: first.Details,
	}}
	if len(e) > 1 {
		for _, x := range e {
			r.Details.Errors = append(r.Details.Errors, OneError{x.Code, x.Error(), x.index(), x.Path, x.Details})
		}
	}
	if recovery != nil {
		r.Details.Recovery = &Recovery{
			Restored: list(recovery.Restored), Remaining: list(recovery.Remaining),
			Uncertain: list(recovery.Uncertain), CreatedDirs: list(recovery.CreatedDirs),
		}
	}
	return r
}

func (e *Error) index() *int {
	if e.Operation < 0 {
		return nil
	}
	return &e.Operation
}

// Text is the failure for the model, with the state that it left.
func (e Errors) Text(recovery *Recovery) string {
	if recovery == nil {
		return e.Error() + "\nNothing was written."
	}
	var b strings.Builder
	b.WriteString(e.Error())
	say := func(what string, paths []string) {
		if len(paths) > 0 {
			b.WriteString("\n" + what + ": " + strings.Join(paths, ", "))
		}
	}
	var remaining []string
	for _, r := range recovery.Remaining {
		remaining = append(remaining, r.Path+" ("+r.Reason+")")
	}
	say("Put back as before", recovery.Restored)
	say("Still in the new state", remaining)
	say("State not known, read again", recovery.Uncertain)
	say("Directories that this call made and that are still there", recovery.CreatedDirs)
	if len(remaining)+len(recovery.Uncertain)+len(recovery.CreatedDirs) == 0 {
		b.WriteString("\nEverything is as it was before the call.")
	}
	return b.String()
}

// JSON returns a report as one line.
func JSON[T Report | ErrorReport](r T) json.RawMessage {
	raw, err := msg.Marshal(r)
	if err != nil {
		panic("patch: " + err.Error()) // reports hold nothing that has no JSON
	}
	return raw
}
