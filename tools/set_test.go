package tools

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/msg"
)

// open makes a folder with files and a set of tools on it.
func open(t testing.TB, faults *fsbackend.Faults, files map[string]string) (dir string, set *Set) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	local, err := fsbackend.NewLocal(fsbackend.Options{Roots: []string{dir}, Faults: faults})
	require.NoError(t, err)
	t.Cleanup(func() { local.Close() })
	set, err = New(Config{Cwd: dir, Files: local})
	require.NoError(t, err)
	return dir, set
}

func read(t testing.TB, dir, name string) string {
	data, err := os.ReadFile(filepath.Join(dir, name))
	require.NoError(t, err)
	return string(data)
}

func editArgs(path, before, after string) string {
	return fmt.Sprintf(`{"file_path":%q,"old_string":%q,"new_string":%q}`, path, before, after)
}

func TestNewChecksItsConfig(t *testing.T) {
	mem, err := fsbackend.NewMem(fsbackend.MemOptions{})
	require.NoError(t, err)
	for _, c := range []struct {
		config Config
		want   string
	}{
		{Config{Cwd: t.TempDir()}, "Files is nil"},
		{Config{Cwd: "w", Files: mem}, "not absolute"},
		{Config{Cwd: t.TempDir(), Files: mem, Offer: []string{"Read", "Fly"}}, `no tool "Fly"`},
	} {
		_, err := New(c.config)
		assert.ErrorContains(t, err, c.want)
	}
}

func TestOnlyOfferedToolsRun(t *testing.T) {
	mem, err := fsbackend.NewMem(fsbackend.MemOptions{})
	require.NoError(t, err)
	set, err := New(Config{Cwd: t.TempDir(), Files: mem, Offer: []string{"Read"}})
	require.NoError(t, err)
	require.Len(t, set.Specs(), 1)
	r := call(t, set, "Edit", editArgs("a", "x", "y"))
	assert.Equal(t, msg.CodeUnknownTool, r.Error.Code)
	names, ok := Preset("claude")
	assert.True(t, ok)
	for _, name := range names {
		assert.Contains(t, Presenters(), name)
	}
}

func TestNeeds(t *testing.T) {
	dir, set := open(t, nil, map[string]string{"a.txt": "one\n"})
	for _, c := range []struct {
		tool, args string
		want       Need
	}{
		{"Read", `{"file_path":"a.txt"}`, Need{Access: Look, Paths: []string{filepath.Join(dir, "a.txt")}}},
		{"Edit", editArgs("./x/../a.txt", "one", "1"), Need{Access: Change, Paths: []string{filepath.Join(dir, "a.txt")}}},
		{"Write", `{"file_path":"b.txt","content":""}`, Need{Access: Change, Paths: []string{filepath.Join(dir, "b.txt")}}},
	} {
		p, refused := set.Plan(context.Background(), msg.ToolUse{Name: c.tool, Input: c.args})
		require.Nil(t, refused, c.args)
		assert.Equal(t, c.want, p.Need)
	}
	assert.Equal(t, "one\n", read(t, dir, "a.txt"), "a plan changes nothing")
}

// TestAFileChangesWhileTheQuestionIsOpen: what was planned is checked again.
func TestAFileChangesWhileTheQuestionIsOpen(t *testing.T) {
	for _, c := range []struct{ name, meanwhile, code, after string }{
		{"elsewhere", "zero\none\ntwo\n", "", "zero\nONE\ntwo\n"},
		{"the text is gone", "two\n", CodeEditNotFound, "two\n"},
		{"the text is there twice", "one\none\n", CodeAmbiguousEdit, "one\none\n"},
		{"no longer text", "one\x00\n", fsbackend.CodeNotText, "one\x00\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, set := open(t, nil, map[string]string{"a.txt": "one\ntwo\n"})
			p, refused := set.Plan(context.Background(), msg.ToolUse{Name: "Edit", Input: editArgs("a.txt", "one", "ONE")})
			require.Nil(t, refused)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte(c.meanwhile), 0o644))
			r := p.Run(context.Background())
			if c.code == "" {
				assert.False(t, r.IsError, r.Content.PlainText())
			} else if assert.NotNil(t, r.Error) {
				assert.Equal(t, c.code, r.Error.Code)
				assert.Nil(t, r.Meta)
			}
			assert.Equal(t, c.after, read(t, dir, "a.txt"))
		})
	}
	t.Run("created", func(t *testing.T) {
		dir, set := open(t, nil, nil)
		p, refused := set.Plan(context.Background(), msg.ToolUse{Name: "Write", Input: `{"file_path":"a.txt","content":"mine\n"}`})
		require.Nil(t, refused)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("theirs\n"), 0o644))
		r := p.Run(context.Background())
		require.NotNil(t, r.Error)
		assert.Equal(t, fsbackend.CodeNotObserved, r.Error.Code)
		assert.Equal(t, "theirs\n", read(t, dir, "a.txt"))
	})
}

// TestAnotherProgramWritesInTheLastMoment: between the look and the rename.
func TestAnotherProgramWritesInTheLastMoment(t *testing.T) {
	other := func(text string, nth int) *fsbackend.Faults {
		return fsbackend.NewFaults(fsbackend.Fault{At: fsbackend.AtBeforeRename, Nth: nth, Do: func(path string) {
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				panic(err)
			}
		}})
	}
	t.Run("edit looks again", func(t *testing.T) {
		dir, set := open(t, other("zero\none\n", 1), map[string]string{"a.txt": "one\n"})
		r := call(t, set, "Edit", editArgs("a.txt", "one", "ONE"))
		assert.False(t, r.IsError, r.Content.PlainText())
		assert.Equal(t, "zero\nONE\n", read(t, dir, "a.txt"))
	})
	t.Run("write gives way", func(t *testing.T) {
		dir, set := open(t, other("theirs\n", 1), map[string]string{"a.txt": "one\n"})
		require.False(t, call(t, set, "Read", `{"file_path":"a.txt"}`).IsError)
		r := call(t, set, "Write", `{"file_path":"a.txt","content":"mine\n"}`)
		require.NotNil(t, r.Error, r.Content.PlainText())
		assert.Equal(t, fsbackend.CodeStaleVersion, r.Error.Code)
		assert.Equal(t, "theirs\n", read(t, dir, "a.txt"))
	})
}

