package fsbackend_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/fsbackend"
	"dsh-acp/fsbackend/fsbackendtest"
	"dsh-acp/internal/guard"
)

// lengthTag is a name of four digits in which trailing blanks do not count,
// as in the real one.
func lengthTag(data []byte) string {
	if strings.ContainsRune(string(data), 0) {
		return ""
	}
	sum := uint32(1)
	for line := range strings.SplitSeq(string(data), "\n") {
		for _, c := range []byte(strings.TrimRight(line, " ") + "\n") {
			sum = sum*31 + uint32(c)
		}
	}
	return fmt.Sprintf("%04X", sum&0xffff)
}

func openJournal(t testing.TB, opt fsbackend.JournalOptions) *fsbackend.Journal {
	t.Helper()
	if opt.Dir == "" {
		opt.Dir = filepath.Join(t.TempDir(), "journal")
	}
	if opt.Tag == nil {
		opt.Tag = lengthTag
	}
	j, err := fsbackend.OpenJournal(opt)
	require.NoError(t, err)
	t.Cleanup(func() { _ = j.Close() })
	return j
}

func TestJournaledContract(t *testing.T) {
	fsbackendtest.Run(t, func(t *testing.T) fsbackendtest.Fixture {
		w := newWorld(t, fsbackend.NewFaults())
		b := fsbackend.Restrict(w.local, exact(policy(t, guard.Config{Root: w.root})))
		return fsbackendtest.Fixture{
			Backend: openJournal(t, fsbackend.JournalOptions{}).Over(b),
			Root:    w.root, Outside: w.outside, World: fsbackendtest.Disk{}, Faults: w.faults, BeforeMax: beforeMax, MaxFile: maxFile,
		}
	})
}

// shop is a journaled world with short words.
type shop struct {
	world
	*fsbackend.Journaled
	dir string
}

func newShop(t testing.TB) shop {
	w := newWorld(t, nil)
	dir := filepath.Join(t.TempDir(), "journal")
	b := fsbackend.Restrict(w.local, fsbackend.Limits{Policy: policy(t, guard.Config{Root: w.root, Block: []string{"blocked"}})})
	return shop{w, openJournal(t, fsbackend.JournalOptions{Dir: dir}).Over(b), dir}
}

func (s shop) see(name string) {
	s.t.Helper()
	_, err := s.Read(s.t.Context(), s.path(name))
	require.NoError(s.t, err)
}

func (s shop) write(name, data string) {
	s.t.Helper()
	s.writeIn(s.t.Context(), name, data)
}

func (s shop) writeIn(ctx context.Context, name, data string) {
	s.t.Helper()
	r, err := s.Write(ctx, fsbackend.Write{Path: s.path(name), Data: []byte(data)})
	require.NoError(s.t, err)
	require.Empty(s.t, r.Notes)
}

// back rolls back and returns the code of the error, "" if there is none.
func (s shop) back(name, which string) (fsbackend.Restoration, string) {
	s.t.Helper()
	r, err := s.Restore(s.t.Context(), s.path(name), which)
	if err != nil {
		require.ErrorContains(s.t, err, s.path(name))
	}
	return r, fsbackend.CodeOf(err)
}

func (s shop) kept(name string) string {
	s.t.Helper()
	list, err := s.Versions(s.t.Context(), s.path(name))
	require.NoError(s.t, err)
	var names []string
	for _, v := range list {
		n := v.Name()
		if v.Current {
			n += "*"
		}
		names = append(names, n)
	}
	return strings.Join(names, " ")
}

func tagOf(s string) string { return lengthTag([]byte(s)) }

