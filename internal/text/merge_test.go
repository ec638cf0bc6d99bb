package text

import (
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// In these cases "|" ends a line.
var mergeCases = []struct{ name, base, ours, theirs, want, err string }{
	{"nothing", "a|", "a|", "a|", "a|", ""},
	{"theirs alone", "a|b|", "a|b|", "a|B|", "a|B|", ""},
	{"ours alone", "a|b|", "A|b|", "a|b|", "A|b|", ""},
	{"apart", "a|b|c|", "A|b|c|", "a|b|C|", "A|b|C|", ""},
	{"ours moves lines down", "a|b|c|", "x|y|a|b|c|", "a|b|C|", "x|y|a|b|C|", ""},
	{"ours moves lines up", "a|b|c|d|", "d|", "a|b|c|d|e|", "d|e|", ""},
	{"several", "1|2|3|4|5|6|7|8|", "1|two|3|4|5|6|7|8|9|", "one|1|2|3|4|six|7|8|", "one|1|two|3|4|six|7|8|9|", ""},
	{"several apart", "1|2|3|4|5|6|7|8|9|", "1|2|3|5|6|7|8|IX|", "one|2|3|4|5|6|6b|7|8|9|", "one|2|3|5|6|6b|7|8|IX|", ""},
	{"the same on both sides", "a|b|c|", "a|B|c|", "a|B|c|", "a|B|c|", ""},
	{"the same and another", "a|b|c|d|", "a|B|c|d|", "a|B|c|D|", "a|B|c|D|", ""},
	{"the same insertion", "a|b|", "a|x|b|", "a|x|b|", "a|x|b|", ""},
	{"same lines, other text", "a|b|c|", "a|B|c|", "a|X|c|", "", "merge: both sides change line 2"},
	{"touching", "a|b|c|d|", "a|B|c|d|", "a|b|C|d|", "", "merge: both sides change lines 2 to 3"},
	{"two insertions in one place", "a|b|", "a|x|b|", "a|y|b|", "", "merge: both sides insert before line 2"},
	{"removed and changed", "a|b|c|", "a|c|", "a|B|c|", "", "merge: both sides change line 2"},
	{"an insertion that could be elsewhere", "a|x|x|x|b|", "a|x|x|x|x|b|", "a|y|x|x|x|b|", "", "merge: both sides change lines 2 to 4"},
	{"a removal that could be elsewhere", "a|x|x|b|", "a|x|b|", "A|x|x|b|", "", "merge: both sides change lines 1 to 3"},
	{"at the end without a final newline", "a|b", "A|b", "a|b|c", "", "merge: both sides change lines 1 to 2"},
	{"at the end without a final newline, apart", "a|m|b", "A|m|b", "a|m|b|c", "A|m|b|c", ""},
	{"into nothing", "", "", "a|", "a|", ""},
}

func TestMerge(t *testing.T) {
	lines := strings.NewReplacer("|", "\n")
	for _, c := range mergeCases {
		t.Run(c.name, func(t *testing.T) {
			got, err := Merge(parse(t, lines.Replace(c.base)), parse(t, lines.Replace(c.ours)), parse(t, lines.Replace(c.theirs)))
			if c.err != "" {
				require.EqualError(t, err, c.err)
				var e *ConflictError
				assert.True(t, errors.As(err, &e))
				return
			}
			require.NoError(t, err)
			assert.Equal(t, lines.Replace(c.want), got.Raw())
		})
	}
}

func TestMergeKeepsEndingsAndMark(t *testing.T) {
	base := parse(t, "a\nb\nc\n")
	ours := parse(t, "\uFEFFA\r\nb\r\nc\n")
	theirs := parse(t, "a\nb\nc\nd\n")
	got, err := Merge(base, ours, theirs)
	require.NoError(t, err)
	assert.Equal(t, "\uFEFFA\r\nb\r\nc\nd\r\n", got.Raw())
}

// changedLines returns a copy with some lines replaced, removed and added.
func changedLines(r *rand.Rand, lines []string) []string {
	var out []string
	for _, line := range lines {
		switch r.IntN(30) {
		case 0:
			out = append(out, string(rune('A'+r.IntN(20)))+"\n")
		case 1:
		case 2:
			out = append(out, string(rune('A'+r.IntN(20)))+"\n", line)
		default:
			out = append(out, line)
		}
	}
	return out
}

func TestMergeAgreesWithGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("needs git, which is not installed")
	}
	r := rand.New(rand.NewPCG(5, 6))
	dir := t.TempDir()
	merged, refused := 0, 0
	for range 250 {
		var base []string
		for range 8 + r.IntN(20) {
			base = append(base, string(rune('a'+r.IntN(12)))+"\n")
		}
		texts := map[string]string{
			"base":   strings.Join(base, ""),
			"ours":   strings.Join(changedLines(r, base), ""),
			"theirs": strings.Join(changedLines(r, base), ""),
		}
		got, err := Merge(parse(t, texts["base"]), parse(t, texts["ours"]), parse(t, texts["theirs"]))
		if err != nil {
			refused++
			continue
		}
		for name, s := range texts {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(s), 0o600))
		}
		cmd := exec.Command(git, "merge-file", "-p", "ours", "base", "theirs")
		cmd.Dir = dir
		want, err := cmd.Output()
		if err != nil {
			continue // git refuses; that we see two changes apart is no fault
		}
		merged++
		require.Equal(t, string(want), got.Raw(), "base %q\nours %q\ntheirs %q", texts["base"], texts["ours"], texts["theirs"])
	}
	require.Positive(t, merged)
	t.Logf("%d merged alike, %d refused", merged, refused)
}

func FuzzMerge(f *testing.F) {
	lines := strings.NewReplacer("|", "\n")
	for _, c := range mergeCases {
		f.Add(lines.Replace(c.base), lines.Replace(c.ours), lines.Replace(c.theirs))
	}
	f.Fuzz(func(t *testing.T, a, b, c string) {
		base, err1 := ParseString(Fold(a))
		ours, err2 := ParseString(Fold(b))
		theirs, err3 := ParseString(Fold(c))
		if errors.Join(err1, err2, err3) != nil || base.BOM() || ours.BOM() || theirs.BOM() || strings.Contains(a+b+c, "\r") {
			return
		}
		one, err := Merge(base, ours, theirs)
		two, err2 := Merge(base, theirs, ours)
		if (err == nil) != (err2 == nil) {
			t.Fatalf("one way %v, the other %v", err, err2)
		}
		if err == nil && one.Raw() != two.Raw() {
			t.Fatalf("one way %q, the other %q", one.Raw(), two.Raw())
		}
		for _, d := range []Doc{ours, theirs} {
			if got, err := Merge(base, d, base); err != nil || got.Raw() != d.Raw() {
				t.Fatalf("with the base: %q, %v", got.Raw(), err)
			}
			if got, err := Merge(base, base, d); err != nil || got.Raw() != d.Raw() {
				t.Fatalf("into the base: %q, %v", got.Raw(), err)
			}
			if got, err := Merge(base, d, d); err != nil || got.Raw() != d.Raw() {
				t.Fatalf("with itself: %q, %v", got.Raw(), err)
			}
		}
	})
}
