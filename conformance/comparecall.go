package conformance

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// call compares one call within a step: its sequence, its state as held at
// each permission request about it, and at the end.
func (c *comparison) call(theirs, ours *step, id string) {
	input := c.input(id)
	ts, vendorOnly := sequence(theirs.Events, id, input)
	os, ownOnly := sequence(ours.Events, id, input)
	pair := &callPair{
		id: id, tool: c.inputs[id].Name,
		theirs: fold(c.theirsHeld[id], ts), ours: fold(c.oursHeld[id], os),
		live: c.live[id], refused: c.refused[id], asked: c.asked[id], shown: c.shown[id],
	}
	if overtaken(ts) || overtaken(os) {
		ts, os = gather(ts), gather(os)
		c.overtaken = true
	}
	label := strings.TrimSpace(id + " " + pair.tool)
	at := func(place string) string { return ours.Label + ": " + label + ": " + place }
	if vendorOnly > ownOnly || vendorData(theirs.Events, id) && !vendorData(ours.Events, id) {
		c.use(ruleMeta, at(kindUpdate))
	}
	if i := slices.IndexFunc(os, isQuestion); i >= 0 {
		pair.asked = fold(c.oursHeld[id], os[:i])
		c.asked[id] = pair.asked
	}
	for _, e := range os {
		if isQuestion(e) {
			pair.shown, c.shown[id] = e.Fields, e.Fields
		}
	}
	if wasRefused(theirs.Events, id) && wasRefused(ours.Events, id) {
		pair.refused, c.refused[id] = true, true
	}
	before := [2]map[string]any{c.theirsHeld[id], c.oursHeld[id]}
	c.theirsHeld[id], c.oursHeld[id] = pair.theirs, pair.ours
	if ours.Method == "session/prompt" {
		c.live[id] = pair.ours
	}
	if rule := c.wholeCall(pair, ts, os); rule != "" {
		c.use(rule, at("the call"))
		return
	}

	told := map[string]bool{} // fields that an element's difference names
	cut := c.cutElsewhere(id, ts, os)
	compare := func(place string, t, o map[string]any) {
		if cut {
			t, o = withoutInput(t), withoutInput(o)
		}
		f := field{call: pair, step: ours.Method, in: place}
		for _, m := range compareFields(f, t, o, func(r string) { c.use(r, at(place)) }) {
			name, _, _ := strings.Cut(m.path, "/")
			if strings.HasPrefix(place, "held") && told[name] {
				continue
			}
			told[name] = true
			c.differ(ours.Label, label, place+": "+m.path, show(m.theirs), show(m.ours))
		}
	}
	for _, p := range align(ts, os) {
		switch {
		case cut && (p.ours == nil && p.theirs.Kind == kindInput || p.theirs == nil && p.ours.Kind == kindInput):
		case p.ours == nil:
			c.differ(ours.Label, label, p.theirs.name(), describe(*p.theirs), "(absent)")
			told = all(told, p.theirs.Fields)
		case p.theirs == nil:
			c.differ(ours.Label, label, p.ours.name(), "(absent)", describe(*p.ours))
			told = all(told, p.ours.Fields)
		default:
			place := p.ours.name()
			compare(place, p.theirs.Fields, p.ours.Fields)
			for _, m := range compareValues(field{path: "_meta", call: pair, step: ours.Method}, anyMap(p.theirs.Meta), anyMap(p.ours.Meta), func(r string) { c.use(r, at(place)) }) {
				c.differ(ours.Label, label, place+": "+m.path, show(m.theirs), show(m.ours))
			}
			if p.ours.Kind == kindInput {
				c.refinements(ours.Label, label, id, *p.theirs, *p.ours)
			}
		}
	}
	if t, o := slices.IndexFunc(ts, isQuestion), slices.IndexFunc(os, isQuestion); t >= 0 && o >= 0 {
		compare("held at the permission request", fold(before[0], ts[:t]), fold(before[1], os[:o]))
	}
	compare("held at the end", pair.theirs, pair.ours)
}

// refinements compares the inputs that were shown before they were complete.
// Where they fall depends on where the pieces of the stream end, so that
// those of the recording and those that our run's pieces give are both right.
func (c *comparison) refinements(step, label, id string, theirs, ours element) {
	if theirs.Whole != ours.Whole {
		c.differ(step, label, kindInput+": complete", show(theirs.Whole), show(ours.Whole))
	}
	if len(ours.Repeats) > 0 && len(theirs.Repeats) == 0 {
		c.differ(step, label, kindInput+": fields sent again though unchanged", "none", fmt.Sprint(ours.Repeats))
	}
	if equal(theirs.Partial, ours.Partial) {
		return
	}
	want := c.foretold(id)
	if want == nil {
		want = theirs.Partial
	}
	if len(want) == 0 && len(ours.Partial) == 0 || equal(want, ours.Partial) {
		return
	}
	c.differ(step, label, kindInput+": incomplete inputs", show(want), show(ours.Partial))
}

// cutElsewhere reports whether the input of a call was cut off at different
// places: it never became complete, and the pieces of our run do not end
// where those of the recording do. What was known of it by then differs.
func (c *comparison) cutElsewhere(id string, ts, os []element) bool {
	partial := func(els []element) (inputs []any, whole bool) {
		for _, e := range els {
			if e.Kind == kindInput {
				return e.Partial, e.Whole
			}
		}
		return nil, false
	}
	t, whole := partial(ts)
	o, alsoWhole := partial(os)
	want := c.foretold(id)
	return c.inputs[id].Cut != nil && !whole && !alsoWhole && want != nil &&
		len(want) != len(t) && len(want) == len(o) && (len(o) == 0 || equal(want, o))
}