// A story is steps and what holds after: "see", "write TEXT", "outside TEXT"
// (another program writes), "delete", "back WHICH = TEXT" or "back WHICH !
// CODE"; WHICH is "" or a tag as "#TEXT".
var stories = []struct {
	name  string
	steps []string
}{
	{"there and back", []string{"write v1", "write v2", "back = v1", "back #v2 = v2", "back #v2 ! ROLLBACK_CURRENT", "back ffff ! ROLLBACK_UNKNOWN"}},
	{"walks further back", []string{"write v1", "write v2", "write v3", "back = v2", "see", "back = v1", "back ! ROLLBACK_OLDEST"}},
	{"to the state before the step, and back again", []string{"outside v0", "see", "write v1", "write v2", "back #v1 = v1", "back #v2 = v2"}},
	{"the old text needs no earlier read", []string{"outside v0", "write v1", "back = v0", "back #v1 = v1"}},
	{"after going back, the one before is where the new one began", []string{"write v1", "write v2", "write v3", "back #v1 = v1", "write v4", "back = v1"}},
	{"the same by walking", []string{"write v1", "write v2", "write v3", "back = v2", "back = v1", "write v4", "back = v1"}},
	{"nothing is kept", []string{"outside v0", "back ! ROLLBACK_NO_HISTORY", "back #v0 ! ROLLBACK_NO_HISTORY"}},
	{"nothing is there", []string{"back ! ROLLBACK_NO_HISTORY"}},
	{"only seen", []string{"outside v0", "see", "back ! ROLLBACK_OLDEST"}},
	{"changed outside", []string{"write v1", "write v2", "outside x", "back ! ROLLBACK_EXTERNAL", "back #v1 = v1 ?", "back #x = x"}},
	{"changed outside and seen", []string{"write v1", "outside x", "see", "back = v1", "back #x = x"}},
	{"outside to a known text", []string{"write v1", "write v2", "write v3", "outside v2", "back = v1 ?"}},
	{"missing", []string{"write v1", "write v2", "delete", "back = v2 ?", "back = v1"}},
	{"missing, by name", []string{"write v1", "write v2", "delete", "back #v1 = v1 ?"}},
	{"blanks at line ends are a change", []string{"outside one  ", "write one", "back = one  ", "back #one = one"}},
	{"a name of two others", []string{"write a", "write a ", "write b", "back #a ! ROLLBACK_UNKNOWN"}},
	{"the same text again is no new version", []string{"write v1", "write v2", "write v1", "back = v2", "back ! ROLLBACK_OLDEST"}},
}

func (s shop) tell(steps []string) {
	for i, step := range steps {
		word, rest, _ := strings.Cut(step, " ")
		at := fmt.Sprintf("step %d, %s", i+1, step)
		switch word {
		case "see":
			s.see("f")
		case "write":
			s.write("f", rest)
		case "outside":
			s.put("f", rest)
		case "delete":
			require.NoError(s.t, os.Remove(s.path("f")))
		case "back":
			which, want, isText := strings.Cut(rest, "= ")
			var code string
			if !isText {
				which, code, _ = strings.Cut(rest, "! ")
			}
			which = strings.TrimSuffix(which, " ")
			if text, ok := strings.CutPrefix(which, "#"); ok {
				which = tagOf(text)
			}
			want, warns := strings.CutSuffix(want, " ?")
			before, _ := os.ReadFile(s.path("f"))
			dry, dryErr := s.PlanRestore(s.t.Context(), s.path("f"), which)
			r, got := s.back("f", which)
			require.Equal(s.t, code, got, at)
			require.Equal(s.t, code, fsbackend.CodeOf(dryErr), at)
			if code != "" {
				after, _ := os.ReadFile(s.path("f"))
				require.Equal(s.t, before, after, at)
				continue
			}
			require.Equal(s.t, want, s.text("f"), at)
			require.Equal(s.t, want, string(r.Data), at)
			require.Equal(s.t, want, string(dry.Data), at)
			require.Equal(s.t, warns, r.Warning != "", "%s: %s", at, r.Warning)
			require.Equal(s.t, string(before), string(r.ReplacedData), at)
		default:
			panic(word)
		}
	}
}

func TestRollback(t *testing.T) {
	for _, c := range stories {
		t.Run(c.name, func(t *testing.T) { newShop(t).tell(c.steps) })
	}
}

