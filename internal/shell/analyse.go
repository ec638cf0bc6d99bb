package shell

import (
	"slices"
	"strings"
)

// An Analysis is what the text of a command tells of its effects.
type Analysis struct {
	// ReadOnly says that the command only reads: each of its programs is on a
	// list, with options that change nothing.
	ReadOnly bool
	// Reads are the arguments of a command that only reads which may be
	// paths, relative to the folder where it begins.
	Reads []string
	// Writes are files that the command evidently writes, likewise. There may
	// be more.
	Writes []string
	// Rule names the commands that a permission for this one covers: its
	// program and subcommand ("go test"), or the whole text. "" says that a
	// permission should not last: the command is more than a list of simple
	// ones, or changes files by name.
	Rule string
	// Exact says that Rule is the whole command, not a start of it.
	Exact bool
}

// Analyse reads a command line. It is pure, and careful: what it does not
// understand is no command that only reads.
func Analyse(command string) Analysis {
	list, ok := parse(command)
	if !ok || len(list) == 0 {
		return Analysis{}
	}
	a := Analysis{ReadOnly: true, Exact: true, Rule: strings.TrimSpace(command)}
	dir, moved := "", false
	for _, c := range list {
		readOnly, reads := c.readOnly()
		for _, r := range c.redirects {
			switch t := r.target.text; {
			case r.op == "<":
				reads = append(reads, t)
			case t == "/dev/null" || (r.op == ">&" || r.op == "<&") && (isNumber(t) || t == "-"):
			default:
				readOnly = false
				a.Writes = append(a.Writes, join(dir, t))
			}
		}
		if len(c.words) > 0 && c.words[0].text == "cd" {
			readOnly = len(c.words) == 2 && !c.words[1].glob && !strings.HasPrefix(c.words[1].text, "-") && len(c.redirects) == 0
			if readOnly {
				reads = []string{c.words[1].text}
				moved = true
			}
		}
		for _, r := range reads {
			a.Reads = append(a.Reads, join(dir, r))
		}
		if moved && len(reads) == 1 && c.words[0].text == "cd" {
			dir = join(dir, reads[0])
		}
		if !readOnly {
			a.ReadOnly = false
			if names := c.changes(); names != nil {
				a.Rule = ""
				for _, n := range names {
					a.Writes = append(a.Writes, join(dir, n))
				}
			}
		}
	}
	if moved && slices.ContainsFunc(a.Reads, climbs) {
		// Where a cd fails, or runs in a pipeline, ".." leads elsewhere.
		a.ReadOnly = false
	}
	if !a.ReadOnly {
		a.Reads = nil
		if prefix := list[0].prefix(); len(list) == 1 && prefix != "" && a.Rule != "" {
			a.Rule, a.Exact = prefix, false
		}
	}
	return a
}

func join(dir, name string) string {
	if strings.HasPrefix(name, "/") || dir == "" {
		return name
	}
	return dir + "/" + name
}

func climbs(p string) bool { return slices.Contains(strings.Split(p, "/"), "..") }

// changers are programs that change the files they are given.
var changers = []string{"touch", "rm", "rmdir", "mkdir", "mv", "cp", "ln", "chmod", "chown", "truncate", "tee", "install", "dd", "shred", "unlink"}

// changes returns the operands of a program that changes files by name, not
// nil if it is one.
func (c simple) changes() []string {
	if len(c.words) == 0 || !slices.Contains(changers, c.words[0].text) {
		return nil
	}
	out := []string{}
	for _, w := range c.words[1:] {
		if !strings.HasPrefix(w.text, "-") && !w.glob && len(out) < 20 {
			out = append(out, w.text)
		}
	}
	switch c.words[0].text {
	case "chmod", "chown":
		return out[min(1, len(out)):]
	case "dd":
		return []string{}
	}
	return out
}

// families are programs whose first argument names what is done, so that
// program and argument together are a kind of command.
var families = []string{
	"go", "git", "npm", "pnpm", "yarn", "bun", "deno", "cargo", "make", "just", "mvn", "gradle", "./gradlew", "dotnet",
	"pip", "pip3", "uv", "poetry", "bundle", "rake", "rails", "mix", "composer", "docker", "kubectl", "terraform", "gh", "swift", "zig",
}

// runners are their arguments whose next argument says what is run.
var runners = []string{"npm run", "pnpm run", "yarn run", "bun run", "deno task", "uv run", "poetry run", "bundle exec", "go tool"}

// prefix is the kind of a single command without redirections, "" if only the
// command itself would be a fair name for what is allowed.
func (c simple) prefix() string {
	if len(c.redirects) > 0 || len(c.words) < 2 || !slices.Contains(families, c.words[0].text) || !isName(c.words[1]) {
		return ""
	}
	kind := c.words[0].text + " " + c.words[1].text
	if !slices.Contains(runners, kind) {
		return kind
	}
	if len(c.words) < 3 || !isName(c.words[2]) {
		return ""
	}
	return kind + " " + c.words[2].text
}

func isName(w word) bool {
	return !w.glob && w.text != "" && w.text[0] != '-' &&
		strings.Trim(strings.ToLower(w.text), "abcdefghijklmnopqrstuvwxyz0123456789-_:.") == ""
}
