package presenter

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAbsolute(t *testing.T) {
	for _, c := range []struct{ cwd, path, want string }{
		{"/w", "/w/a.txt", "/w/a.txt"},
		{"/w", "a.txt", "/w/a.txt"},
		{"/w/", "./sub//b/../a.txt", "/w/sub/a.txt"},
		{"/w", "../x", "/x"},
		{"/w", "../../../x", "/x"},
		{"/w", "/a/../../b/.", "/b"},
		{"/w", ".", "/w"},
		{"/w", "", ""},
		{"/", "a", "/a"},
		{"/w", `a\b`, `/w/a\b`},
		{"/w", `C:\a`, `/w/C:\a`},
		{"", "a/../b", "b"},
		{"", `C:\a\..\b`, `C:\b`},
		{"rel", "a", "rel/a"},
		{`C:\w`, `a\b`, `C:\w\a\b`},
		{`C:\w`, `a/b/../c`, `C:\w\a\c`},
		{`C:\w`, `c:/w/a`, `c:\w\a`},
		{`C:\w`, `\top`, `C:\top`},
		{`C:\w`, `/top`, `C:\top`},
		{`C:\w`, `C:a`, `C:\w\a`},
		{`C:\w`, `c:a`, `C:\w\a`},
		{`C:\w`, `D:a`, `D:\a`},
		{`C:\w`, `D:\a`, `D:\a`},
		{`C:\w`, `..\..\..\x`, `C:\x`},
		{`\\host\share\w`, `a`, `\\host\share\w\a`},
		{`\\host\share\w`, `\a`, `\\host\share\a`},
		{`\\host\share`, `..\a`, `\\host\share\a`},
		{`C:\w`, `\\host\share\a`, `\\host\share\a`},
	} {
		assert.Equal(t, c.want, absolute(c.cwd, c.path), "%q in %q", c.path, c.cwd)
	}
}

func TestDisplayTitle(t *testing.T) {
	for _, c := range []struct{ title, cwd, path, want string }{
		{"Edit /w/a.txt", "/w", "/w/a.txt", "Edit a.txt"},
		{"Edit /w/a.txt", "/w/", "/w/a.txt", "Edit a.txt"},
		{"Edit /w/sub/a.txt", "/w/sub/", "/w/sub/a.txt", "Edit a.txt"},
		{"Edit /w/..cache/x", "/w", "/w/..cache/x", "Edit ..cache/x"},
		{"Edit /words/x", "/w", "/words/x", "Edit /words/x"},
		{"Edit /x", "/w", "/x", "Edit /x"},
		{"Edit /w", "/w", "/w", "Edit /w"},
		{"Edit /w/../x", "/w", "/w/../x", "Edit /w/../x"},
		{"Edit /w/./a", "/w", "/w/./a", "Edit a"},
		{"Edit a.txt", "/w", "a.txt", "Edit a.txt"},
		{"Read ./a.txt", "/w", "./a.txt", "Read a.txt"},
		{"Read b/../a.txt", "/w", "b/../a.txt", "Read a.txt"},
		{"Read ../a.txt", "/w", "../a.txt", "Read ../a.txt"},
		{"Edit /w/a.txt", "w", "/w/a.txt", "Edit /w/a.txt"},
		{"Edit /a", "/", "/a", "Edit a"},
		{"/w/a to /w/a", "/w", "/w/a", "a to a"},
		{"Read /w/a (1 - 2)", "/w", "/w/a", "Read a (1 - 2)"},
		{`Edit C:\w\a.txt`, `C:\w`, `C:\w\a.txt`, "Edit a.txt"},
		{`Edit c:\W\a.txt`, `C:\w`, `c:\W\a.txt`, "Edit a.txt"},
		{`Edit C:/w/sub/a.txt`, `C:\w`, `C:/w/sub/a.txt`, `Edit sub\a.txt`},
		{`Edit D:\w\a.txt`, `C:\w`, `D:\w\a.txt`, `Edit D:\w\a.txt`},
		{`Edit C:\wide\a`, `C:\w`, `C:\wide\a`, `Edit C:\wide\a`},
		{`Edit \\h\s\w\a`, `\\h\s\w`, `\\h\s\w\a`, "Edit a"},
		{"", "/w", "", ""},
	} {
		assert.Equal(t, c.want, displayTitle(c.title, c.cwd, []string{c.path}), c.title)
	}
	assert.Equal(t, "Move a and a/b", displayTitle("Move /w/a and /w/a/b", "/w", []string{"/w/a", "/w/a/b"}))
}

func FuzzAbsolute(f *testing.F) {
	f.Add("/w", "a/../b")
	f.Add(`C:\w`, `D:a`)
	f.Add(`\\h\s`, `\\..\..`)
	f.Fuzz(func(t *testing.T, cwd, path string) {
		got := absolute(cwd, path)
		if !isAbsolute(cwd) || path == "" {
			return
		}
		assert.True(t, isAbsolute(got), "%q in %q is %q", path, cwd, got)
		assert.Equal(t, got, absolute(cwd, got), "not stable")
		if rel, ok := relative(cwd, got); ok {
			assert.True(t, strings.HasSuffix(got, rel))
			assert.Equal(t, strings.ToLower(got), strings.ToLower(absolute(cwd, rel)))
		}
	})
}
