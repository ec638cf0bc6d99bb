package search

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A tree of a test: file by path; a path that ends with a slash is a folder.
type tree map[string]string

func lay(t testing.TB, files tree) string {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if strings.HasSuffix(name, "/") {
			require.NoError(t, os.MkdirAll(path, 0o755))
			continue
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return dir
}

func root(t testing.TB, dir string) *os.Root {
	r, err := os.OpenRoot(dir)
	require.NoError(t, err)
	t.Cleanup(func() { r.Close() })
	return r
}

// all lists the files that a walk without any filter sees.
func all(t testing.TB, tr Tree) []string {
	pattern, err := Compile("", PatternOptions{})
	require.NoError(t, err)
	found, err := Grep(context.Background(), tr, Query{Pattern: pattern, Keep: 1 << 20})
	require.NoError(t, err)
	require.Zero(t, found.Left)
	var out []string
	for _, h := range found.Hits {
		out = append(out, h.Path)
	}
	slices.Sort(out)
	return out
}

// ignoreCases are ignore files, by the folder that they lie in, and files.
var ignoreCases = []struct {
	name  string
	rules tree
	paths string
}{
	{"names at any depth", tree{".gitignore": "*.o\nbuild\n"}, "a.o b.c sub/a.o sub/b.c build/x sub/build/y buildx/z"},
	{"folders only", tree{".gitignore": "out/\n"}, "out/a sub/out x/out/b"},
	{"anchored", tree{".gitignore": "/a\n/dir/b\nsub/c\n"}, "a x/a dir/b x/dir/b sub/c x/sub/c"},
	{"kept again", tree{".gitignore": "*.log\n!keep.log\nlogs/*\n!logs/x.txt\n"}, "a.log keep.log s/keep.log logs/a logs/x.txt"},
	{"no way back into an ignored folder", tree{".gitignore": "d/\n!d/x\n"}, "d/x d/y"},
	{"deep", tree{".gitignore": "a/**/z\n**/q/r\nfoo/**\n**/bar\n"}, "a/z a/b/z a/b/c/z q/r x/q/r foo/a foo/b/c x/foo/a bar x/bar x/y/bar/z"},
	{"stars within a name", tree{".gitignore": "a**b\nx/**y\nz**\n"}, "ab a1b s/axxb a/b x/y x/1y x/1/y zz z"},
	{"stars behind a name, against the manual", tree{".gitignore": "b**/*a\nc***/d\n***/e\nx/y**\n"}, "ba b/a bx/y/za b1 cd c/x/d e x/e x/y x/yz x/z"},
	{"question marks and brackets", tree{".gitignore": "?.c\n[a-c]1\n[!a-c]2\n[]x]3\n[a\\]]4\nf[^0-9]\n[[:digit:]]z\nq[/]r\n"}, "a.c ab.c a1 d1 a2 d2 ]3 x3 y3 ]4 a4 f1 fa 5z xz q/r"},
	{"open brackets", tree{".gitignore": "[ab\nx[\n"}, "a b [ab x["},
	{"backslashes", tree{".gitignore": "\\#a\n\\!b\n#c\n\\*d\ne\\\n"}, "#a !b #c *d xd e"},
	{"blanks", tree{".gitignore": "a \nb\\ \n c\n   \n"}, "a b/x "},
	{"line ends", tree{".gitignore": "a\r\nb/\r\n\r\n!c\r\n"}, "a b/x c d"},
	{"mark", tree{".gitignore": bom + "a\n"}, "a b"},
	{"no last line end", tree{".gitignore": "a\nb"}, "a b c"},
	{"levels", tree{".gitignore": "*.x\n/only\n", "s/.gitignore": "!*.x\n/only\n", "s/t/.gitignore": "*\n!.gitignore\n!k.x\n"}, "a.x s/a.x s/t/a.x s/t/k.x only s/only s/u/only"},
	{"exclude file", tree{".git/info/exclude": "*.tmp\n*.y\n", ".gitignore": "!a.y\n"}, "a.tmp s/b.tmp a.y b.y"},
	{"everything but", tree{".gitignore": "/*\n!/src\n/src/*\n!/src/a\n"}, "x src/a src/b other/a"},
	{"star alone, slash alone", tree{".gitignore": "/\n//\n*/\n"}, "a s/a"},
	{"double slash", tree{".gitignore": "a//b\n/c/\n"}, "a/b c/d"},
	{"two stars alone", tree{"s/.gitignore": "**\n", "t/.gitignore": "**/\n", "u/.gitignore": "/**\n"}, "s/a t/a t/b/c u/a a"},
}

// TestIgnoreIsGits compares with what git itself says.
func TestIgnoreIsGits(t *testing.T) {
	for _, c := range ignoreCases {
		t.Run(c.name, func(t *testing.T) {
			files := tree{}
			for _, p := range strings.Fields(c.paths) {
				files[p] = "text\n"
			}
			for name, text := range c.rules {
				files[name] = text
			}
			compareWithGit(t, files)
		})
	}
}

func compareWithGit(t *testing.T, files tree) {
	dir := lay(t, files)
	git(t, dir, nil, "init", "-q")
	if text, ok := files[".git/info/exclude"]; ok { // init writes its own
		require.NoError(t, os.WriteFile(filepath.Join(dir, ".git/info/exclude"), []byte(text), 0o644))
	}
	out := git(t, dir, nil, "ls-files", "-z", "--others", "--exclude-standard")
	want := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	if out == "" {
		want = nil
	}
	slices.Sort(want)
	got := all(t, Tree{Root: root(t, dir)})
	if !assert.Equal(t, want, got) {
		for name, text := range files {
			if strings.HasSuffix(name, ".gitignore") {
				t.Logf("%s: %q", name, text)
			}
		}
	}
	// The same from below, told of what lies above.
	sub := filepath.Join(dir, "s")
	if info, err := os.Stat(sub); err != nil || !info.IsDir() {
		return
	}
	var below []string
	for _, p := range want {
		if rest, ok := strings.CutPrefix(p, "s/"); ok {
			below = append(below, rest)
		}
	}
	if len(below) == 0 {
		return // the folder itself may be ignored, which does not count for one that is named
	}
	above := Above{Path: "s", Files: []string{files[".gitignore"], files[".git/info/exclude"]}}
	assert.Equal(t, below, all(t, Tree{Root: root(t, sub), Above: []Above{above}}))
}

func git(t *testing.T, dir string, stdin []byte, args ...string) string {
	path, err := exec.LookPath("git")
	if err != nil {
		t.Skip("there is no git to compare with")
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull, "XDG_CONFIG_HOME="+dir, "HOME="+dir)
	cmd.Stdin = bytes.NewReader(stdin)
	out, err := cmd.Output()
	require.NoError(t, err, "%s", args)
	return string(out)
}

// TestIgnoreIsGitsAtRandom makes rules and paths of a few letters and signs.
func TestIgnoreIsGitsAtRandom(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			word := func(alphabet string, most int) string {
				var b strings.Builder
				for range 1 + r.IntN(most) {
					b.WriteByte(alphabet[r.IntN(len(alphabet))])
				}
				return b.String()
			}
			files := tree{}
			for _, dir := range []string{"", "s/", "s/a/"} {
				var text strings.Builder
				for range 1 + r.IntN(6) {
					text.WriteString([]string{"", "", "", "!"}[r.IntN(4)])
					for n := range 1 + r.IntN(3) {
						if n > 0 {
							text.WriteString([]string{"/", "/**/", "/", "**/"}[r.IntN(4)])
						}
						text.WriteString(word("aabbb**?[]-!\\", 4))
					}
					text.WriteString([]string{"\n", "\n", "/\n", "/**\n", " \n"}[r.IntN(5)])
				}
				files[dir+".gitignore"] = text.String()
			}
			for range 40 {
				var parts []string
				for range 1 + r.IntN(4) {
					parts = append(parts, word("abs", 2))
				}
				p := strings.Join(parts, "/")
				if vacant(files, p) {
					files[p] = "text\n"
				}
			}
			compareWithGit(t, files)
		})
	}
}

