package fsbackend_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/guard"
)

// treeOf makes a tree of files and links from a text: "name" is a file,
// "name>target" a link, each on a line. All names are below top. Files hold
// their own path.
func treeOf(t *testing.T, m *fsbackend.Mem, top, text string) {
	t.Helper()
	for i, line := range strings.Split(text, "\n") {
		if i == 20 {
			return
		}
		name, target, isLink := strings.Cut(line, ">")
		path := filepath.Join(top, filepath.Clean("/"+name))
		if path == top || strings.ContainsRune(line, 0) {
			continue
		}
		if isLink {
			if rest, ok := strings.CutPrefix(target, "/"); ok {
				target = filepath.Join(top, rest)
			}
			_ = m.Symlink(target, path) // a file may be in the way
			continue
		}
		if mode, _, err := m.Lstat(path); err == nil && !mode.IsRegular() {
			continue
		}
		_ = m.Put(path, []byte(path), 0)
	}
}

// What a policy lets through never lies, after its links, below a blocked
// place or outside of what is open.
func FuzzRestrict(f *testing.F) {
	for _, seed := range []struct{ tree, block, allow, path string }{
		{"root/a\nroot/secret/k\nroot/pub>secret", "root/secret", "out/x", "root/pub/k"},
		{"root/a\nout/x\nroot/l>../out", "", "", "root/l/x"},
		{"out/x\nroot/l>/out/x", "", "out/x", "out/x"},
		{"root/s/k\nroot/e>s", "root/e", "", "root/s/k"},
		{"root/l>l2\nroot/l2>l", "root/l", "", "root/l"},
		{"rootevil/x", "", "", "rootevil/x"},
		{"root/d>missing/../s\nroot/s", "root/s", "", "root/d"},
	} {
		f.Add(seed.tree, seed.block, seed.allow, seed.path)
	}
	top := filepath.Join(string(filepath.Separator), "top")
	f.Fuzz(func(t *testing.T, tree, block, allow, path string) {
		m, err := fsbackend.NewMem(fsbackend.MemOptions{Roots: []string{filepath.Join(top, "root")}, Unrestricted: true})
		require.NoError(t, err)
		treeOf(t, m, top, tree)
		under := func(list string) []string {
			var out []string
			for e := range strings.SplitSeq(list, ",") {
				if !strings.ContainsRune(e, 0) {
					out = append(out, filepath.Join(top, filepath.Clean("/"+e)))
				}
			}
			return out
		}
		cfg := guard.Config{Root: filepath.Join(top, "root"), Allow: under(allow), Block: under(block)}
		p, err := guard.New(cfg)
		require.NoError(t, err)
		b := fsbackend.Restrict(m, fsbackend.Limits{Policy: p, Fresh: -1})
		path = filepath.Join(top, filepath.Clean("/"+path))
		info, err := b.Stat(t.Context(), path)
		file, rerr := b.Read(t.Context(), path)
		if err != nil {
			if rerr == nil {
				t.Fatalf("%s is read though it is closed: %v", path, err)
			}
			return
		}
		free := real(m)
		root, rootErr := free(cfg.Root)
		if rootErr != nil {
			t.Fatalf("%s is open though the root is gone", path)
		}
		for _, e := range cfg.Block {
			at, err := free(e)
			if below(e, info.Real) || err == nil && below(at, info.Real) {
				t.Fatalf("%s leads to %s, which %s (%s) blocks", path, info.Real, e, at)
			}
		}
		granted := false
		for _, e := range cfg.Allow {
			granted = granted || e == path
		}
		if !granted && !below(root, info.Real) {
			t.Fatalf("%s leads out, to %s", path, info.Real)
		}
		if rerr == nil && string(file.Data) != info.Real {
			t.Fatalf("read %q, not %s", file.Data, info.Real)
		}
	})
}

// real follows links without a policy.
func real(m *fsbackend.Mem) func(string) (string, error) {
	return func(path string) (string, error) {
		info, err := m.Stat(context.Background(), path)
		return info.Real, err
	}
}

func below(root, path string) bool {
	return path == root || strings.HasPrefix(path, strings.TrimSuffix(root, "/")+"/")
}

// A check is lexical, follows the path, and compares with where a hundred
// entries lead.
func BenchmarkGuardCheck(b *testing.B) {
	w := newWorld(b, nil)
	deep := "a/b/c/d/e/f/g/h/i/file.txt"
	w.put(deep, "x")
	var block []string
	for i := range 100 {
		w.put(fmt.Sprintf("blocked/%d/d/x", i), "x")
		block = append(block, fmt.Sprintf("blocked/%d/d", i))
	}
	r := fsbackend.Restrict(w.local, fsbackend.Limits{Policy: policy(b, guard.Config{Root: w.root, Block: block})})
	path := w.path(deep)
	b.Run("check", func(b *testing.B) {
		for b.Loop() {
			if err := r.MayWrite(b.Context(), path); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("decide", func(b *testing.B) {
		p := r.Policy()
		for b.Loop() {
			p.Decide(guard.Writing, path)
		}
	})
	for name, be := range map[string]fsbackend.Backend{"read/restricted": r, "read/local": w.local} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := be.Read(b.Context(), path); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
