//go:build astgrep && cgo

package astedit_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/astedit"
	"dsh-acp/internal/syntax"
	"dsh-acp/internal/syntax/sitter"
	"dsh-acp/internal/text"
)

// folder is where scripts/astgrep/run.sh put ast-grep and the packages.
func folder(t testing.TB) string {
	dir := os.Getenv("DSH_ASTGREP")
	require.NotEmpty(t, dir, "run this with make astgrep")
	return dir
}

func astgrep(t testing.TB) string {
	found, err := filepath.Glob(filepath.Join(folder(t), "node_modules/@ast-grep/cli-*/ast-grep*"))
	require.NoError(t, err)
	require.NotEmpty(t, found, "no ast-grep for this system in %s", folder(t))
	return found[0]
}

// goroot is where the source of the Go library is.
func goroot(t testing.TB) string {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}

// A pair is a pattern, and what it is rewritten to.
type pair struct {
	lang     syntax.Lang
	pat, out string
	search   bool // there is nothing to rewrite to
	rules    []string
}

func pairs(t testing.TB) []pair {
	b, err := os.ReadFile("testdata/pairs.txt")
	require.NoError(t, err)
	var out []pair
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			continue
		}
		f := strings.Split(strings.TrimSpace(line), " | ")
		require.Contains(t, []int{3, 4}, len(f), line)
		unescape := strings.NewReplacer(`\n`, "\n")
		p := pair{lang: syntax.Lang(f[0]), pat: unescape.Replace(f[1]), out: unescape.Replace(f[2]), search: f[2] == "-"}
		if len(f) == 4 {
			p.rules = strings.Fields(f[3])
		}
		out = append(out, p)
	}
	require.GreaterOrEqual(t, len(out), 60)
	return out
}

// sources copies real source of a language to one folder.
func sources(t testing.TB, lang syntax.Lang) string {
	var from []string
	switch lang {
	case syntax.Go:
		for _, d := range []string{"net/http", "go/types", "go/parser", "go/build", "encoding", "os", "strings", "database", "text"} {
			from = append(from, filepath.Join(goroot(t), "src", d))
		}
	case syntax.Python:
		found, err := filepath.Glob("/usr/lib/python3.*")
		require.NoError(t, err)
		require.NotEmpty(t, found, "no standard library of Python in /usr/lib: install the package python3")
		from = found[:1]
	case syntax.JavaScript:
		for _, d := range []string{"eslint/lib", "express", "@babel/traverse", "debug", "send"} {
			from = append(from, filepath.Join(folder(t), "node_modules", d))
		}
	case syntax.TypeScript:
		for _, d := range []string{"rxjs/src", "zod/src"} {
			from = append(from, filepath.Join(folder(t), "node_modules", d))
		}
	}
	dir := t.TempDir()
	n := 0
	for _, d := range from {
		require.NoError(t, filepath.WalkDir(d, func(name string, e os.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() || syntax.ByName(name) != lang || strings.HasSuffix(name, ".d.ts") {
				return err
			}
			b, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			// Line ends and marks are the business of package text.
			if bytes.Contains(b, []byte("\r")) || bytes.HasPrefix(b, []byte("\uFEFF")) {
				return nil
			}
			n++
			return os.WriteFile(filepath.Join(dir, fmt.Sprintf("%04d_%s", n, filepath.Base(name))), b, 0o644)
		}))
	}
	require.Greater(t, n, 100, "source files of %s", lang)
	return dir
}

// A finding is one match as ast-grep tells it.
type finding struct {
	File  string
	Range struct {
		ByteOffset struct{ Start, End int }
	}
	Replacement        *string
	ReplacementOffsets struct{ Start, End int }
}

