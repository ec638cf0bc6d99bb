package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/acptest"
)

// A file outside of the session's folders is opened by the answer to a
// question about it, and by nothing else.
func TestFilesOutsideAreAskedAbout(t *testing.T) {
	for _, answer := range []string{"allow_once", "reject_once"} {
		t.Run(answer, func(t *testing.T) {
			p := newPlace(t)
			p.settings(`{"guard": {"block": ["../out/key.txt"], "readAllow": ["../out/readable.txt"]}, "toolset": ["Read", "Write", "Edit", "Grep"]}`)
			out := p.folder("out")
			for _, name := range []string{"a.txt", "unread.txt", "key.txt", "readable.txt"} {
				require.NoError(t, os.WriteFile(filepath.Join(out, name), []byte("out\n"), 0o644))
			}
			require.NoError(t, os.Symlink(filepath.Join(out, "unread.txt"), filepath.Join(out, "link.txt")))
			c, _ := p.agent()
			asked := 0
			c.OnQuestion(func(q acptest.Question) any {
				asked++
				return q.Pick(answer)
			})
			id := p.newSession(c)
			at := func(name string) string { return filepath.ToSlash(filepath.Join(out, name)) }
			says := p.calls(c, id,
				[2]string{"Read", `{"file_path": "` + at("a.txt") + `"}`},
				[2]string{"Edit", `{"file_path": "` + at("a.txt") + `", "old_string": "out", "new_string": "in"}`},
				[2]string{"Write", `{"file_path": "` + at("new.txt") + `", "content": "new\n"}`},
				[2]string{"Edit", `{"file_path": "` + at("unread.txt") + `", "old_string": "out", "new_string": "in"}`},
				[2]string{"Read", `{"file_path": "` + at("key.txt") + `"}`},
				[2]string{"Read", `{"file_path": "` + at("link.txt") + `"}`},
				[2]string{"Edit", `{"file_path": "` + at("readable.txt") + `", "old_string": "out", "new_string": "in"}`},
				[2]string{"Grep", `{"pattern": "out", "path": "` + at("a.txt") + `", "output_mode": "content"}`},
			)
			for i := range says[4:7] {
				assert.Contains(t, says[4+i], denied, "a list, a link, a list")
			}
			assert.Contains(t, says[3], "read it first")
			got := ""
			for _, name := range []string{"a.txt", "new.txt", "unread.txt"} {
				b, err := os.ReadFile(at(name))
				if err != nil {
					b = []byte("-")
				}
				got += strings.TrimSpace(string(b)) + " "
			}
			if answer == "allow_once" {
				assert.Equal(t, 4, asked)
				assert.Contains(t, says[0], "out")
				assert.Equal(t, "in new out ", got)
				return
			}
			assert.Equal(t, 3, asked, "a file that was not read is not asked about")
			assert.NotContains(t, says[0], "1\tout")
			assert.Equal(t, "out - out ", got)
		})
	}
}
