package tools

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/guard"
)

// BenchmarkGrepTool searches Go's own source by the whole tool, past a guard
// whose lists have entries, and has ripgrep do the same beside it where it is
// on the path (apt-get install ripgrep). "x-of-rg" is our wall time over its;
// it must not be over 2.
func BenchmarkGrepTool(b *testing.B) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Skip("there is no source of Go here: ", err)
	}
	dir, err := filepath.EvalSymlinks(filepath.Join(strings.TrimSpace(string(out)), "src"))
	require.NoError(b, err)
	local, err := fsbackend.NewLocal(fsbackend.Options{Roots: []string{dir}})
	require.NoError(b, err)
	defer local.Close()
	block := make([]string, 100)
	for i := range block {
		block[i] = fmt.Sprintf("blocked/%d", i)
	}
	p, err := guard.New(guard.Config{Root: dir, Block: block, Style: guard.Style{Windows: runtime.GOOS == "windows"}})
	require.NoError(b, err)
	set, err := New(Config{Cwd: dir, Files: fsbackend.Restrict(local, fsbackend.Limits{Policy: p}), Offer: []string{"Grep"}})
	require.NoError(b, err)
	rg, _ := exec.LookPath("rg")
	for _, c := range []struct{ name, pattern string }{
		{"literal", "ErrUnexpectedEOF"},
		{"expression", `func \w+\(ctx`},
	} {
		b.Run(c.name, func(b *testing.B) {
			var ours, theirs time.Duration
			for b.Loop() {
				start := time.Now()
				r := call(b, set, "Grep", fmt.Sprintf(`{"pattern":%q,"output_mode":"content"}`, c.pattern))
				ours += time.Since(start)
				require.False(b, r.IsError)
				if rg == "" {
					continue
				}
				b.StopTimer()
				start = time.Now()
				require.NoError(b, exec.CommandContext(context.Background(), rg, "--no-config", "--hidden", "-n", c.pattern, dir).Run())
				theirs += time.Since(start)
				b.StartTimer()
			}
			if rg != "" {
				b.ReportMetric(float64(ours)/float64(theirs), "x-of-rg")
			}
		})
	}
}