func theirs(t testing.TB, p pair, dir string) map[string][]finding {
	args := []string{"run", "--json=stream", "-l", string(p.lang), "-p", p.pat}
	if !p.search {
		args = append(args, "-r", p.out)
	}
	cmd := exec.Command(astgrep(t), append(args, ".")...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if e, ok := err.(*exec.ExitError); ok && e.ExitCode() == 1 && len(out) == 0 {
		err = nil // nothing found
	}
	require.NoError(t, err)
	found := map[string][]finding{}
	s := bufio.NewScanner(bytes.NewReader(out))
	s.Buffer(nil, 64<<20)
	for s.Scan() {
		var f finding
		require.NoError(t, json.Unmarshal(s.Bytes(), &f))
		f.File = filepath.Base(f.File)
		found[f.File] = append(found[f.File], f)
	}
	return found
}

// A ruling is an accepted difference. All of them must be of use.
type ruling struct {
	name, reason string
}

func TestDifferential(t *testing.T) {
	parser := sitter.New(sitter.Options{})
	dirs := map[syntax.Lang]string{}
	list := pairs(t)
	for _, p := range list {
		if dirs[p.lang] == "" {
			dirs[p.lang] = sources(t, p.lang)
		}
	}
	var mu sync.Mutex
	used := map[string]int{} // guarded by mu
	total := 0               // guarded by mu
	t.Run("pairs", func(t *testing.T) {
		for _, p := range list {
			t.Run(fmt.Sprintf("%s %s", p.lang, p.pat), func(t *testing.T) {
				t.Parallel()
				c := comparison{t: t, pair: p, used: map[string]int{}, parser: parser}
				n := c.run(dirs[p.lang])
				mu.Lock()
				defer mu.Unlock()
				total += n
				for rule, times := range c.used {
					used[rule] += times
				}
			})
		}
	})
	t.Logf("%d places, rules used: %v", total, used)
	for _, r := range rulings {
		assert.NotZero(t, used[r.name], "the rule %q is of no use", r.name)
	}
}

type comparison struct {
	t      *testing.T
	pair   pair
	used   map[string]int
	parser *sitter.Parser
	shown  int
}

// differ reports a difference, unless a rule accepts it.
func (c *comparison) differ(rule, format string, args ...any) {
	if rule != "" && slices.ContainsFunc(rulings, func(r ruling) bool { return r.name == rule }) {
		c.used[rule]++
		return
	}
	if c.shown++; c.shown <= 4 {
		c.t.Errorf(format, args...)
	}
}

func (c *comparison) run(dir string) int {
	t, p := c.t, c.pair
	pattern, err := astedit.Compile(c.parser, p.lang, p.pat)
	require.NoError(t, err)
	var rule *astedit.Rule
	if !p.search {
		rule, err = astedit.NewRule(c.parser, p.lang, p.pat, p.out)
		require.NoError(t, err)
	}
	their := theirs(t, p, dir)
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	n, theirCount := 0, 0
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		require.NoError(t, err)
		src, found := string(b), their[f.Name()]
		theirCount += len(found)
		if !pattern.MayMatch(src) {
			if len(found) > 0 {
				c.differ(c.why(src, found[0], nil), "%s: passed over before the parse, and has a match", f.Name())
			}
			continue
		}
		tree, err := c.parser.Parse(p.lang, src)
		require.NoError(t, err)
		ours := pattern.Find(tree)
		n += len(ours)
		c.places(f.Name(), tree, ours, found)
		if rule != nil {
			c.rewrites(f.Name(), tree, rule, found)
		}
	}
	t.Logf("ours %d, theirs %d", n, theirCount)
	return n
}

// places compares where the two found something.
func (c *comparison) places(name string, tree *syntax.Tree, ours []astedit.Match, found []finding) {
	type span struct{ start, end int }
	mine, other := map[span]bool{}, map[span]bool{}
	for _, f := range found {
		other[span{f.Range.ByteOffset.Start, f.Range.ByteOffset.End}] = true
	}
	for _, m := range ours {
		s := span{m.Start, m.End}
		mine[s] = true
		if !other[s] {
			c.differ(c.more(tree, m), "%s: ours alone, %s: %q", name, tree.KindName(m.Node), tree.Source[m.Start:m.End])
		}
	}
	for _, f := range found {
		s := span{f.Range.ByteOffset.Start, f.Range.ByteOffset.End}
		if !mine[s] {
			c.differ(c.why(tree.Source, f, tree), "%s: theirs alone: %q", name, tree.Source[s.start:s.end])
		}
	}
}

// rewrites compares the edits one by one.
func (c *comparison) rewrites(name string, tree *syntax.Tree, rule *astedit.Rule, found []finding) {
	plan := rule.Plan(tree)
	mine := map[int]text.Edit{}
	for _, e := range plan.Edits {
		mine[e.Start] = e
	}
	skipped := map[int]string{}
	for _, s := range plan.Skipped {
		skipped[s.Line] = s.Reason
	}
	end := 0
	for _, f := range found {
		o := f.ReplacementOffsets
		if o.Start < end || f.Replacement == nil {
			continue
		}
		end = o.End
		e, ok := mine[o.Start]
		line := 1 + strings.Count(tree.Source[:o.Start], "\n")
		switch {
		case ok && e.End == o.End && e.New == *f.Replacement:
		case !ok && skipped[line] != "":
			c.differ("left alone", "%s:%d: %s", name, line, skipped[line])
		case !ok:
			within := slices.ContainsFunc(plan.Edits, func(e text.Edit) bool { return e.Start < o.Start && o.Start < e.End })
			if within && c.named("place") != "" {
				c.differ("place", "") // inside of a match that ast-grep does not see
				continue
			}
			if *f.Replacement != tree.Source[o.Start:o.End] {
				c.differ(c.why(tree.Source, f, tree), "%s:%d: not rewritten: %q to %q", name, line, tree.Source[o.Start:o.End], *f.Replacement)
			}
		default:
			c.differ(c.otherwise(tree, f, e), "%s:%d: %q\nours   %q (to %d)\ntheirs %q (to %d)", name, line, tree.Source[o.Start:o.End], e.New, e.End, *f.Replacement, o.End)
		}
	}
}

