package tools

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/msg"
)

var update = flag.Bool("update", false, "rewrite results, cards and files after of testdata")

// TestScripts runs testdata/TOOL/*.txtar. Of an archive's files,
//
//	config            lines "overwrite-unread", "no-list" and "patch", if any;
//	                  apply_patch is offered with the last one alone
//	before/PATH       are the files at the start
//	call NAME         are the arguments of a call of tool NAME, in order,
//	external PATH     is what another program writes between calls,
//	result N, card N  are what the N-th call gives and how it looks
//	after/PATH        are the files at the end
//
// PATH.q holds a file as one Go string, for bytes that txtar cannot hold.
// The folder of a run is written as /w.
func TestScripts(t *testing.T) {
	paths, err := filepath.Glob("testdata/*/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(path), "testdata/"), ".txtar")
		t.Run(name, func(t *testing.T) {
			ar, err := txtar.ParseFile(path)
			require.NoError(t, err)
			got := runScript(t, ar)
			if *update {
				require.NoError(t, os.WriteFile(path, txtar.Format(got), 0o644))
				return
			}
			assert.Equal(t, string(txtar.Format(ar)), string(txtar.Format(got)))
		})
	}
}

// runScript returns the archive as it should be.
func runScript(t *testing.T, ar *txtar.Archive) *txtar.Archive {
	top, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	dir := filepath.Join(top, "w")
	require.NoError(t, os.Mkdir(dir, 0o755))
	local, err := fsbackend.NewLocal(fsbackend.Options{Roots: []string{dir}})
	require.NoError(t, err)
	t.Cleanup(func() { local.Close() })
	config := Config{Cwd: dir, Files: local, List: listDir, Offer: []string{"Read", "Write", "Edit", "read", "write", "edit", "Glob", "Grep", "LS"}}
	out := &txtar.Archive{Comment: ar.Comment}
	keep := func(f txtar.File) { out.Files = append(out.Files, f) }
	set := configured(t, &config, ar)
	calls := 0
	for _, f := range ar.Files {
		kind, rest, _ := strings.Cut(f.Name, " ")
		switch {
		case f.Name == "config":
			keep(f)
		case strings.HasPrefix(f.Name, "before/"):
			keep(f)
			writeFile(t, dir, strings.TrimPrefix(f.Name, "before/"), f.Data)
		case kind == "external":
			keep(f)
			writeFile(t, dir, rest, f.Data)
		case kind == "call":
			keep(f)
			calls++
			args := strings.ReplaceAll(strings.TrimSpace(string(f.Data)), "/w/", filepath.ToSlash(dir)+"/")
			r := call(t, set, rest, args)
			text := resultText(r)
			keep(txtar.File{Name: fmt.Sprintf("result %d", calls), Data: []byte(strings.ReplaceAll(text, top, ""))})
			card := cardText(t, rest, args, r)
			keep(txtar.File{Name: fmt.Sprintf("card %d", calls), Data: []byte(strings.ReplaceAll(card, top, ""))})
		case kind == "result", kind == "card", strings.HasPrefix(f.Name, "after/"):
		default:
			t.Fatalf("unknown file %q", f.Name)
		}
	}
	for _, f := range readTree(t, dir) {
		keep(f)
	}
	return out
}

func configured(t *testing.T, c *Config, ar *txtar.Archive) *Set {
	for _, f := range ar.Files {
		if f.Name != "config" {
			continue
		}
		for _, word := range strings.Fields(string(f.Data)) {
			switch word {
			case "overwrite-unread":
				c.OverwriteUnread = true
			case "no-list":
				c.List = nil
			case "patch":
				c.Offer = append(c.Offer, applyPatch)
			default:
				t.Fatalf("unknown configuration %q", word)
			}
		}
	}
	set, err := New(*c)
	require.NoError(t, err)
	return set
}

func call(t testing.TB, set *Set, name, args string) msg.ToolResult {
	plan, refused := set.Plan(context.Background(), msg.ToolUse{ID: "c", Name: name, Input: args})
	if refused != nil {
		require.Nil(t, plan)
		return *refused
	}
	return plan.Run(context.Background())
}

func resultText(r msg.ToolResult) string {
	var b strings.Builder
	if r.IsError {
		fmt.Fprintf(&b, "error %s\n", r.Error.Code)
		if r.Error.Details != nil {
			fmt.Fprintf(&b, "details %s\n", r.Error.Details)
		}
	}
	for _, block := range r.Content {
		switch c := block.(type) {
		case msg.Text:
			b.WriteString(c.Text + "\n")
		case msg.Image:
			fmt.Fprintf(&b, "%s of %d bytes\n", c.MIME, len(c.Data))
		}
	}
	if r.Meta != nil {
		fmt.Fprintf(&b, "meta %s\n", r.Meta)
	}
	return b.String()
}

// cardText shows both cards of a call as JSON.
func cardText(t *testing.T, name, args string, r msg.ToolResult) string {
	p := Presenters()[name]
	var b strings.Builder
	for _, c := range []any{p.Call(json.RawMessage(args), true), p.Result(json.RawMessage(args), r)} {
		raw, err := msg.Marshal(c)
		require.NoError(t, err)
		fmt.Fprintf(&b, "%s %s\n", strings.TrimPrefix(fmt.Sprintf("%T", c), "presenter."), raw)
	}
	return b.String()
}

func writeFile(t testing.TB, dir, name string, data []byte) {
	if bare, ok := strings.CutSuffix(name, ".q"); ok {
		s, err := strconv.Unquote(strings.TrimSpace(string(data)))
		require.NoError(t, err)
		name, data = bare, []byte(s)
	}
	path := filepath.Join(dir, filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, data, 0o644))
}

func readTree(t *testing.T, dir string) []txtar.File {
	var out []txtar.File
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		name := "after/" + filepath.ToSlash(rel)
		if plain := string(data); !strings.HasSuffix(plain, "\n") || strings.ContainsAny(plain, "\r\ufeff\x00") || strings.ToValidUTF8(plain, "") != plain {
			name, data = name+".q", []byte(strconv.Quote(plain)+"\n")
		}
		out = append(out, txtar.File{Name: name, Data: data})
		return err
	}))
	return out
}

func listDir(_ context.Context, dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}
