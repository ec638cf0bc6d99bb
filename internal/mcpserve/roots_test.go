package mcpserve

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFolderOf(t *testing.T) {
	for _, c := range []struct {
		uri       string
		unix, win string // what the path is; with "!" a part of the error
	}{
		{"file:///home/a", "/home/a", "!no drive"},
		{"file:///a%20b%23c", "/a b#c", "!no drive"},
		{"FILE://localhost/x", "/x", "!no drive"},
		{"file:///C:/Users/a", "/C:/Users/a", `C:\Users\a`},
		{"file:///c%3A/Users", "/c:/Users", `c:\Users`},
		{"file:///C:", "/C:", `C:\`},
		{"file://server/share/x", "!another machine", `\\server\share\x`},
		{"file:relative", "!absolute", "!absolute"},
		{"file:///a%00b", "!absolute", "!absolute"},
		{"https://example.com/x", "!scheme", "!scheme"},
		{"/home/a", "!scheme", "!scheme"},
		{"file:///a#1", "!%23", "!%23"},
		{"file:///a?b", "!%3F", "!%3F"},
		{"", "!scheme", "!scheme"},
		{"file:///%zz", "!invalid URL escape", "!invalid URL escape"},
	} {
		for _, windows := range []bool{false, true} {
			want := c.unix
			if windows {
				want = c.win
			}
			got, err := FolderOf(c.uri, windows)
			if want[0] == '!' {
				assert.ErrorContains(t, err, want[1:], "%s windows=%v", c.uri, windows)
				continue
			}
			assert.NoError(t, err, c.uri)
			assert.Equal(t, want, got)
		}
	}
}
