package conformance

import "fmt"

// exactly turns what rules explained into differences, and compares what was
// asked of the client's files and terminals. What only has a shape to keep,
// such as lists of commands, stays free. It is called once, when the rest is
// compared.
func (c *comparison) exactly() {
	uses := c.uses
	c.uses = nil
	for _, u := range uses {
		if u.Rule == ruleShape {
			c.uses = append(c.uses, u)
			continue
		}
		c.differ("", "", u.At, "as recorded", "otherwise, which only the rule "+u.Rule+" accepts")
	}
	for i := range min(len(c.theirs), len(c.ours)) {
		t, o := c.theirs[i].Asked, c.ours[i].Asked
		for k := range max(len(t), len(o)) {
			at := fmt.Sprintf("request %d to the client", k+1)
			switch {
			case k >= len(o):
				c.differ(c.ours[i].Label, "", at, show(t[k]), "(absent)")
			case k >= len(t):
				c.differ(c.ours[i].Label, "", at, "(absent)", show(o[k]))
			case steady(show(t[k])) != steady(show(o[k])):
				c.differ(c.ours[i].Label, "", at, show(t[k]), show(o[k]))
			}
		}
	}
}