func TestCancelled(t *testing.T) {
	dir, set := open(t, nil, map[string]string{"a.txt": "one\n"})
	p, refused := set.Plan(context.Background(), msg.ToolUse{Name: "Edit", Input: editArgs("a.txt", "one", "1")})
	require.Nil(t, refused)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r := p.Run(ctx)
	require.NotNil(t, r.Error)
	assert.Equal(t, msg.CodeAborted, r.Error.Code)
	_, refused = set.Plan(ctx, msg.ToolUse{Name: "Read", Input: `{"file_path":"a.txt"}`})
	require.NotNil(t, refused)
	assert.Equal(t, msg.CodeAborted, refused.Error.Code)
	assert.Equal(t, "one\n", read(t, dir, "a.txt"))
}

func TestEditsOfOneFileAtOnceAllLand(t *testing.T) {
	var text strings.Builder
	for i := range 40 {
		fmt.Fprintf(&text, "line %02d\n", i)
	}
	dir, set := open(t, nil, map[string]string{"a.txt": text.String()})
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			r := call(t, set, "Edit", editArgs("a.txt", fmt.Sprintf("line %02d", 2*i), fmt.Sprintf("LINE %02d", 2*i)))
			assert.False(t, r.IsError, r.Content.PlainText())
		})
	}
	all.Wait()
	got := read(t, dir, "a.txt")
	assert.Equal(t, 20, strings.Count(got, "LINE"))
	assert.Equal(t, 20, strings.Count(got, "line"))
}

// TestLargeFilesAreStreamed: the same answer as for a small file, and the
// session has seen the version of all of it.
func TestLargeFilesAreStreamed(t *testing.T) {
	line := strings.Repeat("x", 99) + "\n"
	text := "\ufefffirst\r\n" + strings.Repeat(line, streamFrom/len(line)+1)
	dir, set := open(t, nil, map[string]string{"big.txt": text, "bad.txt": text + "\xff"})
	r := call(t, set, "Read", `{"file_path":"big.txt","limit":2}`)
	require.False(t, r.IsError, r.Content.PlainText())
	assert.Equal(t, "1\tfirst\n2\t"+strings.TrimSuffix(line, "\n"), r.Content.PlainText())
	assert.JSONEq(t, fmt.Sprintf(`{"read":{"offset":1,"lines":2,"total":%d}}`, strings.Count(text, "\n")), string(r.Meta))
	w := call(t, set, "Write", `{"file_path":"big.txt","content":"small\n"}`)
	require.False(t, w.IsError, w.Content.PlainText())
	assert.Equal(t, "\ufeffsmall\n", read(t, dir, "big.txt"))

	r = call(t, set, "Read", `{"file_path":"bad.txt"}`)
	require.NotNil(t, r.Error)
	assert.Equal(t, fsbackend.CodeNotText, r.Error.Code)
	assert.Contains(t, r.Content.PlainText(), fmt.Sprintf("offset %d", len(text)))
	w = call(t, set, "Write", `{"file_path":"bad.txt","content":"small\n"}`)
	require.False(t, w.IsError, "a file that was found not to be text counts as seen: "+w.Content.PlainText())
}

func TestPictures(t *testing.T) {
	large := "\x89PNG\r\n\x1a\n" + strings.Repeat("x", maxPicture)
	_, set := open(t, nil, map[string]string{"a.webp": "RIFF1234WEBPx", "b.txt": "GIF89a...", "large.png": large, "huge.png": large + strings.Repeat("x", streamFrom)})
	for name, mime := range map[string]string{"a.webp": "image/webp", "b.txt": "image/gif"} {
		r := call(t, set, "Read", fmt.Sprintf(`{"file_path":%q}`, name))
		require.Len(t, r.Content, 1)
		assert.Equal(t, mime, r.Content[0].(msg.Image).MIME)
	}
	for _, name := range []string{"large.png", "huge.png"} {
		r := call(t, set, "Read", fmt.Sprintf(`{"file_path":%q}`, name))
		require.NotNil(t, r.Error, name)
		assert.Equal(t, fsbackend.CodeTooLarge, r.Error.Code)
	}
}

// BenchmarkEdit measures one edit, plan and run, in files of several sizes.
func BenchmarkEdit(b *testing.B) {
	for _, lines := range []int{5_000, 50_000, 500_000} {
		b.Run(fmt.Sprintf("%d lines", lines), func(b *testing.B) {
			var text bytes.Buffer
			for i := range lines {
				fmt.Fprintf(&text, "%08d %s\n", i, strings.Repeat("x", 90))
			}
			_, set := open(b, nil, map[string]string{"a.txt": text.String()})
			b.ReportAllocs()
			words := []string{"marker", fmt.Sprintf("%08d", lines/2)}
			for i := 0; b.Loop(); i++ {
				p, refused := set.Plan(b.Context(), msg.ToolUse{Name: "Edit", Input: editArgs("a.txt", words[(i+1)%2], words[i%2])})
				if refused != nil {
					b.Fatal(refused.Content.PlainText())
				}
				if r := p.Run(b.Context()); r.IsError {
					b.Fatal(r.Content.PlainText())
				}
			}
		})
	}
}
