package fs_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"dsh-acp/fsbackend"
	"dsh-acp/tools/fs"
)

// FuzzBox holds the laws of the toolbox for any file and any call: what is
// refused and what is a dry run changes nothing; a dry run tells what the call
// does; the header of a result is that of the file; what was read can be
// edited without reading again.
func FuzzBox(f *testing.F) {
	for _, s := range []struct{ data, ops, old, new string }{
		{abc, "replace 2:\n+BETA", "alpha", "ALPHA"},
		{"one\r\ntwo", "insert tail:\n+three", "two", ""},
		{"\ufeffa\n\nb\r\n", "delete 1..2\ninsert head:\n+x\n+", "\n", "\n\n"},
		{"", "insert head:\n+x", "", "y"},
		{"a\x00", "delete 1", "a", "b"},
		{"a\na\n", "replace 1:\n1| a\n# note", "a\n", "b"},
		{"x  \n", "delete 9", "x\n", "x"},
	} {
		f.Add([]byte(s.data), s.ops, s.old, s.new)
	}
	const path = "/w/a.txt"
	f.Fuzz(func(t *testing.T, data []byte, ops, old, replacement string) {
		mem, err := fsbackend.NewMem(fsbackend.MemOptions{Roots: []string{"/w"}})
		require.NoError(t, err)
		now := func() []byte {
			file, err := mem.Read(t.Context(), path)
			require.NoError(t, err)
			return file.Data
		}
		_, err = mem.Write(t.Context(), fsbackend.Write{Path: path, Data: bytes.Clone(data), Pre: fsbackend.Absent{}})
		require.NoError(t, err)
		box, err := fs.NewBox(fs.Config{Root: "/w", Files: mem})
		require.NoError(t, err)

		read := box.Read(t.Context(), []fs.Target{{Path: "a.txt"}})[0]
		tag := read.FileHash
		for _, args := range []map[string]any{
			{"path": "a.txt", "file_hash": tag, "ops": ops},
			{"path": "a.txt", "old_string": old, "new_string": replacement},
			{"path": "a.txt", "old_string": old, "new_string": replacement, "replace_all": true},
		} {
			before := now()
			call := func(dryRun bool) ([]fs.EditResult, error) {
				args["dry_run"] = dryRun
				raw, err := json.Marshal(args)
				require.NoError(t, err)
				return box.Edit(t.Context(), raw)
			}
			would, wouldErr := call(true)
			require.Equal(t, before, now(), "a dry run wrote")
			done, err := call(false)
			after := now()
			require.Equal(t, wouldErr == nil, err == nil, "dry run: %v, call: %v", wouldErr, err)
			if err != nil {
				require.Equal(t, before, after, "refused, and written: %v", err)
				require.NotEmpty(t, fs.CodeOf(err), "%v", err)
				continue
			}
			require.NotEmpty(t, read.Header, "a file that cannot be read was edited")
			require.Equal(t, would[0].Diff, done[0].Diff)
			require.Equal(t, would[0].FirstChangedLine, done[0].FirstChangedLine)
			require.Equal(t, fs.TagOf(after), done[0].FileHash[max(0, len(done[0].FileHash)-4):])
			require.Equal(t, done[0].Change.Same, bytes.Equal(before, after))
			if _, isOps := args["ops"]; isOps {
				args["file_hash"] = done[0].FileHash
			}
		}
	})
}
