package guard

import (
	"fmt"
	"slices"
	"strings"
)

// A Decision is what a policy says about a path. It is one of [Allowed],
// [Denied] and [Ambiguous].
type Decision interface{ decision() }

// Allowed lets the request go on.
type Allowed struct {
	Path string // absolute and clean
	// Entry is the entry of the allow list that opens the path, as it was
	// written; empty if the path lies in an open folder. What it opens is
	// that one object and nothing beside or below it.
	Entry string
}

// Denied stops the request.
type Denied struct {
	Request string
	Why     Why
	Entry   string   // the entry that blocks it, for Blocked
	Real    string   // where it leads through links; empty if that is not the reason
	Open    []string // the folders and paths that are open
	Cause   error    // for Malformed
}

// Ambiguous stops the request, since one list opens the path and the other
// closes it. It is a fault in the settings.
type Ambiguous struct {
	Request      string
	Allow, Block string // the entries, as they were written
	Real         string // as in Denied
}

func (Allowed) decision()   {}
func (Denied) decision()    {}
func (Ambiguous) decision() {}

// Why is the reason of a denial.
type Why int

const (
	NoRoot    Why = iota // no folder is open, or none that is there
	Malformed            // it names no file of this system
	Outside              // in no open folder, and on no list
	Blocked              // on the block list, or below an entry of it
	LeadsOut             // a link leads out of the open folders
)

// shownPaths bounds how many open paths a message names.
const shownPaths = 8

// Error is the message for whoever asked: it starts with "permission denied"
// and names the request and what is open.
func (d Denied) Error() string {
	head := "permission denied: " + d.Request
	switch d.Why {
	case NoRoot:
		return head + ": no folder is open in this session"
	case Malformed:
		return fmt.Sprintf("%s: %v", head, d.Cause)
	case Outside:
		return head + " lies outside of what is open: " + listed(d.Open)
	case Blocked:
		via := d.via()
		if via != "" {
			via += ","
		}
		return head + via + fmt.Sprintf(" is blocked by the entry %q of the block list", d.Entry)
	case LeadsOut:
		return head + d.via() + ", outside of what is open: " + listed(d.Open)
	}
	panic(fmt.Sprintf("guard: no words for the reason %d", d.Why))
}

// via tells of a link.
func (d Denied) via() string {
	if d.Real == "" {
		return ""
	}
	return ", which leads through a link to " + d.Real
}

// Remedy is what would work.
func (d Denied) Remedy() string {
	switch d.Why {
	case NoRoot:
		return "ask the user to open a folder"
	case Malformed:
		return "name a file by a plain path"
	case Blocked:
		return "leave it, or ask the user to take the entry off the list"
	}
	return "use a path in it, or ask the user to open this one"
}

// Error is the message; see [Denied.Error].
func (a Ambiguous) Error() string {
	via := ""
	if a.Real != "" {
		via = ", which leads through a link to " + a.Real + ","
	}
	return fmt.Sprintf("permission denied: %s%s is on both lists: the allow list has %q, the block list has %q", a.Request, via, a.Allow, a.Block)
}

// Remedy is what would work.
func (a Ambiguous) Remedy() string {
	return "the settings must say which of the two holds: ask the user to take one entry away"
}

