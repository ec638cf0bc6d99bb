package shell

import (
	"slices"
	"strings"
)

// A reader says when a program only reads. The zero reader is one that does
// whatever its arguments are.
type reader struct {
	// deny are options that do more. A long one is denied in every shorter
	// form too, since programs take those for it; a short one also where it
	// stands behind other letters.
	deny []string
	// plain forbids patterns: a file could have the name of an option.
	plain bool
	// words are how many arguments that are no options there may be; 0 means
	// any number, -1 none.
	words int
	// mute says that arguments name no files.
	mute bool
}

var readers = map[string]reader{
	"basename": {mute: true}, "cat": {}, "cmp": {}, "comm": {}, "cut": {}, "df": {}, "diff": {deny: []string{"--output"}, plain: true},
	"dirname": {mute: true}, "du": {}, "echo": {mute: true}, "egrep": {}, "false": {}, "fgrep": {}, "grep": {}, "head": {},
	"id": {}, "ls": {}, "md5sum": {}, "nl": {}, "od": {}, "printf": {deny: []string{"-v"}, mute: true, plain: true},
	"pwd": {}, "readlink": {}, "realpath": {}, "seq": {mute: true}, "sha1sum": {}, "sha256sum": {},
	"sleep": {mute: true}, "stat": {}, "strings": {}, "tac": {}, "tail": {}, "test": {}, "tr": {mute: true}, "true": {},
	"type": {mute: true}, "uname": {}, "wc": {}, "which": {mute: true}, "whoami": {},
	"column": {}, "expr": {mute: true}, "fold": {}, "hexdump": {}, "paste": {}, "rev": {},
	"file": {deny: []string{"-C", "--compile"}, plain: true},
	"find": {deny: []string{"-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls"}, plain: true},
	"rg":   {deny: []string{"--pre", "--hostname-bin", "--search-zip", "-z"}, plain: true},
	"sort": {deny: []string{"-o", "--output", "--compress-program", "-T", "--temporary-directory"}, plain: true},
	"tree": {deny: []string{"-o", "--output"}, plain: true},
	"uniq": {words: 1, plain: true},
	"date": {deny: []string{"-s", "--set", "-f", "--file"}, plain: true, mute: true, words: -1},
}

// gits are the subcommands of git that only read.
var gits = map[string]reader{
	"blame": {}, "cat-file": {}, "describe": {}, "diff": {}, "grep": {}, "log": {}, "ls-files": {}, "ls-tree": {}, "merge-base": {},
	"rev-list": {}, "rev-parse": {}, "shortlog": {}, "show": {}, "show-ref": {}, "status": {},
	"branch": {words: -1, deny: []string{"-d", "-D", "-m", "-M", "-c", "-C", "-u", "-f", "--delete", "--move", "--copy",
		"--set-upstream-to", "--unset-upstream", "--edit-description", "--track", "-t", "--force", "--create-reflog"}},
	"remote": {words: -1}, "tag": {words: -1, deny: []string{"-d", "--delete", "-a", "-s", "-m", "-F", "-f", "--force", "--sign", "--annotate", "--create-reflog"}},
}

// gitDeny are options of any of them that write a file or run a program.
var gitDeny = []string{"--output", "--ext-diff", "--textconv", "--filters", "--open-files-in-pager", "-O", "--exec", "--git-dir", "--work-tree", "--show-signature"}

// versions are programs that tell their version and do nothing else.
var versions = []string{"go", "node", "npm", "python", "python3", "cargo", "rustc", "java", "gcc", "clang", "make", "git", "ruby", "deno", "bun", "uv"}

// readOnly reports whether the program only reads, and which of its arguments
// may be paths. Redirections are not looked at.
func (c simple) readOnly() (bool, []string) {
	if len(c.words) == 0 || c.words[0].glob {
		return false, nil
	}
	name, args := c.words[0].text, c.words[1:]
	if len(args) == 1 && slices.Contains(versions, name) && (args[0].text == "--version" || args[0].text == "version" && name == "go") {
		return true, nil
	}
	if name == "git" {
		if len(args) > 0 && args[0].text == "--no-pager" {
			args = args[1:]
		}
		if len(args) == 0 {
			return false, nil
		}
		r, ok := gits[args[0].text]
		if !ok || args[0].glob {
			return false, nil
		}
		r.plain = true
		r.deny = append(slices.Clone(gitDeny), r.deny...)
		return r.allows(args[1:])
	}
	r, ok := readers[name]
	if !ok {
		return false, nil
	}
	if name == "date" {
		args = slices.DeleteFunc(slices.Clone(args), func(w word) bool { return strings.HasPrefix(w.text, "+") && !w.glob })
	}
	return r.allows(args)
}

func (r reader) allows(args []word) (bool, []string) {
	var paths []string
	words, options := 0, true
	for _, w := range args {
		if w.glob && (r.plain || hiddenGlob(w.text)) {
			return false, nil
		}
		switch {
		case options && w.text == "--":
			options = false
		case options && len(w.text) > 1 && w.text[0] == '-':
			if r.denies(w.text) {
				return false, nil
			}
			// The value of an option may be a path: --file=x, -fx
			if _, value, ok := strings.Cut(w.text, "="); ok {
				paths = append(paths, value)
			} else if i := strings.IndexByte(w.text, '/'); i >= 0 {
				paths = append(paths, w.text[i:])
			} else if i := strings.Index(w.text, ".."); i >= 0 {
				paths = append(paths, w.text[i:])
			}
		default:
			words++
			paths = append(paths, w.text)
		}
	}
	if r.words < 0 && words > 0 || r.words > 0 && words > r.words {
		return false, nil
	}
	if r.mute {
		paths = nil
	}
	return true, paths
}

// hiddenGlob reports whether a pattern could match ".." and so lead out of a
// folder.
func hiddenGlob(s string) bool {
	return slices.ContainsFunc(strings.Split(s, "/"), func(part string) bool {
		return strings.HasPrefix(part, ".") && strings.ContainsAny(part, "*?[")
	})
}

func (r reader) denies(option string) bool {
	name, _, _ := strings.Cut(option, "=")
	for _, d := range r.deny {
		switch {
		case strings.HasPrefix(name, d), strings.HasPrefix(name, "--") && strings.HasPrefix(d, name):
			return true
		case len(d) == 2 && !strings.HasPrefix(name, "--") && strings.IndexByte(name, d[1]) > 0:
			return true
		}
	}
	return false
}