// withoutInput leaves out what follows from a call's input.
func withoutInput(fields map[string]any) map[string]any {
	out := maps.Clone(fields)
	for _, k := range []string{"rawInput", "title", "locations"} {
		delete(out, k)
	}
	return out
}

// wasRefused reports whether the user was asked about the call and did not
// consent.
func wasRefused(evs []event, id string) bool {
	return slices.ContainsFunc(evs, func(e event) bool {
		return e.Kind == kindPermission && e.Call == id && !e.Allowed
	})
}

// wholeCall looks for a rule that explains the call as a whole, and returns
// its name.
func (c *comparison) wholeCall(pair *callPair, ts, os []element) string {
	if equal(pair.theirs["status"], pair.ours["status"]) {
		return ""
	}
	input := c.input(pair.id)
	file := text(input["file_path"])
	name := strings.TrimPrefix(file, "${WORKSPACE}/")
	content := text(input["content"])
	before, exists := c.scenario.Files[name]
	if !exists {
		return ""
	}
	old, err := before.Bytes()
	if err != nil {
		return ""
	}
	switch weFail := pair.theirs["status"] == "completed" && pair.ours["status"] == "failed"; {
	case pair.tool == "Edit" && weFail && foldsOnly(string(old), text(input["old_string"])) && refused(ts, os):
		c.rewritten[name] = ruleLiteral
		return ruleLiteral
	case pair.tool != "Write":
	case pair.theirs["status"] == "failed" && pair.ours["status"] == "completed" && !isText(old):
		block := []any{map[string]any{"type": "diff", "path": "${WORKSPACE}/" + name, "oldText": nil, "newText": content}}
		if equal(pair.ours["content"], block) && sameStart(ts, os) {
			c.rewritten[name] = ruleBinary
			return ruleBinary
		}
	case weFail && !c.sawBefore(pair.id, file) && refused(ts, os):
		c.rewritten[name] = ruleUnreadWrite
		return ruleUnreadWrite
	}
	return ""
}

// refused reports whether our call was refused with a text and without a
// question, and went like theirs until then.
func refused(ts, os []element) bool {
	if len(os) == 0 || slices.ContainsFunc(os, isQuestion) {
		return false
	}
	_, told := os[len(os)-1].Fields["rawOutput"].(string)
	return told && sameStart(ts, os[:len(os)-1])
}

// foldsOnly reports whether old is in the file only if typographic quotes
// count as straight ones.
func foldsOnly(file, old string) bool {
	return old != "" && !strings.Contains(file, old) && strings.Contains(straight.Replace(file), straight.Replace(old))
}

// sameStart reports whether the elements that both sides have first are of
// the same kinds, up to a question or an end.
func sameStart(ts, os []element) bool {
	for i := range min(len(ts), len(os)) {
		if ts[i].Kind != os[i].Kind {
			return false
		}
		if isQuestion(ts[i]) {
			return true
		}
		if ts[i].Kind == kindUpdate {
			return true
		}
		if i > 0 && !equal(ts[i].Fields["content"], os[i].Fields["content"]) {
			return false
		}
	}
	return true
}

// sawBefore reports whether the script touches the file before the call.
func (c *comparison) sawBefore(id, file string) bool {
	for _, u := range c.scenario.toolUses() {
		if u.ID == id {
			return false
		}
		if path.Clean(text(c.input(u.ID)["file_path"])) == path.Clean(file) {
			return true
		}
	}
	return false
}

func isQuestion(e element) bool { return e.Kind == kindPermission }

func vendorData(evs []event, id string) bool {
	return slices.ContainsFunc(evs, func(e event) bool { return e.Call == id && e.Vendor })
}

// pairing is a pair of counterparts; one side is nil for an element that the
// other lacks.
type pairing struct{ theirs, ours *element }

// align finds counterparts: the longest common run of names, with the rest
// told as missing or extra. Elements that stand in the same place between
// two pairs are counterparts too if both are updates.
func align(ts, os []element) []pairing {
	n, m := len(ts), len(os)
	best := make([][]int, n+1)
	for i := range best {
		best[i] = make([]int, m+1)
	}
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			if alike(ts[i], os[j]) {
				best[i][j] = 1 + best[i+1][j+1]
			} else {
				best[i][j] = max(best[i+1][j], best[i][j+1])
			}
		}
	}
	var out []pairing
	i, j := 0, 0
	for i < n || j < m {
		switch {
		case i < n && j < m && alike(ts[i], os[j]):
			out = append(out, pairing{&ts[i], &os[j]})
			i, j = i+1, j+1
		case i < n && j < m && best[i+1][j+1] == best[i][j] && ts[i].Kind == os[j].Kind:
			out = append(out, pairing{&ts[i], &os[j]})
			i, j = i+1, j+1
		case i < n && (j == m || best[i+1][j] >= best[i][j+1]):
			out = append(out, pairing{theirs: &ts[i]})
			i++
		default:
			out = append(out, pairing{ours: &os[j]})
			j++
		}
	}
	return out
}

func alike(a, b element) bool { return a.name() == b.name() }

func describe(e element) string { return show(e.Fields) }

func all(set map[string]bool, fields map[string]any) map[string]bool {
	for k := range maps.Keys(fields) {
		set[k] = true
	}
	return set
}

func anyMap(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}
