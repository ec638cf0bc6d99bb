package hashline

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mergeCases: want is the merged text, or a reason of a CodeStale.
var mergeCases = []struct{ name, tagged, live, ops, want string }{
	{"the line below a change", "a|b|c|", "A|b|c|", "replace 2:\n+B", "A|B|c|"},
	{"text put in above the line", "a|b|c|", "a|x|b|c|", "replace 2:\n+B", "a|x|B|c|"},
	{"lines gone above", "a|b|c|d|", "c|d|", "replace 4:\n+D", "c|D|"},
	{"several", "a|b|c|d|e|f|", "x|a|b|c|d|y|e|f|", "replace 2:\n+B\ninsert after 5:\n+n\ndelete 4", "x|a|B|c|y|e|n|f|"},
	{"one of several fails", "a|b|c|d|", "a|b|c|D|", "replace 1:\n+A\nreplace 4:\n+x", ReasonChanged},
	{"the line changed", "a|b|c|", "a|B|c|", "replace 2:\n+x", ReasonChanged},
	{"the line is gone", "a|b|c|", "a|c|", "delete 2", ReasonChanged},
	{"indentation alone", "if a:|    b()|c()|", "if a:|  b()|c()|", "replace 2:\n+    b(1)", ReasonChanged},
	{"text put into the range", "a|b|c|d|", "a|b|x|c|d|", "replace 2..3:\n+y", ReasonChanged},
	{"text put into the gap", "a|b|", "a|x|b|", "insert after 1:\n+y", ReasonChanged},
	{"a side of the gap changed", "a|b|c|", "a|B|c|", "insert after 1:\n+y", ReasonChanged},
	{"the first line has others above", "a|b|", "x|a|b|", "insert before 1:\n+y", ReasonChanged},
	{"head among others", "a|b|c|", "a|b|c|d|", "insert head:\n+x\nreplace 2:\n+B", "x|a|B|c|d|"},
	{"tail among others", "a|b|c|", "x|a|b|c|", "insert tail:\n+z\nreplace 2:\n+B", "x|a|B|c|z|"},
	{"tail alone", "a|b|", "a|b|c|", "insert tail:\n+z", "a|b|c|z|"},
	{"endings of the file", "a|b|c|", "x¬|a¬|b¬|c¬|", "replace 2:\n+B\n+B2", "x¬|a¬|B¬|B2¬|c¬|"},
	{"an end of the last line since", "a|b|c", "a|b|c|", "replace 1:\n+A", "A|b|c|"},

	{"the line doubled", "a|x|b|", "a|x|x|b|", "replace 2:\n+y", ReasonNotUnique},
	{"the bracket doubled", "a|}|b|", "a|}|}|b|", "insert after 2:\n+y", ReasonNotUnique},
	{"a line of two equal ones is gone", "a|x|x|b|", "a|x|b|", "replace 3:\n+y", ReasonNotUnique},
	{"equal lines around a new one", "a|x|x|b|", "a|x|n|x|b|", "replace 3:\n+y", ReasonNotUnique},
	{"a new block like the old one", "f {|  return 1|}|", "g {|  return 1|}|f {|  return 2|}|", "replace 2:\n+  return 3", ReasonNotUnique},
	{"a new block that wins by length", "f {|  return 1|}|", "g {|  return 1|}|//|f {|  return 2|// }|", "replace 2:\n+  return 3", ReasonNotUnique},
	{"a swapped pair", "a|b|", "b|a|", "replace 1:\n+A", ReasonNotUnique},
	{"a block moved away from below", "a|b|c|d|e|f|", "e|f|a|b|c|d|", "replace 5:\n+E", ReasonNotUnique},
	{"a line moved across", "a|b|c|d|e|f|", "b|c|d|e|f|a|", "replace 4:\n+D", ReasonNotUnique},
	{"the blank line is all that stays", "a||b|", "A||B|", "replace 2:\n+x", ReasonNotUnique},
	{"the bracket is all that stays", "f {|}|g|", "h {|}|i|", "replace 2:\n+x", ReasonNotUnique},
	{"brackets with other lines", "f {|}|g|", "h {|}|g|", "replace 2:\n+x", "h {|x|g|"},
	{"the same stretch twice", "a|x|y|b|c|", "q|x|y|r|a|x|y|b|c|", "replace 2:\n+z", "q|x|y|r|a|z|y|b|c|"},
	{"an inserted line told elsewhere", "p|x|x|x|q|", "p|x|y|x|x|q|", "delete 2", ReasonNotUnique},
	{"both put in the same", "a|b|c|", "a|n|b|c|", "replace 1:\n+a\n+n", ReasonNotUnique},
	{"rotated among equal lines", "q|x|y|x|y|r|", "q|y|x|y|x|r|", "replace 3:\n+z", ReasonNotUnique},
	{"all equal lines", "x|x|x|", "y|x|x|x|", "replace 2:\n+z", ReasonNotUnique},
	{"all equal lines, apart from the change", "x|x|x|a|b|", "x|x|x|a|c|", "replace 2:\n+z", "x|z|x|a|c|"},
	{"nothing left", "a|b|", "", "replace 1:\n+z", ReasonChanged},
}

func TestMerge(t *testing.T) {
	for _, c := range mergeCases {
		t.Run(c.name, func(t *testing.T) {
			got, err := edit(t, notation.Replace(c.tagged), notation.Replace(c.live), c.ops)
			if strings.HasSuffix(c.want, "|") {
				require.NoError(t, err)
				assert.Equal(t, notation.Replace(c.want), got.Doc.Raw())
				assert.NotEmpty(t, got.Warnings)
				return
			}
			e := refusal(t, err)
			assert.Equal(t, CodeStale, e.Code)
			assert.Equal(t, c.want, e.Details.Reason, err.Error())
			assert.Equal(t, tagOf(t, notation.Replace(c.live)), e.Details.LiveTag)
			assert.NotEmpty(t, e.Details.Lines)
		})
	}
}