// The same stories, with the process ended after each step.
func TestRollbackSurvivesRestarts(t *testing.T) {
	for _, c := range stories {
		t.Run(c.name, func(t *testing.T) {
			s := newShop(t)
			b := fsbackend.Restrict(s.local, fsbackend.Limits{Policy: policy(t, guard.Config{Root: s.root})})
			for _, step := range c.steps {
				s.tell([]string{step})
				require.NoError(t, s.Journal().Close())
				s.Journaled = openJournal(t, fsbackend.JournalOptions{Dir: s.dir}).Over(b)
				require.Empty(t, s.Journal().Notes())
			}
		})
	}
}

func TestRollbackMessages(t *testing.T) {
	s := newShop(t)
	s.write("f", "v1")
	s.write("f", "v2")
	v1, v2 := tagOf("v1"), tagOf("v2")
	assert.Equal(t, v2+"* "+v1, s.kept("f"))
	_, err := s.Restore(t.Context(), s.path("f"), "FFFF")
	assert.EqualError(t, err, fmt.Sprintf(`rollback %s: no version "FFFF" is kept of this file; choose one of these: %s, %s`, s.path("f"), v2, v1))
	s.put("f", "not ours")
	_, err = s.Restore(t.Context(), s.path("f"), "")
	assert.ErrorContains(t, err, "its 8 bytes (version "+tagOf("not ours")+") would be replaced")
	r, err := s.Restore(t.Context(), s.path("f"), strings.ToLower(v1))
	require.NoError(t, err)
	assert.Contains(t, r.Warning, tagOf("not ours"))
	assert.Equal(t, tagOf("not ours"), r.Replaced.Name())
	digest := fsbackend.VersionOf([]byte("v2")).String()
	_, code := s.back("f", digest[:7])
	assert.Equal(t, fsbackend.CodeUnknownVersion, code, "too few digits")
	_, code = s.back("f", digest[:8])
	assert.Empty(t, code)
	_, code = s.back("f", digest)
	assert.Equal(t, fsbackend.CodeIsCurrent, code)
	assert.Equal(t, []string{s.path("f")}, s.Journal().Paths())
}

func TestRollbackKeepsBytesAndMode(t *testing.T) {
	s := newShop(t)
	p := s.put("s.ps1", "\xef\xbb\xbfa\r\nb\n")
	if err := os.Chmod(p, 0o755); err != nil {
		t.Fatal(err)
	}
	want, err := os.Stat(p)
	require.NoError(t, err)
	s.write("s.ps1", "A")
	require.NoError(t, os.Chmod(p, 0o600))
	_, code := s.back("s.ps1", "")
	require.Empty(t, code)
	assert.Equal(t, "\xef\xbb\xbfa\r\nb\n", s.text("s.ps1"))
	got, err := os.Stat(p)
	require.NoError(t, err)
	assert.Equal(t, want.Mode(), got.Mode())

	s.write("bin", "a\x00\xff")
	s.write("bin", "text")
	name := fsbackend.VersionOf([]byte("a\x00\xff")).String()[:8]
	assert.Equal(t, tagOf("text")+"* "+name, s.kept("bin"), "bytes have a digest only")
	_, code = s.back("bin", name)
	require.Empty(t, code)
	assert.Equal(t, "a\x00\xff", s.text("bin"))
}

func TestRollbackPassesTheGuard(t *testing.T) {
	s := newShop(t)
	s.write("f", "v1")
	s.write("f", "v2")
	s.Journaled = s.Journal().Over(fsbackend.Restrict(s.local, exact(policy(t, guard.Config{Root: s.root, Block: []string{"f"}}))))
	_, code := s.back("f", "")
	assert.Equal(t, fsbackend.CodeDenied, code)
	_, err := s.Versions(t.Context(), s.path("f"))
	assert.Equal(t, fsbackend.CodeDenied, fsbackend.CodeOf(err))
	assert.Equal(t, "v2", s.text("f"))
	_, code = s.back("../outside/x", "")
	assert.Equal(t, fsbackend.CodeDenied, code)
}

