//go:build cgo

package mcpserve

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/fsbackend"
	"dsh-acp/tools"
	"dsh-acp/tools/fs"
)

// A rewrite by patterns goes over the files of a folder, a dry run writes
// nothing, and a pattern that finds nothing is a result with its code.
func TestRewrite(t *testing.T) {
	dir := folder(t, map[string]string{"a.js": "f(1);\n", "b.js": "f(2);\n"})
	r := newRig(t)
	local, err := fsbackend.NewLocal(fsbackend.Options{Roots: []string{dir}})
	require.NoError(t, err)
	defer local.Close()
	set, err := tools.New(tools.Config{
		Cwd: dir, Roots: []string{dir}, Files: local, Offer: []string{"fs_read", "fs_edit"},
		Hashline: tools.HashlineConfig{Parser: fs.Trees()},
	})
	require.NoError(t, err)
	r.cfg.Specs, r.cfg.Roots = set.Specs(), []string{dir}
	r.cfg.Open = func([]string) (Toolbox, error) {
		return Toolbox{Set: set, Close: func() error { return nil }}, nil
	}
	s := r.connect(newClient(), "")

	args := map[string]any{
		"ops": []any{map[string]any{"pat": "f($A)", "out": "g($A)"}}, "paths": []any{"."}, "dry_run": true,
	}
	text, res := call(t, s, "fs_edit", args)
	assert.False(t, res.IsError, text)
	assert.Equal(t, "f(1);\nf(2);\n", fileText(t, filepath.Join(dir, "a.js"))+fileText(t, filepath.Join(dir, "b.js")))

	delete(args, "dry_run")
	text, res = call(t, s, "fs_edit", args)
	assert.False(t, res.IsError, text)
	assert.Contains(t, text, "2 matches in 2 files")
	assert.Equal(t, "g(1);\ng(2);\n", fileText(t, filepath.Join(dir, "a.js"))+fileText(t, filepath.Join(dir, "b.js")))

	text, res = call(t, s, "fs_edit", args)
	assert.True(t, res.IsError, text)
	assert.Equal(t, "EDIT_NO_MATCH", res.Meta[metaKey].(map[string]any)["code"])
}