func TestMergeTooFar(t *testing.T) {
	var a, b strings.Builder
	a.WriteString("first\n")
	b.WriteString("first\n")
	for i := range maxDistance {
		fmt.Fprintf(&a, "a%d\n", i)
		fmt.Fprintf(&b, "b%d\n", i)
	}
	_, err := edit(t, a.String(), b.String(), "replace 1:\n+x")
	assert.Equal(t, ReasonTooFar, refusal(t, err).Details.Reason)
}

func TestSeenAfterMerge(t *testing.T) {
	h := recorded(t, "a\nb\nc\nd\n")
	h[0].Seen = Ranges{{2, 3}}
	got, err := Apply(Request{Live: doc(t, "n\nm\na\nb\nc\nd\n"), Versions: h, Tag: h[0].ID.Short().String(), Change: Script{Ops: "replace 3:\n+C\n+C2"}})
	require.NoError(t, err)
	assert.Equal(t, "n\nm\na\nb\nC\nC2\nd\n", got.Doc.Raw())
	assert.Equal(t, Ranges{{4, 6}}, got.Seen)
	assert.Equal(t, []Move{{Range{1, 2}, 2}, {Range{4, 4}, 3}}, got.Moves)
}

// A drift is a tagged text, the file as others left it, and ops.
type drift struct{ tagged, live, ops string }

// driftOf makes one by choosing numbers below n; equal lines are common.
func driftOf(choose func(n int) int) drift {
	letters := 2 + choose(20)
	line := func() string {
		if choose(5) == 0 {
			return []string{"", "}", "  }"}[choose(3)]
		}
		return string(rune('a' + choose(letters)))
	}
	var tagged, live []string
	for range 1 + choose(12) {
		tagged = append(tagged, line())
	}
	for _, s := range tagged {
		switch choose(9) {
		case 0:
			live = append(live, line())
		case 1:
			live = append(live, line(), s)
		case 2:
		default:
			live = append(live, s)
		}
	}
	var ops strings.Builder
	used := 0
	for range 1 + choose(3) {
		at := used + 1 + choose(3)
		if at > len(tagged) {
			break
		}
		switch choose(5) {
		case 0:
			fmt.Fprintf(&ops, "replace %d:\n+%s\n", at, line())
			used = at
		case 1:
			end := min(at+choose(3), len(tagged))
			fmt.Fprintf(&ops, "replace %d..%d:\n+%s\n+%s\n", at, end, line(), line())
			used = end
		case 2:
			fmt.Fprintf(&ops, "delete %d\n", at)
			used = at
		case 3:
			fmt.Fprintf(&ops, "insert after %d:\n+%s\n", at, line())
			used = at
		default:
			fmt.Fprintf(&ops, "insert before %d:\n+%s\n", at, line())
			used = at
		}
	}
	if ops.Len() == 0 {
		ops.WriteString("insert before 1:\n+z\n")
	}
	text := func(lines []string, end bool) string {
		s := strings.Join(lines, "\n")
		// A last line that is empty has an end, or it would be none.
		if end || strings.HasSuffix("\n"+s, "\n") && len(lines) > 0 {
			s += "\n"
		}
		return s
	}
	end := choose(8) != 0
	return drift{text(tagged, end), text(live, end || choose(2) == 0), ops.String()}
}

// gitMerge is what git makes of the edit of the tagged text and the file.
func gitMerge(t testing.TB, git, dir string, d drift, edited string) (string, bool) {
	t.Helper()
	for name, s := range map[string]string{"ours": d.live, "base": d.tagged, "theirs": edited} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(s), 0o600))
	}
	cmd := exec.Command(git, "merge-file", "-p", "ours", "base", "theirs")
	cmd.Dir = dir
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() < 0 || exit.ExitCode() > 127) {
		t.Fatal(err)
	}
	return string(out), err == nil
}

// holdToGit checks one drift, and says what became of it.
func holdToGit(t testing.TB, git, dir string, d drift) (ours, theirs bool) {
	t.Helper()
	got, err := edit(t, d.tagged, d.live, d.ops)
	if err != nil {
		require.Equal(t, CodeStale, refusal(t, err).Code)
		return false, false
	}
	alone, err := edit(t, d.tagged, d.tagged, d.ops)
	require.NoError(t, err)
	want, clean := gitMerge(t, git, dir, d, alone.Doc.Raw())
	if clean {
		require.Equal(t, want, got.Doc.Raw(), "%+v", d)
	}
	return true, clean
}

func findGit(t testing.TB) string {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("needs git, which is not installed")
	}
	return git
}

func TestMergeAgreesWithGit(t *testing.T) {
	git, dir := findGit(t), t.TempDir()
	r := rand.New(rand.NewPCG(3, 4))
	made, both := 0, 0
	for range 3000 {
		d := driftOf(r.IntN)
		if Identify(doc(t, d.tagged)) == Identify(doc(t, d.live)) {
			continue
		}
		ours, theirs := holdToGit(t, git, dir, d)
		if ours {
			made++
		}
		if theirs {
			both++
		}
	}
	t.Logf("%d merged here, %d of them by git too", made, both)
	require.Greater(t, made, 300)
	require.Greater(t, both, 150)
}

func FuzzMergeAgreesWithGit(f *testing.F) {
	f.Add([]byte("a drift is made of bytes"))
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20})
	git, dir := findGit(f), f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte) {
		i := 0
		d := driftOf(func(n int) int {
			if i >= len(b) {
				return 0
			}
			i++
			return int(b[i-1]) % n
		})
		holdToGit(t, git, dir, d)
	})
}
