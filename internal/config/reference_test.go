package config

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write docs/settings.md")

// The documentation holds the table as it is.
func TestReference(t *testing.T) {
	const begin, end = "<!-- table of settings -->\n", "<!-- end of table -->\n"
	file := filepath.Join("..", "..", "docs", "settings.md")
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	head, rest, ok := strings.Cut(string(b), begin)
	require.True(t, ok)
	old, tail, ok := strings.Cut(rest, end)
	require.True(t, ok)
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(head+begin+Reference()+end+tail), 0o644))
		return
	}
	assert.Equal(t, Reference(), old, "run go test ./internal/config -update")
}
