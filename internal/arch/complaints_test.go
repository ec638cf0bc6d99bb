package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestComplaintsNameTests: each row of docs/complaints.md names a test, and
// each test that it names is there.
func TestComplaintsNameTests(t *testing.T) {
	b, err := os.ReadFile("../../docs/complaints.md")
	require.NoError(t, err)
	named := regexp.MustCompile("`([a-z][a-z0-9/-]*)\\.((?:Test|Fuzz)\\w+)`")
	numbers := 0
	for line := range strings.Lines(string(b)) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| --- ") || strings.Contains(line, "held by") {
			continue
		}
		if regexp.MustCompile(`^\| \d+ \|`).MatchString(line) {
			numbers++
		}
		tests := named.FindAllStringSubmatch(line, -1)
		assert.NotEmpty(t, tests, "no test: %.60s", line)
		for _, m := range tests {
			assert.True(t, hasTest(t, m[1], m[2]), "%s has no %s", m[1], m[2])
		}
	}
	assert.Equal(t, 25, numbers)
}

func hasTest(t *testing.T, dir, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../..", filepath.FromSlash(dir), "*_test.go"))
	require.NoError(t, err)
	for _, f := range files {
		b, err := os.ReadFile(f)
		require.NoError(t, err)
		if strings.Contains(string(b), "\nfunc "+name+"(") {
			return true
		}
	}
	return false
}