func listed(open []string) string {
	if len(open) == 0 {
		return "nothing"
	}
	if n := len(open) - shownPaths; n > 0 {
		return strings.Join(open[:shownPaths], ", ") + fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(open, ", ")
}

// Decide says what the letters of a path alone tell: links are not followed.
// A relative path is taken from the root.
func (p Policy) Decide(s Scope, path string) Decision {
	_, d := p.decide(s, path, p.roots)
	return d
}

// decide is the table: allowed by an entry and blocked by one is ambiguous;
// blocked wins over everything else; an entry or an open folder lets it go on.
func (p Policy) decide(s Scope, path string, roots []place) (at place, d Decision) {
	if len(p.roots) == 0 {
		return at, Denied{Request: path, Why: NoRoot}
	}
	at, err := p.at(path)
	if err != nil {
		return at, Denied{Request: path, Why: Malformed, Cause: err}
	}
	l := p.lists[s]
	allow, a := l.allow[at.key]
	block, b := find(l.block, at.key)
	switch {
	case a && b:
		return at, Ambiguous{Request: path, Allow: allow, Block: block}
	case b:
		return at, Denied{Request: path, Why: Blocked, Entry: block, Open: p.open(s)}
	case inside(roots, at.key):
		return at, Allowed{Path: at.path}
	case a:
		return at, Allowed{Path: at.path, Entry: allow}
	}
	return at, Denied{Request: path, Why: Outside, Open: p.open(s)}
}

// inside reports whether a key lies in one of the folders.
func inside(roots []place, key string) bool {
	for _, r := range roots {
		if within(r.key, key) {
			return true
		}
	}
	return false
}

// open names what is open, folders first.
func (p Policy) open(s Scope) []string {
	var out []string
	for _, r := range p.roots {
		out = append(out, r.path)
	}
	var entries []string
	for key, e := range p.lists[s].allow {
		if !inside(p.roots, key) {
			entries = append(entries, e)
		}
	}
	slices.Sort(entries)
	return append(out, entries...)
}

// Located is a policy on a file system: it knows where the open folders and
// the blocked paths really lie. It is of one moment; links may be changed
// after. It is safe for concurrent use.
type Located struct {
	policy Policy
	roots  []place // where the folders really are
	names  []place // those, and the folders as they were written
	block  [2]map[string]string
}

// Locate finds out where the paths of the policy lie. real returns a path after
// its links; for a path that does not exist, its nearest existing ancestor's
// and the rest. An open folder for which it fails is closed. A blocked path
// for which it fails is blocked by its letters alone: whoever cannot follow it
// cannot get at anything through it either.
func (p Policy) Locate(real func(path string) (string, error)) *Located {
	l := &Located{policy: p}
	known := map[string]place{}
	find := func(at place) (place, bool) {
		if got, ok := known[at.key]; ok {
			return got, got.path != ""
		}
		var got place
		if r, err := real(at.path); err == nil {
			if got, err = p.cfg.Style.place("", r); err != nil {
				got = place{}
			}
		}
		known[at.key] = got
		return got, got.path != ""
	}
	for _, r := range p.roots {
		if at, ok := find(r); ok {
			l.roots = append(l.roots, at)
			l.names = append(l.names, r, at)
		}
	}
	for s, lists := range p.lists {
		set := make(map[string]string, len(lists.places))
		for _, e := range lists.places {
			if at, ok := find(e); ok {
				set[at.key] = lists.block[e.key]
			}
		}
		l.block[s] = set
	}
	return l
}

// Policy is what was located.
func (l *Located) Policy() Policy { return l.policy }

// Before decides by the letters of a path, before any link is followed. It is
// [Policy.Decide], but a path that names an open folder by its real path is in
// it, too.
func (l *Located) Before(s Scope, path string) Decision {
	_, d := l.before(s, path)
	return d
}

func (l *Located) before(s Scope, path string) (place, Decision) {
	if len(l.roots) == 0 {
		return place{}, Denied{Request: path, Why: NoRoot}
	}
	return l.policy.decide(s, path, l.names)
}

// Decide is the whole decision about a path that leads to real: by its
// letters, then by where it leads.
func (l *Located) Decide(s Scope, path, real string) Decision {
	written, d := l.before(s, path)
	ok, allowed := d.(Allowed)
	if !allowed {
		return d
	}
	at, err := l.policy.cfg.Style.place("", real)
	if err != nil {
		return Denied{Request: path, Why: Malformed, Cause: err}
	}
	link := ""
	if at.key != written.key {
		link = at.path
	}
	if block, b := find(l.block[s], at.key); b {
		if allow, a := l.policy.lists[s].allow[written.key]; a {
			return Ambiguous{Request: path, Allow: allow, Block: block, Real: link}
		}
		return Denied{Request: path, Why: Blocked, Entry: block, Real: link, Open: l.policy.open(s)}
	}
	// The letters of the block list hold for the real path as well: an entry
	// may name what only comes to be by this call.
	if block, b := find(l.policy.lists[s].block, at.key); b {
		return Denied{Request: path, Why: Blocked, Entry: block, Real: link, Open: l.policy.open(s)}
	}
	if ok.Entry == "" && !inside(l.roots, at.key) {
		return Denied{Request: path, Why: LeadsOut, Real: at.path, Open: l.policy.open(s)}
	}
	return ok
}