func TestRollbackOfGeneratedFile(t *testing.T) {
	s := newShop(t)
	s.write("x.go", "package x\n")
	s.write("x.go", "// Code generated. DO NOT EDIT.\n")
	_, err := s.Write(t.Context(), fsbackend.Write{Path: s.path("x.go"), Data: []byte("y")})
	assert.Equal(t, fsbackend.CodeGenerated, fsbackend.CodeOf(err))
	_, code := s.back("x.go", "")
	assert.Empty(t, code)
	assert.Equal(t, "package x\n", s.text("x.go"))
}

func TestJournalSeesStreams(t *testing.T) {
	s := newShop(t)
	p := s.put("f", "v0")
	f, _, err := s.Open(t.Context(), p)
	require.NoError(t, err)
	_, err = io.ReadFull(f, make([]byte, 1))
	require.NoError(t, err)
	assert.Empty(t, s.kept("f"), "not read to its end")
	_, err = io.ReadAll(f)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	assert.Equal(t, tagOf("v0")+"*", s.kept("f"))
	s.put("large", strings.Repeat("x", 15000))
	j := openJournal(t, fsbackend.JournalOptions{SeenMax: 10000}).Over(s.local)
	_, err = j.Read(t.Context(), s.path("large"))
	require.NoError(t, err)
	list, err := j.Versions(t.Context(), s.path("large"))
	require.NoError(t, err)
	assert.Empty(t, list)
}

func TestJournalBound(t *testing.T) {
	w := newWorld(t, nil)
	dir := filepath.Join(t.TempDir(), "j")
	j := openJournal(t, fsbackend.JournalOptions{Dir: dir, MaxBytes: 5000})
	b := j.Over(w.local)
	text := func(i int) []byte { return []byte(fmt.Sprintf("%d %s", i, strings.Repeat("x", 998))) }
	for i := range 20 {
		r, err := b.Write(t.Context(), fsbackend.Write{Path: w.path(fmt.Sprint("f", i%2)), Data: text(i % 10)})
		require.NoError(t, err)
		require.Empty(t, r.Notes)
		assert.LessOrEqual(t, j.Bytes(), int64(5000))
	}
	for _, f := range []string{"f0", "f1"} {
		list, err := b.Versions(t.Context(), w.path(f))
		require.NoError(t, err)
		assert.GreaterOrEqual(t, len(list), 2, "the newest of both files are left")
	}
	var onDisk int64
	require.NoError(t, filepath.Walk(filepath.Join(dir, "versions"), func(_ string, fi os.FileInfo, err error) error {
		if err == nil && fi.Mode().IsRegular() {
			onDisk += fi.Size()
		}
		return err
	}))
	assert.Equal(t, j.Bytes(), onDisk)

	r, err := b.Write(t.Context(), fsbackend.Write{Path: w.path("f0"), Data: []byte(strings.Repeat("y", 3000))})
	require.NoError(t, err)
	assert.Contains(t, strings.Join(r.Notes, ""), "cannot be rolled back")
	_, err = b.Restore(t.Context(), w.path("f0"), fsbackend.VersionOf(text(8)).String())
	assert.Equal(t, fsbackend.CodeTooLarge, fsbackend.CodeOf(err), "what could not be taken back is not done")
}

