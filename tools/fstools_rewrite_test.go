//go:build cgo

package tools

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/msg"
	"dsh-acp/tools/fs"
)

// A rewrite by patterns asks about the files that change and no others, shows
// the hunks of all of them, and a preview asks for nothing.
func TestRewriteCalls(t *testing.T) {
	files := map[string]string{"src/a.js": "f(1);\n", "src/b.js": "f(2);\n", "src/c.js": "h(3);\n"}
	dir, set := hashlineSet(t, HashlineConfig{Parser: fs.Trees()}, files)
	const ops = `"ops":[{"pat":"f($A)","out":"g($A)"}],"paths":["src"]`
	plan, refused := set.Plan(t.Context(), msg.ToolUse{ID: "c", Name: "fs_edit", Input: `{` + ops + `}`})
	require.Nil(t, refused)
	assert.Equal(t, Change, plan.Need.Access)
	assert.Equal(t, []string{filepath.Join(dir, "src", "a.js"), filepath.Join(dir, "src", "b.js")}, plan.Need.Paths)

	preview, refused := set.Plan(t.Context(), msg.ToolUse{ID: "c", Name: "fs_edit", Input: `{"dry_run":true,` + ops + `}`})
	require.Nil(t, refused)
	assert.Equal(t, Look, preview.Need.Access)
	r := preview.Run(t.Context())
	require.False(t, r.IsError, resultText(r))
	assert.Contains(t, resultText(r), "dry run: nothing was written")
	assert.Equal(t, files["src/a.js"], read(t, dir, "src/a.js"))

	r = plan.Run(t.Context())
	require.False(t, r.IsError, resultText(r))
	assert.Equal(t, "g(1);\ng(2);\nh(3);\n", read(t, dir, "src/a.js")+read(t, dir, "src/b.js")+read(t, dir, "src/c.js"))
	assert.Contains(t, resultText(r), "2 matches in 2 files, 0 nested left, 0 warnings")
	assert.Contains(t, string(r.Meta), `"oldText":"f(1);"`)
	assert.Contains(t, string(r.Meta), `"oldText":"f(2);"`)

	_, refused = set.Plan(t.Context(), msg.ToolUse{ID: "c", Name: "fs_edit", Input: `{` + ops + `}`})
	require.NotNil(t, refused, "nobody is asked about a call that cannot succeed")
	assert.Equal(t, "EDIT_NO_MATCH", refused.Error.Code)
}

// Of two rewrites that were planned together the later one finds what the
// earlier one left: it says so, and is no success if that is nothing.
func TestRewriteAfterAnother(t *testing.T) {
	dir, set := hashlineSet(t, HashlineConfig{Parser: fs.Trees()}, map[string]string{"a.js": "f(1);\n", "b.js": "f(2);\n"})
	plan := func(paths string) *Plan {
		t.Helper()
		p, refused := set.Plan(t.Context(), msg.ToolUse{ID: "c", Name: "fs_edit", Input: `{"ops":[{"pat":"f($A)","out":"g($A)"}],"paths":` + paths + `}`})
		require.Nil(t, refused)
		return p
	}
	first, same, both := plan(`["a.js"]`), plan(`["a.js"]`), plan(`["a.js","b.js"]`)
	require.False(t, first.Run(t.Context()).IsError)

	r := same.Run(t.Context())
	require.True(t, r.IsError)
	assert.Equal(t, "EDIT_NO_MATCH", r.Error.Code)
	assert.Contains(t, resultText(r), "a.js changed since the rewrite was worked out")

	r = both.Run(t.Context())
	require.False(t, r.IsError, resultText(r))
	assert.Contains(t, resultText(r), "1 match in 1 file")
	assert.Contains(t, resultText(r), "a.js changed since the rewrite was worked out")
	assert.Equal(t, "g(1);\ng(2);\n", read(t, dir, "a.js")+read(t, dir, "b.js"))
}