// rulings are the differences that we stand by. Those of the first group are
// named by the pairs that they are for, the others are told by the texts.
var rulings = []ruling{
	{"place", "the pattern means another thing elsewhere, and ast-grep looks for one meaning: f(x) at the top of a Go file is a conversion to it, in a function a call"},
	{"tail", "ast-grep passes over named nodes behind the last that the pattern names, and drops them when it rewrites; here a node is all of what the pattern says, or no match"},
	{"equal", "a name that occurs twice stands for equal text; ast-grep asks for equal kinds of node too, and an expression is no list of one expression"},
	{"word", "a keyword that the pattern does not have is passed over in a search, as in import type; a rewrite would drop it, and leaves such a match alone"},
	{"comma", "the comma beside a run is asked for only where the run is not empty"},

	{"comment", "comments between the nodes of a match are passed over"},
	{"left alone", "a match that holds a comment, or a word, that the rewrite would drop stays as it is"},
	{"semicolon", "a final semicolon that the pattern does not have is no part of the match, and stays"},
	{"tabs", "lines are moved by tabs too; ast-grep counts spaces alone"},
	{"string", "lines that begin in a string keep their place"},
	{"separator", "an empty run takes the separator beside it along"},
	{"line comment", "what follows a comment to the end of its line starts a new one"},
	{"blank", "blank lines stay blank; ast-grep puts the indentation on them"},
	{"less", "a line that is indented less than the first of its capture keeps its place"},
}

// more names the rule for a match that ours alone finds.
func (c *comparison) more(tree *syntax.Tree, m astedit.Match) string {
	for i := m.Node; i < int(tree.Nodes[m.Node].Last); i++ {
		if tree.IsComment(i) {
			return "comment"
		}
	}
	return c.named("place", "equal", "comma", "word")
}

// why names the rule for a match that theirs alone finds.
func (c *comparison) why(src string, f finding, tree *syntax.Tree) string { return c.named("tail") }

func (c *comparison) named(rules ...string) string {
	for _, r := range rules {
		if slices.Contains(c.pair.rules, r) {
			return r
		}
	}
	return ""
}

// otherwise names the rule for a match that the two rewrite differently.
func (c *comparison) otherwise(tree *syntax.Tree, f finding, e text.Edit) string {
	ours, theirs, src := e.New, *f.Replacement, tree.Source[e.Start:f.ReplacementOffsets.End]
	line := tree.Source[strings.LastIndexByte(tree.Source[:e.Start], '\n')+1 : e.Start]
	if f.ReplacementOffsets.End == e.End+1 && strings.HasSuffix(src, ";") {
		if ours == theirs {
			return "semicolon"
		}
	} else if f.ReplacementOffsets.End != e.End {
		return ""
	}
	if dense(ours) != dense(theirs) {
		mended := strings.NewReplacer(", )", ")", "(, ", "(").Replace(theirs)
		if mended == ours || dense(mended) == dense(ours) && strings.Contains(line+src, "\t") {
			return "separator"
		}
		return ""
	}
	switch {
	case unblanked(theirs) == ours:
		return "blank"
	case flat(ours) != flat(theirs) && strings.Contains(src, "//"):
		return "line comment"
	case flat(ours) != flat(theirs):
		return ""
	case strings.Contains(line+src, "\n\t") || strings.Contains(line, "\t"):
		return "tabs"
	case strings.ContainsAny(src, "`") || strings.Contains(src, `"""`) || strings.Contains(src, "'''"):
		return "string"
	case hasLess(src, leading(line)):
		return "less"
	}
	return ""
}

func leading(s string) string { return s[:len(s)-len(strings.TrimLeft(s, " "))] }

// hasLess reports whether a line of src behind the first has less than indent.
func hasLess(src, indent string) bool {
	_, rest, _ := strings.Cut(src, "\n")
	for line := range strings.Lines(rest) {
		if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, indent) {
			return true
		}
	}
	return false
}

// unblanked takes the indentation off blank lines.
func unblanked(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		if strings.TrimSpace(line) == "" && strings.HasSuffix(line, "\n") {
			line = "\n"
		}
		b.WriteString(line)
	}
	return b.String()
}

// flat is a text without indentation, dense one without white space.
func flat(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString(strings.TrimLeft(line, " \t"))
	}
	return b.String()
}

func dense(s string) string { return strings.Join(strings.Fields(s), "") }
