package app

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/modelserver"
)

func put(id, file, text string) modelserver.Message {
	return use(id, "Write", map[string]any{"file_path": file, "content": text})
}

func TestWhatWasReadNeedNotBeReadAgainAfterARestart(t *testing.T) {
	p := newPlace(t)
	read, unread, changed := p.write("read.txt", "1\n"), p.write("unread.txt", "1\n"), p.write("changed.txt", "1\n")
	p.plays(
		use("t1", "Read", map[string]any{"file_path": read}), use("t2", "Read", map[string]any{"file_path": changed}),
		put("t3", unread, "2\n"), say("done"),
		put("t4", read, "2\n"), put("t5", unread, "2\n"), put("t6", changed, "2\n"), say("done"))
	c, stop := p.allowing()
	id := p.newSession(c)
	p.prompt(c, id, "look")
	assert.Contains(t, p.shown(c, id, "t3"), "has not read it")
	stop()

	p.write("changed.txt", "by hand\n")
	c, _ = p.allowing()
	require.NoError(t, c.Call("session/resume", p.setup(id), nil))
	p.prompt(c, id, "write")
	assert.Equal(t, "2\n", p.read("read.txt"))
	assert.Contains(t, p.shown(c, id, "t5"), "has not read it", "that the call was planned is not to have read it")
	assert.Contains(t, p.shown(c, id, "t6"), "has changed since this session last saw it")
	assert.Equal(t, "by hand\n", p.read("changed.txt"))
}