// vacant reports whether a file can be at a path beside the others.
func vacant(files tree, path string) bool {
	for other := range files {
		if strings.HasPrefix(other, path+"/") || strings.HasPrefix(path, other+"/") || other == path {
			return false
		}
	}
	return fs.ValidPath(path)
}

func TestIgnoreFilesOfOthers(t *testing.T) {
	dir := lay(t, tree{
		".gitignore": "*.log\n", ".ignore": "!a.log\nb.txt\n", "a.log": "x\n", "c.log": "x\n", "b.txt": "x\n",
		"inner/.git/HEAD": "x\n", "inner/c.log": "what lies above another repository says nothing in it\n",
		"inner/.gitignore": "d.txt\n", "inner/d.txt": "x\n",
		".hg/x": "x\n", "s/.svn/x": "x\n",
	})
	assert.Equal(t, []string{".gitignore", ".ignore", "a.log", "inner/.gitignore", "inner/c.log"}, all(t, Tree{Root: root(t, dir)}))
}

// FuzzWild: matching ends, soon, and a name without signs matches itself.
func FuzzWild(f *testing.F) {
	for _, c := range ignoreCases {
		for _, text := range c.rules {
			f.Add(text, c.paths)
		}
	}
	f.Add(strings.Repeat("a*", 200)+"b", strings.Repeat("a", 400))
	f.Add(strings.Repeat("**/a/", 100)+"b", strings.Repeat("a/", 400))
	f.Fuzz(func(t *testing.T, text, path string) {
		if len(text) > 1<<12 || len(path) > 1<<12 {
			return
		}
		rs := parseRules(text)
		name := path[strings.LastIndexByte(path, '/')+1:]
		rs.judge(path, name, true)
		if !strings.ContainsAny(path, "*?[\\\n\r /!#") && path != "" && !strings.HasPrefix(path, bom) {
			assert.Equal(t, ignored, parseRules(path).judge(path, path, false))
		}
	})
}
