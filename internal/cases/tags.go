package cases

import (
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"dsh-acp/internal/hashline"
	"dsh-acp/tools/fs"
)

// tagHoles are the placeholders that tell of versions.
var tagHoles = regexp.MustCompile(`\$\{(tag|view|replaced):([^}]*)\}`)

// fillTags puts values in place of the placeholders of versions.
func (d *direct) fillTags(s string) (string, error) {
	var fault error
	out := tagHoles.ReplaceAllStringFunc(s, func(hole string) string {
		m := tagHoles.FindStringSubmatch(hole)
		v, err := d.tagHole(m[1], m[2])
		if err != nil && fault == nil {
			fault = fmt.Errorf("%s: %w", hole, err)
		}
		return v
	})
	return out, fault
}

func (d *direct) tagHole(kind, rest string) (string, error) {
	step, arg, _ := strings.Cut(rest, ":")
	if kind == "tag" && (step == "now" || step == "before") {
		return d.tagOfFile(step, arg)
	}
	d.mu.Lock()
	got, ok := d.outcomes[step]
	d.mu.Unlock()
	if !ok {
		return "", fmt.Errorf("there was no step %q", step)
	}
	switch kind {
	case "tag":
		for line := range strings.Lines(got.text) {
			if p, tag, ok := hashline.ParseHeader(strings.TrimSuffix(line, "\n")); ok && path.Clean(p) == path.Clean(arg) {
				return tag.String(), nil
			}
		}
		return "", fmt.Errorf("the step gave no tag: %s", brief(got.text))
	case "view":
		for line := range strings.Lines(got.text) {
			if strings.HasPrefix(line, arg+"| ") {
				return strings.TrimSuffix(line, "\n"), nil
			}
		}
		return "", fmt.Errorf("the step did not show that line: %s", brief(got.text))
	}
	if got.replaced == "" {
		return "", fmt.Errorf("the step replaced no version: %s", brief(got.text))
	}
	return got.replaced, nil
}

// tagOfFile is the tag of a file as it is, or as it was before a step.
func (d *direct) tagOfFile(when, arg string) (string, error) {
	now, err := take(d.top)
	if err != nil {
		return "", err
	}
	if when == "before" {
		step, file, _ := strings.Cut(arg, ":")
		d.mu.Lock()
		now = d.outcomes[step].before
		d.mu.Unlock()
		arg = file
	}
	rel, err := filepath.Rel(d.top, join(d.work, arg))
	if err != nil {
		return "", err
	}
	e, ok := now[filepath.ToSlash(rel)]
	if !ok {
		return "", fmt.Errorf("there is no such file")
	}
	return fs.TagOf([]byte(e.data)), nil
}

// fillExpect puts values in place of placeholders in what must be said.
func (d *direct) fillExpect(e Expect) (Expect, error) {
	fill := func(list []string) ([]string, error) {
		out := make([]string, len(list))
		for i, s := range list {
			var err error
			if out[i], err = d.fillTags(s); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	var err error
	if e.Error != nil {
		want := *e.Error
		if want.MustSay, err = fill(want.MustSay); err != nil {
			return e, err
		}
		e.Error = &want
	}
	if e.ResultSays != nil {
		if e.ResultSays, err = fill(e.ResultSays); err != nil {
			return e, err
		}
	}
	branches := make([]Expect, len(e.AnyOf))
	for i, b := range e.AnyOf {
		if branches[i], err = d.fillExpect(b); err != nil {
			return e, err
		}
	}
	e.AnyOf = branches
	return e, nil
}

// generate makes the texts that a case wants made, and gives them to its
// files. ok is false if there are none within the bound of the case.
func (c Case) generate() (ok bool, err error) {
	if c.Generate == nil {
		return true, nil
	}
	var g struct {
		Pair, Template string
		Max            int
		As             []string
	}
	if err := json.Unmarshal(c.Generate, &g); err != nil {
		return false, fmt.Errorf("generate: %w", err)
	}
	if g.Pair != "tag_collision" || len(g.As) != 2 {
		return false, fmt.Errorf("this runner cannot generate %s", c.Generate)
	}
	seen := map[string]string{}
	for i := range g.Max {
		s := strings.ReplaceAll(g.Template, "{i}", fmt.Sprint(i))
		tag := fs.TagOf([]byte(s))
		if other, taken := seen[tag]; taken {
			texts := map[string]string{g.As[0]: other, g.As[1]: s}
			give(c.Files, texts)
			for _, step := range c.allSteps() {
				give(step.Files, texts)
			}
			giveExpect(c.Expect, texts)
			return true, nil
		}
		seen[tag] = s
	}
	return false, nil
}

func give(files map[string]File, texts map[string]string) {
	for name, f := range files {
		if s, ok := texts[f.From]; ok {
			f.Text = &s
			files[name] = f
		}
	}
}

func giveExpect(e Expect, texts map[string]string) {
	give(e.Files, texts)
	for _, b := range e.AnyOf {
		giveExpect(b, texts)
	}
}
