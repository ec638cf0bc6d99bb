package conformance

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Report is the outcome of a run.
type Report struct {
	Agent   []string `json:"agent"`
	Adapter string   `json:"adapter"`
	Passed  int      `json:"passed"`
	Failed  int      `json:"failed"`
	Skipped int      `json:"skipped"`
	Results []Result `json:"results"`
	// RulesUsed and RulesUnused are names of [Rules]. They change neither
	// the counts nor OK.
	RulesUsed   []string `json:"rulesUsed"`
	RulesUnused []string `json:"rulesUnused"`
}

// OK reports whether no scenario failed.
func (r Report) OK() bool { return r.Failed == 0 }

// A Result is the outcome of one scenario: passed if it has neither
// differences nor a tool for which it was skipped.
type Result struct {
	Scenario    string       `json:"scenario"`
	Description string       `json:"description,omitempty"`
	Skipped     string       `json:"skipped,omitempty"` // the tool that is not built
	Differences []Difference `json:"differences,omitempty"`
	Rules       []Use        `json:"rules,omitempty"`
	Stderr      string       `json:"stderr,omitempty"` // its end, if the run broke off
	Millis      int64        `json:"millis"`
}

// Passed reports whether the scenario was played without a difference.
func (r Result) Passed() bool { return r.Skipped == "" && len(r.Differences) == 0 }

func (r *Report) count() {
	used := map[string]bool{}
	for _, res := range r.Results {
		switch {
		case res.Skipped != "":
			r.Skipped++
		case res.Passed():
			r.Passed++
		default:
			r.Failed++
		}
		for _, u := range res.Rules {
			used[u.Rule] = true
		}
	}
	r.RulesUsed, r.RulesUnused = []string{}, []string{}
	for _, rule := range Rules {
		if used[rule.Name] {
			r.RulesUsed = append(r.RulesUsed, rule.Name)
		} else {
			r.RulesUnused = append(r.RulesUnused, rule.Name)
		}
	}
}

// shortValue is the number of characters of a value in the plain report.
const shortValue = 300

func (r Result) write(w io.Writer, verbose bool) {
	switch {
	case r.Skipped != "":
		fmt.Fprintf(w, "skip  %s: calls %s, which is not built\n", r.Scenario, r.Skipped)
		return
	case r.Passed():
		fmt.Fprintf(w, "pass  %s%s\n", r.Scenario, r.ruleList())
	default:
		fmt.Fprintf(w, "FAIL  %s%s\n", r.Scenario, r.ruleList())
	}
	for _, d := range r.Differences {
		where := strings.Join(slices.DeleteFunc([]string{d.Step, d.Call, d.At}, func(s string) bool { return s == "" }), ", ")
		fmt.Fprintf(w, "      %s\n        want %s\n        got  %s\n", where, shorten(d.Want, verbose), shorten(d.Got, verbose))
	}
	if r.Stderr != "" {
		fmt.Fprintf(w, "      stderr: %s\n", strings.ReplaceAll(strings.TrimSpace(r.Stderr), "\n", "\n              "))
	}
	if verbose {
		for _, u := range r.Rules {
			fmt.Fprintf(w, "      rule %s at %s\n", u.Rule, u.At)
		}
	}
}

// ruleList names the rules that a scenario needed, without those that nearly
// every scenario needs.
func (r Result) ruleList() string {
	var names []string
	for _, u := range r.Rules {
		switch u.Rule {
		case ruleMeta, ruleNotice, ruleShape, ruleWords:
		default:
			if !slices.Contains(names, u.Rule) {
				names = append(names, u.Rule)
			}
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " (rules: " + strings.Join(names, ", ") + ")"
}

func (r *Report) writeEnd(w io.Writer, verbose bool) {
	places := map[string]int{}
	for _, res := range r.Results {
		for _, u := range res.Rules {
			places[u.Rule]++
		}
	}
	if len(r.RulesUsed) > 0 {
		fmt.Fprintln(w, "rules used:")
	}
	for _, rule := range Rules {
		if n := places[rule.Name]; n > 0 {
			fmt.Fprintf(w, "  %-14s %4d  %s\n", rule.Name, n, rule.Reason)
		}
	}
	if verbose && len(r.RulesUnused) > 0 {
		fmt.Fprintf(w, "rules not used: %s\n", strings.Join(r.RulesUnused, ", "))
	}
	fmt.Fprintf(w, "%d passed, %d failed, %d skipped\n", r.Passed, r.Failed, r.Skipped)
}

func shorten(s string, verbose bool) string {
	if verbose || utf8.RuneCountInString(s) <= shortValue {
		return s
	}
	return string([]rune(s)[:shortValue]) + fmt.Sprintf("… (%d bytes)", len(s))
}