func TestJournalDamage(t *testing.T) {
	fill := func(t *testing.T) shop {
		s := newShop(t)
		for i := range 4 {
			s.write("f", fmt.Sprint("v", i))
			s.write("g", fmt.Sprint("v", i))
		}
		require.NoError(t, s.Journal().Close())
		return s
	}
	again := func(s shop) shop {
		s.Journaled = openJournal(s.t, fsbackend.JournalOptions{Dir: s.dir}).Over(s.local)
		return s
	}
	t.Run("the index cut at every byte", func(t *testing.T) {
		s := fill(t)
		name := filepath.Join(s.dir, "changes.log")
		whole, err := os.ReadFile(name)
		require.NoError(t, err)
		blobs := s.blobs()
		for n := len(whole); n >= 0; n -= 41 {
			s.restore(blobs)
			require.NoError(t, os.WriteFile(name, whole[:n], 0o600))
			s := again(s)
			torn := n > 0 && !strings.HasSuffix(strings.TrimRight(string(whole[:n]), "\n"), "}")
			require.Equal(t, torn, len(s.Journal().Notes()) > 0, "cut at %d: %v", n, s.Journal().Notes())
			s.write("f", fmt.Sprint("new", n))
			_, code := s.back("f", "")
			require.Empty(t, code)
			require.NoError(t, s.Journal().Close())
			s = again(s)
			require.Empty(t, s.Journal().Notes(), "told once")
			require.NoError(t, s.Journal().Close())
		}
	})
	t.Run("a damaged line in the middle", func(t *testing.T) {
		s := fill(t)
		name := filepath.Join(s.dir, "changes.log")
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		lines := strings.Split(strings.ReplaceAll(string(data), "\n\n", "\n"), "\n")
		lines[3] = "{\"event\": 7\x00"
		lines[5] = `{"event":"version","key":"","digest":"00"}`
		require.NoError(t, os.WriteFile(name, []byte(strings.Join(lines, "\n")), 0o600))
		s = again(s)
		assert.Contains(t, strings.Join(s.Journal().Notes(), "\n"), "2 lines")
		_, code := s.back("f", "")
		assert.Empty(t, code)
	})
	t.Run("bytes that are other bytes", func(t *testing.T) {
		s := fill(t)
		d := fsbackend.VersionOf([]byte("v2")).String()
		require.NoError(t, os.WriteFile(filepath.Join(s.dir, "versions", d), []byte("xx"), 0o600))
		s = again(s)
		_, code := s.back("f", "")
		assert.Equal(t, fsbackend.CodeUnknownVersion, code)
		assert.NotEmpty(t, s.Journal().Notes())
		assert.Equal(t, "v3", s.text("f"))
		_, code = s.back("f", "")
		assert.Empty(t, code, "it is forgotten, and the next older one is there")
		assert.Equal(t, "v1", s.text("f"))
	})
	t.Run("bytes that are gone", func(t *testing.T) {
		s := fill(t)
		d := fsbackend.VersionOf([]byte("v2")).String()
		require.NoError(t, os.Remove(filepath.Join(s.dir, "versions", d)))
		s = again(s)
		assert.Contains(t, strings.Join(s.Journal().Notes(), ""), "1 earlier version")
		assert.NotContains(t, s.kept("f"), tagOf("v2"))
	})
	t.Run("the index is gone", func(t *testing.T) {
		s := fill(t)
		require.NoError(t, os.Remove(filepath.Join(s.dir, "changes.log")))
		s = again(s)
		assert.Contains(t, strings.Join(s.Journal().Notes(), ""), "index is gone")
		_, code := s.back("f", "")
		assert.Equal(t, fsbackend.CodeNoHistory, code)
		assert.Empty(t, s.blobs())
	})
	t.Run("what a killed process left", func(t *testing.T) {
		s := fill(t)
		require.NoError(t, os.WriteFile(filepath.Join(s.dir, "1.new"), []byte("x"), 0o600))
		s = again(s)
		assert.NoFileExists(t, filepath.Join(s.dir, "1.new"))
		assert.Empty(t, s.Journal().Notes())
	})
}

// blobs and restore save and bring back the stored bytes.
func (s shop) blobs() map[string][]byte {
	out := map[string][]byte{}
	names, err := filepath.Glob(filepath.Join(s.dir, "versions", "*"))
	require.NoError(s.t, err)
	for _, n := range names {
		data, err := os.ReadFile(n)
		require.NoError(s.t, err)
		out[n] = data
	}
	return out
}

func (s shop) restore(blobs map[string][]byte) {
	for n, data := range blobs {
		require.NoError(s.t, os.WriteFile(n, data, 0o600))
	}
}
