// Package guard decides which paths a session may touch. A [Policy] is a
// value; it is asked about a path as it is written, and, once it is [Located]
// on a file system, about the path after its links.
//
// It refuses to look at a disk, to know which system it runs on, to take "*"
// or "~" in an entry for anything but a character, and to settle which of two
// lists wins when both name one path: that is the user's to settle.
//
// What a guard of paths cannot do: a second hard link to a blocked file is
// another path to it, and a blocked folder that is moved away is blocked no
// more.
package guard

import (
	"fmt"
	"slices"
)

// A Scope is what a path is wanted for.
type Scope int

const (
	// Writing is for whatever changes files and folders.
	Writing Scope = iota
	// Reading is for looking at contents.
	Reading
)

// Config is what a policy is made of. For the lists nil is "not set", which an
// empty list is not: a read list that is not set falls back to the list
// without "Read", each by itself.
type Config struct {
	// Root is the folder that is open, an absolute path. Empty: every path is
	// denied, whatever the lists say.
	Root string
	// More are further open folders, absolute or relative to Root.
	More []string
	// Allow are paths that are open besides the folders. An entry opens the
	// path itself and, if it is a folder, nothing in it.
	Allow []string
	// Block are paths that are closed, with all that lies below.
	Block []string
	// ReadAllow and ReadBlock take the place of Allow and Block for reading.
	ReadAllow, ReadBlock []string
	// Style is how paths are written and compared.
	Style Style
}

// A Policy is a checked [Config]. It never changes and is safe for concurrent
// use. The zero Policy denies every path.
type Policy struct {
	cfg   Config
	roots []place
	lists [2]lists // by Scope
}

// lists are the two lists of a scope: entries as they were written, by key.
type lists struct {
	allow, block map[string]string
	places       []place // of block
}

// New checks a configuration. It fails for a root that is not absolute and for
// an entry that names no path. Relative entries need a root; without one they
// are passed over, since then nothing is open anyway.
func New(cfg Config) (Policy, error) {
	cfg.More = slices.Clone(cfg.More)
	for _, l := range []*[]string{&cfg.Allow, &cfg.Block, &cfg.ReadAllow, &cfg.ReadBlock} {
		*l = slices.Clone(*l)
	}
	p := Policy{cfg: cfg}
	base := ""
	if cfg.Root != "" {
		root, err := cfg.Style.place("", cfg.Root)
		if err != nil {
			return Policy{}, fmt.Errorf("guard: root %q: %w", cfg.Root, err)
		}
		base = root.path
		p.roots = append(p.roots, root)
		for i, dir := range cfg.More {
			more, err := cfg.Style.place(base, dir)
			if err != nil {
				return Policy{}, fmt.Errorf("guard: open folder %d, %q: %w", i+1, dir, err)
			}
			p.roots = append(p.roots, more)
		}
	}
	write, err := p.index(base, "allow", cfg.Allow, "block", cfg.Block)
	if err != nil {
		return Policy{}, err
	}
	allow, block := cfg.ReadAllow, cfg.ReadBlock
	if allow == nil {
		allow = cfg.Allow
	}
	if block == nil {
		block = cfg.Block
	}
	read, err := p.index(base, "read allow", allow, "read block", block)
	if err != nil {
		return Policy{}, err
	}
	p.lists = [2]lists{Writing: write, Reading: read}
	return p, nil
}

// index makes the lists of a scope.
func (p Policy) index(base, allowName string, allow []string, blockName string, block []string) (lists, error) {
	var l lists
	var err error
	if l.allow, _, err = p.entries(base, allowName, allow); err != nil {
		return l, err
	}
	l.block, l.places, err = p.entries(base, blockName, block)
	return l, err
}

func (p Policy) entries(base, name string, list []string) (map[string]string, []place, error) {
	set := make(map[string]string, len(list))
	var places []place
	for i, e := range list {
		at, err := p.cfg.Style.place(base, e)
		if err == errRelative {
			continue
		}
		if err != nil {
			return nil, nil, fmt.Errorf("guard: %s list: entry %d, %q: %w", name, i+1, e, err)
		}
		if _, known := set[at.key]; !known {
			set[at.key] = e
			places = append(places, at)
		}
	}
	return set, places, nil
}

// Config is what the policy was made of; the caller may keep and change it.
func (p Policy) Config() Config {
	c := p.cfg
	c.More = slices.Clone(c.More)
	for _, l := range []*[]string{&c.Allow, &c.Block, &c.ReadAllow, &c.ReadBlock} {
		*l = slices.Clone(*l)
	}
	return c
}

// Absolute is the path as the policy understands it: relative to the root,
// clean. It fails for what can be no path.
func (p Policy) Absolute(path string) (string, error) {
	at, err := p.at(path)
	return at.path, err
}

func (p Policy) at(path string) (place, error) {
	base := ""
	if len(p.roots) > 0 {
		base = p.roots[0].path
	}
	return p.cfg.Style.place(base, path)
}

// WithAllow is the policy with one more entry in the allow list, which becomes
// set if it was not. An entry that is there already changes nothing.
func (p Policy) WithAllow(path string) (Policy, error) {
	c := p.Config()
	if c.Allow == nil {
		c.Allow = []string{}
	}
	if !p.contains(c.Allow, path) {
		c.Allow = append(c.Allow, path)
	}
	return New(c)
}

// WithoutAllow is the policy without an entry, which is taken off the read
// allow list too. A list that becomes empty stays set; a path that is on no
// list changes nothing.
func (p Policy) WithoutAllow(path string) (Policy, error) {
	c := p.Config()
	same := func(e string) bool { return p.contains([]string{e}, path) }
	c.Allow = slices.DeleteFunc(c.Allow, same)
	c.ReadAllow = slices.DeleteFunc(c.ReadAllow, same)
	return New(c)
}

// contains compares places, so that another spelling is the same entry.
func (p Policy) contains(list []string, path string) bool {
	want, err := p.at(path)
	return slices.ContainsFunc(list, func(e string) bool {
		at, e2 := p.at(e)
		if err != nil || e2 != nil {
			return e == path
		}
		return at.key == want.key
	})
}
