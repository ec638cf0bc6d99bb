package app

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/acptest"
)

// What a session knows of its files outlives the process: the versions to go
// back to, the tags that it gave, and what it has seen.
func TestASessionKnowsItsFilesAfterARestart(t *testing.T) {
	p := newPlace(t)
	p.settings(`{"toolset": "hashline"}`)
	p.write("a.txt", "alpha\nbeta\ngamma\n")
	p.write("b.txt", "seen\n")
	c, stop := p.agent()
	allow := func(q acptest.Question) any { return q.Pick("allow_once") }
	c.OnQuestion(allow)
	id := p.newSession(c)
	says := p.calls(c, id,
		[2]string{"fs_read", `{"path": "a.txt"}`},
		[2]string{"fs_read", `{"path": "b.txt"}`},
		[2]string{"fs_edit", `{"path": "a.txt", "file_hash": "B6C1", "ops": "replace 2:\n+BETA"}`})
	assert.Contains(t, says[2], "¶a.txt#F1C1")
	stop()

	p.write("a.txt", "top\nalpha\nBETA\ngamma\n") // by somebody else, in between
	c, _ = p.agent()
	c.OnQuestion(allow)
	require.NoError(t, c.Call("session/load", p.setup(id), nil))
	says = p.calls(c, id,
		[2]string{"fs_edit", `{"path": "a.txt", "file_hash": "F1C1", "ops": "replace 3:\n+GAMMA"}`},
		[2]string{"fs_rollback", `{"path": "a.txt", "hash": "B6C1", "dry_run": true}`},
		[2]string{"fs_rollback", `{"path": "a.txt", "hash": "B6C1"}`},
		[2]string{"fs_write", `{"path": "b.txt", "content": "written\n"}`},
	)
	assert.Contains(t, says[0], "the file had changed since #F1C1")
	assert.Contains(t, says[1], "dry run: nothing was written")
	assert.Contains(t, says[2], "put back")
	assert.Equal(t, "alpha\nbeta\ngamma\n", p.read("a.txt"))
	assert.Equal(t, "written\n", p.read("b.txt"), "the session read it before: %s", says[3])
}
