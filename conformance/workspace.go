package conformance

import (
	"bytes"
	"fmt"
	"slices"
)

// workspace compares the files afterwards.
func (c *comparison) workspace(got map[string][]byte) error {
	want := map[string][]byte{}
	for n, f := range c.scenario.After {
		b, err := f.Bytes()
		if err != nil {
			return fmt.Errorf("scenario %s: after %q: %w", c.scenario.Name, n, err)
		}
		want[n] = b
	}
	var names []string
	for n := range want {
		names = append(names, n)
	}
	for n := range got {
		if _, ok := want[n]; !ok {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	for _, n := range names {
		w, expected := want[n]
		g, exists := got[n]
		at := "workspace: " + n
		switch {
		case !exists:
			c.differ("", "", at, quote(w), "(no such file)")
		case !expected:
			c.differ("", "", at, "(no such file)", quote(g))
		case bytes.Equal(w, g):
		case c.rewritten[n] != "" && c.explained(n, g):
			c.use(c.rewritten[n], at)
		default:
			for _, m := range compareValues(field{path: "workspace"}, string(w), string(g), func(r string) { c.use(r, at) }) {
				c.differ("", "", at, quote([]byte(text(m.theirs))), quote([]byte(text(m.ours))))
			}
		}
	}
	return nil
}

// explained reports whether a file is as the rule that explains its call
// says: untouched by a call that was refused, or exactly what was written.
func (c *comparison) explained(name string, got []byte) bool {
	if c.rewritten[name] != ruleBinary {
		before, err := c.scenario.Files[name].Bytes()
		return err == nil && bytes.Equal(before, got)
	}
	for _, u := range c.scenario.toolUses() {
		in := c.input(u.ID)
		if u.Name == "Write" && text(in["file_path"]) == "${WORKSPACE}/"+name && text(in["content"]) == string(got) {
			return true
		}
	}
	return false
}

func quote(b []byte) string {
	if isText(b) {
		return show(string(b))
	}
	return show(b) // base64
}
