package conformance

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

// agentDir holds the program that the tests share, "" if none needed it.
var agentDir string

var agent = sync.OnceValues(func() (string, error) {
	var err error
	if agentDir, err = os.MkdirTemp("", "conformance"); err != nil {
		return "", err
	}
	exe := filepath.Join(agentDir, "dsh-acp")
	if runtime.GOOS == "windows" {
		exe += ".exe"
	}
	if out, err := exec.Command("go", "build", "-o", exe, "dsh-acp/cmd/dsh-acp").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return exe, nil
})

// BuildAgent gives the path of this project's agent, built once for all tests.
func BuildAgent(t *testing.T) string {
	t.Helper()
	exe, err := agent()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}
